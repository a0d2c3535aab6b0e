//! What one handle has a meeting place do, on a thread of its own: it registers the handle's entries, renews them, and
//! looks names up. No call of the handle waits for it. What it finds is reported, as is what keeps it from asking.
//!
//! The thread is there while there are entries to renew or names to look up. If the place goes away, it is dialled again
//! and again, and told all entries anew.

use crate::error::rendezvous::RendezvousError;
use crate::rendezvous::conversation::{Conversation, Meeting};
use fp_proto::config::ContactText;
use fp_proto::effect::Listing;
use fp_proto::meeting::{Entry, RENEWAL, Reply, Request};
use fp_types::Epoch;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::time::Timespec;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How soon a place that is away is dialled again.
const AGAIN: Duration = Duration::from_millis(250);

/// How often names are looked up at most: a place serves many.
const PACE: Duration = Duration::from_millis(200);

/// How long a link is kept over which nothing is asked.
const IDLE: Duration = Duration::from_secs(3);

/// What comes back to the handle.
pub(crate) enum News {
    /// The entries of a name.
    Listed(Vec<Listing>),
    /// The place cannot be asked.
    Trouble(Box<RendezvousError>),
    /// It can be asked again.
    Answers,
}

type Key = (String, Epoch);

#[derive(Default)]
struct Work {
    own: BTreeMap<Key, ContactText>,
    farewells: Vec<Key>,
    sought: BTreeSet<String>,
    /// What was found last, by name.
    listed: BTreeMap<String, Vec<Listing>>,
    is_running: bool,
    is_left: bool,
}

struct Shared {
    meeting: Meeting,
    work: Mutex<Work>,
    bell: OwnedFd,
    report: Box<dyn Fn(News) + Send + Sync>,
}

/// A handle's use of a meeting place.
pub(crate) struct Registrar {
    shared: Arc<Shared>,
    /// The process that the thread belongs to.
    pid: u32,
}

impl Registrar {
    pub(crate) fn new(
        meeting: Meeting,
        report: impl Fn(News) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Shared { meeting, work: Mutex::default(), bell, report: Box::new(report) };
        Ok(Self { shared: Arc::new(shared), pid: fp_transport::own_pid() })
    }

    /// Keeps this entry registered from now on.
    pub(crate) fn publish(&self, name: &str, epoch: Epoch, contact: ContactText) {
        self.change(|work| drop(work.own.insert((name.to_owned(), epoch), contact)));
    }

    /// Has this entry taken away.
    pub(crate) fn withdraw(&self, name: &str, epoch: Epoch) {
        self.change(|work| {
            let key = (name.to_owned(), epoch);
            work.own.remove(&key);
            work.farewells.push(key);
        });
    }

    /// Looks a name up; what is found is reported.
    pub(crate) fn seek(&self, name: &str) {
        self.change(|work| {
            work.sought.insert(name.to_owned());
        });
    }

    /// What was found last.
    pub(crate) fn listed(&self, name: &str) -> Vec<Listing> {
        self.shared.lock().listed.get(name).cloned().unwrap_or_default()
    }

    /// Where the one is who opened a name as this epoch, as was found last.
    pub(crate) fn contact_of(&self, epoch: Epoch) -> Option<String> {
        let work = self.shared.lock();
        let found = work.listed.values().flatten().find(|listing| listing.epoch == epoch);
        found.map(|listing| listing.contact.0.clone())
    }

    fn change(&self, change: impl FnOnce(&mut Work)) {
        let mut work = self.shared.lock();
        change(&mut work);
        if !work.is_running && !work.is_left {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("flexpath-meet".to_owned());
            match thread.spawn(move || Worker::new(shared).run()) {
                Ok(_) => work.is_running = true,
                Err(error) => {
                    let place = self.shared.meeting.address.to_string();
                    drop(work);
                    let why = format!("no thread for it can be started: {error}");
                    return (self.shared.report)(News::Trouble(Box::new(RendezvousError::Away {
                        place,
                        why,
                    })));
                }
            }
        }
        drop(work);
        self.shared.ring();
    }
}

impl Drop for Registrar {
    fn drop(&mut self) {
        // A forked child has not the thread, which may have held the lock.
        if fp_transport::own_pid() == self.pid {
            self.shared.lock().is_left = true;
            self.shared.ring();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // The counter can only be full if it was rung already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }
}

/// The thread.
struct Worker {
    shared: Arc<Shared>,
    talk: Option<Conversation>,
    /// What the place was told over this link.
    told: BTreeSet<Key>,
    renewal: Instant,
    next_look: Instant,
    asked: Instant,
    in_trouble: bool,
}

/// What a round has to do.
struct Round {
    own: BTreeMap<Key, ContactText>,
    farewells: Vec<Key>,
    sought: BTreeSet<String>,
}

impl Worker {
    fn new(shared: Arc<Shared>) -> Self {
        let now = Instant::now();
        let told = BTreeSet::new();
        Self { shared, talk: None, told, renewal: now, next_look: now, asked: now, in_trouble: false }
    }

    fn run(mut self) {
        while let Some(round) = self.take() {
            let due = self.work(&round).unwrap_or_else(|error| self.lost(error));
            self.rest(due);
        }
    }

    /// What is to be done now; `None`: nothing any more.
    fn take(&mut self) -> Option<Round> {
        let mut work = self.shared.lock();
        let farewells = std::mem::take(&mut work.farewells);
        let is_idle = work.own.is_empty() && work.sought.is_empty() && farewells.is_empty();
        if work.is_left || (is_idle && self.asked.elapsed() >= IDLE) {
            work.is_running = false;
            drop(work);
            // Its end tells the place to forget what came over this link.
            self.talk = None;
            return None;
        }
        Some(Round { own: work.own.clone(), farewells, sought: work.sought.clone() })
    }

    /// Does it; says when to look again.
    fn work(&mut self, round: &Round) -> Result<Instant, RendezvousError> {
        if let Some(talk) = &mut self.talk {
            talk.check()?;
        }
        round.farewells.iter().try_for_each(|key| self.withdraw(key))?;
        if !round.own.is_empty() {
            self.register(&round.own)?;
        }
        if !round.sought.is_empty() && Instant::now() >= self.next_look {
            self.next_look = Instant::now() + PACE;
            round.sought.iter().try_for_each(|name| self.look(name, &round.own))?;
        }
        Ok(self.due())
    }

    fn due(&self) -> Instant {
        let work = self.shared.lock();
        let look = (!work.sought.is_empty()).then_some(self.next_look);
        let renewal = (!work.own.is_empty()).then_some(self.renewal);
        let idle = self.asked + IDLE;
        look.into_iter().chain(renewal).min().unwrap_or(idle)
    }

    fn register(&mut self, own: &BTreeMap<Key, ContactText>) -> Result<(), RendezvousError> {
        let renews = Instant::now() >= self.renewal;
        for (key, contact) in own {
            if renews || !self.told.contains(key) {
                let (name, epoch) = key.clone();
                self.ask(&Request::Register(Entry { name, epoch, contact: contact.clone() }))?;
                self.told.insert(key.clone());
            }
        }
        if renews {
            self.renewal = Instant::now() + RENEWAL;
        }
        Ok(())
    }

    fn withdraw(&mut self, key: &Key) -> Result<(), RendezvousError> {
        if !self.told.remove(key) {
            return Ok(());
        }
        let (name, epoch) = key.clone();
        self.ask(&Request::Withdraw { name, epoch }).map(|_| ())
    }

    /// Looks a name up. Who claims it must not believe a place that may not know all of its entries yet.
    fn look(&mut self, name: &str, own: &BTreeMap<Key, ContactText>) -> Result<(), RendezvousError> {
        let reply = self.ask(&Request::Lookup { name: name.to_owned() })?;
        let Reply::Listed { settled, entries } = reply else { return Ok(()) };
        if !settled && own.keys().any(|(claimed, _)| claimed == name) {
            return Ok(());
        }
        let listing = |entry: Entry| Listing { epoch: entry.epoch, contact: entry.contact };
        let listing: Vec<Listing> = entries.into_iter().map(listing).collect();
        let mut work = self.shared.lock();
        work.sought.remove(name);
        work.listed.insert(name.to_owned(), listing.clone());
        drop(work);
        (self.shared.report)(News::Listed(listing));
        Ok(())
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, RendezvousError> {
        if self.talk.is_none() {
            self.told.clear();
            self.talk = Some(self.shared.meeting.dial()?);
        }
        self.asked = Instant::now();
        let Some(talk) = &mut self.talk else { return Ok(Reply::Done) };
        let reply = talk.ask(request)?;
        if std::mem::take(&mut self.in_trouble) {
            tracing::info!(place = %self.shared.meeting.address, "the meeting place answers again");
            (self.shared.report)(News::Answers);
        }
        Ok(reply)
    }

    /// The place went away, or is none: says so, and when to try again.
    fn lost(&mut self, error: RendezvousError) -> Instant {
        self.talk = None;
        self.told.clear();
        if !std::mem::replace(&mut self.in_trouble, true) {
            tracing::warn!(%error, "entries are registered again as soon as the meeting place answers");
        }
        (self.shared.report)(News::Trouble(Box::new(error)));
        Instant::now() + AGAIN
    }

    /// Waits until then, or until the handle wants something, or until the place is gone.
    fn rest(&self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let bell = [PollFd::new(&self.shared.bell, PollFlags::IN)];
        let link = self.talk.as_ref().map(|talk| PollFd::from_borrowed_fd(talk.as_fd(), PollFlags::IN));
        let mut watched: Vec<PollFd<'_>> = bell.into_iter().chain(link).collect();
        // An interrupted wait is a short one.
        let _ = poll(&mut watched, timeout.as_ref());
        let _ = rustix::io::read(&self.shared.bell, &mut [0u8; 8]);
    }
}
