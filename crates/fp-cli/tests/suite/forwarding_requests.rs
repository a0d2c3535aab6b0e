//! What is asked of a simulation behind gates and stagers: it sees it once, and what it says comes back.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::forwarding::{a_while, forward, gate};
use crate::kinds::{at, eventually};
use crate::staging::{attach, interrupt, is_open, kill, publisher_options, put_steps};
use crate::support::{Ended, PATIENCE, Run};
use crate::wire::Wire;
use fp_core::connection::{Connection, ConnectionListener, Incoming};
use fp_core::{
    NextStep, ParameterKind, Publisher, PublisherOptions, QueuePolicy, RequestError, SteeringRefusal, StepId,
    Subscriber, SubscriberOptions,
};
use tempfile::TempDir;

/// How often the simulation begins a step.
const PACE: Duration = Duration::from_millis(5);

/// What it was asked for: the step, the value, and by whom.
type Seen = Vec<(u64, f64, String)>;

fn options(place: &Path) -> PublisherOptions {
    let range = ParameterKind::Integer { least: 0, greatest: 100_000 };
    publisher_options(place)
        .with_min_subscribers(0)
        .with_described_parameter("level", range, "of the tank, in m")
        .with_pause(Duration::from_secs(50))
}

/// A simulation that takes whatever level it is asked for, but 3.
struct Simulation {
    place: TempDir,
    stop: Sender<()>,
    thread: JoinHandle<Seen>,
}

impl Simulation {
    fn start() -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut publisher = Publisher::open("sim", options(place.path())).unwrap();
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut seen = Seen::new();
            while stopped.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                let mut step = publisher.begin_step().unwrap();
                for request in step.requests().to_vec() {
                    let level = request.as_f64().unwrap();
                    seen.push((step.step().0, level, request.by().to_owned()));
                    if level == 3.0 {
                        step.decline(&request, "three is too many").unwrap();
                    }
                }
                step.end().unwrap();
            }
            publisher.close().unwrap();
            seen
        });
        Self { place, stop, thread }
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    /// Ends, and says what it was asked for.
    fn end(self) -> Seen {
        self.stop.send(()).unwrap();
        self.thread.join().unwrap()
    }
}

fn end(run: Run) {
    drop(interrupt(run));
}

fn request(place: &Path, stream: &str, asked: &[&str]) -> Ended {
    Run::at(place, &[&["request", stream], asked].concat()).finish()
}

/// Behind a stager, a gate, and two gates one behind the other, the command does what it does beside the simulation.
#[test]
fn what_is_asked_for_behind_gates_and_stagers_comes_to_the_simulation() {
    let simulation = Simulation::start();
    let inside = simulation.path().to_owned();
    let [between, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (between, outside) = (between.path(), outside.path());
    let (inner, inner_address) = gate(between, &[]);
    let (outer, outer_address) = gate(outside, &[]);
    let runs = [
        forward(&inside, &inner_address, &[]),
        forward(between, &outer_address, &[]),
        Run::at(&inside, &["stage", "sim"]),
        inner,
        outer,
    ];
    eventually("it comes out", || is_open(outside, "sim") && is_open(&inside, "sim-staged"));
    let [listed, asked] = [&[][..], &["level=100001"]].map(|asked| request(&inside, "sim", asked));
    assert!(listed.stdout.contains("level   a whole number from 0 to 100000"), "{}", listed.stdout);
    let mut told = Vec::new();
    for (number, (place, stream)) in
        [(&*inside, "sim-staged"), (between, "sim"), (outside, "sim")].into_iter().enumerate()
    {
        assert_eq!(request(place, stream, &[]).stdout, listed.stdout, "{stream}");
        let refused = request(place, stream, &["level=100001"]);
        assert_eq!(refused.stderr.replace("sim-staged", "sim"), asked.stderr);
        let level = 10 + number;
        let done = request(place, stream, &[&format!("level={level}"), "level=3"]);
        let applied = done.stdout.strip_prefix(&format!("level = {level}: applied at step "));
        let step: u64 = applied.unwrap_or_else(|| panic!("{}", done.stderr)).trim().parse().unwrap();
        told.push((step, level as f64));
        assert_eq!(done.code, Some(1));
        let declined = "publisher rank 0 declined it at step ";
        assert!(
            done.stderr.contains(declined) && done.stderr.contains(": three is too many"),
            "{}",
            done.stderr
        );
    }
    // What has a simulation go on passes what waits for that.
    let paused = request(outside, "sim", &["pause=40", "--now"]);
    assert_eq!(paused.code, Some(0), "{}", paused.stderr);
    let waiting = Run::at(outside, &["request", "sim", "level=20", "--timeout", "60"]);
    assert_eq!(request(between, "sim", &["resume"]).code, Some(0));
    assert_eq!(waiting.finish().code, Some(0));
    let seen = simulation.end();
    let levels = |wanted: &dyn Fn(f64) -> bool| {
        let found = seen.iter().filter(|(_, level, _)| wanted(*level));
        found.map(|(step, level, _)| (*step, *level)).collect::<Vec<_>>()
    };
    assert_eq!(levels(&|level| (10.0..20.0).contains(&level)), told);
    assert_eq!((levels(&|level| level == 3.0).len(), levels(&|level| level == 20.0).len()), (3, 1));
    assert!(seen.iter().all(|(.., by)| by.starts_with("flexpath-")), "{seen:?}");
    runs.into_iter().for_each(end);
}

fn asker(place: &Path) -> Subscriber {
    let options = SubscriberOptions::default()
        .with_rendezvous(at(place))
        .with_open_timeout(PATIENCE)
        .with_variables(Vec::<String>::new())
        .with_policy(QueuePolicy::DropOldest);
    Subscriber::open("sim", options).unwrap()
}

/// However often the way is cut: it sees nothing twice, and what is told of a request is so.
#[test]
fn a_request_is_seen_once_however_the_way_is_cut() {
    const CUTS: usize = 8;
    const TAKEN: usize = 12;
    let simulation = Simulation::start();
    let outside = tempfile::tempdir().unwrap();
    let (gate, address) = gate(outside.path(), &[]);
    let way = Wire::to(&address);
    let forward = forward(simulation.path(), &way.address(), &[]);
    eventually("it comes out", || is_open(outside.path(), "sim"));
    let mut asker = asker(outside.path());
    let (stop, stopped) = mpsc::channel();
    let told = thread::scope(|scope| {
        let way = &way;
        scope.spawn(move || {
            // Now in the midst of a request, now of the answer.
            let mut pauses = (0..).map(|number| Duration::from_millis(40 + 37 * number % 300));
            while stopped.recv_timeout(pauses.next().unwrap()) == Err(RecvTimeoutError::Timeout) {
                way.cut_now();
            }
        });
        let (began, mut told) = (Instant::now(), Vec::new());
        let taken = |told: &[(u32, Result<StepId, RequestError>)]| {
            told.iter().filter(|(_, outcome)| outcome.is_ok()).count()
        };
        while way.dialled() < CUTS || taken(&told) < TAKEN {
            assert!(began.elapsed() < PATIENCE, "{} cuts, {} taken", way.dialled(), taken(&told));
            let level = 100 + told.len() as u32;
            let outcome = asker.request("level", level, PATIENCE);
            told.push((level, outcome));
            a_while(told.len() as u64);
        }
        stop.send(()).unwrap();
        told
    });
    asker.close().unwrap();
    let seen = simulation.end();
    for (level, outcome) in told {
        let steps: Vec<u64> =
            seen.iter().filter(|(_, seen, _)| *seen == f64::from(level)).map(|(step, ..)| *step).collect();
        match outcome {
            Ok(step) => assert_eq!(steps, [step.0], "{level}"),
            Err(RequestError::Refused { refusal: SteeringRefusal::Unreachable { .. }, .. }) => {
                assert!(steps.is_empty(), "{level}: {steps:?}");
            }
            Err(other) => panic!("{level}: {other}"),
        }
    }
    [forward, gate].into_iter().for_each(end);
}

/// Who brings the stream is killed while it asks: the next one does not know what became of that.
#[test]
fn what_a_killed_forward_was_to_ask_for_is_unanswered() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // It begins no step, so that nothing is answered.
    let publisher = Publisher::open("sim", options(inside.path())).unwrap();
    let (gate, address) = gate(outside.path(), &[]);
    let first = forward(inside.path(), &address, &[]);
    eventually("it comes out", || is_open(outside.path(), "sim"));
    let asked = || request(outside.path(), "sim", &["level=1", "--timeout", "60"]);
    let (said, second) = thread::scope(|scope| {
        let asking = scope.spawn(asked);
        assert!(publisher.wait_for_subscriptions(2, PATIENCE) >= 2, "the forward, and who asks");
        kill(first);
        let second = forward(inside.path(), &address, &[]);
        (asking.join().unwrap(), second)
    });
    assert_eq!(said.code, Some(1));
    let unanswered = "nobody knows whether the simulation took it: ";
    assert!(said.stderr.contains(unanswered), "{}", said.stderr);
    kill(second);
    let refused = asked();
    let unreachable = "the request does not reach the simulation: nobody brings the stream to the gate now";
    assert!(refused.stderr.contains(unreachable), "{}", refused.stderr);
    let third = forward(inside.path(), &address, &["--no-requests"]);
    let barred = "`flexpath forward` brings none from here (--no-requests)";
    eventually("it says so", || asked().stderr.contains(barred));
    [third, gate].into_iter().for_each(end);
}

#[test]
fn a_stager_that_is_told_so_passes_no_request_on() {
    let simulation = Simulation::start();
    let stager = Run::at(simulation.path(), &["stage", "sim", "--no-requests"]);
    eventually("it is staged", || is_open(simulation.path(), "sim-staged"));
    let refused = request(simulation.path(), "sim-staged", &["level=1"]);
    assert!(refused.stderr.contains("the publisher takes no requests"), "{}", refused.stderr);
    assert_eq!(simulation.end(), []);
    end(stager);
}

/// A stager serves what it has of a simulation that is gone, and that takes no request.
#[test]
fn a_simulation_that_is_gone_takes_no_request_behind_a_stager() {
    let place = tempfile::tempdir().unwrap();
    let mut publisher = Publisher::open("sim", options(place.path())).unwrap();
    let disk = place.path().join("disk");
    let disk = disk.to_str().unwrap();
    let stager = Run::at(place.path(), &["stage", "sim", "--disk", disk, "--reserve", "all"]);
    eventually("it is staged", || is_open(place.path(), "sim-staged"));
    publisher.begin_step().unwrap().end().unwrap();
    publisher.close().unwrap();
    let refused = request(place.path(), "sim-staged", &["level=1"]);
    let said = "stream \"sim-staged\", parameter \"level\": the request does not reach the simulation: ";
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains(said) && refused.stderr.contains("\"sim\""), "{}", refused.stderr);
    end(stager);
}

/// As a gate says it.
fn asked(number: u64, epoch: &str) -> String {
    let of = format!(r#""number":{number},"epoch":"{epoch}","parameter":"level","value":{{"Integer":1}}"#);
    format!(r#"{{"request":{{{of},"by":"f","now":false}}}}"#)
}

/// One who has steps of a run that is over does not steer the one that has its name now. What is asked again is answered again.
#[test]
fn a_request_of_another_run_does_not_come_to_the_simulation() {
    let simulation = Simulation::start();
    let mut listener = ConnectionListener::listen("127.0.0.1:0".parse().unwrap(), None, None, None).unwrap();
    let forward = forward(simulation.path(), &listener.address().to_string(), &[]);
    let connection = listener.accept(PATIENCE).unwrap().expect("it dials");
    let mut notes = std::iter::from_fn(|| {
        loop {
            if let Incoming::Note(note) = connection.incoming().unwrap()? {
                return Some(String::from_utf8(note).unwrap());
            }
            // A step: what it has is of no interest here.
            let _ = std::io::Read::read(&mut &connection, &mut [0; 4096]).unwrap();
        }
    });
    assert!(notes.next().unwrap().starts_with(r#"{"offer":{"version":4,"#));
    connection.tell(br#"{"welcome":{"has":null,"pending":[],"reserve":0}}"#).unwrap();
    for _ in 0..2 {
        connection.tell(asked(7, "000000000000000000000000000000ab").as_bytes()).unwrap();
        let answer = notes.find(|note| note.starts_with(r#"{"answered":{"number":7,"#)).unwrap();
        assert!(answer.contains("the run that these steps are of is over there"), "{answer}");
    }
    kill(forward);
    assert_eq!(simulation.end(), []);
}

/// The stream is there while its end is not taken; the simulation is not. What was under way ends with it, and all else in order.
#[test]
fn a_stream_that_ends_while_somebody_asks_ends_in_order() {
    for is_under_way in [true, false] {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
        let forward = forward(inside.path(), &address, &["--once"]);
        let mut publisher = Publisher::open("sim", options(inside.path())).unwrap();
        // It holds the end up.
        let mut slow = attach(outside.path(), "sim", |one| one);
        put_steps(&mut publisher, 1);
        let NextStep::Step(step) = slow.next_step(PATIENCE).unwrap() else { panic!("no step") };
        let ask = || request(outside.path(), "sim", &["level=1", "--timeout", "60"]);
        let said = thread::scope(|scope| {
            if !is_under_way {
                let closing = scope.spawn(move || publisher.close());
                // Each request is refused in its own way, until the gate has heard of the end.
                eventually("it has ended there", || ask().stderr.contains("the stream has ended"));
                let said = ask();
                drop(step);
                closing.join().unwrap().unwrap();
                return said;
            }
            let asking = scope.spawn(ask);
            assert!(publisher.wait_for_subscriptions(2, PATIENCE) >= 2, "the forward, and who asks");
            let closing = scope.spawn(move || publisher.close());
            let said = asking.join().unwrap();
            drop(step);
            closing.join().unwrap().unwrap();
            said
        });
        let gone = "the request does not reach the simulation: ";
        let ended = format!("{gone}the stream has ended where it comes from");
        let known = match is_under_way {
            // Or it has come too late for it.
            true => ["nobody knows whether the simulation took it", "the publisher is closing", gone],
            false => [ended.as_str(); 3],
        };
        assert!(known.iter().any(|known| said.stderr.contains(known)), "{}", said.stderr);
        assert!(matches!(slow.next_step(PATIENCE).unwrap(), NextStep::Ended(_)));
        let [forward, gate] = [forward.finish(), gate.finish()];
        assert_eq!((forward.code, gate.code), (Some(0), Some(0)), "{} {}", forward.stderr, gate.stderr);
    }
}

/// One of a version before knows no request, and is told none.
#[test]
fn who_brings_a_stream_in_an_older_version_is_asked_nothing() {
    let outside = tempfile::tempdir().unwrap();
    let (gate, address) = gate(outside.path(), &[]);
    let connection = Connection::dial(&address, None, None).unwrap();
    let next = r#"{"epoch":"000000000000000000000000000000ab","step":0}"#;
    for note in [
        r#"{"offer":{"version":3,"stream":"sim","forward":"f","subscribers":0}}"#.to_owned(),
        format!(r#"{{"opening":{{"next":{next},"ranks":1}}}}"#),
        // Nobody was asked, so this answers nothing.
        r#"{"answered":{"number":7,"outcome":{"Applied":{"step":7}}}}"#.to_owned(),
    ] {
        connection.tell(note.as_bytes()).unwrap();
    }
    eventually("it is published", || is_open(outside.path(), "sim"));
    let refused = request(outside.path(), "sim", &["level=1"]);
    assert!(refused.stderr.contains("is of an older version"), "{}", refused.stderr);
    // A request is the gate's to say.
    let asked = asked(7, "ab");
    connection.tell(asked.as_bytes()).unwrap();
    let refused = std::iter::from_fn(|| match connection.incoming().unwrap() {
        Some(Incoming::Note(note)) => String::from_utf8(note).ok(),
        _ => None,
    });
    let said = "it says what is not its to say";
    assert!(refused.into_iter().any(|note| note.contains(said)), "it is turned away");
    end(gate);
}
