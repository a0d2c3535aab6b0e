//! What lasts: very many steps with subscribers that come and go, and very many kills. Nothing grows, nothing is left.
//!
//! A program of its own, as memory, descriptors and threads are counted of whole processes. Alone it takes seconds; the
//! shard `endurance` sets `FLEXPATH_ENDURANCE_STEPS` and `FLEXPATH_ENDURANCE_KILLS`. `FLEXPATH_ENDURANCE_SEED` draws
//! other kills.

#[path = "processes/audit.rs"]
mod audit;
#[path = "processes/cast.rs"]
mod cast;
#[path = "endurance/dice.rs"]
mod dice;
#[path = "endurance/kills.rs"]
mod kills;
#[path = "endurance/steps.rs"]
mod steps;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs the role that the environment names; in the parent, nothing.
#[test]
fn child_entry() {
    let Some(role) = cast::role() else { return };
    match role.as_str() {
        "enduring" => steps::endure(),
        "mortal-publisher" => kills::publish(),
        "mortal-subscriber" => kills::subscribe(),
        other => panic!("no role {other:?}"),
    }
}

/// What is counted of a process must be of one test: they run one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number of the environment, or what it is for a run by hand.
fn scale(name: &str, usual: u64) -> u64 {
    let said = std::env::var(format!("FLEXPATH_ENDURANCE_{name}")).ok();
    said.map_or(usual, |said| said.parse().expect("a number"))
}
