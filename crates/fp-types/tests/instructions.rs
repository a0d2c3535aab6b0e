//! Instructions of the hot paths of geometry and types. These are a plan, copying its runs, conversions of an array and
//! of records, and records as values of a Rust type.
//!
//! A binary of its own, as callgrind counts all that its process does.

#[path = "../../../tests/guard/mod.rs"]
mod guard;

use std::hint::black_box;

use fp_types::MemoryOrder::RowMajor;
use fp_types::record::{
    ArrayConversion, Conversion, ElementForm, EncodeError, Field, FieldValue as _, Loss, Record,
    RecordReadError, RecordRef, RecordSchema, RecordTarget, RecordType, Records, decode_records,
    encode_records,
};
use fp_types::{BlockId, DenseArray, Dtype, GapPolicy, Layout, Rank, Region, Selection, Shape, copy, plan};
use guard::HotPath;

const CALLS: u64 = 50;

/// What each costs, where the machine has AVX2: an array takes 2.4 times as many without.
const PATHS: &[HotPath] = &[
    HotPath { name: "plan", calls: CALLS, instructions: 211_600, tolerance_percent: 5 },
    HotPath { name: "runs", calls: CALLS, instructions: 15_500, tolerance_percent: 5 },
    HotPath { name: "conversion", calls: CALLS, instructions: 3_020, tolerance_percent: 5 },
    HotPath { name: "records", calls: CALLS, instructions: 101_800, tolerance_percent: 5 },
    HotPath { name: "decoding", calls: CALLS, instructions: 213_000, tolerance_percent: 5 },
];

#[test]
fn geometry_costs_what_it_did() {
    if !guard::is_watched() {
        guard::compare("plan_copy_and_convert", PATHS);
    }
}

/// The work that is watched; by itself a test like any other.
#[test]
fn plan_copy_and_convert() {
    let layout = grid(10);
    layout.build_index();
    let region = Region::new([11, 23, 37], [16, 16, 16]).expect("a region");
    let (block, array) = (cube(16), cube(32));
    let (source, mut destination) = (vec![1u8; 16 * 16 * 16 * 8], vec![0u8; 32 * 32 * 32 * 8]);
    let arrays = (DenseArray::new(block, RowMajor), DenseArray::new(array, RowMajor));
    let form = |dtype| (ElementForm::native(dtype), RowMajor);
    let conversion =
        ArrayConversion::new(form(Dtype::F32), form(Dtype::F64), Loss::Allowed).expect("a widening");
    let shape = Shape::new([4096]).expect("a shape");
    let (floats, mut doubles) = (vec![0u8; 4096 * 4], vec![1u8; 4096 * 8]);
    let wider = Conversion::new(&atom(Dtype::U32, Dtype::F32), &atom(Dtype::U64, Dtype::F64), Loss::Refused);
    let (wider, atoms, mut wide_atoms) =
        (wider.expect("a widening"), vec![0u8; 1024 * 16], vec![1; 1024 * 32]);
    let pairs = encode_records(&vec![Pair { a: 1, b: 2 }; 1024]).expect("records");
    for _ in 0..CALLS {
        watched_records(&wider, &atoms, &mut wide_atoms);
        assert_eq!(watched_decoding(&pairs), 1024);
        assert_eq!(watched_plan(&layout, &region), 27);
        watched_runs(&source, &arrays, &mut destination, &block);
        watched_conversion(&conversion, &shape, &floats, &mut doubles);
    }
    assert_eq!(destination.iter().map(|byte| usize::from(*byte)).sum::<usize>(), source.len());
    assert!(doubles.iter().chain(&wide_atoms).all(|byte| *byte == 0));
}

/// Two numbers.
#[derive(Clone)]
struct Pair {
    a: i64,
    b: i64,
}

impl Record for Pair {
    fn record_type() -> RecordType {
        RecordType::new("Pair").field(i64::field("a")).field(i64::field("b"))
    }

    fn put_fields(&self, to: &mut RecordTarget<'_>) -> Result<(), EncodeError> {
        to.put(0, &self.a)?;
        to.put(1, &self.b)
    }

    fn take_fields(from: &RecordRef<'_>) -> Result<Self, RecordReadError> {
        Ok(Self { a: from.take(0)?, b: from.take(1)? })
    }
}

/// 1024 records as values of a Rust type.
#[inline(never)]
fn watched_decoding(bytes: &[u8]) -> usize {
    let schema = Pair::schema().expect("a type");
    let records = Records::new(&schema, black_box(bytes), 1024).expect("whole records");
    let pairs: Vec<Pair> = decode_records(&records).expect("values");
    black_box(&pairs).iter().filter(|pair| pair.a + pair.b == 3).count()
}

/// A record of three numbers and one of another type.
fn atom(id: Dtype, x: Dtype) -> RecordSchema {
    let position = Field::new("x", x).fixed(Shape::new([3]).expect("a shape"));
    RecordType::new("Atom").field(position).field(Field::new("id", id)).build().expect("a type")
}

fn cube(side: u64) -> Region {
    Region::new([0; 3], [side; 3]).expect("a region")
}

/// Blocks of a regular grid, `side` along each of three dimensions.
fn grid(side: u64) -> Layout {
    let shape = Shape::new([side * 8; 3]).expect("a shape");
    let cell = |number: u64| [number / side / side, number / side % side, number % side].map(|cell| cell * 8);
    let block = |number: u64| {
        (BlockId::new(Rank(number as u32), 0), Region::new(cell(number), [8; 3]).expect("a region"))
    };
    Layout::global(shape, (0..side.pow(3)).map(block)).expect("a layout")
}

/// A plan of a region that touches 27 blocks of 1000.
#[inline(never)]
fn watched_plan(layout: &Layout, region: &Region) -> usize {
    let plan = plan(layout, &Selection::Region(*region), GapPolicy::Error).expect("a plan");
    black_box(&plan).pieces.len()
}

/// 256 runs of 128 bytes.
#[inline(never)]
fn watched_runs(source: &[u8], arrays: &(DenseArray, DenseArray), destination: &mut [u8], part: &Region) {
    copy(black_box(source), &arrays.0, destination, &arrays.1, &(*part).into(), 8).expect("a copy");
}

/// 4096 numbers of single precision to double precision.
#[inline(never)]
fn watched_conversion(conversion: &ArrayConversion, shape: &Shape, source: &[u8], destination: &mut [u8]) {
    conversion.run(shape, black_box(source), destination).expect("a conversion");
}

/// 1024 records whose fields become wider.
#[inline(never)]
fn watched_records(conversion: &Conversion, source: &[u8], destination: &mut Vec<u8>) {
    let records = Records::new(conversion.source(), black_box(source), 1024).expect("whole records");
    conversion.convert_into(&records, destination).expect("a conversion");
}
