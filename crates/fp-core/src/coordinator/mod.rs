//! The coordinator of one handle: it drives the machine and decides nothing.
//!
//! A lock guards the machine, and whoever holds the lock drives the machine:
//!
//! * A command runs on the caller's thread, and writes to the links without blocking.
//! * A thread that waits inside a call waits on the links' own descriptors.
//! * The background thread takes over when nobody waits.
//!
//! No call has a thread of its own. Handing a message to another thread costs the wake of an idle core, about 20 us. A
//! small step would pay that three times.

pub(crate) mod background;
pub(crate) mod clock;
mod cores;
pub(crate) mod dial;
mod dials;
mod hear;
pub(crate) mod links;
pub(crate) mod machine;
mod newcomers;
mod observed;
mod perform;
pub(crate) mod relief;
pub(crate) mod signals;
pub(crate) mod troubles;
pub(crate) mod turn;
pub(crate) mod wait;
mod wait_driving;
pub(crate) mod wakers;
pub(crate) mod workers;

use crate::coordinator::background::{Background, Driven};
use crate::coordinator::clock::Clock;
use crate::coordinator::dial::{Letter, Mailbox};
use crate::coordinator::dials::Dials;
use crate::coordinator::links::Links;
use crate::coordinator::machine::Machine;
use crate::coordinator::newcomers::Newcomers;
use crate::coordinator::signals::Watched;
use crate::coordinator::troubles::Troubles;
use crate::coordinator::turn::By;
use crate::coordinator::wakers::Wakers;
use crate::rendezvous::Rendezvous;
use crate::rendezvous::desk::Desk;
use crate::value::interrupt::Interrupt;
use crate::value::parameter_request::ParameterRequest;
use fp_proto::access::Denial;
use fp_proto::effect::Effect;
use fp_proto::message::Message;
use fp_proto::outcome::MemoryShortage;
use fp_proto::status::report::LinkStatus;
use fp_proto::steering::{SteeringOutcome, SteeringRequest};
use fp_proto::time::Moment;
use fp_transport::{Contact, Link, ListenCounts, Listener, PeerProof, TlsIdentity, TransportPolicy};
use fp_types::Epoch;
use rustix::event::epoll;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Tokens of an endpoint's epoll set: these, then control links and dials from `FIRST_LINK`, data links with the top bit.
const TOKEN_LISTENER: u64 = 0;

const TOKEN_WAKE: u64 = 1;

const FIRST_LINK: u64 = 2;

/// Marks the token of a data link.
pub(crate) const DATA_BIT: u64 = 1 << 63;

/// Marks the token of a control link that has something here, whatever its socket has.
const HERE_BIT: u64 = 1 << 62;

/// What a handle adds to its machine.
pub(crate) trait Role: Send + 'static {
    /// The machine.
    type Machine: Machine;
    /// Does what is not about links: `Free`, `Assigned`, `Event`.
    fn effect(&mut self, effect: Effect);
    /// A peer opened a data link; its descriptor goes into `epoll` with a token that has `DATA_BIT`.
    fn data_link(&mut self, link: Link, proof: &PeerProof, epoll: BorrowedFd<'_>);
    /// What serves data links without the machine's lock.
    fn data_server(&self) -> Option<Arc<dyn DataServer>>;
    /// The coordinator itself failed.
    fn failed(&mut self, what: String);
    /// Whether a message may be heard of a peer that dialled this side and is no rank of the own cohort. Writes into it
    /// what the link proves of who sent it.
    fn admit(&self, _message: &mut Message, _proof: &PeerProof) -> Result<(), Denial> {
        Ok(())
    }
    /// Logs a request to the simulation and its answer, with what the link proves of who asked.
    fn log_request(&self, _asked: (&SteeringRequest, &SteeringOutcome), _proof: Option<&PeerProof>) {}
    /// Has somebody else answer a request, by a letter.
    fn hand_on(&self, _request: ParameterRequest, _mailbox: &Arc<Mailbox>) {}
    /// Why this process can bear no newcomer now.
    fn shortage(&self) -> Option<MemoryShortage> {
        None
    }
    /// What it counted, and its data links, for observers.
    fn observed(&self) -> (Vec<(String, u64)>, Vec<LinkStatus>);
}

/// Serves data links; called without the machine's lock.
pub(crate) trait DataServer: Send + Sync {
    /// These links have something to say or room to write.
    fn ready(&self, token: u64);
}

/// What the lock guards.
pub(crate) struct State<R: Role> {
    pub(crate) machine: R::Machine,
    pub(crate) role: R,
    links: Links,
    dials: Dials,
    /// None where nobody dials.
    listener: Option<Listener>,
    desk: Desk,
    /// Whether somebody, a caller or the background thread, is at the descriptors.
    polling: bool,
    /// Callers that wait for the one that polls.
    waiting: usize,
    left_alone_since: Instant,
    newcomers: Newcomers,
    /// Turns since somebody said something.
    quiet_turns: u32,
    /// Whether the machine asks for more than was done when the lock was given up.
    backlog: bool,
    /// What programs wait on by themselves.
    signals: Vec<Watched<R>>,
    pub(crate) troubles: Troubles,
}

impl<R: Role> State<R> {
    /// The contacts of those who opened a name, by its entries in the rendezvous.
    pub(crate) fn contacts_of(&self, name: &str) -> Vec<String> {
        self.desk.contacts_of(name)
    }

    /// Where the one is who opened a name as this epoch, by its entry in the rendezvous.
    pub(crate) fn contact_of(&self, epoch: Epoch) -> Option<Contact> {
        self.desk.contact_of(epoch)
    }
}

/// What a look at the state found; `Err`: nothing yet, and when to look again at the latest.
pub(crate) type Look<T> = Result<T, Option<Moment>>;

/// What an endpoint needs besides its machine. Each handle has links of its own, and a listener if anybody is told where
/// it is. Shared ones would need a demultiplexer, let one stream's bulk wait behind another's, and fail together.
pub(crate) struct Setup {
    pub(crate) listener: Option<Listener>,
    /// Whether the opener waits as soon as it has started, so that the background thread is not needed until it goes.
    pub(crate) is_awaited: bool,
    pub(crate) tls: Option<TlsIdentity>,
    pub(crate) contact: Contact,
    pub(crate) rendezvous: Rendezvous,
    pub(crate) policy: TransportPolicy,
    pub(crate) token: Option<fp_transport::Token>,
    pub(crate) domain: fp_transport::Domain,
    pub(crate) dial_timeout: Duration,
    pub(crate) busy_poll: Duration,
    pub(crate) interrupt: Option<Interrupt>,
}

/// One handle's listener, links and machine.
pub(crate) struct Endpoint<R: Role> {
    state: Mutex<State<R>>,
    progress: Condvar,
    wakers: Wakers,
    epoll: OwnedFd,
    mailbox: Arc<Mailbox>,
    pub(crate) clock: Clock,
    pub(crate) contact: Contact,
    pub(crate) dial: dial::Dial,
    /// What the listener did to stay within its bounds.
    pub(crate) listened: Arc<ListenCounts>,
    busy_poll: Duration,
    interrupt: Option<Interrupt>,
    /// The machine's deadline in microseconds of the clock; `u64::MAX` for none or while a caller waits.
    due: AtomicU64,
    /// Callers that want the lock for a short call.
    hurried: AtomicUsize,
    /// Whether there are so many links that short calls leave them to the background thread.
    crowded: AtomicBool,
    /// Whether the background thread watches the descriptors: then peers must ring for what they put into rings.
    attended: AtomicBool,
    registered: OnceLock<(Arc<Background>, u64)>,
    pid: u32,
}

/// An epoll set that has an endpoint's bell, and its door if it has one.
fn watched(mailbox: &Mailbox, listener: Option<&Listener>) -> std::io::Result<OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let read = epoll::EventFlags::IN;
    if let Some(listener) = listener {
        epoll::add(&epoll, listener.as_fd(), epoll::EventData::new_u64(TOKEN_LISTENER), read)?;
    }
    epoll::add(&epoll, mailbox.descriptor(), epoll::EventData::new_u64(TOKEN_WAKE), read)?;
    Ok(epoll)
}

impl<R: Role> Endpoint<R> {
    pub(crate) fn start(
        clock: Clock,
        setup: Setup,
        machine: R::Machine,
        role: R,
    ) -> std::io::Result<Arc<Self>> {
        let mailbox = Arc::new(Mailbox::new()?);
        let epoll = watched(&mailbox, setup.listener.as_ref())?;
        let listened = setup.listener.as_ref().map_or_else(Arc::default, Listener::counts);
        let Setup { policy, token, tls, domain, dial_timeout: timeout, .. } = &setup;
        let tls = tls.clone();
        let (policy, token, domain, timeout) = (policy.clone(), token.clone(), domain.clone(), *timeout);
        let post = mailbox.clone();
        let report = move |news| post.post(Letter::Met(news));
        let desk = setup.rendezvous.desk(token.clone(), tls.clone(), report)?;
        let dial = dial::Dial { policy, token, tls, domain, timeout };
        let state = State {
            machine,
            role,
            links: Links::new(FIRST_LINK),
            dials: Dials::default(),
            listener: setup.listener,
            desk,
            polling: false,
            waiting: 0,
            left_alone_since: Instant::now(),
            newcomers: Newcomers::default(),
            quiet_turns: 0,
            backlog: false,
            signals: Vec::new(),
            troubles: Troubles::default(),
        };
        let endpoint = Arc::new(Self {
            state: Mutex::new(state),
            progress: Condvar::new(),
            wakers: Wakers::default(),
            epoll,
            mailbox,
            clock,
            contact: setup.contact,
            dial,
            listened,
            busy_poll: setup.busy_poll,
            interrupt: setup.interrupt,
            due: AtomicU64::new(u64::MAX),
            hurried: AtomicUsize::new(0),
            crowded: AtomicBool::new(false),
            attended: AtomicBool::new(!setup.is_awaited),
            registered: OnceLock::new(),
            pid: fp_transport::own_pid(),
        });
        endpoint.drive(|_, _| ());
        endpoint.register(!setup.is_awaited)?;
        Ok(endpoint)
    }

    /// Has the background thread drive it whenever nobody else does.
    fn register(self: &Arc<Self>, armed: bool) -> std::io::Result<()> {
        let background = background::background()?;
        let driven: Arc<dyn Driven> = self.clone();
        let state = self.lock();
        let door = state.listener.as_ref().map(AsFd::as_fd);
        let token = background.add(&driven, door, armed)?;
        drop(state);
        let _ = self.registered.set((background, token));
        Ok(())
    }

    /// Where others ring to have whoever waits here look again.
    pub(crate) fn mailbox(&self) -> Arc<Mailbox> {
        Arc::clone(&self.mailbox)
    }

    /// Whether this is a child that was forked off the process that opened the handle.
    pub(crate) fn is_forked(&self) -> bool {
        fp_transport::own_pid() != self.pid
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a command on the machine and does what it asks for.
    pub(crate) fn drive<T>(&self, command: impl FnOnce(&mut State<R>, Moment) -> T) -> T {
        let mut state = self.lock();
        let answer = command(&mut state, self.clock.now());
        self.drain(&mut state);
        self.tell_waiting(&state);
        self.tell_of_dials(&state);
        drop(state);
        self.wakers.wake_all();
        answer
    }

    /// Looks, without driving.
    pub(crate) fn inspect<T>(&self, look: impl FnOnce(&mut State<R>) -> T) -> T {
        let mut state = if self.is_crowded() { self.lock_in_a_hurry() } else { self.lock() };
        let answer = look(&mut state);
        state.show_signals();
        answer
    }
}

impl<R: Role> Driven for Endpoint<R> {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    fn turn(&self) -> bool {
        if self.is_forked() {
            return false;
        }
        self.wakers.wake_due(Instant::now());
        let turned = self.turn_now(By::Background);
        self.work_off();
        turned
    }

    fn knocked(&self) -> bool {
        if self.is_forked() {
            return false;
        }
        let turned = self.turn_now(By::Knock);
        self.work_off();
        turned
    }

    fn set_attended(&self, attended: bool) {
        self.attended.store(attended, Ordering::SeqCst);
    }

    fn be_rung(&self) {
        if !self.lock().be_rung().is_empty() {
            // What is here makes no descriptor readable.
            self.mailbox.ring();
        }
    }

    fn is_left_alone(&self) -> bool {
        let state = self.lock();
        let awaited = !state.signals.is_empty() || self.wakers.any() || state.newcomers.are_expected();
        !state.polling && (awaited || state.left_alone_since.elapsed() >= Duration::from_millis(1))
    }

    fn is_polled(&self) -> bool {
        self.lock().polling
    }

    fn due(&self) -> Option<Instant> {
        let of_machine = match self.due.load(Ordering::Acquire) {
            u64::MAX => None,
            micros => Some(self.clock.instant(Moment::from_micros(micros))),
        };
        of_machine.into_iter().chain(self.wakers.due()).min()
    }

    fn panicked(&self, what: String) {
        tracing::error!(%what, "the coordinator panicked: the stream fails");
        let mut state = self.lock();
        state.polling = false;
        state.role.failed(what);
        state.show_signals();
        drop(state);
        self.progress.notify_all();
        self.wakers.wake_all();
    }
}

impl<R: Role> Drop for Endpoint<R> {
    fn drop(&mut self) {
        // A forked child shares the thread's epoll set with its parent, whose handle this is not.
        if self.is_forked() {
            return;
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((background, token)) = self.registered.get() {
            background.remove(*token, self.epoll.as_fd(), state.listener.as_ref().map(AsFd::as_fd));
        }
    }
}
