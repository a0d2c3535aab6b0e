//! The rules of the house that a compiler does not check. A rule that nothing checks is a wish.
//!
//! The lists in this file are the rules themselves and what is excused from them. An excuse is a ratchet: it may
//! shrink, and goes when it is needed no more. Each check is shown to fail by the unit tests of its module.

#[path = "tidy/architecture.rs"]
mod architecture;
#[path = "tidy/coverage.rs"]
mod coverage;
#[path = "tidy/errors.rs"]
mod errors;
#[path = "tidy/facade.rs"]
mod facade;
#[path = "tidy/graph/mod.rs"]
mod graph;
#[path = "tidy/hygiene.rs"]
mod hygiene;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/length.rs"]
mod length;
#[path = "tidy/locks.rs"]
mod locks;
#[path = "tidy/paths.rs"]
mod paths;
#[path = "tidy/prose/mod.rs"]
mod prose;
#[path = "tidy/python.rs"]
mod python;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/unsafety.rs"]
mod unsafety;
#[path = "tidy/vocabulary.rs"]
mod vocabulary;
#[path = "tidy/words.rs"]
mod words;

use imports::{Arrows, Boundary};
use source::{sources, texts};

/// What a crate must not name. No crate uses an asynchronous runtime (see docs/decisions); an example shows one, and
/// requests to S3 go through one, behind a feature.
#[rustfmt::skip]
const BOUNDARIES: &[Boundary] = &[
    Boundary {
        folder: "",
        banned: &["tokio", "async_std", "smol", "anyhow", "eyre"],
        except: &[
            "examples/two_streams.rs", "tests/quickstart/two_streams.rs", "crates/fp-sinks/src/zarr/bucket/requests.rs",
        ],
    },
    Boundary {
        folder: "crates/fp-types/src/",
        banned: &[
            "std::net", "std::os", "std::fs", "std::env", "std::process", "std::thread", "std::time::Instant",
            "std::time::SystemTime", "rustix", "libc", "bytes", "rand", "getrandom",
        ],
        except: &[],
    },
    Boundary { folder: "crates/fp-wire/", banned: &["std::net", "std::fs", "std::time", "std::thread", "serde"], except: &[] },
    Boundary {
        folder: "crates/fp-proto/src/",
        banned: &[
            "std::net", "std::os", "std::fs", "std::env", "std::process", "std::thread", "std::time::Instant",
            "std::time::SystemTime", "std::sync::Mutex", "std::sync::RwLock", "std::sync::Condvar",
            "std::sync::mpsc", "std::sync::atomic", "std::cell", "std::collections::HashMap",
            "std::collections::HashSet", "std::collections::hash_map", "rustix", "libc", "bytes", "rand",
            "getrandom", "tracing",
        ],
        except: &[],
    },
    Boundary {
        // The simulator must give the same trace for the same seed on every machine.
        folder: "crates/fp-sim/src/simulator/",
        banned: &[
            "std::thread", "std::time::Instant", "std::time::SystemTime", "std::collections::HashMap",
            "std::collections::HashSet", "std::collections::hash_map", "rand", "getrandom",
        ],
        except: &[],
    },
    Boundary { folder: "crates/fp-transport/", banned: &["fp_proto", "fp_core", "fp_wire", "serde", "bincode"], except: &[] },
    Boundary {
        folder: "crates/fp-transform/src/",
        banned: &[
            "std::net", "std::os", "std::fs", "std::env", "std::time::SystemTime", "rustix", "libc", "rand", "getrandom",
            "fp_proto", "fp_transport", "fp_core", "fp_wire", "tracing",
        ],
        except: &[],
    },
    Boundary {
        folder: "crates/fp-spool/src/",
        banned: &["std::net", "std::env", "std::process", "std::thread", "fp_core", "fp_transport", "fp_wire", "rustix", "tracing"],
        except: &[],
    },
    Boundary {
        folder: "crates/fp-conventions/src/",
        banned: &[
            "std::net", "std::os", "std::fs", "std::env", "std::process", "std::thread", "std::time::Instant",
            "std::time::SystemTime", "fp_core", "fp_proto", "fp_transport", "fp_wire", "rustix", "tracing",
        ],
        except: &[],
    },
    Boundary { folder: "crates/fp-core/", banned: &["fp_wire", "clap", "serde_json", "bincode", "libc"], except: &[] },
    Boundary { folder: "crates/fp-ffi/", banned: &["fp_proto", "fp_transport", "fp_wire", "libc", "serde_json"], except: &[] },
    Boundary { folder: "crates/fp-sinks/", banned: &["fp_proto", "fp_transport", "fp_wire"], except: &[] },
    Boundary { folder: "crates/fp-mpi/", banned: &["fp_proto", "fp_transport", "fp_types", "fp_wire"], except: &[] },
    Boundary { folder: "crates/fp-analysis/", banned: &["fp_proto", "fp_transport", "fp_wire"], except: &[] },
    Boundary {
        folder: "crates/fp-pictures/src/",
        banned: &["std::net", "std::env", "std::process", "std::thread", "fp_core", "fp_proto", "fp_transport", "fp_types", "fp_wire", "tracing"],
        except: &[],
    },
    Boundary { folder: "crates/fp-flow/", banned: &["fp_proto", "fp_transport", "fp_types", "fp_wire"], except: &[] },
    Boundary { folder: "crates/fp-cli/", banned: &["fp_proto", "fp_transport", "fp_types", "fp_wire"], except: &[] },
    Boundary { folder: "python/", banned: &["fp_core", "fp_proto", "fp_transport", "fp_types", "fp_wire"], except: &[] },
    Boundary { folder: "src/", banned: &["fp_proto", "fp_transport", "fp_types", "fp_wire"], except: &[] },
    Boundary {
        folder: "examples/",
        banned: &["fp_core", "fp_proto", "fp_transport", "fp_types", "fp_wire"],
        except: &[],
    },
    Boundary { folder: "demo/", banned: &["fp_core", "fp_proto", "fp_transport", "fp_types", "fp_wire"], except: &[] },
];

/// Which of our packages depends on which others: the arrows in ARCHITECTURE.md.
#[rustfmt::skip]
const ARROWS: &[Arrows] = &[
    Arrows { manifest: "Cargo.toml", allowed: &["fp-core", "fp-flow", "flexpath-derive"] },
    Arrows { manifest: "crates/fp-types/Cargo.toml", allowed: &[] },
    Arrows { manifest: "crates/fp-derive/Cargo.toml", allowed: &[] },
    Arrows { manifest: "crates/fp-wire/Cargo.toml", allowed: &[] },
    Arrows { manifest: "crates/fp-proto/Cargo.toml", allowed: &["fp-types", "fp-wire"] },
    Arrows { manifest: "crates/fp-sim/Cargo.toml", allowed: &["fp-proto", "fp-types"] },
    Arrows { manifest: "crates/fp-transport/Cargo.toml", allowed: &["fp-types"] },
    Arrows { manifest: "crates/fp-transform/Cargo.toml", allowed: &["fp-types"] },
    Arrows { manifest: "crates/fp-core/Cargo.toml", allowed: &["fp-types", "fp-proto", "fp-transport", "fp-transform"] },
    Arrows { manifest: "crates/fp-spool/Cargo.toml", allowed: &["fp-proto", "fp-types"] },
    Arrows { manifest: "crates/fp-conventions/Cargo.toml", allowed: &["fp-types"] },
    Arrows { manifest: "crates/fp-ffi/Cargo.toml", allowed: &["fp-core", "fp-types"] },
    Arrows { manifest: "crates/fp-mpi/Cargo.toml", allowed: &["fp-core", "flexpath"] },
    Arrows { manifest: "crates/fp-analysis/Cargo.toml", allowed: &["fp-core", "fp-transform", "fp-types"] },
    Arrows { manifest: "crates/fp-pictures/Cargo.toml", allowed: &[] },
    Arrows { manifest: "crates/fp-cli/Cargo.toml", allowed: &["fp-analysis", "fp-conventions", "fp-core", "fp-pictures", "fp-spool"] },
    Arrows { manifest: "crates/fp-flow/Cargo.toml", allowed: &["fp-core"] },
    Arrows { manifest: "crates/fp-sinks/Cargo.toml", allowed: &["flexpath-cli", "fp-conventions", "fp-core", "fp-types"] },
    Arrows { manifest: "python/Cargo.toml", allowed: &["flexpath", "flexpath-cli"] },
    Arrows { manifest: "demo/Cargo.toml", allowed: &["flexpath", "fp-pictures"] },
    Arrows { manifest: "benches/peers/Cargo.toml", allowed: &[] },
    // Readers of all layers are fuzzed.
    Arrows { manifest: "fuzz/Cargo.toml", allowed: &["fp-core", "fp-proto", "fp-spool", "fp-transform", "fp-transport", "fp-types"] },
    Arrows { manifest: "tests/rdma-crates/Cargo.toml", allowed: &[] },
    Arrows { manifest: "tests/rdma-crates/bindings/Cargo.toml", allowed: &[] },
    Arrows { manifest: "tests/rdma-crates/witness/Cargo.toml", allowed: &["fp-transport"] },
];

/// Tables that say which test covers what.
const COVERAGE: &[coverage::Table<'_>] = &[coverage::Table {
    path: "docs/watches.md",
    rows: "condition",
    columns: &[
        ("Rust", "crates/fp-core/tests/"),
        ("C", "crates/fp-ffi/tests/"),
        ("Fortran", "crates/fp-ffi/tests/"),
        ("command", "crates/fp-cli/tests/"),
    ],
}];

/// Files past the limit: they may only shrink.
const LONG_FILES: &[(&str, usize)] = &[];
/// Functions past the limit: they may only shrink.
const LONG_FUNCTIONS: &[(&str, usize)] = &[];
/// How many uses of unsafe code each file has; zero for all others. The number may only sink.
const UNSAFE_USES: &[(&str, usize)] = &[
    ("benches/spine/shared.rs", 5),
    // An allocator that counts: there is no safe way to write one.
    ("tests/allocations/counting.rs", 7),
    // Requests of another crate, which only the caller can know to be over.
    ("tests/rdma-crates/witness/src/main.rs", 1),
    // An allocator that counts: there is no safe way to write one.
    ("crates/fp-sim/src/scale/memory.rs", 7),
    // A guest: its memory is all that it can harm.
    ("crates/fp-transform/guest/sum_of_squares.rs", 4),
    ("crates/fp-transport/src/credentials.rs", 1),
    ("crates/fp-transport/src/memory/arena.rs", 5),
    ("crates/fp-transport/src/memory/memory_map.rs", 7),
    ("crates/fp-transport/src/memory/payload.rs", 3),
    ("crates/fp-transport/src/memory/peer_segment.rs", 1),
    ("crates/fp-transport/src/page.rs", 3),
    // Calls of libibverbs and librdmacm, one use for each call, and the memory that devices read and write.
    ("crates/fp-transport/src/verbs/connection.rs", 33),
    ("crates/fp-transport/src/verbs/device.rs", 10),
    ("crates/fp-transport/src/verbs/device_list.rs", 6),
    ("crates/fp-transport/src/verbs/fake.rs", 3),
    ("crates/fp-transport/src/verbs/landing_memory.rs", 8),
    ("crates/fp-transport/src/verbs/library.rs", 2),
    ("crates/fp-transport/src/verbs/protection.rs", 4),
    ("crates/fp-transport/src/verbs/queue.rs", 23),
    ("crates/fp-transport/src/verbs/read_all.rs", 1),
    ("crates/fp-transport/src/verbs/registration.rs", 10),
    ("crates/fp-transport/src/verbs/remote_read.rs", 3),
    ("crates/fp-ffi/src/raw.rs", 4),
    ("crates/fp-mpi/src/lib.rs", 5),
    // The buffer protocol of CPython: memory that Python lends, and memory that is lent to it.
    ("python/src/buffer.rs", 14),
    // One for each call of LAMMPS's library, and for what it lends: the last came with velocities that are changed.
    ("demo/src/lammps/library.rs", 23),
    ("demo/src/lammps/symbols.rs", 4),
];
/// Roots of crates that forbid unsafe code altogether.
const SAFE_ROOTS: &[&str] = &[
    "src/lib.rs",
    "crates/fp-types/src/lib.rs",
    "crates/fp-derive/src/lib.rs",
    "crates/fp-proto/src/lib.rs",
    "crates/fp-transform/src/lib.rs",
    "crates/fp-core/src/lib.rs",
    "crates/fp-spool/src/lib.rs",
    "crates/fp-conventions/src/lib.rs",
    "crates/fp-analysis/src/lib.rs",
    "crates/fp-pictures/src/lib.rs",
    "crates/fp-flow/src/lib.rs",
    "crates/fp-cli/src/lib.rs",
    "crates/fp-cli/src/main.rs",
    "crates/fp-sinks/src/lib.rs",
    "crates/fp-sinks/src/main.rs",
];
/// Tests that must let real time pass, each with its reason in the file.
const SLEEPING_TESTS: &[&str] = &[];

/// How many sentences of more than 25 words each folder has left; none for all others. The number may only sink.
#[rustfmt::skip]
const LONG_SENTENCES: &[(&str, usize)] = &[];

/// Fails with one complaint a line.
fn assert_tidy(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn crates_name_nothing_beyond_their_boundaries() {
    assert_tidy(sources().iter().flat_map(|source| imports::check(source, BOUNDARIES)).collect());
}

#[test]
fn packages_depend_on_each_other_as_drawn() {
    let texts = texts();
    let manifest = |arrows: &Arrows| {
        let found = texts.iter().find(|text| text.path == arrows.manifest);
        found.unwrap_or_else(|| panic!("{} is gone: its arrows can go", arrows.manifest))
    };
    assert_tidy(ARROWS.iter().flat_map(|arrows| imports::check_arrows(manifest(arrows), arrows)).collect());
    let manifests = texts.iter().filter(|text| text.path.ends_with("Cargo.toml"));
    let undrawn = manifests.filter(|text| ARROWS.iter().all(|arrows| arrows.manifest != text.path));
    assert_tidy(
        undrawn.map(|text| format!("{}: a new package, whose arrows nobody drew", text.path)).collect(),
    );
}

#[test]
fn locks_outside_the_workspace_know_what_our_packages_depend_on() {
    let texts = texts();
    let manifests: Vec<_> = texts.iter().filter(|text| text.path.ends_with("Cargo.toml")).collect();
    for path in [
        "crates/fp-mpi/Cargo.lock",
        "crates/fp-sinks/Cargo.lock",
        "tests/rdma-crates/Cargo.lock",
        "fuzz/Cargo.lock",
        "python/Cargo.lock",
    ] {
        let lock = texts.iter().find(|text| text.path == path).expect("the workspace has a lock");
        assert_tidy(locks::check(lock, &manifests));
    }
}

#[test]
fn what_an_error_says_is_not_its_source() {
    assert_tidy(sources().iter().flat_map(errors::check).collect::<Vec<_>>());
}

#[test]
fn what_the_facade_hands_out_can_be_named_by_it() {
    assert_tidy(facade::check(&sources()));
}

#[test]
fn what_users_meet_of_handles_may_grow() {
    assert_tidy(facade::check_growth(&sources()));
}

#[test]
fn files_and_functions_are_short() {
    let sources = sources();
    let functions: Vec<_> = sources.iter().flat_map(length::functions).collect();
    let paths: Vec<String> = sources.iter().map(|source| source.path.clone()).collect();
    let places: Vec<String> = functions.iter().map(|function| function.place.clone()).collect();
    let mut complaints = length::check_tenth(&functions);
    complaints.extend(sources.iter().filter_map(|source| length::check_file(source, LONG_FILES)));
    complaints.extend(functions.iter().filter_map(|f| length::check_function(f, LONG_FUNCTIONS)));
    complaints.extend(length::check_excuses(&paths, LONG_FILES));
    complaints.extend(length::check_excuses(&places, LONG_FUNCTIONS));
    assert_tidy(complaints);
}

#[test]
fn every_file_says_what_it_is() {
    assert_tidy(sources().iter().filter_map(hygiene::check_module_docs).collect());
}

#[test]
fn unsafe_code_is_explained_counted_and_mostly_forbidden() {
    let sources = sources();
    let mut complaints: Vec<String> = sources.iter().flat_map(unsafety::check_comments).collect();
    complaints.extend(sources.iter().filter_map(|source| unsafety::check_count(source, UNSAFE_USES)));
    let gone = UNSAFE_USES.iter().filter(|(path, _)| sources.iter().all(|source| source.path != *path));
    complaints.extend(gone.map(|(path, _)| format!("{path} is gone: so is its unsafe code")));
    for root in SAFE_ROOTS {
        let source = sources.iter().find(|source| source.path == *root);
        complaints.extend(source.map_or(Some(format!("{root} is gone")), unsafety::check_forbidden));
    }
    assert_tidy(complaints);
}

#[test]
fn nothing_is_unfinished_or_speaks_of_where_it_was_written() {
    assert_tidy(texts().iter().flat_map(hygiene::check_text).collect());
}

#[test]
fn documents_name_files_that_are_here() {
    let texts = texts();
    let files: Vec<&str> =
        texts.iter().map(|text| text.path.as_str()).filter(|path| path.ends_with(".rs")).collect();
    assert_tidy(texts.iter().flat_map(|text| paths::check(text, &files)).collect());
}

#[test]
fn tables_of_tests_have_no_empty_cell() {
    let (texts, sources) = (texts(), sources());
    assert_tidy(COVERAGE.iter().flat_map(|table| coverage::check(table, &texts, &sources)).collect());
}

#[test]
fn every_decision_is_listed() {
    assert_tidy(paths::check_decisions(&texts()));
}

#[test]
fn no_test_sleeps_or_is_passed_over() {
    assert_tidy(sources().iter().flat_map(|source| hygiene::check_tests(source, SLEEPING_TESTS)).collect());
}

#[test]
fn what_is_written_in_python_is_short_and_says_what_it_is() {
    assert_tidy(texts().iter().flat_map(python::check).collect());
}

#[test]
fn sentences_are_short() {
    let long = prose::long_sentences(&texts(), &sources());
    let left = prose::left(&long);
    if let Ok(asked) = std::env::var("FLEXPATH_SENTENCES") {
        long.iter().filter(|long| long.path.starts_with(&asked)).for_each(|long| println!("{long}"));
    }
    left.iter().for_each(|(owner, count)| println!("{owner}: {count} long sentences left"));
    assert_tidy(prose::complaints(&left, LONG_SENTENCES));
}
