//! Streams of one kind under one handle: members are found and lost while it runs, and each step says whose it is.

pub(crate) mod board;
pub(crate) mod event;
pub(crate) mod finder;
pub(crate) mod options;
pub(crate) mod roll;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use fp_core::{CloseError, NextStep, ReadError, StepReader, StreamEnding, Subscriber};

use crate::error::FamilyError;
use crate::family::board::Notice;
use crate::family::event::FamilyEvent;
use crate::family::finder::Finder;
use crate::family::options::FamilyOptions;
use crate::feed::Feed;
use crate::stay::Pinned;
use crate::wait::{Slot, block_on, end_of, left, poll_each};

/// A step of a member. It is read as a [`StepReader`] is, also when the member has gone.
pub struct FamilyStep {
    member: Arc<str>,
    pinned: Arc<Pinned>,
}

impl FamilyStep {
    /// The stream that it is of.
    pub fn member(&self) -> &str {
        &self.member
    }
}

impl Deref for FamilyStep {
    type Target = StepReader;

    fn deref(&self) -> &StepReader {
        self.pinned.step()
    }
}

impl fmt::Debug for FamilyStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FamilyStep").field("member", &self.member).field("step", &self.step()).finish()
    }
}

/// What waiting for a step of a family gave. It never ends: members may come at any time.
#[derive(Debug)]
pub enum FamilyNext {
    /// A step; dropping it, and the views made of it, releases it.
    Step(FamilyStep),
    /// Something happened.
    Event(FamilyEvent),
    /// Nothing came within the time given.
    NotYet,
}

/// All streams whose names fit a pattern, as they come and go. Members are served in turn.
///
/// ```
/// # use fp_core as flexpath;
/// # use fp_flow as flow;
/// # use flexpath::{Publisher, PublisherOptions, Rendezvous, SubscriberOptions};
/// # use std::time::Duration;
/// use flow::{Family, FamilyNext};
///
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let options = PublisherOptions::default().with_rendezvous(rendezvous.clone()).with_min_subscribers(1);
/// # let simulation = std::thread::spawn(move || -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// #     let mut publisher = Publisher::open("run#1", options)?;
/// #     publisher.begin_step()?.end()?;
/// #     Ok(publisher.close().map(drop)?)
/// # });
/// # let options = SubscriberOptions::default().with_rendezvous(rendezvous);
/// # let mut steps = 0;
/// let mut family = Family::open("run#*", options)?; // such as SubscriberOptions::default()
/// loop {
///     match family.next(Duration::from_secs(10))? {
///         FamilyNext::Step(step) => println!("{}: step {}", step.member(), step.step()),
///         FamilyNext::Event(event) => println!("{event}"),
///         FamilyNext::NotYet => break,
///     }
/// #   steps += 1;
/// #   if steps == 3 { break }
/// }
/// # drop(family);
/// # simulation.join().unwrap().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Family {
    finder: Arc<Finder>,
    members: Vec<Feed>,
    ready: VecDeque<FamilyNext>,
}

impl Family {
    /// Looks for streams whose names fit the pattern, in which `*` is any text and `?` any one letter, and subscribes to each
    /// of them. Looking goes on until the family is dropped.
    ///
    /// # Errors
    /// Options of a cohort of several ranks, of one publisher's contact, or without room; no rendezvous. That a stream
    /// cannot be attached to is an event.
    pub fn open(pattern: impl Into<String>, options: impl Into<FamilyOptions>) -> Result<Self, FamilyError> {
        let finder = Finder::start(pattern.into(), options.into())?;
        Ok(Self { finder, members: Vec::new(), ready: VecDeque::new() })
    }

    /// The next step of any member, or what happened before it, waiting up to `timeout`.
    ///
    /// # Errors
    /// A member cannot be taken from, as the handle was forked or its coordinator failed. It is a member no more, and later
    /// calls go on without it.
    pub fn next(&mut self, timeout: Duration) -> Result<FamilyNext, ReadError> {
        let finder = self.finder.clone();
        block_on(self.next_async(timeout), finder.interrupt()).unwrap_or(Ok(FamilyNext::NotYet))
    }

    /// As [`Family::next`], for a task; `timeout` counts from the first poll.
    ///
    /// Cancel safe: a call that is dropped before it is ready loses neither a step nor an event.
    ///
    /// # Errors
    /// As [`Family::next`].
    pub async fn next_async(&mut self, timeout: Duration) -> Result<FamilyNext, ReadError> {
        let deadline = end_of(timeout);
        let mut is_last = false;
        loop {
            self.admit();
            self.serve()?;
            if let Some(next) = self.ready.pop_front() {
                return Ok(next);
            }
            if is_last {
                return Ok(FamilyNext::NotYet);
            }
            self.gather(deadline).await;
            is_last = left(deadline).is_zero();
        }
    }

    /// Takes in what was found.
    fn admit(&mut self) {
        while let Some(notice) = self.finder.board.take() {
            let event = match notice {
                Notice::Event(event) => event,
                Notice::Attached { subscriber, is_again } => {
                    let (member, epoch) = (subscriber.stream().to_owned(), subscriber.epoch());
                    self.members.push(Feed::new(subscriber));
                    match is_again {
                        true => FamilyEvent::Restarted { member, epoch },
                        false => FamilyEvent::Came { member, epoch },
                    }
                }
            };
            self.ready.push_back(FamilyNext::Event(event));
        }
    }

    /// Gives out what a member has given. They take turns: more is taken of them when all that they gave is given out.
    fn serve(&mut self) -> Result<(), ReadError> {
        for index in 0..self.members.len() {
            let Some(came) = self.members[index].take_came() else { continue };
            match came {
                Ok(NextStep::Step(step)) => self.give(index, step),
                Ok(NextStep::Ended(ending)) => self.part(index, ending),
                Ok(NextStep::NotYet) => {}
                Err(error) => {
                    self.remove(index);
                    return Err(error);
                }
            }
            return Ok(());
        }
        Ok(())
    }

    fn give(&mut self, index: usize, step: StepReader) {
        let feed = &mut self.members[index];
        let (member, epoch) = (feed.shared_name(), step.epoch());
        if feed.is_restarted(epoch) {
            let event = FamilyEvent::Restarted { member: member.to_string(), epoch };
            self.ready.push_back(FamilyNext::Event(event));
        }
        let pinned = feed.pin(step);
        self.ready.push_back(FamilyNext::Step(FamilyStep { member, pinned }));
    }

    fn part(&mut self, index: usize, ending: StreamEnding) {
        let member = self.remove(index);
        self.ready.push_back(FamilyNext::Event(FamilyEvent::Gone { member, ending }));
    }

    /// A member is none any more; its name. Its steps that are held can still be read.
    fn remove(&mut self, index: usize) -> String {
        let mut feed = self.members.remove(index);
        self.finder.gone(feed.name(), feed.epoch());
        feed.retire();
        feed.name().to_owned()
    }

    /// Waits until a member gives something, something was found, or the time is up.
    async fn gather(&mut self, deadline: Option<Instant>) {
        let timeout = left(deadline);
        let mut slots: Vec<Slot<'_>> =
            self.members.iter_mut().filter_map(|feed| feed.wait(timeout)).collect();
        let board = &self.finder.board;
        poll_fn(|ctx| {
            let is_given = poll_each(&mut slots, ctx);
            if board.poll(ctx, deadline) || is_given { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// The members there are now.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(Feed::name)
    }

    /// Looks for no more members, and leaves all that there are, one after the other. Steps that are still there can then
    /// be read no more, but for views. Dropped instead, they can.
    ///
    /// # Errors
    /// What a member failed with that could not be left; the others were left all the same.
    pub fn close(mut self) -> Result<(), CloseError> {
        self.ready.clear();
        drop(self.finder.board.close());
        let closed: Vec<_> = self.members.iter_mut().map(Feed::close).collect();
        closed.into_iter().collect()
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        self.ready.clear();
        drop(self.finder.board.close());
        self.members.iter_mut().for_each(Feed::leave);
    }
}

/// `Subscriber::open_family`, beside `Subscriber::open`.
pub trait OpenFamily {
    /// As [`Family::open`].
    ///
    /// # Errors
    /// As of [`Family::open`].
    fn open_family(pattern: &str, options: impl Into<FamilyOptions>) -> Result<Family, FamilyError>;
}

impl OpenFamily for Subscriber {
    fn open_family(pattern: &str, options: impl Into<FamilyOptions>) -> Result<Family, FamilyError> {
        Family::open(pattern, options)
    }
}
