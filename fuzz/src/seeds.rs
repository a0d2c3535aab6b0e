//! What each target begins with: messages whose bytes are kept as golden, and values that are made here.

use crate::{control, data, links, tables, texts, values};
use fp_proto::config::ContactText;
use fp_proto::meeting;
use fp_proto::table;
use fp_transform::{Array, Compression, Derivation};
use fp_transport::frame::Header;
use fp_transport::hello::{Hello, Purpose, Reply, VERSION_HIGHEST, VERSION_LOWEST};
use fp_transport::{HostId, ProcessId, Token, TransportKind};
use fp_types::record::{EnumType, Field, RecordSchema, RecordType};
use fp_types::{
    BlockId, Condition, Dtype, Epoch, Layout, MemoryOrder, Rank, Region, Schema, Shape, StepTable,
    TableEntry, VariableDef,
};
use std::sync::Arc;

/// The name of a seed, and its bytes.
pub type Seed = (String, Vec<u8>);

/// A target.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it demands of bytes.
    pub check: fn(&[u8]) -> usize,
    /// The seeds that are made anew; `seeds/` keeps them.
    pub made: fn() -> Vec<Seed>,
    /// The seeds that other tests keep.
    pub golden: &'static str,
}

/// All targets.
pub const TARGETS: [Target; 6] = [
    Target {
        name: "control",
        check: control::check,
        made: Vec::new,
        golden: include_str!("../../crates/fp-proto/tests/golden/control.txt"),
    },
    Target {
        name: "data",
        check: data::check,
        made: Vec::new,
        golden: include_str!("../../crates/fp-proto/tests/golden/data.txt"),
    },
    Target { name: "links", check: links::check, made: of_links, golden: "" },
    Target { name: "tables", check: tables::check, made: of_tables, golden: "" },
    Target { name: "values", check: values::check, made: of_values, golden: "" },
    Target { name: "texts", check: texts::check, made: of_texts, golden: "" },
];

/// Bytes for that reader: its number comes first.
fn for_reader(readers: &[(&str, fn(&[u8]) -> bool)], name: &str, bytes: &[u8]) -> Seed {
    let at = readers.iter().position(|(known, _)| *known == name).expect("a reader of that name");
    (name.to_owned(), [&[at as u8], bytes].concat())
}

/// A length of two bytes before what is so long.
fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_le_bytes(), bytes].concat()
}

fn of_links() -> Vec<Seed> {
    let seed = |name, bytes: &[u8]| for_reader(&links::DECODERS, name, bytes);
    let (requests, replies) = meetings();
    let requests = requests.iter().map(|request| seed("meeting-request", &request.encode()));
    let replies = replies.iter().map(|reply| seed("meeting-reply", &reply.encode()));
    let mut seeds = vec![
        seed("hello", &hello().encode()),
        seed("reply", &reply().encode()),
        seed("header", &header()),
        seed("probe", b"\x02\x07\0\0\0\0\0\0\0"),
        seed("gathered", &gathered()),
    ];
    seeds.extend(requests.chain(replies));
    seeds
}

fn hello() -> Hello {
    Hello {
        version_lowest: VERSION_LOWEST,
        version_highest: VERSION_HIGHEST,
        epoch: Some(7),
        token: Token::new([5; 32]),
        process: ProcessId(1),
        host: HostId(2),
        pid: 3,
        purpose: Purpose::Data,
        transport: TransportKind::Shm,
    }
}

fn reply() -> Reply {
    Reply {
        outcome: Ok(VERSION_HIGHEST),
        state: 1,
        version_lowest: VERSION_LOWEST,
        version_highest: VERSION_HIGHEST,
        pid: 3,
        epoch: 7,
        process: ProcessId(1),
        host: HostId(2),
        challenge: 9,
    }
}

/// Limits, and a header within them.
fn header() -> Vec<u8> {
    let header = Header { head_len: 40, is_of_rings: false, descriptors: 1, body_len: 1 << 20 };
    let limits = [&(16u32 << 20).to_le_bytes()[..], &(1u64 << 40).to_le_bytes()].concat();
    [&limits[..], &header.encode()].concat()
}

/// What a rank of a publisher tells the others: laid out here once more, as nobody outside can make one.
fn gathered() -> Vec<u8> {
    fp_core::fuzzed::a_gathered_record()
}

fn meetings() -> (Vec<meeting::Request>, Vec<meeting::Reply>) {
    let contact = ContactText("flexpath:1,tcp=192.0.2.7:4000".to_owned());
    let entry = meeting::Entry { name: "heat".to_owned(), epoch: Epoch(7), contact };
    let requests = vec![
        meeting::Request::Register(entry.clone()),
        meeting::Request::Withdraw { name: "heat".to_owned(), epoch: Epoch(7) },
        meeting::Request::Lookup { name: "heat".to_owned() },
        meeting::Request::List,
    ];
    let replies = vec![
        meeting::Reply::Done,
        meeting::Reply::Listed { settled: true, entries: vec![entry] },
        meeting::Reply::Declined(meeting::Decline::Full),
    ];
    (requests, replies)
}

fn of_tables() -> Vec<Seed> {
    let rows = (0..3u32).map(|rank| {
        let region = Region::new([u64::from(rank) * 2, 0], [2, 4]).expect("rows");
        (BlockId::new(Rank(rank), 0), region)
    });
    let rows = Layout::global(Shape::new([6, 4]).expect("a shape"), rows).expect("rows");
    let atoms = [(0, 5u64), (1, 0), (3, 7)];
    let atoms = atoms.map(|(rank, count)| (BlockId::new(Rank(rank), 0), [count, 3].into()));
    let atoms = Layout::joined(2, 0, atoms).expect("atoms");
    let defs = [
        VariableDef::global_array("T", Dtype::F64, 2).with_unit("K").with_attribute("valid", true),
        VariableDef::joined_array("x", Dtype::F64, 2, 0).with_dimensions(["atom", ""]),
    ];
    let mut schema = Schema::new("atoms");
    schema.variables = defs.to_vec();
    let mut seeds = vec![
        ("rows".to_owned(), table::encode_layout(&rows)),
        ("atoms".to_owned(), table::encode_layout(&atoms)),
        ("schema".to_owned(), table::encode_schema(&schema)),
    ];
    let layouts = [Arc::new(rows), Arc::new(atoms)];
    let entries =
        defs.into_iter().zip(layouts).map(|(def, layout)| TableEntry { def: Arc::new(def), layout });
    let step = StepTable::new(entries.collect()).expect("a table");
    seeds.push(("table".to_owned(), table::encode(&step)));
    let record = include_bytes!("../../crates/fp-spool/tests/golden/step-1.fpsr");
    seeds.push(("record".to_owned(), record.to_vec()));
    seeds
}

/// A type with a field of every kind.
fn bond() -> RecordSchema {
    let end = RecordType::new("End").field(Field::new("atom", Dtype::U32)).field(Field::new("x", Dtype::F64));
    let kind = EnumType::new("Kind", Dtype::I8).variant("single", 1).variant("double", 2);
    let shape = Shape::new([2]).expect("a shape");
    let record = RecordType::new("Bond")
        .field(Field::new("count", Dtype::U16))
        .field(Field::new("kind", kind))
        .field(Field::new("ends", end).fixed(shape))
        .field(Field::new("label", Dtype::String).optional())
        .field(Field::new("weights", Dtype::F32).sized_by("count"))
        .field(Field::new("more", Dtype::U8).variable());
    record.build().expect("a type")
}

const DERIVATIONS: [&str; 8] = [
    "T | sum",
    "T | average(3, 2)",
    "T | points(> 3)",
    "T | scale(2, 1) | pco",
    "T | lz4",
    "T | max",
    "T | histogram(0, 1, 8)",
    "T | compute(if(T > 3, T^2, sin(T/3))) | cast(f32)",
];

/// A condition that has a bit of everything.
const CONDITION: &str = "hysteresis(window(change(max(a.b[0:4, ::2])), 8, range) > 1.0, every(10)) and argmin(T)[1] < 64.0 \
                         or quantile(T, 0.99, 0.0..8.0 / 4) > 1.0";

fn of_values() -> Vec<Seed> {
    let seed = |name, bytes: &[u8]| for_reader(&values::DECODERS, name, bytes);
    let condition: Condition = "has(particles)".parse().expect("a condition");
    let plain = RecordType::new("Point").field(Field::new("x", Dtype::F64)).build().expect("a type");
    let points = [&with_length(plain.to_bytes())[..], &[2], &[1; 16]].concat();
    let none = [&with_length(bond().to_bytes())[..], &[0]].concat();
    let mut seeds = vec![
        seed("condition", &condition.encode()),
        seed("condition", &CONDITION.parse::<Condition>().expect("a condition").encode()),
        seed("record-type", bond().to_bytes()),
        seed("records", &points),
        seed("records", &none),
    ];
    seeds.extend(compressions().into_iter().map(|bytes| seed("compressed", &bytes)));
    for text in DERIVATIONS {
        let derivation: Derivation = text.parse().expect("a derivation");
        seeds.push(seed("derivation", &derivation.to_bytes()));
        seeds.extend(derived(text, &derivation).into_iter().map(|(name, bytes)| seed(name, &bytes)));
    }
    seeds
}

fn compressions() -> Vec<Vec<u8>> {
    let elements: Vec<u8> = (0..64).flat_map(|at| f64::from(at / 4).to_ne_bytes()).collect();
    let ways = [Compression::Lz4, Compression::Pco, Compression::Bounded { max_error: 0.5 }];
    let bytes = ways.map(|way| way.compress(Dtype::F64, &elements).expect("compressed elements"));
    bytes.map(|bytes| [&[Dtype::F64.as_u8()][..], &64u16.to_le_bytes(), &bytes].concat()).to_vec()
}

/// What a rank sends of a derivation, and the part of it that ranks merge.
fn derived(text: &str, derivation: &Derivation) -> Vec<(&'static str, Vec<u8>)> {
    let shape = Shape::new([4, 3]).expect("a shape");
    let plan = derivation.plan(&[fp_transform::ArrayType { dtype: Dtype::F64, shape }]).expect("a plan");
    let elements: Vec<u8> = (0..12).flat_map(|at| f64::from(at).to_ne_bytes()).collect();
    let array = Array::whole(Dtype::F64, shape, MemoryOrder::RowMajor, elements).expect("an array");
    let derived = plan.apply(&[array]).expect("a result");
    let with_text = |bytes: Vec<u8>| [with_length(text.as_bytes()), bytes].concat();
    let partial = derived.partial.as_ref().map(|partial| ("partial", with_text(partial.to_bytes())));
    let packed = fp_core::fuzzed::pack_derived(&plan, &derived).map(|bytes| ("packed", with_text(bytes)));
    partial.into_iter().chain(packed).collect()
}

fn of_texts() -> Vec<Seed> {
    let digits = "0123456789abcdef".repeat(4);
    let rules = "[[rule]]\nname = \"all\"\nstream = \"heat*\"\nanybody = true\nmay = [\"subscribe\"]\n";
    let texts = [
        "has(T)",
        "[0:10, ::2, -1]",
        "T[points (1, 2), (3, 4)]",
        "T[rank 3]",
        "[block 3.1]",
        "[...]",
        "f64",
        "tcp://login1:7000",
        "flexpath:1,pid=7,unix=x,tcp=192.0.2.7:4000",
        "0123456789abcdef0123456789abcdef",
        "shm,tcp",
        "127.0.0.1:0",
        &digits,
        rules,
        CONDITION,
    ];
    let texts = texts.iter().chain(&DERIVATIONS).enumerate();
    texts.map(|(at, text)| (format!("text-{at}"), text.as_bytes().to_vec())).collect()
}
