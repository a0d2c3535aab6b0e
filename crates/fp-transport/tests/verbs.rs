//! Everything that needs an RDMA device: the conformance suite over verbs, and what verbs alone can do.
//!
//! A binary of its own: without a device nothing of it runs, and that is said in words. So it has a main in which a
//! test that did not run is not counted as one that passed. `FLEXPATH_REQUIRE_VERBS=1` makes it an error.

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
#[macro_use]
mod suite;
mod support;
#[path = "verbs/sweep.rs"]
mod sweep;

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
        Some((role, _)) if role == "counts" => return bench::count(),
        Some((role, _)) if role == "sweeps" => return sweep::run(),
        Some(_) => return remote::child(),
        None => {}
    }
    let mut tests = promises!(conformance);
    tests.extend(receives::tests());
    tests.extend(remote::tests());
    harness::run(&tests, support::verbs_address().err())
}
