//! What reads bytes in this crate and is seen by nobody outside, for the fuzzer in `fuzz/` alone. Each function reads
//! bytes and says them again, if it believes them.

use crate::diagnosis::words::Request;
use crate::rendezvous::address::MeetingAddress;
use crate::session::gather;
use crate::value::packed::{pack, unpack};
use fp_transform::{DerivationPlan, Derived, Memory};

/// What is asked in a probe, and what follows it.
pub fn probe_request(head: &[u8]) -> Option<Vec<u8>> {
    let (request, rest) = Request::decode(head).ok()?;
    Some([&request.encode(), rest].concat())
}

/// What a rank tells the others of its cohort through their collectives.
pub fn gathered_record(bytes: &[u8]) -> Option<Vec<u8>> {
    gather::said_again(bytes)
}

/// Such a record, of a lead that could not listen.
pub fn a_gathered_record() -> Vec<u8> {
    gather::sample()
}

/// The address of a meeting place.
pub fn meeting_address(text: &[u8]) -> Option<Vec<u8>> {
    let address: MeetingAddress = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(address.to_string().into_bytes())
}

/// What a rank derived by that plan, as it is sent.
pub fn pack_derived(plan: &DerivationPlan, derived: &Derived) -> Option<Vec<u8>> {
    pack(derived, plan.derivation().compression(), &Memory::default()).ok()
}

/// What a rank derived by that plan.
pub fn packed(plan: &DerivationPlan, bytes: &[u8]) -> Option<Vec<u8>> {
    pack_derived(plan, &unpack(plan, bytes)?)
}
