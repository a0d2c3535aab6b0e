//! A stream of ranks in this process, the program in another, and Python programs that read what it wrote.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{Cohort, Publisher, PublisherOptions, StepWriter};
use tempfile::TempDir;

/// Far more than anything here needs on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The stream's name.
pub(crate) const STREAM: &str = "sim";

/// A place where streams are found, and where files go.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit status; none if it was killed.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("streams")).expect("a place for streams");
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("a text").to_owned()
    }

    /// How a rank of a stream opens it. A step is published when somebody takes the stream.
    pub(crate) fn options(&self, rank: u32, ranks: u32) -> PublisherOptions {
        let rendezvous = Rendezvous::at(self.folder.path().join("streams")).expect("a rendezvous");
        let cohort = Cohort::of(rank, ranks).expect("a cohort");
        PublisherOptions::default().with_rendezvous(rendezvous).with_cohort(cohort).with_min_subscribers(1)
    }

    /// Starts the program.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        self.start_in(&[], arguments)
    }

    /// Starts the program with variables of the environment.
    pub(crate) fn start_in(&self, environment: &[(String, String)], arguments: &[&str]) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flexpath-tee"));
        command.arg("--rendezvous").arg(self.folder.path().join("streams")).arg(STREAM).args(arguments);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        Running::start(command)
    }

    /// Publishes steps by so many ranks, and has the program write them: how it ended. `put` puts what a rank has.
    pub(crate) fn run(
        &self,
        ranks_and_steps: (u32, u64),
        put: impl Fn(u32, &mut StepWriter) + Sync,
        arguments: &[&str],
    ) -> Ended {
        self.run_in(&[], ranks_and_steps, put, arguments)
    }

    /// As [`Self::run`], with variables of the environment.
    pub(crate) fn run_in(
        &self,
        environment: &[(String, String)],
        (ranks, steps): (u32, u64),
        put: impl Fn(u32, &mut StepWriter) + Sync,
        arguments: &[&str],
    ) -> Ended {
        thread::scope(|scope| {
            for rank in 0..ranks {
                let (options, put) = (self.options(rank, ranks), &put);
                scope.spawn(move || publish(options, steps, |writer| put(rank, writer)));
            }
            self.start_in(environment, arguments).ended()
        })
    }
}

/// Publishes so many steps of a rank.
pub(crate) fn publish(options: PublisherOptions, steps: u64, put: impl Fn(&mut StepWriter)) {
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    for _ in 0..steps {
        let mut writer = publisher.begin_step().expect("a step");
        put(&mut writer);
        writer.end().expect("the step ends");
    }
    publisher.close().expect("closed");
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    output: [Receiver<String>; 2],
}

impl Running {
    /// Starts a program, and hears what it says.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stdout = listen(child.stdout.take().expect("piped"));
        let stderr = listen(child.stderr.take().expect("piped"));
        Self { child, output: [stdout, stderr] }
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it is a child");
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Ended {
        let mut said = self.output.iter().map(|output| output.recv_timeout(PATIENCE));
        let (Some(Ok(stdout)), Some(Ok(stderr))) = (said.next(), said.next()) else {
            drop(said);
            self.kill();
            panic!("the program did not end within {PATIENCE:?}");
        };
        drop(said);
        Ended { code: self.child.wait().expect("it is a child").code(), stdout, stderr }
    }
}

impl Ended {
    /// What it printed, if all went well.
    pub(crate) fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    /// Why it failed: with this exit status, and these words in its message.
    pub(crate) fn refused(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        let line = self.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(line.contains(word), "{word:?} is not in {line}");
        }
    }
}

fn listen(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (heard, said) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = heard.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    said
}

/// The Python that has what reads files.
pub(crate) fn interpreter() -> String {
    std::env::var("FLEXPATH_SINKS_PYTHON")
        .expect("FLEXPATH_SINKS_PYTHON names the Python that scripts/install-sinks.sh makes")
}

/// A file of this folder.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite").join(name)
}

/// Runs a Python program of this folder: what it printed. It fails if something is not as it should be.
pub(crate) fn python(program: &str, arguments: &[&str]) -> String {
    python_in(&[], program, arguments)
}

/// As [`python`], with variables of the environment.
pub(crate) fn python_in(environment: &[(String, String)], program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(interpreter());
    command.arg(script(program)).args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    Running::start(command).ended().well()
}

/// Runs a script of the shell where `$DISK` is a file system of its own, of these options of tmpfs. `"$@"` is the program
/// with its arguments. None where nothing can be mounted.
pub(crate) fn mounted(options: &str, disk: &str, script: &str, command: &[&str]) -> Option<Command> {
    let namespace = |script: &str| {
        let mut unshare = Command::new("unshare");
        let script = format!("mount -t tmpfs -o {options} none \"$DISK\" && {{ {script}; }}");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
        unshare.env("DISK", disk).stdin(Stdio::null());
        unshare
    };
    std::fs::create_dir_all(disk).expect("a folder");
    if !namespace("true").output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_NAMESPACES").is_none(), "no namespaces can be made here");
        println!("skipped: no file system can be mounted here (unshare)");
        return None;
    }
    let mut running = namespace(script);
    running.args(command);
    Some(running)
}
