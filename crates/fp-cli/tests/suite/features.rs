//! `flexpath features`, and an ordinary `flexpath watch` on what it publishes.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::thread;

use fp_core::rendezvous::Rendezvous;
use fp_core::{Publisher, PublisherOptions, Region, Variable};
use serde_json::Value;

use super::render::Pixels;
use super::support::{Live, Run};

/// Each row of letters is a step of one row: anything but a dot counts.
const STEPS: [&str; 6] = ["##......", "##..####", "#...####", "########", "..######", "..##.###"];

/// Publishes these steps to whoever comes first, from that number on.
fn publish(place: &Path, first: u64) {
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(place).expect("a rendezvous"))
        .with_min_subscribers(1)
        .with_first_step(first);
    let mut publisher = Publisher::open("lines", options).expect("it opens");
    let variable = Variable::global::<f32>("height", &[1, 8]).expect("a name").with_dimensions(&["y", "x"]);
    for step in STEPS {
        let row = step.bytes().map(|letter| if letter == b'.' { 0.0 } else { 5.0f32 }).collect();
        let mut writer = publisher.begin_step().expect("it begins");
        writer.put(&variable, &Region::new([0, 0], [1, 8]).expect("a region"), row).expect("put");
        writer.end().expect("it ends");
    }
    publisher.close().expect("it closes");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn features_are_followed_and_watched() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    thread::scope(|scope| {
        scope.spawn(|| publish(place, 40));
        let asked =
            ["features", "lines", "--of", "height > 1", "--ranks", "2", "--subscribers", "1", "--json"];
        let features = Run::at(place, &asked);
        let condition = "any(born.volume > 3)";
        let watch = Run::at(
            place,
            &[
                "watch",
                "lines-features",
                condition,
                "--every-step",
                "--json",
                "--then",
                "deliver born.volume",
            ],
        );
        let (features, watch) = (features.finish(), watch.finish());
        assert_eq!((features.code, watch.code), (Some(0), Some(0)), "{}{}", features.stderr, watch.stderr);
        let summary =
            "6 steps (0 not labelled), 2 births, 0 deaths, 1 merges, 1 splits, 2 features in the last";
        assert!(features.stderr.contains(summary), "{}", features.stderr);
        let told = lines(&features.stdout);
        let numbers: Vec<u64> = told.iter().filter_map(|line| line["step"].as_u64()).collect();
        assert_eq!(numbers, (40..46).collect::<Vec<_>>());
        assert_eq!(told[1]["events"].to_string(), r#"[{"event":"birth","id":2}]"#);
        assert_eq!(told[5]["events"].to_string(), r#"[{"event":"split","id":2,"other":3}]"#);
        let born = &told[1]["features"][1];
        assert_eq!(born["volume"].as_u64(), Some(4));
        let extrema =
            ["min", "min_place", "max", "max_place", "peak", "peak_place"].map(|name| born[name].to_string());
        assert_eq!(extrema, ["5.0", "[0,4]", "5.0", "[0,4]", "5.0", "[0,4]"]);
        assert_eq!(born["covariance"].to_string(), "[[0.0,0.0],[0.0,1.25]]");
        let watched = lines(&watch.stdout);
        assert_eq!(watched.len(), 1, "{}", watch.stdout);
        assert_eq!((&watched[0]["step"], &watched[0]["values"]), (&Value::from(41), &serde_json::json!([4])));
    });
}

/// Ranks in processes of their own publish what threads of one do. Events are told as text.
#[test]
fn ranks_may_be_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    thread::scope(|scope| {
        scope.spawn(|| publish(place, 0));
        let rank = |rank: &'static str| {
            let of = ["--ranks", "2", "--rank", rank, "--neighbours", "8", "--periodic", "x"];
            Run::at(
                place,
                &[&["features", "lines", "--of", "height >= 5", "--as", "found"][..], &of].concat(),
            )
        };
        let (one, lead) = (rank("1"), rank("0"));
        let (lead, one) = (lead.finish(), one.finish());
        assert_eq!((lead.code, one.code), (Some(0), Some(0)), "{}{}", lead.stderr, one.stderr);
        assert_eq!(one.stdout, "");
        // Around the end of the row they are neighbours: so the second one is no birth.
        let said: Vec<&str> = lead.stdout.lines().collect();
        assert_eq!(
            said,
            [
                "step 0  birth of 1: 2 elements around (0.0, 0.5)",
                "step 5  split: 2 comes out of 1: 2 elements around (0.0, 2.5)",
            ]
        );
    });
}

/// Steps with an event are drawn, and no others; each pixel of the features has the colour of the id that JSON tells, as the
/// letters of the step say where it is. An id keeps its colour.
#[test]
fn steps_with_events_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    let pictures = place.join("pictures");
    let pictures = pictures.to_str().expect("a name");
    thread::scope(|scope| {
        scope.spawn(|| publish(place, 40));
        let asked =
            ["features", "lines", "--of", "height > 1", "--pictures", pictures, "--json", "--ranks", "2"];
        let features = Run::at(place, &asked).finish();
        assert_eq!(features.code, Some(0), "{}", features.stderr);
        let (mut colours, mut drawn) = (std::collections::HashMap::new(), Vec::new());
        for (row, told) in STEPS.iter().zip(lines(&features.stdout)) {
            let step = told["step"].as_u64().expect("a number");
            let path = Path::new(pictures).join(format!("lines-features-{step}.png"));
            assert_eq!(path.exists(), told["events"] != serde_json::json!([]), "step {step}");
            if path.exists() {
                drawn.push(step);
                compare(&Pixels::read(&path), row, &told, &mut colours);
            }
        }
        assert_eq!(drawn, [40, 41, 43, 45], "births, a merge, a split");
        assert_eq!(std::fs::read_dir(pictures).expect("there").count(), 4);
        let all: std::collections::HashSet<_> = colours.values().collect();
        assert_eq!((colours.len(), all.len()), (3, 3), "three ids, three colours");
        assert!(!all.contains(&EMPTY));
    });
}

const EMPTY: [u8; 3] = [235, 235, 235];

/// Eight elements of 64 pixels each, below two lines of title: letters that are no dots are of the feature whose box has
/// them.
fn compare(picture: &Pixels, row: &str, told: &Value, colours: &mut std::collections::HashMap<u64, [u8; 3]>) {
    for (column, letter) in row.bytes().enumerate() {
        let is_in = |of: &&Value| {
            let end = |name: &str| of[name][1].as_u64().expect("a number") as usize;
            (end("low")..end("high")).contains(&column)
        };
        let feature = told["features"].as_array().expect("some").iter().find(is_in);
        let id = feature.filter(|_| letter != b'.').and_then(|of| of["id"].as_u64());
        assert_eq!(id.is_some(), letter != b'.', "{row}, {column}");
        for (across, down) in (0..64).flat_map(|across| (0..64).map(move |down| (across, down))) {
            let found = picture.at(10 + 64 * column + across, 10 + 2 * 16 + down);
            let wanted = id.map_or(EMPTY, |id| *colours.entry(id).or_insert(found));
            assert_eq!(found, wanted, "{row}, column {column}, pixel ({across}, {down})");
        }
    }
}

#[test]
fn what_cannot_be_is_said() {
    let live = Live::start("rows");
    for (arguments, code, said) in [
        (&["--of", "temperature"][..], 2, "one of >"),
        (&["--of", "temperature[0:2] > 1"], 2, "leave out what stands in square brackets"),
        (&["--of", "temperature > 1", "--as", "rows"], 2, "features are published under another name"),
        (&["--of", "temperature > 1", "--ranks", "2", "--rank", "2"], 2, "rank 2"),
        (&["--of", "temperature > 1", "--correlate", "volume,size"], 2, "there is no column \"size\""),
        (&["--of", "temperature > 1", "--neighbours", "5"], 2, "faces, all, or a number of neighbours"),
        (&["--of", "temperature > 1", "--neighbours", "6"], 1, "has 4 or 8 neighbours, and not 6"),
        (&["--of", "count > 1"], 1, "features are of global arrays"),
    ] {
        let refused = Run::of(&live, &[&["features", "rows"][..], arguments].concat()).finish();
        assert_eq!(refused.code, Some(code), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{arguments:?}: {}", refused.stderr);
    }
    let limited = Run::of(&live, &["features", "rows", "--of", "temperature > 1", "--steps", "2"]).finish();
    assert_eq!(limited.code, Some(0), "{}", limited.stderr);
    assert!(limited.stderr.contains("2 steps (0 not labelled), 1 births"), "{}", limited.stderr);
    let absent = Run::of(&live, &["features", "nothing", "--of", "x > 1", "--timeout", "0.2"]).finish();
    assert_eq!(absent.code, Some(1), "{}", absent.stderr);
    assert!(absent.stderr.contains("These streams are being published: rows"), "{}", absent.stderr);
    live.stop();
}

/// A publisher that is killed after its second step, and another one that comes: what is told of the step of the latter.
fn told_after_restart(first: Option<u64>) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let (place, file) = (folder.path(), folder.path().join("lines.fpsr"));
    let file = file.to_str().expect("a name");
    thread::scope(|scope| {
        scope.spawn(|| publish(place, 40));
        let recorded = Run::at(place, &["record", "lines", "--out", file]).finish();
        assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    });
    let mut features = Run::at(
        place,
        &["features", "lines", "--of", "height > 1", "--await", "60", "--json", "--ranks", "2"],
    );
    let mut replay = Run::at(place, &["replay", file, "--speed", "2"]);
    let out = features.child.stdout.take().expect("its output is read here");
    let mut lines = BufReader::new(out).lines().map(|line| line.expect("text"));
    let mut next = || serde_json::from_str::<Value>(&lines.next().expect("a line")).expect("JSON");
    while next()["step"] != 41 {}
    replay.child.kill().expect("it runs");
    let _ = replay.child.wait().expect("it can be waited for");
    let mut options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(place).expect("a rendezvous"))
        .with_min_subscribers(1);
    options.first_step = first;
    let mut publisher = Publisher::open("lines", options).expect("it opens");
    let variable = Variable::global::<f32>("height", &[1, 8]).expect("a name");
    let mut writer = publisher.begin_step().expect("it begins");
    let row = vec![5.0f32, 5.0, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0];
    writer.put(&variable, &Region::new([0, 0], [1, 8]).expect("a region"), row).expect("put");
    writer.end().expect("it ends");
    publisher.close().expect("it closes");
    let mut told = next();
    // A third step may have come before the kill.
    if told["step"] == 42 {
        told = next();
    }
    let features = features.finish();
    assert_eq!(features.code, Some(0), "{}", features.stderr);
    told
}

/// Where a publisher comes back and its numbers go on, so do ids.
#[test]
fn ids_go_on_where_numbers_do() {
    let told = told_after_restart(Some(50));
    let ids: Vec<u64> =
        told["features"].as_array().expect("some").iter().filter_map(|of| of["id"].as_u64()).collect();
    assert_eq!((told["step"].as_u64(), ids), (Some(50), vec![1, 2]));
    assert_eq!(told["events"], serde_json::json!([]));
}

/// Where its numbers begin anew, so do ids.
#[test]
fn ids_begin_anew_where_numbers_do() {
    let told = told_after_restart(None);
    let births = serde_json::json!([{ "event": "birth", "id": 1 }, { "event": "birth", "id": 2 }]);
    assert_eq!((told["step"].as_u64(), &told["events"]), (Some(0), &births));
    assert_eq!(told["features"][0]["age"].as_u64(), Some(0));
}

/// A rank that is killed ends the others with an error.
#[test]
fn a_killed_rank_ends_the_others() {
    let live = Live::start("rows");
    let rank = |rank| {
        Run::of(&live, &["features", "rows", "--of", "temperature > 1", "--ranks", "2", "--rank", rank])
    };
    let (mut lead, mut other) = (rank("0"), rank("1"));
    // It tells of the first step once all ranks have handed over their parts.
    lead.first_line();
    other.child.kill().expect("it runs");
    let _ = other.child.wait().expect("it can be waited for");
    let lead = lead.finish();
    assert_eq!(lead.code, Some(1), "{}", lead.stderr);
    assert!(lead.stderr.contains("rank 1"), "{}", lead.stderr);
    live.stop();
}
