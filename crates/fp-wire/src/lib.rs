//! Generated flatbuffers code for schemas and layouts.
