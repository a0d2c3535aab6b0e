//! Texts that users write, and files that they or a peer leave. All readers get each text.

use crate::again;
use fp_core::Access;
use fp_transform::{Derivation, ModuleHash};
use fp_transport::{Contact, ListenAddress, Token, TokenHash, TransportPolicy};
use fp_types::{BlockId, Condition, Dtype, Epoch, SelectionExpression, validate_name};
use rustix::fs::{MemfdFlags, Mode, fchmod, memfd_create};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;

/// What begins a list of rules, which only one reader gets: it is a file.
const RULES: &str = "[[rule]]";

/// How many readers believed the text.
pub fn check(bytes: &[u8]) -> usize {
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    if text.starts_with(RULES) {
        return usize::from(access(text));
    }
    let printed: [fn(&str) -> bool; 9] = [
        again::text::<Condition>,
        again::text::<Derivation>,
        again::text::<SelectionExpression>,
        again::text::<Dtype>,
        again::text::<Epoch>,
        again::text::<BlockId>,
        again::text::<Contact>,
        again::text::<TokenHash>,
        again::text::<ModuleHash>,
    ];
    let others: [fn(&str) -> bool; 6] = [
        token,
        named_selection,
        |text| text.parse::<ListenAddress>().is_ok(),
        |text| text.parse::<TransportPolicy>().is_ok(),
        |text| validate_name(text).is_ok(),
        |text| again::bytes(text.as_bytes(), fp_core::fuzzed::meeting_address),
    ];
    printed.into_iter().chain(others).filter(|reader| reader(text)).count()
}

/// A secret is not printed, but for its digits.
fn token(text: &str) -> bool {
    let token = text.parse::<Token>();
    let same = |token: &Token| assert_eq!(token.to_hex(), text.to_lowercase());
    token.inspect(same).is_ok()
}

fn named_selection(text: &str) -> bool {
    let Ok((name, selection)) = SelectionExpression::parse_with_name(text) else { return false };
    let again = format!("{name}{selection}");
    assert_eq!(SelectionExpression::parse_with_name(&again).ok(), Some((name, selection)), "{again:?}");
    true
}

/// A file of rules that lies in memory; only its owner may write it, or it would not be read.
fn access(text: &str) -> bool {
    let memory = memfd_create("rules", MemfdFlags::CLOEXEC).expect("memory for a file");
    fchmod(&memory, Mode::RUSR | Mode::WUSR).expect("the mode of a file of our own");
    let mut file = File::from(memory);
    file.write_all(text.as_bytes()).expect("room for a file");
    let rules = Access::from_file(format!("/proc/self/fd/{}", file.as_raw_fd()));
    rules.inspect_err(|error| drop(error.to_string())).is_ok()
}
