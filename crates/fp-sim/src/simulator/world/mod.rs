//! The world of one run: processes, links, the rendezvous, virtual time, and the books of the oracles.
//!
//! This file has the processes and their clocks; each file beside it lets one kind of thing happen to them.

mod boot;
mod coordinator;
mod data_plane;
mod falsified;
mod observers;
mod owner_search;
mod publisher_turns;
mod reselections;
mod step_reads;
mod strikes;
mod subscriber_turns;

use crate::queue::Queue;
use crate::simulator::application::App;
use crate::simulator::data_message::DataMessage;
use crate::simulator::falsification::{Falsification, Flaw};
use crate::simulator::machine::{Input, Machine};
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::network::{LinkId, Network};
use crate::simulator::oracle::Oracle;
use crate::simulator::oracle::Rule;
use crate::simulator::prng::Prng;
use crate::simulator::rendezvous::Rendezvous;
use crate::simulator::scenario::Scenario;
use crate::simulator::store::Store;
use crate::simulator::trace::Trace;
use fp_proto::config::ContactText;
use fp_proto::effect::{DialTicket, Effect};
use fp_proto::outcome::MemoryShortage;
use fp_proto::time::Moment;
use fp_proto::transition::TransitionSet;
use fp_types::{Epoch, Rank};
use std::collections::{BTreeMap, VecDeque};

/// What a publisher that is short of memory says.
const SHORTAGE: MemoryShortage = MemoryShortage { left_bytes: 300, kept_bytes: 1 << 26 };

/// Where the origin of virtual time lies on the clock of the world.
pub(crate) const CLOCK_ORIGIN_MICROS: u64 = 1_700_000_000_000_000;

/// How a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Not started yet.
    Unborn,
    Alive,
    /// Its host is gone as well, so that nobody answers for it.
    Vanished,
    /// Killed; its host closes its links.
    Killed,
    /// Its handle was closed, or opening failed.
    Done,
}

/// A process.
pub(crate) struct Slot {
    pub(crate) cohort: CohortId,
    pub(crate) rank: Rank,
    pub(crate) who: String,
    pub(crate) contact: ContactText,
    /// What its coordinator's hello answers.
    pub(crate) epoch: Epoch,
    pub(crate) machine: Option<Machine>,
    pub(crate) life: Life,
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) paused_until: Option<Moment>,
    /// Since when it sleeps, or slept last.
    pub(crate) slept_at: Moment,
    /// From when on it may sleep again.
    pub(crate) rested_at: Moment,
    pub(crate) inbox: VecDeque<Input>,
    /// When its coordinator's clock rings next, and its application's.
    pub(crate) timer: Option<Moment>,
    pub(crate) wake: Option<Moment>,
    /// The machine has said its last word; its process ends when that is done.
    pub(crate) finished: bool,
    /// Timeouts handled at one moment: a machine must not spin.
    pub(crate) spins: (Moment, u32),
}

/// Something that is due.
pub(crate) enum Due {
    Start(SlotId),
    /// A message arrives at this side of a link.
    Message {
        link: LinkId,
        side: usize,
        bytes: Vec<u8>,
    },
    /// This side of a link hears of its end.
    Closed {
        link: LinkId,
        side: usize,
    },
    /// A dial reaches the process behind a contact.
    Dial {
        from: SlotId,
        ticket: DialTicket,
        contact: ContactText,
        epoch: Option<Epoch>,
    },
    /// Something for one machine.
    Input(SlotId, Input),
    /// The rendezvous is read for this process.
    Listing {
        slot: SlotId,
        name: String,
    },
    Timer(SlotId),
    Wake(SlotId),
    Data(DataMessage),
    /// An effect that a falsification held up.
    Late(SlotId, Effect),
    /// The fault of this number strikes.
    Strike(usize),
    Resume(SlotId),
    /// A new epoch of a publisher is due.
    Restart(usize),
    /// By now a loss must have been noticed.
    CheckLoss(CohortId),
    /// By now a question must have been answered.
    CheckResolved {
        slot: SlotId,
        request: u64,
    },
    /// The observer of this plan comes.
    ObserverComes(usize),
    /// An observer's turn.
    ObserverAsks(usize),
    /// By now a question of an observer must have been answered.
    CheckStatus {
        observer: usize,
        request: u64,
    },
    /// By now a question about contacts must have been answered.
    CheckLocated {
        slot: SlotId,
        request: u64,
    },
}

/// One run.
pub(crate) struct World {
    pub(crate) now: Moment,
    pub(crate) scenario: Scenario,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) queue: Queue<Moment, Due>,
    pub(crate) network: Network,
    pub(crate) slots: Vec<Slot>,
    pub(crate) directory: BTreeMap<ContactText, SlotId>,
    pub(crate) rendezvous: Rendezvous,
    pub(crate) oracle: Oracle,
    pub(crate) trace: Trace,
    pub(crate) prng: Prng,
    pub(crate) transitions: TransitionSet,
    /// Fetches made so far, to name the next.
    pub(crate) fetches: u64,
    /// Faults that strike some time after the first opening.
    pub(crate) waiting_faults: Vec<usize>,
    pub(crate) observers: Vec<observers::Observer>,
    /// Whether a machine is at what an observer asked, or was told.
    pub(crate) is_observed: bool,
}

impl World {
    /// A line of the trace about a process.
    pub(crate) fn note(&mut self, slot: SlotId, what: impl FnOnce() -> String) {
        if self.trace.is_recording() {
            self.trace.line(self.now, &self.slots[slot.0].who, what);
        }
    }

    pub(crate) fn slot(&self, slot: SlotId) -> &Slot {
        &self.slots[slot.0]
    }

    pub(crate) fn slot_mut(&mut self, slot: SlotId) -> &mut Slot {
        &mut self.slots[slot.0]
    }

    /// The processes of a cohort, in the order of their ranks.
    pub(crate) fn slots_of(&self, cohort: CohortId) -> Vec<SlotId> {
        (0..self.slots.len()).filter(|&index| self.slots[index].cohort == cohort).map(SlotId).collect()
    }

    /// The process of one rank.
    pub(crate) fn slot_of(&self, cohort: CohortId, rank: Rank) -> Option<SlotId> {
        (0..self.slots.len())
            .map(SlotId)
            .find(|&slot| self.slot(slot).cohort == cohort && self.slot(slot).rank == rank)
    }

    /// Whether the process runs, paused or not.
    pub(crate) fn is_alive(&self, slot: SlotId) -> bool {
        self.slot(slot).life == Life::Alive
    }

    /// Hands an input to a machine, or keeps it until the process runs again.
    pub(crate) fn input(&mut self, slot: SlotId, input: Input) {
        if !self.is_alive(slot) {
            return;
        }
        if self.slot(slot).paused_until.is_some() {
            self.slot_mut(slot).inbox.push_back(input);
            return;
        }
        self.feed(slot, input);
    }

    fn feed(&mut self, slot: SlotId, input: Input) {
        assert!(!self.falsifies(Falsification::Panic), "on purpose");
        self.heard(slot, &input);
        let now = self.now;
        let is_status = matches!(&input, Input::Message(_, message) if observers::is_status(message));
        if is_status {
            // What a step left to do comes of that step.
            self.drain(slot);
        }
        let before = self.begins_freely(slot);
        self.set_shortage(slot);
        if let Some(machine) = &mut self.slot_mut(slot).machine {
            machine.handle(now, input);
        }
        let same = !is_status || before == self.begins_freely(slot);
        self.oracle.demand(same, Rule::ObserverDelaysNoStep, || format!("slot {}", slot.0));
        self.is_observed = is_status;
        self.drain(slot);
        self.is_observed = false;
        self.settle(slot);
        self.poke(slot);
    }

    /// Tells a publisher's lead whether it is short of memory now.
    fn set_shortage(&mut self, slot: SlotId) {
        let shortage = self.oracle.is_short(self.slot(slot).cohort).then_some(SHORTAGE);
        if let Some(Machine::Publisher(machine)) = &mut self.slot_mut(slot).machine {
            machine.set_shortage(shortage);
        }
    }

    /// After anything was done to a machine: its effects, its end, its clock.
    pub(crate) fn settle(&mut self, slot: SlotId) {
        self.drain(slot);
        if self.slot(slot).finished {
            self.retire(slot);
            return;
        }
        self.set_timer(slot);
    }

    fn set_timer(&mut self, slot: SlotId) {
        let deadline = self.slot(slot).machine.as_ref().and_then(Machine::deadline);
        let Some(deadline) = deadline else { return };
        let at = deadline.max(self.now);
        if self.slot(slot).timer.is_none_or(|timer| at < timer) {
            self.slot_mut(slot).timer = Some(at);
            self.queue.push(at, Due::Timer(slot));
        }
    }

    /// A coordinator's clock rings; it may have been set for a deadline that has moved since.
    pub(crate) fn timer_rings(&mut self, slot: SlotId) {
        if self.slot(slot).timer != Some(self.now) || !self.is_alive(slot) {
            return;
        }
        self.slot_mut(slot).timer = None;
        if self.slot(slot).paused_until.is_some() {
            return;
        }
        let deadline = self.slot(slot).machine.as_ref().and_then(Machine::deadline);
        if deadline.is_some_and(|deadline| deadline <= self.now) {
            self.count_spin(slot);
            self.feed(slot, Input::Timeout);
        } else {
            self.set_timer(slot);
        }
    }

    fn count_spin(&mut self, slot: SlotId) {
        let now = self.now;
        let spins = &mut self.slot_mut(slot).spins;
        *spins = if spins.0 == now { (now, spins.1 + 1) } else { (now, 0) };
        if spins.1 > 100 {
            let who = self.slot(slot).who.clone();
            self.oracle
                .violated(Rule::MachineDoesNotSpin, format!("{who} has a deadline that does not pass"));
        }
    }

    /// A paused process runs again: its input first, then its clock, then its application.
    pub(crate) fn resume(&mut self, slot: SlotId) {
        if !self.is_alive(slot) || self.slot(slot).paused_until.is_none_or(|until| until > self.now) {
            return;
        }
        self.slot_mut(slot).paused_until = None;
        self.note(slot, || "resumes".to_owned());
        while let Some(input) = self.slot_mut(slot).inbox.pop_front() {
            if !self.is_alive(slot) {
                return;
            }
            self.feed(slot, input);
        }
        let due = self.slot(slot).machine.as_ref().and_then(Machine::deadline);
        if due.is_some_and(|due| due <= self.now) {
            self.feed(slot, Input::Timeout);
        }
        self.set_timer(slot);
        self.wake_at(slot, self.now);
    }

    /// Wakes an application at this moment, unless it is woken earlier anyway.
    pub(crate) fn wake_at(&mut self, slot: SlotId, at: Moment) {
        if self.slot(slot).wake.is_none_or(|wake| at < wake) {
            self.slot_mut(slot).wake = Some(at);
            self.queue.push(at, Due::Wake(slot));
        }
    }

    /// Something happened at the machine: its application looks at it, a thread's wake later.
    fn poke(&mut self, slot: SlotId) {
        let curious = match &self.slot(slot).app {
            App::Publisher(app) => app.is_waiting(),
            App::Subscriber(app) => app.is_waiting(),
            App::None => false,
        };
        if curious {
            let at = self.now.after(self.prng.micros(0, 60));
            self.wake_at(slot, at);
        }
    }

    /// An application's turn.
    pub(crate) fn wakes(&mut self, slot: SlotId) {
        if self.slot(slot).wake != Some(self.now) || !self.is_alive(slot) {
            return;
        }
        if self.slot(slot).paused_until.is_some() {
            return;
        }
        self.slot_mut(slot).wake = None;
        match self.slot(slot).app {
            App::Publisher(_) => self.publisher_wakes(slot),
            App::Subscriber(_) => self.subscriber_wakes(slot),
            App::None => {}
        }
    }

    /// A process whose machine is done: its links are closed, its memory stays with whoever mapped it.
    fn retire(&mut self, slot: SlotId) {
        self.end_process(slot, Life::Done);
        self.consider_restart(slot);
    }

    /// A process ends. What its links do then is up to how it ends.
    pub(crate) fn end_process(&mut self, slot: SlotId, life: Life) {
        let own = self.slot_mut(slot);
        own.life = life;
        own.inbox.clear();
        if let Some(machine) = own.machine.take() {
            self.transitions = self.transitions.union(machine.transitions());
        }
        for (link, side) in self.network.links_of(slot) {
            if life == Life::Vanished {
                self.network.go_silent(link);
            } else if let Some(at) = self.network.close(self.now, link, side) {
                self.queue.push(at, Due::Closed { link, side: 1 - side });
            }
        }
    }

    /// Whether nothing is left to be done.
    pub(crate) fn is_over(&self) -> bool {
        let busy = |slot: &Slot| match slot.life {
            Life::Unborn => true,
            Life::Alive => !matches!(slot.machine, Some(Machine::Impostor(_))),
            Life::Vanished | Life::Killed | Life::Done => false,
        };
        !self.slots.iter().any(busy)
    }
}
