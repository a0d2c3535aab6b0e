//! Two machines and the test between them: what the simulator cannot make large or late enough.

use fp_proto::bounds::FRAGMENT_BYTES;
use fp_proto::codec;
use fp_proto::commands::{Begin, CommandError};
use fp_proto::config::{
    CohortConfig, ContactText, OnLoss, PublisherConfig, QueuePolicy, SubscriberConfig, SubscriptionSpec,
    VariableSet,
};
use fp_proto::effect::{DialTicket, DisconnectReason, Effect, Misbehaviour, PeerId};
use fp_proto::event::{Event, ResolveOutcome};
use fp_proto::message::{Assignment, Decision, MemberId, Message, NoTable, ResolveQuery};
use fp_proto::outcome::{EndReason, LossReason};
use fp_proto::publisher::PublisherMachine;
use fp_proto::request::Request;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::table;
use fp_proto::time::Moment;
use fp_types::{
    Contribution, Dtype, Epoch, Rank, Region, Selection, Shape, StepId, SubscriptionId, TableId, VariableDef,
    VariablePut,
};
use std::time::Duration;

pub(crate) const START: Moment = Moment::ZERO;
pub(crate) const TREE: PeerId = PeerId(1);
const ASKER: PeerId = PeerId(2);

fn contact(text: &str) -> ContactText {
    ContactText(text.to_owned())
}

pub(crate) fn cohort(name: &str, rank: u32, long_bytes: usize) -> CohortConfig {
    let mut config = CohortConfig::ranked(name, contact(&format!("{name}.{rank}")), Rank(rank), 2);
    config.lead_contact = (rank > 0).then(|| contact(&format!("{name}.0")));
    config.long_bytes = long_bytes;
    config
}

pub(crate) fn effects(poll: impl FnMut() -> Option<Effect>) -> Vec<Effect> {
    std::iter::from_fn(poll).collect()
}

pub(crate) fn sent_to(effects: &[Effect], peer: PeerId) -> Vec<Message> {
    let sent = |effect: &Effect| {
        let Effect::Send { to, message } = effect else { return None };
        (*to == peer).then(|| message.clone())
    };
    effects.iter().filter_map(sent).collect()
}

pub(crate) fn events(effects: &[Effect]) -> Vec<Event> {
    let event = |effect: &Effect| if let Effect::Event(event) = effect { Some(event.clone()) } else { None };
    effects.iter().filter_map(event).collect()
}

pub(crate) fn dialled(effects: &[Effect]) -> DialTicket {
    let ticket =
        |effect: &Effect| if let Effect::Dial { ticket, .. } = effect { Some(*ticket) } else { None };
    effects.iter().find_map(ticket).expect("it dials")
}

/// Through the codec, as over a link: no frame is longer than its limit.
fn travel(message: &Message) -> Message {
    let bytes = codec::encode(message);
    assert!(bytes.len() <= codec::LIMIT_MESSAGE_BYTES, "{} takes {} bytes", message.name(), bytes.len());
    codec::decode(&bytes).expect("what was encoded is decoded")
}

/// A publisher cohort of two ranks, linked by hand, that keeps its last step.
pub(crate) struct Publishers {
    pub(crate) lead: PublisherMachine,
    pub(crate) other: PublisherMachine,
    /// What was seen on neither's tree link.
    seen: Vec<Effect>,
    pub(crate) frames: usize,
    /// Bytes of the reports that went up.
    pub(crate) ready_bytes: usize,
    /// The number of the lead's next entry.
    pub(crate) serial: u64,
}

impl Publishers {
    pub(crate) fn open(long_bytes: usize) -> Self {
        let machine = |rank| {
            let mut config = PublisherConfig::new(cohort("stream", rank, long_bytes), Epoch(7));
            config.reserve_steps = 1;
            PublisherMachine::new(config, START)
        };
        let mut publishers = Self {
            lead: machine(0),
            other: machine(1),
            seen: Vec::new(),
            frames: 0,
            ready_bytes: 0,
            serial: 0,
        };
        publishers.lead.handle_listing(START, Vec::new());
        let ticket = dialled(&effects(|| publishers.other.poll()));
        publishers.lead.handle_accepted(START, TREE);
        publishers.other.handle_dialled(START, ticket, TREE);
        publishers.exchange();
        assert!(
            events(&publishers.seen).iter().filter(|event| matches!(event, Event::Opened { .. })).count()
                == 2
        );
        publishers.seen.clear();
        publishers
    }

    /// Carries messages between the two until none is left.
    pub(crate) fn exchange(&mut self) {
        loop {
            let (of_lead, of_other) = (effects(|| self.lead.poll()), effects(|| self.other.poll()));
            if of_lead.is_empty() && of_other.is_empty() {
                return;
            }
            let (down, up) = (sent_to(&of_lead, TREE), sent_to(&of_other, TREE));
            self.frames += down.len() + up.len();
            let reports = up.iter().filter(|message| matches!(message, Message::Ready { .. }));
            self.ready_bytes += reports.map(|message| codec::encode(message).len()).sum::<usize>();
            for message in &down {
                if let Message::Log { serial, entries } = message {
                    self.serial = serial + entries.len() as u64;
                }
            }
            down.iter().for_each(|message| self.other.handle_message(START, TREE, travel(message)));
            up.iter().for_each(|message| self.lead.handle_message(START, TREE, travel(message)));
            self.seen.extend(of_lead.into_iter().chain(of_other));
        }
    }

    pub(crate) fn begin(&mut self) -> StepId {
        let step = begin(&mut self.lead);
        assert_eq!(begin(&mut self.other), step);
        step
    }

    /// A step in which rank 1 puts so many blocks; gives its table.
    pub(crate) fn publish(&mut self, blocks: u64) -> Option<TableId> {
        let step = self.begin();
        self.lead.end_step(START, step, Contribution::default(), Vec::new(), 0).expect("ended");
        self.other.end_step(START, step, contribution(blocks), Vec::new(), 0).expect("ended");
        self.exchange();
        let table_of = |decision: &Decision| {
            let Decision::Decided { table, .. } = decision else { return None };
            *table
        };
        let table = |message: &Message| {
            let Message::Log { entries, .. } = message else { return None };
            entries.iter().find_map(table_of)
        };
        sent_to(&std::mem::take(&mut self.seen), TREE).iter().find_map(table)
    }

    /// What rank 1 answers to somebody who asks for all blocks.
    pub(crate) fn ask(&mut self, table: TableId) -> Vec<Message> {
        ask_for_all(&mut self.other, table);
        self.exchange();
        sent_to(&std::mem::take(&mut self.seen), ASKER)
    }
}

/// Somebody asks a rank for all blocks.
fn ask_for_all(rank: &mut PublisherMachine, table: TableId) {
    rank.handle_accepted(START, ASKER);
    let queries = vec![ResolveQuery { variable: "T".to_owned(), selection: Selection::All }];
    rank.handle_message(START, ASKER, Message::Resolve { request: 5, table, queries });
}

/// Begins a step, which nothing holds up.
pub(crate) fn begin(machine: &mut PublisherMachine) -> StepId {
    match machine.begin_step(START) {
        Ok(Begin::Started(begun)) => begun.step,
        other => panic!("{other:?}"),
    }
}

/// Blocks of one element, from the last to the first, so that no short form of their layout says it all.
pub(crate) fn contribution(blocks: u64) -> Contribution {
    let def = VariableDef::global_array("T", Dtype::F64, 3);
    let block = |at: u64| {
        let start = [at << 20, 300 + at % 1000, 300 + at % 1000];
        Region::new(start, [1, 1, 1]).expect("it can be counted")
    };
    let regions = (0..blocks).rev().map(block).collect();
    let shape = Some(Shape::new([blocks << 20, 1300, 1300]).expect("it can be counted"));
    Contribution {
        variables: vec![VariablePut { def: def.into(), shape, blocks: regions, bytes: 8 * blocks }],
    }
}

/// A subscriber rank with one child, attached to an epoch.
pub(crate) struct Subscribers {
    pub(crate) lead: SubscriberMachine,
}

const CHILD: PeerId = PeerId(11);

impl Subscribers {
    pub(crate) fn open() -> Self {
        let mut config = SubscriberConfig::new(cohort("reader", 0, 1 << 20), Epoch(3), "stream");
        config.publisher_contact = Some(contact("stream.0"));
        config.on_loss = OnLoss::AwaitRestart(Duration::from_secs(5));
        let mut subscribers = Self { lead: SubscriberMachine::new(config, START) };
        subscribers.lead.handle_listing(START, Vec::new());
        subscribers.lead.handle_accepted(START, CHILD);
        let join = Message::Join { rank: Rank(1), size: 2, contact: contact("reader.1"), first_step: None };
        let hello = Message::TreeHello { rank: Rank(1), contact: contact("reader.1") };
        for message in [join, hello, Message::SubtreeOpen] {
            subscribers.lead.handle_message(START, CHILD, message);
        }
        subscribers
    }

    /// Attaches to an epoch over this link; what it says then.
    pub(crate) fn attach(&mut self, now: Moment, publisher: PeerId, epoch: Epoch) -> Vec<Effect> {
        self.lead.handle_timeout(now);
        let ticket = dialled(&effects(|| self.lead.poll()));
        self.lead.handle_dialled(now, ticket, publisher);
        self.lead.handle_message(now, publisher, Message::ProbeReply { epoch, incumbent: true });
        let subscribed = Message::Subscribed {
            subscription: SubscriptionId(2),
            member: MemberId(0),
            first: StepId(0),
            publisher_size: 1,
            continues: false,
        };
        self.lead.handle_message(now, publisher, subscribed);
        effects(|| self.lead.poll())
    }

    /// A step is assigned, and taken and released by the lead itself.
    fn read(&mut self, now: Moment, publisher: PeerId, step: StepId) {
        let assignment = Assignment {
            step,
            table: TableId([1; 16]),
            skipped: 0,
            redelivered: false,
            values: Vec::new(),
            len_bytes: 0,
            queued_steps: 0,
            judgement: None,
        };
        self.lead.handle_message(now, publisher, Message::Assign(assignment));
        self.lead.next_step(now);
        self.lead.release(now, step).expect("it is held");
        effects(|| self.lead.poll());
    }

    fn child_says(&mut self, now: Moment, message: Message) -> Vec<Effect> {
        self.hear(now, CHILD, vec![message])
    }

    /// What it does when somebody says all this.
    pub(crate) fn hear(&mut self, now: Moment, from: PeerId, messages: Vec<Message>) -> Vec<Effect> {
        messages.into_iter().for_each(|message| self.lead.handle_message(now, from, message));
        effects(|| self.lead.poll())
    }
}

#[test]
fn a_layout_of_a_million_blocks_goes_up_and_comes_down_in_fragments() {
    let mut publishers = Publishers::open(fp_proto::bounds::LIMIT_LONG_BYTES);
    let before = publishers.frames;
    let table = publishers.publish(1_000_000).expect("the step is whole");
    assert!(
        publishers.frames - before > codec::LIMIT_MESSAGE_BYTES / FRAGMENT_BYTES,
        "the report was not long"
    );
    // The lead has the table; rank 1 gets it from there and answers in fragments in its turn.
    let answer = publishers.ask(table);
    assert!(answer.len() > codec::LIMIT_MESSAGE_BYTES / FRAGMENT_BYTES, "{} messages", answer.len());
    let mut subscribers = Subscribers::open();
    subscribers.lead = long_reader();
    for message in answer {
        subscribers.lead.handle_message(START, ASKER, travel(&message));
    }
    let heard = events(&effects(|| subscribers.lead.poll()));
    let [Event::Resolved { request: 5, outcome: ResolveOutcome::Table { encoded, owners } }] = &heard[..]
    else {
        panic!("{} events", heard.len());
    };
    let table = table::decode(encoded).expect("a table");
    assert_eq!(table.entry("T").map(|entry| entry.layout.block_count()), Some(1_000_000));
    assert_eq!(owners.len(), 1);
}

/// A lone subscriber that has asked the question 5 over the link `ASKER`.
fn long_reader() -> SubscriberMachine {
    let mut config =
        SubscriberConfig::new(CohortConfig::alone("reader", contact("reader.0")), Epoch(3), "stream");
    config.publisher_contact = Some(contact("stream.0"));
    let mut subscribers = Subscribers { lead: SubscriberMachine::new(config, START) };
    subscribers.attach(START, ASKER, Epoch(7));
    let asked: Vec<u64> =
        (0..6).filter_map(|_| subscribers.lead.resolve(START, TableId([1; 16]), Vec::new()).ok()).collect();
    assert_eq!(asked.last(), Some(&5));
    effects(|| subscribers.lead.poll());
    subscribers.lead
}

#[test]
fn whoever_is_told_of_blocks_is_told_where_their_owner_is_if_that_is_known_there() {
    let mut publishers = Publishers::open(1 << 20);
    let table = publishers.publish(3).expect("the step is whole");
    ask_for_all(&mut publishers.lead, table);
    let answer = sent_to(&effects(|| publishers.lead.poll()), ASKER);
    let [Message::Resolved { request: 5, encoded: Some(_), owners }] = &answer[..] else {
        panic!("{answer:?}");
    };
    assert_eq!(owners[..], [(Rank(1), contact("stream.1"))]);
}

#[test]
fn a_table_that_is_too_large_is_refused_with_its_blocks_and_the_limit() {
    let mut publishers = Publishers::open(150_000);
    let table = publishers.publish(4_000).expect("the step is whole");
    let answer = publishers.ask(table);
    let [
        Message::Unresolved {
            request: 5,
            reason: NoTable::TooLarge { blocks: 4_000, limit_bytes: 150_000, .. },
        },
    ] = &answer[..]
    else {
        panic!("{answer:?}");
    };
}

#[test]
fn more_blocks_than_can_be_told_of_are_refused_where_they_are_put() {
    let mut publishers = Publishers::open(20_000);
    let step = publishers.begin();
    let refused = publishers.other.end_step(START, step, contribution(4_000), Vec::new(), 0);
    let expected = matches!(
        refused,
        Err(CommandError::TooManyBlocks { step: of, blocks: 4_000, limit_bytes: 20_000, .. }) if of == step
    );
    assert!(expected, "{refused:?}");
    publishers.other.end_step(START, step, contribution(10), Vec::new(), 0).expect("it is open still");
}

#[test]
fn a_corrupt_table_from_above_is_the_fault_of_who_sent_it() {
    let mut publishers = Publishers::open(1 << 20);
    let table = publishers.publish(3).expect("the step is whole");
    publishers.other.handle_accepted(START, ASKER);
    publishers.other.handle_message(
        START,
        ASKER,
        Message::Resolve { request: 5, table, queries: Vec::new() },
    );
    effects(|| publishers.other.poll());
    let encoded = Some(vec![1, 2, 3]);
    publishers.other.handle_message(START, TREE, Message::TableReply { table, encoded });
    let heard = effects(|| publishers.other.poll());
    let reason = NoTable::Unreadable { rank: Rank(0) };
    assert_eq!(sent_to(&heard, ASKER).first(), Some(&Message::Unresolved { request: 5, reason }));
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::Malformed("TableReply"));
    assert!(heard.contains(&Effect::Disconnect { peer: TREE, reason }), "{heard:?}");
    let lost = Event::RankLost { rank: Rank(0), reason: LossReason::Misbehaved };
    assert!(events(&heard).contains(&lost), "{heard:?}");
}

#[test]
fn a_release_of_an_epoch_that_is_over_is_not_one_of_the_next() {
    let (first, second) = (PeerId(21), PeerId(22));
    let later = START.after(Duration::from_secs(1));
    let mut subscribers = Subscribers::open();
    subscribers.attach(START, first, Epoch(7));
    subscribers.read(START, first, StepId(0));
    subscribers.lead.handle_disconnected(START, first);
    subscribers.attach(later, second, Epoch(8));
    // The child has not heard of the restart, and releases step 0 of the old epoch, then one unknown to the new.
    subscribers.read(later, second, StepId(0));
    for step in [StepId(0), StepId(1)] {
        let heard =
            subscribers.child_says(later, Message::Release { step, retire: false, given_back: false });
        assert!(heard.is_empty(), "{heard:?}");
    }
    assert!(subscribers.child_says(later, Message::RestartHeard).is_empty());
    let heard =
        subscribers.child_says(later, Message::Release { step: StepId(0), retire: false, given_back: false });
    assert_eq!(
        sent_to(&heard, second),
        [Message::Release { step: StepId(0), retire: false, given_back: false }]
    );
    // It can hear of one restart only once.
    let heard = subscribers.child_says(later, Message::RestartHeard);
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::OutOfOrder("RestartHeard"));
    assert!(heard.contains(&Effect::Disconnect { peer: CHILD, reason }), "{heard:?}");
}

/// The rank asks its parent where its answerer is, is told, and dials it.
fn told_its_answerer(rank: &mut SubscriberMachine) -> DialTicket {
    let asked = sent_to(&effects(|| rank.poll()), TREE);
    let [Message::AskContacts { request, ranks }] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(ranks[..], [Rank(0)], "rank 1 modulo one publisher rank");
    let contacts = vec![(Rank(0), Some(contact("stream.0")))];
    rank.handle_message(START, TREE, Message::Contacts { request: *request, contacts });
    dialled(&effects(|| rank.poll()))
}

#[test]
fn a_dial_of_an_epoch_that_is_over_fails_without_consequence() {
    let mut config = SubscriberConfig::new(cohort("reader", 1, 1 << 20), Epoch(3), "stream");
    config.on_loss = OnLoss::AwaitRestart(Duration::from_secs(5));
    let mut rank = SubscriberMachine::new(config, START);
    let ticket = dialled(&effects(|| rank.poll()));
    rank.handle_dialled(START, ticket, TREE);
    let attached = |epoch| Message::Attached {
        subscription: SubscriptionId(2),
        member: MemberId(0),
        epoch,
        first: StepId(0),
        publisher_size: 1,
        answerers: 1,
        askers: 2,
        continues: false,
    };
    let epoch = Epoch(3);
    for message in [
        Message::ProbeReply { epoch, incumbent: true },
        Message::Welcome { epoch, parent: contact("reader.0") },
        Message::CohortOpen,
        attached(Epoch(7)),
    ] {
        rank.handle_message(START, TREE, message);
    }
    effects(|| rank.poll());
    rank.resolve(START, TableId([1; 16]), Vec::new()).expect("it is attached");
    let stale = told_its_answerer(&mut rank);
    let reason = EndReason::Lost { rank: Rank(0), reason: LossReason::Disconnected };
    rank.handle_message(START, TREE, Message::AwaitingRestart { reason });
    rank.handle_message(START, TREE, attached(Epoch(8)));
    assert_eq!(sent_to(&effects(|| rank.poll()), TREE), [Message::RestartHeard]);
    let request = rank.resolve(START, TableId([1; 16]), Vec::new()).expect("it is attached");
    let ticket = told_its_answerer(&mut rank);
    rank.handle_dial_failed(START, stale);
    assert_eq!(effects(|| rank.poll()), []);
    rank.handle_dial_failed(START, ticket);
    let lost = Event::Resolved { request, outcome: ResolveOutcome::Lost };
    assert_eq!(events(&effects(|| rank.poll())), [lost]);
}

/// What the lead alone asked for reaches all ranks: by the publisher's answer, or when the next epoch is attached to.
/// The latter is the way where the answer is lost with the publisher.
#[test]
fn what_was_asked_for_holds_in_the_next_epoch_for_all_ranks() {
    let (first, second, later) = (PeerId(21), PeerId(22), START.after(Duration::from_secs(1)));
    let mut subscribers = Subscribers::open();
    let told = subscribers.attach(START, first, Epoch(7));
    assert!(!sent_to(&told, CHILD).iter().any(|message| matches!(message, Message::Reselected { .. })));
    let spec = |mark| {
        let request = Request::Derivation { derivation: vec![mark], may_be_left: false };
        SubscriptionSpec { requests: vec![request], ..SubscriptionSpec::default() }
    };
    let other = SubscriptionSpec { policy: QueuePolicy::DropOldest, ..spec(1) };
    assert_eq!(subscribers.lead.reselect(START, other), Err(CommandError::InvalidSpec));
    let variables = VariableSet::named(["T"]);
    let asked = SubscriptionSpec { variables, ..spec(1) };
    subscribers.lead.reselect(START, asked.clone()).expect("asked");
    let heard = effects(|| subscribers.lead.poll());
    assert_eq!(sent_to(&heard, first), [Message::Reselect { spec: asked.clone().into() }]);
    let answer = Message::Reselected { first: StepId(5), spec: asked.clone().into() };
    subscribers.lead.handle_message(START, first, answer.clone());
    let heard = effects(|| subscribers.lead.poll());
    assert_eq!(sent_to(&heard, CHILD), [answer]);
    let specified = Event::Specified { first: StepId(5), spec: asked.into() };
    assert_eq!(events(&heard), [specified, Event::Reselected { first: StepId(5) }]);
    subscribers.lead.reselect(START, spec(0)).expect("asked");
    subscribers.lead.handle_disconnected(START, first);
    let told = subscribers.attach(later, second, Epoch(8));
    let last = sent_to(&told, CHILD).pop();
    assert_eq!(last, Some(Message::Reselected { first: StepId(0), spec: spec(0).into() }));
    let specified = Event::Specified { first: StepId(0), spec: spec(0).into() };
    assert!(events(&told).contains(&specified), "{told:?}");
}
