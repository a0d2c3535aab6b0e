//! Why a part of the pipeline could not go on.

use std::path::PathBuf;
use std::time::Duration;

use crate::{adjacency, atoms, bonds, check, csym, lammps, md, picture, share, source};

/// Why a part of the pipeline could not go on.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The launcher's variables make no sense.
    #[error(transparent)]
    Cohort(#[from] flexpath::CohortError),
    /// The rendezvous folder.
    #[error(transparent)]
    Rendezvous(#[from] flexpath::rendezvous::RendezvousError),
    /// The run's token is not there, or is none.
    #[error("the run's token, {}: {source}", path.display())]
    Token {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A stream could not be opened.
    #[error(transparent)]
    Open(#[from] flexpath::OpenError),
    /// A step could not be begun.
    #[error(transparent)]
    Begin(#[from] flexpath::BeginError),
    /// A variable could not be put.
    #[error(transparent)]
    Put(#[from] flexpath::PutError),
    /// A variable could not be taken.
    #[error(transparent)]
    Read(#[from] flexpath::ReadError),
    /// A stream could not be closed in order.
    #[error(transparent)]
    Close(#[from] flexpath::CloseError),
    /// A variable that cannot be.
    #[error(transparent)]
    Variable(#[from] flexpath::VariableError),
    /// A type of records that cannot be.
    #[error(transparent)]
    Type(#[from] flexpath::record::RecordError),
    /// Records that cannot be put.
    #[error(transparent)]
    Records(#[from] flexpath::RecordBlockError),
    /// A transform that cannot be asked for.
    #[error(transparent)]
    Ask(#[from] flexpath::DerivationError),
    /// A transform that cannot be registered.
    #[error(transparent)]
    Register(#[from] flexpath::RegisterError),
    /// Records were asked for where parts are coupled through files, which carry lists of numbers.
    #[error("{variable}: records do not go through files")]
    NoRecords {
        /// The variable.
        variable: String,
    },
    /// A stream ended, but not because its publisher closed it.
    #[error("stream {stream} has ended: {reason}")]
    Ended {
        /// The stream.
        stream: &'static str,
        /// Why.
        reason: flexpath::EndReason,
    },
    /// No step came.
    #[error("stream {stream}: no step within {waited:?}")]
    NoStep {
        /// The stream.
        stream: &'static str,
        /// How long.
        waited: Duration,
    },
    /// Two streams that belong together step by step do not.
    #[error("stream {stream} is at time step {found:?}, but {expected} is wanted")]
    OutOfStep {
        /// The stream.
        stream: &'static str,
        /// The time step wanted.
        expected: i64,
        /// The one that came; none at the stream's end.
        found: Option<i64>,
    },
    /// A list of numbers that is no whole number of rows.
    #[error("{variable}: {found} numbers are no rows of {width}")]
    NoRows {
        /// The variable.
        variable: String,
        /// How many numbers.
        found: usize,
        /// Numbers in a row.
        width: usize,
    },
    /// A number that is no class.
    #[error("{number} is no structure class")]
    NoClass {
        /// The number.
        number: u8,
    },
    /// The first step, which all others are compared with, never came.
    #[error("no reference values of the first step")]
    NoStart,
    /// The simulation.
    #[error(transparent)]
    Source(#[from] source::SourceError),
    /// LAMMPS.
    #[error(transparent)]
    Lammps(#[from] lammps::LammpsError),
    /// The built-in molecular dynamics.
    #[error(transparent)]
    MolecularDynamics(#[from] md::MdError),
    /// Lists of atoms that disagree.
    #[error(transparent)]
    Atoms(#[from] atoms::AtomError),
    /// Atoms that cannot be shared out.
    #[error(transparent)]
    Share(#[from] share::ShareError),
    /// Atoms among which no pairs can be found.
    #[error(transparent)]
    Bonds(#[from] bonds::BondsError),
    /// Pairs that make no graph.
    #[error(transparent)]
    Adjacency(#[from] adjacency::AdjacencyError),
    /// No central symmetry.
    #[error(transparent)]
    Symmetry(#[from] csym::SymmetryError),
    /// Results that cannot be compared.
    #[error(transparent)]
    Check(#[from] check::CheckError),
    /// No picture.
    #[error(transparent)]
    Picture(#[from] picture::PictureError),
    /// Files.
    #[cfg(feature = "files")]
    #[error(transparent)]
    Files(#[from] super::files::FilesError),
    /// Files are asked for, but this program was built without them.
    #[error("this program was built without the feature `files`")]
    WithoutFiles,
    /// Another thread of the part panicked.
    #[error("the thread that takes {stream} panicked")]
    Panicked {
        /// What it took.
        stream: &'static str,
    },
}
