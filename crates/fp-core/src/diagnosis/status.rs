//! How the ranks of a running stream are: asked of them, without taking part. An observer is no subscriber: no step is
//! kept for it, and nobody waits for it.

use crate::diagnosis::{policy_of, tls_of};
use crate::error::rendezvous::RendezvousError;
use crate::options::link::LinkOptions;
use crate::rendezvous::{Entry, Rendezvous};
use crate::value::limit::after;
use fp_proto::codec;
use fp_proto::message::Message;
use fp_transport::{
    Contact, DialError, DialOptions, Link, LinkError, OutFrame, PolicyError, Purpose, TlsError,
    TokenFileError, dial,
};
use std::time::{Duration, Instant};

pub use fp_proto::status::report::{
    CohortStatus, LinkStatus, LinkWith, NoAnswer, ProcessStatus, RankPhase, RankStatus, StatusRefusal,
    StatusReport, StatusScope, StepCounts, SubscriptionStatus, Unanswered, Wait, WaitOn,
};

/// How long a rank that lives may take to answer: two heartbeats, as long as nobody set a shorter silence.
pub const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// Why nothing is known of a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatusError {
    /// The rendezvous cannot be used.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// `FLEXPATH_TRANSPORTS` cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// TLS is configured and cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The token of the run cannot be read.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// Nobody publishes the stream.
    #[error("stream {stream:?}: nobody publishes it: no entry in {directory} has that name and answers")]
    NotFound {
        /// The stream.
        stream: String,
        /// The rendezvous directory.
        directory: String,
    },
    /// Whoever was asked says nothing.
    #[error(
        "{who} does not answer: nothing within {waited:?} from {contact}. It is stopped, or hangs, or its host is gone"
    )]
    Silent {
        /// Who: the lead of a stream, or a rank.
        who: String,
        /// Where.
        contact: Box<Contact>,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It cannot be dialled.
    #[error(transparent)]
    Dial(Box<DialError>),
    /// It refuses an answer.
    #[error("{who} refuses to answer: {refusal}")]
    Refused {
        /// Who.
        who: String,
        /// Why.
        refusal: StatusRefusal,
    },
    /// The link was closed, or what came over it is no answer.
    #[error("{who} gave no answer: {what}")]
    NoAnswer {
        /// Who.
        who: String,
        /// What came instead.
        what: String,
    },
}

/// Asks the lead of a stream how its ranks are, and with [`StatusScope::Stream`] those of its subscribers. Ranks that do
/// not answer within a heartbeat are named in the report. Takes at most `timeout`, usually [`STATUS_TIMEOUT`].
///
/// Of the options, rendezvous, transports, token and TLS count.
///
/// # Errors
/// Nobody publishes the stream. Its lead does not answer (it is rank 0, and named so), or refuses. An option cannot be
/// used.
pub fn status(
    stream: &str,
    scope: StatusScope,
    link: &LinkOptions,
    timeout: Duration,
) -> Result<StatusReport, StatusError> {
    let rendezvous = match &link.rendezvous {
        Some(given) => given.clone(),
        None => Rendezvous::from_environment()?,
    };
    let asking = Asking::new(link, timeout)?;
    for entry in rendezvous.list()?.into_iter().filter(|entry| entry.name == stream) {
        let who = format!("rank 0, the lead of stream {stream:?} (process {})", entry.contact.pid);
        match asking.ask(&who, &entry.contact, Some(&entry), scope) {
            // Left behind, or on its way out.
            Err(StatusError::Dial(error)) => tracing::debug!(%error, stream, "an entry is passed over"),
            outcome => return outcome,
        }
    }
    let directory = rendezvous.to_string();
    Err(StatusError::NotFound { stream: stream.to_owned(), directory })
}

/// As [`status`], of the rank at this contact: of any rank that listens, whatever becomes of its lead. Usually a lone
/// subscriber does not: its publisher is asked for it, by [`status`] with [`StatusScope::Stream`].
///
/// # Errors
/// As [`status`].
pub fn status_at(
    contact: &Contact,
    scope: StatusScope,
    link: &LinkOptions,
    timeout: Duration,
) -> Result<StatusReport, StatusError> {
    Asking::new(link, timeout)?.ask("the rank", contact, None, scope)
}

/// How ranks are asked, and until when.
struct Asking {
    options: DialOptions,
    began: Instant,
    deadline: Instant,
}

impl Asking {
    fn new(link: &LinkOptions, timeout: Duration) -> Result<Self, StatusError> {
        let began = Instant::now();
        let deadline = after(began, timeout);
        let options = DialOptions::new(deadline)
            .with_purpose(Purpose::Control)
            .with_token(link.run_token()?)
            .with_tls(tls_of(link)?)
            .with_policy(policy_of(link)?);
        Ok(Self { options, began, deadline })
    }

    fn ask(
        &self,
        who: &str,
        contact: &Contact,
        entry: Option<&Entry>,
        scope: StatusScope,
    ) -> Result<StatusReport, StatusError> {
        let silent = || StatusError::Silent {
            who: who.to_owned(),
            contact: Box::new(contact.clone()),
            waited: self.began.elapsed(),
        };
        let options = self.options.clone().with_epoch(entry.map(|entry| entry.epoch.0));
        let mut link = dial(contact, &options).map_err(|error| {
            let is_late = matches!(error, DialError::Deadline { .. });
            if is_late { silent() } else { StatusError::Dial(Box::new(error)) }
        })?;
        match self.exchange(&mut link, scope) {
            Ok(Message::Status { report, .. }) => Ok(*report),
            Ok(Message::StatusRefused { reason, .. }) => {
                Err(StatusError::Refused { who: who.to_owned(), refusal: reason })
            }
            Ok(other) => Err(StatusError::NoAnswer { who: who.to_owned(), what: other.name().to_owned() }),
            Err(_) if Instant::now() >= self.deadline => Err(silent()),
            Err(what) => Err(StatusError::NoAnswer { who: who.to_owned(), what }),
        }
    }

    /// Asks, and gives what comes that is no sign of life.
    fn exchange(&self, link: &mut Link, scope: StatusScope) -> Result<Message, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let patience_ms = u32::try_from(left.as_millis()).unwrap_or(u32::MAX) / 2;
        let question = Message::AskStatus { request: 0, scope, patience_ms };
        let words = |error: LinkError| error.to_string();
        link.send_all(OutFrame::new(codec::encode(&question)), self.deadline).map_err(words)?;
        loop {
            let frame = link.recv_deadline(self.deadline).map_err(words)?;
            let message = codec::decode(&frame.head).map_err(|error| error.to_string())?;
            if message != Message::Heartbeat {
                return Ok(message);
            }
        }
    }
}
