//! Simulations that die, fork or leave without a word, as C programs, alone and under `mpirun`. Their subscribers get a
//! clear end of the stream, and nothing stays behind.
//!
//! A binary of its own, as segments are looked for in this process's mappings: streams of other tests have some.

mod support;
#[path = "failures/workers.rs"]
mod workers;

use fp_core::{
    EndReason, NextStep, Publisher, PublisherOptions, Rendezvous, Selection, StreamEnding, Subscriber,
    SubscriberOptions,
};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use support::{LIBRARY, Mpi, TestProcess, as_rank, place, start};

const CELLS: u64 = 4096;
/// A process that is gone is noticed at once; only silence takes the 10 s of `SilenceSecs`. The rest is for a loaded
/// machine.
const BOUND: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(60);
const TRANSPORTS: &str = "inproc,shm,tcp";

/// One death at a time: what is left in this process is counted after each.
static ALONE: Mutex<()> = Mutex::new(());

fn subscriber(place: &Path) -> Subscriber {
    let rendezvous = Rendezvous::at(place).expect("a place");
    Subscriber::open("dying", SubscriberOptions::default().with_rendezvous(rendezvous)).expect("attached")
}

/// Takes whole steps until the stream ends, which must be soon after the last; says how it ended.
fn outlive(place: &Path, size: u64) -> StreamEnding {
    let mut subscriber = subscriber(place);
    let mut last = Instant::now();
    loop {
        match subscriber.next_step(PATIENCE).expect("no error of ours") {
            NextStep::Step(step) => {
                let at = step.step().0;
                // The owner may die while its piece is fetched: then that is said, and the end follows.
                if let Ok(cells) = step.get::<f64>("grid", &Selection::All) {
                    let expected: Vec<f64> = (0..CELLS * size).map(|cell| (at + cell) as f64).collect();
                    assert_eq!(cells, expected, "step {at}");
                }
                last = Instant::now();
            }
            NextStep::NotYet => panic!("neither a step nor an end"),
            NextStep::Ended(ending) => {
                assert!(last.elapsed() < BOUND, "it took {:?} to be told: {ending:?}", last.elapsed());
                subscriber.close().expect("left");
                return ending;
            }
        }
    }
}

fn lost_rank(ending: &StreamEnding) -> u32 {
    let EndReason::Lost { rank, .. } = &ending.reason else { panic!("not lost: {:?}", ending.reason) };
    rank.0
}

/// No process of the stream holds anything, this one included, and its name can be taken again at once.
fn expect_nothing_left(place: &Path) {
    let rendezvous = Rendezvous::at(place).expect("a place");
    let listens =
        |name: &str| std::fs::read_to_string("/proc/net/unix").expect("proc is there").contains(name);
    for entry in rendezvous.entries() {
        let name = entry.contact.unix_name().expect("it listened on a unix socket").to_owned();
        // A launcher may have ended before the ranks that it killed are gone.
        let deadline = Instant::now() + BOUND;
        while listens(&name) {
            assert!(Instant::now() < deadline, "somebody still listens at {name}");
            std::thread::yield_now();
        }
    }
    let started = Instant::now();
    let again = Publisher::open("dying", PublisherOptions::default().with_rendezvous(rendezvous));
    again.expect("a stale entry is passed over").close().expect("closed");
    assert!(started.elapsed() < BOUND, "the stale entry cost {:?}", started.elapsed());
    // The background thread may be the last that lets go of a handle that is closed.
    let deadline = Instant::now() + BOUND;
    while std::fs::read_to_string("/proc/self/maps").expect("proc is there").contains("memfd:flexpath") {
        assert!(Instant::now() < deadline, "a segment is still mapped");
        std::thread::yield_now();
    }
}

fn ranks(program: &Path, place: &Path, dying: u32, way: &str) -> Vec<TestProcess> {
    let rank = |rank: u32| {
        let mut command = Command::new(program);
        as_rank(&mut command, place, (rank, 3), TRANSPORTS);
        start(command.args([&dying.to_string(), way]))
    };
    (0..3).map(rank).collect()
}

/// Three processes, no launcher: the survivors learn who died and end by themselves.
fn one_of_three(dying: u32, way: &str) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (place, program) = (place(), LIBRARY.compile("tests/failures/dying.c"));
    let ranks = ranks(&program, place.path(), dying, way);
    assert_eq!(lost_rank(&outlive(place.path(), 3)), dying, "{way}");
    for (rank, child) in (0..).zip(ranks) {
        let output = child.output();
        let (said, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if rank != dying {
            assert!(output.status.success(), "{way}, rank {rank}: {complained}");
            let expected = format!("rank {dying} of the own cohort is lost");
            assert!(said.contains(&expected), "{way}, rank {rank}: {said}");
        } else if way == "handled-crash" {
            assert!(complained.contains("the simulation crashed"), "{complained}");
        }
    }
    expect_nothing_left(place.path());
}

#[test]
fn a_rank_is_killed_or_crashes_or_leaves() {
    for way in ["kill", "crash", "handled-crash", "exit", "abort"] {
        one_of_three(1, way);
    }
}

#[test]
fn the_lead_is_killed_or_crashes_or_leaves() {
    for way in ["kill", "crash", "exit"] {
        one_of_three(0, way);
    }
}

/// The launcher kills the other ranks soon: which of them is named depends on who is gone first.
fn one_of_a_run(dying: u32, way: &str) {
    let Some(mpi) = Mpi::chosen() else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (place, program) = (place(), mpi.compile(&LIBRARY, &["tests/failures/dying_mpi.c"]));
    let run = mpi.start(3, &program, &[&dying.to_string(), way], place.path());
    assert!(lost_rank(&outlive(place.path(), 3)) < 3, "{way}");
    let ended = Instant::now();
    let output = run.output();
    let complained = String::from_utf8_lossy(&output.stderr);
    // To MPICH it is no failure that a rank leaves without MPI_Finalize.
    assert!(!output.status.success() || way == "exit", "{way}: the launcher knows");
    assert!(!complained.contains("not so:"), "{way}: {complained}");
    // Nobody keeps the run alive: no thread of ours, no call that waits.
    assert!(ended.elapsed() < 2 * BOUND, "{way}: the run went on for {:?}", ended.elapsed());
    expect_nothing_left(place.path());
}

#[test]
fn under_mpi_a_rank_is_killed_or_crashes_or_aborts_or_leaves() {
    for way in ["kill", "crash", "abort", "exit"] {
        one_of_a_run(2, way);
    }
}

#[test]
fn under_mpi_the_lead_is_killed_or_crashes_or_aborts() {
    for way in ["kill", "crash", "abort"] {
        one_of_a_run(0, way);
    }
}

fn alone(source: &str) -> String {
    let (place, program) = (place(), LIBRARY.compile(source));
    start(Command::new(program).env("FLEXPATH_RENDEZVOUS", place.path())).printed()
}

#[test]
fn a_forked_child_is_refused_and_harms_nobody() {
    assert_eq!(alone("tests/failures/forked.c"), "refused, and the parent went on\n");
}

#[test]
fn a_second_stream_of_the_same_name_is_refused() {
    let said = alone("tests/failures/taken.c");
    assert!(said.starts_with("stream \"name\", rank 0: the name is taken by process "), "{said}");
    assert!(said.ends_with("refused, and free again\n"), "{said}");
}
