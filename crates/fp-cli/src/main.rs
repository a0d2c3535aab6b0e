//! The `flexpath` command: what streams there are, what is in them, their values as they come, and what ails a machine.
#![forbid(unsafe_code)]

mod arguments;
mod bench;
mod credentials;
mod describe;
mod doctor;
mod element;
mod entries;
mod failure;
mod fields;
mod interrupt;
mod list;
mod meet;
mod output;
mod status;
mod summary;
mod tail;
mod token;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use failure::Failure;
use fp_core::rendezvous::Rendezvous;

fn main() -> ExitCode {
    // Wrong usage ends here: clap says what is wrong and exits with 2.
    let arguments = Arguments::parse();
    fp_core::start_log();
    match run(&arguments) {
        // A reader of our output that has seen enough, as `head` has: nothing went wrong.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Usage(why)) => Arguments::command().error(ErrorKind::ValueValidation, why).exit(),
        Err(failure) => {
            eprintln!("flexpath: {failure}");
            ExitCode::from(1)
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// Does what the arguments ask for.
fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Command::Token(options) = &arguments.command {
        return token::run(options);
    }
    if let Command::Meet(options) = &arguments.command {
        return meet::run(options); // which is a rendezvous, and needs none
    }
    let rendezvous = match &arguments.rendezvous {
        Some(path) => Rendezvous::at(path),
        None => Rendezvous::from_environment(),
    };
    if let Command::Doctor(options) = &arguments.command {
        return doctor::run(rendezvous, options); // which also says what is wrong with the rendezvous
    }
    let rendezvous = rendezvous?;
    match &arguments.command {
        Command::Ls(options) => list::run(rendezvous, options),
        Command::Describe(options) => describe::run(rendezvous, options),
        Command::Tail(options) => tail::run(rendezvous, options),
        Command::Status(options) => status::run(rendezvous, options),
        Command::Token(_) | Command::Meet(_) | Command::Doctor(_) => Ok(()),
        Command::Bench(options) => bench::run(options),
        Command::BenchRole(options) => bench::play(options),
    }
}
