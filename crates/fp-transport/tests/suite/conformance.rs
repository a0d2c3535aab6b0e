//! One suite for all transports: every test runs over inproc, shm, tcp and tcp with TLS. Links are plain, throttled (a
//! few bytes a call) and flaky (calls that would block, odd lengths). The rows of verbs are in `tests/verbs.rs`, as
//! they need a device.

#[path = "../conformance/case.rs"]
mod case;
#[path = "../conformance/suite.rs"]
#[macro_use]
mod suite;

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

promises!(conformance);
