//! `gts`: particles of a fusion plasma, and analytics that count them where they are.
//!
//! Started without a word it is the supervisor. `gts part NAME` is one rank of one part: what the supervisor starts.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use flexpath_demo::gts::processes::Part;
use flexpath_demo::gts::{Settings, run};
use flexpath_demo::pipeline::supervisor::{Interrupt, Screen};
use tracing_subscriber::EnvFilter;

/// Particles of a fusion plasma in a torus, each rank those in its wedge, and the analytics that the Flexpath paper
/// (section II) runs on GTS: histograms of ten variables, and the data of parallel coordinates, both counted where the
/// particles are, so that counts alone cross. Prints a row for each step, and draws the last one as two PNG files.
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
        Some(PartCommand::Part { part, settings }) => be(part, &settings),
        None => supervise(&command.settings),
    }
}

fn be(part: Part, settings: &Settings) -> ExitCode {
    let wanted = EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(wanted).with_writer(std::io::stderr).with_ansi(false).init();
    match part.run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", part.name());
            ExitCode::FAILURE
        }
    }
}

fn supervise(settings: &Settings) -> ExitCode {
    match Interrupt::watch() {
        Ok(interrupt) => {
            let mut screen = Screen::new(std::io::stdout());
            ExitCode::from(run::run(settings, &interrupt, &mut screen).status())
        }
        Err(error) => {
            eprintln!("gts: cannot watch for interrupts: {error}");
            ExitCode::FAILURE
        }
    }
}
