//! Generated flatbuffers code for layouts, step tables and schemas, and nothing else.
//!
//! The schemas are in `schemas/`; `scripts/generate-wire.sh` makes the code, with flatc of the same version as the
//! `flatbuffers` crate. Generated code is unsafe throughout, which is why it has a crate of its own; it is sound on
//! bytes that the verifier has passed. So bytes from a peer are opened by [`wire::root_as_envelope_with_opts`]
//! alone, which runs the verifier, with limits set by the caller (`fp_proto::table` does both).

pub use flatbuffers;

// The generator's output is not ours to tidy.
#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    unused_imports,
    dead_code,
    rust_2018_idioms,
    unsafe_op_in_unsafe_fn,
    mismatched_lifetime_syntaxes,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
#[rustfmt::skip]
#[path = "generated/envelope.rs"]
mod generated;

pub use generated::flexpath::wire;
