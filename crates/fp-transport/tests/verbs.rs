//! Everything that needs an RDMA device: the conformance suite over verbs, and what verbs alone can do.
//!
//! Without a device nothing of it runs, and that is said in words: so this binary has a main of its own, in which a test
//! that did not run is not counted as one that passed. `FLEXPATH_REQUIRE_VERBS=1` makes it an error.

#[path = "verbs/bench.rs"]
mod bench;
#[path = "conformance/case.rs"]
mod case;
#[path = "verbs/harness.rs"]
mod harness;
#[path = "verbs/receives.rs"]
mod receives;
#[path = "verbs/remote.rs"]
mod remote;
#[path = "conformance/suite.rs"]
mod suite;
mod support;

use case::{Case, flaky, plain, throttled};
use fp_transport::TransportKind;
use fp_transport::link::Faults;
use harness::Test;
use std::process::ExitCode;

fn over(faults: Faults) -> Case {
    Case { kind: TransportKind::Verbs, tls: false, faults }
}

macro_rules! conformance {
    ($($test:ident),* $(,)?) => {
        vec![$(
            Test::new(concat!(stringify!($test), "::plain_link"), || suite::$test(over(plain()))),
            Test::new(concat!(stringify!($test), "::throttled_link"), || suite::$test(over(throttled()))),
            Test::new(concat!(stringify!($test), "::flaky_link"), || suite::$test(over(flaky()))),
        )*]
    };
}

fn main() -> ExitCode {
    match support::role() {
        Some((role, _)) if role == "bench" => return bench::run(),
        Some(_) => return remote::child(),
        None => {}
    }
    let mut tests = conformance!(
        frames_arrive_in_order,
        heads_of_all_sizes_arrive,
        bodies_are_gathered_and_scattered,
        a_large_body_goes_straight_to_its_destination,
        both_directions_at_once,
        a_body_must_be_taken_before_the_next_frame,
        descriptors_arrive_with_their_frame,
        one_direction_can_end_before_the_other,
        a_full_queue_says_so_and_recovers,
        a_payload_is_released_when_it_is_written,
        too_large_frames_are_not_taken,
        corrupt_headers_end_the_link,
        a_peer_that_goes_in_a_frame_is_lost,
        a_peer_that_goes_between_frames_is_closed,
        a_reset_is_an_error_on_both_sides,
        deadlines_name_what_was_waited_for,
        finishing_delivers_everything,
        hostile_bytes_are_survived,
    );
    tests.extend(receives::tests());
    tests.extend(remote::tests());
    harness::run(&tests, support::verbs_address().err())
}
