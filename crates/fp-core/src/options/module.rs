//! WebAssembly modules that a subscriber hands over.

use fp_proto::request::Request;
use fp_transform::ModuleHash;
use std::sync::Arc;

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

impl DeployedModule {
    /// What publishers are asked to run. The lead of theirs says who hands it over.
    pub(crate) fn request(&self) -> Request {
        Request::Module { code: self.bytes.to_vec(), user: None }
    }
}
