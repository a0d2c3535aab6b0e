//! The entries of a rendezvous, each asked whether somebody answers behind it.

use std::thread;
use std::time::Duration;

use fp_core::rendezvous::{Entry, Rendezvous};

/// How long an entry may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Every entry with what `ask` finds out about it, if `ask` is told whether the entry is alive. All are asked at once,
/// so that a silent one holds nothing up.
pub(crate) fn asked<T: Send>(
    rendezvous: &Rendezvous,
    ask: impl Fn(&Entry, bool) -> T + Sync,
) -> Vec<(Entry, Option<T>)> {
    let (entries, ask) = (rendezvous.entries(), &ask);
    let told: Vec<Option<T>> = thread::scope(|scope| {
        let asked = entries.iter().map(|entry| scope.spawn(move || ask(entry, entry.answers(PATIENCE))));
        let asked: Vec<_> = asked.collect();
        asked.into_iter().map(|asked| asked.join().ok()).collect()
    });
    entries.into_iter().zip(told).collect()
}

/// Every entry, and whether it is alive.
fn answered(rendezvous: &Rendezvous) -> impl Iterator<Item = (Entry, bool)> {
    asked(rendezvous, |_, alive| alive).into_iter().map(|(entry, alive)| (entry, alive.unwrap_or(false)))
}

/// The names of the streams that answer.
pub(crate) fn alive(rendezvous: &Rendezvous) -> Vec<String> {
    answered(rendezvous).filter(|(_, alive)| *alive).map(|(entry, _)| entry.name).collect()
}

/// The files of entries behind which nobody answers, and how many entries there are.
pub(crate) fn stale(rendezvous: &Rendezvous) -> (Vec<String>, usize) {
    let all: Vec<(Entry, bool)> = answered(rendezvous).collect();
    let stale = all.iter().filter(|(_, alive)| !alive);
    (stale.map(|(entry, _)| format!("{}.{}", entry.name, entry.epoch)).collect(), all.len())
}
