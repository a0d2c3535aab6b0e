//! Descriptors that a program waits on by its own `poll`: readable while a call would find something.
//!
//! Whoever changes the state of an endpoint makes them what they should be before he gives up the lock. So none is
//! missed, whatever changed the state and whoever drove.

use crate::coordinator::{Endpoint, Role, State};
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A descriptor for `poll`, `epoll` and the like. It is readable as long as the call that it was made for would return
/// at once, and not otherwise (level-triggered). Flexpath sets and clears it: whoever waits must not read it.
///
/// It stays valid when the handle is gone, and changes no more.
#[derive(Clone, Debug)]
pub struct Signal(Arc<OwnedFd>);

impl AsFd for Signal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A signal, and when it is to be set.
pub(crate) struct Watched<R: Role> {
    signal: Signal,
    look: fn(&mut State<R>) -> bool,
    is_set: bool,
}

impl<R: Role> Watched<R> {
    /// Makes it what it should be; `false` if nobody has it any more.
    fn show(&mut self, state: &mut State<R>) -> bool {
        if Arc::strong_count(&self.signal.0) == 1 {
            return false;
        }
        let is_ready = (self.look)(state);
        if is_ready != self.is_set {
            self.is_set = is_ready;
            // It never blocks; where it is set already, or was cleared by somebody else, nothing is to be done.
            let _ = match is_ready {
                true => rustix::io::write(&self.signal, &1u64.to_ne_bytes()),
                false => rustix::io::read(&self.signal, &mut [0; 8]),
            };
        }
        true
    }
}

impl<R: Role> State<R> {
    /// Makes all signals what they should be.
    pub(super) fn show_signals(&mut self) {
        if self.signals.is_empty() {
            return;
        }
        let mut all = std::mem::take(&mut self.signals);
        all.retain_mut(|watched| watched.show(self));
        self.signals = all;
    }
}

impl<R: Role> Endpoint<R> {
    /// A signal that is set while `look` is content. From now on the background thread drives whenever no caller does.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub(crate) fn signal(&self, look: fn(&mut State<R>) -> bool) -> std::io::Result<Signal> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let signal = Signal(Arc::new(descriptor));
        let mut state = self.lock();
        state.signals.push(Watched { signal: signal.clone(), look, is_set: false });
        state.show_signals();
        drop(state);
        self.leave();
        Ok(signal)
    }
}
