//! Cohorts as MPI starts them: the launcher has exchanged the contacts, and nobody searches for its own cohort.

use crate::scale::books::Mark;
use crate::scale::coordinator::contact;
use crate::scale::least::{self, Least};
use crate::scale::memory;
use crate::scale::rank::{Input, Machine, Rank, Slot};
use crate::scale::world::World;
use fp_proto::bounds::LIMIT_SUBSCRIPTIONS;
use fp_proto::config::{CohortConfig, CohortPosition, PublisherConfig, SubscriberConfig, SubscriptionSpec};
use fp_proto::publisher::PublisherMachine;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_proto::tree;
use fp_types::{Epoch, Rank as RankId};
use std::collections::BTreeSet;
use std::sync::Arc;

const EPOCH: Epoch = Epoch(0x1234_5678_9abc_def0_1234_5678_9abc_def0);
/// Subscriber ranks that ask who owns what; in larger cohorts these many and their relatives do.
const ASKERS: u32 = 64;

fn cohort(name: &str, first: Slot, rank: u32, size: u32) -> CohortConfig {
    let of = |rank: u32| contact(Slot(first.0 + rank as usize));
    let mut config = CohortConfig::ranked(name, of(rank), RankId(rank), size);
    config.position = match tree::parent(RankId(rank), config.fan_out) {
        Some(parent) => CohortPosition::Under { parent: of(parent.0), epoch: EPOCH },
        None => CohortPosition::Gathered,
    };
    config
}

/// The ranks of a large cohort that ask for tables: one way down the tree with all siblings on it. So each rank on it
/// has as much to do as if all asked.
pub fn askers(subscribers: u32) -> BTreeSet<u32> {
    if subscribers <= ASKERS {
        return (0..subscribers).collect();
    }
    let mut chosen = BTreeSet::from([0]);
    let mut at = Some(RankId(0));
    while let Some(rank) = at {
        let children: Vec<RankId> = tree::children(rank, subscribers, tree::DEFAULT_FAN_OUT).collect();
        chosen.extend(children.iter().map(|child| child.0));
        at = children.first().copied();
    }
    chosen
}

fn subscriber(cohort: CohortConfig, spec: SubscriptionSpec) -> Box<SubscriberMachine> {
    let mut config = SubscriberConfig::new(cohort, Epoch(77), "stream");
    config.spec = spec;
    config.publisher_contact = Some(contact(Slot(0)));
    Box::new(SubscriberMachine::new(config, Moment::ZERO))
}

/// A subscriber of one rank.
pub(crate) fn lone(name: &str, slot: Slot) -> Box<SubscriberMachine> {
    subscriber(CohortConfig::alone(name, contact(slot)), SubscriptionSpec::default())
}

impl World {
    /// Opens the publisher cohort.
    pub(crate) fn open_publishers(&mut self) {
        let size = self.publishers;
        for rank in 0..size {
            let before = memory::live_bytes();
            let mut config = PublisherConfig::new(cohort("stream", Slot(0), rank, size), EPOCH);
            config.limit_subscriptions = LIMIT_SUBSCRIPTIONS;
            if self.is_watched {
                config.measures = Arc::new(Least);
            }
            #[cfg(feature = "mutations")]
            {
                config.mutation = self.mutation;
            }
            let machine = Box::new(PublisherMachine::new(config, Moment::ZERO));
            self.ranks.push(Rank::new(Machine::Publisher(machine), false, before));
        }
        self.begin_stage();
        self.command(Slot(0), Input::Born);
        self.settle();
        // The lead holds its name: the launcher's collectives begin, and they are not ours.
        self.begin_stage();
        self.command(Slot(0), Input::Gathered(size));
        (1..size as usize).for_each(|slot| self.command(Slot(slot), Input::Born));
        self.settle();
        assert_eq!(self.books.count(Mark::Opened), u64::from(size), "every publisher rank opens");
    }

    /// Opens and attaches the subscriber cohort.
    pub(crate) fn open_subscribers(&mut self) {
        let (first, size) = (Slot(self.ranks.len()), self.subscribers);
        let asking = askers(size);
        for rank in 0..size {
            let config = cohort("readers", first, rank, size);
            self.add_subscriber(config, !self.is_watched && asking.contains(&rank));
        }
        self.begin_stage();
        self.command(first, Input::Gathered(size));
        (1..size as usize).for_each(|rank| self.command(Slot(first.0 + rank), Input::Born));
        self.settle();
        assert_eq!(
            self.books.count(Mark::Started),
            u64::from(self.publishers),
            "every publisher rank agrees"
        );
        self.expect_opened(u64::from(size));
    }

    /// Attaches every subscriber, as a cohort of one rank.
    pub(crate) fn open_crowd(&mut self) {
        let first = self.ranks.len();
        let slots = (first..first + self.subscribers as usize).map(Slot);
        for slot in slots.clone() {
            let asks = slot.0 - first < ASKERS as usize;
            let machine = lone("reader", slot);
            self.ranks.push(Rank::new(Machine::Subscriber(machine), asks, memory::live_bytes()));
        }
        self.begin_stage();
        slots.for_each(|slot| self.command(slot, Input::Born));
        self.settle();
        self.expect_opened(u64::from(self.subscribers));
    }

    /// A lone subscriber attaches to the running stream.
    pub(crate) fn add_newcomer(&mut self) -> Slot {
        let slot = Slot(self.ranks.len());
        self.add_subscriber(CohortConfig::alone("newcomer", contact(slot)), true);
        self.begin_stage();
        self.command(slot, Input::Born);
        self.settle();
        self.expect_opened(1);
        slot
    }

    fn expect_opened(&self, size: u64) {
        assert_eq!(self.books.count(Mark::Opened), size, "every subscriber rank is attached");
    }

    fn add_subscriber(&mut self, cohort: CohortConfig, asks: bool) {
        let before = memory::live_bytes();
        let spec = if self.is_watched { least::watching() } else { SubscriptionSpec::default() };
        let machine = subscriber(cohort, spec);
        self.ranks.push(Rank::new(Machine::Subscriber(machine), asks, before));
    }
}
