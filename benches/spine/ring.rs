//! The baseline over shared memory: a ring of slots between two processes, and a futex to wake one another.

use crate::shared::Shared;
use rustix::thread::futex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// No wait of a bench is longer: past it the other process is dead.
const PATIENCE: Duration = Duration::from_secs(60);

/// A counter that processes raise and wait for. It lies in two cache lines: the value, and how many sleep on it.
pub(crate) struct Bell<'a> {
    value: &'a AtomicU32,
    sleeping: &'a AtomicU32,
}

impl<'a> Bell<'a> {
    /// The bell of that number in shared memory.
    pub(crate) fn of(words: &'a [AtomicU32], number: usize) -> Self {
        Self { value: &words[number * 32], sleeping: &words[number * 32 + 16] }
    }

    /// Raises the counter, and wakes who sleeps on it.
    pub(crate) fn ring(&self) {
        self.value.fetch_add(1, Ordering::SeqCst);
        if self.sleeping.load(Ordering::SeqCst) != 0 {
            futex::wake(self.value, futex::Flags::empty(), u32::MAX >> 1).expect("a wake");
        }
    }

    /// What it has been raised to.
    pub(crate) fn value(&self) -> u32 {
        self.value.load(Ordering::Acquire)
    }

    /// Keeps the core busy until the counter is at least `wanted`: nobody else's work gets into its caches.
    pub(crate) fn spin_for(&self, wanted: u32) {
        let until = Instant::now() + PATIENCE;
        while self.value() < wanted {
            assert!(Instant::now() < until, "nobody rang: {} of {wanted}", self.value());
            std::hint::spin_loop();
        }
    }

    /// Sleeps until the counter is at least `wanted`.
    pub(crate) fn wait_for(&self, wanted: u32) {
        while self.value() < wanted {
            // One who wakes says nothing of the others, who may sleep still.
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            let seen = self.value.load(Ordering::SeqCst);
            if seen < wanted {
                let patience = PATIENCE.try_into().expect("a short time");
                let waited = futex::wait(self.value, futex::Flags::empty(), seen, Some(&patience));
                assert_ne!(waited, Err(rustix::io::Errno::TIMEDOUT), "nobody rang: {seen} of {wanted}");
            }
            self.sleeping.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// One end of the ring: `filled` is raised by who fills slots, `emptied` by who empties them.
pub(crate) struct Ring {
    shared: Shared,
    slots: u32,
    len: usize,
    step: u32,
}

impl Ring {
    /// An end, of a ring of `slots` slots of `len` bytes each.
    pub(crate) fn open(path: &str, slots: u32, len: usize) -> Self {
        Self { shared: Shared::open(path), slots, len, step: 0 }
    }

    /// A bell of the same memory; the ring's own are 0 and 1.
    pub(crate) fn bell(&self, number: usize) -> Bell<'_> {
        Bell::of(self.shared.words(), number)
    }

    /// Waits for an empty slot, has it filled, and hands it over.
    pub(crate) fn send(&mut self, fill: impl FnOnce(&mut [u8])) {
        let at = (self.step % self.slots) as usize;
        self.bell(1).wait_for((self.step + 1).saturating_sub(self.slots));
        fill(self.shared.slot_mut(at, self.len));
        self.bell(0).ring();
        self.step += 1;
    }

    /// Waits for a filled slot, has it read, and gives it back.
    pub(crate) fn receive(&mut self, read: impl FnOnce(&[u8])) {
        let at = (self.step % self.slots) as usize;
        self.bell(0).wait_for(self.step + 1);
        read(self.shared.slot(at, self.len));
        self.bell(1).ring();
        self.step += 1;
    }
}
