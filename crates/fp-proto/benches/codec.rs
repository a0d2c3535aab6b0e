//! What it takes to encode and decode the messages of a step, of questions about layouts and of fetches.
//!
//! `cargo bench -p flexpath-proto --bench codec`: each ratio is to a copy of the encoded bytes into fresh memory.

#[expect(dead_code, reason = "rounds of many times each are timed here")]
#[path = "../../../benches/turns/mod.rs"]
mod turns;

use std::fmt::Debug;
use std::hint::black_box;
use std::ops::Deref;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use fp_proto::codec;
use fp_proto::data::{BlockPart, DataMessage, Place, PlacedBlock};
use fp_proto::message::{Assignment, Decision, MemberId, Message, ReadyReport, ResolveQuery, ScalarValue};
use fp_proto::table;
use fp_types::{
    BlockId, Contribution, Dtype, Layout, Part, PutChanges, Rank, Region, Selection, Shape, StepId,
    SubscriptionId, TableId, VariableDef, VariablePut,
};
use turns::{Group, Medians, measured, timed};

const STEP: StepId = StepId(70_000);
const TABLE: TableId = TableId([0xab; 16]);
const SUBSCRIPTION: SubscriptionId = SubscriptionId(5);
const MEMBER: MemberId = MemberId(6);
const RANKS: u32 = 1000;
const SIDE: u64 = 128;

criterion_group!(benches, messages);
criterion_main!(benches);

fn messages(criterion: &mut Criterion) {
    let mut group = turns::group(criterion, "codec");
    for (name, message) in control() {
        let decode = |bytes: &[u8]| codec::decode(bytes).expect("a message");
        both_ways(&mut group, name, &message, codec::encode, decode);
    }
    for (name, message) in data() {
        let decode = |bytes: &[u8]| DataMessage::decode(bytes).expect("a message");
        both_ways(&mut group, name, &message, DataMessage::encode, decode);
    }
    let decode = |bytes: &[u8]| table::decode_layout(bytes).expect("a layout");
    both_ways(&mut group, "layout of 1,000 blocks", &layout(), table::encode_layout, decode);
    group.finish();
}

/// A value to bytes and back, each against a copy of these bytes.
fn both_ways<T: Debug + PartialEq, B: Deref<Target = [u8]>>(
    group: &mut Group<'_>,
    name: &str,
    value: &T,
    encode: impl Fn(&T) -> B,
    decode: impl Fn(&[u8]) -> T,
) {
    let bytes = encode(value);
    assert_eq!(&decode(&bytes), value, "{name}");
    row(group, &format!("{name}, encoded"), &bytes, || drop(black_box(encode(black_box(value)))));
    row(group, &format!("{name}, decoded"), &bytes, || drop(black_box(decode(black_box(&bytes)))));
}

fn row(group: &mut Group<'_>, name: &str, bytes: &[u8], mut ours: impl FnMut()) {
    // Many times a round, as a clock is too coarse for one; fewer of what is long.
    let times = (1 << 17) / bytes.len().max(128) as u32;
    let mut copy = || drop(black_box(black_box(bytes).to_vec()));
    let round = || (repeated(times, &mut copy), repeated(times, &mut ours));
    let Some(medians) = measured(group, name, round) else { return };
    let (ratio, len, Medians { baseline, ours }) = (medians.speed(), bytes.len(), medians);
    println!(
        "{name:<48} {ours:>10.2?}   {ratio:>6.3} of the speed of a copy of {len} bytes ({baseline:.2?})"
    );
}

/// How long it takes once, of so many times.
fn repeated(times: u32, work: &mut impl FnMut()) -> Duration {
    timed(&mut || (0..times).for_each(|_| work())) / times
}

/// What travels between machines in every step, and what travels when a layout is new.
fn control() -> [(&'static str, Message); 6] {
    let decided =
        Decision::Decided { step: STEP, table: Some(TABLE), kept: [SUBSCRIPTION].into_iter().collect() };
    let assigned = Decision::Assigned { subscription: SUBSCRIPTION, member: MEMBER, step: STEP };
    let selection = Selection::Region(block(7));
    let queries = vec![ResolveQuery { variable: "T".to_owned(), selection }];
    [
        ("ready, the blocks of the step before", ready(PutChanges::default())),
        ("ready, new blocks of 1,000 ranks", ready(changes())),
        (
            "log, a step decided and assigned",
            Message::Log { serial: 80_000, entries: vec![decided, assigned] },
        ),
        ("assign, with one scalar", Message::Assign(assignment())),
        ("release", Message::Release { step: STEP, retire: false, given_back: false }),
        ("resolve, one region", Message::Resolve { request: 11, table: TABLE, queries }),
    ]
}

fn ready(changed: PutChanges) -> Message {
    let report = ReadyReport { changed, len_bytes: 1 << 30, ..ReadyReport::default() };
    Message::Ready { step: STEP, again: None, report: report.into() }
}

/// What each rank put: one block.
fn changes() -> PutChanges {
    let mut all = PutChanges::default();
    for rank in 0..RANKS {
        let def = VariableDef::global_array("T", Dtype::F64, 2).into();
        let bytes = 8 * SIDE * SIDE;
        let put = VariablePut { def, shape: Some(shape()), blocks: vec![block(rank)], bytes };
        let put = Contribution { variables: vec![put] };
        all.append(PutChanges::of(Rank(rank), &put).expect("blocks of their variable"));
    }
    all.sort();
    all
}

fn assignment() -> Assignment {
    let bytes = 1.5f64.to_le_bytes().to_vec();
    let scalar = ScalarValue { name: "time".to_owned(), rank: Rank(300), dtype: Dtype::F64, bytes };
    Assignment {
        step: STEP,
        table: TABLE,
        skipped: 0,
        redelivered: false,
        values: vec![scalar],
        len_bytes: 1 << 33,
        queued_steps: 1,
        judgement: None,
    }
}

/// What travels between an owner of blocks and who takes them.
fn data() -> [(&'static str, DataMessage); 3] {
    let place = |segment| Place::Segment { segment, offset: 4096, len: 8 * SIDE * SIDE };
    let inline = Place::Inline { bytes: vec![7; 512] };
    let piece = BlockPart { variable: "T".to_owned(), block: 0, part: Part::Region(block(0)) };
    let segments = (0..4).map(place).collect();
    [
        ("placed, four blocks in segments", placed(segments)),
        ("placed, 512 bytes inline", placed(vec![inline])),
        ("fetch, one region", DataMessage::Fetch { request: 11, step: STEP, pieces: vec![piece] }),
    ]
}

fn placed(places: Vec<Place>) -> DataMessage {
    let block = |(block, place)| PlacedBlock { variable: "T".into(), block, place };
    DataMessage::Placed { step: STEP, request: None, blocks: (0..).zip(places).map(block).collect() }
}

/// The block of a rank. Each is some columns beside the one before, so that no short form says it all.
fn block(rank: u32) -> Region {
    let column = u64::from(rank) * 37 % SIDE;
    Region::new([SIDE * u64::from(rank), column], [SIDE, SIDE]).expect("a region")
}

fn shape() -> Shape {
    Shape::new([SIDE * u64::from(RANKS), 2 * SIDE]).expect("a shape")
}

fn layout() -> Layout {
    let blocks = (0..RANKS).map(|rank| (BlockId::new(Rank(rank), 0), block(rank)));
    Layout::global(shape(), blocks).expect("blocks within the shape")
}
