//! The supervisor: starts the parts, prints a row for every step as the analytics publish it, checks, and draws.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use flexpath::Rendezvous;
use fp_pictures::{Histogram, Picture, PictureError, draw_histograms, draw_parallel_coordinates};

use super::axes::{Axis, BINS, PARTICLE_AXES};
use super::checks::Checks;
use super::error::GtsError;
use super::found::{Found, follow};
use super::processes::{Part, failed, start};
use super::settings::Settings;
use crate::shared::check_result::{self, CheckResult};
use crate::shared::interrupt::Interrupt;
use crate::shared::outcome::Outcome;
use crate::shared::processes::{Processes, list};
use crate::shared::screen::Screen;

/// How soon an interrupt or an end is noticed.
const LOOK: Duration = Duration::from_millis(50);

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("interrupted")]
    Interrupted,
    #[error("not done within {limit:?}")]
    TooLong { limit: Duration },
    #[error("{0}")]
    PartFailed(String),
    #[error("the analytics could not be followed: {0}")]
    Follow(GtsError),
    #[error("the analytics could not be followed: that thread panicked")]
    Panicked,
    #[error(transparent)]
    Rendezvous(#[from] flexpath::rendezvous::RendezvousError),
    #[error("cannot write to {folder}: {error}")]
    Output { folder: String, error: io::Error },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Run all of it, and say what came of it.
pub fn run(settings: &Settings, interrupt: &Interrupt, screen: &mut Screen) -> Outcome {
    let checks = match run_parts(settings, interrupt, screen) {
        Ok(checks) => checks,
        Err(RunError::Interrupted) => {
            screen.line("interrupted: everything that was started is ended");
            return Outcome::Interrupted;
        }
        Err(error) => {
            screen.line(&format!("  FAIL  {error} (logs: {})", settings.logs().display()));
            return Outcome::Failed;
        }
    };
    check_result::show(&checks, screen)
}

fn run_parts(
    settings: &Settings,
    interrupt: &Interrupt,
    screen: &mut Screen,
) -> Result<Vec<CheckResult>, RunError> {
    let output = |error| RunError::Output { folder: settings.output.display().to_string(), error };
    std::fs::create_dir_all(&settings.output).map_err(output)?;
    let mut data = BufWriter::new(File::create(settings.data()).map_err(output)?);
    let mut run = Run::start(settings, interrupt)?;
    introduce(settings, &run.processes, screen);
    let mut checks = Checks::new(settings);
    while let Some(found) = run.next()? {
        screen.line(&row(&found, settings));
        serde_json::to_writer(&mut data, &found).map_err(|error| output(error.into()))?;
        data.write_all(b"\n").map_err(output)?;
        checks.take(found);
    }
    data.flush().map_err(output)?;
    run.wait_for_parts()?;
    let mut all = vec![run.check()];
    let (found, last) = checks.finish();
    all.extend(found);
    all.extend(last.iter().flat_map(|last| pictures(last, settings)));
    Ok(all)
}

/// A run under way.
struct Run<'a> {
    interrupt: &'a Interrupt,
    started: Instant,
    limit: Duration,
    inbox: Receiver<Found>,
    following: Option<JoinHandle<Result<(), GtsError>>>,
    rendezvous: Rendezvous,
    // Ended, in this order, when the run is dropped: first the processes, then their folder.
    processes: Processes<Part>,
    _folder: tempfile::TempDir,
}

impl<'a> Run<'a> {
    fn start(settings: &Settings, interrupt: &'a Interrupt) -> Result<Self, RunError> {
        let folder = tempfile::Builder::new().prefix("flexpath-gts-").tempdir()?;
        let rendezvous = Rendezvous::at(folder.path())?;
        let mut processes = Processes::default();
        for part in Part::ALL {
            start(&mut processes, part, settings, folder.path())?;
        }
        let (outbox, inbox) = channel();
        let at = rendezvous.clone();
        let following = Some(thread::spawn(move || follow(&at, &outbox)));
        let (started, limit) = (Instant::now(), settings.deadline());
        Ok(Run { interrupt, started, limit, inbox, following, rendezvous, processes, _folder: folder })
    }

    /// What was found in the next step; none after the last.
    fn next(&mut self) -> Result<Option<Found>, RunError> {
        loop {
            // Also where steps come without a pause.
            self.look()?;
            match self.inbox.recv_timeout(LOOK) {
                Ok(found) => return Ok(Some(found)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let Some(following) = self.following.take() else { return Ok(None) };
        let followed = following.join().map_err(|_| RunError::Panicked)?;
        followed.map(|()| None).map_err(|error| self.cause(error))
    }

    /// If a part has failed, that is why. Its links close a moment before the system says that it has ended.
    fn cause(&mut self, error: GtsError) -> RunError {
        let noticed = Instant::now();
        while noticed.elapsed() < 20 * LOOK {
            if let Err(found) = self.look() {
                return found;
            }
            thread::sleep(LOOK);
        }
        RunError::Follow(error)
    }

    fn look(&mut self) -> Result<(), RunError> {
        if self.interrupt.is_requested() {
            return Err(RunError::Interrupted);
        }
        if let Some(what) = failed(&mut self.processes)? {
            return Err(RunError::PartFailed(what));
        }
        match self.started.elapsed() < self.limit {
            true => Ok(()),
            false => Err(RunError::TooLong { limit: self.limit }),
        }
    }

    fn wait_for_parts(&mut self) -> Result<(), RunError> {
        while !self.processes.are_all_ended() {
            self.look()?;
            thread::sleep(LOOK);
        }
        self.look()
    }

    fn check(&self) -> CheckResult {
        let left_behind = self.rendezvous.entries().len();
        let what = format!("{} ended with 0; {left_behind} streams left behind", self.processes.all().len());
        CheckResult::of(left_behind == 0, "every process ended well", what)
    }
}

fn introduce(settings: &Settings, processes: &Processes<Part>, screen: &mut Screen) {
    let Settings { particles, steps, ranks, histogram_ranks, coordinate_ranks, seed, .. } = settings;
    screen.line(&format!(
        "== gts: {particles} particles (seed {seed}) on {ranks} ranks, {steps} steps; histograms on \
         {histogram_ranks} ranks, parallel coordinates on {coordinate_ranks}"
    ));
    screen.line(&format!("  started: {}", list(processes.all())));
    screen.line(
        "  kB: published by all ranks; crossed for histograms, for coordinates (counts, and a few particles)",
    );
    screen.line(&format!(
        "{:>6} {:>9} {:>17} {:>8} {:>13} {:>11} {:>12} {:>9}",
        "step",
        "particles",
        "on each rank",
        "arrived",
        "published kB",
        "histograms",
        "coordinates",
        "selected"
    ));
}

fn row(found: &Found, settings: &Settings) -> String {
    let kilobytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e3);
    let span = [found.held.iter().min(), found.held.iter().max()].map(|of| of.copied().unwrap_or(0));
    format!(
        "{:>3}/{:<3} {:>8} {:>17} {:>8} {:>13} {:>11} {:>12} {:>9}",
        found.number + 1,
        settings.steps,
        found.held.iter().sum::<u64>(),
        format!("{} - {}", span[0], span[1]),
        found.arrived.iter().sum::<u64>(),
        kilobytes(found.published_bytes),
        kilobytes(found.histogram_bytes),
        kilobytes(found.coordinate_bytes),
        found.selected,
    )
}

/// Draw both pictures of a step.
fn pictures(found: &Found, settings: &Settings) -> [CheckResult; 2] {
    let axes = Axis::all(settings.particles);
    let check = |name, picture: Result<Picture, PictureError>, path: std::path::PathBuf| {
        let written = picture.and_then(|picture| picture.write_png(&path).map(|()| picture));
        let picture = match written {
            Ok(picture) => picture,
            Err(error) => return CheckResult::of(false, name, error.to_string()),
        };
        let inked = picture.pixels.iter().filter(|&&part| part != u8::MAX).count() / 3;
        let (width, height) = (picture.width_pixels, picture.height_pixels);
        let what = format!("{}: {width} x {height}, about {inked} pixels drawn", path.display());
        CheckResult::of(inked > 0, name, what)
    };
    [
        check("picture of histograms", Ok(histograms(&axes, found)), settings.histogram_picture()),
        check("picture in parallel coordinates", coordinates(&axes, found), settings.coordinate_picture()),
    ]
}

fn histograms(axes: &[Axis], found: &Found) -> Picture {
    let counted = axes.iter().zip(&found.histograms);
    let histograms = counted.map(|(axis, counts)| {
        // What lies outside of the range is counted behind the bins.
        Histogram { axis: axis.drawn(), counts: &counts[..BINS.min(counts.len())] }
    });
    draw_histograms(&histograms.collect::<Vec<_>>())
}

fn coordinates(axes: &[Axis], found: &Found) -> Result<Picture, PictureError> {
    let axes: Vec<_> = axes.iter().take(PARTICLE_AXES).map(Axis::drawn).collect();
    let lines: Vec<&[f64]> = found.lines.iter().map(|line| line.as_slice()).collect();
    draw_parallel_coordinates(&axes, &found.between, &lines)
}
