//! One suite for all transports: every test runs over inproc, shm, tcp and tcp with TLS, plain, throttled (a few bytes a
//! call) and flaky (calls that would block, odd lengths).

#[path = "conformance/suite.rs"]
mod suite;
mod support;

use fp_transport::link::Faults;
use fp_transport::{Link, TransportKind};

/// How to make a connected pair.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    kind: TransportKind,
    tls: bool,
    faults: Faults,
}

impl Case {
    fn pair(self) -> (Link, Link) {
        let (mut one, mut other) = if self.tls { support::tls_pair() } else { support::pair(self.kind) };
        one.set_faults(self.faults);
        other.set_faults(self.faults);
        (one, other)
    }

    fn passes_descriptors(self) -> bool {
        self.kind != TransportKind::Tcp
    }

    /// Smaller volumes where every call moves only a few bytes.
    fn scaled(self, len: usize) -> usize {
        if self.faults.send_bytes.is_some() { len / 16 } else { len }
    }
}

fn plain() -> Faults {
    Faults::default()
}

fn throttled() -> Faults {
    Faults { send_bytes: Some(97), receive_bytes: Some(61), ..Faults::default() }
}

fn flaky() -> Faults {
    Faults {
        send_bytes: Some(4099),
        receive_bytes: Some(1021),
        would_block_every: Some(3),
        ..Faults::default()
    }
}

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
