//! A file that scp copies over loopback, from memory to memory, with an sshd of its own.

use crate::Outcome;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A folder in memory, and an sshd that lets this process in.
pub(crate) struct Scp {
    memory: tempfile::TempDir,
    key: PathBuf,
    port: u16,
    sshd: Child,
    len_bytes: u64,
}

impl Scp {
    /// Starts the sshd, and makes a file of so many bytes.
    pub(crate) fn start(place: &Path, len_bytes: u64) -> Outcome<Self> {
        let memory = tempfile::tempdir_in("/dev/shm")?;
        let bytes = std::fs::File::create(memory.path().join("from"))?;
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0x5a), len_bytes), &mut &bytes)?;
        let (host_key, key) = (place.join("host-key"), place.join("key"));
        for file in [&host_key, &key] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(file)
                .status()?;
            if !made.success() {
                return Err("ssh-keygen makes no key".into());
            }
        }
        let authorized = place.join("authorized");
        std::fs::copy(place.join("key.pub"), &authorized)?;
        std::fs::set_permissions(&authorized, std::fs::Permissions::from_mode(0o600))?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let config = place.join("sshd_config");
        let lines = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPidFile none\n\
             UsePAM no\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n",
            host_key.display(),
            authorized.display()
        );
        std::fs::write(&config, lines)?;
        // It separates what needs no rights, in this folder.
        std::fs::create_dir_all("/run/sshd")?;
        let sshd =
            Command::new("/usr/sbin/sshd").arg("-D").arg("-f").arg(&config).stderr(Stdio::null()).spawn();
        let sshd = sshd.map_err(|error| format!("sshd: {error} (scripts/install-sshd.sh)"))?;
        let scp = Self { memory, key, port, sshd, len_bytes };
        let until = Instant::now() + Duration::from_secs(10);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > until {
                return Err("sshd does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(scp)
    }

    /// What it copies in a second, in MiB.
    pub(crate) fn rate(&self) -> Outcome<f64> {
        let (from, to) = (self.memory.path().join("from"), self.memory.path().join("to"));
        let began = Instant::now();
        let copied = Command::new("scp")
            .args([
                "-q",
                "-o",
                "StrictHostKeyChecking=no",
                "-o",
                "UserKnownHostsFile=/dev/null",
                "-o",
                "LogLevel=ERROR",
            ])
            .arg("-P")
            .arg(self.port.to_string())
            .arg("-i")
            .arg(&self.key)
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

impl Drop for Scp {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}
