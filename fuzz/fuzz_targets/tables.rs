//! Tables, layouts and schemas of flatbuffers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    flexpath_fuzz::tables::check(bytes);
});
