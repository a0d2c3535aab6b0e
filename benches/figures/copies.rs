//! Files that scp or rsync copy over loopback, and a connection that ssh forwards twice.

use crate::course::Place;
use crate::data::{Data, PART_BYTES};
use crate::sshd::Sshd;
use crate::{Outcome, mebibytes};
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tool {
    Scp,
    Rsync,
}

/// The files in memory, and the sshd.
pub(crate) struct Copies {
    memory: tempfile::TempDir,
    sshd: Sshd,
}

impl Copies {
    /// Starts the sshd, whose keys are in a folder, and makes the file that is copied.
    pub(crate) fn start(place: &Path, data: &Data) -> Outcome<Self> {
        let memory = tempfile::tempdir_in("/dev/shm")?;
        std::fs::write(memory.path().join("part"), data.part())?;
        Ok(Self { memory, sshd: Sshd::start(place)? })
    }

    /// What is copied in a second, in MiB, by so many programs at once. Then every byte is checked.
    pub(crate) fn rate(
        &self,
        (tool, at_once): (Tool, usize),
        (place, data_bytes): (Place, u64),
        data: &Data,
    ) -> Outcome<f64> {
        let from = self.files(data_bytes / PART_BYTES)?;
        let to = match place {
            Place::Memory => tempfile::tempdir_in(self.memory.path())?,
            Place::Disk => tempfile::tempdir()?,
        };
        let began = Instant::now();
        let shares = from.chunks(from.len().div_ceil(at_once));
        let copying = shares.map(|files| self.command(tool, files, to.path()).spawn());
        let copying = copying.collect::<Result<Vec<Child>, _>>()?;
        let ended = copying.into_iter().map(|mut copy| Ok(copy.wait()?.success()));
        let have_ended = ended.collect::<Outcome<Vec<bool>>>()?;
        let copies = from.iter().filter_map(|file| Some(to.path().join(file.file_name()?)));
        let copies: Vec<PathBuf> = copies.collect();
        if have_ended.contains(&false) {
            return Err(format!("{tool:?} failed").into());
        }
        match place {
            Place::Memory => {}
            Place::Disk => copies.iter().try_for_each(|file| File::open(file)?.sync_data())?,
        }
        let seconds = began.elapsed().as_secs_f64();
        copies.iter().try_for_each(|file| data.check_file(file, 1))?;
        Ok(mebibytes(data_bytes) / seconds)
    }

    /// So many names of the one file.
    fn files(&self, count: u64) -> Outcome<Vec<PathBuf>> {
        let name = |number| self.memory.path().join(format!("part-{number}"));
        let names: Vec<PathBuf> = (0..count).map(name).collect();
        for name in names.iter().filter(|name| !name.exists()) {
            std::fs::hard_link(self.memory.path().join("part"), name)?;
        }
        Ok(names)
    }

    fn command(&self, tool: Tool, files: &[PathBuf], to: &Path) -> Command {
        let mut command = match tool {
            Tool::Scp => Command::new("scp"),
            Tool::Rsync => Command::new("rsync"),
        };
        match tool {
            Tool::Scp => command.arg("-q").args(self.sshd.options()),
            Tool::Rsync => {
                command.arg("--whole-file").arg("-e").arg(format!("ssh {}", self.sshd.options().join(" ")))
            }
        };
        command.args(files).arg(format!("127.0.0.1:{}/", to.display()));
        command
    }

    /// What a connection carries in a second, in MiB, which ssh forwards to a port that ssh forwards. It goes from memory
    /// to memory, and waits for no ssh to start.
    pub(crate) fn rate_of_tunnel(&self, data_bytes: u64, data: &Data) -> Outcome<f64> {
        let parts = data_bytes / PART_BYTES;
        let end = TcpListener::bind("127.0.0.1:0")?;
        let hops = [free_port()?, free_port()?];
        let _second = self.hop(hops[1], end.local_addr()?.port())?;
        drop((reach(hops[1])?, end.accept()?));
        let _first = self.hop(hops[0], hops[1])?;
        let (mut outgoing, mut incoming) = (reach(hops[0])?, end.accept()?.0);
        let to = tempfile::NamedTempFile::new_in(self.memory.path())?;
        let began = Instant::now();
        std::thread::scope(|scope| -> std::io::Result<u64> {
            let sending = scope.spawn(move || -> std::io::Result<()> {
                for _ in 0..parts {
                    std::io::copy(&mut File::open(self.memory.path().join("part"))?, &mut outgoing)?;
                }
                Ok(())
            });
            let received = std::io::copy(&mut incoming, &mut to.as_file());
            sending.join().expect("sent")?;
            received
        })?;
        let seconds = began.elapsed().as_secs_f64();
        data.check_file(to.path(), parts)?;
        Ok(mebibytes(data_bytes) / seconds)
    }

    /// An ssh that forwards a port to another one.
    fn hop(&self, from: u16, to: u16) -> Outcome<Hop> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-N", "-o", "ExitOnForwardFailure=yes"]).args(self.sshd.options());
        ssh.arg("-L").arg(format!("127.0.0.1:{from}:127.0.0.1:{to}")).arg("127.0.0.1");
        Ok(Hop(ssh.stdin(Stdio::null()).spawn()?))
    }
}

/// A forwarding, ended when this is dropped.
struct Hop(Child);

impl Drop for Hop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> Outcome<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A connection to a port that is soon there.
fn reach(port: u16) -> Outcome<TcpStream> {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() > until => {
                return Err(format!("ssh forwards no port: {error}").into());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
