//! A run that begins anew at a gate: what it ends, when it may come, and who is late with it.

use std::sync::TryLockError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Parser as _;
use fp_core::connection::ConnectionListener;
use fp_core::rendezvous::Rendezvous;
use fp_core::{NextStep, StepReader, Subscriber, SubscriberOptions};
use fp_spool::{OpenRecord, StepHead};

use super::*;
use crate::arguments::{Arguments, Command};
use crate::credentials::Credentials;
use crate::crossing::VERSION;
use crate::gate::received::Reading;

const PATIENCE: Duration = Duration::from_secs(60);

/// A gate with one stream, and whoever dials it.
struct Place {
    _folder: tempfile::TempDir,
    listener: ConnectionListener,
    gate: Arc<Gate>,
    inflow: Arc<Inflow>,
    is_interrupted: Arc<AtomicBool>,
    dialled: Vec<Connection>,
}

fn opened(epoch: u128, ranks: u32) -> Opened {
    Opened { epoch: Epoch(epoch), ranks }
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}");
        thread::yield_now();
    }
}

impl Place {
    fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let asked = Arguments::try_parse_from([&["flexpath", "gate"], options].concat()).unwrap();
        let Command::Gate(options) = asked.command else { panic!("no gate") };
        let is_interrupted = Arc::new(AtomicBool::new(false));
        let asked = is_interrupted.clone();
        let gate = Arc::new(Gate {
            options,
            rendezvous: Rendezvous::at(folder.path()).unwrap(),
            credentials: Credentials::default(),
            is_interrupted: Box::new(move || asked.load(Ordering::Relaxed)),
            inflows: Mutex::default(),
        });
        let inflow = gate.inflow("sim").unwrap();
        let listener = ConnectionListener::listen("127.0.0.1:0".parse().unwrap(), None, None, None).unwrap();
        Self { _folder: folder, listener, gate, inflow, is_interrupted, dialled: Vec::new() }
    }

    /// One connection more, over which the same forward brings the stream: its number, and the gate's end of it.
    fn connect(&mut self, subscribers: u32) -> (u64, Arc<Connection>) {
        let address = self.listener.address().to_string();
        let dialling = thread::spawn(move || Connection::dial(&address, None, None).unwrap());
        let connection = Arc::new(self.listener.accept(PATIENCE).unwrap().expect("it dials"));
        self.dialled.push(dialling.join().unwrap());
        let offer = Offer { forward: "f", subscribers, version: VERSION };
        let (number, _) = self.inflow.connect(&offer, &connection, 0).unwrap();
        (number, connection)
    }

    fn open(&self, opened: Opened, run: (u64, bool), number: u64) -> bool {
        let run = (StepId(run.0), run.1);
        self.inflow.open(&self.gate, opened, run, number).unwrap() == Reception::Handed
    }

    /// A first step without variables, as it comes over the newest connection.
    fn first_step(&self, connection: &Connection, opened: Opened) -> Received {
        let (epoch, step, taken) = (opened.epoch, StepId(0), Duration::ZERO);
        let stream = "sim".to_owned();
        let head = StepHead { stream, epoch, step, taken, variables: Vec::new(), records: Vec::new() };
        let dialled = self.dialled.last().unwrap();
        OpenRecord::begin(&mut &*dialled, &head).unwrap().end().unwrap();
        let how = Reading { opened, is_packed: false, limit_bytes: 1 << 20 };
        Received::read(connection, &how, &self.inflow.spare).unwrap()
    }

    /// One outside takes such a step and holds it.
    fn held_step(
        &mut self,
        number: u64,
        connection: &Connection,
        opened: Opened,
    ) -> (Subscriber, StepReader) {
        let options = SubscriberOptions::default()
            .with_rendezvous(self.gate.rendezvous.clone())
            .with_open_timeout(PATIENCE);
        let mut subscriber = Subscriber::open("sim", options).unwrap();
        let received = self.first_step(connection, opened);
        let handed = self.inflow.publish(&self.gate, received, opened, number).unwrap();
        assert!(handed == Reception::Handed);
        let NextStep::Step(step) = subscriber.next_step(PATIENCE).unwrap() else { panic!("no step") };
        (subscriber, step)
    }

    /// What is to be said, up to that note.
    fn told(&self, number: u64, last: &Note) -> Vec<Note> {
        let mut told = Vec::new();
        while told.last() != Some(last) {
            told.push(self.inflow.next_note(number).expect("a connection"));
        }
        told
    }

    /// The opening that it is published for, and whether it begins anew.
    fn outlet(&self) -> Option<(Epoch, bool)> {
        self.inflow.outlet().as_ref().map(|open| (open.epoch, open.numbers == Numbers::Anew))
    }

    /// Until someone waits for the end of what is published.
    fn await_end(&self) {
        let is_ending = || matches!(self.inflow.outlet.try_lock(), Err(TryLockError::WouldBlock));
        eventually("it waits for the end of the run before", is_ending);
    }

    /// Ends what is published, and says whether the run before was told to be over.
    fn finish(self) -> bool {
        self.inflow.end(None).unwrap();
        let state = self.inflow.state();
        state.untold.iter().any(|note| matches!(note, Note::Opened { .. }))
    }
}

/// One who had the run before is still on the way: the next gate is to be told that it is another one.
#[test]
fn a_wait_for_those_who_had_the_run_before_that_is_cut_short_tells_nothing() {
    for is_interrupted in [true, false] {
        let mut place = Place::new(&[]);
        let (number, _connection) = place.connect(2);
        assert!(place.open(opened(2, 1), (0, true), number));
        place.is_interrupted.store(is_interrupted, Ordering::Relaxed);
        assert!(!place.finish(), "{is_interrupted}");
    }
    let mut place = Place::new(&[]);
    let (number, _connection) = place.connect(0);
    assert!(place.open(opened(2, 1), (0, true), number));
    place.told(number, &Note::Opened { epoch: Epoch(2) });
}

#[test]
fn what_is_said_over_a_connection_that_was_replaced_opens_and_ends_nothing() {
    let mut place = Place::new(&[]);
    let (late, _connection) = place.connect(0);
    let (number, _other) = place.connect(0);
    assert!(place.open(opened(3, 1), (0, true), number));
    assert!(!place.open(opened(2, 2), (0, true), late));
    place.inflow.end(Some(late)).unwrap();
    assert_eq!(place.outlet(), Some((Epoch(3), true)));
    place.finish();
}

/// It was not late before it waited for what was to be taken.
#[test]
fn what_is_late_once_the_run_before_has_ended_opens_nothing() {
    let mut place = Place::new(&["--subscribers", "1"]);
    let (late, connection) = place.connect(0);
    let first = opened(1, 1);
    assert!(place.open(first, (0, false), late));
    let (subscriber, step) = place.held_step(late, &connection, first);
    let opening = thread::spawn({
        let (inflow, gate) = (place.inflow.clone(), place.gate.clone());
        move || inflow.open(&gate, opened(2, 1), (StepId(0), true), late).unwrap() == Reception::Late
    });
    place.await_end();
    place.connect(0);
    drop((step, subscriber));
    assert!(opening.join().unwrap());
    assert_eq!(place.outlet(), None);
}

/// The same for a step that does not go on with the run before, as there are other ranks.
#[test]
fn a_step_that_is_late_once_the_run_before_has_ended_is_not_published() {
    let mut place = Place::new(&["--subscribers", "1"]);
    let (late, connection) = place.connect(0);
    let first = opened(1, 1);
    assert!(place.open(first, (0, false), late));
    let (subscriber, step) = place.held_step(late, &connection, first);
    let received = place.first_step(&connection, opened(2, 2));
    let publishing = thread::spawn({
        let (inflow, gate) = (place.inflow.clone(), place.gate.clone());
        move || inflow.publish(&gate, received, opened(2, 2), late).unwrap() == Reception::Late
    });
    place.await_end();
    place.connect(0);
    drop((step, subscriber));
    assert!(publishing.join().unwrap());
    assert_eq!(place.outlet(), None);
    assert_eq!(place.inflow.state().has, Some(Mark { epoch: Epoch(1), step: StepId(0) }), "it comes again");
}

/// They were given its end, and do not come back.
#[test]
fn who_had_a_run_that_was_taken_is_not_awaited_by_the_next() {
    let mut place = Place::new(&["--subscribers", "1"]);
    let (number, connection) = place.connect(0);
    let first = opened(1, 1);
    assert!(place.open(first, (0, false), number));
    let (subscriber, step) = place.held_step(number, &connection, first);
    drop(step);
    place.told(number, &Note::Taken(Mark { epoch: Epoch(1), step: StepId(0) }));
    assert_eq!(place.inflow.state().awaited(), Some(1));
    assert!(place.open(opened(2, 1), (0, true), number));
    assert_eq!(place.inflow.state().awaited(), Some(0));
    drop(subscriber);
    place.finish();
}

/// Those who have come for the one before await this one. But where numbers were to go on, they do not.
#[test]
fn a_run_behind_one_without_steps_takes_its_place_if_that_began_anew() {
    let mut place = Place::new(&[]);
    let (number, _connection) = place.connect(1);
    assert!(place.open(opened(1, 1), (12, false), number));
    assert_eq!(place.outlet(), Some((Epoch(1), false)));
    assert!(place.open(opened(2, 1), (0, true), number));
    let [one, other] = [2, 3].map(|epoch| {
        assert!(place.open(opened(epoch, 1), (0, true), number));
        assert_eq!(place.outlet(), Some((Epoch(epoch), true)));
        let outlet = place.inflow.outlet();
        Arc::as_ptr(&outlet.as_ref().unwrap().is_void) as usize
    });
    assert_eq!(one, other, "it is the same outlet");
    let options = SubscriberOptions::default().with_rendezvous(place.gate.rendezvous.clone());
    let _subscriber = Subscriber::open("sim", options.with_open_timeout(PATIENCE)).unwrap();
    place.told(number, &Note::Opened { epoch: Epoch(3) });
    assert!(place.open(opened(4, 1), (0, true), number));
    assert_eq!(place.told(number, &Note::Opened { epoch: Epoch(4) }).len(), 1, "nobody has to do with any");
    // No stream counts from 0 to there.
    assert!(place.open(opened(5, 2), (LIMIT_GAP, true), number));
    assert_eq!(place.outlet(), Some((Epoch(5), false)));
    place.finish();
}
