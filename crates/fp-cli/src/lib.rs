//! The `flexpath` command: what streams there are, what is in them, their values as they come, and what ails a machine.
//!
//! It is a library, so that the Python package has the same command. There it runs inside an interpreter: it ends by
//! returning its exit status, and is told what starts it anew. And `flexpath-tee` is of the same family: what it shares
//! with the command is public here.
#![forbid(unsafe_code)]

mod arguments;
mod bench;
mod check;
mod credentials;
mod crossing;
mod delegate;
mod describe;
mod doctor;
mod element;
mod entries;
mod failure;
mod features;
mod fields;
mod forward;
mod gate;
mod interrupt;
mod list;
mod meet;
mod outage;
mod output;
mod program;
mod publisher_size;
mod record;
mod record_file;
mod recorded_step;
mod replay;
mod request;
mod selecting;
mod stage;
mod status;
mod summary;
mod tail;
mod tee;
mod token;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write as _};

use arguments::{Arguments, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use fp_core::rendezvous::Rendezvous;
use program::Program;

pub use arguments::{seconds, start_at};
pub use credentials::{CredentialOptions, Credentials};
pub use describe::open;
pub use failure::Failure;
pub use interrupt::{Interrupt, NOTICE};

/// Runs the command with these arguments, the program's name not among them. What there is to say was printed.
///
/// Returns the exit status: 0 where all went well, 1 where something failed, 2 where usage was wrong, 3 where a step
/// breaks a convention. For more processes it starts the executable of this one anew.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    status(&Program::own(), arguments)
}

/// As [`main`], for a process whose executable is not the command: `program` starts it anew when arguments follow, as
/// `python3 -m flexpath` does.
pub fn main_started_by(program: Vec<OsString>, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    status(&Program::started_by(program), arguments)
}

/// Runs it: the exit status.
fn status(program: &Program, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = std::iter::once(OsString::from("flexpath")).chain(arguments);
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return told(&error),
    };
    fp_core::start_log();
    let done = run(program, &arguments);
    // Where main is not Rust's, nobody else does this.
    let done = done.and(io::stdout().flush().map_err(Failure::Output));
    exit_status(done, Arguments::command())
}

/// Says how a command of this family ended, and with which exit status.
pub fn exit_status(done: Result<(), Failure>, mut command: clap::Command) -> u8 {
    match done {
        // A reader of our output that has seen enough, as `head` has: nothing went wrong.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(Failure::Usage(why)) => told(&command.error(ErrorKind::ValueValidation, why)),
        Err(failure) => {
            eprintln!("flexpath: {failure}");
            failure.status()
        }
        Ok(()) => 0,
    }
}

/// Prints what is wrong with the arguments, or the help that they ask for: the exit status.
pub fn told(error: &clap::Error) -> u8 {
    // Where it cannot be printed, nobody would read why.
    let _ = error.print();
    if error.use_stderr() { 2 } else { 0 }
}

/// Does what the arguments ask for.
fn run(program: &Program, arguments: &Arguments) -> Result<(), Failure> {
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
    if let Command::Tee(options) = &arguments.command {
        return tee::run(arguments.rendezvous.as_deref(), options); // which finds the rendezvous itself
    }
    if let Command::Doctor(options) = &arguments.command {
        return doctor::run(program, rendezvous, options); // which also says what is wrong with the rendezvous
    }
    let rendezvous = rendezvous?;
    match &arguments.command {
        Command::Ls(options) => list::run(rendezvous, options),
        Command::Describe(options) => describe::run(rendezvous, options),
        Command::Check(options) => check::run(rendezvous, options),
        Command::Tail(options) => tail::run(rendezvous, options),
        Command::Watch(options) => watch::run(rendezvous, options),
        Command::Features(options) => features::run(rendezvous, options),
        Command::Request(options) => request::run(rendezvous, options),
        Command::Record(options) => record::run(rendezvous, options),
        Command::Replay(options) => replay::run(rendezvous, options),
        Command::Stage(options) => stage::run(rendezvous, options),
        Command::Forward(options) => forward::run(rendezvous, options),
        Command::Gate(options) => gate::run(rendezvous, options),
        Command::Status(options) => status::run(rendezvous, options),
        Command::Token(_) | Command::Meet(_) | Command::Tee(_) | Command::Doctor(_) => Ok(()),
        Command::Bench(options) => bench::run(program, options),
        Command::BenchRole(options) => bench::play(options),
    }
}
