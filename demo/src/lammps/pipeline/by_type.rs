//! The bonds by type (the paper, section IV): Bonds publishes pairs, CSym asks for lists of neighbours, and neither knows
//! how one becomes the other. That is a transform. It runs where CSym is, which asks for the type; or where Bonds is, and
//! lists are what crosses. Beside them stands the way without types: CSym takes pairs as an array and makes of them what it
//! wants by hand. All are taken in turns and measured, and held against one another now and then.

use std::time::Instant;

use flexpath::bytemuck::{Pod, Zeroable};
use flexpath::{Native, SubscriberOptions, Transforms};

use super::error::PartError;
use super::inlet::Inlet;
use super::part_step::InStep;
use super::report::{ByType, Transformed};
use super::settings::BondsBy;
use super::streams::rows;
use crate::lammps::science::adjacency::{Adjacency, grouped, index_of};

/// The variable of [`BondPair`]s.
pub const PAIR: &str = "pair";
/// The same pairs as rows of two numbers.
pub const BOND: &str = "bond";
/// What CSym reads the lists by that Bonds' ranks made.
const LISTS: &str = "lists";
/// The transform that makes them.
const ADJACENCY: &str = "adjacency";
/// One step in so many is taken all ways, and compared.
const COMPARED: u64 = 10;

/// A way to the graph of bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By type: the transform runs where CSym is.
    Subscriber,
    /// The transform runs on the ranks of Bonds, and lists cross.
    Publisher,
    /// From an array of pairs, by hand.
    Hand,
}

impl Way {
    /// All, in the order of [`ByType::taken`].
    pub const ALL: [Way; 3] = [Way::Subscriber, Way::Publisher, Way::Hand];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Way::Subscriber => "subscriber",
            Way::Publisher => "publisher",
            Way::Hand => "hand",
        }
    }
}

impl BondsBy {
    /// The ways that are gone in turns.
    pub fn ways(self) -> &'static [Way] {
        match self {
            BondsBy::Hand => &[Way::Hand],
            BondsBy::Subscriber => &[Way::Subscriber],
            BondsBy::Publisher => &[Way::Publisher],
            BondsBy::Turns => &Way::ALL,
        }
    }
}

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
    let ids = bonded(pairs);
    let mut edges = Vec::with_capacity(2 * pairs.len());
    for pair in pairs {
        let ends = index_of(&ids, pair.lower).zip(index_of(&ids, pair.higher));
        edges.extend(ends.into_iter().flat_map(|(lower, higher)| [(lower, higher), (higher, lower)]));
    }
    let (starts, ends) = grouped(ids.len(), &edges);
    let of_atom = |(&atom, two): (&i64, &[usize])| {
        let neighbours = ends[two[0]..two[1]].iter().map(|&end| ids[end]);
        BondAdjacency { atom, neighbours: neighbours.collect() }
    };
    ids.iter().zip(starts.windows(2)).map(of_atom).collect()
}

/// The ids of all atoms that have bonds, rising.
fn bonded(pairs: &[BondPair]) -> Vec<i64> {
    let ends = || pairs.iter().flat_map(|pair| [pair.lower, pair.higher]);
    let (Some(first), Some(last)) = (ends().min(), ends().max()) else { return Vec::new() };
    let span = usize::try_from(last.abs_diff(first)).unwrap_or(usize::MAX);
    if span / 8 > pairs.len() {
        let mut ids: Vec<i64> = ends().collect();
        ids.sort_unstable();
        ids.dedup();
        return ids;
    }
    // Mostly few are missing: to mark those that are there is faster than to sort them.
    let mut there = vec![false; span + 1];
    ends().for_each(|id| there[id.abs_diff(first) as usize] = true);
    (first..=last).zip(there).filter_map(|(id, there)| there.then_some(id)).collect()
}

/// What is known to make of other types. CSym's process knows it, and so do those of Bonds, which send what comes out
/// to whoever asks by name. An atom whose pairs two ranks of Bonds have found then has a list from each. Whoever makes
/// a graph of them puts them together, so a block at a time will do.
///
/// # Errors
/// None: it is registered once.
pub fn transforms() -> Result<Transforms, PartError> {
    let transforms = Transforms::default();
    let native = Native::records(ADJACENCY, |pairs: &[BondPair]| Ok(adjacency(pairs)))?;
    transforms.register(native.per_block())?;
    Ok(transforms)
}

/// How often the transform ran in this process, and for how long, if it did.
pub(super) fn transformed(transforms: &Transforms) -> Option<Transformed> {
    let measured = transforms.measured(ADJACENCY).filter(|measured| measured.calls > 0)?;
    Some(Transformed { calls: measured.calls, millis: measured.time.as_secs_f64() * 1e3 })
}

/// How CSym comes by the graph of bonds, and what that takes.
pub(super) struct Graphs {
    /// In turns.
    ways: &'static [Way],
    transforms: Transforms,
    /// The variable that provides the type through the transform here, known once there is a step.
    variable: Option<String>,
    taken: u64,
    told: ByType,
}

impl Graphs {
    pub(super) fn new(by: BondsBy) -> Result<Self, PartError> {
        let (ways, transforms) = (by.ways(), transforms()?);
        Ok(Graphs { ways, transforms, variable: None, taken: 0, told: ByType::default() })
    }

    fn goes(&self, way: Way) -> bool {
        self.ways.contains(&way)
    }

    /// The variables to take for it.
    pub(super) fn variables(&self) -> Vec<&'static str> {
        let pair = self.goes(Way::Subscriber).then_some(PAIR);
        pair.into_iter().chain(self.goes(Way::Hand).then_some(BOND)).collect()
    }

    /// What the subscription has to know and to ask for.
    ///
    /// # Errors
    /// None: the names are good.
    pub(super) fn options(&self) -> Result<SubscriberOptions, PartError> {
        let options = SubscriberOptions::default();
        let options = match self.goes(Way::Subscriber) {
            true => options.with_transforms(&self.transforms),
            false => options,
        };
        match self.goes(Way::Publisher) {
            true => Ok(options.with_transformed(LISTS, PAIR, ADJACENCY)?),
            false => Ok(options),
        }
    }

    /// Find out who provides the type through the transform here, as soon as a step is on its way.
    pub(super) fn look(&mut self, bonds: &mut Inlet) -> Result<(), PartError> {
        if self.goes(Way::Subscriber) && self.variable.is_none() {
            let provided = bonds.providers::<BondAdjacency>()?;
            let through = provided.into_iter().find(|(variable, _)| variable != LISTS);
            let no_records = || PartError::NoRecords { variable: PAIR.to_owned() };
            let (variable, path) = through.ok_or_else(no_records)?;
            (self.variable, self.told.path) = (Some(variable), path);
        }
        Ok(())
    }

    /// The graph of a step over these atoms.
    pub(super) fn take(&mut self, bonds: &Inlet, step: &InStep, ids: &[i64]) -> Result<Adjacency, PartError> {
        let (number, count) = (self.taken, self.ways.len() as u64);
        self.taken += 1;
        let is_compared = count > 1 && number.is_multiple_of(COMPARED);
        let mut graphs = Vec::new();
        for (turn, &way) in (0..).zip(self.ways) {
            if is_compared || number % count == turn {
                graphs.push(self.take_by(way, bonds, step, ids)?);
            }
        }
        self.told.compared += u64::from(is_compared);
        self.told.unequal += u64::from(graphs.windows(2).any(|two| two[0] != two[1]));
        graphs.pop().ok_or(PartError::NoStart)
    }

    /// The same one way, with what it took.
    fn take_by(
        &mut self,
        way: Way,
        bonds: &Inlet,
        step: &InStep,
        ids: &[i64],
    ) -> Result<Adjacency, PartError> {
        let (began, before) = (Instant::now(), bonds.taken_bytes());
        let graph = match way {
            Way::Subscriber => typed(step, self.variable.as_deref().unwrap_or(PAIR), ids)?,
            Way::Publisher => typed(step, LISTS, ids)?,
            Way::Hand => Adjacency::from_pairs(ids, &rows(BOND, &step.list(BOND)?)?)?,
        };
        let told = &mut self.told.taken[way as usize];
        told.millis += began.elapsed().as_secs_f64() * 1e3;
        told.bytes += bonds.taken_bytes() - before;
        told.steps += 1;
        Ok(graph)
    }

    /// How the ways compare; what the transform took in Bonds' processes these tell themselves.
    pub(super) fn finish(mut self) -> ByType {
        self.told.taken[Way::Subscriber as usize].transformed =
            transformed(&self.transforms).unwrap_or_default();
        self.told
    }
}

fn typed(step: &InStep, variable: &str, ids: &[i64]) -> Result<Adjacency, PartError> {
    let lists = step.records::<BondAdjacency>(variable)?;
    let lists = lists.iter().map(|list| (list.atom, list.neighbours.as_slice()));
    Ok(Adjacency::from_lists(ids, lists)?)
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
    fn ids_that_are_far_apart_need_no_more_memory() {
        let far = [BondPair { lower: i64::MIN, higher: i64::MAX }, BondPair { lower: -5, higher: i64::MAX }];
        let lists = adjacency(&far).into_iter().map(|list| (list.atom, list.neighbours));
        let expected = [(i64::MIN, vec![i64::MAX]), (-5, vec![i64::MAX]), (i64::MAX, vec![i64::MIN, -5])];
        assert!(lists.eq(expected));
        assert!(adjacency(&[]).is_empty());
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
