//! The bonds by type (the paper, section IV): Bonds publishes pairs, CSym asks for lists of neighbours, and neither knows
//! how one becomes the other. That is a transform, registered where CSym runs. Beside it stands the way without types:
//! CSym takes pairs as an array and makes of them what it wants by hand. Both are taken in turns and timed, and held
//! against each other now and then.

use std::time::{Duration, Instant};

use flexpath::bytemuck::{Pod, Zeroable};
use flexpath::{Native, Transforms};

use super::coupling::InStep;
use super::error::PartError;
use super::inlet::Inlet;
use super::report::ByType;
use super::streams::rows;
use crate::adjacency::Adjacency;

/// The variable of [`BondPair`]s.
pub const PAIR: &str = "pair";
/// The same pairs as rows of two numbers.
pub const BOND: &str = "bond";
/// One step in so many is taken both ways, and compared.
const COMPARED: u64 = 10;

/// A bond, as Bonds publishes it.
#[derive(flexpath::Record, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "flexpath::bytemuck")]
#[repr(C)]
pub struct BondPair {
    /// The lower of the atoms' ids.
    pub lower: i64,
    /// The higher.
    pub higher: i64,
}

/// The bonds of one atom, as CSym wants them.
#[derive(flexpath::Record, Clone, Debug, PartialEq)]
pub struct BondAdjacency {
    /// Its id.
    pub atom: i64,
    /// Those that it is bonded to.
    #[record(description = "ids, rising")]
    pub neighbours: Vec<i64>,
}

/// The pairs as records.
pub fn records(pairs: &[[i64; 2]]) -> Vec<BondPair> {
    pairs.iter().map(|&[lower, higher]| BondPair { lower, higher }).collect()
}

/// The transform: for each atom that has bonds, by rising id, whom it is bonded to.
pub fn adjacency(pairs: &[BondPair]) -> Vec<BondAdjacency> {
    let both_ways = |pair: &BondPair| [(pair.lower, pair.higher), (pair.higher, pair.lower)];
    let mut edges: Vec<(i64, i64)> = pairs.iter().flat_map(both_ways).collect();
    edges.sort_unstable();
    let of_atom = |edges: &[(i64, i64)]| BondAdjacency {
        atom: edges[0].0,
        neighbours: edges.iter().map(|edge| edge.1).collect(),
    };
    edges.chunk_by(|one, next| one.0 == next.0).map(of_atom).collect()
}

/// What CSym's process knows to make of other types.
///
/// # Errors
/// None: it is registered once.
pub fn transforms() -> Result<Transforms, PartError> {
    let transforms = Transforms::default();
    transforms.register(Native::records("adjacency", |pairs: &[BondPair]| Ok(adjacency(pairs)))?)?;
    Ok(transforms)
}

/// How CSym comes by the graph of bonds.
pub(super) struct Graphs {
    by_type: bool,
    /// The variable that provides the type, known once there is a step.
    variable: Option<String>,
    taken: u64,
    times: [Duration; 2],
    told: ByType,
}

impl Graphs {
    /// By type in every other step, or always by hand.
    pub(super) fn new(by_type: bool) -> Self {
        Graphs { by_type, variable: None, taken: 0, times: [Duration::ZERO; 2], told: ByType::default() }
    }

    /// Find out who provides the type, as soon as a step is on its way.
    pub(super) fn look(&mut self, bonds: &mut Inlet) -> Result<(), PartError> {
        if self.by_type && self.variable.is_none() {
            let (variable, path) = bonds.provider::<BondAdjacency>()?;
            (self.variable, self.told.path) = (Some(variable), path);
        }
        Ok(())
    }

    /// The graph of a step over these atoms.
    pub(super) fn take(&mut self, step: &InStep, ids: &[i64]) -> Result<Adjacency, PartError> {
        let number = self.taken;
        self.taken += 1;
        let Some(variable) = self.variable.clone() else { return by_hand(step, ids) };
        let is_compared = number.is_multiple_of(COMPARED);
        let mut graphs = Vec::new();
        for way in 0..2 {
            if is_compared || number % 2 == way as u64 {
                let began = Instant::now();
                graphs.push(match way {
                    0 => typed(step, &variable, ids)?,
                    _ => by_hand(step, ids)?,
                });
                self.times[way] += began.elapsed();
                self.told.steps[way] += 1;
            }
        }
        self.told.compared += u64::from(is_compared);
        self.told.unequal += u64::from(graphs.windows(2).any(|two| two[0] != two[1]));
        graphs.pop().ok_or(PartError::NoStart)
    }

    /// How the two ways compare; none where there was one alone.
    pub(super) fn finish(self) -> Option<ByType> {
        let millis = self.times.map(|time| time.as_secs_f64() * 1e3);
        self.by_type.then_some(ByType { millis, ..self.told })
    }
}

fn typed(step: &InStep, variable: &str, ids: &[i64]) -> Result<Adjacency, PartError> {
    let lists = step.records::<BondAdjacency>(variable)?;
    let lists = lists.iter().map(|list| (list.atom, list.neighbours.as_slice()));
    Ok(Adjacency::from_lists(ids, lists)?)
}

fn by_hand(step: &InStep, ids: &[i64]) -> Result<Adjacency, PartError> {
    Ok(Adjacency::from_pairs(ids, &rows(BOND, &step.list(BOND)?)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn lists_say_what_the_pairs_say(
            picks in prop::collection::btree_set((0i64..20, 0i64..20), 0..60),
        ) {
            let pairs: BTreeSet<[i64; 2]> =
                picks.into_iter().filter(|(a, b)| a != b).map(|(a, b)| [a.min(b), a.max(b)]).collect();
            let pairs: Vec<[i64; 2]> = pairs.into_iter().collect();
            let lists = adjacency(&records(&pairs));
            for list in &lists {
                let expected: Vec<i64> = (0..20)
                    .filter(|&other| pairs.contains(&[list.atom.min(other), list.atom.max(other)])).collect();
                prop_assert_eq!(&list.neighbours, &expected);
                prop_assert!(!expected.is_empty());
            }
            let ids: Vec<i64> = (0..20).collect();
            let named = lists.iter().map(|list| (list.atom, list.neighbours.as_slice()));
            let graph = Adjacency::from_lists(&ids, named).expect("good lists");
            prop_assert_eq!(&graph, &Adjacency::from_pairs(&ids, &pairs).expect("good pairs"));
            prop_assert_eq!(graph.bonds(), pairs.len());
        }
    }

    #[test]
    fn the_transform_leads_from_one_type_to_the_other() {
        use flexpath::{DataType, Record as _};
        let data_type = |schema: Result<flexpath::record::RecordSchema, _>| {
            DataType::from(&schema.expect("a record type"))
        };
        let (from, to) = (data_type(BondPair::schema()), data_type(BondAdjacency::schema()));
        let path = transforms().expect("registered").path(&from, &to, 160).expect("a way");
        assert!(path.to_string().contains("BondPair -[adjacency"), "{path}");
    }
}
