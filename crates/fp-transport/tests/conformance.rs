//! One suite for all transports: every test runs over inproc, shm, tcp and tcp with TLS, plain, throttled (a few bytes a
//! call) and flaky (calls that would block, odd lengths). The rows of verbs are in `verbs.rs`, as they need a device.

#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/suite.rs"]
mod suite;
mod support;

use case::{Case, flaky, plain, throttled};
use fp_transport::TransportKind;

macro_rules! conformance {
    ($($test:ident),* $(,)?) => {
        conformance!(@kind inproc, TransportKind::Inproc, false, $($test),*);
        conformance!(@kind shm, TransportKind::Shm, false, $($test),*);
        conformance!(@kind tcp, TransportKind::Tcp, false, $($test),*);
        conformance!(@kind tls, TransportKind::Tcp, true, $($test),*);
    };
    (@kind $module:ident, $kind:expr, $tls:expr, $($test:ident),*) => {
        mod $module {
            use super::*;
            $(mod $test {
                use super::*;
                #[test] fn plain_link() { suite::$test(Case { kind: $kind, tls: $tls, faults: plain() }); }
                #[test] fn throttled_link() { suite::$test(Case { kind: $kind, tls: $tls, faults: throttled() }); }
                #[test] fn flaky_link() { suite::$test(Case { kind: $kind, tls: $tls, faults: flaky() }); }
            })*
        }
    };
}

conformance!(
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
