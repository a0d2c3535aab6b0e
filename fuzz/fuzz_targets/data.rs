//! Messages of the data plane.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    flexpath_fuzz::data::check(bytes);
});
