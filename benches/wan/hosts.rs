//! Two hosts on this machine: network namespaces with a long wire between them.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The wire between the hosts, each way.
#[derive(Clone, Copy)]
pub(crate) struct Wire {
    /// Time from one host to the other, µs: half a round trip.
    pub(crate) delay_us: u64,
    /// Bits a second, in millions.
    pub(crate) rate_mbit: u64,
    /// Packets of a million that are lost.
    pub(crate) loss_per_million: u64,
    /// Packets that wait at either end until the relay, which has not always a core, takes them. More are lost.
    pub(crate) queue_packets: u32,
}

/// The address of the host that publishes, and of the one that subscribes.
pub(crate) const ADDRESSES: [&str; 2] = ["10.77.0.1", "10.77.0.2"];

/// Both hosts and their wire; gone when this is dropped.
pub(crate) struct Hosts {
    names: [String; 2],
    relay: Option<Child>,
    output: Option<BufReader<ChildStdout>>,
}

/// Runs a command; what it complained of if it failed.
fn run(words: &[&str]) -> Result<(), String> {
    let (program, rest) = words.split_first().expect("a program");
    let output = Command::new(program).args(rest).output().map_err(|error| format!("{program}: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    output.status.success().then_some(()).ok_or_else(|| format!("{}: {complaint}", words.join(" ")))
}

impl Hosts {
    /// Makes them, or says why that cannot be: it wants the rights of root, iproute2 and a C compiler.
    pub(crate) fn new(place: &Path, wire: Wire) -> Result<Self, String> {
        let relay = place.join("relay");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/wan/relay.c");
        run(&["cc", "-O2", source, "-o", &relay.display().to_string()])?;
        let names = ["a", "b"].map(|side| format!("fpwan{}{side}", std::process::id()));
        let mut hosts = Self { names, relay: None, output: None };
        hosts.lay(&relay, wire)?;
        for (name, address) in hosts.names.iter().zip(ADDRESSES) {
            run(&["ip", "netns", "add", name])?;
            run(&["ip", "link", "set", name, "netns", name])?;
            let within = ["ip", "-n", name];
            run(&[&within[..], &["address", "add", &format!("{address}/24"), "dev", name]].concat())?;
            let queue = wire.queue_packets.to_string();
            run(&[&within[..], &["link", "set", name, "txqueuelen", &queue, "up"]].concat())?;
            run(&[&within[..], &["link", "set", "lo", "up"]].concat())?;
        }
        Ok(hosts)
    }

    /// Starts the relay and waits until it has made its devices.
    fn lay(&mut self, relay: &Path, wire: Wire) -> Result<(), String> {
        let numbers =
            [wire.delay_us, wire.rate_mbit, wire.loss_per_million, 1].map(|number| number.to_string());
        let mut command = Command::new(relay);
        command
            .args(&self.names)
            .args(numbers)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("relay: {error}"))?;
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let mut errors = child.stderr.take().expect("its errors");
        self.relay = Some(child);
        let mut said = String::new();
        output.read_line(&mut said).map_err(|error| format!("relay: {error}"))?;
        self.output = Some(output);
        if said.trim() == "ready" {
            return Ok(());
        }
        let mut complaint = String::new();
        errors.read_to_string(&mut complaint).map_err(|error| format!("relay: {error}"))?;
        Err(complaint.trim().to_owned())
    }

    /// A program on the publisher's host (0) or the subscriber's (1), for at most two minutes.
    pub(crate) fn command(&self, host: usize, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "10", "120", "ip", "netns", "exec", &self.names[host]]).arg(program);
        command
    }

    /// What the wire did, each way.
    pub(crate) fn told(mut self) -> Vec<String> {
        let Some(mut relay) = self.relay.take() else { return Vec::new() };
        drop(relay.stdin.take());
        let lines = self.output.take().map(|output| output.lines().map_while(Result::ok).collect());
        relay.wait().expect("the relay ends");
        lines.unwrap_or_default()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if let Some(mut relay) = self.relay.take() {
            // It ends with its input; killing is for one that hangs.
            let _ = relay.kill();
            let _ = relay.wait();
        }
        for name in &self.names {
            let _ = run(&["ip", "netns", "delete", name]);
        }
    }
}
