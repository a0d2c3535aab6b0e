//! What a put through C and through Fortran costs above the same call in Rust: `cargo bench -p flexpath-ffi`.
//!
//! Each language is a process of its own. These are `calls.c` and `calls.f90`, compiled against a staged installation
//! of this library, and this binary again with a role. They take turns, and the middle of the rounds of each counts.
//! Small puts are of 64 bytes, 256 blocks a step. A medium one is of 64 KiB and a large one of 1 MiB. A section is
//! every second element, gathered in lent memory. *Unheard* is without a subscriber, and nothing is copied for it.
//! *Heard* is with one in a process on the other core that takes every step over shared memory and releases it.
//!
//! A put may cost a microsecond above the same in Rust. A heard one of 1 MiB may cost one copy of it more. How long
//! that takes swings with what the caches hold by far more than a call costs. The put of 64 KiB shows that the call
//! does not grow with the length.

#[path = "rows/mod.rs"]
mod rows;

use fp_core::{
    NextStep, Publisher, PublisherOptions, Region, StepWriter, Subscriber, SubscriberOptions, Variable,
};
use rows::{Figure, keep};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SMALL_PUTS: u64 = 256;
const SMALL_LEN: u64 = 8;
const MEDIUM_LEN: u64 = 1 << 13;
const LARGE_LEN: u64 = 1 << 17;
const STEPS: usize = 400;
const ROUNDS: usize = 7;
/// The kinds of puts, in the order in which the programs tell what they took.
const KINDS: [&str; 4] = ["64 B", "64 KiB", "1 MiB", "64 B, a section"];
const LARGE: &str = KINDS[2];
/// What a put may cost more than in Rust, in nanoseconds.
const LIMIT_NS: f64 = 1000.0;

fn main() {
    let role = std::env::args().nth(1).unwrap_or_default();
    match role.as_str() {
        "--publish" => publish(&std::env::args().nth(2).unwrap_or_default()),
        "--subscribe" => subscribe(),
        // `cargo test --benches` only wants to know that it builds.
        _ if std::env::args().any(|argument| argument == "--bench") => measure(),
        _ => {}
    }
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn region(start: u64, count: u64) -> Region {
    Region::new([start], [count]).expect("a region")
}

/// The counterpart of `calls.c` and `calls.f90`.
fn publish(subscribers: &str) {
    let of = |name, len| Variable::global::<f64>(name, &[len]).expect("a variable");
    let [small, section] = ["small", "section"].map(|name| of(name, SMALL_PUTS * SMALL_LEN));
    let (medium, large) = (of("medium", MEDIUM_LEN), of("large", LARGE_LEN));
    let elements = vec![1.0f64; LARGE_LEN as usize];
    let options = PublisherOptions::default().with_min_subscribers(subscribers.parse().expect("a number"));
    let mut publisher = Publisher::open("calls", options).expect("open");
    let mut all: [Vec<f64>; KINDS.len()] = Default::default();
    for _ in 0..STEPS {
        let mut step = publisher.begin_step().expect("begun");
        let begun = Instant::now();
        for put in 0..SMALL_PUTS {
            let part = &elements[..SMALL_LEN as usize];
            step.put_copy(&small, &region(put * SMALL_LEN, SMALL_LEN), part).expect("put");
        }
        let small_put = Instant::now();
        step.put_copy(&medium, &region(0, MEDIUM_LEN), &elements[..MEDIUM_LEN as usize]).expect("put");
        let medium_put = Instant::now();
        step.put_copy(&large, &region(0, LARGE_LEN), &elements).expect("put");
        let large_put = Instant::now();
        for put in 0..SMALL_PUTS {
            put_section(&mut step, &section, put * SMALL_LEN, &elements);
        }
        let all_put = Instant::now();
        let taken = [small_put - begun, medium_put - small_put, large_put - medium_put, all_put - large_put];
        for ((values, taken), puts) in all.iter_mut().zip(taken).zip([SMALL_PUTS, 1, 1, SMALL_PUTS]) {
            values.push(taken.as_nanos() as f64 / puts as f64);
        }
        step.end().expect("ended");
    }
    publisher.close().expect("closed");
    println!("{}", all.map(|mut values| format!("{:.1}", middle(&mut values))).join(" "));
}

/// Every second of the elements, gathered in lent memory.
fn put_section(step: &mut StepWriter, section: &Variable, start: u64, elements: &[f64]) {
    let mut loan = step.loan::<f64>(section, &region(start, SMALL_LEN)).expect("lent");
    for (place, element) in loan.iter_mut().zip(elements.iter().step_by(2)) {
        *place = *element;
    }
    step.put_loan(loan).expect("put");
}

fn subscribe() {
    let mut subscriber = Subscriber::open("calls", SubscriberOptions::default()).expect("attached");
    while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(60)).expect("a step") {
        drop(step);
    }
}

/// The library that was built with this, installed.
fn staged(place: &Path) -> PathBuf {
    let this = std::env::current_exe().expect("this program knows where it is");
    let prefix = place.join("staged");
    let mut install = Command::new(Path::new(ROOT).join("scripts/install-library.sh"));
    install.arg(this.parent().expect("it lies in deps")).arg(&prefix);
    assert!(install.status().expect("the script runs").success());
    prefix
}

/// A program against that.
fn compiled(prefix: &Path, compiler: &str, source: &str, libraries: &[&str]) -> PathBuf {
    let (program, lib) = (prefix.join(source).with_extension(compiler), prefix.join("lib"));
    let mut command = Command::new(compiler);
    command.arg("-O2").arg(Path::new(ROOT).join("benches").join(source)).arg("-o").arg(&program);
    command.arg(format!("-I{}", prefix.join("include").display()));
    command.arg(format!("-I{}", lib.join("flexpath/fortran").display()));
    command.arg(format!("-L{}", lib.display())).args(libraries);
    command.arg(format!("-Wl,-rpath,{}", lib.display()));
    assert!(command.status().expect("the compiler runs").success(), "{source} does not compile");
    program
}

/// A language, and the program that publishes in it.
struct Language {
    name: &'static str,
    program: PathBuf,
    argument: Option<&'static str>,
}

fn languages(place: &Path) -> [Language; 3] {
    let (this, prefix) = (std::env::current_exe().expect("this program knows where it is"), staged(place));
    let in_c = compiled(&prefix, "cc", "calls.c", &["-lflexpath"]);
    let in_fortran = compiled(&prefix, "gfortran", "calls.f90", &["-lflexpath_fortran", "-lflexpath"]);
    [
        Language { name: "Rust", program: this, argument: Some("--publish") },
        Language { name: "C", program: in_c, argument: None },
        Language { name: "Fortran", program: in_fortran, argument: None },
    ]
}

/// Pins this process, and what it starts from now on, to one core.
fn pin(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = CpuSet::new();
    set.set(core % cores);
    sched_setaffinity(None, &set).expect("a core");
}

/// Nanoseconds that a copy as long as the large put takes, from and to memory that was used just before.
fn copy_ns() -> f64 {
    let (source, mut place) = (vec![1.0f64; LARGE_LEN as usize], vec![0.0f64; LARGE_LEN as usize]);
    let mut taken = [0.0; STEPS];
    for taken in &mut taken {
        let before = Instant::now();
        place.copy_from_slice(std::hint::black_box(&source));
        *taken = before.elapsed().as_nanos() as f64;
        std::hint::black_box(&mut place);
    }
    middle(&mut taken)
}

/// Nanoseconds of a put of each kind.
fn round(language: &Language, is_heard: bool) -> Vec<f64> {
    let place = tempfile::tempdir().expect("a directory");
    let heard = is_heard.then(|| -> Child {
        let this = std::env::current_exe().expect("this program knows where it is");
        let mut subscriber = Command::new(this);
        subscriber.arg("--subscribe").env("FLEXPATH_RENDEZVOUS", place.path());
        pin(0);
        subscriber.spawn().expect("it starts")
    });
    let mut publisher = Command::new(&language.program);
    publisher.args(language.argument).arg(if is_heard { "1" } else { "0" });
    publisher.env("FLEXPATH_RENDEZVOUS", place.path());
    pin(1);
    let output = publisher.stderr(Stdio::inherit()).output().expect("it runs");
    assert!(output.status.success(), "the publisher in {}", language.name);
    heard.into_iter().for_each(|mut child| assert!(child.wait().expect("it ends").success()));
    let text = String::from_utf8(output.stdout).expect("a text");
    text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// The values of one kind of put, of each round.
fn column(rounds: &[Vec<f64>], kind: usize) -> Vec<f64> {
    rounds.iter().map(|round| round[kind]).collect()
}

/// Says what a kind of put took, and how much more than the same in Rust. Returns whether that is within the bound.
fn row(name: &str, language: &str, ours: &[f64], rust: &[f64], limit_ns: f64) -> bool {
    let mut above: Vec<f64> = ours.iter().zip(rust).map(|(ours, rust)| ours - rust).collect();
    let above = middle(&mut above);
    let is_met = above <= limit_ns;
    let (ours, rust) = (middle(&mut ours.to_vec()), middle(&mut rust.to_vec()));
    let target = match (language, is_met) {
        ("Rust", _) => "-".to_owned(),
        (_, true) => format!("above <= {limit_ns:.0} met"),
        (_, false) => format!("above <= {limit_ns:.0} missed"),
    };
    println!("{name:<26}{language:<8}{ours:>10.0}{:>8.2}{above:>8.0}   {target}", ours / rust);
    let figures =
        [("a put", Figure::Text(name)), ("in", Figure::Text(language)), ("ns", Figure::Number(ours))];
    let judged = [
        ("above Rust, ns", Figure::Number(above)),
        ("at most, ns", Figure::Number(limit_ns)),
        ("verdict", Figure::Met(is_met)),
    ];
    let judged = judged.into_iter().filter(|_| language != "Rust");
    keep(&figures.into_iter().chain(judged).collect::<Vec<_>>());
    is_met
}

/// All languages in turns; whether all are within the bound.
fn compare(languages: &[Language], is_heard: bool, copy_ns: f64) -> bool {
    let mut rounds: Vec<Vec<Vec<f64>>> = vec![Vec::new(); languages.len()];
    for _ in 0..ROUNDS {
        for (language, rounds) in languages.iter().zip(&mut rounds) {
            rounds.push(round(language, is_heard));
        }
    }
    let mut are_met = true;
    for (kind, name) in KINDS.into_iter().enumerate() {
        let limit_ns = if is_heard && name == LARGE { LIMIT_NS + copy_ns } else { LIMIT_NS };
        let name = format!("{}, {name}", if is_heard { "heard" } else { "unheard" });
        let rust = column(&rounds[0], kind);
        for (language, rounds) in languages.iter().zip(&rounds) {
            are_met &= row(&name, language.name, &column(rounds, kind), &rust, limit_ns);
        }
    }
    are_met
}

fn measure() {
    let place = tempfile::tempdir().expect("a directory");
    let languages = languages(place.path());
    println!("{:<26}{:<8}{:>10}{:>8}{:>8}   target", "a put", "in", "ns", "ratio", "above");
    pin(1);
    let copy_ns = copy_ns();
    let are_met = [false, true].map(|is_heard| compare(&languages, is_heard, copy_ns));
    println!("a copy of {LARGE} alone took {copy_ns:.0} ns");
    println!("{}", if are_met == [true, true] { "all met" } else { "some missed" });
}
