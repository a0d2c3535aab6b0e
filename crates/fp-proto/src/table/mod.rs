//! Step tables, layouts and schemas to flatbuffers bytes and back.
//!
//! A layout is vectors of numbers and structs, never a table for each block. Blocks that lie one after another along
//! one dimension (joined arrays, rows of a grid) are one number each. Their offsets are prefix sums, computed here when
//! decoding.
//!
//! Decoding is total: bytes that mean nothing valid are a [`TableDecodeError`]. They may be too long, fail flatbuffers'
//! verifier (under limits of ours), or mean something that `fp_types` would not build. What comes out has passed the
//! same checks as what an application builds. Its content id is computed from it, never taken from the bytes.

mod attribute;
mod error;
mod layout;
mod open;
mod schema;
mod size;
mod step;

pub use crate::bounds::MAX_ENCODED_BYTES;
use crate::message::NoTable;
pub use error::TableDecodeError;
use fp_types::{Layout, Schema, StepTable, VariableDef};
use fp_wire::flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use fp_wire::wire::{self, Content};

/// The version of `crates/fp-wire/schemas`, which every encoding carries.
pub const VERSION: u16 = 1;

/// The bytes of a step's table.
///
/// A table that would be longer than [`MAX_ENCODED_BYTES`] becomes a note of that, which [`decode`] reports. So the
/// receiver, who asked, learns why there is no table.
pub fn encode(table: &StepTable) -> Vec<u8> {
    let build = |builder: &mut Builder<'_>| step::encode(builder, table).as_union_value();
    seal(size::of_table(table), Content::StepTable, build)
}

/// Whether a table is short enough to be sent in messages of at most so many bytes.
///
/// # Errors
/// How many blocks it has, the bytes that they take at most, and the limit.
pub(crate) fn check_len(table: &StepTable, long_bytes: usize) -> Result<(), NoTable> {
    let len_bytes = size::of_table(table);
    let limit_bytes = MAX_ENCODED_BYTES.min(long_bytes) as u64;
    if len_bytes <= limit_bytes {
        return Ok(());
    }
    let blocks = table.layouts().into_iter().map(|layout| layout.block_count() as u64).sum();
    Err(NoTable::TooLarge { blocks, len_bytes, limit_bytes })
}

/// The bytes that a table takes in any encoding of ours, at most.
pub(crate) fn len_bytes(table: &StepTable) -> u64 {
    size::of_table(table)
}

/// More bytes than the definition of a variable takes in any encoding of ours.
pub(crate) fn definition_bytes(def: &VariableDef) -> usize {
    usize::try_from(size::of_variable(def)).unwrap_or(usize::MAX)
}

/// The step's table that was encoded.
///
/// # Errors
/// If the bytes are no encoding of a table, or of one that breaks a rule.
pub fn decode(bytes: &[u8]) -> Result<StepTable, TableDecodeError> {
    step::decode(
        open::open(bytes, Content::StepTable)?.content_as_step_table().ok_or(TableDecodeError::Empty)?,
    )
}

/// The bytes of one layout; as [`encode`] where they would be too long.
pub fn encode_layout(layout: &Layout) -> Vec<u8> {
    let build = |builder: &mut Builder<'_>| layout::encode(builder, layout).as_union_value();
    seal(size::of_layout(layout), Content::Layout, build)
}

/// The layout that was encoded.
///
/// # Errors
/// If the bytes are no encoding of a layout, or of one that breaks a rule.
pub fn decode_layout(bytes: &[u8]) -> Result<Layout, TableDecodeError> {
    layout::decode(open::open(bytes, Content::Layout)?.content_as_layout().ok_or(TableDecodeError::Empty)?)
}

/// The bytes of a schema; as [`encode`] where they would be too long.
pub fn encode_schema(schema: &Schema) -> Vec<u8> {
    let build = |builder: &mut Builder<'_>| schema::encode(builder, schema).as_union_value();
    seal(size::of_schema(schema), Content::Schema, build)
}

/// The schema that was encoded.
///
/// # Errors
/// If the bytes are no encoding of a schema, or of one that breaks a rule.
pub fn decode_schema(bytes: &[u8]) -> Result<Schema, TableDecodeError> {
    schema::decode(open::open(bytes, Content::Schema)?.content_as_schema().ok_or(TableDecodeError::Empty)?)
}

type Builder<'a> = FlatBufferBuilder<'a>;

/// Builds the content, or the note that it is too large, and puts it into an envelope.
fn seal(
    len_bytes: u64,
    content_type: Content,
    build: impl FnOnce(&mut Builder<'_>) -> WIPOffset<UnionWIPOffset>,
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let (content_type, content) = if len_bytes <= MAX_ENCODED_BYTES as u64 {
        (content_type, build(&mut builder))
    } else {
        let note = wire::TooLarge::create(&mut builder, &wire::TooLargeArgs { len_bytes });
        (Content::TooLarge, note.as_union_value())
    };
    let envelope = wire::EnvelopeArgs { version: VERSION, content_type, content: Some(content) };
    let envelope = wire::Envelope::create(&mut builder, &envelope);
    wire::finish_envelope_buffer(&mut builder, envelope);
    builder.finished_data().to_vec()
}

#[cfg(test)]
mod tests;
