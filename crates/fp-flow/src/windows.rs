//! Windows over several streams: what the streams give is joined, and the rows are cut into windows.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use fp_core::{CloseError, Interrupt, NextStep, StreamEnding, Subscriber};

use crate::cut::Cutter;
use crate::error::WindowError;
use crate::feed::Feed;
use crate::join::{Answer, Joiner, Missing, Refused};
use crate::key::{Key, KeyOf, key};
use crate::options::Join;
use crate::stay::Pinned;
use crate::wait::{Slot, block_on, end_of, left, poll_each};
use crate::window::{Cut, Row, Window};

/// What waiting for a window gave.
#[derive(Debug)]
pub enum NextWindow {
    /// The window; dropping it releases its steps, but for those of rows that the next one has too.
    Window(Window),
    /// These streams do not have the key, or gave nothing for as long as they are waited for
    /// ([`MissingPartner::Wait`](crate::MissingPartner::Wait)). It is left out, and no window ends for it.
    Missing {
        /// The key.
        key: Key,
        /// The streams, in the order in which they were given.
        streams: Vec<String>,
    },
    /// None came within the time given.
    NotYet,
    /// A stream is over, and so no more will come.
    Ended {
        /// The stream that ended first.
        stream: String,
        /// How.
        ending: StreamEnding,
    },
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowStatistics {
    /// Rows that were joined.
    pub rows: u64,
    /// Keys that had no row, as not every stream had them.
    pub missing_keys: u64,
    /// Steps that were let go of, as the others had passed their keys before they came.
    pub late_steps: u64,
    /// Steps that were let go of, as the step before had the same key.
    pub repeated_steps: u64,
}

/// Steps of several streams, joined by key and cut into windows.
///
/// ```
/// # use fp_core as flexpath;
/// # use fp_flow as flow;
/// # use flexpath::{Publisher, PublisherOptions, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// use flow::{NextWindow, Windows};
///
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let options = PublisherOptions::default().with_rendezvous(rendezvous.clone());
/// # let mut publishers = [Publisher::open("heat", options.clone())?, Publisher::open("flow", options)?];
/// # let options = SubscriberOptions::default().with_rendezvous(rendezvous).with_limit_steps(9);
/// let heat = Subscriber::open("heat", options.clone())?; // such as SubscriberOptions::default().with_limit_steps(9)
/// let flow = Subscriber::open("flow", options)?;
/// # for publisher in &mut publishers {
/// #     for step in 0..3 {
/// #         let mut writer = publisher.begin_step()?;
/// #         writer.put_scalar(&Variable::scalar::<u64>("time_step")?, step as u64)?;
/// #         writer.end()?;
/// #     }
/// # }
/// # let [one, other] = publishers;
/// # let closing = std::thread::spawn(move || (one.close(), other.close()));
/// let mut windows = Windows::new([heat, flow]).by("time_step").tumbling(8)?;
/// while let NextWindow::Window(window) = windows.next(Duration::from_secs(10))? {
///     for row in window.rows() {
///         println!("{}: steps {} and {}", row.key(), row[0].step(), row[1].step());
///     }
/// #   assert_eq!(window.rows().len(), 3);
/// }
/// # drop(windows);
/// # closing.join().unwrap().0?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Windows {
    feeds: Vec<Feed>,
    joiner: Joiner<Arc<Pinned>>,
    cutter: Cutter<Row>,
    key: KeyOf,
    is_told: bool,
    patience: Duration,
    /// Rows of a window.
    length: usize,
    /// The first that a stream has.
    interrupt: Option<Interrupt>,
    /// What is given out before anything else is taken.
    ready: VecDeque<NextWindow>,
    ended: Option<(String, StreamEnding)>,
    counted: WindowStatistics,
}

impl Join {
    /// Windows of so many rows, one behind the other. The last one may be shorter ([`Window::cut`]).
    ///
    /// # Errors
    /// No streams; a length of 0; a stream that gives too few steps at one time.
    pub fn tumbling(self, length: usize) -> Result<Windows, WindowError> {
        self.sliding(length, length)
    }

    /// Windows of so many rows, each `hop` rows after the one before: rows are in several of them.
    ///
    /// # Errors
    /// No streams; a length or hop of 0, or a hop longer than the windows; a stream that gives too few steps at one time.
    pub fn sliding(self, length: usize, hop: usize) -> Result<Windows, WindowError> {
        self.check(length, hop)?;
        Ok(Windows {
            joiner: Joiner::new(self.streams.len(), self.missing.rule()),
            cutter: Cutter::new(length, hop),
            interrupt: self.streams.iter().find_map(|stream| stream.options().link.interrupt.clone()),
            is_told: self.missing.rule() == Missing::Tell,
            patience: self.patience(),
            feeds: self.streams.into_iter().map(Feed::new).collect(),
            key: self.key,
            length,
            ready: VecDeque::new(),
            ended: None,
            counted: WindowStatistics::default(),
        })
    }
}

impl Windows {
    /// Streams that are to be joined; what follows says by what, and how many rows windows have.
    #[expect(clippy::new_ret_no_self, reason = "the windows begin when their length is known")]
    pub fn new(streams: impl IntoIterator<Item = Subscriber>) -> Join {
        Join::new(streams.into_iter().collect())
    }

    /// The next window, waiting up to `timeout` for one. A stream's [`Interrupt`] ends the wait as if its time were over.
    ///
    /// # Errors
    /// A step that has no key, or a lower one than before; windows that hold all that a stream gives; a handle that was
    /// forked. Later calls go on.
    pub fn next(&mut self, timeout: Duration) -> Result<NextWindow, WindowError> {
        let interrupt = self.interrupt.clone();
        block_on(self.next_async(timeout), interrupt.as_ref()).unwrap_or(Ok(NextWindow::NotYet))
    }

    /// As [`Windows::next`], for a task; `timeout` counts from the first poll.
    ///
    /// Cancel safe: a call that is dropped before it is ready loses no step.
    ///
    /// # Errors
    /// As [`Windows::next`].
    pub async fn next_async(&mut self, timeout: Duration) -> Result<NextWindow, WindowError> {
        let deadline = end_of(timeout);
        // Who has no time at all gets what can be made of what is there.
        let mut looks = self.length;
        loop {
            self.take_in().await?;
            if let Some(next) = self.ready.pop_front() {
                return Ok(next);
            }
            if let Some((stream, ending)) = self.ended.clone() {
                return Ok(NextWindow::Ended { stream, ending });
            }
            let wanted = match self.joiner.next(|feed| self.feeds[feed].is_late()) {
                Answer::Row(key, steps) => {
                    self.cut(Row::new(key, steps));
                    continue;
                }
                Answer::Missing(key, feeds) => {
                    self.miss(key, &feeds);
                    continue;
                }
                Answer::Want(wanted) => wanted,
            };
            let is_over = left(deadline).is_zero();
            if (is_over && looks == 0) || !self.gather(&wanted, deadline).await {
                return self.not_yet(&wanted);
            }
            looks -= usize::from(is_over);
        }
    }

    /// Looks at what was taken: steps go to their lanes with their keys.
    async fn take_in(&mut self) -> Result<(), WindowError> {
        for index in 0..self.feeds.len() {
            match self.feeds[index].take_came().transpose()? {
                Some(NextStep::Step(step)) => self.feeds[index].set_pending(step),
                Some(NextStep::Ended(ending)) => self.end(index, ending),
                Some(NextStep::NotYet) | None => {}
            }
            self.key_pending(index).await?;
        }
        Ok(())
    }

    async fn key_pending(&mut self, index: usize) -> Result<(), WindowError> {
        let feed = &mut self.feeds[index];
        let Some(pending) = feed.pending() else { return Ok(()) };
        // The step stays where it is until its key is here: this call may be dropped meanwhile.
        let found = key(pending.step(), &self.key).await;
        let Some(pinned) = feed.take_pending() else { return Ok(()) };
        let step = pinned.step().step();
        if feed.is_restarted(pinned.step().epoch()) {
            self.joiner.restart(index);
            self.flush(Cut::Restarted);
        }
        let stream = || self.feeds[index].name().to_owned();
        let key = found.map_err(|source| WindowError::Key { stream: stream(), step, source })?;
        match self.joiner.give(index, key, pinned) {
            Ok(()) => Ok(()),
            Err(Refused::Repeated) => {
                self.counted.repeated_steps += 1;
                Ok(())
            }
            Err(Refused::Falling { before }) => {
                Err(WindowError::Falling { stream: stream(), step, of: self.key.clone(), key, before })
            }
        }
    }

    fn cut(&mut self, row: Row) {
        self.counted.rows += 1;
        let window = self.cutter.push(row).map(|rows| NextWindow::Window(Window::new(rows, None)));
        self.ready.extend(window);
    }

    /// No row before shares a window with one that comes.
    fn flush(&mut self, cut: Cut) {
        let window = self.cutter.flush().map(|rows| NextWindow::Window(Window::new(rows, Some(cut))));
        self.ready.extend(window);
    }

    fn miss(&mut self, key: Key, feeds: &[usize]) {
        self.counted.missing_keys += 1;
        if self.is_told {
            let streams = feeds.iter().map(|feed| self.feeds[*feed].name().to_owned()).collect();
            self.ready.push_back(NextWindow::Missing { key, streams });
        }
    }

    /// A stream is over: what is left of the others has no partner, and they are left.
    fn end(&mut self, index: usize, ending: StreamEnding) {
        self.joiner.clear();
        self.flush(Cut::Ended);
        self.ended.get_or_insert((self.feeds[index].name().to_owned(), ending));
        self.feeds.iter_mut().for_each(Feed::retire);
    }

    /// Waits for a step of one of these streams, or of one that is late: false if the time is up.
    async fn gather(&mut self, wanted: &[usize], deadline: Option<Instant>) -> bool {
        let (now, is_waited) = (Instant::now(), self.joiner.has_head());
        let mut until = deadline;
        for (index, feed) in self.feeds.iter_mut().enumerate() {
            if !is_waited || !wanted.contains(&index) {
                feed.await_no_more();
                continue;
            }
            let quiet = feed.await_from(now).and_then(|since| since.checked_add(self.patience));
            until = until.into_iter().chain(quiet).min();
        }
        let timeout = left(until);
        let asked = self.feeds.iter_mut().enumerate();
        let asked = asked.filter(|(index, feed)| wanted.contains(index) || feed.is_late());
        let mut slots: Vec<Slot<'_>> = asked.filter_map(|(_, feed)| feed.wait(timeout)).collect();
        poll_fn(|ctx| if poll_each(&mut slots, ctx) { Poll::Ready(()) } else { Poll::Pending }).await;
        drop(slots);
        self.judge(wanted, deadline)
    }

    /// Whether something came, or a stream is late from now on, or there is time left.
    fn judge(&mut self, wanted: &[usize], deadline: Option<Instant>) -> bool {
        let (now, patience) = (Instant::now(), self.patience);
        let mut is_changed = false;
        for (index, feed) in self.feeds.iter_mut().enumerate() {
            is_changed |= feed.has_come() || (wanted.contains(&index) && feed.judge(now, patience));
        }
        is_changed || deadline.is_none_or(|deadline| now < deadline)
    }

    /// Nothing came in time: whether it could not, as the program holds all that a stream gives.
    fn not_yet(&self, wanted: &[usize]) -> Result<NextWindow, WindowError> {
        let Some(spent) = wanted.iter().map(|index| &self.feeds[*index]).find(|feed| feed.is_spent()) else {
            return Ok(NextWindow::NotYet);
        };
        let (stream, held, credit) = (spent.name().to_owned(), spent.held(), spent.credit());
        Err(WindowError::Held { stream, held, credit })
    }

    /// The streams, in the order in which they were given.
    pub fn streams(&self) -> impl Iterator<Item = &str> {
        self.feeds.iter().map(Feed::name)
    }

    /// What was counted.
    pub fn statistics(&self) -> WindowStatistics {
        WindowStatistics { late_steps: self.joiner.late_steps(), ..self.counted }
    }

    /// Leaves all streams, one after the other. Steps of windows that are still there can then be read no more, but for
    /// views. Dropped instead, they can: each stream is left with the last window that has a step of it.
    ///
    /// # Errors
    /// What a stream failed with that could not be left; the others were left all the same.
    pub fn close(mut self) -> Result<(), CloseError> {
        self.joiner.clear();
        let closed: Vec<_> = self.feeds.iter_mut().map(Feed::close).collect();
        closed.into_iter().collect()
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        self.joiner.clear();
        self.ready.clear();
        drop(self.cutter.flush());
        self.feeds.iter_mut().for_each(Feed::leave);
    }
}
