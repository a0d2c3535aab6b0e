//! `staging`: a stream that outlives its network and those who read it.
//!
//! Started without a word it is the supervisor. `staging part NAME` is one rank of one part: what the supervisor starts.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use flexpath_demo::shared::program::{be, supervise};
use flexpath_demo::staging::parts::Part;
use flexpath_demo::staging::{Settings, run};

/// A stream that outlives its network and those who read it. A simulation of heat in a plate is staged, on disk where
/// memory has no room. It leaves the cluster over one connection, which is cut twice. Outside the analysis is killed,
/// and another one goes on. Every number is checked.
///
/// Exit status: 0 every check held; 1 one did not, or something failed; 130 interrupted.
#[derive(Parser)]
#[command(name = "staging", version)]
struct Command {
    #[command(subcommand)]
    part: Option<PartCommand>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Subcommand)]
enum PartCommand {
    /// Be one rank of one part (the supervisor starts these)
    #[command(hide = true)]
    Part {
        part: Part,
        #[command(flatten)]
        settings: Settings,
    },
}

fn main() -> ExitCode {
    let command = Command::parse();
    match command.part {
        Some(PartCommand::Part { part, settings }) => be(part.name(), || part.run(&settings)),
        None => supervise("staging", |interrupt, screen| run::run(&command.settings, interrupt, screen)),
    }
}
