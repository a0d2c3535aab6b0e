//! The commands that may be started: those of a file, and no others. Arguments go to them as they are, through no shell.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::pace::Pace;

/// Between two starts of a command, where the file does not say it.
const LEAST_SECONDS: f64 = 1.0;
/// How long commands that still run have when this one ends.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often those are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Why commands cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandsError {
    /// The file cannot be read.
    #[error("the file of commands {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        r#source: std::io::Error,
    },
    /// The file says no commands.
    #[error("the file of commands {}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        r#source: Box<toml::de::Error>,
    },
    /// A command starts nothing.
    #[error("the file of commands {}: [command.{name}] has an empty `run`", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// The command.
        name: String,
    },
    /// A time makes no sense.
    #[error("the file of commands {}: least_seconds of [command.{name}] is no time", path.display())]
    Least {
        /// The file.
        path: PathBuf,
        /// The command.
        name: String,
    },
    /// No command is called so.
    #[error("no command is called {name:?}; there are {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Nothing says what may be run.
    #[error("`run {name}` needs --commands FILE, which says what may be run")]
    NoFile {
        /// What was asked for.
        name: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    command: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    run: Vec<String>,
    #[serde(default = "least_seconds")]
    least_seconds: f64,
}

fn least_seconds() -> f64 {
    LEAST_SECONDS
}

/// A command, and the one of it that runs.
#[derive(Debug)]
struct Known {
    run: Vec<String>,
    pace: Pace,
    child: Option<Child>,
}

/// What became of a start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// It runs.
    Now,
    /// One of it still runs, or was started too short a time ago.
    PassedOver,
}

/// Those commands that may be started.
#[derive(Debug, Default)]
pub(crate) struct Commands(BTreeMap<String, Known>);

impl Commands {
    /// Those of a file that are asked for by name.
    pub(crate) fn read(path: Option<&Path>, names: &[&str]) -> Result<Self, CommandsError> {
        let (Some(path), Some(_)) = (path, names.first()) else {
            return match names.first() {
                None => Ok(Self::default()),
                Some(name) => Err(CommandsError::NoFile { name: (*name).to_owned() }),
            };
        };
        let file = || path.to_owned();
        let text = std::fs::read_to_string(path)
            .map_err(|source| CommandsError::Unreadable { path: file(), source })?;
        let read: File = toml::from_str(&text)
            .map_err(|source| CommandsError::Malformed { path: file(), source: Box::new(source) })?;
        let mut known = BTreeMap::new();
        for name in names {
            let entry = read.command.get(*name).ok_or_else(|| CommandsError::Unknown {
                name: (*name).to_owned(),
                known: read.command.keys().cloned().collect(),
            })?;
            if entry.run.first().is_none_or(String::is_empty) {
                return Err(CommandsError::Empty { path: file(), name: (*name).to_owned() });
            }
            let least = Duration::try_from_secs_f64(entry.least_seconds)
                .map_err(|_| CommandsError::Least { path: file(), name: (*name).to_owned() })?;
            let (run, pace) = (entry.run.clone(), Pace::new(least));
            known.insert((*name).to_owned(), Known { run, pace, child: None });
        }
        Ok(Self(known))
    }

    /// Starts a command with these words for its placeholders, unless one of it runs, or it was started too short a time
    /// ago.
    pub(crate) fn start(&mut self, name: &str, words: &[(&str, &str)]) -> std::io::Result<Started> {
        let Some(known) = self.0.get_mut(name) else { return Ok(Started::PassedOver) };
        known.reap(name);
        if known.child.is_some() || !known.pace.is_due() {
            known.pace.pass_over();
            return Ok(Started::PassedOver);
        }
        let filled = |word: &String| {
            words.iter().fold(word.clone(), |word, (place, with)| word.replace(&format!("{{{place}}}"), with))
        };
        let mut all = known.run.iter().map(filled);
        let mut command = Command::new(all.next().unwrap_or_default());
        let spawned = command.args(all).stdin(Stdio::null()).spawn()?;
        known.pace.is_done();
        known.child = Some(spawned);
        known.tell_passed_over(name);
        Ok(Started::Now)
    }

    /// Notices which have ended.
    pub(crate) fn reap(&mut self) {
        self.0.iter_mut().for_each(|(name, known)| known.reap(name));
    }

    /// Waits for those that run; those that take too long are ended.
    pub(crate) fn finish(&mut self) {
        let until = Instant::now() + PATIENCE;
        while self.0.values().any(|known| known.child.is_some()) && Instant::now() < until {
            self.reap();
            std::thread::sleep(LOOK);
        }
        for (name, known) in &mut self.0 {
            if let Some(mut child) = known.child.take() {
                eprintln!("flexpath: command {name}: still running after {PATIENCE:?}, ended");
                // One that ended meanwhile cannot be ended any more.
                let _ = child.kill();
                let _ = child.wait();
            }
            known.tell_passed_over(name);
        }
    }
}

impl Known {
    fn reap(&mut self, name: &str) {
        let Some(child) = &mut self.child else { return };
        match child.try_wait() {
            Ok(None) => return,
            Ok(Some(status)) if status.success() => {}
            Ok(Some(status)) => eprintln!("flexpath: command {name}: {status}"),
            Err(error) => eprintln!("flexpath: command {name}: {error}"),
        }
        self.child = None;
    }

    fn tell_passed_over(&mut self, name: &str) {
        if let Some(steps) = self.pace.passed_over() {
            eprintln!(
                "flexpath: command {name}: not started for {steps} steps, as one was running or had just been"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands.toml");
        std::fs::write(&path, text).expect("written");
        (folder, path)
    }

    fn refused(text: &str, names: &[&str]) -> String {
        let (_folder, path) = written(text);
        Commands::read(Some(&path), names).expect_err("refused").to_string()
    }

    #[test]
    fn what_no_file_names_is_not_run() {
        let alarm = "[command.alarm]\nrun = [\"true\"]\n";
        assert_eq!(refused(alarm, &["bell"]), "no command is called \"bell\"; there are alarm");
        assert!(refused("[command.alarm]\nrun = []\n", &["alarm"]).ends_with("has an empty `run`"));
        assert!(refused("[command.alarm]\nrun = \"true\"\n", &["alarm"]).contains("invalid type"));
        assert!(
            refused("[command.alarm]\nshell = [\"true\"]\n", &["alarm"]).contains("unknown field `shell`")
        );
        let negative = format!("{alarm}least_seconds = -1.0\n");
        assert!(refused(&negative, &["alarm"]).ends_with("is no time"));
        let none = Commands::read(None, &["alarm"]).expect_err("refused").to_string();
        assert_eq!(none, "`run alarm` needs --commands FILE, which says what may be run");
        assert!(Commands::read(Some(Path::new("/nowhere")), &["alarm"]).is_err());
    }

    /// A word of a shell is a word and no more, and of starts that come too soon one is made.
    #[test]
    fn words_go_to_the_program_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("$(touch pwned); out");
        let text =
            format!("[command.copy]\nrun = [\"cp\", \"{{from}}\", {:?}]\nleast_seconds = 60\n", out.to_str());
        let text = text.replace("Some(", "").replace(")\n", "\n").replace("\")]", "\"]");
        let (_kept, path) = written(&text);
        let from = folder.path().join("from");
        std::fs::write(&from, "content").expect("written");
        let mut commands = Commands::read(Some(&path), &["copy"]).expect("read");
        let words = [("from", from.to_str().expect("a name"))];
        assert_eq!(commands.start("copy", &words).expect("started"), Started::Now);
        assert_eq!(commands.start("copy", &words).expect("not an error"), Started::PassedOver);
        commands.finish();
        assert_eq!(std::fs::read_to_string(out).expect("copied"), "content");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let (_folder, path) = written("[command.alarm]\nrun = [\"/nowhere/alarm\"]\n");
        let mut commands = Commands::read(Some(&path), &["alarm"]).expect("read");
        assert!(commands.start("alarm", &[]).is_err());
    }
}
