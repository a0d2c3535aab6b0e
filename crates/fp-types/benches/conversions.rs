//! How near to `memcpy` conversions of arrays come, as ratios of interleaved rounds in one process.
//!
//! `cargo bench -p flexpath-types --bench conversions`: each ratio is of medians; the baseline copies the source's
//! bytes. What typed access through a stream costs is in `benches/typed.rs` of `flexpath`.

#[path = "../../../benches/turns/mod.rs"]
mod turns;

use std::cell::RefCell;
use std::hint::black_box;

use MemoryOrder::{ColumnMajor, RowMajor};
use criterion::{Criterion, criterion_group, criterion_main};
use fp_types::record::{
    ArrayConversion, ByteOrder, Conversion, ElementForm, Field, Loss, RecordSchema, RecordType, Records,
};
use fp_types::{Dtype, MemoryOrder, Shape};
use turns::{Group, Medians, in_turns};

const LITTLE: ByteOrder = ByteOrder::Little;

criterion_group!(benches, conversions);
criterion_main!(benches);

fn conversions(criterion: &mut Criterion) {
    let mut group = turns::group(criterion, "conversions");
    arrays(&mut group);
    structs(&mut group);
    group.finish();
}

fn arrays(group: &mut Group<'_>) {
    let line = Shape::new([2 << 20]).expect("a shape");
    let form = |dtype| ElementForm::native(dtype);
    let swapped = |dtype| ElementForm { dtype, byte_order: other(ByteOrder::NATIVE) };
    let doubles = (form(Dtype::F64), RowMajor);
    array(group, "f64 to f32, 16 MiB", &line, doubles, (form(Dtype::F32), RowMajor), 0.5);
    array(group, "f64 bytes swapped, 16 MiB", &line, (swapped(Dtype::F64), RowMajor), doubles, 0.5);
    let words = Shape::new([4 << 20]).expect("a shape");
    let from = (swapped(Dtype::F32), RowMajor);
    array(group, "f32 bytes swapped, 16 MiB", &words, from, (form(Dtype::F32), RowMajor), 0.5);
    let from = (form(Dtype::F32), RowMajor);
    array(group, "f32 to f64, 16 MiB to 32 MiB", &words, from, doubles, 0.0);
    array(group, "f64 swapped to f32, 16 MiB", &line, (swapped(Dtype::F64), RowMajor), from, 0.5);
    array(group, "f64 the same, 16 MiB", &line, doubles, doubles, 0.98);
    let square = Shape::new([4096, 4096]).expect("a shape");
    let columns = (form(Dtype::F64), ColumnMajor);
    array(group, "f64 4096 x 4096 column to row", &square, columns, doubles, 0.25);
    array(group, "f64 4096 x 4096 row to column", &square, doubles, columns, 0.25);
    array(group, "f64 column to f32 row, 4096 x 4096", &square, columns, from, 0.0);
}

fn structs(group: &mut Group<'_>) {
    let atom = |id: Dtype, x: Dtype| {
        let position = Field::new("x", x).fixed(Shape::new([3]).expect("a shape"));
        RecordType::new("Atom").field(position).field(Field::new("id", id)).build().expect("a type")
    };
    let short = atom(Dtype::U32, Dtype::F32);
    records(group, "equal records of 16 bytes, taken and copied", &short, &short, 0.98);
    records(group, "records, all fields wider", &short, &atom(Dtype::U64, Dtype::F64), 0.3);
    let swapped = short.record().clone().build_in(other(ByteOrder::NATIVE)).expect("a type");
    records(group, "records, all bytes swapped", &swapped, &short, 0.3);
    let mut turned = short.record().clone();
    turned.fields.reverse();
    records(group, "records, fields in the other order", &short, &turned.build().expect("a type"), 0.3);
}

/// A conversion of a million records against `memcpy` of them.
fn records(group: &mut Group<'_>, name: &str, from: &RecordSchema, to: &RecordSchema, wanted: f64) {
    let count = 1 << 20;
    let source = vec![1u8; count * from.size_bytes()];
    // Copied to one place by both, as places differ by some percent.
    let (copied, mut converted) = (RefCell::new(source.clone()), Vec::new());
    let conversion = Conversion::new(from, to, Loss::Refused).expect("a conversion");
    let memcpy = || copy(black_box(&source), &copied);
    let ours = || {
        let records = Records::new(from, black_box(&source), count).expect("whole records");
        if conversion.is_identity() {
            copy(&conversion.convert(&records).expect("the same bytes"), &copied);
        } else {
            conversion.convert_into(&records, &mut converted).expect("values that fit");
        }
        black_box(&mut converted);
    };
    report(name, in_turns(group, name, memcpy, ours), wanted);
}

fn copy(source: &[u8], place: &RefCell<Vec<u8>>) {
    let mut place = place.borrow_mut();
    place.copy_from_slice(source);
    black_box(&mut place);
}

fn other(order: ByteOrder) -> ByteOrder {
    if order == LITTLE { ByteOrder::Big } else { LITTLE }
}

/// A conversion against `memcpy` of its source.
fn array(
    group: &mut Group<'_>,
    name: &str,
    shape: &Shape,
    from: (ElementForm, MemoryOrder),
    to: (ElementForm, MemoryOrder),
    wanted: f64,
) {
    let conversion = ArrayConversion::new(from, to, Loss::Allowed).expect("a conversion");
    let len = |form: ElementForm| shape.element_count() as usize * form.dtype.size_bytes().unwrap_or(1);
    // One place for both, as places differ by some percent.
    let (source, place) = (vec![1u8; len(from.0)], RefCell::new(vec![2u8; len(from.0).max(len(to.0))]));
    let memcpy = || {
        let mut place = place.borrow_mut();
        place[..source.len()].copy_from_slice(black_box(&source));
        black_box(&mut place);
    };
    let ours = || {
        let mut place = place.borrow_mut();
        conversion.run(shape, black_box(&source), &mut place[..len(to.0)]).expect("lengths that fit");
        black_box(&mut place);
    };
    report(name, in_turns(group, name, memcpy, ours), wanted);
}

fn report(what: &str, medians: Option<Medians>, wanted: f64) {
    let Some(medians) = medians else { return };
    let (ratio, Medians { baseline, ours }) = (medians.speed(), medians);
    let verdict = if ratio >= wanted { "met" } else { "MISSED" };
    println!(
        "{what:<44} {ours:>10.2?}   {ratio:>6.3} of memcpy ({baseline:.2?}), wanted {wanted}: {verdict}"
    );
}
