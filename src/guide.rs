//! The guides, as they stand in the folder `docs` of the repository. Tests run their programs. Links to files lead to the
//! repository.

#[doc = include_str!("../docs/access.md")]
pub mod access {}

#[doc = include_str!("../docs/conventions.md")]
pub mod conventions {}

#[doc = include_str!("../docs/derived.md")]
pub mod derived {}

#[doc = include_str!("../docs/environment.md")]
pub mod environment {}

#[doc = include_str!("../docs/features.md")]
pub mod features {}

#[doc = include_str!("../docs/glossary.md")]
pub mod glossary {}

#[doc = include_str!("../docs/policies.md")]
pub mod policies {}

#[doc = include_str!("../docs/rendezvous.md")]
pub mod rendezvous {}

#[doc = include_str!("../docs/steering.md")]
pub mod steering {}

#[doc = include_str!("../docs/transforms.md")]
pub mod transforms {}

#[doc = include_str!("../docs/transports.md")]
pub mod transports {}

#[doc = include_str!("../docs/types.md")]
pub mod types {}

#[doc = include_str!("../docs/watches.md")]
pub mod watches {}

#[doc = include_str!("../docs/windows.md")]
pub mod windows {}

#[doc = include_str!("../docs/workers.md")]
pub mod workers {}
