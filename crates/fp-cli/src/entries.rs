//! The entries of a rendezvous, each asked whether somebody answers behind it.

use std::thread;
use std::time::Duration;

use fp_core::rendezvous::{Entry, Rendezvous};

/// How long an entry may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Each of these entries with what `ask` finds out about it, if `ask` is told whether the entry is alive. All are asked at once,
/// so that a silent one holds nothing up.
pub(crate) fn asked<T: Send>(
    entries: Vec<Entry>,
    ask: impl Fn(&Entry, bool) -> T + Sync,
) -> Vec<(Entry, Option<T>)> {
    let ask = &ask;
    let told: Vec<Option<T>> = thread::scope(|scope| {
        let asked = entries.iter().map(|entry| scope.spawn(move || ask(entry, entry.answers(PATIENCE))));
        let asked: Vec<_> = asked.collect();
        asked.into_iter().map(|asked| asked.join().ok()).collect()
    });
    entries.into_iter().zip(told).collect()
}

/// Every entry, and whether it is alive.
fn answered(entries: Vec<Entry>) -> impl Iterator<Item = (Entry, bool)> {
    asked(entries, |_, alive| alive).into_iter().map(|(entry, alive)| (entry, alive.unwrap_or(false)))
}

/// The names of the streams that answer.
pub(crate) fn alive(rendezvous: &Rendezvous) -> Vec<String> {
    answered(rendezvous.entries()).filter(|(_, alive)| *alive).map(|(entry, _)| entry.name).collect()
}

/// The entries, as files are called, behind which nobody answers, and how many entries there are.
pub(crate) fn stale(entries: Vec<Entry>) -> (Vec<String>, usize) {
    let all: Vec<(Entry, bool)> = answered(entries).collect();
    let stale = all.iter().filter(|(_, alive)| !alive);
    (stale.map(|(entry, _)| format!("{}.{}", entry.name, entry.epoch)).collect(), all.len())
}
