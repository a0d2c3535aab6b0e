//! Features over time: ids that stay, and what became of whom.
//!
//! Two features of steps that follow one another are the same where they share elements. Of all pairs that do, the one that
//! shares most goes first, and then the next whose two are both free still. Where pairs share as much, the lower id goes
//! first, and then the feature whose first element comes first. The feature of such a pair keeps its id.
//!
//! What is left over: a feature that shares elements with others has split off from the one with which it shares most. One
//! that shares none is born. A feature of before that shares elements has merged into the one with which it shares most.
//! One that shares none has died. An id is never given twice.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::feature::{Feature, Merged};
use crate::part::Part;
use crate::statistics::{Column, Pairs, StepStatistics};

/// What became of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// It shares no element with any of this step.
    Death = 1,
    /// Another one went up in it.
    Merge = 2,
    /// Another one came out of it.
    Split = 3,
    /// It shares no element with any of the step before.
    Birth = 4,
}

impl EventKind {
    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Death => "death",
            Self::Merge => "merge",
            Self::Split => "split",
            Self::Birth => "birth",
        }
    }
}

/// Something that became of a feature, sorted by kind, id and the other's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureEvent {
    /// What.
    pub kind: EventKind,
    /// The feature that was born, died, took another one in, or let one go.
    pub id: u64,
    /// The one that went up in it, and is no more; or that came out of it, and is new.
    pub other: Option<u64>,
}

/// A feature with its id.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrackedFeature {
    /// Its id, from 1 on.
    pub id: u64,
    /// How many labelled steps ago it came to be.
    pub age: u64,
    /// How many elements more it has than in the labelled step before; all of them where it is new.
    pub growth: i64,
    /// Pearson's correlation of the two columns over its life up to this step. NaN in its first step.
    pub correlation: f64,
    /// What it is in this step.
    pub feature: Feature,
}

/// The features of a step, and what became of those of the step before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrackedStep {
    /// Sorted by their first elements.
    pub features: Vec<TrackedFeature>,
    /// What happened since the step before.
    pub events: Vec<FeatureEvent>,
    /// Those that died, and how many elements they had.
    pub died: Vec<(u64, u64)>,
    /// Numbers over all features.
    pub statistics: StepStatistics,
}

impl TrackedStep {
    /// The ids that events of a kind brought about: of those born and split off the new ones, of those merged the ones that
    /// took others in.
    pub(crate) fn made_by(&self, kind: EventKind) -> impl Iterator<Item = &TrackedFeature> {
        let ids = self.events.iter().filter(move |event| event.kind == kind);
        let mut ids: Vec<u64> = ids
            .map(|event| if kind == EventKind::Split { event.other.unwrap_or(event.id) } else { event.id })
            .collect();
        ids.sort_unstable();
        self.features.iter().filter(move |feature| ids.binary_search(&feature.id).is_ok())
    }
}

/// What is remembered of a feature.
#[derive(Clone, Debug)]
struct Life {
    id: u64,
    born: u64,
    volume: u64,
    pairs: Pairs,
}

/// What is remembered of a step.
#[derive(Debug)]
struct Before {
    step: u64,
    extents: Vec<u64>,
    of_region: Vec<Vec<u32>>,
    lives: Vec<Life>,
}

/// Gives features their ids.
#[derive(Debug)]
pub(crate) struct Tracker {
    correlated: (Column, Column),
    next_id: u64,
    /// Labelled steps so far.
    steps: u64,
    before: Option<Before>,
}

/// Who continues whom: of each feature of before and of now its partner.
struct Partners {
    of_before: Vec<Option<usize>>,
    of_now: Vec<Option<usize>>,
}

impl Tracker {
    pub(crate) fn new(correlated: (Column, Column)) -> Self {
        Self { correlated, next_id: 1, steps: 0, before: None }
    }

    pub(crate) fn forget(&mut self, anew: bool) {
        self.before = None;
        if anew {
            *self = Self::new(self.correlated);
        }
    }

    /// Takes the next step.
    pub(crate) fn advance(&mut self, merged: Merged, parts: &[Part]) -> TrackedStep {
        let Merged { features, of_region } = merged;
        let before = self.before.take();
        let shared = before.as_ref().map(|before| shared(before, &of_region, parts)).unwrap_or_default();
        let old = before.map(|before| before.lives).unwrap_or_default();
        let partners = partners(&shared, &old, features.len());
        let (ids, events) = self.judge(&shared, &old, &partners);
        let died = died(&events, &old);
        let (lives, features) = self.continued(features, &ids, &old, &partners);
        if let Some(lead) = parts.first() {
            self.before = Some(Before { step: lead.step, extents: lead.extents.clone(), of_region, lives });
        }
        self.steps += 1;
        let statistics = self.statistics(&features);
        TrackedStep { features, events, died, statistics }
    }

    /// The ids of this step's features, and what happened.
    fn judge(
        &mut self,
        shared: &BTreeMap<(usize, usize), u64>,
        old: &[Life],
        partners: &Partners,
    ) -> (Vec<u64>, Vec<FeatureEvent>) {
        let mut events = Vec::new();
        let (mut ids, first_new) = (Vec::new(), self.next_id);
        for partner in &partners.of_now {
            ids.push(partner.map_or(self.next_id, |before| old[before].id));
            self.next_id += u64::from(partner.is_none());
        }
        let parents = parents(shared, old, ids.len());
        for (now, &id) in ids.iter().enumerate().filter(|(_, id)| **id >= first_new) {
            events.push(match parents[now] {
                // All with whom a new one shares elements go on: otherwise it would go on as one of them.
                Some((_, parent)) => FeatureEvent { kind: EventKind::Split, id: parent, other: Some(id) },
                None => FeatureEvent { kind: EventKind::Birth, id, other: None },
            });
        }
        let gone = partners.of_before.iter().enumerate().filter(|(_, partner)| partner.is_none());
        for (before, _) in gone {
            let id = old[before].id;
            let of = shared.range((before, 0)..=(before, usize::MAX));
            let into = of.min_by_key(|((_, now), count)| (Reverse(**count), ids[*now]));
            events.push(match into {
                Some(((_, now), _)) => {
                    FeatureEvent { kind: EventKind::Merge, id: ids[*now], other: Some(id) }
                }
                None => FeatureEvent { kind: EventKind::Death, id, other: None },
            });
        }
        events.sort_unstable();
        (ids, events)
    }

    fn continued(
        &self,
        features: Vec<Feature>,
        ids: &[u64],
        old: &[Life],
        partners: &Partners,
    ) -> (Vec<Life>, Vec<TrackedFeature>) {
        let one = |(now, feature): (usize, Feature)| {
            let before = partners.of_now[now].map(|before| old[before].clone());
            let new = Life { id: ids[now], born: self.steps, volume: 0, pairs: Pairs::default() };
            let mut life = before.unwrap_or(new);
            let (age, growth) =
                (self.steps - life.born, (feature.volume as i64).wrapping_sub(life.volume as i64));
            let (one, other) = self.correlated;
            life.pairs.add(one.of(&feature, growth, age), other.of(&feature, growth, age));
            life.volume = feature.volume;
            let correlation = life.pairs.correlation();
            (life.clone(), TrackedFeature { id: life.id, age, growth, correlation, feature })
        };
        features.into_iter().enumerate().map(one).unzip()
    }

    fn statistics(&self, features: &[TrackedFeature]) -> StepStatistics {
        let (one, other) = self.correlated;
        let pair = |of: &TrackedFeature| {
            (one.of(&of.feature, of.growth, of.age), other.of(&of.feature, of.growth, of.age))
        };
        StepStatistics::of(features.iter().map(|of| of.feature.volume), features.iter().map(pair))
    }
}

/// How many elements features of before and of now share. Nothing, unless all ranks speak of the same step before.
fn shared(before: &Before, of_region: &[Vec<u32>], parts: &[Part]) -> BTreeMap<(usize, usize), u64> {
    let mut shared = BTreeMap::new();
    let goes_on = |part: &Part| part.before == Some(before.step) && part.extents == before.extents;
    if !parts.iter().all(goes_on) {
        return shared;
    }
    for (rank, part) in parts.iter().enumerate() {
        for overlap in &part.overlaps {
            let feature = |of: &[Vec<u32>], region: u32| of.get(rank)?.get(region as usize).copied();
            let pair = feature(&before.of_region, overlap.before).zip(feature(of_region, overlap.now));
            if let Some((one, other)) = pair {
                let count: &mut u64 = shared.entry((one as usize, other as usize)).or_default();
                *count = count.saturating_add(overlap.count);
            }
        }
    }
    shared
}

fn partners(shared: &BTreeMap<(usize, usize), u64>, old: &[Life], now: usize) -> Partners {
    let mut pairs: Vec<_> = shared.iter().map(|(&(before, now), &count)| (before, now, count)).collect();
    pairs.sort_unstable_by_key(|&(before, now, count)| (Reverse(count), old[before].id, now));
    let mut partners = Partners { of_before: vec![None; old.len()], of_now: vec![None; now] };
    for (before, now, _) in pairs {
        if partners.of_before[before].is_none() && partners.of_now[now].is_none() {
            (partners.of_before[before], partners.of_now[now]) = (Some(now), Some(before));
        }
    }
    partners
}

/// Of each feature of now how many elements it shares with whom it shares most, and that one's id.
fn parents(
    shared: &BTreeMap<(usize, usize), u64>,
    old: &[Life],
    now: usize,
) -> Vec<Option<(Reverse<u64>, u64)>> {
    let mut parents: Vec<Option<(Reverse<u64>, u64)>> = vec![None; now];
    for (&(before, now), &count) in shared {
        let one = (Reverse(count), old[before].id);
        parents[now] = Some(parents[now].map_or(one, |best| best.min(one)));
    }
    parents
}

fn died(events: &[FeatureEvent], old: &[Life]) -> Vec<(u64, u64)> {
    let volumes: BTreeMap<u64, u64> = old.iter().map(|life| (life.id, life.volume)).collect();
    let deaths = events.iter().filter(|event| event.kind == EventKind::Death);
    deaths.filter_map(|event| Some((event.id, *volumes.get(&event.id)?))).collect()
}
