//! Cohorts of real processes: this test binary starts itself again in a role for each rank.
//!
//! Contents are functions of variable, step and global index, so that every element that arrives can be checked.
//! No test sleeps; every wait has a deadline and says what it waits for.

#[path = "processes/adjacency.rs"]
mod adjacency;
#[path = "processes/asleep.rs"]
mod asleep;
#[path = "processes/audit.rs"]
mod audit;
#[path = "processes/cast.rs"]
mod cast;
#[cfg(feature = "wasm")]
#[path = "processes/deployed.rs"]
mod deployed;
#[path = "processes/derived.rs"]
mod derived;
#[path = "processes/grid.rs"]
mod grid;
#[path = "processes/kill.rs"]
mod kill;
#[path = "processes/matrix.rs"]
mod matrix;
#[path = "processes/records.rs"]
mod records;
#[path = "processes/steering.rs"]
mod steering;
#[path = "processes/tasks.rs"]
mod tasks;
#[path = "processes/urgent.rs"]
mod urgent;
#[path = "processes/workers.rs"]
mod workers;

/// Runs the role that the environment names; in the parent, nothing.
#[test]
fn child_entry() {
    let Some(role) = cast::role() else { return };
    match role.as_str() {
        "grid-publisher" => matrix::publish(),
        "grid-subscriber" => matrix::subscribe(),
        "awaited-publisher" => tasks::publish(),
        "derived-publisher" => derived::publish(),
        "derived-subscriber" => derived::subscribe(),
        #[cfg(feature = "wasm")]
        "deployed-publisher" => deployed::publish(),
        #[cfg(feature = "wasm")]
        "deployed-subscriber" => deployed::subscribe(),
        #[cfg(feature = "wasm")]
        "deployed-refused" => deployed::be_refused(),
        "record-publisher" => records::publish(),
        "record-subscriber" => records::subscribe(),
        "bond-publisher" => adjacency::publish(),
        "bond-subscriber" => adjacency::subscribe(),
        "asleep-publisher" => asleep::publish(),
        "asleep-subscriber" => asleep::subscribe(),
        "killed-publisher" => kill::publish(),
        "killed-subscriber" => kill::subscribe(),
        "steered-publisher" => steering::publish(),
        "asker" => steering::ask(),
        "urgent-publisher" => urgent::publish(),
        "shared-publisher" => workers::publish(),
        "worker" => workers::work(),
        other => panic!("no role {other:?}"),
    }
}
