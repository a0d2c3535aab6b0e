//! A stream over a long wire: two hosts in network namespaces of this machine, 25 ms apart, 1 Gb/s, one packet of a
//! thousand lost. `cargo bench -p flexpath --bench wan`, as root.
//!
//! *Throughput*: steps of 8 MiB as fast as they go, next to iperf3 over the same wire, in turns. Both have as many
//! connections: one, as a publisher and a subscriber have one for data. *Gaps*: steps of 64 KiB every 20 ms; the
//! longest time between two arrivals is bounded by three round trips and 250 ms. *Derived*: one array derived of three
//! where they are published, next to sending all three. *Owners*: an array of 64 ranks over another wire, of 1 ms,
//! taken at once, next to one rank after another; `-- owners` measures it alone. The subscriber checks every number.
//! The wire is `relay.c`, between two tun devices; both hosts and the wire share this machine's cores.

#[path = "rows/compared.rs"]
mod compared;
#[path = "wan/derived.rs"]
mod derived;
#[path = "wan/hosts.rs"]
mod hosts;
#[path = "wan/iperf3.rs"]
mod iperf3;
#[path = "wan/owners.rs"]
mod owners;
#[path = "rows/quick.rs"]
mod quick;
#[path = "wan/roles.rs"]
mod roles;
#[path = "rows/mod.rs"]
mod rows;

use compared::{middle, report};
use hosts::{Hosts, Wire};
use iperf3::Ended;
use roles::Traffic;
use std::path::Path;
use std::process::Stdio;

const ROLE: &str = "--role";
const WIRE: Wire = Wire { delay_us: 25_000, rate_mbit: 1000, loss_per_million: 1000, queue_packets: 500 };
const BULK: Traffic = Traffic { steps: 100, len: 1 << 20, every_ms: 0 };
const RHYTHM: Traffic = Traffic { steps: 1000, len: 1 << 13, every_ms: 20 };
/// Steps while tcp finds its speed, and as many seconds of iperf3.
const WARM_STEPS: usize = 25;
const ROUNDS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, [role, words @ ..])) = arguments.split_first().filter(|(first, _)| *first == ROLE) {
        match role.as_str() {
            "publish-owners" => owners::publish(words),
            "subscribe-owners" => owners::subscribe(words),
            _ => roles::play(role, words),
        }
    // `cargo test --benches` only wants to know that it builds.
    } else if arguments.iter().any(|argument| argument == "--bench") {
        let is_only = arguments.iter().any(|argument| argument == "owners");
        let measured = if is_only { Ok(()) } else { measure() };
        if let Err(why) = measured.and_then(|()| measure_owners()) {
            println!("not measured: {why}");
        }
    }
}

/// What needs no iperf3.
fn measure_owners() -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    owners::measure(place.path())
}

fn measure() -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let round_trip_ms = WIRE.delay_us as f64 / 500.0;
    println!(
        "a wire of {} Mb/s, {round_trip_ms} ms there and back, {} of 1000 packets lost",
        WIRE.rate_mbit,
        WIRE.loss_per_million / 1000
    );
    let hosts = Hosts::new(place.path(), WIRE)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..quick::or_quick(ROUNDS, 1) {
        theirs.push(iperf3::mb_per_second(&hosts)?);
        ours.push(throughput(&numbers(&hosts, place.path(), BULK)?));
    }
    let (ours, theirs) = (middle(ours), middle(theirs));
    report("throughput, 8 MiB steps", (ours, theirs), "Mb/s", (ours >= 0.8 * theirs, "ratio >= 0.8"));
    let gap_ms = longest_gap_ms(&numbers(&hosts, place.path(), RHYTHM)?);
    let bound_ms = 3.0 * round_trip_ms + 250.0;
    report(
        "longest gap, 64 KiB every 20 ms",
        (gap_ms, bound_ms),
        "ms",
        (gap_ms <= bound_ms, "below the bound"),
    );
    derived(&hosts, place.path())?;
    hosts.told().iter().for_each(|line| println!("the wire: {line}"));
    Ok(())
}

/// One array derived of three on either side, in turns: steps in a second.
fn derived(hosts: &Hosts, place: &Path) -> Result<(), String> {
    let run = |side: &str| -> Result<f64, String> {
        let times = stream(hosts, place, ["publish-three", "subscribe-speed"], &[side.to_owned()])?;
        Ok((times.len() - WARM_STEPS) as f64 / (times[times.len() - 1] - times[WARM_STEPS - 1]))
    };
    let (mut published, mut fetched) = (Vec::new(), Vec::new());
    for _ in 0..quick::or_quick(ROUNDS, 1) {
        published.push(run("publisher")?);
        fetched.push(run("subscriber")?);
    }
    let (published, fetched) = (middle(published), middle(fetched));
    report(
        "derived of three, 2 MiB each",
        (published, fetched),
        "st/s",
        (published >= 2.0 * fetched, "ratio >= 2"),
    );
    Ok(())
}

fn numbers(hosts: &Hosts, place: &Path, traffic: Traffic) -> Result<Vec<f64>, String> {
    stream(hosts, place, ["publish", "subscribe"], &traffic.words())
}

/// Runs a stream from one host to the other. Gives when each step was there, in seconds after the first.
fn stream(hosts: &Hosts, place: &Path, roles: [&str; 2], words: &[String]) -> Result<Vec<f64>, String> {
    let directory = tempfile::tempdir_in(place).map_err(|error| error.to_string())?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let role = |host: usize, name: &str| {
        let mut command = hosts.command(host, &this);
        command.args([ROLE, name]).arg(directory.path()).args(words);
        command
    };
    let mut publisher = Ended(role(0, roles[0]).spawn().map_err(|error| error.to_string())?);
    let subscriber = role(1, roles[1]).stderr(Stdio::inherit()).output();
    let subscriber = subscriber.map_err(|error| error.to_string())?;
    let publisher = publisher.0.wait().map_err(|error| error.to_string())?;
    if !subscriber.status.success() || !publisher.success() {
        return Err(format!(
            "the publisher ended with {publisher}, the subscriber with {}",
            subscriber.status
        ));
    }
    let text = String::from_utf8_lossy(&subscriber.stdout);
    let mut lines = text.lines();
    let transports = lines.next().unwrap_or_default();
    if !transports.contains("tcp") {
        return Err(format!("the stream did not go over tcp: {transports}"));
    }
    Ok(lines.filter_map(|line| line.parse().ok()).collect())
}

/// Mb/s after the first steps.
fn throughput(times: &[f64]) -> f64 {
    let bits = ((times.len() - WARM_STEPS) as u64 * BULK.len * 64) as f64;
    bits / (times[times.len() - 1] - times[WARM_STEPS - 1]) / 1e6
}

/// The longest time between two steps, in milliseconds.
fn longest_gap_ms(times: &[f64]) -> f64 {
    times.windows(2).map(|pair| 1000.0 * (pair[1] - pair[0])).fold(0.0, f64::max)
}
