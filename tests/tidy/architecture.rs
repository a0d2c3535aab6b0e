//! The plan of each package: layers that run one way, circles that stay in a room, types in few files.

use crate::assert_tidy;
use crate::graph::{self, layers, layers::Layers};

/// The layers of the packages that have some, the lowest first.
#[rustfmt::skip]
const LAYERS: &[Layers] = &[
    Layers {
        package: "crates/fp-core",
        layers: &[
            &["error"],
            &["value"],
            &["connection"],
            &["rendezvous"],
            &["coordinator"],
            &["records"],
            &["options"],
            &["data"],
            &["data/owner", "data/taker"],
            &["session"],
            &["publisher"],
            &["step"],
            &["subscriber"],
            &["asynchronous"],
            &["diagnosis"],
            &["fuzzed"],
        ],
    },
    Layers {
        package: "crates/fp-transport",
        layers: &[
            &["lock", "page", "head", "credentials", "secret_file", "transport_kind", "listen_address"],
            &["identity", "transport_policy"],
            &["memory", "contact", "hello"],
            &["frame", "peer_proof"],
            &["socket"],
            &["verbs", "tls"],
            &["negotiation", "channel"],
            &["link", "probe"],
            &["listener", "dial"],
        ],
    },
];
/// In how many files a public type may have its inherent implementations.
const IMPLEMENTATION_FILES: usize = 3;

#[test]
fn imports_make_no_circle_beyond_a_room() {
    assert_tidy(graph::circle_complaints());
}

#[test]
fn layers_run_one_way() {
    assert_tidy(layers::complaints(LAYERS, graph::packages()));
}

#[test]
fn nobody_imports_through_the_face_of_the_own_root() {
    assert_tidy(graph::face_complaints());
}

#[test]
fn public_types_are_implemented_in_few_files() {
    assert_tidy(graph::implementation_complaints(IMPLEMENTATION_FILES));
}

#[test]
fn imports_are_shown_where_somebody_asks() {
    if let Some(asked) = std::env::var_os("FLEXPATH_IMPORTS") {
        println!("{}", graph::shown(&asked.to_string_lossy(), LAYERS));
    }
}
