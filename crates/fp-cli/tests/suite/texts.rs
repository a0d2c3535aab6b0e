//! `flexpath tail` of what is no number: texts, and records with texts and lists.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Ended, Run};
use fp_core::record::{Field, RecordSchema, RecordType, encode_with};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Dtype, Publisher, PublisherOptions, RecordBlock, Region, Variable};
use serde_json::{Value, json};

/// The stream's pace.
const PACE: Duration = Duration::from_millis(20);
/// A text that wants its quotes.
const TITLE: &str = "the \"inlet\"\nof run 7";

fn site() -> RecordSchema {
    let record = RecordType::new("Site")
        .field(Field::new("label", Dtype::String))
        .field(Field::new("mass", Dtype::F32))
        .field(Field::new("names", Dtype::String).variable());
    record.build().unwrap()
}

fn publish(publisher: &mut Publisher, schema: &RecordSchema) {
    let encoded = |count: usize| {
        let encoded = encode_with(schema, count, |index, site| {
            site.put(0, &format!("site {index}"))?;
            site.put(1, &0.1f32)?;
            site.put(2, &vec!["a".to_owned(); index])
        });
        RecordBlock::encoded(schema, count, encoded.unwrap()).unwrap()
    };
    let sites = Variable::global_records("sites", schema, &[3]).unwrap();
    let mut writer = publisher.begin_step().unwrap();
    writer.put_text(&Variable::text("title").expect("a name"), TITLE).unwrap();
    writer.put_records(&sites, &Region::new([0], [3]).unwrap(), encoded(3)).unwrap();
    writer.put_record(&Variable::record("first", schema).expect("a name"), encoded(1)).unwrap();
    writer.end().unwrap();
}

/// Runs the command beside the stream.
fn tail(arguments: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(folder.path()).unwrap());
    let (mut publisher, schema, over) =
        (Publisher::open("sites", options).unwrap(), site(), AtomicBool::new(false));
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                publish(&mut publisher, &schema);
                std::thread::park_timeout(PACE);
            }
        });
        let ended =
            Run::at(folder.path(), &[&["tail", "sites"], arguments, &["--steps", "1"]].concat()).finish();
        over.store(true, Ordering::Relaxed);
        ended
    });
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
    ended
}

/// What stands below the line of the step.
fn below(arguments: &[&str]) -> String {
    let stdout = tail(arguments).stdout;
    stdout.split_once('\n').map(|(_, below)| below.to_owned()).unwrap_or_default()
}

fn line(variable: &str) -> Value {
    serde_json::from_str(&tail(&[variable, "--json"]).stdout).unwrap()
}

#[test]
fn a_text_is_shown_in_quotes() {
    assert_eq!(below(&["title"]), "  \"the \\\"inlet\\\"\\nof run 7\"\n");
    let json = line("title");
    assert_eq!((&json["values"], &json["dtype"]), (&json!([TITLE]), &json!("string")));
}

#[test]
fn records_are_shown_field_by_field() {
    let rows = [
        "  { label: \"site 0\", mass: 0.1, names: [] }\n",
        "  { label: \"site 1\", mass: 0.1, names: [\"a\"] }\n",
        "  { label: \"site 2\", mass: 0.1, names: [\"a\", \"a\"] }\n",
    ];
    assert_eq!(below(&["sites"]), rows.concat());
    assert_eq!(
        below(&["sites[1:]", "--values", "1"]),
        format!("{}  ... and 1 more (--values shows them)\n", rows[1])
    );
    assert_eq!(below(&["first"]), rows[0]);
    let json = line("sites[2:]");
    assert_eq!((&json["record"], &json["shape"]), (&json!("Site"), &json!([1])));
    assert_eq!(json["values"], json!([{ "label": "site 2", "mass": 0.1, "names": ["a", "a"] }]));
}
