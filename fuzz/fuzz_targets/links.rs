//! What two ends of a link say before they agree, and what is said to a meeting place or a probe.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    flexpath_fuzz::links::check(bytes);
});
