//! Texts that users and files have.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    flexpath_fuzz::texts::check(bytes);
});
