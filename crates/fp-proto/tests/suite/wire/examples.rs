//! An example of every message, with every kind of part somewhere.

mod status;
mod steering;

use fp_proto::access::{Action, Denial};
use fp_proto::config::{ContactText, QueuePolicy, Share, ShareMode, StartAt, SubscriptionSpec, VariableSet};
use fp_proto::data::{
    BlockPart, DataMessage, GoneReason, MadeBlock, NamedType, OfferedTransform, Place, PlacedBlock,
    PlacedBlocks, TransformOutcome, WantedVariable,
};
use fp_proto::message::{
    Assignment, ChangeId, ChangeKind, Decision, MeasurePart, MemberId, Message, NoTable, ReadyReport,
    ResolveQuery, Resumption, ScalarValue,
};
use fp_proto::outcome::{
    EndReason, ExpulsionCause, LossReason, MemoryShortage, RefusalReason, SharePart, SpecPart,
};
use fp_proto::request::Request;
use fp_types::{
    BlockId, Condition, ConditionRefusal, Contribution, Dims, Dtype, Epoch, Fingerprint, Judgement, Measured,
    MeasuredNumber, Part, PutChanges, Rank, Real, Region, SelectedPoint, Selection, Shape, StepId,
    StridedRegion, SubscriptionId, TableId, Unmeasured, VariableDef, VariablePut,
};
use status::about_status;
use std::time::Duration;

const RANK: Rank = Rank(300);
const STEP: StepId = StepId(70_000);
const EPOCH: Epoch = Epoch(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
const TABLE: TableId = TableId([0xab; 16]);
const SUBSCRIPTION: SubscriptionId = SubscriptionId(5);
const MEMBER: MemberId = MemberId(6);
const CHANGE: ChangeId = ChangeId(7);

fn contact() -> ContactText {
    ContactText("tcp=127.0.0.1:4000".to_owned())
}

fn region() -> Region {
    Region::new([1, 2], [3, 400]).expect("a region")
}

fn strided() -> StridedRegion {
    StridedRegion::new(region(), [1, 2]).expect("a stride")
}

fn scalar() -> ScalarValue {
    ScalarValue {
        name: "time".to_owned(),
        rank: RANK,
        dtype: Dtype::F64,
        bytes: 1.5f64.to_le_bytes().to_vec(),
    }
}

/// One of each kind, and of each side.
fn requests() -> Vec<Request> {
    let derivation =
        |derivation: &[u8], may_be_left| Request::Derivation { derivation: derivation.to_vec(), may_be_left };
    let transform = |is_left| {
        let (variable, transform) = ("bonds".to_owned(), "adjacency".to_owned());
        Request::Transform { variable, transform, is_left }
    };
    vec![
        derivation(&[1, 2, 3], false),
        derivation(&[4], true),
        Request::Module { code: b"code".to_vec(), user: None },
        Request::Module { code: b"more".to_vec(), user: Some(1000) },
        transform(false),
        transform(true),
    ]
}

fn spec(policy: QueuePolicy) -> SubscriptionSpec {
    SubscriptionSpec {
        variables: VariableSet::Named(vec!["a".to_owned(), "b".to_owned()]),
        policy,
        limit_steps: 9,
        start_at: StartAt::OldestReserved,
        share: Some(Share { set: "workers".to_owned(), mode: ShareMode::OnDemand, redeliver: true }),
        requests: requests(),
        when: Some(Condition::Has { variable: "particles".to_owned() }.encode()),
    }
}

fn of(rank: Rank, variables: &[VariablePut]) -> PutChanges {
    PutChanges::of(rank, &Contribution { variables: variables.to_vec() }).expect("blocks of their variables")
}

/// Two blocks of particles, or one.
fn counts(rank: Rank) -> VariablePut {
    let block = |count: u64| Region::new([0, 0], [count, 3]).expect("a region");
    let mut blocks = vec![block(1000), block(u64::from(rank.0))];
    blocks.truncate(1 + rank.0 as usize % 3);
    VariablePut {
        def: VariableDef::joined_array("x", Dtype::F32, 2, 0).into(),
        shape: None,
        blocks,
        bytes: 0,
    }
}

fn report() -> ReadyReport {
    let def = VariableDef::global_array("T", Dtype::F64, 2);
    let shape = Some(Shape::new([10, 1000]).expect("a shape"));
    let put = VariablePut { def: def.into(), shape, blocks: vec![region()], bytes: 9600 };
    ReadyReport {
        abandoned: Some(RANK),
        not_kept: [SUBSCRIPTION].into_iter().collect(),
        changed: [301, 299].map(Rank).into_iter().fold(
            of(RANK, std::slice::from_ref(&put)),
            |mut all, rank| {
                all.append(of(rank, &[put.clone(), counts(rank)]));
                all.sort();
                all
            },
        ),
        values: vec![scalar()],
        len_bytes: 1 << 40,
        full: true,
        parts: Vec::new(),
    }
}

fn log() -> Vec<Decision> {
    let prepare = |kind| Decision::Prepare { change: CHANGE, subscription: SUBSCRIPTION, kind };
    vec![
        prepare(ChangeKind::Add(
            spec(QueuePolicy::EveryStep { max_wait: Duration::from_millis(60_000) }).into(),
        )),
        prepare(ChangeKind::Remove),
        prepare(ChangeKind::Update(SubscriptionSpec::default().into())),
        Decision::Start { change: CHANGE, first: STEP, reserved: vec![StepId(1)], reserve_from: StepId(2) },
        Decision::Decided { step: STEP, table: Some(TABLE), kept: [SUBSCRIPTION].into_iter().collect() },
        Decision::Assigned { subscription: SUBSCRIPTION, member: MEMBER, step: STEP },
        Decision::Released { subscription: SUBSCRIPTION, steps: [STEP].into_iter().collect(), retire: true },
        Decision::Lagging { step: STEP, rank: RANK },
        Decision::Lost { rank: RANK, reason: LossReason::Silent { silence: Duration::from_secs(10) } },
        Decision::Closed,
    ]
}

fn denial() -> Denial {
    Denial::new(Action::Deploy, Some("rule 2".to_owned()), "user 7".to_owned(), Some("5a".repeat(32)))
}

fn refusals() -> Vec<RefusalReason> {
    vec![
        RefusalReason::NameTaken { epoch: EPOCH },
        RefusalReason::CohortMismatch { rank: RANK, size: 3, expected_size: 4 },
        RefusalReason::RankTaken { rank: RANK },
        RefusalReason::Closing,
        RefusalReason::TooManySubscriptions { limit: 64 },
        RefusalReason::ShareMismatch { set: "workers".to_owned(), part: SharePart::StartAt },
        RefusalReason::InvalidSpec { part: SpecPart::Name },
        RefusalReason::Denied(denial()),
        RefusalReason::Condition(ConditionRefusal::Version { version: 2, known: 1 }),
        RefusalReason::Condition(ConditionRefusal::UnknownWord {
            word: "above".to_owned(),
            known: vec!["has(variable)".to_owned()],
        }),
        RefusalReason::Condition(ConditionRefusal::Malformed),
        RefusalReason::TooManyOfPeer { limit: 4, peer: "user 7".to_owned() },
        RefusalReason::ShortOfMemory(MemoryShortage { left_bytes: 300, kept_bytes: 1 << 26 }),
    ]
}

fn policies() -> Vec<QueuePolicy> {
    vec![
        QueuePolicy::DropOldest,
        QueuePolicy::DropNewest,
        QueuePolicy::LatestOnly,
        QueuePolicy::EveryKth { every: 3, max_wait: Duration::from_millis(5) },
        QueuePolicy::WaitAtMost { wait: Duration::from_millis(20) },
    ]
}

fn endings() -> Vec<EndReason> {
    let many = LossReason::TooManyBlocks { blocks: 1, len_bytes: 2, limit_bytes: 3 };
    let losses = [LossReason::Disconnected, LossReason::Misbehaved, LossReason::Unreachable, many];
    let lost = losses.map(|reason| EndReason::Lost { rank: RANK, reason });
    let others = [
        EndReason::Closed,
        EndReason::Expelled {
            rank: RANK,
            cause: ExpulsionCause::Unreleased { waited: Duration::from_secs(60) },
        },
        EndReason::Expelled {
            rank: RANK,
            cause: ExpulsionCause::Silent { silence: Duration::from_secs(10) },
        },
        EndReason::Left,
        EndReason::CohortLost { rank: RANK, reason: LossReason::Disconnected },
        EndReason::Denied(denial()),
    ];
    lost.into_iter().chain(others).collect()
}

fn selections() -> Vec<Selection> {
    vec![
        Selection::All,
        Selection::Region(region()),
        Selection::Strided(strided()),
        Selection::Points(vec![Dims::from([1, 2])]),
        Selection::Block(BlockId::new(RANK, 2)),
        Selection::Rank(RANK),
    ]
}

/// What the ranks of a cohort, and cohorts that look for one another, say.
fn within_cohorts() -> Vec<Message> {
    let mut messages = vec![
        Message::Heartbeat,
        Message::Probe { epoch: EPOCH },
        Message::ProbeReply { epoch: EPOCH, incumbent: true },
        Message::Join { rank: RANK, size: 301, contact: contact(), first_step: None },
        Message::Join { rank: RANK, size: 301, contact: contact(), first_step: Some(STEP) },
        Message::Welcome { epoch: EPOCH, parent: contact() },
        Message::TreeHello { rank: RANK, contact: contact() },
        Message::SubtreeOpen,
        Message::CohortOpen,
        Message::RankLost { rank: RANK, reason: LossReason::Disconnected },
        Message::Fragment { bytes: vec![6, 7], left_bytes: 1 << 20 },
    ];
    messages.extend(refusals().into_iter().map(|reason| Message::Refused { reason }));
    messages
}

/// What goes up and down the publisher tree.
fn among_publishers() -> Vec<Message> {
    vec![
        Message::Ready { step: STEP, again: None, report: ReadyReport::default().into() },
        Message::Ready { step: STEP, again: Some(300), report: ReadyReport::default().into() },
        Message::Ready { step: STEP, again: None, report: report().into() },
        Message::Prepared { change: CHANGE, next: STEP },
        Message::Expire { subscription: SUBSCRIPTION, rank: RANK, waited_ms: 60_000 },
        Message::Closing { steps: 12 },
        Message::Late { step: STEP, rank: RANK },
        Message::TableRequest { table: TABLE },
        Message::TableReply { table: TABLE, encoded: Some(vec![1, 2, 3]) },
        Message::TableReply { table: TABLE, encoded: None },
        Message::TableRefused { table: TABLE, reason: NoTable::Unreadable { rank: RANK } },
        Message::Unresolved { request: 12, reason: NoTable::Denied(denial()) },
        Message::Log { serial: 8, entries: log() },
    ]
}

fn assignment() -> Assignment {
    Assignment {
        step: STEP,
        table: TABLE,
        skipped: 2,
        redelivered: true,
        values: vec![scalar()],
        len_bytes: 1 << 33,
        queued_steps: 3,
        judgement: None,
    }
}

/// What is said of steps where something is measured for conditions.
fn about_measures() -> Vec<Message> {
    let part = |measure: &str, part: &[u8], unmeasured| MeasurePart {
        measure: measure.to_owned(),
        part: part.to_vec(),
        unmeasured,
    };
    let unmeasured = || Unmeasured { rank: RANK, reason: "no time".to_owned() };
    let number = |number, place: Option<&[u64]>| Measured {
        measure: "max(T)".to_owned(),
        number,
        place: place.map(<[u64]>::to_vec),
    };
    let judgement = Judgement {
        decided_at_micros: 70_000,
        unjudged: Some(unmeasured()),
        measured: vec![
            number(None, None),
            number(Some(MeasuredNumber::Signed(-300)), None),
            number(Some(MeasuredNumber::Unsigned(300)), None),
            number(Some(MeasuredNumber::Real(Real(1.5))), Some(&[2, 70_000])),
        ],
    };
    vec![
        Message::ReadyMeasured {
            step: STEP,
            again: Some(2),
            report: ReadyReport::default().into(),
            parts: vec![part("max(T)", &[1, 2, 3], None), part("sum(T)", &[], Some(unmeasured()))],
        },
        Message::AssignJudged { assignment: assignment().into(), judgement: judgement.into() },
    ]
}

/// What a publisher and a subscriber cohort say to each other, and the latter's ranks among themselves.
fn about_subscriptions() -> Vec<Message> {
    let (subscription, member, first, publisher_size) = (SUBSCRIPTION, MEMBER, STEP, 4);
    let subscribe = |policy| Message::Subscribe {
        spec: spec(policy).into(),
        label: "viewer".to_owned(),
        cohort_size: 2,
        credit: 4,
        resume: None,
    };
    let resuming = Message::Subscribe {
        spec: SubscriptionSpec { start_at: StartAt::After(STEP), ..SubscriptionSpec::default() }.into(),
        label: "viewer".to_owned(),
        cohort_size: 1,
        credit: 1,
        resume: Some(Resumption { epoch: EPOCH, from: STEP }),
    };
    let mut messages = vec![
        resuming,
        Message::Subscribed { subscription, member, first, publisher_size, continues: true },
        Message::Assign(assignment()),
        Message::Release { step: STEP, retire: true, given_back: false },
        Message::Release { step: STEP, retire: false, given_back: true },
        Message::Reselect { spec: SubscriptionSpec::default().into() },
        Message::Reselected { first, spec: SubscriptionSpec::default().into() },
        Message::Unsubscribe,
        Message::Leaving,
        Message::Attached {
            subscription,
            member,
            epoch: EPOCH,
            first,
            publisher_size,
            answerers: 4,
            askers: 128,
            continues: true,
        },
        Message::AwaitingRestart { reason: EndReason::Closed },
        Message::RestartHeard,
        Message::Left,
    ];
    messages.extend(policies().into_iter().map(subscribe));
    messages.extend(endings().into_iter().map(|reason| Message::StreamEnd { reason, skipped: 1 }));
    messages
}

/// Questions about layouts, and answers.
fn about_layouts() -> Vec<Message> {
    let query = |selection| ResolveQuery { variable: "T".to_owned(), selection };
    let queries = selections().into_iter().map(query).collect();
    let reason = NoTable::TooLarge { blocks: 1 << 24, len_bytes: 1 << 30, limit_bytes: 1 << 28 };
    vec![
        Message::Resolve { request: 11, table: TABLE, queries },
        Message::Resolved { request: 11, encoded: Some(vec![4, 5]), owners: vec![(RANK, contact())] },
        Message::Unresolved { request: 11, reason },
        Message::Unresolved { request: 12, reason: NoTable::Unanswered },
        Message::AskContacts { request: 13, ranks: vec![Rank(2), RANK] },
        Message::Contacts { request: 13, contacts: vec![(Rank(2), None), (RANK, Some(contact()))] },
    ]
}

/// Every control message.
pub(crate) fn control() -> Vec<Message> {
    [
        within_cohorts(),
        among_publishers(),
        about_subscriptions(),
        about_layouts(),
        about_status(),
        about_measures(),
        steering::about_steering(),
    ]
    .concat()
}

fn pieces() -> Vec<BlockPart> {
    let point = SelectedPoint { position: 3, point: Dims::from([1, 2]) };
    let parts = [Part::Region(region()), Part::Strided(strided()), Part::Points(vec![point])];
    parts.map(|part| BlockPart { variable: "T".to_owned(), block: 2, part }).into()
}

fn placed() -> PlacedBlocks {
    let places = [
        Place::Segment { segment: 1 << 50, offset: 4096, len: 9600 },
        Place::Inproc { key: 1 << 100 },
        Place::Inline { bytes: vec![8, 9] },
    ];
    places.map(|place| PlacedBlock { variable: "T".into(), block: 2, place }).into_iter().collect()
}

/// Every message of the data plane.
pub(crate) fn data() -> Vec<DataMessage> {
    let wanted = |push| WantedVariable { name: "T".to_owned(), push };
    let gone =
        [GoneReason::Step, GoneReason::Block, GoneReason::Part, GoneReason::NoRoom, GoneReason::Unreadable];
    let mut messages = vec![
        DataMessage::Want {
            subscription: SUBSCRIPTION,
            member: MEMBER,
            variables: vec![wanted(None), wanted(Some(Selection::Region(region())))],
        },
        DataMessage::Fetch { request: 11, step: STEP, pieces: pieces() },
        DataMessage::SegmentIs { segment: 1 << 50, len: 1 << 27 },
        DataMessage::SegmentGone { segment: 1 << 50 },
        DataMessage::Placed { step: STEP, request: None, blocks: placed() },
        DataMessage::Placed { step: STEP, request: Some(11), blocks: PlacedBlocks::new() },
        DataMessage::Pieces { request: 11, step: STEP },
        DataMessage::Pushed { step: STEP, pieces: pieces() },
    ];
    messages.extend(gone.map(|reason| DataMessage::Gone { request: 11, step: STEP, reason }));
    messages.push(DataMessage::Denied(denial()));
    messages.push(DataMessage::Describe { request: 12, fingerprint: Fingerprint([7; 16]) });
    messages.extend([None, Some(vec![1, 0, 9])].map(|schema| DataMessage::Described { request: 12, schema }));
    messages.extend(transforms());
    messages
}

/// What is asked and told of transforms at the publisher.
fn transforms() -> Vec<DataMessage> {
    let named =
        |name: &str, number| NamedType { name: name.to_owned(), fingerprint: Fingerprint([number; 16]) };
    let offered = OfferedTransform {
        name: "adjacency".to_owned(),
        from: named("BondPair", 7),
        to: named("BondAdjacency", 8),
        nanos_per_byte: 1.5,
        output_ratio: 0.25,
        is_one_by_one: false,
        is_for_publisher: true,
    };
    let blocks = vec![MadeBlock { count: 10, parts_bytes: 0 }, MadeBlock { count: 0, parts_bytes: 300 }];
    let made = TransformOutcome::Made { variable: "0807".to_owned(), keeps_places: false, blocks };
    let failed = TransformOutcome::Failed { what: "no such transform".to_owned() };
    let answer = |outcome| DataMessage::Transformed { request: 14, step: STEP, outcome };
    vec![
        DataMessage::AskOffers { request: 13 },
        DataMessage::Offers { request: 13, transforms: vec![offered] },
        DataMessage::Transform {
            request: 14,
            step: STEP,
            variable: "bonds".to_owned(),
            blocks: vec![0, 3],
            transforms: vec!["adjacency".to_owned()],
        },
        answer(made),
        answer(failed),
    ]
}
