//! What CNA publishes, if it is ever called.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use flexpath::{OpenError, OpenFailure};

use super::super::error::PartError;
use super::super::inlet::{Every, Inlet};
use super::super::settings::Settings;
use super::super::streams::{STRUCTURE, TIME_STEP};
use super::desk::Classes;
use super::inlet;
use crate::lammps::science::cna::Structure;
use crate::shared::error::StreamError;

/// The thread that waits for CNA's stream, which may appear at any time or never, and takes it.
pub(super) struct WaitsForCna {
    pub(super) found: Receiver<Classes>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), PartError>>,
}

impl WaitsForCna {
    pub(super) fn start(settings: &Settings) -> Self {
        let (sender, found) = channel();
        let (settings, is_over) = (settings.clone(), Arc::new(AtomicBool::new(false)));
        let seen = Arc::clone(&is_over);
        WaitsForCna { found, is_over, thread: thread::spawn(move || take_classes(&settings, &seen, &sender)) }
    }

    /// The simulation is over. What CNA has still to send is awaited, but not that CNA appears.
    pub(super) fn finish(self) -> Result<Receiver<Classes>, PartError> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| PartError::Panicked { stream: STRUCTURE })??;
        Ok(self.found)
    }
}

fn take_classes(settings: &Settings, is_over: &AtomicBool, found: &Sender<Classes>) -> Result<(), PartError> {
    let Some(mut structure) = wait_for_cna(settings, is_over)? else { return Ok(()) };
    while let Some((time_step, step)) = structure.step()? {
        let (ids, classes) = (step.list::<i64>("id")?, step.list::<u8>("class")?);
        structure.release(time_step, step);
        if settings.run_config().is_compared(time_step) {
            let classes = classes.into_iter().map(class).collect::<Result<_, _>>()?;
            // Nobody listens only where the comparison has failed already.
            let _ = found.send(Classes { time_step, ids, classes });
        }
    }
    structure.close()
}

fn wait_for_cna(settings: &Settings, is_over: &AtomicBool) -> Result<Option<Inlet>, PartError> {
    let wanted = [TIME_STEP, "id", "class"];
    loop {
        match inlet(settings, STRUCTURE, Every::Step, &wanted) {
            Err(PartError::Stream(StreamError::Open(OpenError::Failed { failure, .. })))
                if matches!(*failure, OpenFailure::TimedOut(_)) => {}
            opened => return opened.map(Some),
        }
        if is_over.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

fn class(number: u8) -> Result<Structure, PartError> {
    Structure::from_number(i32::from(number)).ok_or(PartError::NoClass { number })
}
