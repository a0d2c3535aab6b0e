//! What is known of a run: everything that the parts said, sorted.

use std::collections::BTreeMap;

use super::super::by_type::Way;
use super::super::part::Part;
use super::super::report::{
    Asked, ByType, Closed, Compared, Energies, Left, Line, Owned, Published, Report, Taken, Tallied,
    Transformed,
};
use super::super::streams::{ATOMS, BONDS, SPEED};
use super::notice::Judged;

/// A rank of a part.
pub(super) type PartRank = (String, u32);

/// What is known of a run.
#[derive(Default)]
pub(super) struct Board {
    /// What simulates.
    pub(super) source: Option<String>,
    /// When the simulation published each of its steps.
    pub(super) simulated: Vec<(i64, u64)>,
    /// Who is attached to each stream, with the steps that wait for it or are held by it.
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
    pub(super) energies: Option<Energies>,
    pub(super) picture: Option<(std::path::PathBuf, i64)>,
    /// CSym's verdicts.
    pub(super) judged: Vec<Judged>,
    /// What became of the guest: how many steps it held, and how long the simulation waited for it.
    pub(super) detached: Option<(usize, u64)>,
    /// How CSym took the bonds, as it tells.
    pub(super) by_type: Option<ByType>,
    /// The transform in all processes of Bonds.
    pub(super) sent: Transformed,
    /// What ranks of the simulation were asked for, by rank.
    pub(super) asked: BTreeMap<u32, Asked>,
    /// The step at which who asked was told that it is applied.
    pub(super) applied: Option<u64>,
    /// How high the body is, by time step.
    pub(super) heights: BTreeMap<i64, f64>,
    /// What a measured run has found.
    pub(super) tallied: Option<Tallied>,
    /// What parts could not do.
    pub(super) failures: Vec<String>,
}

impl Board {
    /// Take in what was said; gives what the user should read at once.
    pub(super) fn take(&mut self, line: Line) -> Vec<String> {
        self.follow_cna(&line);
        let Line { part, rank, at_ms, report } = line;
        let who = (part, rank);
        match report {
            Report::Source { name } => self.source = Some(name),
            Report::Published(published) => self.take_published(published, at_ms),
            Report::Taken(Taken { stream, bytes, .. }) => {
                self.bytes.insert((who, stream), bytes);
            }
            Report::Attached { .. } => {}
            Report::Edges(edges) => return self.take_links(&who, &edges.stream, edges.links),
            Report::Owned(owned) => {
                self.owned.insert(who.1, owned);
            }
            Report::Closed(closed) => {
                self.attached.remove(&closed.stream);
                self.closed.push((who, closed));
            }
            Report::Left(left) => self.left.push((who, left)),
            Report::Compared(compared) => self.compared.push(compared),
            Report::Constants { tried, refused } => self.constants = Some((tried, refused)),
            Report::Energies(energies) => self.energies = Some(energies),
            Report::Picture { path, time_step } => self.picture = Some((path, time_step)),
            Report::Detached { held, waited_ms, reason } => {
                self.detached = Some((held, waited_ms));
                return vec![format!("  {}: {reason}", who.0)];
            }
            Report::Asked(asked) => {
                self.asked.insert(who.1, asked);
            }
            Report::Height { time_step, height } => {
                self.heights.insert(time_step, height);
            }
            Report::ByType(by_type) => self.by_type = Some(by_type),
            Report::Transformed(transformed) => {
                self.sent.calls += transformed.calls;
                self.sent.millis += transformed.millis;
            }
            Report::Tallied(tallied) => self.tallied = Some(tallied),
            Report::Failed { what } => self.failures.push(format!("{}.{}: {what}", who.0, who.1)),
        }
        Vec::new()
    }

    /// Take in what `flexpath request` prints: `speed = 0.1: applied at step 43`.
    pub(super) fn take_answer(&mut self, text: &str) {
        let step = text.strip_prefix(SPEED).and_then(|text| text.split_once(": applied at step "));
        self.applied = step.and_then(|(_, step)| step.trim().parse().ok()).or(self.applied);
    }

    /// How CSym took the bonds, with what Bonds did for it.
    pub(super) fn bonds_taken(&self) -> Option<ByType> {
        let mut taken = self.by_type.clone()?;
        taken.taken[Way::Publisher as usize].transformed = self.sent;
        Some(taken)
    }

    /// When CNA comes, what it takes, and when it goes.
    fn follow_cna(&mut self, line: &Line) {
        if line.part != Part::Cna.name() {
            return;
        }
        match &line.report {
            Report::Attached { .. } => self.cna_came_ms = Some(line.at_ms),
            Report::Taken(taken) => self.cna_took.push(taken.time_step),
            Report::Left(_) => self.cna_went_ms = Some(line.at_ms),
            Report::Source { .. }
            | Report::Published(_)
            | Report::Edges(_)
            | Report::Owned(_)
            | Report::Closed(_)
            | Report::Compared(_)
            | Report::Constants { .. }
            | Report::Energies(_)
            | Report::Picture { .. }
            | Report::Detached { .. }
            | Report::Asked(_)
            | Report::Height { .. }
            | Report::ByType(_)
            | Report::Transformed(_)
            | Report::Tallied(_)
            | Report::Failed { .. } => {}
        }
    }

    fn take_published(&mut self, published: Published, at_ms: u64) {
        let Published { stream, time_step, attached } = published;
        if stream == ATOMS {
            self.simulated.push((time_step, at_ms));
        }
        if stream == BONDS && attached.iter().any(|(label, _)| name_of(label) == Part::Cna.name()) {
            self.bonds_to_cna.push(time_step);
        }
        self.attached.insert(stream, attached);
    }

    /// Links that are new, in words. Owners with links of the same kind stand together.
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

#[cfg(test)]
mod tests {
    use super::super::super::report::Edges;
    use super::*;

    fn line(part: Part, rank: u32, at_ms: u64, report: Report) -> Line {
        Line { part: part.name().to_owned(), rank, at_ms, report }
    }

    fn published(stream: &str, time_step: i64, attached: &[&str]) -> Report {
        let attached = attached.iter().map(|label| (format!("{label}.{stream}"), 2)).collect();
        Report::Published(Published { stream: stream.to_owned(), time_step, attached })
    }

    #[test]
    fn links_are_told_once_and_alike_together() {
        let mut board = Board::default();
        let links = |last: &str| {
            let links = [(0, "transport=shm; x"), (1, "transport=tcp 127.0.0.1:1; y"), (2, last)];
            let links = links.map(|(owner, text)| (owner, text.to_owned())).to_vec();
            line(Part::Helper, 1, 0, Report::Edges(Edges { stream: "atoms".to_owned(), links }))
        };
        let told = board.take(links("transport=shm; x"));
        assert_eq!(told[0], "  edge: atoms of rank 0, 2 -> helper.1: transport=shm; x");
        assert_eq!(told.len(), 2);
        assert_eq!(board.take(links("transport=shm; x")), Vec::<String>::new());
        assert_eq!(board.take(links("transport=tcp 127.0.0.1:2; y")).len(), 1);
        let counted: Vec<(String, usize)> = board.transports().into_iter().collect();
        assert_eq!(counted, [("transport=shm (x)".to_owned(), 1), ("transport=tcp (y)".to_owned(), 2)]);
    }

    #[test]
    fn everybody_is_who_the_publishers_have_attached() {
        let mut board = Board::default();
        board.take(line(Part::Simulation, 0, 5, published(ATOMS, 100, &["check", "helper"])));
        board.take(line(Part::Bonds, 0, 6, published(BONDS, 100, &["csym", "cna"])));
        assert_eq!(board.everybody(), ["helper", "csym", "cna", "check"]);
        assert_eq!((board.depth(ATOMS), board.depth("shares")), (2, 0));
        assert_eq!(
            (board.simulated.as_slice(), board.bonds_to_cna.as_slice()),
            (&[(100, 5)][..], &[100][..])
        );
        board.take(line(Part::Bonds, 0, 7, published(BONDS, 200, &["csym"])));
        assert_eq!(board.everybody(), ["helper", "csym", "check"]);
        assert_eq!(board.bonds_to_cna, [100]);
    }
}
