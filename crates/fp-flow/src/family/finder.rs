//! Looking for members: one thread looks into the rendezvous. Each stream is attached to by a thread of its own, so that a
//! slow one holds nobody up.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fp_core::rendezvous::{Entry, Rendezvous, ask_each};
use fp_core::{Epoch, Interrupt, Subscriber, SubscriberOptions, stream_name_fits};

use crate::error::FamilyError;
use crate::family::board::{Board, Notice};
use crate::family::event::{AttachError, FamilyEvent};
use crate::family::options::FamilyOptions;
use crate::family::roll::{Order, Roll};

/// How often the rendezvous is looked at.
const PERIOD: Duration = Duration::from_millis(200);

/// What the threads that look for members share with the family.
pub(crate) struct Finder {
    pattern: String,
    options: FamilyOptions,
    rendezvous: Rendezvous,
    began: Instant,
    roll: Mutex<Roll>,
    pub(crate) board: Board,
}

impl Finder {
    /// Begins to look.
    pub(crate) fn start(pattern: String, options: FamilyOptions) -> Result<Arc<Self>, FamilyError> {
        options.check()?;
        let rendezvous = options.rendezvous()?;
        let roll = Mutex::new(Roll::new(options.limit_members, options.follow_restarts));
        let (began, board) = (Instant::now(), Board::default());
        let finder = Arc::new(Self { pattern, options, rendezvous, began, roll, board });
        let started = finder
            .spawn("family", Self::run)
            .and_then(|()| finder.spawn("family clock", |finder| finder.board.keep_time()));
        if let Err(error) = started {
            finder.board.close();
            return Err(FamilyError::Thread(error));
        }
        Ok(finder)
    }

    fn spawn(
        self: &Arc<Self>,
        name: &str,
        work: impl FnOnce(&Arc<Self>) + Send + 'static,
    ) -> std::io::Result<()> {
        let finder = self.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || work(&finder)).map(drop)
    }

    fn roll(&self) -> MutexGuard<'_, Roll> {
        self.roll.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time that the roll goes by.
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// What a call that waits asks.
    pub(crate) fn interrupt(&self) -> Option<&Interrupt> {
        self.options.subscriber.link.interrupt.as_ref()
    }

    /// A member has gone.
    pub(crate) fn gone(&self, name: &str, epoch: Option<Epoch>) {
        self.roll().gone(name, epoch);
    }

    /// Looks until nobody wants members any more.
    fn run(self: &Arc<Self>) {
        let mut is_told = false;
        loop {
            if !self.board.is_full() {
                match self.rendezvous.list() {
                    Ok(entries) => {
                        is_told = false;
                        self.look(entries);
                    }
                    Err(error) if !is_told => {
                        is_told = true;
                        self.board.post(Notice::Event(FamilyEvent::Unseen { error }));
                    }
                    Err(_) => {}
                }
            }
            if !self.board.pause(PERIOD) {
                return;
            }
        }
    }

    fn look(self: &Arc<Self>, entries: Vec<Entry>) {
        let mut entries = entries;
        entries.retain(|entry| stream_name_fits(&self.pattern, &entry.name));
        let names: BTreeSet<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let now = self.now();
        self.roll().forget(|name| names.contains(name));
        entries.retain(|entry| self.roll().is_open(now, &entry.name, entry.epoch));
        let asked = ask_each(entries, |_, is_alive| is_alive).into_iter();
        let living = asked.filter(|(_, is_alive)| *is_alive == Some(true));
        let living: Vec<_> = living.map(|(entry, _)| (entry.name, entry.epoch)).collect();
        let orders = self.roll().look(now, &living);
        orders.into_iter().for_each(|order| self.follow(order));
    }

    fn follow(self: &Arc<Self>, order: Order) {
        match order {
            Order::Attach(member) => {
                let name = member.clone();
                let spawned = self.spawn("family member", move |finder| finder.attach(&name));
                if let Err(error) = spawned {
                    self.refuse(member, AttachError::Thread(error));
                }
            }
            Order::PassOver(member) => {
                let limit_members = self.options.limit_members;
                self.board.post(Notice::Event(FamilyEvent::PassedOver { member, limit_members }));
            }
        }
    }

    fn attach(self: &Arc<Self>, name: &str) {
        let is_opening = Arc::new(AtomicBool::new(true));
        let opened = Subscriber::open(name, self.member_options(is_opening.clone()));
        is_opening.store(false, Ordering::Relaxed);
        match opened {
            Ok(subscriber) => {
                let is_again = self.roll().attached(name, subscriber.epoch());
                // Nobody wants it any more: then it leaves here.
                drop(self.board.post(Notice::Attached { subscriber, is_again }));
            }
            Err(error) => self.refuse(name.to_owned(), AttachError::Open(error)),
        }
    }

    fn refuse(&self, member: String, error: AttachError) {
        let again_after = self.roll().refused(self.now(), &member);
        self.board.post(Notice::Event(FamilyEvent::Refused { member, error, again_after }));
    }

    /// As each member is subscribed to. Opening ends early when the family is closed.
    fn member_options(self: &Arc<Self>, is_opening: Arc<AtomicBool>) -> SubscriberOptions {
        let options = self.options.subscriber.clone().with_rendezvous(self.rendezvous.clone());
        let (finder, given) = (Arc::downgrade(self), options.link.interrupt.clone());
        let is_closed = move || finder.upgrade().is_none_or(|finder| finder.board.is_closed());
        let is_over = move || is_opening.load(Ordering::Relaxed) && is_closed();
        let is_asked = move || is_over() || given.as_ref().is_some_and(Interrupt::is_asked);
        options.with_interrupt(Interrupt::new(is_asked))
    }
}
