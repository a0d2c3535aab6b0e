//! Blocks whose type is known only at run time: copied, kept by their owner, or filled in memory that is lent.

use crate::support::{PATIENCE, Place, take};
use fp_core::record::encode_records;
use fp_core::{
    Dtype, Misuse, Publisher, PutError, Record as _, Region, Selection, Shape, StepReader, StepWriter,
    Subscriber, TransportKind, Variable, VariableError,
};

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const LEN: u64 = 100;

#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
struct Plain {
    id: u32,
    weight: f32,
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
struct Named {
    name: String,
    near: Vec<u16>,
}

fn named(index: u64) -> Named {
    Named { name: "n".repeat(index as usize % 4), near: (0..index as u16 % 3).collect() }
}

fn plain(index: u64) -> Plain {
    Plain { id: index as u32, weight: index as f32 / 2.0 }
}

fn region(start: u64, count: u64) -> Region {
    Region::new([start], [count]).expect("a region")
}

fn numbers(name: &str) -> Variable {
    let variable = Variable::global::<u8>(name, &[LEN]).expect("a shape");
    variable.with_dtype(Dtype::F64).expect("numbers")
}

fn elements() -> Vec<f64> {
    (0..LEN).map(|at| at as f64 / 3.0).collect()
}

/// The bytes of the elements at an address that suits none of them.
struct Crooked(Vec<u8>);

impl Crooked {
    fn new() -> Self {
        Self([&[0], bytemuck::cast_slice(&elements())].concat())
    }
}

impl AsRef<[u8]> for Crooked {
    fn as_ref(&self) -> &[u8] {
        &self.0[1..]
    }
}

/// Publishes one step and takes it.
fn exchange(kind: TransportKind, put: impl FnOnce(&mut StepWriter)) -> (StepReader, Publisher, Subscriber) {
    let place = Place::new();
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber_over(kind));
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let mut writer = publisher.begin_step().expect("begun");
    put(&mut writer);
    writer.end().expect("ended");
    (take(&mut subscriber), publisher, subscriber)
}

#[test]
fn bytes_arrive_as_the_elements_that_they_are() {
    for kind in KINDS {
        let all = region(0, LEN);
        let (step, publisher, _subscriber) = exchange(kind, |writer| {
            writer.put_bytes(&numbers("copied"), &all, Crooked::new().as_ref()).expect("put");
            writer.put_external_bytes(&numbers("kept"), &all, Crooked::new()).expect("put");
            let mut loan = writer.loan_bytes(&numbers("lent"), &all).expect("lent");
            loan.copy_from_slice(Crooked::new().as_ref());
            writer.put_loan(loan).expect("put");
            let mut loan = writer.loan::<f64>(&numbers("lent as numbers"), &all).expect("lent");
            loan.copy_from_slice(&elements());
            writer.put_loan(loan).expect("put");
        });
        for variable in ["copied", "kept", "lent", "lent as numbers"] {
            assert_eq!(step.get::<f64>(variable, Selection::All).expect("numbers"), elements());
            assert_eq!(&*step.view::<f64>(variable, "[7:19]").expect("a view"), &elements()[7..19]);
        }
        assert_eq!(publisher.statistics().put_copied_bytes, LEN * 8, "over {kind}");
    }
}

#[test]
fn bytes_are_viewed_where_they_lie_and_copied_where_the_caller_says() {
    let record = Variable::record("it", &Named::schema().expect("a type")).expect("a name");
    let big = Variable::global::<f64>("big", &[4096]).expect("a shape");
    for kind in KINDS {
        let (step, _publisher, subscriber) = exchange(kind, |writer| {
            writer.put(&big, &region(0, 4096), (0..4096).map(f64::from).collect()).expect("put");
            let bytes = encode_records(&[named(5)]).expect("bytes");
            writer.put_bytes(&record, &Region::whole(&Shape::scalar()), &bytes).expect("put");
        });
        let expected: Vec<f64> = (100..300).map(f64::from).collect();
        let before = subscriber.statistics();
        let (dtype, view) = step.view_bytes("big", "[100:300]").expect("a view");
        assert_eq!((dtype, &*view), (Dtype::F64, bytemuck::cast_slice(&expected)));
        assert_eq!(view.is_zero_copy(), kind != TransportKind::Tcp, "over {kind}");
        let views = subscriber.statistics().views - before.views;
        assert_eq!(views, u64::from(view.is_zero_copy()), "over {kind}");
        let mut memory = vec![0; 1600];
        step.get_bytes_into("big", "[100:300]", &mut memory).expect("copied");
        assert_eq!(memory, bytemuck::cast_slice::<f64, u8>(&expected));
        let error = step.get_bytes_into("big", "[100:300]", &mut memory[1..]).expect_err("too short");
        assert!(error.to_string().contains("1600 bytes") && error.to_string().contains("1599"), "{error}");
        // A record has no length that is known before.
        let (_, bytes) = step.view_bytes("it", Selection::All).expect("a record");
        assert_eq!(*bytes, encode_records(&[named(5)]).expect("bytes"));
        assert!(step.get_bytes_into("it", Selection::All, &mut vec![0; bytes.len()]).is_err());
    }
}

#[test]
fn scalars_are_put_as_bytes_whichever_way() {
    let one = Region::whole(&Shape::scalar());
    let (three, own) = (
        Variable::scalar::<i32>("three").expect("a name"),
        Variable::local_scalar::<i32>("own").expect("a name"),
    );
    let (text, record) = (
        Variable::text("text").expect("a name"),
        Variable::record("it", &Named::schema().expect("a type")).expect("a name"),
    );
    let (step, _publisher, _subscriber) = exchange(TransportKind::Tcp, |writer| {
        let mut loan = writer.loan_bytes(&three, &one).expect("lent");
        loan.copy_from_slice(&3i32.to_ne_bytes());
        writer.put_loan(loan).expect("put");
        writer.put_bytes(&own, &one, &4i32.to_ne_bytes()).expect("put");
        writer.put_external_bytes(&text, &one, "größer".as_bytes()).expect("put");
        let bytes = encode_records(&[named(5)]).expect("bytes");
        writer.put_bytes(&record, &one, &bytes).expect("put");
        assert!(writer.put_bytes(&record, &one, &bytes).is_err(), "twice");
    });
    assert_eq!(step.scalar::<i32>("three").expect("a number"), 3);
    assert_eq!(step.get::<i32>("own", Selection::All).expect("a number"), [4]);
    assert_eq!(step.text("text").expect("a text"), "größer");
    assert_eq!(step.get_records::<Named>("it", Selection::All).expect("a record"), [named(5)]);
}

#[test]
fn records_are_bytes_with_their_lists_and_texts() {
    let (of_plain, of_named) = (Plain::schema().expect("a type"), Named::schema().expect("a type"));
    let (plains, all): (Vec<Plain>, _) = ((0..LEN).map(plain).collect(), region(0, LEN));
    let nameds: Vec<Named> = (0..LEN).map(named).collect();
    let bytes = encode_records(&nameds).expect("bytes");
    let plain_of = |name: &str| Variable::global_records(name, &of_plain, &[LEN]).expect("a shape");
    let named_of = |name: &str| Variable::global_records(name, &of_named, &[LEN]).expect("a shape");
    for kind in KINDS {
        let (step, _publisher, _subscriber) = exchange(kind, |writer| {
            writer.put_bytes(&plain_of("plain"), &all, bytemuck::cast_slice(&plains)).expect("put");
            let mut loan = writer.loan_bytes(&plain_of("lent"), &all).expect("lent");
            loan.copy_from_slice(bytemuck::cast_slice(&plains));
            writer.put_loan(loan).expect("put");
            writer.put_bytes(&named_of("named"), &all, &bytes).expect("put");
            writer.put_external_bytes(&named_of("kept"), &all, bytes.clone()).expect("put");
            let refused = writer.put_bytes(&named_of("cut"), &all, &bytes[1..]).expect_err("too short");
            assert!(
                matches!(refused, PutError::Misuse { source: Misuse::NoRecords { .. }, .. }),
                "{refused}"
            );
            assert!(writer.loan_bytes(&named_of("cut"), &all).is_err(), "nobody knows how long they will be");
        });
        for name in ["plain", "lent"] {
            assert_eq!(step.get_records::<Plain>(name, Selection::All).expect("records"), plains);
        }
        for name in ["named", "kept"] {
            assert_eq!(step.get_records::<Named>(name, Selection::All).expect("records"), nameds);
            let (dtype, shape, found) = step.get_bytes(name, Selection::All).expect("bytes");
            assert_eq!((dtype, shape.dims().as_slice(), found), (Dtype::Bytes, &[LEN][..], bytes.clone()));
            assert_eq!(step.variable(name).expect("a variable"), named_of(name));
        }
        assert!(step.variable("none").is_err());
    }
}

#[test]
fn wrong_bytes_are_refused_before_anything_is_put() {
    let (one, all) = (Region::whole(&Shape::scalar()), region(0, LEN));
    let mask = Variable::local::<u8>("mask", 1).expect("a name").with_truth_values();
    let done = Variable::scalar::<u8>("done").expect("a name").with_truth_values();
    let (step, _publisher, _subscriber) = exchange(TransportKind::Shm, |writer| {
        let refused = writer.put_bytes(&numbers("x"), &all, &[0; 799]).expect_err("one too few").to_string();
        assert!(refused.contains("variable \"x\": [0:100] has 800 bytes, but 799 were given"), "{refused}");
        let refused = writer.put_external_bytes(&numbers("x"), &all, vec![0; 801]).expect_err("one too many");
        assert!(
            matches!(refused, PutError::Misuse { source: Misuse::WrongLenBytes { .. }, .. }),
            "{refused}"
        );
        assert!(writer.put_bytes(&numbers("x"), &region(1, LEN), &[0; 800]).is_err(), "outside");
        for refused in [writer.put_bytes(&mask, &region(0, 2), &[1, 2]), writer.put_bytes(&done, &one, &[2])]
        {
            assert!(matches!(refused, Err(PutError::Misuse { source: Misuse::NoTruthValue { .. }, .. })));
        }
        let refused =
            writer.put_bytes(&Variable::text("text").expect("a name"), &one, &[0xff]).expect_err("no UTF-8");
        assert!(matches!(refused, PutError::Misuse { source: Misuse::NoText { .. }, .. }), "{refused}");
        assert!(
            writer.loan_bytes(&Variable::text("text").expect("a name"), &one).is_err(),
            "a text has its own length"
        );
    });
    assert!(step.variables().expect("a table").is_empty(), "nothing was put");
}

#[test]
fn variables_are_made_of_a_type_that_is_known_at_run_time() {
    let mask = Variable::scalar::<u8>("m").expect("a name").with_dtype(Dtype::Bool).expect("truth values");
    assert_eq!(mask, Variable::scalar::<u8>("m").expect("a name").with_truth_values());
    assert_eq!(
        Variable::scalar::<u8>("t").expect("a name").with_dtype(Dtype::String),
        Ok(Variable::text("t").expect("a name"))
    );
    let none =
        |refused: Result<Variable, VariableError>| matches!(refused, Err(VariableError::NoElements { .. }));
    assert!(none(Variable::local::<u8>("t", 1).expect("a name").with_dtype(Dtype::String)));
    assert!(none(Variable::scalar::<u8>("b").expect("a name").with_dtype(Dtype::Bytes)));
    assert!(none(
        Variable::record("r", &Plain::schema().expect("a type")).expect("a name").with_dtype(Dtype::I8)
    ));
}
