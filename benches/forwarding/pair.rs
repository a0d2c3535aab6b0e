//! The two commands, one on each side.

use crate::Outcome;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// How a program is started on a side.
type Starts<'a> = &'a dyn Fn(&Path) -> Command;

/// `flexpath forward` and `flexpath gate`, ended when this is dropped.
pub(crate) struct Pair {
    children: Vec<Child>,
}

impl Pair {
    /// Starts both, the gate with words of its own, and says its address. Streams are found in the first folder inside,
    /// and in the other one outside.
    pub(crate) fn start(
        [inside, outside]: [Starts<'_>; 2],
        command: &Path,
        folders: &[PathBuf; 2],
        (words, stream): (&[&str], &str),
        credentials: &[String],
    ) -> Outcome<(Self, String)> {
        let mut gate = outside(command);
        gate.arg("gate").args(words).args(["--subscribers", "1", "--rendezvous"]).arg(&folders[1]);
        gate.args(credentials).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut gate = gate.spawn()?;
        let mut address = String::new();
        BufReader::new(gate.stdout.take().ok_or("its output")?).read_line(&mut address)?;
        let address = address.trim().to_owned();
        let mut pair = Self { children: vec![gate] };
        let mut forward = inside(command);
        forward.args(["forward", stream, "--to", &address, "--rendezvous"]).arg(&folders[0]);
        pair.children.push(forward.args(credentials).stderr(Stdio::null()).spawn()?);
        Ok((pair, address))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for child in &mut self.children {
            // `timeout` passes a request to end on, and a kill not.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

/// The options for TLS with a certificate that signs itself, made by openssl.
pub(crate) fn certificates(place: &Path) -> Outcome<Vec<String>> {
    let (certificate, key) = (place.join("certificate.pem"), place.join("key.pem"));
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]);
    openssl.args(["-subj", "/CN=flexpath", "-addext", "subjectAltName=DNS:flexpath"]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    openssl.arg("-keyout").arg(&key).arg("-out").arg(&certificate).stderr(Stdio::null());
    if !openssl.status()?.success() {
        return Err("openssl makes no certificate".into());
    }
    let files = [("certificate", &certificate), ("key", &key), ("authority", &certificate)];
    Ok(files.map(|(name, file)| format!("--tls-{name}={}", file.display())).into())
}
