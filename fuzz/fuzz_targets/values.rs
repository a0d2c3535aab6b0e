//! Conditions, derivations, record types and their values, compressed blocks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    flexpath_fuzz::values::check(bytes);
});
