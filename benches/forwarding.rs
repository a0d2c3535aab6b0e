//! A stream over `flexpath forward` and `flexpath gate`: `cargo bench -p flexpath --bench forwarding`, after the command
//! was built with `cargo build --release -p flexpath-cli`.
//!
//! *Loopback*: 32 steps of 64 MiB go from the memory of one process into that of another, over TLS and without. Next to it
//! scp copies a file of as many bytes from memory to memory. Nobody computes, so what counts is the way.
//! *Wire*: steps of 8 MiB go between two hosts in network namespaces: 25 ms apart, 1 Gb/s, one packet of a thousand lost.
//! Next to it is iperf3 with one connection. The subscriber checks every number. This part wants root.

#[path = "rows/command.rs"]
mod command;
#[path = "rows/compared.rs"]
mod compared;
#[path = "wan/derived.rs"]
mod derived;
#[path = "wan/hosts.rs"]
mod hosts;
#[path = "wan/iperf3.rs"]
mod iperf3;
#[path = "forwarding/pair.rs"]
mod pair;
#[path = "rows/quick.rs"]
mod quick;
#[path = "wan/roles.rs"]
mod roles;
#[path = "rows/mod.rs"]
mod rows;
#[path = "forwarding/scp.rs"]
mod scp;
#[path = "forwarding/sshd.rs"]
mod sshd;

use compared::{middle, report};
use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, Subscriber, SubscriberOptions,
    Variable,
};
use hosts::{ADDRESSES, Hosts, Wire};
use pair::Pair;
use quick::or_quick;
use roles::Traffic;
use scp::Scp;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "--role";
const PATIENCE: Duration = Duration::from_secs(60);
const ROUNDS: usize = 3;
/// Steps of the rows over loopback, and their bytes.
const STEPS: u64 = 32;
const STEP_BYTES: u64 = 64 << 20;
const WIRE: Wire = Wire { delay_us: 25_000, rate_mbit: 1000, loss_per_million: 1000, queue_packets: 500 };
const BULK: Traffic = Traffic { steps: 100, len: 1 << 20, every_ms: 0 };
/// Steps while tcp finds its speed.
const WARM_STEPS: usize = 25;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, [role, words @ ..])) = arguments.split_first().filter(|(first, _)| *first == ROLE) {
        roles::play(role, words);
        return Ok(());
    }
    // `cargo test --benches` only wants to know that it builds.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let Some(command) = command::built()? else { return Ok(()) };
    let loopback = over_loopback(&command);
    loopback.unwrap_or_else(|why| println!("not measured over loopback: {why}"));
    over_wire(&command).unwrap_or_else(|why| println!("not measured over a wire: {why}"));
    Ok(())
}

fn over_loopback(command: &Path) -> Outcome<()> {
    println!("{STEPS} steps of {} MiB over loopback, and scp of as many bytes", STEP_BYTES >> 20);
    let place = tempfile::tempdir()?;
    let scp = Scp::start(place.path(), STEPS * STEP_BYTES)?;
    let tls = pair::certificates(place.path())?;
    let (mut enciphered, mut plain, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..or_quick(ROUNDS, 1) {
        theirs.push(scp.rate()?);
        enciphered.push(stream(command, &tls)?);
        plain.push(stream(command, &[])?);
    }
    let (enciphered, plain, theirs) = (middle(enciphered), middle(plain), middle(theirs));
    report(
        "forwarded over TLS, of scp",
        (enciphered, theirs),
        "MiB/s",
        (enciphered >= 2.0 * theirs, "ratio >= 2"),
    );
    report("forwarded, of scp", (plain, theirs), "MiB/s", (plain >= 4.0 * theirs, "ratio >= 4"));
    Ok(())
}

/// What is forwarded in a second, in MiB, from the first step's beginning until the last was taken.
fn stream(command: &Path, credentials: &[String]) -> Outcome<f64> {
    let place = tempfile::tempdir()?;
    let folders = ["inside", "outside"].map(|name| place.path().join(name));
    folders.iter().try_for_each(std::fs::create_dir)?;
    let local = |program: &Path| Command::new(program);
    let (_pair, _) = Pair::start(
        [&local, &local],
        command,
        &folders,
        (&["--listen", "127.0.0.1:0"], "numbers"),
        credentials,
    )?;
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(&folders[0])?);
    let options = options.with_min_subscribers(1).with_open_timeout(PATIENCE);
    let mut publisher = Publisher::open("numbers", options)?;
    let options = SubscriberOptions::default().with_rendezvous(Rendezvous::at(&folders[1])?);
    let mut subscriber = Subscriber::open("numbers", options.with_open_timeout(PATIENCE))?;
    let field = Variable::global::<u8>("field", &[STEP_BYTES])?;
    let whole = Region::whole(field.shape());
    let began = Instant::now();
    std::thread::scope(|scope| -> Outcome<()> {
        let taking = scope.spawn(move || -> Result<(), flexpath::ReadError> {
            for number in 0..STEPS {
                let NextStep::Step(step) = subscriber.next_step(PATIENCE)? else {
                    panic!("step {number} is missing")
                };
                let view = step.view::<u8>("field", Selection::All)?;
                assert_eq!(
                    (view[0], view[view.len() - 1], view.len() as u64),
                    (number as u8, number as u8, STEP_BYTES)
                );
            }
            Ok(())
        });
        for number in 0..STEPS {
            let mut writer = publisher.begin_step()?;
            let mut loan = writer.loan::<u8>(&field, &whole)?;
            // The rest stays what it was: nobody computes.
            (loan[0], loan[STEP_BYTES as usize - 1]) = (number as u8, number as u8);
            writer.put_loan(loan)?;
            writer.end()?;
        }
        Ok(taking.join().expect("taken")?)
    })?;
    Ok(((STEPS * STEP_BYTES) >> 20) as f64 / began.elapsed().as_secs_f64())
}

fn over_wire(command: &Path) -> Outcome<()> {
    println!("a wire of 1000 Mb/s, 50 ms there and back, 1 of 1000 packets lost");
    let place = tempfile::tempdir()?;
    let hosts = Hosts::new(place.path(), WIRE)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..or_quick(ROUNDS, 1) {
        theirs.push(iperf3::mb_per_second(&hosts)?);
        ours.push(wire_stream(&hosts, place.path(), command)?);
    }
    let (ours, theirs) = (middle(ours), middle(theirs));
    report("forwarded over a long wire", (ours, theirs), "Mb/s", (ours >= 0.8 * theirs, "ratio >= 0.8"));
    hosts.told().iter().for_each(|line| println!("the wire: {line}"));
    Ok(())
}

/// Mb/s of a stream from the one host to the other.
fn wire_stream(hosts: &Hosts, place: &Path, command: &Path) -> Outcome<f64> {
    let place = tempfile::tempdir_in(place)?;
    let folders: [PathBuf; 2] = ["inside", "outside"].map(|name| place.path().join(name));
    folders.iter().try_for_each(std::fs::create_dir)?;
    let token = place.path().join("run.token");
    std::fs::write(&token, format!("{}\n", "5a".repeat(32)))?;
    let credentials = [format!("--token-file={}", token.display())];
    let (inside, outside) =
        (|program: &Path| hosts.command(0, program), |program: &Path| hosts.command(1, program));
    let at = format!("{}:0", ADDRESSES[1]);
    let (_pair, address) =
        Pair::start([&inside, &outside], command, &folders, (&["--listen", &at], "wan"), &credentials)?;
    let this = std::env::current_exe()?;
    let role = |host: usize, name: &str| {
        let mut role = hosts.command(host, &this);
        role.args([ROLE, name]).arg(&folders[host]).args(BULK.words());
        role
    };
    let mut publisher = role(0, "publish").spawn()?;
    let subscriber = role(1, "subscribe").stderr(Stdio::inherit()).output()?;
    let connections = connections(hosts, &address)?;
    if !publisher.wait()?.success() || !subscriber.status.success() {
        return Err("the publisher or the subscriber failed".into());
    }
    if connections != 1 {
        return Err(format!("there were {connections} connections over the wire, and not one").into());
    }
    let text = String::from_utf8_lossy(&subscriber.stdout);
    let times: Vec<f64> = text.lines().skip(1).filter_map(|line| line.parse().ok()).collect();
    let bits = ((times.len() - WARM_STEPS) as u64 * BULK.len * 64) as f64;
    Ok(bits / (times[times.len() - 1] - times[WARM_STEPS - 1]) / 1e6)
}

/// How many connections the host of `forward` has with the gate: `ss` tells.
fn connections(hosts: &Hosts, gate: &str) -> Outcome<usize> {
    let mut ss = hosts.command(0, Path::new("ss"));
    let told = ss.args(["-tnH", "state", "established"]).output()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let port = format!(":{}", gate.rsplit(':').next().unwrap_or_default());
    let is_far = |line: &&str| line.contains(ADDRESSES[1]);
    let far: Vec<&str> = text.lines().filter(is_far).collect();
    let to_gate = far.iter().filter(|line| line.trim_end().ends_with(&port)).count();
    // One that leads elsewhere than to the gate counts as well.
    Ok(if to_gate == far.len() { to_gate } else { far.len() + 1 })
}
