//! The entries of a rendezvous, each asked whether somebody answers behind it.

use fp_core::rendezvous::{Entry, Rendezvous, ask_each};

/// The names of the streams that answer.
pub(crate) fn alive(rendezvous: &Rendezvous) -> Vec<String> {
    let living = rendezvous.living(|_| true).unwrap_or_default();
    living.into_iter().map(|entry| entry.name).collect()
}

/// The entries, as files are called, behind which nobody answers, and how many entries there are.
pub(crate) fn stale(entries: Vec<Entry>) -> (Vec<String>, usize) {
    let all = ask_each(entries, |_, alive| alive);
    let stale = all.iter().filter(|(_, alive)| *alive != Some(true));
    (stale.map(|(entry, _)| format!("{}.{}", entry.name, entry.epoch)).collect(), all.len())
}
