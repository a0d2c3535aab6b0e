//! `flexpath ls --types`, and what `describe` says of records: a stream of records, one of numbers, and one that is
//! silent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Ended, Live, Run};
use fp_core::record::{Field, RecordSchema, RecordType, encode_with};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Dtype, Publisher, PublisherOptions, RecordBlock, Region, Shape, Variable};
use serde_json::Value;

/// The stream's pace.
const PACE: Duration = Duration::from_millis(20);

fn bond() -> RecordSchema {
    let corner = RecordType::new("Corner").field(Field::new("x", Dtype::F32).with_unit("nm"));
    let record = RecordType::new("Bond")
        .field(Field::new("a", Dtype::U32))
        .field(Field::new("place", Dtype::F64).fixed(Shape::new([3]).unwrap()))
        .field(Field::new("corners", corner).fixed(Shape::new([2]).unwrap()));
    record.build().unwrap()
}

fn publish(publisher: &mut Publisher, schema: &RecordSchema) {
    let bonds = Variable::global_records("bonds", schema, &[0]).unwrap();
    let one = Variable::record("one", schema).expect("a name");
    let encode = |count| encode_with(schema, count, |_, bond| bond.put(0, &7u32)).unwrap();
    let mut writer = publisher.begin_step().unwrap();
    let none = RecordBlock::encoded(schema, 0, encode(0)).unwrap();
    writer.put_records(&bonds, &Region::new([0], [0]).unwrap(), none).unwrap();
    writer.put_record(&one, RecordBlock::encoded(schema, 1, encode(1)).unwrap()).unwrap();
    writer.end().unwrap();
}

/// Runs the command beside a stream of records, and one that publishes nothing.
fn beside(live: &Live, arguments: &[&str]) -> Ended {
    let options = || PublisherOptions::default().with_rendezvous(Rendezvous::at(live.path()).unwrap());
    let (mut records, schema) = (Publisher::open("bonds", options()).unwrap(), bond());
    let _idle = Publisher::open("idle", options()).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                publish(&mut records, &schema);
                std::thread::park_timeout(PACE);
            }
        });
        let ended = Run::of(live, arguments).finish();
        over.store(true, Ordering::Relaxed);
        ended
    })
}

const FIELDS: &str = "{ a: u32, place: f64[3], corners: Corner { x: f32 nm }[2] }";

#[test]
fn ls_shows_variables_with_their_types() {
    let live = Live::start("heat");
    let run = beside(&live, &["ls", "--types", "--timeout", "4"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for expected in [
        format!("  bonds Bond [0], global array, row-major\n    {FIELDS}\n"),
        format!("  one Bond, scalar, row-major\n    {FIELDS}\n"),
        "  temperature f64 [3, 4] K, global array, row-major\n".to_owned(),
        "  (stream \"idle\": no step within 4s;".to_owned(),
    ] {
        assert!(run.stdout.contains(&expected), "{expected}\n{}", run.stdout);
    }
    let run = beside(&live, &["ls", "--types", "--json"]);
    let all: Value = serde_json::from_str(&run.stdout).unwrap();
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|line| line["stream"].as_str().unwrap()).collect();
    assert_eq!(names, ["bonds", "heat", "idle"]);
    assert_eq!(all[0]["variables"][0]["fields"][1]["type"], "f64[3]");
    assert!(all[2].get("variables").is_none() && all[2]["untold"].is_string());
    live.stop();
}

#[test]
fn describe_shows_fields() {
    let live = Live::start("heat");
    let run = beside(&live, &["describe", "bonds"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains(&format!("  one Bond, scalar, row-major\n    {FIELDS}\n")), "{}", run.stdout);
    live.stop();
}
