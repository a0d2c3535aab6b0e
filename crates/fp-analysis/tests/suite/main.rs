//! Features of fields: against a flood fill, cut in every way, and over streams.

mod fields;
mod labelling;
mod moving;
mod oracle;
mod streams;
mod tracking;
