//! Records in streams, over every transport: as they lie, converted, refused; with lists and texts; types that change
//! while the stream runs. Contents are functions of step and index.

use crate::support::{Place, take};
use fp_core::record::{Field, RecordSchema, RecordType, encode_records, encode_with};
use fp_core::{
    BlockId, Dims, Dtype, Fit, Loss, MemoryOrder, Misuse, Publisher, PutError, Rank, ReadError, Record as _,
    RecordBlock, Region, Select, Selection, Shape, StepReader, StepWriter, StridedRegion, Subscriber,
    TransportKind, Variable,
};

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const LEN: u64 = 1000;

#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core, description = "two atoms that are bound to each other")]
#[repr(C)]
struct Bond {
    a: u32,
    b: u32,
    #[record(unit = "angstrom", description = "distance")]
    length: f64,
}

/// The same for whoever wants the numbers wider, in another order, and more than there is.
#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core, name = "Bond")]
struct WideBond {
    length: f64,
    b: u64,
    a: u64,
    #[record(default = 1.5)]
    order: Option<f64>,
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
struct OtherBond {
    a: String,
    #[record(unit = "nm")]
    length: f64,
    energy: f64,
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
struct Cell {
    id: u64,
    name: String,
    corners: Vec<f32>,
    near: Option<Vec<u64>>,
}

fn bond(step: u64, index: u64) -> Bond {
    Bond { a: index as u32, b: (step + index) as u32, length: (step * 100_000 + index) as f64 }
}

fn bonds(step: u64, from: u64, len: u64) -> Vec<Bond> {
    (from..from + len).map(|index| bond(step, index)).collect()
}

fn cell(step: u64, index: u64) -> Cell {
    let corners = (0..index % 4).map(|corner| (step * 1000 + index * 10 + corner) as f32).collect();
    let near = (index % 3 != 0).then(|| (0..index % 5).map(|at| step + index + at).collect());
    Cell { id: step * 100_000 + index, name: "c".repeat(index as usize % 7), corners, near }
}

fn cells(step: u64, indices: impl IntoIterator<Item = u64>) -> Vec<Cell> {
    indices.into_iter().map(|index| cell(step, index)).collect()
}

fn region(start: u64, len: u64) -> Region {
    Region::new([start], [len]).expect("a region")
}

fn all_bonds() -> Variable {
    Variable::global_records("bonds", &Bond::schema().expect("a type"), &[LEN]).expect("a shape")
}

/// Publishes the next step and takes it.
fn exchange(
    publisher: &mut Publisher,
    subscriber: &mut Subscriber,
    put: impl FnOnce(&mut StepWriter, u64),
) -> StepReader {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    put(&mut writer, step);
    writer.end().expect("ended");
    take(subscriber)
}

fn put_bonds(writer: &mut StepWriter, step: u64) {
    let block = RecordBlock::plain(bonds(step, 0, LEN)).expect("plain");
    writer.put_records(&all_bonds(), &region(0, LEN), block).expect("put");
}

fn pair(place: &Place, kind: TransportKind) -> (Publisher, Subscriber) {
    let publisher = place.publisher();
    let subscriber = place.subscriber_over(kind);
    (publisher, subscriber)
}

#[test]
fn equal_types_pass_untouched() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = pair(&place, kind);
        for _ in 0..5 {
            let step = exchange(&mut publisher, &mut subscriber, put_bonds);
            let number = step.step().0;
            let view = step.view_records::<Bond>("bonds", "[...]").expect("a view");
            assert_eq!((&*view, view.is_zero_copy()), (&*bonds(number, 0, LEN), kind != TransportKind::Tcp));
            let some = step.view_records::<Bond>("bonds", "[10:30:2]").expect("a view");
            assert!(some.iter().copied().eq((10..30).step_by(2).map(|index| bond(number, index))));
            assert_eq!(
                step.variables().expect("a table")[0].def.record.as_ref().expect("records").name,
                "Bond"
            );
        }
        let (published, taken) = (publisher.statistics(), subscriber.statistics());
        let untouched = [published.handled_records, taken.handled_records, taken.conversions, taken.types];
        assert_eq!(untouched, [0; 4], "{kind}");
        let shared = if kind == TransportKind::Inproc { 0 } else { published.shared_copied_bytes };
        assert_eq!((published.put_copied_bytes, published.shared_copied_bytes), (0, shared), "{kind}");
    }
}

#[test]
fn plain_records_are_read_from_their_places_and_what_is_no_value_is_refused() {
    #[derive(fp_derive::Record, Clone, Debug, PartialEq)]
    #[record(crate = fp_core)]
    struct Switch {
        is_on: bool,
        bond: [Bond; 2],
    }
    let switches: Vec<Switch> =
        (0..9).map(|at| Switch { is_on: at % 3 == 0, bond: [bond(at, 1), bond(at, 2)] }).collect();
    let schema = Switch::schema().expect("a type");
    let mut bytes = encode_records(&switches).expect("encoded");
    let variable = Variable::global_records("switches", &schema, &[9]).expect("a shape");
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = pair(&place, kind);
        for byte in [1, 2] {
            bytes[6 * schema.size_bytes()] = byte;
            let step = exchange(&mut publisher, &mut subscriber, |writer, _| {
                writer.put_bytes(&variable, &region(0, 9), &bytes).expect("put");
            });
            assert_eq!(step.get_records::<Switch>("switches", "[::4]").expect("sound")[1], switches[4]);
            match step.get_records::<Switch>("switches", "[...]") {
                Ok(taken) => assert_eq!((taken, byte), (switches.clone(), 1), "{kind}"),
                Err(error) => assert!(error.to_string().ends_with("a truth value of 2"), "{kind}: {error}"),
            }
        }
    }
}

#[test]
fn a_type_crosses_a_link_once_in_a_thousand_steps() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = pair(&place, TransportKind::Tcp);
    for _ in 0..1000 {
        let step = exchange(&mut publisher, &mut subscriber, |writer, step| {
            // Each has another length: so each step has a table of its own.
            let variable = Variable::joined_records("list", &Bond::schema().expect("a type"), &[]);
            let block = RecordBlock::plain(bonds(step, 0, 1 + step % 3)).expect("plain");
            writer.put_joined_records(&variable.expect("a shape"), block).expect("put");
        });
        let set = step.records("list", "[...]").expect("records");
        let last = set.records().expect("sound").iter().last().expect("one at least");
        let number = step.step().0;
        assert_eq!(last.value("b").expect("a field").as_integer(), Some(i128::from(number + number % 3)));
        let wide = step.get_records::<WideBond>("list", "[0:1]").expect("records");
        assert_eq!((wide[0].b, wide[0].order), (number, Some(1.5)));
    }
    let (published, taken) = (publisher.statistics(), subscriber.statistics());
    assert_eq!((published.types, taken.types, taken.conversions), (1, 1, 1));
}

#[test]
fn compatible_types_are_converted() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = pair(&place, kind);
        let mut writer = publisher.begin_step().expect("a step");
        put_bonds(&mut writer, 0);
        writer.end().expect("ended");
        let provided = subscriber.of::<WideBond>().expect("provided");
        assert_eq!(provided[0].variable, "bonds");
        let Fit::Converted { differences } = &provided[0].fit else { panic!("converted: {provided:?}") };
        assert!(
            differences.iter().any(|one| one.to_string().contains("is u32, wanted as u64")),
            "{differences:?}"
        );
        assert_eq!(subscriber.of::<Bond>().expect("provided")[0].fit, Fit::Same);
        let step = take(&mut subscriber);
        let wide = step.get_records::<WideBond>("bonds", "[3:9]").expect("converted");
        let expected = bonds(0, 3, 6).into_iter().map(|bond| WideBond {
            length: bond.length,
            b: bond.b.into(),
            a: bond.a.into(),
            order: Some(1.5),
        });
        assert!(wide.into_iter().eq(expected), "{kind}");
        let named =
            step.records_as("bonds", "[3:9]", &WideBond::schema().expect("a type")).expect("converted");
        assert_eq!(named.schema().record().fields[1].name, "b");
        assert_eq!(
            named.records().expect("sound").record(5).expect("the last").value("b").expect("b").as_integer(),
            Some(8)
        );
    }
}

#[test]
fn what_does_not_fit_is_refused_before_the_first_step_is_taken() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = pair(&place, TransportKind::Shm);
    let mut writer = publisher.begin_step().expect("a step");
    put_bonds(&mut writer, 0);
    writer.put(&crate::support::named("array", 1).0, &region(0, 1), vec![7u64]).expect("put");
    writer.end().expect("ended");
    let refused = subscriber.of::<OtherBond>().expect_err("it does not fit").to_string();
    assert_eq!(
        refused,
        "stream \"stream\": no variable provides \"OtherBond\"\n\
         variable \"array\" is of u64, no records\n\
         variable \"bonds\": \"Bond\" is not \"OtherBond\":\n  \
         OtherBond.a: is u32, wanted as string\n  \
         OtherBond.length: is in \"angstrom\", wanted in \"nm\"\n  \
         OtherBond.energy: is wanted, but not there\n  \
         no hindrance:\n    OtherBond.b: is there, but not wanted"
    );
    let step = take(&mut subscriber);
    assert_eq!(step.step().0, 0, "the step that was looked at is still the next");
    let again = step.get_records::<OtherBond>("bonds", "[...]").expect_err("it does not fit");
    assert!(matches!(again, ReadError::Incompatible { .. }), "{again}");
    let none = step.get_records::<Bond>("array", "[...]").expect_err("no records").to_string();
    assert!(none.ends_with("variable \"array\": its elements are u64, no records"), "{none}");
    let numbers = step.get::<f64>("bonds", "[...]").expect_err("records");
    assert!(matches!(numbers, ReadError::Misuse { source: Misuse::NoNumbers { .. }, .. }), "{numbers}");
}

#[test]
fn records_with_lists_and_texts_arrive_by_global_index() {
    let schema = Cell::schema().expect("a type");
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = pair(&place, kind);
        for _ in 0..3 {
            let step = exchange(&mut publisher, &mut subscriber, |writer, step| {
                let all = Variable::global_records("cells", &schema, &[40]).expect("a shape");
                for (start, len) in [(0, 13), (13, 0), (13, 26), (39, 1)] {
                    let block = RecordBlock::encode(&cells(step, start..start + len)).expect("encoded");
                    writer.put_records(&all, &region(start, len), block).expect("put");
                }
                let rows = Variable::joined_records("rows", &schema, &[2]).expect("a shape");
                for part in [0..6, 6..16] {
                    let block = RecordBlock::encode(&cells(step, part)).expect("encoded");
                    writer.put_joined_records(&rows, block).expect("put");
                }
                let one = || RecordBlock::encode(&cells(step, [6])).expect("encoded");
                writer.put_record(&Variable::record("first", &schema).expect("a name"), one()).expect("put");
                writer
                    .put_record(&Variable::local_record("own", &schema).expect("a name"), one())
                    .expect("put");
            });
            check_cells(&step);
        }
        let names: Vec<String> = take_none(&mut publisher, &mut subscriber).into_iter().collect();
        assert_eq!(names, ["cells"], "what records refer to is not shown");
    }
}

/// The names of the variables of a step of one cell.
fn take_none(publisher: &mut Publisher, subscriber: &mut Subscriber) -> Vec<String> {
    let step = exchange(publisher, subscriber, |writer, step| {
        let cells_here =
            Variable::local_records("cells", &Cell::schema().expect("a type"), 1).expect("a name");
        let block = RecordBlock::encode(&cells(step, 0..1)).expect("encoded");
        writer.put_records(&cells_here, &region(0, 1), block).expect("put");
    });
    step.variables().expect("a table").into_iter().map(|info| info.def.name).collect()
}

fn check_cells(step: &StepReader) {
    let number = step.step().0;
    let get = |variable: &str, select: Select| step.get_records::<Cell>(variable, select).expect("cells");
    assert_eq!(get("cells", "[...]".into()), cells(number, 0..40));
    assert_eq!(get("cells", "[0:13]".into()), cells(number, 0..13), "a whole block");
    assert_eq!(get("cells", "[9:20]".into()), cells(number, 9..20));
    assert_eq!(get("cells", "[20:21]".into()), cells(number, 20..21));
    let strided = StridedRegion::new(region(3, 36), [5]).expect("strided");
    assert_eq!(get("cells", strided.into()), cells(number, (3..39).step_by(5)));
    let points = [39u64, 0, 13, 13, 25].map(|at| Dims::from([at]));
    assert_eq!(get("cells", Selection::Points(points.to_vec()).into()), cells(number, [39, 0, 13, 13, 25]));
    assert_eq!(get("cells", BlockId::new(Rank(0), 2).into()), cells(number, 13..39));
    assert_eq!(get("cells", Rank(0).into()), cells(number, 0..40));
    let error = step.get_records::<Cell>("cells", Rank(77)).expect_err("no such rank").to_string();
    assert!(error.contains("\"cells\": there is no rank 77: the publisher has 1, counted from 0"), "{error}");
    assert!(step.records("rows", "[rank 1]").is_err() && step.records("own", Rank(1)).is_err());
    assert!(get("cells", "[4:4]".into()).is_empty());
    assert_eq!(get("rows", "[...]".into()), cells(number, 0..16));
    assert_eq!(get("rows", "[2:5, 1]".into()), cells(number, [5, 7, 9]));
    let turned = Select::from("[1:3, :]").with_order(MemoryOrder::ColumnMajor);
    assert_eq!(get("rows", turned), cells(number, [2, 4, 3, 5]));
    assert_eq!(get("first", "[...]".into()), cells(number, [6]));
    assert_eq!(get("own", "[...]".into()), cells(number, [6]));
    let set = step.records("cells", "[38:40]").expect("records");
    let last = set.records().expect("sound").record(1).expect("two");
    assert_eq!(last.value("name").expect("a field").as_text(), Some(cell(number, 39).name.as_str()));
}

/// A type that only the program's run knows, with one field or two.
fn probe(has_more: bool) -> RecordSchema {
    let probe = RecordType::new("Probe").field(Field::new("x", Dtype::F64));
    let more = Field::new("y", Dtype::F64).optional().with_default(0.5);
    (if has_more { probe.field(more) } else { probe }).build().expect("a type")
}

#[test]
fn types_grow_while_the_stream_runs() {
    #[derive(fp_derive::Record, Clone, Debug, PartialEq)]
    #[record(crate = fp_core)]
    struct Probe {
        x: f64,
    }
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut old) = pair(&place, kind);
        let mut new = place.subscriber_over(kind);
        for number in 0..6u64 {
            let schema = probe(number >= 3);
            let mut writer = publisher.begin_step().expect("a step");
            let bytes = encode_with(&schema, 2, |index, record| {
                record.put(0, &((number * 10 + index as u64) as f64))?;
                if number >= 3 { record.put(1, &(number as f64)) } else { Ok(()) }
            });
            let block = RecordBlock::encoded(&schema, 2, bytes.expect("encoded")).expect("sound");
            let variable = Variable::global_records("probes", &schema, &[2]).expect("a shape");
            writer.put_records(&variable, &region(0, 2), block).expect("put");
            if number >= 3 {
                put_bonds(&mut writer, number);
            }
            writer.end().expect("ended");
            let step = take(&mut old);
            let (first, second) = (number as f64 * 10.0, number as f64 * 10.0 + 1.0);
            let got = step.get_records::<Probe>("probes", "[...]").expect("probes");
            assert_eq!(got, [Probe { x: first }, Probe { x: second }]);
            let step = take(&mut new);
            let set = step.records_as("probes", "[...]", &probe(true)).expect("probes");
            let y =
                set.records().expect("sound").record(1).expect("two").value("y").expect("a field").as_f64();
            assert_eq!(y, Some(if number >= 3 { number as f64 } else { 0.5 }));
            let sees_bonds = step.variables().expect("a table").iter().any(|info| info.def.name == "bonds");
            assert_eq!(sees_bonds, number >= 3);
        }
        assert_eq!(old.statistics().types, 1, "{kind}: the type that it did not know, once");
    }
}

#[test]
fn plain_arrays_become_another_type_where_that_is_asked_for() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = pair(&place, kind);
        let step = exchange(&mut publisher, &mut subscriber, |writer, _| {
            let grid = Variable::global::<f64>("grid", &[3, 4]).expect("a shape");
            let grid = grid.with_order(MemoryOrder::ColumnMajor);
            let whole = Region::new([0, 0], [3, 4]).expect("a region");
            let by_columns = (0..12).map(|at| f64::from(at % 3 * 10 + at / 3)).collect();
            writer.put(&grid, &whole, by_columns).expect("put");
            writer
                .put(&Variable::local::<i16>("small", 1).expect("a name"), &region(0, 3), vec![-1i16, 0, 300])
                .expect("put");
        });
        let lossy = Select::from("[1:3, 1:3]").with_conversion(Loss::Allowed);
        assert_eq!(step.get::<f32>("grid", &lossy).expect("converted"), [11.0f32, 12.0, 21.0, 22.0]);
        assert_eq!(*step.view::<i8>("grid", &lossy).expect("converted"), [11i8, 12, 21, 22]);
        let by_columns = lossy.clone().with_order(MemoryOrder::ColumnMajor);
        let array = step.get_array::<f32>("grid", by_columns).expect("converted");
        assert_eq!((array[[0, 1]], array.as_slice_memory_order().expect("dense")[1]), (12.0, 21.0));
        let mut wide = [0i64; 3];
        let exact = Select::from("[...]").with_conversion(Loss::Refused);
        step.get_into("small", &exact, &mut wide).expect("every i16 is an i64");
        assert_eq!(wide, [-1, 0, 300]);
        let refused = step.get::<f32>("grid", &exact).expect_err("not every f64 is an f32").to_string();
        assert!(refused.contains("variable \"grid\": ") && refused.contains("f32"), "{refused}");
        let unasked = step.get::<f32>("grid", "[...]").expect_err("f64");
        assert!(matches!(unasked, ReadError::Misuse { source: Misuse::WrongDtype { .. }, .. }), "{unasked}");
        let by_task = crate::support::executor::block_on(step.get_async::<f32>("grid", lossy));
        assert_eq!(by_task.expect("converted"), [11.0f32, 12.0, 21.0, 22.0]);
    }
}

/// Where they lie in one piece they are converted from there, else by way of a copy: the same comes out.
#[test]
fn numbers_become_others_where_they_lie_and_by_way_of_a_copy() {
    const LEN: u64 = 20_000;
    let values = |from: u64, len: u64| (from..from + len).map(|at| at as f64 / 3.0).collect::<Vec<f64>>();
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = pair(&place, kind);
        let step = exchange(&mut publisher, &mut subscriber, |writer, _| {
            let variable = |name: &str| Variable::global::<f64>(name, &[LEN]).expect("a shape");
            writer.put(&variable("whole"), &region(0, LEN), values(0, LEN)).expect("put");
            for from in [0, LEN / 2] {
                let half = values(from, LEN / 2);
                writer.put(&variable("halves"), &region(from, LEN / 2), half).expect("put");
            }
        });
        let wanted: Vec<f32> = values(0, LEN).iter().map(|value| *value as f32).collect();
        for variable in ["whole", "halves"] {
            for (text, range) in [("[...]", 0..LEN), ("[1:7]", 1..7), ("[9999:10003]", 9999..10003)] {
                let (what, wanted) =
                    (format!("{kind}: {variable} {text}"), &wanted[range.start as usize..range.end as usize]);
                let lossy = Select::from(text).with_conversion(Loss::Allowed);
                assert_eq!(step.get::<f32>(variable, &lossy).expect(&what), wanted, "{what}");
                assert_eq!(*step.view::<f32>(variable, &lossy).expect(&what), *wanted, "{what}");
                let mut into = vec![0f32; wanted.len()];
                step.get_into(variable, &lossy, &mut into[..]).expect(&what);
                assert_eq!(into, wanted, "{what}");
            }
            let every = Select::from("[::5]").with_conversion(Loss::Allowed);
            let every_fifth: Vec<f32> = wanted.iter().step_by(5).copied().collect();
            let (mut some, mut own, mut all) = (vec![0f32; 4000], vec![0f64; 2], vec![0f32; LEN as usize]);
            let whole = Select::from("[...]").with_conversion(Loss::Allowed);
            let together = step.fetch().get(variable, &every, &mut some).get(variable, "[3:5]", &mut own);
            together
                .get(variable, &whole, &mut all)
                .wait(std::time::Duration::from_secs(60))
                .expect("together");
            assert_eq!((&some, &all), (&every_fifth, &wanted), "{kind}: {variable}");
            assert_eq!(own, values(3, 2), "{kind}: {variable}");
            assert_eq!(
                step.get::<f32>(variable, &every).expect("strided"),
                every_fifth,
                "{kind}: {variable}"
            );
        }
    }
}

#[test]
fn wrong_puts_are_refused() {
    let place = Place::new();
    let (mut publisher, _subscriber) = pair(&place, TransportKind::Shm);
    let mut writer = publisher.begin_step().expect("a step");
    let cell_block = || RecordBlock::encode(&cells(0, 0..2)).expect("encoded");
    let refused = |outcome: Result<(), PutError>| match outcome {
        Err(PutError::Misuse { source, .. }) => source.to_string(),
        other => panic!("not refused: {other:?}"),
    };
    let other = refused(writer.put_records(&all_bonds(), &region(0, 2), cell_block()));
    assert_eq!(other, "step 0, variable \"bonds\": records are \"Bond\", not this \"Cell\"");
    let few = RecordBlock::plain(bonds(0, 0, 2)).expect("plain");
    assert!(refused(writer.put_records(&all_bonds(), &region(0, 3), few)).contains("3 elements, but 2"));
    let (array, _) = crate::support::named("array", 2);
    assert!(refused(writer.put_records(&array, &region(0, 2), cell_block())).contains("no records"));
    assert!(refused(writer.put(&all_bonds(), &region(0, 2), vec![0u8, 0])).contains("elements are bytes"));
    let wrong = RecordBlock::encoded(&Cell::schema().expect("a type"), 2, vec![0; 7]).err();
    assert!(wrong.expect("too few bytes").to_string().contains("but there are 7"));
    writer.put_records_copy(&all_bonds(), &region(0, 2), &bonds(0, 0, 2)).expect("put");
    assert!(Shape::new([LEN]).is_ok());
}

#[test]
fn types_that_are_made_at_run_time_are_bytes_here_and_there() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = pair(&place, kind);
        let schema = Bond::schema().expect("a type");
        let bytes = |step| bytemuck::cast_slice::<Bond, u8>(&bonds(step, 0, LEN)).to_vec();
        let step = exchange(&mut publisher, &mut subscriber, |writer, step| {
            let (all, bytes) = (region(0, LEN), bytes(step));
            for wrong in [&bytes[1..], &bytes[16..]] {
                let refused = writer.put_bytes(&all_bonds(), &all, wrong).expect_err("too short");
                assert!(matches!(refused, PutError::Misuse { source: Misuse::WrongLenBytes { .. }, .. }));
            }
            writer.put_bytes(&all_bonds(), &all, &bytes).expect("put");
        });
        let mut taken = vec![0; LEN as usize * schema.size_bytes()];
        step.get_record_bytes("bonds", Selection::All, &schema, &mut taken).expect("all");
        assert_eq!(taken, bytes(step.step().0));
        assert_eq!(subscriber.statistics().handled_records, 0, "nothing is done for each");
        let refused = step.get_record_bytes("bonds", "[1:]", &schema, &mut taken).expect_err("fewer");
        assert!(refused.to_string().contains("999"), "{refused}");
        let named =
            |name: &str| Field::new(name, Dtype::F32).with_unit(if name == "length" { "nm" } else { "" });
        let other = RecordType::new("Other").field(named("length")).build().expect("a type");
        let refused = step.get_record_bytes("bonds", "[0]", &other, &mut taken[..4]).expect_err("another");
        assert!(matches!(refused, ReadError::Incompatible { .. }), "{refused}");
        let refused =
            step.get_record_bytes("bonds", "[0]", &Cell::schema().expect("a type"), &mut taken[..4]);
        assert!(matches!(refused, Err(ReadError::Records { .. })));
    }
}
