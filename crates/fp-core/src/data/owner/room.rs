//! Room for live steps: of one stream, and of all streams that this process publishes together.
//!
//! A stream's own bound is an option of its publisher; the process's is [`limit_process_bytes`]. Both are looked at
//! when a step begins, with the step before it as the guess of how large it will be. A stream that holds nothing may
//! always begin one: the process can pass its bound by one step a stream, and no stream starves another.
//!
//! Memory that the process cannot get bounds a stream as well, where a step is no small one. Then `begin_step` waits for
//! a release, or a lossy subscription goes without the step, as at the bound: no put has to fail.
//!
//! There is no bound for each subscription besides, as steps are shared by all that keep them. No put waits: a
//! publisher waits before it computes.

use crate::coordinator::dial::Mailbox;
use crate::error::limit::{LimitError, VARIABLE};
use fp_transport::Pool;
use fp_transport::memory::available_bytes;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Bytes of live steps of a process, unless set.
const DEFAULT_BYTES: u64 = 1 << 30;

static PROCESS: Process = Process::new();

/// Bounds the live steps of all streams that this process publishes, in bytes, from the next step of each on. A
/// stream's own bound (1 GiB unless set) holds besides. Unless this is called, `FLEXPATH_LIMIT_BYTES` says it, else
/// it is 1 GiB or the largest bound of a single stream, whichever is more.
pub fn limit_process_bytes(limit_bytes: u64) {
    PROCESS.lock().limit_bytes = Some(limit_bytes);
}

/// Takes the process's bound from the environment, unless it is set.
///
/// # Errors
/// What is there is no number.
pub(crate) fn limit_by_environment() -> Result<(), LimitError> {
    if let Ok(value) = std::env::var(VARIABLE) {
        let given = parse(&value)?;
        PROCESS.lock().limit_bytes.get_or_insert(given);
    }
    Ok(())
}

/// The streams of a process, and the bound of all together.
struct Process {
    state: Mutex<State>,
}

struct State {
    limit_bytes: Option<u64>,
    streams: Vec<Weak<Room>>,
}

/// A step of fewer bytes is not worth a look at the memory that is left.
const UNCHECKED_BYTES: u64 = 1 << 20;

/// Where so much is left besides a step, a look at the memory holds for a while: no process of one host writes as much
/// meanwhile. A look reads several files, which takes longer than a step of 1 MiB.
const PLENTY_BYTES: u64 = 1 << 30;

/// How long such a look holds.
const LOOK_HOLDS: Duration = Duration::from_millis(10);

/// Bytes of a step that count as few.
const LIGHT_BYTES: u64 = 64 << 10;

/// What one stream holds, and may.
pub(crate) struct Room {
    limit_bytes: u64,
    pool: Pool,
    process: &'static Process,
    /// Bytes of blocks that are stored.
    stored_bytes: AtomicU64,
    /// Those of them that were made when somebody asked for them: no step is said to have them.
    made_bytes: AtomicU64,
    /// Bytes of the last step that was stored: the guess for the next.
    step_bytes: AtomicU64,
    /// Bytes that computing for subscribers needed in the last step, beside those that were stored.
    needed_bytes: AtomicU64,
    /// Whether `begin_step` waits, perhaps for another stream.
    waits: AtomicBool,
    bell: Mutex<Option<Arc<Mailbox>>>,
    /// When it was looked last at the memory that is left, and how much that was.
    looked: Mutex<Option<(Instant, u64)>>,
}

/// What a stream may hold when it begins a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Live bytes at which it must wait.
    pub(crate) room_bytes: u64,
    /// What other streams of the process hold.
    pub(crate) elsewhere_bytes: u64,
}

impl Process {
    const fn new() -> Self {
        Self { state: Mutex::new(State { limit_bytes: None, streams: Vec::new() }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new stream of this process.
    fn enter(&'static self, pool: Pool, limit_bytes: u64) -> Arc<Room> {
        let room = Arc::new(Room {
            limit_bytes,
            pool,
            process: self,
            stored_bytes: AtomicU64::new(0),
            made_bytes: AtomicU64::new(0),
            step_bytes: AtomicU64::new(0),
            needed_bytes: AtomicU64::new(0),
            waits: AtomicBool::new(false),
            bell: Mutex::new(None),
            looked: Mutex::new(None),
        });
        let mut state = self.lock();
        state.streams.retain(|known| known.strong_count() > 0);
        state.streams.push(Arc::downgrade(&room));
        room
    }
}

impl State {
    fn limit_bytes(&self) -> u64 {
        let largest = || self.streams().map(|room| room.limit_bytes).max().unwrap_or(0);
        self.limit_bytes.unwrap_or_else(|| largest().max(DEFAULT_BYTES))
    }

    /// Whether who asks is the only stream.
    fn is_alone(&self) -> bool {
        self.streams.len() == 1
    }

    fn streams(&self) -> impl Iterator<Item = Arc<Room>> {
        self.streams.iter().filter_map(Weak::upgrade)
    }
}

impl Room {
    /// The room of a stream that this process publishes.
    pub(crate) fn of_stream(pool: Pool, limit_bytes: u64) -> Arc<Self> {
        PROCESS.enter(pool, limit_bytes)
    }

    /// Whom to wake when another stream of the process lets go of something.
    pub(crate) fn wake_by(&self, bell: Arc<Mailbox>) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(bell);
    }

    pub(crate) fn store(&self, len_bytes: u64) {
        self.stored_bytes.fetch_add(len_bytes, Ordering::Relaxed);
    }

    /// Stores what was made of a step when somebody asked for it.
    pub(crate) fn store_made(&self, len_bytes: u64) {
        self.store(len_bytes);
        self.made_bytes.fetch_add(len_bytes, Ordering::Relaxed);
    }

    /// Whether so many bytes more are within the bounds.
    pub(crate) fn fits(&self, len_bytes: u64) -> bool {
        len_bytes <= self.spare_bytes()
    }

    /// Bytes that are left within the bounds.
    pub(crate) fn spare_bytes(&self) -> u64 {
        let state = self.process.lock();
        let own = self.limit_bytes.min(state.limit_bytes().saturating_sub(self.elsewhere_bytes(&state)));
        let held = self.stored_bytes.load(Ordering::Relaxed).saturating_add(self.retired_bytes());
        own.saturating_sub(held)
    }

    /// Those of them that a step like the last one leaves.
    pub(crate) fn idle_bytes(&self) -> u64 {
        self.spare_bytes().saturating_sub(self.guess())
    }

    /// How much the next step will need, by the last one.
    fn guess(&self) -> u64 {
        self.step_bytes.load(Ordering::Relaxed).saturating_add(self.needed_bytes.load(Ordering::Relaxed))
    }

    /// What computing for subscribers needed beside what is stored. Steps to come leave as much, half of the bound at
    /// most: else live steps would leave none, and nothing would be computed.
    pub(crate) fn needed(&self, len_bytes: u64) {
        self.needed_bytes.store(len_bytes.min(self.limit_bytes / 2), Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, step_bytes: u64) {
        self.step_bytes.store(step_bytes, Ordering::Relaxed);
    }

    /// Whether the last step was so small that what is published is worth less than the time in which it arrives.
    pub(crate) fn is_light(&self) -> bool {
        self.step_bytes.load(Ordering::Relaxed) <= LIGHT_BYTES
    }

    /// Lets go of so many bytes, and of those of them that were made, and wakes streams that wait for them.
    pub(crate) fn free(&self, len_bytes: u64, made_bytes: u64) {
        self.made_bytes.fetch_sub(made_bytes, Ordering::Relaxed);
        self.stored_bytes.fetch_sub(len_bytes, Ordering::SeqCst);
        let state = self.process.lock();
        if state.is_alone() {
            return;
        }
        let waiting = |room: &Arc<Self>| !std::ptr::eq(&**room, self) && room.waits.load(Ordering::SeqCst);
        state.streams().filter(waiting).for_each(|room| room.ring());
    }

    fn ring(&self) {
        if let Some(bell) = &*self.bell.lock().unwrap_or_else(PoisonError::into_inner) {
            bell.ring();
        }
    }

    /// Says that `begin_step` waits, or does no more; whether that is news.
    pub(crate) fn set_waits(&self, waits: bool) -> bool {
        self.waits.swap(waits, Ordering::SeqCst) != waits
    }

    /// What this stream may hold now.
    pub(crate) fn allowance(&self) -> Allowance {
        let state = self.process.lock();
        let elsewhere_bytes = self.elsewhere_bytes(&state);
        let guess = self.guess();
        let own = self.limit_bytes.min(state.limit_bytes().saturating_sub(elsewhere_bytes));
        let own = own.min(self.bearable_bytes(guess));
        let besides = self.retired_bytes().saturating_add(self.made_bytes.load(Ordering::Relaxed));
        let room_bytes = own.saturating_sub(guess).saturating_sub(besides).saturating_add(1);
        Allowance { room_bytes, elsewhere_bytes }
    }

    /// Bytes that the process can still take, or could a moment ago where that is plenty beside so many. `None` where the
    /// system does not say. A crowd that subscribes at one time costs one look.
    pub(crate) fn left_bytes(&self, besides: u64) -> Option<u64> {
        self.lately_left_bytes(besides, || self.memory_bytes())
    }

    /// Bytes that the process can still take from the system for this stream, or has taken for it and left unused.
    /// `None` where the system does not say.
    fn memory_bytes(&self) -> Option<u64> {
        available_bytes().map(|left_bytes| left_bytes.saturating_add(self.pool.stats().kept_bytes))
    }

    /// What this stream can hold at most, by the memory that there is, before a step as large as the guess.
    fn bearable_bytes(&self, guess: u64) -> u64 {
        if guess < UNCHECKED_BYTES || self.pool.stats().kept_bytes >= guess {
            return u64::MAX;
        }
        let held = self.stored_bytes.load(Ordering::Relaxed).saturating_add(self.retired_bytes());
        let left_bytes = self.lately_left_bytes(guess, || self.memory_bytes());
        left_bytes.map_or(u64::MAX, |left_bytes| left_bytes.saturating_add(held))
    }

    /// The memory that is left, or was a moment ago where that is plenty.
    fn lately_left_bytes(&self, guess: u64, look: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |(when, left_bytes): &(Instant, u64)| {
            *left_bytes >= PLENTY_BYTES.saturating_add(guess) && when.elapsed() < LOOK_HOLDS
        };
        if let Some((_, left_bytes)) = looked.filter(holds) {
            return Some(left_bytes);
        }
        let left_bytes = look()?;
        *looked = Some((Instant::now(), left_bytes));
        Some(left_bytes)
    }

    fn elsewhere_bytes(&self, state: &State) -> u64 {
        if state.is_alone() {
            return 0;
        }
        let others = state.streams().filter(|room| !std::ptr::eq(&**room, self));
        others.map(|room| room.held_bytes()).sum()
    }

    /// The largest step that is ever possible.
    pub(crate) fn step_limit_bytes(&self) -> u64 {
        self.limit_bytes.min(self.process.lock().limit_bytes())
    }

    fn retired_bytes(&self) -> u64 {
        self.pool.retired_bytes()
    }

    fn held_bytes(&self) -> u64 {
        // A stream that stands still does not look itself whether a reader that was silent has gone.
        self.pool.sweep();
        self.stored_bytes.load(Ordering::SeqCst) + self.retired_bytes()
    }
}

fn parse(value: &str) -> Result<u64, LimitError> {
    value.trim().parse().map_err(|_| LimitError { value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_transport::PoolOptions;

    fn process(limit_bytes: Option<u64>) -> &'static Process {
        let process = Box::leak(Box::new(Process::new()));
        process.lock().limit_bytes = limit_bytes;
        process
    }

    fn enter(process: &'static Process, limit_bytes: u64) -> Arc<Room> {
        process.enter(Pool::new(PoolOptions::default()), limit_bytes)
    }

    #[test]
    fn a_lone_stream_has_what_its_own_bound_leaves_for_one_more_step() {
        let room = enter(process(None), 1000);
        assert_eq!(room.allowance(), Allowance { room_bytes: 1001, elsewhere_bytes: 0 });
        room.store(400);
        room.ended(400);
        assert_eq!(room.allowance().room_bytes, 601, "at 600 live bytes one more of 400 fits, at 601 none");
    }

    #[test]
    fn streams_of_a_process_share_its_bound() {
        let process = process(Some(1000));
        let (one, other) = (enter(process, 1 << 30), enter(process, 1 << 30));
        one.store(700);
        assert_eq!(other.allowance(), Allowance { room_bytes: 301, elsewhere_bytes: 700 });
        one.free(500, 0);
        assert_eq!(other.allowance(), Allowance { room_bytes: 801, elsewhere_bytes: 200 });
        drop(one);
        assert_eq!(other.allowance(), Allowance { room_bytes: 1001, elsewhere_bytes: 0 });
    }

    #[test]
    fn a_larger_bound_of_one_stream_raises_that_of_the_process_unless_it_is_set() {
        let unset = process(None);
        let _large = enter(unset, 4 << 30);
        assert_eq!(enter(unset, 8 << 30).allowance().room_bytes, (8 << 30) + 1);
        assert_eq!(enter(process(Some(10)), 8 << 30).allowance().room_bytes, 11);
    }

    #[test]
    fn what_is_made_of_live_steps_takes_room_from_those_to_come() {
        let process = process(Some(1000));
        let (one, other) = (enter(process, 600), enter(process, 1 << 30));
        one.store(100);
        assert!(one.fits(500) && !one.fits(501), "its own bound");
        one.store_made(300);
        assert_eq!(one.allowance().room_bytes, 301, "of what no step is said to have nothing else knows");
        other.store(700);
        assert!(!one.fits(1), "the bound of all together");
        assert_eq!(other.allowance().elsewhere_bytes, 400);
        other.free(700, 0);
        one.free(400, 300);
        assert_eq!(one.allowance().room_bytes, 601);
        assert!(one.fits(600));
    }

    #[test]
    fn a_look_at_the_memory_holds_where_plenty_is_left() {
        let room = enter(process(None), 1000);
        assert_eq!(room.lately_left_bytes(9, || Some(PLENTY_BYTES + 8)), Some(PLENTY_BYTES + 8));
        assert_eq!(room.lately_left_bytes(9, || Some(7)), Some(7), "that was not plenty for a step of 9");
        assert_eq!(room.lately_left_bytes(9, || Some(PLENTY_BYTES + 9)), Some(PLENTY_BYTES + 9));
        let now = Instant::now();
        let second = room.lately_left_bytes(9, || Some(7));
        assert!(second == Some(PLENTY_BYTES + 9) || now.elapsed() >= LOOK_HOLDS / 2, "{second:?}");
        let long_ago = now.checked_sub(LOOK_HOLDS).expect("a clock that runs for a while");
        *room.looked.lock().expect("nobody panicked") = Some((long_ago, PLENTY_BYTES + 9));
        assert_eq!(room.lately_left_bytes(9, || Some(7)), Some(7));
    }

    #[test]
    fn what_computing_needs_is_left_up_to_half_of_the_bound() {
        let room = enter(process(None), 1000);
        room.needed(300);
        assert_eq!((room.idle_bytes(), room.spare_bytes()), (700, 1000));
        room.needed(5000);
        assert_eq!(room.idle_bytes(), 500);
    }

    #[test]
    fn letting_go_rings_those_that_wait_and_nobody_else() {
        let process = process(None);
        let (one, other) = (enter(process, 10), enter(process, 10));
        let bell = Arc::new(Mailbox::new().expect("a mailbox"));
        other.wake_by(Arc::clone(&bell));
        one.store(5);
        one.free(2, 0);
        assert!(!bell.is_rung());
        assert!(other.set_waits(true) && !other.set_waits(true));
        one.free(2, 0);
        assert!(bell.is_rung());
        assert!(bell.take().is_empty() && !bell.is_rung());
    }

    #[test]
    fn the_environment_wants_digits() {
        assert_eq!(parse(" 4096 ").expect("a number"), 4096);
        let error = parse("4k").expect_err("no number").to_string();
        assert_eq!(
            error,
            "FLEXPATH_LIMIT_BYTES=\"4k\" is no number of bytes: give digits alone, as in 1073741824"
        );
    }
}
