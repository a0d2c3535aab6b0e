//! A rank's handle on the sending side.

pub(crate) mod loan;
pub(crate) mod open_step;
pub(crate) mod step_writer;
pub(crate) mod step_writer_bytes;
pub(crate) mod step_writer_records;

use crate::error::sync::SyncError;
use crate::error::{BeginError, CloseError, OpenError};
use crate::options::publisher::PublisherOptions;
use crate::publisher::step_writer::StepWriter;
use crate::session::begin;
use crate::session::life::Session as _;
use crate::session::publisher::PublisherSession;
use crate::session::sync::Syncing;
use crate::value::counters::Statistics;
use crate::value::event::Event;
use fp_proto::config::VariableSet;
use fp_types::Epoch;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A publisher rank of a stream. Dropped without [`Publisher::close`], it closes with what time `close_timeout`
/// leaves, and says nothing of how that went.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::{Publisher, PublisherOptions, Region, Variable};
/// # let place = tempfile::tempdir()?;
/// # let options = PublisherOptions::default().with_rendezvous(flexpath::Rendezvous::at(place.path())?);
/// let mut publisher = Publisher::open("heat", options)?; // such as PublisherOptions::default()
/// let temperature = Variable::global::<f64>("temperature", &[4])?;
/// for step in 0..3 {
///     let mut writer = publisher.begin_step()?;
///     writer.put(&temperature, &Region::new([0], [4])?, vec![300.0 + f64::from(step); 4])?;
///     writer.end()?;
/// }
/// publisher.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Publisher {
    pub(crate) shared: Arc<PublisherSession>,
    pub(crate) epoch: Epoch,
    pub(crate) closed: bool,
}

impl Publisher {
    /// Opens the stream: claims its name (lead) or joins its cohort (other ranks), and waits for
    /// `min_subscribers`.
    ///
    /// # Errors
    /// A bad name, a name that is taken, a rendezvous that cannot be used, ranks or subscribers that do not come.
    pub fn open(stream: &str, options: PublisherOptions) -> Result<Self, OpenError> {
        let (shared, directory) = PublisherSession::start(stream, options)?;
        finish_opening(shared, &directory)
    }

    /// The stream's name.
    pub fn stream(&self) -> &str {
        &self.shared.stream
    }

    /// The epoch of this opening.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Where this rank is reached.
    pub fn contact(&self) -> &fp_transport::Contact {
        &self.shared.endpoint.contact
    }

    /// Begins the next step. Waits while a subscription holds as much as it may, as long as its policy allows. Waits
    /// also while this rank is too far ahead of its cohort.
    ///
    /// # Errors
    /// A step is open, a rank of the cohort is lost, the wait for the cohort took `skew_timeout`.
    pub fn begin_step(&mut self) -> Result<StepWriter, BeginError> {
        let begun = begin::begin(&self.shared, false)?;
        Ok(StepWriter::new(self.shared.clone(), begun))
    }

    /// As [`Publisher::begin_step`], for a step whose blocks are put by [`StepWriter::put_stored`]. It waits for no room in
    /// bytes, and may have more in memory than [`limit_bytes`](crate::PublisherOptions::limit_bytes).
    ///
    /// # Errors
    /// As [`Publisher::begin_step`].
    pub fn begin_stored_step(&mut self) -> Result<StepWriter, BeginError> {
        let begun = begin::begin(&self.shared, true)?;
        let mut writer = StepWriter::new(self.shared.clone(), begun);
        writer.open.limit_bytes = u64::MAX;
        Ok(writer)
    }

    /// How many bytes may be put now before a bound is met: what live steps leave of
    /// [`limit_bytes`](crate::PublisherOptions::limit_bytes), and of the bound of the process.
    pub fn spare_bytes(&self) -> u64 {
        self.shared.server.room.spare_bytes()
    }

    /// Whether a subscription has started and not ended: what is put would be kept.
    pub fn has_subscribers(&self) -> bool {
        self.shared.endpoint.inspect(|state| state.machine.has_subscribers())
    }

    /// The variables that subscriptions want of the steps to come. They select them, or something is made of them, or
    /// conditions name them. What a reserve keeps is not counted. Where a selection changes, both are wanted until it is
    /// agreed from which step on the new one holds.
    pub fn wanted_variables(&self) -> VariableSet {
        self.shared.wanted_variables()
    }

    /// Waits up to `timeout` until every lossless subscription has released all steps that this rank has ended. Those
    /// are `EveryStep` and `EveryKth`; the others may drop steps, so nobody waits for them. Each rank waits for its own
    /// steps. (`sync` of the SAVIME staging paper, section 3.1.)
    ///
    /// # Errors
    /// Steps still held when the time is up, with the subscriptions that hold them; a rank of the cohort lost.
    pub fn sync(&self, timeout: Duration) -> Result<(), SyncError> {
        let mut syncing = Syncing::begin(&self.shared, timeout)?;
        let looked = self.shared.endpoint.wait(syncing.deadline, |state, _| syncing.look(state));
        syncing.outcome(looked)
    }

    /// What happened on the stream since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        self.shared.endpoint.inspect(|state| state.role.life.events.take())
    }

    /// What was counted.
    pub fn statistics(&self) -> Statistics {
        self.shared.counters.read(&self.shared.endpoint.dial.domain, &self.shared.endpoint.listened)
    }

    /// The pool's counters: segments made, recycled, retired.
    pub fn pool_statistics(&self) -> fp_transport::PoolStats {
        self.shared.server.pool.stats()
    }

    /// Steps that wait for each subscription and are held by its members, at the lead; on other ranks what is live
    /// there.
    pub fn queue_depth(&self) -> Vec<(fp_types::SubscriptionId, usize)> {
        self.shared.endpoint.inspect(|state| state.machine.queue_depth())
    }

    /// What each data link of this rank runs over, and why nothing better.
    pub fn transports(&self) -> Vec<String> {
        self.shared
            .server
            .transports()
            .into_iter()
            .map(|(peer, text)| format!("pid {}: {text}", peer.pid))
            .collect()
    }

    /// Closes the stream: what was published is still delivered, at most as long as `close_timeout`.
    ///
    /// # Errors
    /// Steps still held at the deadline, a rank lost.
    pub fn close(mut self) -> Result<(), CloseError> {
        self.closed = true;
        self.shared.close()
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if !self.closed {
            // Who wants to know how it went calls `close`.
            self.shared.close_dropped();
        }
    }
}

fn finish_opening(shared: Arc<PublisherSession>, directory: &str) -> Result<Publisher, OpenError> {
    let started = Instant::now();
    let (deadline, opening) = shared.opening(started, directory);
    let opened = shared.endpoint.wait(deadline, |state, _| opening.look_at(state));
    let epoch = opening.outcome(opened)?;
    let publisher = Publisher { shared, epoch, closed: false };
    publisher.shared.wait_for_subscribers(started)?;
    Ok(publisher)
}
