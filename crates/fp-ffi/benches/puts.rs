//! What a put costs through Fortran, beside the same put in Rust: small blocks, so that the call is what is measured.
//!
//! The least time over some hundred steps, with a subscriber over shared memory that takes every step. The bound is the
//! Rust call plus 1 µs.

use fp_core::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, TransportKind,
    TransportPolicy, Variable,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const BLOCKS: u64 = 64;
const STEPS: u64 = 400;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Takes every step until the stream is over.
fn follow(place: &Path) -> Result<JoinHandle<Result<(), Failure>>, Failure> {
    let options = SubscriberOptions::default()
        .with_rendezvous(Rendezvous::at(place)?)
        .with_transports(TransportPolicy::only(TransportKind::Shm));
    Ok(std::thread::spawn(move || {
        let mut subscriber = Subscriber::open("puts", options)?;
        while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(20))? {
            step.get::<f64>("numbers", "[...]")?;
        }
        Ok(())
    }))
}

/// Nanoseconds of a put in Rust.
fn rust_put(place: &Path) -> Result<u64, Failure> {
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(place)?)
        .with_transports(TransportPolicy::only(TransportKind::Shm))
        .with_min_subscribers(1);
    let mut publisher = Publisher::open("puts", options)?;
    let numbers = Variable::global::<f64>("numbers", &[8 * BLOCKS])?;
    let mut least = Duration::MAX;
    for _ in 0..STEPS {
        let mut writer = publisher.begin_step()?;
        let started = Instant::now();
        for block in 0..BLOCKS {
            writer.put_copy(&numbers, &Region::new([8 * block], [8])?, &[1.0; 8])?;
        }
        least = least.min(started.elapsed());
        writer.end()?;
    }
    publisher.close()?;
    Ok(u64::try_from(least.as_nanos())? / BLOCKS)
}

/// The program in Fortran, built as its users build.
fn program(folder: &Path) -> Result<PathBuf, Failure> {
    let (here, prefix) = (Path::new(env!("CARGO_MANIFEST_DIR")), folder.join("prefix"));
    let bench = std::env::current_exe()?;
    let built = bench.parent().ok_or("a bench lies in deps")?;
    let mut install = Command::new(here.join("../../scripts/install-library.sh"));
    if !install.arg(built).arg(&prefix).status()?.success() {
        return Err("the library cannot be installed".into());
    }
    let program = folder.join("puts");
    let mut gfortran = Command::new("gfortran");
    gfortran.arg("-O2").arg(here.join("benches/puts.f90")).arg("-o").arg(&program);
    gfortran.arg(format!("-I{}", prefix.join("lib/flexpath/fortran").display()));
    gfortran.arg(format!("-L{}", prefix.join("lib").display())).args(["-lflexpath_fortran", "-lflexpath"]);
    gfortran.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    if gfortran.status()?.success() { Ok(program) } else { Err("gfortran failed".into()) }
}

/// Nanoseconds of a put through Fortran: dense, and of a section.
fn fortran_puts(program: &Path, place: &Path) -> Result<(u64, u64), Failure> {
    let output = Command::new(program).env("FLEXPATH_RENDEZVOUS", place).output()?;
    let told = String::from_utf8(output.stdout)?;
    let (dense, section) = told.trim().split_once(' ').ok_or("the program tells two numbers")?;
    Ok((dense.parse()?, section.parse()?))
}

fn main() -> Result<(), Failure> {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let followed = follow(folder.path())?;
    let rust = rust_put(folder.path())?;
    followed.join().map_err(|_| "the subscriber panicked")??;
    let program = program(folder.path())?;
    let followed = follow(folder.path())?;
    let (dense, section) = fortran_puts(&program, folder.path())?;
    followed.join().map_err(|_| "the subscriber panicked")??;
    println!("put of 8 numbers, Rust: {rust} ns");
    for (what, spent) in [("Fortran, dense", dense), ("Fortran, a section", section)] {
        let more = spent.saturating_sub(rust);
        let verdict = if more <= 1000 { "within" } else { "MISSED" };
        println!("put of 8 numbers, {what}: {spent} ns, {more} ns more (bound 1000: {verdict})");
    }
    Ok(())
}
