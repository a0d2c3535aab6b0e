//! Observers come, ask, and go. What they are told is judged by the oracles.

use crate::simulator::falsification::Falsification;
use crate::simulator::machine::{Input, Machine};
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::network::LinkId;
use crate::simulator::oracle::Rule;
use crate::simulator::oracle::{AskedStatus, Sleeps, allowed};
use crate::simulator::scenario::observers::ObserverPlan;
use crate::simulator::world::{Due, World};
use fp_proto::codec;
use fp_proto::message::Message;
use fp_proto::status::report::StatusScope;
use fp_proto::time::Moment;
use fp_types::Rank;
use std::collections::BTreeMap;

/// An observer and what it has asked.
pub(crate) struct Observer {
    plan: ObserverPlan,
    slot: SlotId,
    target: SlotId,
    link: LinkId,
    came: Moment,
    next: u64,
    open: BTreeMap<u64, AskedStatus>,
    answers: u64,
    gone: bool,
}

impl World {
    pub(crate) fn add_observers(&mut self) {
        for number in 0..self.scenario.observers.len() {
            self.queue.push(self.scenario.observers[number].starts_at, Due::ObserverComes(number));
        }
    }

    /// An observer dials somebody who lives.
    pub(crate) fn observer_comes(&mut self, number: usize) {
        let plan = self.scenario.observers[number].clone();
        let machine = |slot: &SlotId| {
            let own = self.slot(*slot);
            self.is_alive(*slot)
                && matches!(own.machine, Some(Machine::Publisher(_) | Machine::Subscriber(_)))
        };
        let alive: Vec<SlotId> = (0..self.slots.len()).map(SlotId).filter(machine).collect();
        let Some(index) = plan.pick.checked_rem(alive.len() as u64) else { return };
        let target = alive[index as usize];
        let slot = self.add_stranger();
        let link = self.network.connect(slot, target);
        let peer = self.network.link(link).ends[1].peer;
        let came = self.now;
        let (open, observer) = (BTreeMap::new(), self.observers.len());
        let observed = Observer { plan, slot, target, link, came, next: 0, open, answers: 0, gone: false };
        self.observers.push(observed);
        let host = self.slot(slot).cohort.host();
        self.input(target, Input::Accepted(peer, host));
        self.observer_asks(observer);
    }

    /// An observer's turn: it asks, or goes.
    pub(crate) fn observer_asks(&mut self, number: usize) {
        let observer = &mut self.observers[number];
        if observer.gone {
            return;
        }
        if observer.plan.rounds == 0 {
            self.observer_goes(number);
            return;
        }
        observer.plan.rounds -= 1;
        (0..observer.plan.at_once).for_each(|_| self.ask_status(number));
        let plan = &self.observers[number].plan;
        let early = plan.leaves_early && plan.rounds == 0;
        let at = if early { self.now } else { self.now.after(plan.gap) };
        self.queue.push(at, Due::ObserverAsks(number));
    }

    fn ask_status(&mut self, number: usize) {
        let patience_ms = self.scenario.timing.heartbeat.as_millis() as u32;
        let (now, pick) = (self.now, self.observers[number].plan.pick);
        let target = self.observers[number].target;
        let size = self.cohort_size(self.slot(target).cohort);
        let observer = &mut self.observers[number];
        let (request, link) = (observer.next, observer.link);
        observer.next += 1;
        let scope = match pick.wrapping_add(request) % 5 {
            0 => StatusScope::Rank(Rank((pick % u64::from(size + 1)) as u32)),
            1 | 2 => StatusScope::Stream,
            _ => StatusScope::Cohort,
        };
        observer.open.insert(request, AskedStatus { at: now, scope });
        self.oracle.traffic.status_questions += 1;
        let bytes = codec::encode(&Message::AskStatus { request, scope, patience_ms }).into_vec();
        if let Some(at) = self.network.send(now, link, 0) {
            self.queue.push(at, Due::Message { link, side: 1, bytes });
        }
        let by = now.after(self.scenario.timing.heartbeat * 2 + self.oracle.slack);
        self.queue.push(by, Due::CheckStatus { observer: number, request });
    }

    fn cohort_size(&self, cohort: CohortId) -> u32 {
        match cohort {
            CohortId::Publisher(number) => self.scenario.publishers[number].size,
            CohortId::Subscriber(number) => self.scenario.subscribers[number].size,
            CohortId::Stranger(_) => 1,
        }
    }

    fn observer_goes(&mut self, number: usize) {
        let observer = &mut self.observers[number];
        observer.gone = true;
        let link = observer.link;
        if let Some(at) = self.network.close(self.now, link, 0) {
            self.queue.push(at, Due::Closed { link, side: 1 });
        }
    }

    /// The observer that this is, if it is one.
    pub(crate) fn observer_at(&self, slot: SlotId) -> Option<usize> {
        self.observers.iter().position(|observer| observer.slot == slot)
    }

    /// The link of an observer was closed from the other side.
    pub(crate) fn observer_dismissed(&mut self, number: usize) {
        self.observers[number].gone = true;
    }

    /// An observer is told something.
    pub(crate) fn observer_told(&mut self, number: usize, message: Message, len_bytes: usize) {
        let (Message::Status { request, .. } | Message::StatusRefused { request, .. }) = &message else {
            return;
        };
        let Some(asked) = self.observers[number].open.remove(request) else {
            self.oracle.violated(Rule::OnlyQuestionsAreAnswered, format!("an observer is told {message:?}"));
            return;
        };
        let Message::Status { report, .. } = message else { return };
        self.observers[number].answers += 1;
        let Observer { came, answers, target, .. } = self.observers[number];
        let (cohort, rank) = self.place(target);
        let heartbeat = self.scenario.timing.heartbeat;
        let times = if self.falsifies(Falsification::LongAnswers) { 1_000 } else { 1 };
        self.oracle.check_answers(answers, came, heartbeat);
        self.oracle.check_status(asked, (cohort, rank), &report, len_bytes * times);
        let sleeps = self.sleeps(cohort, asked.at);
        self.oracle.check_sleepers(&report, &sleeps);
        if self.is_quiet(cohort, asked.at) {
            self.oracle.check_quiet(cohort, &report);
        }
    }

    /// Ranks of a cohort that slept all the time since a question.
    fn sleeps(&self, cohort: CohortId, since: Moment) -> Sleeps {
        let slept = |slot: &SlotId| {
            let own = self.slot(*slot);
            self.is_alive(*slot) && own.paused_until.is_some() && own.slept_at <= since
        };
        self.slots_of(cohort).into_iter().filter(slept).map(|slot| self.slot(slot).rank).collect()
    }

    /// Whether nothing kept a rank of a cohort from answering in time.
    fn is_quiet(&self, cohort: CohortId, since: Moment) -> bool {
        let rested = |slot: SlotId| self.slot(slot).rested_at <= since && self.is_alive(slot);
        // Up to seven ranks on the way, each with an eighth less time than the one before.
        let heartbeat_us = self.scenario.timing.heartbeat.as_micros() as u64;
        let is_near = 16 * self.scenario.delays.high_us < heartbeat_us / 3;
        let mut spikes = self.network.spikes.iter();
        is_near
            && self.slots_of(cohort).into_iter().all(rested)
            && !self.oracle.is_touched(cohort)
            && !spikes.any(|spike| spike.is_felt_since(since))
    }

    /// At the end of a run: how many questions may have been answered.
    pub(crate) fn count_observers(&mut self) {
        let (now, heartbeat) = (self.now, self.scenario.timing.heartbeat);
        let most = |observer: &Observer| allowed(now.since(observer.came), heartbeat).min(observer.next);
        self.oracle.traffic.status_admitted = self.observers.iter().map(most).sum();
    }

    /// By now a question must have been answered, refused, or its link closed.
    pub(crate) fn check_answered(&mut self, number: usize, request: u64) {
        let observer = &self.observers[number];
        let Some(asked) = observer.open.get(&request) else { return };
        let target = self.slot(observer.target);
        let awake = target.paused_until.is_none() && target.rested_at <= asked.at;
        let excused = observer.gone
            || !awake
            || !self.is_alive(observer.target)
            || !self.network.is_up(observer.link)
            || self.oracle.is_touched(target.cohort)
            || self.network.spikes.iter().any(|spike| spike.is_felt_since(asked.at));
        let (who, at) = (target.who.clone(), asked.at);
        self.oracle.demand(excused, Rule::QuestionOfObserverIsAnsweredInTime, || {
            format!("{who} was asked at {:.6} s", at.as_micros() as f64 / 1e6)
        });
    }

    /// Before and after whatever an observer set going: the stream's own state is as it was.
    pub(crate) fn begins_freely(&self, slot: SlotId) -> Option<bool> {
        match &self.slot(slot).machine {
            Some(Machine::Publisher(machine)) => Some(machine.begins_freely()),
            Some(Machine::Subscriber(_) | Machine::Impostor(_)) | None => None,
        }
    }
}

/// Whether a message is about status.
pub(crate) fn is_status(message: &Message) -> bool {
    matches!(message, Message::AskStatus { .. } | Message::Status { .. } | Message::StatusRefused { .. })
}
