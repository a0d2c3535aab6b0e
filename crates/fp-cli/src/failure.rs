//! Why the command failed: every message says what, where, and what to do about it.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use fp_core::connection::ConnectionError;
use fp_core::diagnosis::ProbeError;
use fp_core::diagnosis::status::StatusError;
use fp_core::rendezvous::RendezvousError;
use fp_core::{CloseError, Dtype, OpenError, ReadError, RequestError, StepId, TokenFileError};
use fp_spool::SpoolError;

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The rendezvous cannot be used.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// The stream cannot be opened.
    #[error("{source}{}", hint(alive))]
    Open {
        /// Why.
        r#source: Box<OpenError>,
        /// The streams that there are.
        alive: Vec<String>,
    },
    /// A step, or something in it, cannot be read.
    #[error("{0}")]
    Read(Box<ReadError>),
    /// The simulation did not take what it was asked for, or is not known to.
    #[error("{0}")]
    Request(Box<RequestError>),
    /// The stream could not be left in order.
    #[error(transparent)]
    Close(#[from] CloseError),
    /// Nothing came.
    #[error(
        "stream {stream:?}: no step within {waited:?}; it is open, but publishes nothing now. Wait longer with --timeout"
    )]
    NoStep {
        /// The stream.
        stream: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The stream is over, and not because its publisher closed it, or before there was a step.
    #[error("stream {stream:?}: {ending}")]
    Ended {
        /// The stream.
        stream: String,
        /// Why.
        ending: String,
    },
    /// Elements that have no text.
    #[error("stream {stream:?}, variable {variable:?}: elements of type {dtype} cannot be shown")]
    NotShown {
        /// The stream.
        stream: String,
        /// The variable.
        variable: String,
        /// Its element type.
        dtype: Dtype,
    },
    /// What a picture cannot show.
    #[error("stream {stream:?}, step {step}, variable {variable:?}: {what}")]
    NotDrawn {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Why.
        what: String,
    },
    /// Records whose bytes are none, or whose texts or names are not.
    #[error("stream {stream:?}, variable {variable:?}: {what}")]
    Unreadable {
        /// The stream.
        stream: String,
        /// The variable.
        variable: String,
        /// What is wrong.
        what: String,
    },
    /// Nothing is known of how a stream is.
    #[error(transparent)]
    Status(Box<StatusError>),
    /// The token of the run cannot be read.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// No token can be made.
    #[error("no token is made: {0}")]
    NoToken(String),
    /// Others cannot be answered.
    #[error("cannot listen for others: {source}. {advice}")]
    Listen {
        /// Why.
        r#source: Box<ProbeError>,
        /// What to do about it.
        advice: String,
    },
    /// There is no meeting place.
    #[error("no meeting place: {0}")]
    Meet(String),
    /// There is no connection, or nobody can be listened to.
    #[error(transparent)]
    Connection(ConnectionError),
    /// A gate, or what is forwarded to it, cannot go on.
    #[error("the gate: {0}")]
    Gate(String),
    /// What was tested is of no use.
    #[error("no transport works between the two ends; the lines above say why")]
    NothingWorks,
    /// A file of step records cannot be read or written.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// A folder of a stager, or a file in it, cannot be used.
    #[error("{what}: {source}")]
    Shelf {
        /// Which, and what of it.
        what: String,
        /// Why.
        r#source: io::Error,
    },
    /// The stream under which a file is replayed cannot be opened, or a step of it not be begun or ended.
    #[error("{0}")]
    Publish(Box<dyn Error + Send + Sync>),
    /// A step of a file cannot be published.
    #[error("{}, step {step}: {source}", path.display())]
    Replay {
        /// The file.
        path: PathBuf,
        /// The step.
        step: StepId,
        /// Why.
        r#source: Box<dyn Error + Send + Sync>,
    },
    /// A step breaks a convention. What is wrong was printed.
    #[error("stream {stream:?}: the step breaks a convention in {violations} places; they are printed above")]
    Violations {
        /// The stream.
        stream: String,
        /// How often.
        violations: usize,
    },
    /// Nothing says what a step is to be held against.
    #[error(
        "stream {stream:?}: the step has the marks of no convention that is known; name one with --convention to see what is missing"
    )]
    NoConvention {
        /// The stream.
        stream: String,
    },
    /// A bench failed; its own folder knows how.
    #[error(transparent)]
    Bench(Box<dyn Error + Send + Sync>),
    /// What another program than `flexpath` does with a stream failed.
    #[error("{0}")]
    Other(Box<dyn Error + Send + Sync>),
    /// What was asked for cannot be, as wrong usage is told.
    #[error("{0}")]
    Usage(String),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// The exit status: a script can tell a step that is wrong from a command that failed.
    pub(crate) fn status(&self) -> u8 {
        if matches!(self, Self::Violations { .. }) { 3 } else { 1 }
    }

    /// For what goes wrong with a stream that is published.
    pub(crate) fn publishing(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Publish(Box::new(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(Box::new(error))
    }
}

impl From<StatusError> for Failure {
    fn from(error: StatusError) -> Self {
        Self::Status(Box::new(error))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        // What we print can always be written as JSON: only the output itself fails.
        Self::Output(error.into())
    }
}

/// The streams that there are, for whoever asked for another.
fn hint(alive: &[String]) -> String {
    match alive {
        [] => {
            "\nNo stream is being published here; `flexpath ls --all` shows what was left behind.".to_owned()
        }
        names => format!("\nThese streams are being published: {}.", names.join(", ")),
    }
}
