//! One rank: its machine, its processor, its port, and the books of its memory and links.

use crate::scale::memory;
use fp_proto::codec;
use fp_proto::commands::{Begin, Next};
use fp_proto::effect::{DialTicket, Effect, PeerId};
use fp_proto::message::{MeasurePart, Message, ResolveQuery};
use fp_proto::publisher::PublisherMachine;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_types::{Contribution, Rank as RankId, StepId, TableId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A rank of the world: publishers first, then subscribers, then the newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) usize);

/// A machine of either kind.
pub(crate) enum Machine {
    Publisher(Box<PublisherMachine>),
    Subscriber(Box<SubscriberMachine>),
}

/// What happens to a machine.
pub(crate) enum Input {
    /// The machine is there; its first effects are taken.
    Born,
    /// The launcher has exchanged the contacts of so many ranks.
    Gathered(u32),
    Listing,
    Accepted(PeerId),
    Dialled(DialTicket, PeerId),
    Message(PeerId, Vec<u8>),
    Disconnected(PeerId),
    Begin,
    /// With what was measured of it.
    End(StepId, Contribution, Vec<MeasurePart>),
    Release(StepId),
    Resolve(TableId, Vec<ResolveQuery>),
    AskContacts(Vec<RankId>),
    Close,
}

/// Where the memory that an input adds is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    /// The coordinator itself.
    Own,
    /// Layouts, on their way or held to answer for them.
    Layouts,
}

/// Bytes by account.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    pub(crate) own: i64,
    pub(crate) own_peak: i64,
    pub(crate) layouts: i64,
    pub(crate) layouts_peak: i64,
}

impl Held {
    pub(crate) fn book(&mut self, account: Account, len_bytes: i64) {
        match account {
            Account::Own => self.own += len_bytes,
            Account::Layouts => self.layouts += len_bytes,
        }
        self.own_peak = self.own_peak.max(self.own);
        self.layouts_peak = self.layouts_peak.max(self.layouts);
    }
}

/// One rank of the world.
pub(crate) struct Rank {
    pub(crate) machine: Option<Machine>,
    /// When its processor is done with what it has, and its port with sending and receiving.
    pub(crate) cpu_free_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) received_ns: u64,
    pub(crate) links: u32,
    pub(crate) links_peak: u32,
    pub(crate) held: Held,
    /// The step that its application has begun.
    pub(crate) open_step: Option<StepId>,
    /// What is to be measured of that.
    pub(crate) measures: Vec<Arc<str>>,
    /// Whether it asks who owns what (subscribers).
    pub(crate) asks: bool,
    /// The table of the step that it took last, and the step that it holds meanwhile.
    pub(crate) known: Option<TableId>,
    pub(crate) resolving: Option<StepId>,
    /// Owners whose contacts its application knows, and those that it has still to ask for.
    pub(crate) located: BTreeSet<u32>,
    pub(crate) to_locate: Vec<u32>,
}

impl Rank {
    /// A rank whose machine was made since `live_before` bytes were live.
    pub(crate) fn new(machine: Machine, asks: bool, live_before: i64) -> Self {
        let mut held = Held::default();
        held.book(Account::Own, memory::live_bytes() - live_before);
        Self {
            machine: Some(machine),
            cpu_free_ns: 0,
            sent_ns: 0,
            received_ns: 0,
            links: 0,
            links_peak: 0,
            held,
            open_step: None,
            measures: Vec::new(),
            asks,
            known: None,
            resolving: None,
            located: BTreeSet::new(),
            to_locate: Vec::new(),
        }
    }

    pub(crate) fn linked(&mut self) {
        self.links += 1;
        self.links_peak = self.links_peak.max(self.links);
    }
}

/// What came of the application's command, for the coordinator.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    None,
    /// The step, and what is to be measured of it.
    Begun(StepId, Vec<Arc<str>>),
}

impl Machine {
    /// Hands an input over. Messages are decoded first: that is the coordinator's work as well.
    pub(crate) fn handle(&mut self, now: Moment, input: Input) -> (Answer, &'static str) {
        match (self, input) {
            (_, Input::Born) => (Answer::None, "birth"),
            (Self::Publisher(machine), input) => publisher_hears(machine, now, input),
            (Self::Subscriber(machine), input) => subscriber_hears(machine, now, input),
        }
    }

    pub(crate) fn poll(&mut self) -> Option<Effect> {
        match self {
            Self::Publisher(machine) => machine.poll(),
            Self::Subscriber(machine) => machine.poll(),
        }
    }

    pub(crate) fn deadline(&self) -> Option<Moment> {
        match self {
            Self::Publisher(machine) => machine.deadline(),
            Self::Subscriber(machine) => machine.deadline(),
        }
    }

    /// The next step of a subscriber's application, with its table.
    pub(crate) fn take(&mut self, now: Moment) -> Option<(StepId, TableId)> {
        let Self::Subscriber(machine) = self else { return None };
        match machine.next_step(now) {
            Next::Step(assignment) => Some((assignment.step, assignment.table)),
            Next::NotYet | Next::Ended(_) => None,
        }
    }
}

fn decoded(bytes: &[u8]) -> (Message, &'static str) {
    let message = codec::decode(bytes).expect("what was encoded can be decoded");
    let name = message.name();
    (message, name)
}

fn publisher_hears(machine: &mut PublisherMachine, now: Moment, input: Input) -> (Answer, &'static str) {
    let mut answer = Answer::None;
    let what = match input {
        Input::Message(from, bytes) => {
            let (message, name) = decoded(&bytes);
            machine.handle_message(now, from, message);
            name
        }
        Input::Gathered(size) => done(machine.handle_gathered(now, size), "contacts"),
        Input::Listing => done(machine.handle_listing(now, Vec::new()), "listing"),
        Input::Accepted(peer) => done(machine.handle_accepted(now, peer), "accept"),
        Input::Dialled(ticket, peer) => done(machine.handle_dialled(now, ticket, peer), "dial"),
        Input::Disconnected(peer) => done(machine.handle_disconnected(now, peer), "loss"),
        Input::Begin => match machine.begin_step(now).expect("the stream is open") {
            Begin::Started(begun) => done(answer = Answer::Begun(begun.step, begun.measures), "begin_step"),
            Begin::Wait { reason, .. } => panic!("the step before is decided, but {reason:?}"),
        },
        Input::End(step, put, parts) => {
            machine.measured(step, parts).expect("the step is open");
            machine.end_step(now, step, put, Vec::new(), 1 << 21).expect("the step is open");
            "end_step"
        }
        Input::Close => done(machine.close(now), "close"),
        Input::Release(_) | Input::Resolve(..) | Input::AskContacts(_) | Input::Born => "nothing",
    };
    (answer, what)
}

fn done((): (), what: &'static str) -> &'static str {
    what
}

fn subscriber_hears(machine: &mut SubscriberMachine, now: Moment, input: Input) -> (Answer, &'static str) {
    let what = match input {
        Input::Message(from, bytes) => {
            let (message, name) = decoded(&bytes);
            machine.handle_message(now, from, message);
            name
        }
        Input::Gathered(size) => done(machine.handle_gathered(now, size), "contacts"),
        Input::Listing => done(machine.handle_listing(now, Vec::new()), "listing"),
        Input::Accepted(peer) => done(machine.handle_accepted(now, peer), "accept"),
        Input::Dialled(ticket, peer) => done(machine.handle_dialled(now, ticket, peer), "dial"),
        Input::Disconnected(peer) => done(machine.handle_disconnected(now, peer), "loss"),
        Input::Release(step) => {
            machine.release(now, step).expect("the step is held");
            "release"
        }
        Input::Resolve(table, queries) => {
            machine.resolve(now, table, queries).expect("the stream is attached");
            "resolve"
        }
        Input::AskContacts(ranks) => {
            machine.ask_contacts(now, ranks).expect("they are ranks of the publisher");
            "ask_contacts"
        }
        Input::Close => done(machine.close(now), "close"),
        Input::Begin | Input::End(..) | Input::Born => "nothing",
    };
    (Answer::None, what)
}
