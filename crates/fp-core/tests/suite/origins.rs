//! Users name their variables as they like. What is derived, failed or made is told from these by its definition.

use crate::support::bonds::BondAdjacency;
use crate::support::{Place, STREAM, named, take, values};
use fp_core::{
    Misuse, Publisher, ReadError, Record, RecordBlock, Region, Selection, StepReader, StepWriter, Subscriber,
    Variable, VariableOrigin,
};

const LEN: u64 = 64;
const MAX: &str = "T | max";

/// Names of variables that once were taken for others.
const MARKED: [&str; 4] = ["lists#parts", "T#derived", "T#failed", "T#made"];

fn region() -> Region {
    Region::new([0], [LEN]).expect("inside")
}

fn publish(publisher: &mut Publisher, more: impl Fn(&mut StepWriter)) {
    let mut writer = publisher.begin_step().expect("a step");
    let t = Variable::global::<f64>("T", &[LEN]).expect("a shape");
    writer.put(&t, &region(), (0..LEN).map(|at| at as f64).collect::<Vec<_>>()).expect("put");
    more(&mut writer);
    writer.end().expect("ended");
}

fn names(step: &StepReader) -> Vec<String> {
    step.variables().expect("a table").into_iter().map(|info| info.def.name).collect()
}

fn list(atom: u64) -> BondAdjacency {
    BondAdjacency { atom, neighbours: (0..atom % 5).collect() }
}

fn put_marked(writer: &mut StepWriter) {
    for name in MARKED {
        writer.put(&named(name, LEN).0, &region(), values(1, LEN)).expect("put");
    }
    let schema = BondAdjacency::schema().expect("a type");
    let lists = Variable::global_records("lists", &schema, &[LEN]).expect("a shape");
    let block = RecordBlock::encode(&(0..LEN).map(list).collect::<Vec<_>>()).expect("records");
    writer.put_records(&lists, &region(), block).expect("put");
}

#[test]
fn a_name_with_any_mark_is_a_name_as_any_other() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut all = place.subscriber();
    let options = place.subscriber_options().with_variables(MARKED);
    let mut some = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, put_marked);
    let (all, some) = (take(&mut all), take(&mut some));
    assert_eq!(names(&all), ["T", "T#derived", "T#failed", "T#made", "lists", "lists#parts"]);
    for name in MARKED {
        for step in [&all, &some] {
            assert_eq!(step.get::<u64>(name, Selection::All).expect(name), values(1, LEN));
        }
        assert_eq!(all.variable(name).expect(name).definition().origin, VariableOrigin::Put);
    }
    let lists = all.get_records::<BondAdjacency>("lists", "[5:9]").expect("records");
    assert_eq!(lists, (5..9).map(list).collect::<Vec<_>>());
    let unasked = some.get_records::<BondAdjacency>("lists", "[5:9]").expect_err("nobody subscribed to it");
    assert!(matches!(unasked, ReadError::Misuse { source: Misuse::NotSubscribed { .. }, .. }), "{unasked}");
}

#[test]
fn what_was_derived_is_put_once_more_as_any_variable() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options =
        place.subscriber_options().with_derivation("top", "T | compute(2*T)").expect("a derivation");
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let mut second = Publisher::open("second", place.publisher_options()).expect("opened");
    let mut reader = Subscriber::open("second", place.subscriber_options()).expect("attached");
    publish(&mut publisher, |_| {});
    let step = take(&mut subscriber);
    let infos = step.variables().expect("a table");
    let origins: Vec<_> = infos.iter().map(|info| (info.def.name.as_str(), info.def.origin)).collect();
    assert_eq!(origins, [("T", VariableOrigin::Put), ("top", VariableOrigin::Derived)]);
    let again = step.variable("top").expect("it is there");
    assert_eq!(again.definition().origin, VariableOrigin::Put);
    let mut writer = second.begin_step().expect("a step");
    writer.put(&again, &region(), step.get::<f64>("top", Selection::All).expect("all")).expect("put");
    writer.end().expect("ended");
    let step = take(&mut reader);
    assert_eq!(names(&step), ["top"]);
    assert_eq!(step.get::<f64>("top", "[3:5]").expect("some"), [6.0, 8.0]);
}

/// The name of what a derivation gives, or of why it gives nothing.
fn name_of(origin: VariableOrigin) -> String {
    let derivation: fp_core::Derivation = MAX.parse().expect("a derivation");
    origin.name_of(&[&derivation.id().to_string()])
}

#[test]
fn whoever_puts_under_the_name_of_a_result_is_not_taken_for_it() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_derivation("top", MAX).expect("a derivation");
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, |_| {});
    assert_eq!(take(&mut subscriber).get::<f64>("top", Selection::All).expect("derived"), [LEN as f64 - 1.0]);
    let lie = |origin: VariableOrigin| {
        move |writer: &mut StepWriter| {
            let name = name_of(origin);
            writer.put(&named(&name, LEN).0, &region(), values(1, LEN)).expect("put");
        }
    };
    publish(&mut publisher, lie(VariableOrigin::Failed));
    assert_eq!(take(&mut subscriber).get::<f64>("top", Selection::All).expect("derived"), [LEN as f64 - 1.0]);
    publish(&mut publisher, lie(VariableOrigin::Derived));
    let told =
        take(&mut subscriber).get::<f64>("top", Selection::All).expect_err("its name is taken").to_string();
    assert!(told.contains("give it another name"), "{told}");
}
