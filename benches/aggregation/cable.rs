//! Two hosts on this machine: network namespaces with a cable between them, as fast as the machine has it. They are gone
//! when the bench is, however that ends.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The addresses of the host that publishes, and of the one that has the staging nodes.
pub(crate) const ADDRESSES: [&str; 2] = ["10.79.0.1", "10.79.0.2"];

/// Deletes the namespaces that it is given as soon as its input ends, whatever signals come.
const TRAP: &str =
    r#"trap '' INT TERM HUP; echo ready; cat >/dev/null; for n; do ip netns delete "$n" 2>/dev/null; done"#;

/// Both hosts; gone when this is dropped, or its process ends.
pub(crate) struct Hosts {
    names: [String; 2],
    trap: Child,
}

/// Waits for the end of this process beside it, and deletes the namespaces then.
fn set_trap(names: &[String; 2]) -> Result<Child, String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", TRAP, "trap"]).args(names).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut trap = shell.spawn().map_err(|error| format!("sh: {error}"))?;
    let mut ready = [0; 6];
    let heard = trap.stdout.as_mut().map_or(Ok(()), |said| said.read_exact(&mut ready));
    heard.map_err(|error| format!("sh: {error}"))?;
    Ok(trap)
}

fn ip(words: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(words).output().map_err(|error| format!("ip: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    output.status.success().then_some(()).ok_or_else(|| format!("ip {}: {complaint}", words.join(" ")))
}

impl Hosts {
    /// Makes them, or says why that cannot be: it wants the rights of root, and iproute2.
    pub(crate) fn new() -> Result<Self, String> {
        let names = ["a", "b"].map(|side| format!("fpagg{}{side}", std::process::id()));
        let trap = set_trap(&names)?;
        let hosts = Self { names, trap };
        let [near, far] = &hosts.names;
        ip(&["netns", "add", near])?;
        ip(&["netns", "add", far])?;
        ip(&["link", "add", near, "netns", near, "type", "veth", "peer", "name", far, "netns", far])?;
        for (name, address) in hosts.names.iter().zip(ADDRESSES) {
            ip(&["-n", name, "address", "add", &format!("{address}/24"), "dev", name])?;
            ip(&["-n", name, "link", "set", name, "up"])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
        }
        Ok(hosts)
    }

    /// A program on the host that publishes (0), or on the other one (1), for at most two minutes; ten seconds later it is
    /// killed. What is published there
    /// is dialled from the other host.
    pub(crate) fn command(&self, host: usize, program: &Path, token: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "10", "120", "ip", "netns", "exec", &self.names[host]]).arg(program);
        command.env("FLEXPATH_LISTEN", format!("{}:0", ADDRESSES[host]));
        command.env("FLEXPATH_TOKEN_FILE", token);
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        drop(self.trap.stdin.take());
        let _ = self.trap.wait();
    }
}
