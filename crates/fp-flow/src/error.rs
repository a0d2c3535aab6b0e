//! Why there is no window, and why a family could not be opened.

use fp_core::rendezvous::RendezvousError;
use fp_core::{BeginError, PutError, ReadError, StepId};

use crate::key::{Key, KeyFault, KeyOf};

/// Why streams give no windows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// No stream was given.
    #[error("no stream was given: windows are made of one or more")]
    NoStreams,
    /// Windows that have no rows, or that leave rows out.
    #[error(
        "windows of {length} rows, {hop} rows apart: both are at least 1, and they are no further apart than long"
    )]
    Length {
        /// Rows of a window.
        length: usize,
        /// Rows from the beginning of one window to that of the next.
        hop: usize,
    },
    /// A stream gives fewer steps at one time than a window holds: it would never be complete.
    #[error(
        "stream {stream:?}: it gives {credit} steps at one time, and windows of {length} rows need {least}: subscribe to it \
         with_limit_steps({least}) or more, and with_credit_steps, if that is set, of as many"
    )]
    Credit {
        /// The stream.
        stream: String,
        /// The steps that it gives at one time.
        credit: u32,
        /// Rows of a window.
        length: usize,
        /// The fewest steps with which it can be done.
        least: u64,
    },
    /// A step has no key. It was let go of, and the next call goes on behind it.
    #[error("stream {stream:?}, step {step}: {source}")]
    Key {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// Why.
        r#source: KeyFault,
    },
    /// The key of a step is lower than that of the one before. It was let go of, and the next call goes on behind it.
    #[error(
        "stream {stream:?}, step {step}: {of} is {key}, and was {before} before: it must rise while the stream is not opened anew"
    )]
    Falling {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// What keys are.
        of: KeyOf,
        /// The key of the step.
        key: Key,
        /// That of the step before.
        before: Key,
    },
    /// The program holds so many windows that a stream gives no further step. Once some are dropped, calls go on.
    #[error(
        "stream {stream:?}: {held} of its steps are held by windows, and it gives {credit} at one time: drop windows before the \
         next one is taken, or subscribe with more with_limit_steps"
    )]
    Held {
        /// The stream.
        stream: String,
        /// Steps that are held.
        held: u32,
        /// The steps that it gives at one time.
        credit: u32,
    },
    /// A stream cannot be taken from.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What a function makes of a window may fail as it likes.
pub type TransformFailure = Box<dyn std::error::Error + Send + Sync>;

/// Why windows are not published any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// There are no windows.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// No step can be begun.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The step cannot be ended.
    #[error(transparent)]
    Put(#[from] PutError),
    /// The function failed. The step that it had was given up.
    #[error("the window of the keys {first} to {last}: {source}")]
    Transform {
        /// The first key of the window.
        first: Key,
        /// The last key.
        last: Key,
        /// Why.
        r#source: TransformFailure,
    },
}

/// Why a family could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FamilyError {
    /// Ranks of a cohort do not find members in the same order.
    #[error(
        "a family is subscribed to by one rank, and this is rank {rank} of {size}: open it on one rank alone"
    )]
    Cohort {
        /// The rank.
        rank: u32,
        /// Ranks of the cohort.
        size: u32,
    },
    /// Options that name one publisher cannot be those of several.
    #[error(
        "the options name the contact of one publisher, and a family has several: leave with_publisher_contact out"
    )]
    Contact,
    /// A family that may have no member.
    #[error("limit_members is 0, so nothing could be taken: set it to 1 or more")]
    NoRoom,
    /// The rendezvous cannot be used.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// No thread can be started to look for members.
    #[error("no thread can be started that looks for members: {0}")]
    Thread(std::io::Error),
}
