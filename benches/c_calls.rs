//! What a put through C costs above the same call in Rust: `cargo bench -p flexpath-ffi --bench c_calls`.
//!
//! Each side is a process of its own: `c_calls.c`, compiled against a staged installation of this library, and this
//! binary again with a role. They take turns; of each the middle of the rounds counts. Small puts are of 64 bytes, 256
//! blocks a step; the large one is of 1 MiB. *Unheard* is without a subscriber, *heard* with one in a process beside it
//! that takes every step over shared memory and releases it.

use fp_core::{NextStep, Publisher, PublisherOptions, Region, Subscriber, SubscriberOptions, Variable};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SMALL_PUTS: u64 = 256;
const SMALL_LEN: u64 = 8;
const LARGE_LEN: u64 = 1 << 17;
const STEPS: usize = 400;
const ROUNDS: usize = 7;
/// What a put through C may cost more, in nanoseconds.
const LIMIT_NS: f64 = 1000.0;

fn main() {
    let role = std::env::args().nth(1).unwrap_or_default();
    match role.as_str() {
        "--publish" => publish(&std::env::args().nth(2).unwrap_or_default()),
        "--subscribe" => subscribe(),
        _ => measure(),
    }
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn region(start: u64, count: u64) -> Region {
    Region::new([start], [count]).expect("a region")
}

/// The counterpart of `c_calls.c`.
fn publish(subscribers: &str) {
    let small = Variable::global::<f64>("small", &[SMALL_PUTS * SMALL_LEN]).expect("a variable");
    let large = Variable::global::<f64>("large", &[LARGE_LEN]).expect("a variable");
    let elements = vec![0.0f64; LARGE_LEN as usize];
    let options = PublisherOptions::default().with_min_subscribers(subscribers.parse().expect("a number"));
    let mut publisher = Publisher::open("calls", options).expect("open");
    let (mut small_ns, mut large_ns) = (Vec::new(), Vec::new());
    for _ in 0..STEPS {
        let mut step = publisher.begin_step().expect("begun");
        let before = Instant::now();
        for put in 0..SMALL_PUTS {
            let part = &elements[..SMALL_LEN as usize];
            step.put_copy(&small, &region(put * SMALL_LEN, SMALL_LEN), part).expect("put");
        }
        let between = Instant::now();
        step.put_copy(&large, &region(0, LARGE_LEN), &elements).expect("put");
        large_ns.push(between.elapsed().as_nanos() as f64);
        small_ns.push((between - before).as_nanos() as f64 / SMALL_PUTS as f64);
        step.end().expect("ended");
    }
    publisher.close().expect("closed");
    println!("{:.1} {:.1}", middle(&mut small_ns), middle(&mut large_ns));
}

fn subscribe() {
    let mut subscriber = Subscriber::open("calls", SubscriberOptions::default()).expect("attached");
    while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(60)).expect("a step") {
        drop(step);
    }
}

/// The C program, against the library that was built with this.
fn compiled(place: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let this = std::env::current_exe().expect("this program knows where it is");
    let (prefix, program) = (place.join("staged"), place.join("c_calls"));
    let mut install = Command::new(root.join("scripts/install-library.sh"));
    install.arg(this.parent().expect("it lies in deps")).arg(&prefix);
    assert!(install.status().expect("the script runs").success());
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O2"]).arg(root.join("benches/c_calls.c")).arg("-o").arg(&program);
    cc.arg(format!("-I{}", prefix.join("include").display()))
        .arg(format!("-L{}", prefix.join("lib").display()));
    cc.arg("-lflexpath").arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    assert!(cc.status().expect("the compiler runs").success());
    program
}

/// Nanoseconds of a small and of a large put.
struct Round {
    small: f64,
    large: f64,
}

fn round(mut publisher: Command, is_heard: bool) -> Round {
    let place = tempfile::tempdir().expect("a directory");
    let heard = is_heard.then(|| -> Child {
        let this = std::env::current_exe().expect("this program knows where it is");
        let mut subscriber = Command::new(this);
        subscriber.arg("--subscribe").env("FLEXPATH_RENDEZVOUS", place.path());
        subscriber.spawn().expect("it starts")
    });
    publisher.arg(if is_heard { "1" } else { "0" }).env("FLEXPATH_RENDEZVOUS", place.path());
    let output = publisher.stderr(Stdio::inherit()).output().expect("it runs");
    assert!(output.status.success());
    heard.into_iter().for_each(|mut child| assert!(child.wait().expect("it ends").success()));
    let text = String::from_utf8(output.stdout).expect("a text");
    let mut found = text.split_whitespace().map(|word| word.parse().expect("a number"));
    let mut next = || found.next().expect("two numbers");
    Round { small: next(), large: next() }
}

fn row(name: &str, ours: &[f64], rust: &[f64]) -> bool {
    let mut above: Vec<f64> = ours.iter().zip(rust).map(|(ours, rust)| ours - rust).collect();
    let above = middle(&mut above);
    let is_met = above <= LIMIT_NS;
    let (ours, rust) = (middle(&mut ours.to_vec()), middle(&mut rust.to_vec()));
    let met = if is_met { "met" } else { "missed" };
    println!("{name:<24}{ours:>12.0}{rust:>12.0}{above:>12.0}   <= {LIMIT_NS} {met}");
    is_met
}

fn measure() {
    let place = tempfile::tempdir().expect("a directory");
    let program = compiled(place.path());
    let in_rust = || {
        let mut this = Command::new(std::env::current_exe().expect("this program knows where it is"));
        this.arg("--publish");
        this
    };
    println!("{:<24}{:>12}{:>12}{:>12}   target", "a put, ns", "in C", "in Rust", "above");
    let mut are_met = true;
    for (kind, is_heard) in [("unheard", false), ("heard", true)] {
        let (in_c, in_rust): (Vec<Round>, Vec<Round>) = (0..ROUNDS)
            .map(|_| (round(Command::new(&program), is_heard), round(in_rust(), is_heard)))
            .unzip();
        let small = |rounds: &[Round]| rounds.iter().map(|round| round.small).collect::<Vec<_>>();
        let large = |rounds: &[Round]| rounds.iter().map(|round| round.large).collect::<Vec<_>>();
        are_met &= row(&format!("{kind}, 64 B"), &small(&in_c), &small(&in_rust));
        are_met &= row(&format!("{kind}, 1 MiB"), &large(&in_c), &large(&in_rust));
    }
    println!("{}", if are_met { "all met" } else { "some missed" });
}
