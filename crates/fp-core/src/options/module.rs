//! WebAssembly modules that a subscriber hands over, and the bytes that travel for them.

use crate::options::derived_variable::MODULE;
use fp_transform::ModuleHash;
use std::sync::Arc;

/// After the mark: whether a user is known, and who that is.
pub(crate) const STAMP_BYTES: usize = 5;

/// A module that a subscriber hands over.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeployedModule {
    /// What derivations call it.
    pub name: String,
    /// Its hash: what a publisher's list of allowed modules has.
    pub hash: ModuleHash,
    /// WebAssembly.
    pub bytes: Arc<[u8]>,
}

/// Modules by their hash, each with its bytes.
pub(crate) type Code = Vec<(ModuleHash, Arc<[u8]>)>;

/// A module as it travels, without a user.
pub(crate) fn shipped(module: &DeployedModule) -> Vec<u8> {
    [&[MODULE], &[0; STAMP_BYTES][..], &module.bytes].concat()
}

/// Writes who handed modules over, whatever stood there.
pub(crate) fn vouch(derivations: &mut [Vec<u8>], uid: Option<u32>) {
    let mut stamp = [0; STAMP_BYTES];
    if let Some(uid) = uid {
        stamp[0] = 1;
        stamp[1..].copy_from_slice(&uid.to_le_bytes());
    }
    for bytes in derivations.iter_mut().filter(|bytes| bytes.first() == Some(&MODULE)) {
        if let Some(place) = bytes.get_mut(1..=STAMP_BYTES) {
            place.copy_from_slice(&stamp);
        }
    }
}

/// The user and the module.
pub(crate) fn opened(bytes: &[u8]) -> Option<(Option<u32>, &[u8])> {
    let (&mark, rest) = bytes.split_first()?;
    let (&[known, uid @ ..], module) = rest.split_first_chunk::<STAMP_BYTES>()?;
    (mark == MODULE).then(|| ((known == 1).then(|| u32::from_le_bytes(uid)), module))
}
