//! The `flexpath` command: what streams there are, what is in them, their values as they come, and what ails a machine.
#![forbid(unsafe_code)]

mod arguments;
mod bench;
mod describe;
mod doctor;
mod element;
mod failure;
mod fields;
mod interrupt;
mod list;
mod summary;
mod tail;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser as _;
use failure::Failure;
use fp_core::rendezvous::Rendezvous;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    // Wrong usage ends here: clap says what is wrong and exits with 2.
    let arguments = Arguments::parse();
    start_log();
    match run(&arguments) {
        // A reader of our output that has seen enough, as `head` has: nothing went wrong.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("flexpath: {failure}");
            ExitCode::from(1)
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// Does what the arguments ask for.
fn run(arguments: &Arguments) -> Result<(), Failure> {
    let rendezvous = match &arguments.rendezvous {
        Some(path) => Rendezvous::at(path),
        None => Rendezvous::from_environment(),
    };
    if let Command::Doctor(options) = &arguments.command {
        return doctor::run(rendezvous, options); // which also says what is wrong with the rendezvous
    }
    let rendezvous = rendezvous?;
    match &arguments.command {
        Command::Ls(options) => list::run(&rendezvous, options),
        Command::Describe(options) => describe::run(rendezvous, options),
        Command::Tail(options) => tail::run(rendezvous, options),
        Command::Doctor(_) => Ok(()),
        Command::Bench(options) => bench::run(options),
        Command::BenchRole(options) => bench::play(options),
    }
}

/// Shows the library's log on the standard error where `FLEXPATH_LOG` asks for it (`debug`, `fp_core=trace`).
fn start_log() {
    if let Ok(filter) = EnvFilter::try_from_env("FLEXPATH_LOG") {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
}
