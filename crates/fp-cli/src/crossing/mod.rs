//! What `flexpath forward` and `flexpath gate` say to each other, over one connection that `forward` dials.
//!
//! `forward` offers a stream. The gate answers what it has of it. Then come steps, each as a record of `fp-spool`, and
//! the gate says which of them all its subscribers have taken. `forward` keeps a step until then. So whichever of the
//! two is killed, and wherever the way between them is cut, no step is lost and none comes twice. What its subscribers ask of
//! the simulation goes back.

mod note;
mod packed;
mod wanted;

pub(crate) use note::{Mark, Note, Request, VERSION, VERSION_PLAIN, VERSION_RUNS, VERSION_SELECTED};
pub(crate) use packed::{PackedError, pack, unpack};
pub(crate) use wanted::Wanted;
