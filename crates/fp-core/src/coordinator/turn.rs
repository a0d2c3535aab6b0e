//! One turn of an endpoint. What is ready, by the descriptors and by the rings of its links, is handled first, and
//! deadlines after it.

use crate::coordinator::links::From;
use crate::coordinator::machine::Machine as _;
use crate::coordinator::relief::CHUNK;
use crate::coordinator::{DATA_BIT, Endpoint, HERE_BIT, Role, State, TOKEN_LISTENER, TOKEN_WAKE};
use fp_proto::few;
use fp_transport::RingWatch;
use rustix::event::epoll;
use rustix::io::Errno;
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Events that one look at the epoll set takes.
const EVENTS: usize = 64;

/// What is ready: few at a time, as a rule.
pub(crate) type Tokens = SmallVec<[u64; 8]>;

/// Who takes a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// A call of the application.
    Caller,
    /// The background thread.
    Background,
    /// The background thread, as somebody knocks.
    Knock,
}

/// After so many turns in which nobody said anything, the background thread attends at once when a caller goes. Where peers
/// answer every step it would be woken for each. Where none says anything, as those do not whose conditions do not hold, it
/// costs nothing. And who then asks for something need not wait for the simulation's next call.
const QUIET_TURNS: u32 = 64;

/// Looks at the rings between two looks at the epoll set, while a call looks by itself.
const LOOKS: u32 = 1024;

impl<R: Role> State<R> {
    /// These, and the tokens of control links that have something here.
    fn with_here(&mut self, mut ready: Tokens) -> Tokens {
        for token in self.links.here() {
            ready.push(token | HERE_BIT);
        }
        ready
    }

    /// Has the peers ring for what they put into rings from now on; the tokens of links that have something already.
    pub(crate) fn be_rung(&mut self) -> Tokens {
        few::gather(self.links.be_rung().map(|token| token | HERE_BIT))
    }
}

impl<R: Role> Endpoint<R> {
    /// Handles what is here already. A caller that came a moment ago has the endpoint to itself for a while: the
    /// background thread does not come back at once. What came since must not wait for that thread. Nor need the thread
    /// be woken, perhaps on the caller's own core, for what the caller handles at its next step.
    pub(crate) fn catch_up(&self) {
        self.turn_now(By::Caller);
    }

    /// One turn without waiting; `false` if somebody else is at the descriptors.
    pub(crate) fn turn_now(&self, by: By) -> bool {
        if self.is_forked() || !self.take_descriptors(by) {
            return false;
        }
        let ready = self.ready(Duration::ZERO);
        let mut state = self.lock();
        let ready = state.with_here(ready);
        let data = self.turn_control(state, &ready, by == By::Caller);
        self.turn_data(&data);
        true
    }

    /// Whether the descriptors are free; then they are ours. Otherwise a caller that comes now would wait on them, and
    /// sleep though its message was taken already.
    fn take_descriptors(&self, by: By) -> bool {
        let mut state = self.lock();
        let is_free = !std::mem::replace(&mut state.polling, true);
        if !is_free && by == By::Knock {
            state.newcomers.knocked_in_vain();
        }
        is_free
    }

    pub(crate) fn poll_descriptors<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<R>>,
        until: Instant,
        looks_until: Option<Instant>,
    ) -> MutexGuard<'a, State<R>> {
        state.polling = true;
        let due = state.deadline(|instant| self.clock.moment(instant));
        let due = due.map_or(until, |due| self.clock.instant(due).min(until));
        self.due.store(u64::MAX, Ordering::Release);
        let owed: Tokens = few::gather(state.links.owed());
        drop(state);
        let ready = if owed.is_empty() { self.await_ready(due, looks_until) } else { owed };
        let data = self.turn_control(self.lock(), &ready, true);
        self.turn_data(&data);
        self.lock()
    }

    /// The tokens that are ready, at the latest at `due`: looks for as long as `busy_poll` and the call allow, then
    /// sleeps.
    fn await_ready(&self, due: Instant, looks_until: Option<Instant>) -> Tokens {
        let looks_until = looks_until.filter(|until| Instant::now() < *until);
        let busy_until = (!self.busy_poll.is_zero()).then(|| Instant::now() + self.busy_poll);
        if let Some(until) = busy_until.or(looks_until) {
            let ready = self.look_by_ourselves(due.min(until), busy_until.is_none());
            if !ready.is_empty() {
                return ready;
            }
        }
        let mut here = self.lock().be_rung();
        if !here.is_empty() {
            here.extend(self.ready(Duration::ZERO));
            return here;
        }
        self.ready(due.saturating_duration_since(Instant::now()))
    }

    /// Looks at the rings of the control links, and now and then at the descriptors, until something is ready or
    /// `until` is past. Peers need not ring meanwhile. Who gives way lets others of its core run between two looks.
    fn look_by_ourselves(&self, until: Instant, gives_way: bool) -> Tokens {
        let watched = self.lock().links.watch();
        let has_news = || watched.iter().any(RingWatch::has_news);
        let mut ready = Tokens::new();
        while Instant::now() < until {
            ready = self.ready(Duration::ZERO);
            let looks = if ready.is_empty() { LOOKS } else { 1 };
            if (0..looks).any(|_| has_news()) || !ready.is_empty() {
                break;
            }
            if gives_way {
                std::thread::yield_now();
            }
        }
        ready.extend(self.lock().be_rung());
        ready
    }

    /// The tokens that are ready, at the latest after `timeout`.
    fn ready(&self, timeout: Duration) -> Tokens {
        let mut space = [MaybeUninit::<epoll::Event>::uninit(); EVENTS];
        let timeout = rustix::time::Timespec::try_from(timeout).ok();
        match epoll::wait(&self.epoll, &mut space[..], timeout.as_ref()) {
            Ok((events, _)) => few::gather(events.iter().map(|event| event.data.u64())),
            // Whoever was stopped looks at what came meanwhile, before it believes that nothing did.
            Err(Errno::INTR) => self.ready(Duration::ZERO),
            Err(_) => Tokens::new(),
        }
    }

    /// Between two inputs: the background thread does what the first asked for, and lets short calls through.
    fn go_on<'a>(&'a self, mut state: MutexGuard<'a, State<R>>, by_caller: bool) -> MutexGuard<'a, State<R>> {
        if by_caller {
            return state;
        }
        self.drain_some(&mut state, CHUNK);
        self.give_way(state)
    }

    /// Inputs that are ready come first, deadlines after them. Gives the tokens of data links.
    fn turn_control<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<R>>,
        ready: &[u64],
        by_caller: bool,
    ) -> Tokens {
        let instant = Instant::now();
        let now = self.clock.moment(instant);
        let is_data = |token: &u64| token & DATA_BIT != 0;
        let mut data = Tokens::new();
        ready.iter().filter(|token| is_data(token)).for_each(|token| data.push(*token));
        let mut news = data.len() < ready.len();
        let mut newcomers = Tokens::new();
        for &token in ready.iter().filter(|token| !is_data(token)) {
            match token {
                TOKEN_LISTENER => newcomers.extend(self.accept(&mut state)),
                TOKEN_WAKE => self.read_mailbox(&mut state),
                dial if state.dials.has(dial) => self.dial_ready(&mut state, dial, now),
                link if link & HERE_BIT != 0 => {
                    self.link_ready(&mut state, link & !HERE_BIT, From::Here, now)
                }
                link => self.link_ready(&mut state, link, From::Socket, now),
            }
            state = self.go_on(state, by_caller);
        }
        for token in newcomers {
            self.newcomer_ready(&mut state, token, now);
            state = self.go_on(state, by_caller);
        }
        self.give_up_dials(&mut state, instant, now);
        let most = if by_caller { usize::MAX } else { CHUNK };
        self.perform_some(&mut state, most);
        let mut due = state.deadline(|instant| self.clock.moment(instant));
        if due.is_some_and(|due| due <= now) {
            state.machine.handle_timeout(now);
            news = true;
            self.perform_some(&mut state, most);
            due = state.deadline(|instant| self.clock.moment(instant));
        }
        state.polling = false;
        state.quiet_turns = if news { 0 } else { state.quiet_turns.saturating_add(1) };
        let wants_background = by_caller && self.leave_links(&mut state, instant);
        self.note_due(&state, due);
        state.show_signals();
        self.note_crowd(&state);
        self.tell_waiting(&state);
        drop(state);
        if news {
            self.wakers.wake_all();
        }
        if wants_background {
            self.call_background();
        }
        data
    }

    /// A caller has looked at the links, and leaves them. Whether the background thread is to attend at once.
    fn leave_links(&self, state: &mut State<R>, now: Instant) -> bool {
        state.left_alone_since = now;
        if self.attended.load(Ordering::SeqCst) {
            return false;
        }
        // The caller looks at the rings whenever it comes. Until the background thread attends, nobody needs a bell.
        state.links.be_silent();
        state.newcomers.want_attention(now) || state.quiet_turns >= QUIET_TURNS
    }

    fn turn_data(&self, tokens: &[u64]) {
        if tokens.is_empty() {
            return;
        }
        let server = self.lock().role.data_server();
        if let Some(server) = server {
            tokens.iter().for_each(|&token| server.ready(token));
        }
    }
}
