//! `flexpath watch`: what it prints, writes and starts for steps that are as a condition says.

use crate::support::{Live, Run, rows_of_step};
use fp_core::record::{Field, RecordType};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Dtype, Native, ParameterKind, Publisher, PublisherOptions, RecordBlock, Transforms, Variable};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// `rows` of the stream that [`Live`] publishes: what is told of a step is what its rows say.
#[test]
fn hits_are_printed_with_their_numbers() {
    let live = Live::start("rows");
    let watched = Run::of(
        &live,
        &[
            "watch",
            "rows",
            "max(temperature) > -1e9 and count(temperature > -1e9) >= 1",
            "--json",
            "--steps",
            "3",
        ],
    )
    .finish();
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    let told = lines(&watched.stdout);
    assert_eq!(told.len(), 3);
    for line in told {
        let step = line["step"].as_u64().expect("a number");
        let all: Vec<f64> = rows_of_step(step).concat();
        let greatest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(line["measured"][0]["measure"], "max(temperature)");
        assert_eq!(line["measured"][0]["number"].as_f64(), Some(greatest), "{line}");
        assert_eq!(line["measured"][1]["number"].as_u64(), Some(all.len() as u64), "{line}");
        assert_eq!(line["unjudged"], Value::Null);
    }
    let text = Run::of(&live, &["watch", "rows", "sum(temperature) > -1e9", "--steps", "1"]).finish();
    assert!(
        text.stdout.starts_with("step ") && text.stdout.contains("  sum(temperature) = "),
        "{}",
        text.stdout
    );
    live.stop();
}

/// Every action of one step, in order, and a file of commands.
#[test]
fn hits_are_delivered_written_and_run() {
    let live = Live::start("rows");
    let folder = tempfile::tempdir().expect("a folder");
    let (hits, out) = (folder.path().join("hits"), folder.path().join("told.json"));
    let commands = folder.path().join("commands.toml");
    // The judgement goes as one word to a program that writes it, and a shell would have made something else of it.
    let text = format!(
        "[command.note]\nrun = [\"sh\", \"-c\", 'printf %s \"$1\" > \"$2\"', \"note\", \"{{judgement}}\", {:?}]\n",
        out.to_str().expect("a name")
    );
    std::fs::write(&commands, text).expect("written");
    let write = format!("write {}", hits.display());
    let arguments = [
        "watch",
        "rows",
        "min(temperature) > -1e9",
        "--steps",
        "1",
        "--json",
        "--then",
        "notify",
        "--then",
        "deliver temperature",
        "--then",
        &write,
        "--then",
        "run note",
        "--commands",
        commands.to_str().expect("a name"),
    ];
    let watched = Run::of(&live, &arguments).finish();
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    let told = lines(&watched.stdout);
    let [notified, delivered] = &told[..] else { panic!("{told:?}") };
    let step = notified["step"].as_u64().expect("a number");
    let values: Vec<f64> =
        delivered["values"].as_array().expect("values").iter().filter_map(Value::as_f64).collect();
    assert_eq!((delivered["step"].as_u64(), values), (Some(step), rows_of_step(step).concat()));
    let noted: Value = serde_json::from_str(&std::fs::read_to_string(&out).expect("it ran")).expect("JSON");
    assert_eq!(noted["measured"], notified["measured"]);
    let file = hits.join(format!("rows-{step}.fpsr"));
    let listed = Run::at(folder.path(), &["ls", file.to_str().expect("a name")]).finish();
    assert!(
        listed.stdout.starts_with(&format!("step {step} of \"rows\": ")),
        "{}{}",
        listed.stdout,
        listed.stderr
    );
    live.stop();
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, said) in [
        (&["watch", "rows", "max(temperature"][..], "character 16: a closing bracket is expected here"),
        (&["watch", "rows", "top(temperature) > 1"], "there is no condition \"top\""),
        (&["watch", "rows", "max(temperature) > 1", "--then", "shout"], "there is no action \"shout\""),
        (&["watch", "rows", "max(temperature) > 1", "--then", "run x"], "`run x` needs --commands FILE"),
        (
            &["watch", "rows", "max(temperature) > 1", "--then", "run x", "--commands", "/nowhere/c.toml"],
            "the file of commands /nowhere/c.toml",
        ),
    ] {
        let refused = Run::at(folder.path(), arguments).finish();
        assert_eq!(refused.code, Some(2), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{arguments:?}: {}", refused.stderr);
    }
}

/// A request that is taken, one that is declined, and one that is refused; what comes after a failure is not asked for.
#[test]
fn a_simulation_is_asked_for_values() {
    let range = ParameterKind::Integer { least: 0, greatest: 10 };
    let live = Live::with("rows", |options| options.with_parameter("level", range));
    let taken = Run::of(&live, &["request", "rows", "level=1", "level=2"]).finish();
    assert_eq!(taken.code, Some(0), "{}", taken.stderr);
    let lines: Vec<&str> = taken.stdout.lines().collect();
    assert!(
        lines[0].starts_with("level = 1: applied at step ")
            && lines[1].starts_with("level = 2: applied at step ")
    );
    for (asked, said) in [
        ("level=3", "publisher rank 0 declined it at step"),
        ("level=11", "the parameter takes a whole number from 0 to 10"),
        ("speed=1", "the publisher has no such parameter, but level"),
    ] {
        let refused = Run::of(&live, &["request", "rows", asked, "level=1"]).finish();
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{asked}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{asked}: {}", refused.stderr);
    }
    live.stop();
}

/// What there is to ask for, for people and for programs.
#[test]
fn parameters_are_listed() {
    let range = ParameterKind::Integer { least: 0, greatest: 10 };
    let live = Live::with("rows", |options| {
        options
            .with_described_parameter("level", range, "of the tank, in m")
            .with_parameter("stop", ParameterKind::Signal)
    });
    let listed = Run::of(&live, &["request", "rows"]).finish();
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let expected = "level  a whole number from 0 to 10  of the tank, in m\nstop   no value\n";
    assert_eq!(listed.stdout, expected);
    let listed = Run::of(&live, &["request", "rows", "--json"]).finish();
    let value: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let level = serde_json::json!({"parameter": "level", "takes": "a whole number from 0 to 10", "text": "of the tank, in m"});
    assert_eq!(value, serde_json::json!([level, {"parameter": "stop", "takes": "no value", "text": ""}]));
    live.stop();
    let silent = Live::with("rows", |options| options);
    let listed = Run::of(&silent, &["request", "rows"]).finish();
    assert_eq!(
        (listed.code, listed.stdout.as_str()),
        (Some(0), "rows takes no requests: it declares no parameter\n")
    );
    silent.stop();
}

/// A pause of which the command says when it holds, a resume, and an urgent request; and what has no value.
#[test]
fn a_simulation_is_paused_from_the_command_line() {
    let range = ParameterKind::Integer { least: 0, greatest: 10 };
    let live = Live::with("rows", |options| {
        let options = options
            .with_parameter("level", range.clone())
            .with_parameter("checkpoint", ParameterKind::Signal);
        options.with_pause(Duration::from_secs(60))
    });
    for (arguments, said) in [
        (&["request", "rows", "pause=50", "--now"][..], "pause = 50: applied at step "),
        (&["request", "rows", "resume"], "resume = true: applied at step "),
        (&["request", "rows", "level=1", "checkpoint", "--now"], "level = 1: applied at step "),
    ] {
        let asked = Run::of(&live, arguments).finish();
        assert_eq!(asked.code, Some(0), "{arguments:?}: {}", asked.stderr);
        assert!(asked.stdout.starts_with(said), "{arguments:?}: {}", asked.stdout);
    }
    let refused = Run::of(&live, &["request", "rows", "pause=61"]).finish();
    assert!(refused.stderr.contains("more than 0 and at most 60.0"), "{}", refused.stderr);
    live.stop();
}

/// A watch asks the simulation, and says what became of it.
#[test]
fn a_watch_asks_for_values() {
    let range = ParameterKind::Integer { least: 0, greatest: 10 };
    let live = Live::with("rows", |options| options.with_parameter("level", range));
    let arguments =
        ["watch", "rows", "max(temperature) > -1e9", "--steps", "2", "--json", "--then", "request level=2"];
    let watched = Run::of(&live, &arguments).finish();
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    let told = lines(&watched.stdout);
    assert!(!told.is_empty() && told.len() <= 2, "{told:?}");
    for line in told {
        assert_eq!(
            (&line["parameter"], &line["value"], &line["error"]),
            (&"level".into(), &"2".into(), &Value::Null)
        );
        assert!(line["applied"].as_u64() > line["step"].as_u64(), "{line}");
    }
    // A step that is not judged asks for nothing.
    let arguments =
        ["watch", "rows", "max(temperature[0:9, :]) > 1", "--steps", "1", "--then", "request level=2"];
    let unjudged = Run::of(&live, &arguments).finish();
    assert_eq!((unjudged.code, unjudged.stdout.as_str()), (Some(0), ""), "{}", unjudged.stderr);
    assert!(unjudged.stderr.contains("level is not asked for at step"), "{}", unjudged.stderr);
    live.stop();
}

/// Of one hit each is asked for, in their order.
#[test]
fn a_watch_asks_for_several_values_at_once() {
    let range = ParameterKind::Integer { least: 0, greatest: 10 };
    let live = Live::with("rows", |options| {
        let names = ["level", "speed", "depth"];
        names.into_iter().fold(options, |options, name| options.with_parameter(name, range.clone()))
    });
    let mut arguments = vec!["watch", "rows", "max(temperature) > -1e9", "--steps", "1", "--json"];
    for asked in ["request level=2", "request speed=4", "request depth=1"] {
        arguments.extend(["--then", asked]);
    }
    let watched = Run::of(&live, &arguments).finish();
    assert_eq!((watched.code, watched.stderr.as_str()), (Some(0), ""));
    let told = lines(&watched.stdout);
    let asked: Vec<_> =
        told.iter().map(|line| (&line["parameter"], &line["value"], &line["error"])).collect();
    let expected = [("level", "2"), ("speed", "4"), ("depth", "1")].map(|(name, value)| {
        let [name, value] = [name, value].map(Value::from);
        (name, value, Value::Null)
    });
    let expected: Vec<_> = expected.iter().map(|(name, value, error)| (name, value, error)).collect();
    assert_eq!(asked, expected);
    live.stop();
}

#[test]
fn what_a_function_of_the_publisher_makes_is_watched() {
    let transforms = Transforms::default();
    let negative = |inputs: &[&[f64]]| Ok(inputs[0].iter().map(|x| -x).collect::<Vec<f64>>());
    transforms.register(Native::elements("negative", negative)).expect("registered");
    let live = Live::with("rows", |options| options.with_transforms(&transforms));
    let arguments = ["watch", "rows", "min(call(negative, temperature)) < 0", "--json", "--steps", "2"];
    let watched = Run::of(&live, &arguments).finish();
    for line in lines(&watched.stdout) {
        let rows = rows_of_step(line["step"].as_u64().expect("a number")).concat();
        let least = rows.into_iter().fold(f64::INFINITY, |least, x| least.min(-x));
        assert_eq!(line["measured"][0]["number"].as_f64(), Some(least), "{line}");
        assert_eq!(line["measured"][0]["place"], serde_json::json!([2, 3]));
    }
    assert_eq!(lines(&watched.stdout).len(), 2, "{}", watched.stderr);
    live.stop();
}

/// So many steps, each of which is as the condition says, for one watch.
fn publish_hits(place: &Path, steps: u64) {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let options = options.with_min_subscribers(1).with_derive_budget(Duration::from_secs(60));
    let mut publisher = Publisher::open("hits", options).expect("the stream opens");
    let variable = Variable::scalar::<u64>("count").expect("a name");
    for step in 0..steps {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_scalar(&variable, step).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// The same, each when it is asked for.
fn publish_hits_one_by_one(place: &Path, asked: Receiver<()>) {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let options = options.with_min_subscribers(1).with_derive_budget(Duration::from_secs(60));
    let mut publisher = Publisher::open("hits", options).expect("the stream opens");
    let variable = Variable::scalar::<u64>("count").expect("a name");
    for () in asked {
        let mut writer = publisher.begin_step().expect("a step");
        let step = writer.step().0;
        writer.put_scalar(&variable, step).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// Of steps that come sooner after one another than `--least` says the first is acted on. Unless it says so, each is.
#[test]
fn steps_that_come_too_soon_are_passed_over_and_counted() {
    for (least, acted) in [(&[][..], 10), (&["--least", "0"], 10), (&["--least", "3600"], 1)] {
        let place = tempfile::tempdir().expect("a folder");
        let watched = std::thread::scope(|scope| {
            scope.spawn(|| publish_hits(place.path(), 10));
            let arguments = ["watch", "hits", "max(count) >= 0", "--every-step", "--json"];
            Run::at(place.path(), &[&arguments[..], least].concat()).finish()
        });
        assert_eq!(watched.code, Some(0), "{least:?}: {}", watched.stderr);
        let told: Vec<_> = lines(&watched.stdout).iter().map(|line| line["step"].as_u64()).collect();
        assert_eq!(told, (0..acted).map(Some).collect::<Vec<_>>(), "{least:?}");
        let passed_over = "stream \"hits\": 9 such steps passed over (--least)";
        assert_eq!(watched.stderr.contains(passed_over), acted == 1, "{least:?}: {}", watched.stderr);
        assert_eq!(watched.stderr.contains("passed over"), acted == 1, "{least:?}: {}", watched.stderr);
    }
}

/// What fills a disk or asks others is done once a second, unless somebody says how often. The others take every step.
#[test]
fn a_watch_does_not_write_faster_than_it_is_told_to() {
    let every = ["--every-step"];
    for (more, is_bounded) in [(&[][..], true), (&["--least", "0"], false), (&every, false)] {
        let place = tempfile::tempdir().expect("a folder");
        let hits = place.path().join("hits");
        let write = format!("write {}", hits.display());
        let watched = std::thread::scope(|scope| {
            let (from, to) = mpsc::channel();
            scope.spawn(|| publish_hits_one_by_one(place.path(), to));
            let arguments =
                ["watch", "hits", "max(count) >= 0", "--json", "--then", "notify", "--then", &write];
            let mut run = Run::at(place.path(), &[&arguments[..], more].concat());
            let mut told = BufReader::new(run.child.stdout.take().expect("read here")).lines();
            // Each is told before the next one comes: none is dropped.
            for step in 0..10 {
                from.send(()).expect("it is there");
                let line = told.next().expect("it is told").expect("a text");
                assert!(line.contains(&format!("\"step\":{step},")), "{line}");
            }
            drop(from);
            run.finish()
        });
        assert_eq!(watched.code, Some(0), "{more:?}: {}", watched.stderr);
        let written = std::fs::read_dir(&hits).expect("a folder").count();
        let passed_over: usize = watched.stderr.lines().filter_map(passed_over_by_write).sum();
        assert_eq!(written + passed_over, 10, "{more:?}: {}", watched.stderr);
        assert_eq!(written < 10, is_bounded, "{more:?}: {written}");
    }
}

/// How many steps the action has passed over, if the line says it.
fn passed_over_by_write(line: &str) -> Option<usize> {
    let said = line.strip_prefix("flexpath: stream \"hits\": ")?;
    let what = " such steps passed over by `write`, which is done every 1 s (--least 0: for each)";
    said.strip_suffix(what)?.parse().ok()
}

/// Neither while it runs, nor sooner than its file says.
#[test]
fn a_command_is_not_started_again_too_soon() {
    for (least, script) in [("0", "while [ ! -e \"$1/go\" ]; do sleep 0.01; done"), ("3600", ":")] {
        let place = tempfile::tempdir().expect("a folder");
        let path = |name: &str| place.path().join(name).to_str().expect("a name").to_owned();
        let text = format!(
            "[command.note]\nrun = [\"sh\", \"-c\", 'echo $2 >> \"$1/started\"; {script}', \"note\", {:?}, \"{{step}}\"]\n\
             least_seconds = {least}\n",
            place.path().to_str().expect("a name")
        );
        std::fs::write(path("commands.toml"), text).expect("written");
        let watched = std::thread::scope(|scope| {
            scope.spawn(|| publish_hits(place.path(), 10));
            let arguments =
                ["watch", "hits", "max(count) >= 0", "--every-step", "--json", "--then", "run note"];
            let more = ["--then", "notify", "--commands", &path("commands.toml")];
            let mut run = Run::at(place.path(), &[&arguments[..], &more].concat());
            let mut told = BufReader::new(run.child.stdout.take().expect("read here")).lines();
            // The last step was told: it was not started for any since the first.
            let all: Vec<String> = told.by_ref().take(10).map(|line| line.expect("text")).collect();
            std::fs::write(path("go"), "").expect("written");
            assert!(all[9].contains("\"step\":9"), "{all:?}");
            run.finish()
        });
        assert_eq!(watched.code, Some(0), "{least}: {}", watched.stderr);
        assert_eq!(std::fs::read_to_string(path("started")).expect("it ran"), "0\n", "{least}");
        let said = "command note: not started for 9 steps, as one was running or had just been";
        assert!(watched.stderr.contains(said), "{least}: {}", watched.stderr);
    }
}

/// When the time is over the next one is acted on again. What lies between two that are, was passed over.
#[test]
fn after_a_while_steps_are_acted_on_again() {
    let live = Live::start("rows");
    let arguments = ["watch", "rows", "max(temperature) > -1e9", "--every-step", "--json", "--steps", "2"];
    let watched = Run::of(&live, &[&arguments[..], &["--least", "0.3"]].concat()).finish();
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    let told: Vec<u64> = lines(&watched.stdout).iter().filter_map(|line| line["step"].as_u64()).collect();
    let [first, second] = told[..] else { panic!("{told:?}") };
    let between = second - first - 1;
    let said = format!("stream \"rows\": {between} such steps passed over (--least)");
    assert_eq!(watched.stderr.contains(&said), between > 0, "{}", watched.stderr);
    live.stop();
}

/// This publisher runs no code of others, and says so.
#[test]
fn what_a_module_makes_is_not_judged_where_none_runs() {
    let live = Live::with("rows", |options| options);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, condition) = (folder.path().join("far.wasm"), "any(module(far, temperature) > 0)");
    let named = format!("far={}", file.display());
    let arguments = ["watch", "rows", condition, "--module", &named, "--json", "--steps", "1"];
    let absent = Run::of(&live, &arguments).finish();
    assert!(
        !absent.status.success() && absent.stderr.contains("far.wasm: No such file"),
        "{}",
        absent.stderr
    );
    std::fs::write(&file, "no module").expect("written");
    let watched = Run::of(&live, &arguments).finish();
    let line = &lines(&watched.stdout)[0];
    let told = line["unjudged"].as_str().unwrap_or_default();
    assert!(told.contains("this publisher runs no code that others hand over"), "{line}");
    let unnamed = Run::of(&live, &["watch", "rows", condition]).finish();
    assert!(
        unnamed.stderr.contains("module(far, ...)") && unnamed.stderr.contains("(--module)"),
        "{}",
        unnamed.stderr
    );
    live.stop();
}

/// Records whose second number is as much as the step.
fn publish_records(place: &Path, stopped: Receiver<()>) {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let mut publisher = Publisher::open("records", options).expect("the stream opens");
    let schema =
        RecordType::new("Atom").field(Field::new("id", Dtype::U32)).field(Field::new("mass", Dtype::F64));
    let schema = schema.build().expect("a type");
    let atoms = Variable::joined_records("atoms", &schema, &[]).expect("a name");
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_millis(5)) {
        let mut writer = publisher.begin_step().expect("a step");
        let of = |id: u32| [&[0; 8][..], &(f64::from(id) + writer.step().0 as f64).to_ne_bytes()].concat();
        let atom = RecordBlock::encoded(&schema, 2, [of(0), of(1)].concat()).expect("records");
        writer.put_joined_records(&atoms, atom).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

#[test]
fn fields_of_records_are_watched() {
    let place = tempfile::tempdir().expect("a folder");
    let (stop, stopped) = mpsc::channel();
    std::thread::scope(|scope| {
        let at = place.path();
        scope.spawn(move || publish_records(at, stopped));
        let watch = |condition| {
            let arguments = ["watch", "records", condition, "--json", "--steps", "3"];
            Run::at(place.path(), &arguments).finish()
        };
        let (watched, unjudged) = (watch("max(atoms.mass) >= 1"), watch("max(atoms.weight) >= 1"));
        stop.send(()).expect("it is there");
        for line in lines(&watched.stdout) {
            let step = line["step"].as_u64().expect("a number");
            assert_eq!(line["measured"][0]["number"].as_f64(), Some(1.0 + step as f64), "{line}");
        }
        for line in lines(&unjudged.stdout) {
            let why = line["unjudged"].as_str().expect("a text");
            assert!(why.contains("record Atom has no field \"weight\"; it has id, mass"), "{why}");
        }
        assert_eq!(
            (lines(&watched.stdout).len(), lines(&unjudged.stdout).len()),
            (3, 3),
            "{}",
            watched.stderr
        );
    });
}
