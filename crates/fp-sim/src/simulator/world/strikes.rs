//! Faults strike. It is noted whom they may cost something, so that the oracles can tell a loss from a mistake.

use crate::simulator::application::App;
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::network::{LinkId, Spike};
use crate::simulator::scenario::faults::{Fault, Strike, Target, When};
use crate::simulator::world::{Due, Life, World};
use fp_proto::config::ContactText;
use fp_proto::message::{ChangeId, Message};
use fp_proto::time::Moment;
use fp_types::{Rank, StepId, SubscriptionId, TableId};
use std::time::Duration;

impl World {
    fn target(&self, target: Target) -> Option<SlotId> {
        let (cohort, rank) = match target {
            Target::Publisher(number, rank) => (CohortId::Publisher(number), rank),
            Target::Subscriber(number, rank) => (CohortId::Subscriber(number), rank),
        };
        self.slot_of(cohort, rank).filter(|&slot| self.is_alive(slot))
    }

    /// The fault of this number strikes.
    pub(crate) fn strike(&mut self, number: usize) {
        let strike = self.scenario.faults[number].strike.clone();
        if !matches!(strike, Strike::Pause { .. }) {
            self.trace.line(self.now, "fault", || format!("{strike:?}"));
        }
        match strike {
            Strike::Spike { len, extra, only } => self.spike(len, extra, only),
            Strike::Reset { pick } => self.reset_link(pick),
            Strike::Silence { pick } => self.silence_link(pick),
            Strike::Crash { target, silent } => self.crash(target, silent),
            Strike::Pause { target, len, holding } => self.pause(number, target, len, holding),
            Strike::Oversleep { target, len } => self.oversleep(target, len),
            Strike::Intrude { pick } => self.intrude(pick),
        }
    }

    /// A question about contacts is on its way to this rank: it may be the one that it does not live to answer.
    pub(crate) fn question_on_its_way(&mut self, to: SlotId) {
        let (CohortId::Publisher(number), rank) = self.place(to) else { return };
        let Some(mut cut) = self.scenario.cut_way.take() else { return };
        if cut.before > 0 {
            cut.before -= 1;
            self.scenario.cut_way = Some(cut);
            return;
        }
        let (when, strike) = (
            self.now.after(cut.after),
            Strike::Crash { target: Target::Publisher(number, rank), silent: cut.silent },
        );
        self.queue.push(when, Due::Strike(self.scenario.faults.len()));
        self.scenario.faults.push(Fault { when: When::At(when), strike });
    }

    fn spike(&mut self, len: Duration, extra: Duration, only: Option<Target>) {
        let only_slot = only.and_then(|target| self.target(target));
        if only.is_some() && only_slot.is_none() {
            return;
        }
        self.network.spikes.push(Spike { from: self.now, to: self.now.after(len), extra, only: only_slot });
        if extra < self.scenario.timing.silence {
            return;
        }
        match only_slot {
            Some(slot) => self.taint_around(slot),
            None => self.taint_all(),
        }
    }

    fn taint_all(&mut self) {
        for index in 0..self.slots.len() {
            let cohort = self.slots[index].cohort;
            self.oracle.taint(cohort);
        }
    }

    /// A process is cut off for a while: its cohort may be lost.
    fn taint_around(&mut self, slot: SlotId) {
        let cohort = self.slot(slot).cohort;
        self.oracle.taint(cohort);
    }

    fn taint_link(&mut self, link: LinkId) {
        let [one, other] = self.network.link(link).ends.map(|end| self.slot(end.slot).cohort);
        self.oracle.taint_pair(one, other);
        self.trace.line(self.now, "fault", || format!("hits a link between {one} and {other}"));
    }

    fn pick_link(&self, pick: u64) -> Option<LinkId> {
        let live = self.network.live_links();
        let index = pick.checked_rem(live.len() as u64)?;
        live.get(index as usize).copied()
    }

    fn reset_link(&mut self, pick: u64) {
        let Some(link) = self.pick_link(pick) else { return };
        self.taint_link(link);
        for side in self.network.reset(link) {
            let at = self.now.after(self.prng.micros(0, 500));
            self.queue.push(at, Due::Closed { link, side });
        }
        self.expect_loss(link);
    }

    fn silence_link(&mut self, pick: u64) {
        let Some(link) = self.pick_link(pick) else { return };
        self.taint_link(link);
        self.network.go_silent(link);
        self.expect_loss(link);
    }

    /// A link within a cohort is gone: in time the whole cohort must know.
    fn expect_loss(&mut self, link: LinkId) {
        let [one, other] = self.network.link(link).ends.map(|end| self.slot(end.slot).cohort);
        if one == other && self.has_opened(one) && self.is_tree_link(link) {
            self.queue.push(self.loss_deadline(), Due::CheckLoss(one));
        }
    }

    fn is_tree_link(&self, link: LinkId) -> bool {
        let [one, other] = self.network.link(link).ends.map(|end| self.slot(end.slot).rank);
        let parent = |rank: Rank| fp_proto::tree::parent(rank, self.scenario.fan_out);
        parent(one) == Some(other) || parent(other) == Some(one)
    }

    fn has_opened(&self, cohort: CohortId) -> bool {
        match cohort {
            CohortId::Publisher(_) => self
                .oracle
                .publishers
                .get(&cohort)
                .is_some_and(|truth| truth.ranks.iter().all(|rank| rank.opened)),
            CohortId::Subscriber(_) => self
                .oracle
                .subscribers
                .get(&cohort)
                .is_some_and(|truth| truth.ranks.iter().all(|rank| rank.entered > 0)),
            CohortId::Stranger(_) => false,
        }
    }

    /// By when a loss that happens now must be known to all.
    fn loss_deadline(&self) -> Moment {
        let silence = self.scenario.timing.silence * 2 + self.scenario.timing.heartbeat * 2;
        self.now.after(silence + self.oracle.slack + self.scenario.longest_stall() * 2)
    }

    fn crash(&mut self, target: Target, silent: bool) {
        let Some(slot) = self.target(target) else { return };
        let (cohort, rank) = self.place(slot);
        self.note(slot, || "dies".to_owned());
        self.oracle.taint(cohort);
        self.oracle.died(cohort, rank);
        let opened = self.has_opened(cohort);
        self.end_process(slot, if silent { Life::Vanished } else { Life::Killed });
        if opened {
            self.queue.push(self.loss_deadline(), Due::CheckLoss(cohort));
        }
        self.consider_restart(slot);
    }

    /// By now everybody must know that a rank of this cohort is lost.
    pub(crate) fn check_loss(&mut self, cohort: CohortId) {
        match cohort {
            CohortId::Publisher(_) => self.oracle.check_loss_noticed(cohort),
            CohortId::Subscriber(_) => self.oracle.check_reader_loss_noticed(cohort),
            CohortId::Stranger(_) => {}
        }
    }

    fn pause(&mut self, number: usize, target: Target, len: Duration, holding: bool) {
        let Some(slot) = self.target(target) else { return };
        let holds = match &self.slot(slot).app {
            App::Subscriber(app) => !app.held.is_empty(),
            App::Publisher(_) | App::None => true,
        };
        if holding && !holds {
            self.queue.push(self.now.after(Duration::from_micros(700)), Due::Strike(number));
            return;
        }
        self.taint_around(slot);
        self.sleep(slot, len);
    }

    fn oversleep(&mut self, target: Target, len: Duration) {
        // Two naps with hardly a moment between would be a long sleep.
        if let Some(slot) = self.target(target).filter(|&slot| self.slot(slot).rested_at <= self.now) {
            self.sleep(slot, len);
        }
    }

    fn sleep(&mut self, slot: SlotId, len: Duration) {
        let until = self.now.after(len);
        self.note(slot, || format!("sleeps for {len:?}"));
        self.slot_mut(slot).rested_at = until.after(self.scenario.timing.silence);
        (self.slot_mut(slot).paused_until, self.slot_mut(slot).slept_at) = (Some(until), self.now);
        self.slot_mut(slot).timer = None;
        self.slot_mut(slot).wake = None;
        self.queue.push(until, Due::Resume(slot));
    }

    /// A stranger dials somebody and says what no stranger may say.
    fn intrude(&mut self, pick: u64) {
        let alive: Vec<SlotId> =
            (0..self.slots.len()).map(SlotId).filter(|&slot| self.is_alive(slot)).collect();
        let Some(index) = pick.checked_rem(alive.len() as u64) else { return };
        let target = alive[index as usize];
        let stranger = self.stranger();
        let link = self.network.connect(stranger, target);
        let (peer, host) = (self.network.link(link).ends[1].peer, self.slot(stranger).cohort.host());
        self.input(target, crate::simulator::machine::Input::Accepted(peer, host));
        for message in insults(pick) {
            if let Some(at) = self.network.send(self.now, link, 0) {
                let bytes = fp_proto::codec::encode(&message).into_vec();
                self.queue.push(at, Due::Message { link, side: 1, bytes });
            }
        }
    }

    fn stranger(&mut self) -> SlotId {
        let existing =
            (0..self.slots.len()).map(SlotId).find(|&slot| self.slot(slot).who.starts_with("stranger"));
        existing.unwrap_or_else(|| self.add_stranger())
    }
}

/// What an intruder says.
fn insults(pick: u64) -> Vec<Message> {
    let step = StepId(pick % 7);
    let first = match pick / 7 % 10 {
        0 => Message::Release { step, retire: pick % 2 == 0, given_back: pick % 3 == 0 },
        1 => Message::Prepared { change: ChangeId(0), next: step },
        2 => Message::Log { serial: 0, entries: Vec::new() },
        3 => Message::Expire { subscription: SubscriptionId(2), rank: Rank(0), waited_ms: 9 },
        4 => Message::TreeHello { rank: Rank(99), contact: ContactText("liar".to_owned()) },
        5 => {
            let contact = ContactText("liar".to_owned());
            Message::Join { rank: Rank(1), size: 77, contact, first_step: None }
        }
        6 => Message::StreamEnd { reason: fp_proto::outcome::EndReason::Closed, skipped: 0 },
        7 => Message::TableReply { table: TableId([0; 16]), encoded: None },
        8 => Message::AskContacts { request: 0, ranks: vec![Rank(1 << 20)] },
        _ => Message::Closing { steps: 0 },
    };
    vec![Message::Heartbeat, first, Message::SubtreeOpen]
}
