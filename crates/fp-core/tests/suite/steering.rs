//! Subscribers that ask the simulation for something: all its ranks see it at the same step, and what they say comes back.

use crate::support::{PATIENCE, Place, STREAM, eventually};
use fp_core::{
    Access, AccessRule, Action, Cohort, OpenError, ParameterKind, Publisher, PublisherOptions, Real,
    RequestDelegate, RequestError, SteeringOutcome, SteeringRefusal, StepId, Subscriber, SubscriberOptions,
    TransportKind, Who,
};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::{Duration, Instant};

const CONDUCTIVITY: &str = "conductivity";

fn parameters(options: PublisherOptions) -> PublisherOptions {
    let range = ParameterKind::Real { least: Real(0.0), greatest: Real(100.0) };
    options.with_parameter(CONDUCTIVITY, range).with_parameter("melts", ParameterKind::Bool)
}

fn asker(place: &Place, kind: TransportKind) -> SubscriberOptions {
    place
        .over(kind)
        .with_variables(Vec::<String>::new())
        .with_policy(fp_core::QueuePolicy::DropOldest)
        .with_name("asker")
}

/// What a rank saw: the step and the value.
type Seen = Vec<(u64, f64)>;

/// When ranks end: all after the same step.
struct Span {
    begun: AtomicU64,
    last: AtomicU64,
}

impl Span {
    fn new() -> Self {
        Self { begun: AtomicU64::new(0), last: AtomicU64::new(u64::MAX) }
    }

    fn end(&self) {
        // No rank is so far ahead of what was begun.
        self.last.store(self.begun.load(Ordering::SeqCst) + 50, Ordering::SeqCst);
    }
}

/// One rank, which declines values above 50 if it is rank 2.
fn publish(place: &Place, rank: u32, size: u32, span: &Span) -> Seen {
    let options =
        parameters(place.publisher_options()).with_cohort(Cohort::of(rank, size).expect("a cohort"));
    let mut publisher = Publisher::open(STREAM, options.with_min_subscribers(1)).expect("the stream opens");
    let mut seen = Seen::new();
    let mut step = 0;
    while step <= span.last.load(Ordering::SeqCst) {
        span.begun.fetch_max(step, Ordering::SeqCst);
        let mut writer = publisher.begin_step().expect("a step");
        let requests = writer.requests().to_vec();
        for request in &requests {
            let value = request.as_f64().expect("a number");
            assert_eq!((request.parameter(), request.by()), (CONDUCTIVITY, "asker"));
            seen.push((step, value));
            if rank == 2 && value > 50.0 {
                writer.decline(request, format!("{value} would melt it")).expect("it is open");
            }
        }
        writer.end().expect("ended");
        step += 1;
        // Ranks are apart, as those of a simulation are.
        (0..20 * rank).for_each(|_| std::thread::yield_now());
    }
    publisher.close().expect("closed");
    seen
}

#[test]
fn all_ranks_see_a_request_at_the_step_that_is_told() {
    for kind in [TransportKind::Shm, TransportKind::Tcp] {
        let (place, span, size) = (Place::new(), Span::new(), 4);
        let (told, seen) = std::thread::scope(|scope| {
            let publish = |rank| {
                let (place, span) = (&place, &span);
                scope.spawn(move || publish(place, rank, size, span))
            };
            let ranks: Vec<_> = (0..size).map(publish).collect();
            let mut subscriber = Subscriber::open(STREAM, asker(&place, kind)).expect("attached");
            let mut told = Seen::new();
            for value in 0..20 {
                let value = f64::from(value * 5);
                match subscriber.request(CONDUCTIVITY, value, PATIENCE) {
                    Ok(step) => {
                        assert!(value <= 50.0);
                        told.push((step.0, value));
                    }
                    Err(RequestError::Declined { step, rank, reason, .. }) => {
                        assert_eq!((rank.0, reason), (2, format!("{value} would melt it")));
                        assert!(value > 50.0);
                        told.push((step.0, value));
                    }
                    Err(other) => panic!("{value}: {other}"),
                }
            }
            span.end();
            subscriber.close().expect("closed");
            (told, ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect::<Vec<_>>())
        });
        assert_eq!(told.len(), 20);
        for (rank, seen) in seen.iter().enumerate() {
            assert_eq!(seen, &told, "{kind}, rank {rank}");
        }
    }
}

#[test]
fn what_the_simulation_does_not_take_is_refused() {
    let place = Place::new();
    let _publisher =
        Publisher::open(STREAM, parameters(place.publisher_options())).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, asker(&place, TransportKind::Shm)).expect("attached");
    let refusal = |outcome: Result<_, RequestError>| match outcome {
        Err(RequestError::Refused { refusal, .. }) => refusal.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refusal(subscriber.request("speed", 1.0, PATIENCE)),
        "the publisher has no such parameter, but conductivity, melts"
    );
    assert_eq!(
        refusal(subscriber.request(CONDUCTIVITY, 101.0, PATIENCE)),
        "the parameter takes a number from 0.0 to 100.0"
    );
    assert_eq!(refusal(subscriber.request("melts", 1, PATIENCE)), "the parameter takes true or false");
    let long = "x".repeat(2000);
    assert!(matches!(subscriber.request("melts", long.as_str(), PATIENCE), Err(RequestError::Misuse { .. })));
}

/// Who asks for too much is told so, and what was refused does not count.
#[test]
fn no_more_is_asked_within_a_second_than_may_be() {
    let place = Place::new();
    let options = parameters(place.publisher_options()).with_limit_requests_per_second(2);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, asker(&place, TransportKind::Shm)).expect("attached");
    let refused = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let too_much = subscriber.request(CONDUCTIVITY, 101.0, PATIENCE);
            assert!(matches!(too_much, Err(RequestError::Refused { .. })));
            // However slow the machine is, some three of them come within a second.
            (0..1000).find_map(|_| subscriber.request(CONDUCTIVITY, 1.0, PATIENCE).err())
        });
        while !asking.is_finished() {
            publisher.begin_step().expect("a step").end().expect("ended");
        }
        asking.join().expect("no panic")
    });
    let Some(RequestError::Refused { refusal, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal, SteeringRefusal::TooOften { per_second: 2 });
}

/// Whoever may ask learns what for; by whatever policy it takes steps.
#[test]
fn what_can_be_asked_for_is_told() {
    let place = Place::new();
    let options = parameters(place.publisher_options());
    let options =
        options.with_described_parameter("stop", ParameterKind::Signal, "after the next checkpoint");
    let expected = options.parameters.clone();
    let _publisher = Publisher::open(STREAM, options).expect("the stream opens");
    for options in [asker(&place, TransportKind::Shm), place.over(TransportKind::Tcp)] {
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        assert_eq!(subscriber.parameters(PATIENCE).expect("told"), expected);
    }
    let text = &expected[2].to_string();
    assert_eq!(text, "stop: no value; after the next checkpoint");
}

#[test]
fn a_parameter_that_nobody_could_ask_for_is_refused_as_the_stream_opens() {
    let place = Place::new();
    let none = ParameterKind::Real { least: Real(1.0), greatest: Real(0.0) };
    let refused = |options| match Publisher::open(STREAM, options) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it opens"),
    };
    let said = refused(place.publisher_options().with_parameter("level", none));
    assert!(
        said.ends_with("parameter \"level\": it takes a number from 1.0 to 0.0, and there is none"),
        "{said}"
    );
    let said = refused(place.publisher_options().with_parameter("", ParameterKind::Bool));
    assert!(said.ends_with("its name has 0 bytes: a name has 1 to 255"), "{said}");
    let many =
        |options: PublisherOptions, number| options.with_parameter(format!("p{number}"), ParameterKind::Bool);
    let said = refused((0..257).fold(place.publisher_options(), many));
    assert!(said.ends_with("parameters is 257, and 256 is the most that it can be"), "{said}");
    let said = refused(place.publisher_options().with_limit_requests_per_second(0));
    assert!(said.contains("limit_requests_per_second"), "{said}");
}

/// Whoever takes every step would have the simulation wait for it while it waits for the answer.
#[test]
fn who_takes_every_step_asks_by_another() {
    let place = Place::new();
    let _publisher =
        Publisher::open(STREAM, parameters(place.publisher_options())).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Shm)).expect("attached");
    let refused = subscriber.request(CONDUCTIVITY, 1.0, Duration::MAX).expect_err("refused").to_string();
    assert!(refused.contains("ask by a subscriber of its own"), "{refused}");
}

/// A simulation that begins no step answers nothing, and says nothing when it ends.
#[test]
fn every_wait_for_an_answer_ends() {
    let place = Place::new();
    let publisher = Publisher::open(STREAM, parameters(place.publisher_options())).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, asker(&place, TransportKind::Shm)).expect("attached");
    let unanswered = subscriber.request(CONDUCTIVITY, 1.0, Duration::from_millis(50));
    assert!(matches!(unanswered, Err(RequestError::NoAnswer { .. })), "{unanswered:?}");
    let closing = std::thread::spawn(move || publisher.close().expect("closed"));
    let over = subscriber.request(CONDUCTIVITY, 2.0, PATIENCE);
    // It may be over before it is asked, and while it closes.
    let is_over = matches!(
        over,
        Err(RequestError::Over { .. }
            | RequestError::Misuse { .. }
            | RequestError::Refused { refusal: SteeringRefusal::Closing, .. })
    );
    assert!(is_over, "{over:?}");
    closing.join().expect("no panic");
}

/// An answer that comes when nobody waits for it any more is passed over; the next request is answered as itself.
#[test]
fn a_late_answer_is_nobodys() {
    let place = Place::new();
    let mut publisher =
        Publisher::open(STREAM, parameters(place.publisher_options())).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, asker(&place, TransportKind::Shm)).expect("attached");
    assert!(subscriber.request(CONDUCTIVITY, 1.0, Duration::from_millis(20)).is_err());
    let stopped = AtomicBool::new(false);
    let (step, seen) = std::thread::scope(|scope| {
        let publishing = scope.spawn(|| {
            let mut seen = Seen::new();
            while !stopped.load(Ordering::SeqCst) {
                let writer = publisher.begin_step().expect("a step");
                let step = writer.step().0;
                seen.extend(
                    writer.requests().iter().map(|request| (step, request.as_f64().expect("a number"))),
                );
                writer.end().expect("ended");
                std::thread::yield_now();
            }
            seen
        });
        let step = subscriber.request(CONDUCTIVITY, 2.0, PATIENCE).expect("applied");
        stopped.store(true, Ordering::SeqCst);
        (step.0, publishing.join().expect("no panic"))
    });
    assert_eq!(seen.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!(seen[1].0, step);
}

/// Ranks that publish until all have been asked to stop; what each saw, and how long its longest step took to begin.
fn publish_until_stopped(place: &Place, rank: u32, size: u32) -> (Seen, Duration) {
    let options = parameters(place.publisher_options())
        .with_parameter("stop", ParameterKind::Signal)
        .with_pause(Duration::from_secs(30))
        .with_cohort(Cohort::of(rank, size).expect("a cohort"));
    let mut publisher = Publisher::open(STREAM, options.with_min_subscribers(1)).expect("the stream opens");
    let (mut seen, mut longest, mut is_stopped) = (Seen::new(), Duration::ZERO, false);
    while !is_stopped {
        let began = Instant::now();
        let writer = publisher.begin_step().expect("a step");
        longest = longest.max(began.elapsed());
        let numbers = writer.requests().iter().filter_map(|request| request.as_f64());
        seen.extend(numbers.map(|value| (writer.step().0, value)));
        is_stopped = writer.is_asked("stop");
        writer.end().expect("ended");
        (0..20 * rank).for_each(|_| std::thread::yield_now());
    }
    publisher.close().expect("closed");
    (seen, longest)
}

/// A pause holds all ranks before one step until somebody has them go on; what is urgent is seen at the next one.
#[test]
fn a_simulation_is_paused_goes_on_and_stops() {
    for kind in [TransportKind::Shm, TransportKind::Tcp] {
        let (place, size, paused) = (Place::new(), 3, Duration::from_millis(300));
        let (told, seen) = std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..size)
                .map(|rank| {
                    let place = &place;
                    scope.spawn(move || publish_until_stopped(place, rank, size))
                })
                .collect();
            let mut subscriber = Subscriber::open(STREAM, asker(&place, kind)).expect("attached");
            let mut told = Seen::new();
            for (value, is_urgent) in [(1.0, false), (2.0, true), (3.0, true), (4.0, false)] {
                let step = match is_urgent {
                    true => subscriber.request_now(CONDUCTIVITY, value, PATIENCE),
                    false => subscriber.request(CONDUCTIVITY, value, PATIENCE),
                };
                told.push((step.expect("applied").0, value));
                subscriber.request("pause", 20.0, PATIENCE).expect("paused");
                let unanswered = subscriber.request(CONDUCTIVITY, 50.0, paused);
                assert!(matches!(unanswered, Err(RequestError::NoAnswer { .. })), "{unanswered:?}");
                subscriber.request("resume", true, PATIENCE).expect("it goes on");
                // What nobody waited for is seen all the same, before what is asked for next.
                let step = subscriber.request(CONDUCTIVITY, 51.0, PATIENCE).expect("applied");
                told.extend([(step.0, 50.0), (step.0, 51.0)]);
            }
            subscriber.request("stop", true, PATIENCE).expect("stopped");
            subscriber.close().expect("closed");
            (told, ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect::<Vec<_>>())
        });
        let with_steps =
            |seen: &Seen| -> Seen { seen.iter().copied().filter(|(_, value)| *value != 50.0).collect() };
        for (rank, (seen, longest)) in seen.iter().enumerate() {
            assert_eq!(with_steps(seen), with_steps(&told), "{kind}, rank {rank}");
            assert_eq!(seen.len(), told.len(), "{kind}, rank {rank}: {seen:?}");
            assert!(*longest >= paused, "{kind}, rank {rank} was not paused: {longest:?}");
        }
    }
}

/// A pause that is longer than ranks wait for one another ends by itself. It counts as a pause, and nobody gives up.
#[test]
fn a_pause_is_no_wait_for_other_ranks() {
    let (place, size, patience) = (Place::new(), 2, Duration::from_secs(2));
    let paused = patience + Duration::from_millis(600);
    std::thread::scope(|scope| {
        let place = &place;
        let publish = move |rank| {
            let options = parameters(place.publisher_options()).with_parameter("stop", ParameterKind::Signal);
            let options = options.with_pause(Duration::from_secs(30)).with_skew_timeout(patience);
            let options = options.with_cohort(Cohort::of(rank, size).expect("a cohort"));
            let mut publisher =
                Publisher::open(STREAM, options.with_min_subscribers(1)).expect("the stream opens");
            loop {
                let writer = publisher.begin_step().expect("nobody gives up");
                let is_stopped = writer.is_asked("stop");
                writer.end().expect("ended");
                if is_stopped {
                    break;
                }
            }
            let counted = publisher.statistics();
            publisher.close().expect("closed");
            Duration::from_nanos(counted.begin_paused_ns)
        };
        let ranks: Vec<_> = (0..size).map(|rank| scope.spawn(move || publish(rank))).collect();
        let mut subscriber = Subscriber::open(STREAM, asker(place, TransportKind::Shm)).expect("attached");
        subscriber.request("pause", paused.as_secs_f64(), PATIENCE).expect("paused");
        subscriber.request("stop", true, PATIENCE).expect("it goes on by itself");
        subscriber.close().expect("closed");
        for rank in ranks {
            let counted = rank.join().expect("no panic");
            assert!(counted >= paused - Duration::from_millis(100), "{counted:?} of {paused:?}");
        }
    });
}

/// Unless its owner says so, nobody pauses a simulation, and nobody for longer than he says.
#[test]
fn the_owner_says_whether_it_may_be_paused() {
    let (place, other) = (Place::new(), "other");
    let _never = Publisher::open(STREAM, parameters(place.publisher_options())).expect("the stream opens");
    let briefly = place.publisher_options().with_pause(Duration::from_millis(1500));
    let _briefly = Publisher::open(other, briefly).expect("the stream opens");
    let refused = |stream: &str, value: f64| {
        let mut subscriber = Subscriber::open(stream, asker(&place, TransportKind::Shm)).expect("attached");
        subscriber.request("pause", value, PATIENCE).expect_err("refused").to_string()
    };
    assert!(refused(STREAM, 1.0).ends_with("has no such parameter, but conductivity, melts"));
    assert!(
        refused(other, 1.6).ends_with("takes a number of seconds, more than 0 and at most 1.5, or no value")
    );
}

/// Who may subscribe may neither watch nor ask for anything, unless the list says so.
#[test]
fn an_access_list_says_who_may_ask_and_who_may_watch() {
    let place = Place::new();
    let rule = |actions: &[Action]| AccessRule::new("*", Who::Anybody).with_actions(actions.iter().copied());
    let options = parameters(place.publisher_options())
        .with_access(Access::new().with_rule(rule(&[Action::Subscribe])));
    let _publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, asker(&place, TransportKind::Shm)).expect("attached");
    let denied = subscriber.request(CONDUCTIVITY, 1.0, PATIENCE);
    let Err(RequestError::Refused { refusal: SteeringRefusal::Denied(denial), .. }) = denied else {
        panic!("{denied:?}");
    };
    assert_eq!(denial.action, Action::Request);
    let watching = asker(&place, TransportKind::Shm).with_condition("max(T) > 1").expect("a condition");
    let refused: Option<OpenError> = Subscriber::open(STREAM, watching).err();
    assert!(refused.expect("refused").to_string().contains("watch"));
    let having = asker(&place, TransportKind::Shm).with_condition("has(T)").expect("a condition");
    assert!(Subscriber::open(STREAM, having).is_ok(), "a table says that, and nothing is measured");
}

/// Answers in the place of a simulation: its own way for each parameter.
fn delegate(gate: &Arc<Barrier>) -> RequestDelegate {
    let gate = gate.clone();
    RequestDelegate::new(move |request| match request.parameter() {
        "slow" => {
            gate.wait();
            gate.wait();
            SteeringOutcome::Applied { step: StepId(7) }
        }
        "broken" => panic!("on purpose"),
        "" => SteeringOutcome::Refused(SteeringRefusal::Unknown { known: Vec::new() }),
        other => {
            let reason = format!("{other} {} {} {}", request.value(), request.by(), request.is_urgent());
            SteeringOutcome::Declined { step: StepId(3), rank: fp_core::Rank(2), reason }
        }
    })
}

/// The publisher itself sees nothing of it, and one that takes long holds up no other.
#[test]
fn a_delegate_answers_in_the_place_of_the_publisher() {
    let (place, gate) = (Place::new(), Arc::new(Barrier::new(2)));
    let options = parameters(place.publisher_options()).with_request_delegate(delegate(&gate));
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let [mut first, mut second] = [TransportKind::Shm, TransportKind::Tcp]
        .map(|kind| Subscriber::open(STREAM, asker(&place, kind)).expect("attached"));
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| first.request("slow", 1, PATIENCE));
        gate.wait();
        // It is under way.
        let told = second.request_now(CONDUCTIVITY, 500.0, PATIENCE).expect_err("it was declined");
        let RequestError::Declined { step: StepId(3), rank: fp_core::Rank(2), reason, .. } = told else {
            panic!("{told}");
        };
        assert_eq!(reason, "conductivity 500.0 asker true");
        assert_eq!(second.parameters(PATIENCE).expect("they are told"), []);
        let broken = second.request("broken", true, PATIENCE).expect_err("nobody answers");
        assert!(matches!(broken, RequestError::Unanswered { .. }), "{broken}");
        assert!(broken.to_string().contains("what was to hand it on panicked"), "{broken}");
        let writer = publisher.begin_step().expect("a step");
        assert!(writer.requests().is_empty());
        // Nobody takes it.
        writer.abandon();
        gate.wait();
        assert_eq!(slow.join().expect("no panic").expect("applied"), StepId(7));
    });
    // One is under way as the stream ends.
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| first.request("slow", 1, PATIENCE));
        gate.wait();
        publisher.close().expect("closed");
        let over = slow.join().expect("no panic").expect_err("nobody knows");
        assert!(matches!(over, RequestError::Unanswered { .. } | RequestError::Over { .. }), "{over}");
        gate.wait();
    });
}

/// Whoever asks and leaves makes room in the stream. The delegate has no more than 32 requests at one time all the same.
#[test]
fn a_delegate_that_does_not_hear_of_those_who_left_has_no_more_than_so_many_requests() {
    let (place, gate) = (Place::new(), Arc::new((Mutex::new(false), Condvar::new())));
    let (opened, begun) = (gate.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = begun.clone();
    let delegate = RequestDelegate::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        let is_open = opened.0.lock().expect("no panic");
        drop(opened.1.wait_while(is_open, |is_open| !*is_open).expect("no panic"));
        SteeringOutcome::Applied { step: StepId(1) }
    });
    let options = parameters(place.publisher_options()).with_request_delegate(delegate);
    let publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let ask = |patience| {
        let mut subscriber = Subscriber::open(STREAM, asker(&place, TransportKind::Shm)).expect("attached");
        subscriber.request(CONDUCTIVITY, 1.0, patience)
    };
    for asked in 1..=32 {
        let silent = ask(Duration::from_millis(1)).expect_err("nobody answers");
        assert!(matches!(silent, RequestError::NoAnswer { .. }), "{silent}");
        eventually("the delegate has it", || begun.load(Ordering::Relaxed) == asked);
    }
    let busy = ask(PATIENCE).expect_err("there is no room");
    let is_busy = |refusal: &SteeringRefusal| *refusal == SteeringRefusal::Busy { limit: 32 };
    assert!(matches!(&busy, RequestError::Refused { refusal, .. } if is_busy(refusal)), "{busy}");
    *gate.0.lock().expect("no panic") = true;
    gate.1.notify_all();
    eventually("there is room", || ask(PATIENCE).is_ok());
    drop(publisher);
}
