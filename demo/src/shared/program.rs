//! What the program of an application does: it is one rank of a part, or the supervisor of all.

use std::fmt::Display;
use std::process::ExitCode;

use tracing_subscriber::EnvFilter;

use super::interrupt::Interrupt;
use super::outcome::Outcome;
use super::screen::Screen;

/// Be a rank of the part of that name. What the library says of itself goes to the part's log, as much as `RUST_LOG` asks
/// for.
pub fn be<E: Display>(part: &str, run: impl FnOnce() -> Result<(), E>) -> ExitCode {
    let wanted = EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(wanted).with_writer(std::io::stderr).with_ansi(false).init();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(part, &error),
    }
}

/// Be the supervisor, until the run is over or the user ends it.
pub fn supervise(program: &str, run: impl FnOnce(&Interrupt, &mut Screen) -> Outcome) -> ExitCode {
    let mut screen = Screen::new(std::io::stdout());
    match Interrupt::watch() {
        Ok(interrupt) => ExitCode::from(run(&interrupt, &mut screen).status()),
        Err(error) => failed(program, &format!("cannot watch for interrupts: {error}")),
    }
}

/// Say why somebody could not go on.
pub fn failed(who: &str, why: &dyn Display) -> ExitCode {
    eprintln!("{who}: {why}");
    ExitCode::FAILURE
}
