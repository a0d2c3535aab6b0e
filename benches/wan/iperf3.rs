//! iperf3 over the wire, and processes that are ended.

use crate::hosts::{ADDRESSES, Hosts};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that does not outlive this one.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Mb/s of iperf3 with one connection, after two seconds.
pub(crate) fn mb_per_second(hosts: &Hosts) -> Result<f64, String> {
    let program = Path::new("iperf3");
    let mut server = hosts.command(1, program);
    server.args(["--server", "--one-off"]).stdout(Stdio::null());
    let _server = Ended(server.spawn().map_err(|error| format!("iperf3: {error}"))?);
    let client = || -> Command {
        let mut client = hosts.command(0, program);
        client.args(["--client", ADDRESSES[1], "--omit", "2", "--time", "6", "--json"]);
        client
    };
    // The server may not listen yet.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let output = client().output().map_err(|error| format!("iperf3: {error}"))?;
        let report: serde_json::Value =
            serde_json::from_slice(&output.stdout).map_err(|_| "iperf3 is not installed".to_owned())?;
        match report["end"]["sum_received"]["bits_per_second"].as_f64() {
            Some(bits) => return Ok(bits / 1e6),
            None if std::time::Instant::now() < deadline => {}
            None => return Err(format!("iperf3: {}", report["error"])),
        }
    }
}
