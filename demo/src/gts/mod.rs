//! The second application of the Flexpath paper (section II): GTS, a particle-in-cell code of plasma fusion. Its
//! analytics are parallel histograms of several variables and the data of parallel-coordinates pictures.
//!
//! ```text
//!  generator (4 ranks) --particles--> histograms (3)  --histograms---> supervisor: table, checks, pictures
//!     |  ^                    \-----> coordinates (2) --coordinates------^
//!     \--/ exchange: particles that change domains
//! ```
//!
//! The [`generator`] follows guiding centres of ions in a torus ([`motion`]), each rank those in its own wedge. The
//! analytics take counts alone. [`histograms`] and [`coordinates`] say what they want of the particles as derivations.
//! Each rank of the generator counts its own, and the counts are merged exactly.

pub mod axes;
pub mod checks;
pub mod coordinates;
pub mod error;
pub mod exchange;
pub mod field;
pub mod found;
pub mod generator;
pub mod grid;
pub mod histograms;
pub mod motion;
pub mod particle;
pub mod processes;
pub mod run;
pub mod settings;
pub mod streams;

pub use error::GtsError;
pub use settings::Settings;
