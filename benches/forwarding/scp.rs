//! A file that scp copies over loopback, from memory to memory, with an sshd of its own.

use crate::Outcome;
use crate::sshd::Sshd;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A folder in memory, and an sshd that lets this process in.
pub(crate) struct Scp {
    memory: tempfile::TempDir,
    sshd: Sshd,
    len_bytes: u64,
}

impl Scp {
    /// Starts the sshd, and makes a file of so many bytes.
    pub(crate) fn start(place: &Path, len_bytes: u64) -> Outcome<Self> {
        let memory = tempfile::tempdir_in("/dev/shm")?;
        let bytes = std::fs::File::create(memory.path().join("from"))?;
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0x5a), len_bytes), &mut &bytes)?;
        Ok(Self { memory, sshd: Sshd::start(place)?, len_bytes })
    }

    /// What it copies in a second, in MiB.
    pub(crate) fn rate(&self) -> Outcome<f64> {
        let (from, to) = (self.memory.path().join("from"), self.memory.path().join("to"));
        let began = Instant::now();
        let copied = Command::new("scp")
            .arg("-q")
            .args(self.sshd.options())
            .arg(&from)
            .arg(format!("127.0.0.1:{}", to.display()))
            .status()?;
        let seconds = began.elapsed().as_secs_f64();
        if !copied.success() || std::fs::metadata(&to)?.len() != self.len_bytes {
            return Err("scp failed".into());
        }
        std::fs::remove_file(&to)?;
        Ok((self.len_bytes >> 20) as f64 / seconds)
    }
}
