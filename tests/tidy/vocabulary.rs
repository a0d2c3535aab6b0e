//! The words of the house: which public names must not say, and where one of them is right.

use std::collections::BTreeSet;

use crate::assert_tidy;
use crate::source::sources;
use crate::words::{self, Allowed};

/// Banned words of public names, and the words to use.
#[rustfmt::skip]
const BANNED_WORDS: &[(&str, &str)] = &[
    ("topic", "stream"), ("channel", "stream"), ("producer", "publisher"), ("consumer", "subscriber"),
    ("writer", "publisher (or StepWriter)"), ("reader", "subscriber (or StepReader)"), ("group", "cohort"),
    ("communicator", "cohort"), ("job", "cohort"), ("node", "rank"), ("master", "lead"),
    ("manager", "coordinator"), ("server", "coordinator"), ("driver", "coordinator"), ("discovery", "rendezvous"),
    ("registry", "rendezvous"), ("client", "peer"), ("socket", "link"), ("engine", "transport"),
    ("backend", "transport"), ("timestep", "step"), ("frame", "step"), ("dataset", "variable"),
    ("chunk", "block"), ("piece", "block"), ("dims", "shape"), ("box", "region"), ("slab", "region"),
    ("decomposition", "layout"), ("query", "selection (or watch)"), ("schedule", "plan"), ("alloc", "loan"),
    ("free", "release or reclaim"), ("ack", "release"), ("buffer", "queue"), ("format", "schema"),
    ("operator", "transform"), ("filter", "transform"), ("trigger", "watch"), ("callback", "action"),
    ("get", "the bare noun"),
];

/// Banned words that are right where they stand.
#[rustfmt::skip]
const ALLOWED_WORDS: &[Allowed] = &[
    // Coordinates: a list of one number for each dimension. A shape is one use of it; points and strides are others.
    Allowed { word: "dims", package: "crates/fp-types", names: &[] },
    Allowed { word: "dims", package: "crates/fp-core", names: &["Dims"] },
    Allowed { word: "dims", package: "crates/fp-proto", names: &["Dims"] },
    // What one rank sends of one block for a selection: a part of a plan, where a block is what somebody put.
    Allowed { word: "piece", package: "crates/fp-types", names: &[] },
    Allowed { word: "piece", package: "crates/fp-proto", names: &["LIMIT_PIECES", "Pieces", "pieces"] },
    // One question of a `Resolve` message: a variable's name and the selection of it.
    Allowed { word: "query", package: "crates/fp-proto", names: &["ResolveQuery", "queries"] },
    // The machine's order to free a step's memory: the outcome of releases, where a release is a message.
    Allowed { word: "free", package: "crates/fp-proto", names: &["Free", "FreeWithoutRetire"] },
    // Says which of the operating system's sockets was dialled by mistake.
    Allowed { word: "socket", package: "crates/fp-transport", names: &["WrongSocket"] },
    // The handles of one step on either side.
    Allowed { word: "writer", package: "crates/fp-core", names: &["StepWriter"] },
    Allowed { word: "reader", package: "crates/fp-core", names: &["StepReader"] },
    // What one does with a variable of a step: no property is got.
    Allowed {
        word: "get",
        package: "crates/fp-core",
        names: &[
            "get", "get_array", "get_array_async", "get_async", "get_bytes", "get_bytes_into", "get_into", "get_into_async", "get_or_fill", "get_or_fill_async",
            "get_record_bytes", "get_records", "get_records_async",
        ],
    },
    // A map, as those of the standard library.
    Allowed { word: "get", package: "crates/fp-types", names: &["get", "get_mut", "get_or_insert_with"] },
    // What C calls it where nothing is lent or held: `malloc` and `free`. Steps, views and loans are released.
    Allowed { word: "free", package: "crates/fp-ffi", names: &[] },
    // What one does with a variable of a step, as in fp-core.
    Allowed {
        word: "get",
        package: "crates/fp-ffi",
        names: &[
            "GetStruct", "flexpath_records_get", "flexpath_step_get", "flexpath_step_get_all",
            "flexpath_step_get_by_text", "flexpath_step_get_converted_by_text", "flexpath_step_get_or_fill",
            "flexpath_step_get_records", "flexpath_step_get_records_by_text",
        ],
    },
    // What C calls them.
    Allowed { word: "channel", package: "crates/fp-transport", names: &["CompChannel", "EventChannel"] },
    // Links carry frames: the word is the transport's own, and steps are unknown there.
    Allowed { word: "frame", package: "crates/fp-transport", names: &[] },
];

#[test]
fn public_names_use_the_words_of_the_house() {
    let mut used = BTreeSet::new();
    let is_library = |path: &str| path.contains("src/");
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|source| is_library(&source.path)) {
        complaints.extend(words::check(source, BANNED_WORDS, ALLOWED_WORDS, &mut used));
    }
    complaints.extend(ALLOWED_WORDS.iter().flat_map(|allowed| allowed.idle(&used)));
    assert_tidy(complaints);
}
