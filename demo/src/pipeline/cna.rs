//! CNA's part: it attaches to the live stream of bonds, works a number of steps, and detaches. Nobody started it before
//! the verdict.

use flexpath::{StepWriter, Variable, VariableError};

use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::outlet::Outlet;
use super::part::Part;
use super::settings::Settings;
use super::streams::{BONDS, STRUCTURE, TIME_STEP, list, put_whole, rows, time_step};
use crate::adjacency::Adjacency;
use crate::cna::classify;

/// The one that must not miss the first step: Check.
const FIRST_SUBSCRIBERS: u32 = 1;

/// Attach, work, detach.
///
/// # Errors
/// A stream that fails or ends early; pairs that make no graph.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    let mut outlet = Outlet::open(Part::Cna, settings, STRUCTURE, FIRST_SUBSCRIBERS)?;
    let mut bonds = Inlet::open(Part::Cna, settings, BONDS, Every::Step, &[TIME_STEP, "id", "bond"])?;
    for _ in 0..settings.cna_steps() {
        let Some((time_step, step)) = bonds.step()? else {
            return Err(PartError::Ended { stream: BONDS, reason: flexpath::EndReason::Closed });
        };
        let ids = list::<i64>(&step, "id")?;
        let pairs = rows::<i64, 2>("bond", &list(&step, "bond")?)?;
        bonds.release(time_step, step);
        let graph = Adjacency::from_pairs(&ids, &pairs)?;
        let found = Found::new(&graph)?;
        outlet.publish(time_step, |step| found.put(step, time_step))?;
    }
    bonds.close()?;
    outlet.close()
}

/// The class of every atom, by rising id.
struct Found {
    id: (Variable, Vec<i64>),
    class: (Variable, Vec<u8>),
}

impl Found {
    fn new(graph: &Adjacency) -> Result<Self, VariableError> {
        let shape = [graph.len() as u64];
        let class = Variable::global::<u8>("class", &shape)?
            .with_description("1 fcc, 2 hcp, 3 bcc, 4 icosahedral, 5 other");
        let classes = classify(graph).into_iter().map(|class| class as u8).collect();
        Ok(Found {
            id: (Variable::global::<i64>("id", &shape)?, graph.ids().to_vec()),
            class: (class, classes),
        })
    }

    fn put(self, step: &mut StepWriter, at: i64) -> Result<(), flexpath::PutError> {
        step.put_scalar(&time_step(), at)?;
        put_whole(step, &self.id.0, self.id.1)?;
        put_whole(step, &self.class.0, self.class.1)
    }
}
