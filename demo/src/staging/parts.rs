//! The parts that are programs of this one: the simulation and the analysis.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use flexpath::{
    Cohort, NextStep, OnLoss, Publisher, PublisherOptions, Region, Selection, StartAt, StepId, Subscriber,
    SubscriberOptions, Variable,
};

use super::field::{COLUMNS, ROWS, temperature};
use super::settings::Settings;
use crate::shared::error::StreamError;
use crate::shared::processes::end_with_supervisor;

/// The stream of the simulation, and the one that the stager makes of it.
pub const STREAM: &str = "heat";
/// The same as the stager publishes it, and as the gate does.
pub const STAGED: &str = "heat-staged";

/// No wait is longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a part could not go on.
#[derive(Debug, thiserror::Error)]
pub enum StagingError {
    /// The stream.
    #[error(transparent)]
    Stream(StreamError),
    /// A file of the output folder.
    #[error("the output folder: {source}")]
    Output {
        /// Why it cannot be used.
        r#source: std::io::Error,
    },
    /// A step is not what it should be.
    #[error("step {step}: row {row}, column {column} is {found}, and not {expected}")]
    Wrong {
        /// The step.
        step: u64,
        /// The row.
        row: u64,
        /// The column.
        column: u64,
        /// What was read.
        found: f64,
        /// What was published.
        expected: f64,
    },
    /// No step came.
    #[error("no step came within {PATIENCE:?}")]
    Silence,
}

impl<E> From<E> for StagingError
where
    StreamError: From<E>,
{
    fn from(error: E) -> Self {
        StagingError::Stream(error.into())
    }
}

impl From<std::io::Error> for StagingError {
    fn from(source: std::io::Error) -> Self {
        StagingError::Output { source }
    }
}

/// A part: a program that the supervisor starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Publishes; two ranks, each with half of the rows.
    Simulation,
    /// Takes every step outside, checks every number, and goes on where the one before it ended.
    Analysis,
}

impl Part {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Simulation => "simulation",
            Part::Analysis => "analysis",
        }
    }

    /// Be this part until its work is done, or its supervisor is gone.
    ///
    /// # Errors
    /// What it could not do.
    pub fn run(self, settings: &Settings) -> Result<(), StagingError> {
        end_with_supervisor();
        match self {
            Part::Simulation => simulate(settings),
            Part::Analysis => read(settings),
        }
    }
}

fn simulate(settings: &Settings) -> Result<(), StagingError> {
    let cohort = Cohort::from_environment()?;
    let rows = ROWS / u64::from(cohort.size());
    let first = u64::from(cohort.rank().0) * rows;
    let options = PublisherOptions::default().with_cohort(cohort).with_min_subscribers(1);
    let mut publisher = Publisher::open(STREAM, options)?;
    let field = Variable::global::<f64>("temperature", &[ROWS, COLUMNS])?.with_unit("K");
    let began = Instant::now();
    for number in 0..settings.steps {
        let due = began + Duration::from_millis(settings.pace_ms * number);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let mut writer = publisher.begin_step()?;
        let own = Region::new([first, 0], [rows, COLUMNS]).unwrap_or_else(|_| Region::whole(field.shape()));
        let mut loan = writer.loan::<f64>(&field, &own)?;
        for (at, place) in (0..).zip(loan.iter_mut()) {
            *place = temperature(number, first + at / COLUMNS, at % COLUMNS);
        }
        writer.put_loan(loan)?;
        writer.end()?;
    }
    let counted = publisher.statistics();
    let held_up = counted.begin_subscription_ns as f64 / 1e9;
    let told = serde_json::json!({ "held_up_s": held_up, "ran_s": began.elapsed().as_secs_f64() });
    std::fs::write(settings.held_up(cohort.rank().0), told.to_string())?;
    Ok(publisher.close()?)
}

fn read(settings: &Settings) -> Result<(), StagingError> {
    let before = std::fs::read_to_string(settings.taken()).unwrap_or_default();
    let last = before.lines().filter_map(|line| line.parse().ok()).next_back();
    let start_at = last.map_or(StartAt::OldestReserved, |last| StartAt::After(StepId(last)));
    let options = SubscriberOptions::default().with_start_at(start_at).with_open_timeout(PATIENCE);
    let mut subscriber = Subscriber::open(STAGED, options.with_on_loss(OnLoss::AwaitRestart(PATIENCE)))?;
    let mut taken = OpenOptions::new().append(true).create(true).open(settings.taken())?;
    loop {
        match subscriber.next_step(PATIENCE)? {
            NextStep::Step(step) => {
                let number = step.step().0;
                check(number, &step.get("temperature", Selection::All)?)?;
                thread::sleep(Duration::from_millis(settings.reading_ms));
                // In one piece: it may be killed at any moment.
                taken.write_all(format!("{number}\n").as_bytes())?;
            }
            NextStep::NotYet => return Err(StagingError::Silence),
            NextStep::Ended(_) => return Ok(subscriber.close()?),
        }
    }
}

fn check(step: u64, found: &[f64]) -> Result<(), StagingError> {
    for (at, &found) in (0..).zip(found) {
        let (row, column) = (at / COLUMNS, at % COLUMNS);
        let expected = temperature(step, row, column);
        if found.to_bits() != expected.to_bits() {
            return Err(StagingError::Wrong { step, row, column, found, expected });
        }
    }
    Ok(())
}
