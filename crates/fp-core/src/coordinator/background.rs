//! The one background thread of a process. It drives the endpoints that nobody waits on, so that heartbeats and fetches
//! go on while the application computes.
//!
//! Each endpoint's epoll set is registered here as one-shot. While a caller waits on an endpoint itself, an event may
//! wake this thread once. The thread leaves the endpoint to the caller, and arms it again when the caller has been gone
//! for a moment. A hop through this thread costs the wake of an idle core, so nobody who waits ever needs it.
//!
//! Its door is watched all the time, whoever is at the rest. A newcomer needs several answers one after the other, and
//! would wait for the caller's next call with each of them. Nobody knocks in the steady state, so that wakes nobody.

use rustix::event::{EventfdFlags, epoll, eventfd};
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The longest sleep while every endpoint is armed: deadlines of machines are looked at this often.
const SLEEP: Duration = Duration::from_millis(100);

/// The sleep while an endpoint waits to be armed again. While a caller sleeps on the endpoint, it doubles from one look
/// to the next, up to [`SLEEP`]. A process that waits must not wake 500 times a second: with 256 ranks on two cores,
/// that took half of the processor.
pub(crate) const REARM: Duration = Duration::from_millis(2);

/// The token of the bell.
const BELL: u64 = u64::MAX;

/// Marks the token of an endpoint's door.
const DOOR_BIT: u64 = 1 << 63;

/// Something that the background thread drives.
pub(crate) trait Driven: Send + Sync {
    /// The epoll set to watch.
    fn descriptor(&self) -> BorrowedFd<'_>;
    /// Does what is ready, unless a caller is at it: then `false`, and it is armed again later.
    fn turn(&self) -> bool;
    /// The same as somebody knocks. A caller that is at it has this thread attend when he goes.
    fn knocked(&self) -> bool;
    /// Tells it whether its descriptors are watched here; must not lock anything.
    fn set_attended(&self, attended: bool);
    /// Makes its descriptors tell of everything, from now on. Called after they are watched, and with no lock held.
    fn be_rung(&self);
    /// Whether nobody waits on it just now, so that it may be armed again.
    fn is_left_alone(&self) -> bool;
    /// Whether a caller is at its descriptors. When he goes, he says so by `be_awake_by`.
    fn is_polled(&self) -> bool;
    /// When it wants a turn even if nothing is ready.
    fn due(&self) -> Option<Instant>;
    /// A turn panicked: the stream fails, the process goes on.
    fn panicked(&self, what: String);
}

struct Entry {
    driven: Weak<dyn Driven>,
    armed: bool,
}

pub(crate) struct Background {
    epoll: OwnedFd,
    /// Rung for a deadline that is nearer than the end of the present sleep; edge-triggered, so never read.
    bell: OwnedFd,
    /// When the present sleep ends at the latest.
    awake: Mutex<Instant>,
    entries: Mutex<HashMap<u64, Entry>>,
    next: AtomicU64,
}

/// With the process that it belongs to: a forked child has the memory of the thread, but not the thread.
static BACKGROUND: Mutex<Option<(u32, Arc<Background>)>> = Mutex::new(None);

/// The process's background thread, started on first use.
pub(crate) fn background() -> Result<Arc<Background>, std::io::Error> {
    let mut started = BACKGROUND.lock().unwrap_or_else(PoisonError::into_inner);
    let own = fp_transport::own_pid();
    if let Some((_, background)) = started.as_ref().filter(|(process, _)| *process == own) {
        return Ok(background.clone());
    }
    let background = Arc::new(Background::new()?);
    let thread = background.clone();
    std::thread::Builder::new().name("flexpath".to_owned()).spawn(move || thread.run())?;
    *started = Some((own, background.clone()));
    Ok(background)
}

impl Background {
    fn new() -> Result<Self, std::io::Error> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, bell.as_fd(), epoll::EventData::new_u64(BELL), flags)?;
        let (awake, entries) = (Mutex::new(Instant::now()), Mutex::new(HashMap::new()));
        Ok(Self { epoll, bell, awake, entries, next: AtomicU64::new(0) })
    }

    /// Watches this again at once: somebody waits on it who cannot watch it.
    pub(crate) fn arm(&self, token: u64) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&token).filter(|entry| !entry.armed) else { return };
        let Some(driven) = entry.driven.upgrade() else { return };
        self.watch(token, entry, &*driven);
        // Dropped last of all it calls `remove`, which takes the lock.
        drop(entries);
        driven.be_rung();
    }

    fn watch(&self, token: u64, entry: &mut Entry, driven: &dyn Driven) {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ONESHOT;
        let data = epoll::EventData::new_u64(token);
        entry.armed = epoll::modify(&self.epoll, driven.descriptor(), data, flags).is_ok();
        driven.set_attended(entry.armed);
    }

    /// Looks at deadlines again by then, at the latest.
    pub(crate) fn be_awake_by(&self, due: Instant) {
        if due < *self.awake.lock().unwrap_or_else(PoisonError::into_inner) {
            // The counter can only be full if it was rung without end.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }

    fn sleeps_until(&self, end: Instant) {
        *self.awake.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// Drives this from now on, as long as somebody else holds it. Newcomers knock at its `door`, if it has one. It is
    /// `armed` at once, or when whoever is at it has gone.
    pub(crate) fn add(
        &self,
        driven: &Arc<dyn Driven>,
        door: Option<BorrowedFd<'_>>,
        armed: bool,
    ) -> Result<u64, std::io::Error> {
        let token = self.next.fetch_add(1, Ordering::Relaxed);
        let mut flags = epoll::EventFlags::ONESHOT;
        flags.set(epoll::EventFlags::IN, armed);
        self.lock().insert(token, Entry { driven: Arc::downgrade(driven), armed });
        epoll::add(&self.epoll, driven.descriptor(), epoll::EventData::new_u64(token), flags)?;
        let Some(door) = door else { return Ok(token) };
        // Told once of each knock: a caller that is at the endpoint may take some time to answer it.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&self.epoll, door, epoll::EventData::new_u64(token | DOOR_BIT), flags)?;
        Ok(token)
    }

    /// Drives this no more.
    pub(crate) fn remove(&self, token: u64, descriptor: BorrowedFd<'_>, door: Option<BorrowedFd<'_>>) {
        self.lock().remove(&token);
        // The sets may be gone with their owner already; there is nothing left to undo then.
        let _ = epoll::delete(&self.epoll, descriptor);
        door.map(|door| epoll::delete(&self.epoll, door));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(64);
        let mut patience = REARM;
        loop {
            patience = self.round(&mut events, patience);
        }
    }

    /// Sleeps until something is to be done, and does it. Gives the patience of the next round.
    fn round(&self, events: &mut Vec<epoll::Event>, patience: Duration) -> Duration {
        events.clear();
        let timeout = rustix::time::Timespec::try_from(self.sleep(patience)).ok();
        let spare = rustix::buffer::spare_capacity(events);
        if epoll::wait(&self.epoll, spare, timeout.as_ref()).is_err() {
            return patience;
        }
        for event in events.iter().filter(|event| event.data.u64() != BELL) {
            self.told(event.data.u64());
        }
        self.turn_due();
        self.rearm();
        if events.is_empty() { (patience * 2).min(SLEEP) } else { REARM }
    }

    /// What is alive. The strong references are dropped outside the lock: the last one's drop calls `remove`.
    fn live(&self) -> Vec<(u64, bool, Arc<dyn Driven>)> {
        let mut entries = self.lock();
        entries.retain(|_, entry| entry.driven.strong_count() > 0);
        entries
            .iter()
            .filter_map(|(&token, entry)| Some((token, entry.armed, entry.driven.upgrade()?)))
            .collect()
    }

    /// How long to sleep; `patience` for endpoints that a caller is at.
    fn sleep(&self, patience: Duration) -> Duration {
        let now = Instant::now();
        // From here on, whoever has a nearer deadline rings, also while the deadlines of the others are looked at.
        self.sleeps_until(now + SLEEP);
        let one = |(_, armed, driven): (u64, bool, Arc<dyn Driven>)| {
            let due = driven.due().map_or(SLEEP, |due| due.saturating_duration_since(now));
            match armed {
                true => due,
                false if driven.is_polled() => due.min(patience),
                false => due.min(REARM),
            }
        };
        let sleep = self.live().into_iter().map(one).min().unwrap_or(SLEEP).min(SLEEP);
        self.sleeps_until(now + sleep);
        sleep
    }

    fn disarmed(&self, token: u64) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(&token) else { return };
        entry.armed = false;
        let driven = entry.driven.upgrade();
        if let Some(driven) = &driven {
            driven.set_attended(false);
        }
        // As in `arm`: the lock first.
        drop(entries);
    }

    fn find(&self, token: u64) -> Option<Arc<dyn Driven>> {
        let entries = self.lock();
        entries.get(&token).and_then(|entry| entry.driven.upgrade())
    }

    /// One event of an endpoint.
    fn told(&self, token: u64) {
        if token & DOOR_BIT != 0 {
            return self.drive(token & !DOOR_BIT, |driven| driven.knocked());
        }
        self.disarmed(token);
        self.drive(token, |driven| driven.turn());
    }

    fn drive(&self, token: u64, turn: impl Fn(&dyn Driven) -> bool) {
        let Some(driven) = self.find(token) else { return };
        let turned = catch_unwind(AssertUnwindSafe(|| turn(&*driven)));
        if let Err(panic) = turned {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            driven.panicked(text.unwrap_or_else(|| "a panic without words".to_owned()));
        }
    }

    fn turn_due(&self) {
        let now = Instant::now();
        for (token, _, driven) in self.live() {
            if driven.due().is_some_and(|due| due <= now) {
                self.drive(token, |driven| driven.turn());
            }
        }
    }

    fn rearm(&self) {
        for (token, armed, driven) in self.live() {
            if armed || !driven.is_left_alone() {
                continue;
            }
            if let Some(entry) = self.lock().get_mut(&token) {
                self.watch(token, entry, &*driven);
            }
            driven.be_rung();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Somebody is always at it.
    struct Taken {
        set: OwnedFd,
        turns: AtomicUsize,
        knocks: AtomicUsize,
    }

    impl Driven for Taken {
        fn descriptor(&self) -> BorrowedFd<'_> {
            self.set.as_fd()
        }

        fn turn(&self) -> bool {
            self.turns.fetch_add(1, Ordering::SeqCst);
            false
        }

        fn knocked(&self) -> bool {
            self.knocks.fetch_add(1, Ordering::SeqCst);
            false
        }

        fn set_attended(&self, _attended: bool) {}

        fn be_rung(&self) {}

        fn is_left_alone(&self) -> bool {
            false
        }

        fn is_polled(&self) -> bool {
            true
        }

        fn due(&self) -> Option<Instant> {
            None
        }

        fn panicked(&self, what: String) {
            panic!("{what}");
        }
    }

    fn bell() -> OwnedFd {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("a descriptor")
    }

    fn ring(bell: &OwnedFd) {
        rustix::io::write(bell, &1u64.to_ne_bytes()).expect("rung");
    }

    /// Whoever waits at it needs nobody else, until he goes.
    #[test]
    fn one_that_is_not_armed_is_left_to_who_waits_at_it() {
        let background = Background::new().expect("descriptors");
        let set = bell();
        let taken = Arc::new(Taken { set, turns: AtomicUsize::new(0), knocks: AtomicUsize::new(0) });
        let driven: Arc<dyn Driven> = taken.clone();
        let token = background.add(&driven, None, false).expect("watched");
        let round = || _ = background.round(&mut Vec::with_capacity(4), Duration::from_millis(1));
        ring(&taken.set);
        round();
        assert_eq!(taken.turns.load(Ordering::SeqCst), 0);
        background.arm(token);
        round();
        assert_eq!(taken.turns.load(Ordering::SeqCst), 1);
        background.remove(token, taken.set.as_fd(), None);
    }

    /// Who is inside is heard once, and then left to whoever is at the endpoint. Who knocks is heard each time, and a
    /// knock that was not answered wakes nobody again.
    #[test]
    fn who_knocks_is_heard_whoever_is_at_the_endpoint() {
        let background = Background::new().expect("descriptors");
        let (door, set) = (bell(), bell());
        let taken = Arc::new(Taken { set, turns: AtomicUsize::new(0), knocks: AtomicUsize::new(0) });
        let driven: Arc<dyn Driven> = taken.clone();
        let token = background.add(&driven, Some(door.as_fd()), true).expect("watched");
        let heard = || (taken.turns.load(Ordering::SeqCst), taken.knocks.load(Ordering::SeqCst));
        let round = || _ = background.round(&mut Vec::with_capacity(4), Duration::from_millis(1));
        ring(&taken.set);
        round();
        assert_eq!(heard(), (1, 0));
        ring(&taken.set);
        for knocks in 1..4 {
            ring(&door);
            round();
            round();
            assert_eq!(heard(), (1, knocks), "it is not armed again as nobody left it alone");
        }
        background.remove(token, taken.set.as_fd(), Some(door.as_fd()));
        ring(&door);
        round();
        assert_eq!(heard(), (1, 3), "it is not driven any more");
    }
}
