//! Finding streams by type. Each stream that is being published is attached to for a moment, and asked what of it
//! provides the type.
//!
//! Only a stream's steps say what types it has. The publisher keeps nothing for a subscription with no variable and the
//! latest step alone.

use crate::error::record_block::RecordBlockError;
use crate::error::rendezvous::RendezvousError;
use crate::error::{OpenError, ReadError};
use crate::options::link::LinkOptions;
use crate::options::subscriber::SubscriberOptions;
use crate::records::fit::Provided;
use crate::rendezvous::{Entry, Rendezvous};
use crate::session::life::Session as _;
use crate::session::peek::look_ahead;
use crate::session::subscriber::SubscriberSession;
use crate::step::peek;
use crate::step::records::provide;
use crate::subscriber::Subscriber;
use crate::value::cohort::Cohort;
use crate::value::each::each_of;
use crate::value::limit::after;
use fp_proto::config::{QueuePolicy, SubscriptionSpec, VariableSet};
use fp_types::StepId;
use fp_types::record::{Record, RecordSchema};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Streams that are looked at at one time.
const LIMIT_AT_ONCE: usize = 64;

/// How long an entry may take to answer at all.
const KNOCK: Duration = Duration::from_secs(2);

/// How long leaving a stream may take.
const LEAVE: Duration = Duration::from_millis(500);

/// A stream that was looked at.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundStream {
    /// Its name, epoch and contact.
    pub entry: Entry,
    /// The variables that provide the type, those that fit best first; or why there are none.
    pub provided: Result<Vec<Provided>, NoProvider>,
}

/// Why a stream provides nothing, or is not known to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoProvider {
    /// Nobody answers at its contact: the entry was left behind.
    #[error("nobody answers at its contact: its entry was left behind")]
    LeftBehind,
    /// It could not be attached to.
    #[error(transparent)]
    NotAttached(Box<OpenError>),
    /// It said nothing in time: it publishes no steps now, or is not done with one.
    #[error("attached, but no step came within {waited:?}, and only a step says what types there are")]
    NoStep {
        /// How long one was waited for.
        waited: Duration,
    },
    /// Its variables do not provide the type, or what they are could not be heard.
    #[error(transparent)]
    Types(Box<ReadError>),
    /// There were more streams than could be asked in time.
    #[error("not asked in time: too many streams before it said nothing")]
    NotAsked,
}

/// Why no stream was looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The rendezvous cannot be used.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// The Rust type is no record type.
    #[error(transparent)]
    Type(#[from] RecordBlockError),
}

impl Subscriber {
    /// Finds the streams that provide records of this Rust type: as they are, converted, or through transforms of
    /// [`SubscriberOptions::with_transforms`]. Looks at all streams of the rendezvous at once, for at most `timeout`
    /// and half a second more for leaving. The streams that fit come first, the best before others. The rest follow by
    /// name, each with the reason.
    ///
    /// Of the options, rendezvous, transports, token, TLS and transforms count. The next step of a stream says what it
    /// has. So each stream is attached to, asked for no variable, and left after that step: the publisher keeps nothing
    /// for it and never waits. But a publisher that waits for its first subscribers (`min_subscribers`,
    /// [`Publisher::wait_for_subscriptions`](crate::Publisher::wait_for_subscriptions)) takes it for one of these, and
    /// begins. Where there are such publishers, leave them out, by [`Subscriber::find_among`].
    ///
    /// # Errors
    /// No rendezvous; no record type. That a stream cannot be looked at is no error.
    pub fn find<T: Record>(
        options: &SubscriberOptions,
        timeout: Duration,
    ) -> Result<Vec<FoundStream>, FindError> {
        Self::find_schema(&T::schema().map_err(RecordBlockError::from)?, options, timeout)
    }

    /// As [`Subscriber::find`], for a type that was made at run time.
    ///
    /// # Errors
    /// No rendezvous. That a stream cannot be looked at is no error.
    pub fn find_schema(
        wanted: &RecordSchema,
        options: &SubscriberOptions,
        timeout: Duration,
    ) -> Result<Vec<FoundStream>, FindError> {
        let rendezvous = match &options.link.rendezvous {
            Some(given) => given.clone(),
            None => Rendezvous::from_environment()?,
        };
        let token = options.link.run_token().map_err(RendezvousError::from)?;
        let tls = options.link.tls_options().map_err(RendezvousError::from)?;
        let entries = rendezvous.with_credentials(token, tls).list()?;
        Ok(Self::find_among(&entries, wanted, options, timeout))
    }

    /// The same among some entries of [`Rendezvous::entries`], and also for a type that was made at run time.
    pub fn find_among(
        entries: &[Entry],
        wanted: &RecordSchema,
        options: &SubscriberOptions,
        timeout: Duration,
    ) -> Vec<FoundStream> {
        let looking = Looking { entries, wanted, options, deadline: after(Instant::now(), timeout) };
        let mut found = looking.at_all();
        found.sort_by(FoundStream::compare);
        found
    }
}

impl FoundStream {
    /// Those that fit first, the best before others.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let best = |found: &Self| found.provided.as_ref().ok().and_then(|of| of.first().cloned());
        match (best(self), best(other)) {
            (Some(one), Some(other)) => one.fit.compare(&other.fit),
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
    }
}

/// A look at streams.
struct Looking<'a> {
    entries: &'a [Entry],
    wanted: &'a RecordSchema,
    options: &'a SubscriberOptions,
    deadline: Instant,
}

impl Looking<'_> {
    /// Looks at all of them, each on a thread of its own while there are not too many.
    fn at_all(&self) -> Vec<FoundStream> {
        let look = |entry: &Entry| FoundStream { entry: entry.clone(), provided: self.at(entry) };
        let found = each_of(self.entries, LIMIT_AT_ONCE, look).into_iter();
        found.map(|one| one.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Looks at one.
    fn at(&self, entry: &Entry) -> Result<Vec<Provided>, NoProvider> {
        if self.left().is_zero() {
            return Err(NoProvider::NotAsked);
        }
        if !entry.answers(KNOCK.min(self.left())) {
            return Err(NoProvider::LeftBehind);
        }
        let not_attached = |error| NoProvider::NotAttached(Box::new(error));
        let started = SubscriberSession::start(&entry.name, self.options_for(entry));
        let (shared, directory) = started.map_err(not_attached)?;
        shared.finish_opening(&directory).map_err(not_attached)?;
        let provided = self.provided(&shared);
        // What it has said counts, however it was left.
        let _ = shared.close();
        provided
    }

    /// A subscription that wants nothing but to be told of the next step, and holds nobody up.
    fn options_for(&self, entry: &Entry) -> SubscriberOptions {
        let link = LinkOptions {
            cohort: Cohort::alone(),
            collectives: None,
            lead_contact: None,
            open_timeout: self.left(),
            close_timeout: LEAVE,
            ..self.options.link.clone()
        };
        SubscriberOptions {
            link,
            name: self.options.name.clone(),
            transforms: self.options.transforms.clone(),
            publisher_contact: Some(entry.contact.clone()),
            variables: VariableSet::named(Vec::<String>::new()),
            policy: QueuePolicy::LatestOnly,
            ..SubscriberOptions::default()
        }
    }

    /// What an attached stream's next step provides.
    fn provided(&self, shared: &Arc<SubscriberSession>) -> Result<Vec<Provided>, NoProvider> {
        // Nothing is kept, and everything is looked at.
        let everything = SubscriptionSpec { variables: VariableSet::All, ..SubscriptionSpec::default() };
        shared.selected.holds_from(StepId(0), everything);
        let began = Instant::now();
        let Some(came) = shared.endpoint.wait(self.deadline, look_ahead) else {
            return Err(NoProvider::NoStep { waited: began.elapsed() });
        };
        let step = peek::ahead(shared, Some(came), began);
        let provided =
            step.and_then(|step| provide::provided(&step, self.wanted, None, self.deadline.into()));
        provided.map_err(|error| NoProvider::Types(Box::new(error)))
    }
}
