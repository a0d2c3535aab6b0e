//! What a put through C and through Fortran costs above the same call in Rust: `cargo bench -p flexpath-ffi`.
//!
//! Each language is a process of its own: `calls.c` and `calls.f90`, compiled against a staged installation of this
//! library, and this binary again with a role. They take turns; of each the middle of the rounds counts. Small puts are
//! of 64 bytes, 256 blocks a step; the large one is of 1 MiB; a section is every second element, gathered in lent
//! memory. *Unheard* is without a subscriber, *heard* with one in a process beside it that takes every step over shared
//! memory and releases it.

use fp_core::{
    NextStep, Publisher, PublisherOptions, Region, StepWriter, Subscriber, SubscriberOptions, Variable,
};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SMALL_PUTS: u64 = 256;
const SMALL_LEN: u64 = 8;
const LARGE_LEN: u64 = 1 << 17;
const STEPS: usize = 400;
const ROUNDS: usize = 7;
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
    let small = Variable::global::<f64>("small", &[SMALL_PUTS * SMALL_LEN]).expect("a variable");
    let section = Variable::global::<f64>("section", &[SMALL_PUTS * SMALL_LEN]).expect("a variable");
    let large = Variable::global::<f64>("large", &[LARGE_LEN]).expect("a variable");
    let elements = vec![1.0f64; LARGE_LEN as usize];
    let options = PublisherOptions::default().with_min_subscribers(subscribers.parse().expect("a number"));
    let mut publisher = Publisher::open("calls", options).expect("open");
    let (mut small_ns, mut large_ns, mut section_ns) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STEPS {
        let mut step = publisher.begin_step().expect("begun");
        let before = Instant::now();
        for put in 0..SMALL_PUTS {
            let part = &elements[..SMALL_LEN as usize];
            step.put_copy(&small, &region(put * SMALL_LEN, SMALL_LEN), part).expect("put");
        }
        let between = Instant::now();
        step.put_copy(&large, &region(0, LARGE_LEN), &elements).expect("put");
        let after = Instant::now();
        for put in 0..SMALL_PUTS {
            put_section(&mut step, &section, put * SMALL_LEN, &elements);
        }
        section_ns.push(after.elapsed().as_nanos() as f64 / SMALL_PUTS as f64);
        large_ns.push((after - between).as_nanos() as f64);
        small_ns.push((between - before).as_nanos() as f64 / SMALL_PUTS as f64);
        step.end().expect("ended");
    }
    publisher.close().expect("closed");
    println!("{:.1} {:.1} {:.1}", middle(&mut small_ns), middle(&mut large_ns), middle(&mut section_ns));
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

/// Nanoseconds of a put of each kind: small, large, a small section.
fn round(language: &Language, is_heard: bool) -> Vec<f64> {
    let place = tempfile::tempdir().expect("a directory");
    let heard = is_heard.then(|| -> Child {
        let this = std::env::current_exe().expect("this program knows where it is");
        let mut subscriber = Command::new(this);
        subscriber.arg("--subscribe").env("FLEXPATH_RENDEZVOUS", place.path());
        subscriber.spawn().expect("it starts")
    });
    let mut publisher = Command::new(&language.program);
    publisher.args(language.argument).arg(if is_heard { "1" } else { "0" });
    publisher.env("FLEXPATH_RENDEZVOUS", place.path());
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

/// Says what a kind of put took, and above the same in Rust; whether that is within the bound.
fn row(name: &str, language: &str, ours: &[f64], rust: &[f64]) -> bool {
    let mut above: Vec<f64> = ours.iter().zip(rust).map(|(ours, rust)| ours - rust).collect();
    let above = middle(&mut above);
    let is_met = above <= LIMIT_NS;
    let (ours, rust) = (middle(&mut ours.to_vec()), middle(&mut rust.to_vec()));
    let target = match (language, is_met) {
        ("Rust", _) => "-".to_owned(),
        (_, true) => format!("above <= {LIMIT_NS} met"),
        (_, false) => format!("above <= {LIMIT_NS} missed"),
    };
    println!("{name:<26}{language:<8}{ours:>10.0}{:>8.2}{above:>8.0}   {target}", ours / rust);
    is_met
}

/// All languages in turns; whether all are within the bound.
fn compare(languages: &[Language], is_heard: bool) -> bool {
    let mut rounds: Vec<Vec<Vec<f64>>> = vec![Vec::new(); languages.len()];
    for _ in 0..ROUNDS {
        for (language, rounds) in languages.iter().zip(&mut rounds) {
            rounds.push(round(language, is_heard));
        }
    }
    let mut are_met = true;
    for (kind, name) in [(0, "64 B"), (2, "64 B, a section"), (1, "1 MiB")] {
        let name = format!("{}, {name}", if is_heard { "heard" } else { "unheard" });
        let rust = column(&rounds[0], kind);
        for (language, rounds) in languages.iter().zip(&rounds) {
            are_met &= row(&name, language.name, &column(rounds, kind), &rust);
        }
    }
    are_met
}

fn measure() {
    let place = tempfile::tempdir().expect("a directory");
    let languages = languages(place.path());
    println!("{:<26}{:<8}{:>10}{:>8}{:>8}   target", "a put", "in", "ns", "ratio", "above");
    let are_met = [false, true].map(|is_heard| compare(&languages, is_heard));
    println!("{}", if are_met == [true, true] { "all met" } else { "some missed" });
}
