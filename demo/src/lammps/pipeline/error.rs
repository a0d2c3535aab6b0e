//! Why a part of the pipeline could not go on.

use fp_pictures::PictureError;

use crate::lammps::science::{adjacency, atoms, bonds, check, csym, share};
use crate::lammps::{LammpsError, md, source};
use crate::shared::error::StreamError;

/// Why a part of the pipeline could not go on.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The streams.
    #[error(transparent)]
    Stream(StreamError),
    /// The rendezvous folder.
    #[error(transparent)]
    Rendezvous(#[from] flexpath::rendezvous::RendezvousError),
    /// The run's token is not there, or is none.
    #[error(transparent)]
    Token(#[from] flexpath::TokenFileError),
    /// A transform that cannot be registered.
    #[error(transparent)]
    Register(#[from] flexpath::RegisterError),
    /// Records were asked for where parts are coupled through files, which carry lists of numbers.
    #[error("{variable}: records do not go through files")]
    NoRecords {
        /// The variable.
        variable: String,
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
    Lammps(#[from] LammpsError),
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
    Picture(#[from] PictureError),
    /// Files.
    #[cfg(feature = "files")]
    #[error(transparent)]
    Files(#[from] super::files::FilesError),
    /// Files are asked for, but this program was built without them.
    #[error("this program was built without the feature `files`")]
    WithoutFiles,
    /// The token of the run lies in its rendezvous folder.
    #[error("the rendezvous of the run, {rendezvous}, is no folder")]
    NoFolder {
        /// The rendezvous.
        rendezvous: String,
    },
    /// Watch is no part of this program.
    #[error("watch is the command `flexpath watch`, which the supervisor starts")]
    Command,
    /// The part is a program of its own.
    #[error("energy is a program in Python: demo/python/energy.py")]
    InPython,
    /// What LAMMPS wrote cannot be read.
    #[error("{}: {source}", path.display())]
    NoLog {
        /// Its log.
        path: std::path::PathBuf,
        /// Why.
        r#source: std::io::Error,
    },
    /// Another thread of the part panicked.
    #[error("the thread that takes {stream} panicked")]
    Panicked {
        /// What it took.
        stream: &'static str,
    },
}

impl<E> From<E> for PartError
where
    StreamError: From<E>,
{
    fn from(error: E) -> Self {
        PartError::Stream(error.into())
    }
}
