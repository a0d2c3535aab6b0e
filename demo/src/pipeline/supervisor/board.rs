//! What is known of a run: everything that the parts said, sorted.

use std::collections::BTreeMap;

use super::super::part::Part;
use super::super::report::{Closed, Compared, Left, Line, Owned, Report};
use super::super::streams::{ATOMS, BONDS};
use super::watch::Judged;

/// A rank of a part.
pub(super) type PartRank = (String, u32);

/// What is known of a run.
#[derive(Default)]
pub(super) struct Board {
    /// What simulates.
    pub(super) source: Option<String>,
    /// When the simulation published each of its steps.
    pub(super) simulated: Vec<(i64, u64)>,
    /// Of each stream who is attached, with the steps that wait for it or are held by it.
    pub(super) attached: BTreeMap<String, Vec<(String, usize)>>,
    /// The time steps in which the publisher of the bonds had CNA attached.
    pub(super) bonds_to_cna: Vec<i64>,
    /// The time steps that CNA took of the bonds.
    pub(super) cna_took: Vec<i64>,
    /// When CNA attached to the bonds, and when it left.
    pub(super) cna_came_ms: Option<u64>,
    pub(super) cna_went_ms: Option<u64>,
    /// Bytes taken by each rank of each stream.
    pub(super) bytes: BTreeMap<(PartRank, String), u64>,
    /// Links that are known: of each rank, stream and owner.
    pub(super) links: BTreeMap<(String, PartRank, u32), String>,
    /// By rank of the simulation.
    pub(super) owned: BTreeMap<u32, Owned>,
    pub(super) closed: Vec<(PartRank, Closed)>,
    pub(super) left: Vec<(PartRank, Left)>,
    pub(super) compared: Vec<Compared>,
    /// Constant answers: tried and refused.
    pub(super) constants: Option<(usize, usize)>,
    pub(super) picture: Option<(std::path::PathBuf, i64)>,
    /// CSym's verdicts.
    pub(super) judged: Vec<Judged>,
    /// What became of the guest: how many steps it held, and how long the simulation waited for it.
    pub(super) detached: Option<(usize, u64)>,
    /// What parts could not do.
    pub(super) failures: Vec<String>,
}

impl Board {
    /// Take in what was said; gives what the user should read at once.
    pub(super) fn take(&mut self, line: Line) -> Vec<String> {
        let Line { part, rank, at_ms, report } = line;
        let who = (part, rank);
        match report {
            Report::Source { name } => self.source = Some(name),
            Report::Published(published) => {
                if published.stream == ATOMS {
                    self.simulated.push((published.time_step, at_ms));
                }
                let is_cna = |(label, _): &(String, usize)| name_of(label) == Part::Cna.name();
                if published.stream == BONDS && published.attached.iter().any(is_cna) {
                    self.bonds_to_cna.push(published.time_step);
                }
                self.attached.insert(published.stream, published.attached);
            }
            Report::Taken(taken) => {
                if who.0 == Part::Cna.name() {
                    self.cna_took.push(taken.time_step);
                }
                self.bytes.insert((who, taken.stream), taken.bytes);
            }
            Report::Attached { .. } if who.0 == Part::Cna.name() => self.cna_came_ms = Some(at_ms),
            Report::Attached { .. } => {}
            Report::Edges(edges) => return self.take_links(&who, &edges.stream, edges.links),
            Report::Owned(owned) => {
                self.owned.insert(who.1, owned);
            }
            Report::Closed(closed) => self.closed.push((who, closed)),
            Report::Left(left) => {
                if who.0 == Part::Cna.name() {
                    self.cna_went_ms = Some(at_ms);
                }
                self.left.push((who, left));
            }
            Report::Compared(compared) => self.compared.push(compared),
            Report::Constants { tried, refused } => self.constants = Some((tried, refused)),
            Report::Picture { path, time_step } => self.picture = Some((path, time_step)),
            Report::Detached { held, waited_ms, reason } => {
                self.detached = Some((held, waited_ms));
                return vec![format!("  {}: {reason}", who.0)];
            }
            Report::Failed { what } => self.failures.push(format!("{}.{}: {what}", who.0, who.1)),
        }
        Vec::new()
    }

    /// Links that are new, in words: owners that are linked to alike together.
    fn take_links(&mut self, who: &PartRank, stream: &str, links: Vec<(u32, String)>) -> Vec<String> {
        let mut fresh: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (owner, text) in links {
            let known = self.links.insert((stream.to_owned(), who.clone(), owner), text.clone());
            if known.as_ref() != Some(&text) {
                fresh.entry(text).or_default().push(owner.to_string());
            }
        }
        let line = |(text, owners): (String, Vec<String>)| {
            format!("  edge: {stream} of rank {} -> {}.{}: {text}", owners.join(", "), who.0, who.1)
        };
        fresh.into_iter().map(line).collect()
    }

    /// How many links run over what, and why: addresses left out.
    pub(super) fn transports(&self) -> BTreeMap<String, usize> {
        let mut counted = BTreeMap::new();
        for text in self.links.values() {
            let (used, why) = text.split_once(';').unwrap_or((text, ""));
            let kind = used.split(' ').next().unwrap_or(used);
            *counted.entry(format!("{kind} ({})", why.trim())).or_default() += 1;
        }
        counted
    }

    /// All bytes that were taken so far, by all ranks of all parts.
    pub(super) fn taken_bytes(&self) -> u64 {
        self.bytes.values().sum()
    }

    /// The time step of the first verdict of "torn".
    pub(super) fn torn_at(&self) -> Option<i64> {
        self.judged.iter().find(|judged| judged.torn).map(|judged| judged.time_step)
    }

    /// Everybody who is attached to any stream, by name.
    pub(super) fn everybody(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (label, _) in self.attached.values().flatten() {
            let name = name_of(label);
            if names.iter().all(|known| known != name) {
                names.push(name.to_owned());
            }
        }
        names.sort_by_key(|name| Part::from_name(name).map_or(u8::MAX, |part| part as u8));
        names
    }

    /// The most steps that any subscriber of this stream has waiting or holds.
    pub(super) fn depth(&self, stream: &str) -> usize {
        let attached = self.attached.get(stream);
        attached.into_iter().flatten().map(|(_, depth)| *depth).max().unwrap_or(0)
    }
}

/// Subscriptions are named `part.stream`.
fn name_of(label: &str) -> &str {
    label.split('.').next().unwrap_or(label)
}
