//! The cheapest way from one type to another over registered transforms.
//!
//! Transforms form no cycle. So every search ends, and a type never becomes itself by a detour
//! (`docs/decisions/0033-registered-functions-and-their-limits.md`).

use std::cmp::Ordering;
use std::fmt;

use super::{Cost, DataType};

/// The most transforms one after the other.
pub const MAX_PATH: usize = 4;

/// Transforms one after the other, and what they are expected to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformPath {
    /// Where it begins.
    pub from: DataType,
    /// Each transform's name, the type that it leads to, and its cost.
    pub steps: Vec<(String, DataType, Cost)>,
    /// For how many bytes it was chosen.
    pub input_bytes: u64,
}

/// Why there is no way from one type to another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// A type that no transform leads from (or to).
    #[error("no transform is registered {side} type {name} ({fingerprint})")]
    UnknownType {
        /// `from` or `to`.
        side: &'static str,
        /// The type's name.
        name: String,
        /// Its fingerprint.
        fingerprint: String,
    },
    /// Transforms that do not meet.
    #[error("no {MAX_PATH} transforms or fewer lead from {from} to {to}")]
    NoPath {
        /// Where from.
        from: String,
        /// Where to.
        to: String,
    },
}

/// One transform on the map.
pub(super) struct Leg<'a> {
    pub(super) name: &'a str,
    pub(super) from: &'a DataType,
    pub(super) to: &'a DataType,
    pub(super) cost: Cost,
}

impl TransformPath {
    /// Orders paths by what they are expected to cost; of equally cheap ones the shortest comes first, then the first
    /// by name.
    pub fn compare(&self, other: &Self) -> Ordering {
        let names = |path: &Self| path.steps.iter().map(|(name, ..)| name.clone()).collect::<Vec<_>>();
        let ours = self.expected().0.total_cmp(&other.expected().0);
        ours.then_with(|| self.steps.len().cmp(&other.steps.len()))
            .then_with(|| names(self).cmp(&names(other)))
    }

    /// How many nanoseconds it is expected to take, and how many bytes to give.
    pub fn expected(&self) -> (f64, f64) {
        let input = (0.0, self.input_bytes as f64);
        self.steps.iter().fold(input, |(nanos, bytes), (_, _, cost)| {
            (nanos + bytes * cost.nanos_per_byte, bytes * cost.output_ratio)
        })
    }
}

impl fmt::Display for TransformPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.from)?;
        for (name, to, cost) in &self.steps {
            write!(f, " -[{name}: {:.3} ns/B, x{:.3}]-> {to}", cost.nanos_per_byte, cost.output_ratio)?;
        }
        let (nanos, bytes) = self.expected();
        write!(f, ": {:.0} us for {} bytes, which become {bytes:.0}", nanos / 1e3, self.input_bytes)
    }
}

fn is(left: &DataType, right: &DataType) -> bool {
    left.fingerprint() == right.fingerprint()
}

/// The cheapest way for so many bytes; of equally cheap ones the shortest, then the first by name.
pub(super) fn cheapest(
    legs: &[Leg<'_>],
    from: &DataType,
    to: &DataType,
    input_bytes: u64,
) -> Result<TransformPath, PathError> {
    let unknown = |side, of: &DataType| {
        let (name, fingerprint) = (of.name().to_owned(), of.fingerprint().to_string());
        Err(PathError::UnknownType { side, name, fingerprint })
    };
    if !is(from, to) && !legs.iter().any(|leg| is(leg.from, from)) {
        return unknown("from", from);
    }
    if !is(from, to) && !legs.iter().any(|leg| is(leg.to, to)) {
        return unknown("to", to);
    }
    let mut search = Search { legs, to, best: None };
    search.extend(from, &mut Vec::new(), 0.0, input_bytes as f64);
    let no_path = || PathError::NoPath { from: from.to_string(), to: to.to_string() };
    let (_, route) = search.best.ok_or_else(no_path)?;
    let steps = route.iter().map(|&at| (legs[at].name.to_owned(), legs[at].to.clone(), legs[at].cost));
    Ok(TransformPath { from: from.clone(), steps: steps.collect(), input_bytes })
}

struct Search<'a> {
    legs: &'a [Leg<'a>],
    to: &'a DataType,
    best: Option<(f64, Vec<usize>)>,
}

impl Search<'_> {
    /// Tries all ways on from a type. Transforms form no cycle, so none comes back.
    fn extend(&mut self, at: &DataType, route: &mut Vec<usize>, nanos: f64, bytes: f64) {
        if is(at, self.to) {
            let names = |route: &[usize]| route.iter().map(|&leg| self.legs[leg].name).collect::<Vec<_>>();
            let better = self.best.as_ref().is_none_or(|(best, taken)| {
                let ours = (route.len(), names(route));
                nanos.total_cmp(best).then_with(|| ours.cmp(&(taken.len(), names(taken)))).is_lt()
            });
            if better {
                self.best = Some((nanos, route.clone()));
            }
            return;
        }
        let too_dear = self.best.as_ref().is_some_and(|(best, _)| nanos > *best);
        if route.len() == MAX_PATH || too_dear {
            return;
        }
        let legs = self.legs;
        for (index, leg) in legs.iter().enumerate().filter(|(_, leg)| is(leg.from, at)) {
            route.push(index);
            self.extend(
                leg.to,
                route,
                nanos + bytes * leg.cost.nanos_per_byte,
                bytes * leg.cost.output_ratio,
            );
            route.pop();
        }
    }
}

/// The transforms that lead from one type to the other, if any do, however many they are.
pub(super) fn connection<'a>(legs: &'a [Leg<'a>], from: &DataType, to: &DataType) -> Option<Vec<&'a str>> {
    let mut reached: Vec<(&DataType, Vec<&str>)> = vec![(from, Vec::new())];
    let mut next = 0;
    while let Some((at, route)) = reached.get(next).cloned() {
        if is(at, to) {
            return Some(route);
        }
        for leg in legs.iter().filter(|leg| is(leg.from, at)) {
            if !reached.iter().any(|(known, _)| is(known, leg.to)) {
                let route = route.iter().copied().chain([leg.name]).collect();
                reached.push((leg.to, route));
            }
        }
        next += 1;
    }
    None
}
