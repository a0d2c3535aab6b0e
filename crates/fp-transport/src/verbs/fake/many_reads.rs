//! READs over many connections at once: when they are posted, and how many. What is left of them when one fails, when
//! nobody waits any more, and in a panic.

use super::{Reading, answer, calls, device, install, on, over};
use crate::memory::RemoteMemory;
use crate::verbs::error::ReadTrouble;
use crate::verbs::landing_memory::{Landing, ReadTarget};
use crate::verbs::queue::READS;
use crate::verbs::read_all::{ReadLimit, ReadPlace, read_all};
use crate::verbs::read_requests::{BlockRead, ReadRun};
use crate::verbs::stream::Stream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Only a read that is wrong waits so long.
const PATIENCE: Duration = Duration::from_secs(20);
const LEN: usize = 1000;

/// So many connections over one device. READs come together when so many are under way.
fn connections(count: usize, together: usize) -> Vec<Stream> {
    let context = device(c"fake0");
    install(&[context]);
    answer(0, 0);
    on(|machine| machine.reading = Reading::ComesTogether(together));
    (0..count).map(|_| over(context)).collect()
}

fn number_of(stream: &Stream) -> usize {
    stream.queue.identifier.pair().expect("a queue pair").addr()
}

/// READs over this connection have this fate.
fn fate(stream: &Stream, fate: Reading) {
    let pair = number_of(stream);
    on(|machine| machine.fates.push((pair, fate)));
}

/// The part of one array that comes over each connection, in so many runs that are no neighbours at the peer.
fn pieces(count: usize, runs: usize, is_through: bool) -> Vec<BlockRead> {
    let len_bytes = LEN / runs;
    let piece = |at: usize| {
        let run = |run: usize| ReadRun {
            source: (2 * run * len_bytes) as u64,
            destination: at * LEN + run * len_bytes,
            len_bytes,
        };
        let remote = RemoteMemory { address: at as u64 * 7, key: 3, len_bytes: 2 * LEN as u64 };
        BlockRead { remote, place: 0, is_through, runs: (0..runs).map(run).collect() }
    };
    (0..count).map(piece).collect()
}

/// Whether the array has what the connection brings.
fn has(array: &[u8], piece: &BlockRead) -> bool {
    let is_there = |run: &ReadRun| {
        let expected = (piece.remote.address + run.source..).map(|address| address as u8);
        array[run.destination..][..run.len_bytes].iter().copied().eq(expected.take(run.len_bytes))
    };
    piece.runs.iter().all(is_there)
}

/// Reads straight into an array.
fn read(
    streams: &mut [Stream],
    pieces: &[BlockRead],
    array: &mut [u8],
    limit: &ReadLimit<'_>,
) -> Vec<Result<(), ReadTrouble>> {
    let mut guard = ReadTarget::new(array);
    let (memory, keys) = guard.parts();
    streams.iter().for_each(|stream| stream.register(keys).expect("registered"));
    let of = pieces.iter().map(std::slice::from_ref);
    let connections = streams.iter_mut().zip(of).collect();
    read_all(connections, &mut [ReadPlace { memory, keys: Some(keys) }], &mut [], limit)
}

fn soon() -> ReadLimit<'static> {
    ReadLimit::until(Instant::now() + PATIENCE)
}

/// No device has business with memory of this side any more.
fn nothing_is_under_way(streams: &[Stream]) {
    assert!(streams.iter().all(|stream| stream.reads.under_way() == 0));
    assert!(on(|machine| machine.waiting.is_empty()));
}

#[test]
fn reads_of_all_connections_are_posted_before_one_is_over() {
    let (mut streams, pieces) = (connections(64, 64), pieces(64, 1, false));
    let mut array = vec![0; 64 * LEN];
    let outcomes = read(&mut streams, &pieces, &mut array, &soon());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(pieces.iter().all(|piece| has(&array, piece)));
    nothing_is_under_way(&streams);
    assert_eq!(calls(), [] as [&str; 0], "all connections are sound");
}

#[test]
fn no_queue_has_more_than_it_takes() {
    let (mut streams, pieces) = (connections(3, 3 * READS), pieces(3, 5 * READS, false));
    let mut array = vec![0; 3 * LEN];
    let outcomes = read(&mut streams, &pieces, &mut array, &soon());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(pieces.iter().all(|piece| has(&array, piece)));
    assert_eq!(on(|machine| machine.most_waiting), READS);
}

/// One landing for two connections and one for the third. Each has a share whose halves are shorter than its runs.
#[test]
fn what_goes_through_landings_is_under_way_at_one_time_too() {
    let mut streams = connections(3, 3);
    let pieces = pieces(3, 2, true);
    let mut array = vec![0; 3 * LEN];
    let mut landings: Vec<Landing> = (0..2).map(|_| streams[0].landing(200).expect("memory")).collect();
    for landing in &mut landings {
        let (_, keys) = landing.parts().expect("memory");
        streams.iter().for_each(|stream| stream.register(keys).expect("registered"));
    }
    // The first two have halves of 50 bytes, the last one of 50 as well: shares are equal.
    let of = pieces.iter().map(std::slice::from_ref);
    let connections = streams.iter_mut().zip(of).collect();
    let mut places = [ReadPlace { memory: &mut array, keys: None }];
    let outcomes = read_all(connections, &mut places, &mut landings, &soon());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(pieces.iter().all(|piece| has(&array, piece)));
    nothing_is_under_way(&streams);
}

#[test]
fn one_that_fails_leaves_the_others_whole_and_nothing_under_way() {
    let (mut streams, pieces) = (connections(8, 7), pieces(8, 1, false));
    fate(&streams[3], Reading::Fails(12));
    let mut array = vec![0; 8 * LEN];
    let outcomes = read(&mut streams, &pieces, &mut array, &soon());
    for (at, outcome) in outcomes.iter().enumerate() {
        let is_right = if at == 3 { matches!(outcome, Err(ReadTrouble::Lost(_))) } else { outcome.is_ok() };
        assert!(is_right && has(&array, &pieces[at]) == (at != 3), "{at}: {outcome:?}");
    }
    nothing_is_under_way(&streams);
}

#[test]
fn at_the_deadline_those_that_are_not_over_are_broken_and_no_others() {
    let (mut streams, pieces) = (connections(4, 3), pieces(4, 1, false));
    fate(&streams[2], Reading::Waits);
    let limit = ReadLimit::until(Instant::now() + Duration::from_millis(20));
    let mut array = vec![0; 4 * LEN];
    let outcomes = read(&mut streams, &pieces, &mut array, &limit);
    assert!(matches!(outcomes[2], Err(ReadTrouble::Deadline)), "{outcomes:?}");
    assert_eq!(calls(), ["modify"], "one was moved to the error state");
    nothing_is_under_way(&streams);
}

#[test]
fn reads_that_are_not_to_go_on_end_long_before_the_deadline() {
    let (mut streams, pieces) = (connections(3, usize::MAX), pieces(3, 1, false));
    let limit = ReadLimit { deadline: Instant::now() + PATIENCE, goes_on: &|_| false };
    let outcomes = read(&mut streams, &pieces, &mut vec![0; 3 * LEN], &limit);
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(ReadTrouble::Deadline))), "{outcomes:?}");
    assert!(Instant::now() < limit.deadline);
    assert_eq!(calls(), ["modify"; 3]);
    nothing_is_under_way(&streams);
}

/// What is asked while nothing comes is a function of the program's.
#[test]
fn a_panic_gives_no_memory_back_that_a_device_writes_to() {
    let (mut streams, pieces) = (connections(3, usize::MAX), pieces(3, 1, false));
    let limit = ReadLimit { deadline: Instant::now() + PATIENCE, goes_on: &|_| panic!("a test") };
    let mut array = vec![0; 3 * LEN];
    let read = || drop(read(&mut streams, &pieces, &mut array, &limit));
    assert!(catch_unwind(AssertUnwindSafe(read)).is_err());
    assert_eq!(calls(), ["modify"; 3]);
    nothing_is_under_way(&streams);
}

/// Nothing at all is posted over a connection of which one run is wrong.
#[test]
fn a_run_outside_its_memory_is_no_business_of_other_connections() {
    let (mut streams, mut pieces) = (connections(3, 2), pieces(3, 1, false));
    pieces[1].runs[0].source = 2 * LEN as u64;
    let mut array = vec![0; 3 * LEN];
    let outcomes = read(&mut streams, &pieces, &mut array, &soon());
    assert!(matches!(outcomes[1], Err(ReadTrouble::Outside { .. })), "{outcomes:?}");
    assert!(has(&array, &pieces[0]) && has(&array, &pieces[2]));
    assert_eq!(calls(), [] as [&str; 0]);
}
