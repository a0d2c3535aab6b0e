//! How the world begins: processes with their machines and applications, and whoever lies in the rendezvous.

use crate::queue::Queue;
use crate::simulator::application::App;
use crate::simulator::application::publisher::PublisherApp;
use crate::simulator::application::subscriber::SubscriberApp;
use crate::simulator::content::{Content, Demand};
use crate::simulator::falsification::Flaw;
use crate::simulator::machine::{Impostor, Lie, Machine};
use crate::simulator::measuring::Sums;
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::network::Network;
use crate::simulator::oracle::{Oracle, PublisherTruth, SubscriberTruth};
use crate::simulator::prng::{Prng, mix};
use crate::simulator::rendezvous::Rendezvous;
use crate::simulator::scenario::faults::{FaultKind, When};
use crate::simulator::scenario::{Numbers, OddRank, PublisherPlan, STREAM, Scenario, SubscriberPlan};
use crate::simulator::steering::parameters;
use crate::simulator::store::Store;
use crate::simulator::trace::{Trace, TraceMode};
use crate::simulator::world::{CLOCK_ORIGIN_MICROS, Due, Life, Slot, World};
use fp_proto::config::{CohortConfig, ContactText, PublisherConfig, SubscriberConfig};
use fp_proto::mutation::Mutation;
use fp_proto::publisher::PublisherMachine;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_proto::transition::TransitionSet;
use fp_types::{Epoch, Rank, StepId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The contact of a rank; each epoch's processes have their own.
pub(crate) fn contact(cohort: CohortId, rank: Rank) -> ContactText {
    ContactText(format!("{cohort}.{rank}"))
}

impl World {
    /// The mistake of all machines.
    fn mutation(&self) -> Option<Mutation> {
        match self.flaw? {
            Flaw::Mutation(mutation) => Some(mutation),
            Flaw::Falsification(_) => None,
        }
    }

    /// The world of a scenario, before anything happened.
    pub(crate) fn new(scenario: Scenario, flaw: Option<Flaw>, mode: TraceMode) -> Self {
        let prng = Prng::new(scenario.seed).fork(2);
        let network = Network::new(scenario.delays, prng.fork(3));
        let mut world = Self {
            now: Moment::ZERO,
            flaw,
            queue: Queue::new(),
            network,
            slots: Vec::new(),
            directory: BTreeMap::new(),
            rendezvous: Rendezvous::default(),
            oracle: Oracle::new(scenario.slack(), &scenario.timing),
            trace: Trace::new(mode),
            prng,
            transitions: TransitionSet::default(),
            fetches: 0,
            waiting_faults: (0..scenario.faults.len()).collect(),
            observers: Vec::new(),
            is_observed: false,
            scenario,
        };
        (0..world.scenario.publishers.len()).for_each(|number| world.add_publisher(number));
        (0..world.scenario.subscribers.len()).for_each(|number| world.add_subscriber(number));
        world.add_faults();
        world.add_observers();
        world
    }

    fn add_faults(&mut self) {
        for (number, fault) in self.scenario.faults.iter().enumerate() {
            if let When::At(moment) = fault.when {
                self.queue.push(moment, Due::Strike(number));
            }
        }
        if self.scenario.kinds.contains(&FaultKind::FalseEntries) {
            self.add_false_entries();
        }
    }

    /// A publisher has opened, the first one: now the faults that wait for it are due.
    pub(crate) fn schedule_faults(&mut self) {
        for number in std::mem::take(&mut self.waiting_faults) {
            if let When::AfterOpening(pause) = self.scenario.faults[number].when {
                self.queue.push(self.now.after(pause), Due::Strike(number));
            }
        }
    }

    /// Adds the processes of a publisher cohort, to be started when its plan says.
    pub(crate) fn add_publisher(&mut self, number: usize) {
        let plan = self.scenario.publishers[number].clone();
        let cohort = CohortId::Publisher(number);
        for rank in (0..plan.size).map(Rank) {
            let at = plan.starts_at.after(self.prng.micros(0, 4_000));
            let slot = self.add_slot(cohort, rank, plan.epoch);
            if plan.odd_rank == Some(OddRank::Missing(rank)) {
                self.slot_mut(slot).life = Life::Killed;
            } else {
                self.queue.push(at, Due::Start(slot));
            }
        }
    }

    fn add_subscriber(&mut self, number: usize) {
        let plan = self.scenario.subscribers[number].clone();
        for rank in (0..plan.size).map(Rank) {
            let at = plan.starts_at.after(self.prng.micros(0, 4_000));
            let slot = self.add_slot(CohortId::Subscriber(number), rank, plan.epoch);
            self.queue.push(at, Due::Start(slot));
        }
    }

    fn add_slot(&mut self, cohort: CohortId, rank: Rank, epoch: Epoch) -> SlotId {
        let slot = SlotId(self.slots.len());
        let contact = contact(cohort, rank);
        self.directory.insert(contact.clone(), slot);
        self.slots.push(Slot {
            cohort,
            rank,
            who: contact.0.clone(),
            contact,
            epoch,
            machine: None,
            life: Life::Unborn,
            app: App::None,
            store: Store::default(),
            paused_until: None,
            slept_at: Moment::ZERO,
            rested_at: Moment::ZERO,
            inbox: VecDeque::new(),
            timer: None,
            wake: None,
            finished: false,
            spins: (Moment::ZERO, 0),
        });
        slot
    }

    /// A process starts.
    pub(crate) fn start(&mut self, slot: SlotId) {
        if self.slot(slot).life != Life::Unborn {
            return;
        }
        self.slot_mut(slot).life = Life::Alive;
        match self.slot(slot).cohort {
            CohortId::Publisher(number) => self.start_publisher(slot, number),
            CohortId::Subscriber(number) => self.start_subscriber(slot, number),
            CohortId::Stranger(_) => {}
        }
        self.settle(slot);
        self.wake_at(slot, self.now);
    }

    fn start_publisher(&mut self, slot: SlotId, number: usize) {
        let plan = self.scenario.publishers[number].clone();
        let (cohort, rank) = self.place(slot);
        let content = content(&plan);
        let truth = PublisherTruth::new(plan.clone(), content, self.scenario.fan_out, self.now);
        self.oracle.publishers.entry(cohort).or_insert(truth);
        let config = self.publisher_config(&plan, cohort, rank);
        let prng = self.prng.fork(mix(0x9b << 32 | slot.0 as u64));
        let now = self.now;
        let own = self.slot_mut(slot);
        own.machine = Some(Machine::Publisher(Box::new(PublisherMachine::new(config, now))));
        own.app = App::Publisher(PublisherApp::new(&plan, content, rank, prng));
    }

    fn publisher_config(&self, plan: &PublisherPlan, cohort: CohortId, rank: Rank) -> PublisherConfig {
        let odd = plan.odd_rank == Some(OddRank::WrongSize(rank));
        let size = if odd { plan.size + 1 } else { plan.size };
        let own = self.cohort_config(STREAM.to_owned(), cohort, rank, size, plan.knows_lead);
        // Only the lead's epoch counts.
        let epoch = if rank.is_lead() { plan.epoch } else { Epoch(u128::from(rank.0)) };
        let mut config = PublisherConfig::new(own, epoch);
        config.cohort.first_step = match plan.odd_rank == Some(OddRank::WrongFirstStep(rank)) {
            true => Some(StepId(99)),
            false => plan.first_step,
        };
        config.skew_steps = plan.skew_of(rank);
        config.limit_bytes = match plan.tight_rank {
            Some((tight, limit_bytes)) if tight == rank => limit_bytes,
            _ => plan.limit_bytes,
        };
        config.reserve_steps = plan.reserve_steps;
        config.reserve_bytes = plan.reserve_bytes;
        config.reserve_when = plan.reserve_demand.and_then(Demand::condition).map(|wanted| wanted.encode());
        config.precious_first = plan.precious_first;
        config.least_limit_steps = plan.least_limit_steps;
        config.limit_subscriptions = plan.limit_subscriptions;
        config.limit_peer_subscriptions = plan.limit_peer_subscriptions;
        config.clock_origin_micros = CLOCK_ORIGIN_MICROS;
        config.limit_wait = plan.limit_wait;
        config.lag_report = self.scenario.timing.lag_report;
        config.measures = Arc::new(Sums);
        config.parameters = if plan.takes_requests { parameters() } else { Vec::new() };
        config.delegates_requests = plan.delegates_requests;
        config.limit_requests_per_second = plan.limit_requests_per_second;
        config.mutation = self.mutation();
        config
    }

    fn cohort_config(
        &self,
        name: String,
        cohort: CohortId,
        rank: Rank,
        size: u32,
        knows_lead: bool,
    ) -> CohortConfig {
        let timing = self.scenario.timing;
        let mut config = CohortConfig::ranked(name, contact(cohort, rank), rank, size);
        config.lead_contact = (knows_lead && !rank.is_lead()).then(|| contact(cohort, Rank::LEAD));
        config.fan_out = self.scenario.fan_out;
        config.fragment_bytes = self.scenario.fragment_bytes;
        config.open_timeout = timing.open_timeout;
        config.close_timeout = timing.close_timeout;
        config.heartbeat = timing.heartbeat;
        config.silence = timing.silence;
        config.lookup_interval = timing.lookup_interval;
        config
    }

    fn start_subscriber(&mut self, slot: SlotId, number: usize) {
        let plan = self.scenario.subscribers[number].clone();
        let (cohort, rank) = self.place(slot);
        let truth = SubscriberTruth::new(plan.clone(), self.now);
        self.oracle.subscribers.entry(cohort).or_insert(truth);
        let config = self.subscriber_config(&plan, cohort, rank);
        let prng = self.prng.fork(mix(0x5b << 32 | slot.0 as u64));
        let now = self.now;
        let own = self.slot_mut(slot);
        own.machine = Some(Machine::Subscriber(Box::new(SubscriberMachine::new(config, now))));
        own.app = App::Subscriber(SubscriberApp::new(&plan, prng));
    }

    fn subscriber_config(&self, plan: &SubscriberPlan, cohort: CohortId, rank: Rank) -> SubscriberConfig {
        let own = self.cohort_config(plan.name.clone(), cohort, rank, plan.size, plan.direct);
        let mut config = SubscriberConfig::new(own, plan.epoch, STREAM);
        config.publisher_contact = plan.direct.then(|| contact(CohortId::Publisher(0), Rank::LEAD));
        config.spec = plan.spec.clone();
        config.credit_steps = plan.credit_steps;
        config.on_loss = plan.on_loss;
        config.takes_held_again = plan.takes_held_again;
        config.gives_back_held = plan.gives_back_held();
        if plan.epoch.0.is_multiple_of(2) {
            config.askers_each = 1;
        }
        config.mutation = self.mutation();
        config
    }

    /// Entries of the dead, entries that name the wrong process, and entries behind which somebody lies.
    fn add_false_entries(&mut self) {
        let names: Vec<String> = self.scenario.subscribers.iter().map(|plan| plan.name.clone()).collect();
        for name in names.into_iter().chain([STREAM.to_owned()]) {
            if self.prng.chance(40) && name != STREAM {
                continue;
            }
            let live = contact(CohortId::Subscriber(0), Rank::LEAD);
            self.false_entry(&name, ContactText("nobody".to_owned()));
            self.false_entry(&name, live);
            for lie in [Lie::Mute, Lie::OtherEpoch, Lie::Nonsense, Lie::HangsUp, Lie::Stalls] {
                if self.prng.chance(25) {
                    let liar = self.add_impostor(lie);
                    self.false_entry(&name, liar);
                }
            }
        }
    }

    fn false_entry(&mut self, name: &str, contact: ContactText) {
        let epoch = Epoch(u128::from(self.prng.next()) << 64 | u128::from(self.prng.next()));
        self.rendezvous.publish(name, epoch, contact);
    }

    fn add_impostor(&mut self, lie: Lie) -> ContactText {
        let number = self.slots.len();
        let epoch = Epoch(u128::from(self.prng.next()));
        let slot = self.add_slot(CohortId::Stranger(number), Rank::LEAD, epoch);
        let own = self.slot_mut(slot);
        own.life = Life::Alive;
        own.machine = Some(Machine::Impostor(Impostor::new(lie)));
        own.contact.clone()
    }

    /// Somebody who belongs to no cohort, and takes no part.
    pub(crate) fn add_stranger(&mut self) -> SlotId {
        let number = self.slots.len();
        let slot = self.add_slot(CohortId::Stranger(number), Rank::LEAD, Epoch(0));
        self.slot_mut(slot).life = Life::Done;
        slot
    }

    /// A publisher cohort that is to come again does so once its last process is gone.
    pub(crate) fn consider_restart(&mut self, slot: SlotId) {
        let CohortId::Publisher(number) = self.slot(slot).cohort else { return };
        let Some(pause) = self.scenario.publishers[number].restarts_after else { return };
        let all = self.slots_of(self.slot(slot).cohort);
        if all.into_iter().all(|slot| !matches!(self.slot(slot).life, Life::Alive | Life::Unborn)) {
            self.scenario.publishers[number].restarts_after = None;
            self.queue.push(self.now.after(pause), Due::Restart(number));
        }
    }

    /// The new epoch of a publisher.
    pub(crate) fn restart(&mut self, number: usize) {
        let mut prng = self.prng.fork(0x7e57 + number as u64);
        let mut plan =
            crate::simulator::scenario::another_epoch(&mut prng, &self.scenario.publishers[number]);
        plan.starts_at = self.now;
        let reached = self.oracle.publishers[&CohortId::Publisher(number)].highest_begun();
        plan.first_step = match plan.numbers {
            Numbers::Anew => None,
            Numbers::Back(steps) => Some(StepId(reached.saturating_sub(steps))),
            Numbers::Ahead(steps) => Some(StepId(reached + steps)),
        };
        self.scenario.publishers.push(plan);
        self.add_publisher(self.scenario.publishers.len() - 1);
    }
}

fn content(plan: &PublisherPlan) -> Content {
    Content {
        salt: mix(plan.epoch.0 as u64),
        size: plan.size,
        habit: plan.habit,
        particles_every: plan.particles_every,
        disagree_percent: plan.disagree_percent,
        disagree_steps: plan.disagree_steps,
    }
}
