//! What the analytics found in a step, as it comes out of their streams.

use std::sync::mpsc::Sender;

use flexpath::{Cohort, Rendezvous, Selection, StepReader, Subscriber};
use serde::{Deserialize, Serialize};

use super::axes::{COUNTS, PAIR_BINS, PARTICLE_AXES};
use super::coordinates::{BETWEEN, LINES, SELECTED};
use super::error::GtsError;
use super::histograms::COUNTED;
use super::streams::{COORDINATES, HISTOGRAMS, MOVED, RANK_NUMBERS, RANKS, next, subscribing};

/// What the analytics found in a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The step, from 0.
    pub number: u64,
    /// Particles on each rank of the generator.
    pub held: Vec<u64>,
    /// How many of them came from other ranks in this step.
    pub arrived: Vec<u64>,
    /// Bytes that these ranks published.
    pub published_bytes: u64,
    /// Bytes that crossed for the histograms.
    pub histogram_bytes: u64,
    /// Bytes that crossed for the parallel coordinates.
    pub coordinate_bytes: u64,
    /// For each axis, the bins, then how many lie below, above, and are NaN.
    pub histograms: Vec<Vec<u64>>,
    /// For each pair of neighbouring axes, how many particles are in each pair of bins.
    pub between: Vec<Vec<u64>>,
    /// How many particles were selected.
    pub selected: u64,
    /// A sample of them, each as its quantities.
    pub lines: Vec<[f64; PARTICLE_AXES]>,
}

impl Found {
    fn of(number: u64, histograms: &StepReader, coordinates: &StepReader) -> Result<Self, GtsError> {
        let ranks = histograms.get::<u64>(RANKS, Selection::All)?;
        let column = |index| ranks.iter().skip(index).step_by(RANK_NUMBERS as usize).copied();
        let whole = |numbers: Vec<u64>, width| numbers.chunks(width).map(<[u64]>::to_vec).collect();
        let sum = |step: &StepReader| step.get::<u64>(MOVED, Selection::All).map(|all| all.iter().sum());
        Ok(Found {
            number,
            held: column(0).collect(),
            arrived: column(1).collect(),
            published_bytes: column(2).sum(),
            histogram_bytes: sum(histograms)?,
            coordinate_bytes: sum(coordinates)?,
            histograms: whole(histograms.get(COUNTED, Selection::All)?, COUNTS),
            between: whole(coordinates.get(BETWEEN, Selection::All)?, PAIR_BINS),
            selected: coordinates.get::<u64>(SELECTED, Selection::All)?.iter().sum(),
            lines: coordinates.get::<f64>(LINES, Selection::All)?.as_chunks().0.to_vec(),
        })
    }
}

/// Follow both analyses to their ends, and hand on what they found. Whoever does not want any more just goes.
///
/// # Errors
/// A stream that fails, or two that do not go together.
pub fn follow(rendezvous: &Rendezvous, inbox: &Sender<Found>) -> Result<(), GtsError> {
    let open = |stream| {
        let options = subscribing(&format!("supervisor.{stream}"), Cohort::alone());
        Subscriber::open(stream, options.with_rendezvous(rendezvous.clone()))
    };
    let (mut histograms, mut coordinates) = (open(HISTOGRAMS)?, open(COORDINATES)?);
    while let Some((number, step)) = next(&mut histograms, HISTOGRAMS)? {
        let found = match next(&mut coordinates, COORDINATES)? {
            Some((other, of_coordinates)) if other == number => Found::of(number, &step, &of_coordinates)?,
            other => return Err(out_of_step(Some(number), other)),
        };
        if inbox.send(found).is_err() {
            return Ok(());
        }
    }
    if let Some(more) = next(&mut coordinates, COORDINATES)? {
        return Err(out_of_step(None, Some(more)));
    }
    histograms.close()?;
    Ok(coordinates.close()?)
}

fn out_of_step(expected: Option<u64>, found: Option<(u64, StepReader)>) -> GtsError {
    GtsError::OutOfStep { stream: COORDINATES, expected, found: found.map(|(number, _)| number) }
}
