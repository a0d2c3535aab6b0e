//! `gts`: particles of a fusion plasma, and analytics that count them where they are.
//!
//! Started without a word it is the supervisor. `gts part NAME` is one rank of one part: what the supervisor starts.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use flexpath_demo::gts::processes::Part;
use flexpath_demo::gts::{Settings, run};
use flexpath_demo::shared::program::{be, supervise};

/// Particles of a fusion plasma in a torus, where each rank has those in its wedge. On them run the analytics that the
/// Flexpath paper (section II) runs on GTS. These are histograms of ten variables and the data of parallel coordinates.
/// Both are counted where the particles are, so that counts alone cross. Prints a row for each step, and draws the last
/// one as two PNG files.
///
/// Exit status: 0 every check held; 1 one did not, or something failed; 130 interrupted.
#[derive(Parser)]
#[command(name = "gts", version)]
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
        None => supervise("gts", |interrupt, screen| run::run(&command.settings, interrupt, screen)),
    }
}
