//! An sshd on loopback that lets this process in, and nobody else.

use crate::Outcome;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One of our own, ended when this is dropped.
pub(crate) struct Sshd {
    key: PathBuf,
    port: u16,
    child: Child,
}

impl Sshd {
    /// Starts it, with keys and configuration in a folder.
    pub(crate) fn start(place: &Path) -> Outcome<Self> {
        let key = keys(place)?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let config = configuration(place, port)?;
        // It separates what needs no rights, in this folder.
        std::fs::create_dir_all("/run/sshd")?;
        let sshd =
            Command::new("/usr/sbin/sshd").arg("-D").arg("-f").arg(&config).stderr(Stdio::null()).spawn();
        let child = sshd.map_err(|error| format!("sshd: {error} (scripts/install-sshd.sh)"))?;
        let sshd = Self { key, port, child };
        let until = Instant::now() + Duration::from_secs(10);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > until {
                return Err("sshd does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(sshd)
    }

    /// What ssh and scp are told to get in.
    pub(crate) fn options(&self) -> Vec<String> {
        let port = format!("Port={}", self.port);
        let key = format!("IdentityFile={}", self.key.display());
        let known = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"];
        let options = known.into_iter().chain([port.as_str(), key.as_str()]);
        options.flat_map(|option| ["-o".to_owned(), option.to_owned()]).collect()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes its own key and that of whoever gets in, which is returned.
fn keys(place: &Path) -> Outcome<PathBuf> {
    for name in ["host-key", "key"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(place.join(name))
            .status()?;
        if !made.success() {
            return Err("ssh-keygen makes no key".into());
        }
    }
    let authorized = place.join("authorized");
    std::fs::copy(place.join("key.pub"), &authorized)?;
    std::fs::set_permissions(&authorized, std::fs::Permissions::from_mode(0o600))?;
    Ok(place.join("key"))
}

fn configuration(place: &Path, port: u16) -> Outcome<PathBuf> {
    let config = place.join("sshd_config");
    let lines = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPidFile none\n\
         UsePAM no\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n",
        place.join("host-key").display(),
        place.join("authorized").display()
    );
    std::fs::write(&config, lines)?;
    Ok(config)
}
