//! The pipeline itself. Each part is a process of its own (or several), joined by streams. The supervisor starts them,
//! watches and draws up the result.
//!
//! ```text
//!  simulation (4) --atoms--> helper (2) --shares--> bonds (2) --bonds--> csym (1) --symmetry--> supervisor
//!        \                       \___________________________________/                              |
//!         \--atoms--> check (1) <--symmetry-- csym          bonds --bonds--> cna (1)  <-- started by `flexpath watch symmetry`
//!                                <--structure-- cna
//! ```
//!
//! A run can be measured instead, through streams or through files ([`part_step`]). Then [`tally`] takes the place of
//! Check, and CNA is there from the start.
//!
//! Besides there is a careless [`guest`], who takes atoms, releases none, and is soon detached.
//!
//! Every part is a short program over [`inlet::Inlet`] and [`outlet::Outlet`], which are the library's subscriber and
//! publisher and what is counted of them. Parts say how they fare as lines of JSON on their standard output
//! ([`report`]). The data and the verdict travel through streams alone.
//! The command `flexpath watch` waits for the verdict, starts CNA, and has the simulation asked for half the speed.

pub mod bonds;
pub mod by_type;
pub mod check;
pub mod cna;
pub mod csym;
pub mod error;
#[cfg(feature = "files")]
pub mod files;
pub mod guest;
pub mod helper;
pub mod inlet;
pub mod outlet;
pub mod part;
pub mod part_step;
pub mod rank;
mod reach;
pub mod report;
pub mod settings;
pub mod simulation;
pub mod streams;
pub mod supervisor;
pub mod tally;

pub use part::Part;
pub use settings::Settings;
