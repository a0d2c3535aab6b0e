//! Why LAMMPS could not do something.

/// Why LAMMPS could not do something.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LammpsError {
    /// No shared library of LAMMPS is there: it has to be installed.
    #[error("LAMMPS is not installed: tried {}", tried.join("; "))]
    NotInstalled {
        /// Each name tried, with what the loader said.
        tried: Vec<String>,
    },
    /// The library lacks a function that is needed, so it is another version than we know.
    #[error("the LAMMPS library has no function {symbol}")]
    MissingSymbol {
        /// The function.
        symbol: &'static str,
    },
    /// The library counts time steps in numbers of another width than we know.
    #[error(
        "this LAMMPS has time steps of {bigint_len} bytes and atom ids of {tagint_len}: 8 and 4 or 8 are known"
    )]
    UnknownSizes {
        /// Width of a time step.
        bigint_len: i32,
        /// Width of an atom id.
        tagint_len: i32,
    },
    /// A text with a zero byte inside.
    #[error("{text:?} has a zero byte")]
    ZeroByte {
        /// The text.
        text: String,
    },
    /// LAMMPS made no instance.
    #[error("LAMMPS could not be started with {arguments:?}")]
    NotStarted {
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// LAMMPS refused a command (only from builds with exceptions; others end the process).
    #[error("LAMMPS refused `{command}`: {reason}")]
    Refused {
        /// The command.
        command: String,
        /// What LAMMPS said.
        reason: String,
    },
    /// A per-atom quantity or compute that LAMMPS does not have, or not of the kind expected.
    #[error("LAMMPS has no per-atom {what} of the kind expected on step {step}")]
    NoSuchData {
        /// Its name.
        what: String,
        /// The time step.
        step: i64,
    },
    /// A name that cannot be part of a command.
    #[error("{path:?} cannot be named to LAMMPS: it is no plain text")]
    BadPath {
        /// The path.
        path: std::path::PathBuf,
    },
    /// The launcher's variables make no sense.
    #[error(transparent)]
    Launch(#[from] crate::lammps::launch::LaunchError),
}
