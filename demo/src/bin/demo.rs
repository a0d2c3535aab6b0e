//! `demo`: a live simulation, and analytics that attach to it while it runs.
//!
//! Started without a word it is the supervisor. `demo part NAME` is one rank of one part of the pipeline: what the
//! supervisor starts.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use flexpath_demo::lammps::pipeline::supervisor::{MeasureOptions, Options, demonstrate, measure};
use flexpath_demo::lammps::pipeline::{Part, Settings, rank};
use flexpath_demo::shared::interrupt::Interrupt;
use flexpath_demo::shared::program::{be, failed, supervise};

/// A live LAMMPS run on four ranks, and the analytics of the Flexpath paper (section II) that attach to it while it
/// runs. They are Helper, Bonds, CSym and, once CSym sees the material tear, CNA. Results are held against LAMMPS's
/// own, atom by atom.
///
/// Exit status: 0 every check held; 1 one did not, or something failed; 130 interrupted. 77 LAMMPS is not here, so the
/// pipeline ran on a small simulation of our own, checked against nothing.
#[derive(Parser)]
#[command(name = "demo", version)]
struct Command {
    #[command(subcommand)]
    part: Option<PartCommand>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum PartCommand {
    /// Be one rank of one part of the pipeline (the supervisor starts these)
    #[command(hide = true)]
    Part {
        part: Part,
        #[command(flatten)]
        settings: Settings,
    },
    /// Run the pipeline once, coupled through streams or through files, and print what that cost as JSON
    Measure(MeasureOptions),
}

fn main() -> ExitCode {
    let command = Command::parse();
    match command.part {
        Some(PartCommand::Part { part, settings }) => be(part.name(), || rank::run(part, &settings)),
        Some(PartCommand::Measure(options)) => measure_once(&options),
        None => supervise("demo", |interrupt, screen| demonstrate(&command.options, interrupt, screen)),
    }
}

fn measure_once(options: &MeasureOptions) -> ExitCode {
    let interrupt = Interrupt::watch().map_err(|error| format!("cannot watch for interrupts: {error}"));
    let measured = interrupt.and_then(|interrupt| measure(options, &interrupt));
    match measured.and_then(|measured| serde_json::to_string(&measured).map_err(|error| error.to_string())) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => failed("demo", &error),
    }
}
