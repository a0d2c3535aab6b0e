//! Analyses of streams: every number of ranks publishes the same, and what is wrong is told and hangs nowhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use fp_analysis::{
    AnalysisError, AnalysisOptions, Connectivity, Gather as _, PeriodicDim, StreamGather, ThreadGather,
    analyse, analyse_in_threads,
};
use fp_core::rendezvous::Rendezvous;
use fp_core::{
    Cohort, Dims, Dtype, NextStep, Publisher, PublisherOptions, Region, StepReader, Subscriber,
    SubscriberOptions, Variable,
};
use tempfile::TempDir;

use crate::moving;
use crate::oracle::Field;

/// Far more than anything here needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn rendezvous(&self) -> Rendezvous {
        Rendezvous::at(self.folder.path()).expect("a rendezvous")
    }

    fn publisher(&self, first: u64) -> Publisher {
        let options = PublisherOptions::default()
            .with_rendezvous(self.rendezvous())
            .with_min_subscribers(1)
            .with_first_step(first);
        Publisher::open("field", options).expect("it opens")
    }

    fn subscribe(&self, stream: &str, condition: Option<&str>) -> Subscriber {
        let mut options = SubscriberOptions::default().with_rendezvous(self.rendezvous());
        if let Some(condition) = condition {
            options = options.with_condition(condition).expect("a condition");
        }
        Subscriber::open(stream, options).expect("it opens")
    }

    fn options(&self, subscribers: u32) -> AnalysisOptions {
        let mut options = AnalysisOptions::new("field", "features", moving::threshold());
        options.link.rendezvous = Some(self.rendezvous());
        options.subscribers = subscribers;
        options.periodic = vec!["0".into()];
        options.patience = PATIENCE;
        options
    }
}

/// Publishes so many steps of the moving blobs.
fn publish(publisher: &mut Publisher, steps: std::ops::Range<u64>) {
    let variable = Variable::global::<f64>("x", &[32; 3]).expect("a name");
    for step in steps {
        let mut writer = publisher.begin_step().expect("it begins");
        let field = moving::field(step);
        // In two blocks, whose border is no range of planes's.
        let (upper, lower) = field.elements.split_at(11 * 32 * 32);
        writer
            .put_copy(&variable, &Region::new([0, 0, 0], [11, 32, 32]).expect("a region"), upper)
            .expect("put");
        writer
            .put_copy(&variable, &Region::new([11, 0, 0], [21, 32, 32]).expect("a region"), lower)
            .expect("put");
        writer.end().expect("it ends");
    }
}

/// All that a step has, as bytes.
fn content(step: &StepReader) -> Vec<(String, Vec<u8>)> {
    let variables = step.variables().expect("variables").into_iter().map(|info| info.def.name);
    let bytes = |name: String| {
        let (_, shape, bytes) = step.get_bytes(&name, "[...]").expect("bytes");
        (format!("{name} {shape}"), bytes)
    };
    variables.map(bytes).collect()
}

/// A step's number, and all that it has.
type Content = (u64, Vec<(String, Vec<u8>)>);

/// A step's number, and the ids of its features or why there are none.
type Told = (u64, Result<Vec<u64>, String>);

/// What the stream of features has, in every step, for analyses by so many ranks.
fn published(run: impl FnOnce(&AnalysisOptions) + Send) -> Vec<Content> {
    let place = Place::new();
    let options = place.options(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut publisher = place.publisher(3);
            publish(&mut publisher, 0..8);
            publisher.close().expect("it closes");
        });
        scope.spawn(|| run(&options));
        let mut subscriber = place.subscribe("features", None);
        let mut steps = Vec::new();
        loop {
            match subscriber.next_step(PATIENCE).expect("a step") {
                NextStep::Step(step) => steps.push((step.step().0, content(&step))),
                NextStep::NotYet => panic!("no step within {PATIENCE:?}"),
                NextStep::Ended(_) => return steps,
            }
        }
    })
}

/// The columns of extrema in a step, beside those of a flood fill over the field.
fn check_extrema(step: &StepReader, field: &Field) {
    let (filled, _) = field.flood(&moving::threshold());
    for (name, is_beyond) in [("min", f64::lt as fn(&f64, &f64) -> bool), ("max", f64::gt), ("peak", f64::gt)]
    {
        let numbers = step.get::<f64>(name, "[...]").expect("numbers");
        let places = step.get::<u64>(&format!("{name}.place"), "[...]").expect("places");
        assert_eq!((numbers.len(), places.len()), (filled.len(), 3 * filled.len()), "{name}");
        for ((number, place), of) in numbers.iter().zip(places.chunks(3)).zip(&filled) {
            let better =
                |best: usize, at: usize| if is_beyond(&of.values[at], &of.values[best]) { at } else { best };
            let best = (1..of.values.len()).fold(0, better);
            assert_eq!((*number, place), (of.values[best], &of.places[best].0[..]), "{name}");
        }
    }
}

#[test]
fn both_extremes_are_published_with_their_places() {
    let place = Place::new();
    let options = place.options(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut publisher = place.publisher(0);
            publish(&mut publisher, 0..6);
            publisher.close().expect("it closes");
        });
        scope.spawn(|| analyse_in_threads(&options, 2, &mut |_| true).expect("it ends well"));
        let mut subscriber = place.subscribe("features", None);
        for number in 0..6 {
            let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step") else {
                panic!("no step")
            };
            assert_eq!(step.step().0, number);
            check_extrema(&step, &moving::field(number));
        }
    });
}

#[test]
fn every_number_of_ranks_publishes_the_same() {
    let by_threads = |ranks| {
        published(move |options| {
            analyse_in_threads(options, ranks, &mut |_| true).expect("it ends well");
        })
    };
    let one = by_threads(1);
    assert_eq!(one.iter().map(|(step, _)| *step).collect::<Vec<_>>(), (3..11).collect::<Vec<_>>());
    let names: Vec<&str> = one[0].1.iter().map(|(name, _)| name.as_str()).collect();
    for wanted in
        ["born.volume [4]", "centroid [4, 3]", "covariance [4, 3, 3]", "event.kind [4]", "died.id [0]"]
    {
        assert!(names.contains(&wanted), "{wanted}: {names:?}");
    }
    for ranks in [2, 4, 8] {
        assert_eq!(by_threads(ranks), one, "{ranks} ranks");
    }
    // As ranks of several processes do, over a stream of parts.
    let by_stream = published(|options| {
        thread::scope(|scope| {
            for rank in 0..3 {
                scope.spawn(move || {
                    let cohort = Cohort::of(rank, 3).expect("a rank");
                    let way = StreamGather::open(&options.parts_stream(), &options.link, cohort, PATIENCE);
                    let way = Box::new(way.expect("it opens"));
                    analyse(options, cohort, way, &mut |_| true).expect("it ends well");
                });
            }
        });
    });
    assert_eq!(by_stream, one);
}

/// Runs an analysis by two threads, and gives what it said of each step and in the end.
fn told(
    place: &Place,
    options: &AnalysisOptions,
    publish: impl FnOnce(&Place) + Send,
) -> (Vec<Told>, Result<(), AnalysisError>) {
    thread::scope(|scope| {
        scope.spawn(|| publish(place));
        let mut told = Vec::new();
        let outcome = analyse_in_threads(options, 2, &mut |step| {
            let ids = step.outcome.map(|tracked| tracked.features.iter().map(|of| of.id).collect());
            told.push((step.step, ids.map_err(str::to_owned)));
            true
        });
        (told, outcome)
    })
}

fn put(publisher: &mut Publisher, name: &str, row: &[f64]) {
    let variable = Variable::global::<f64>(name, &[2, row.len() as u64]).expect("a name");
    let mut writer = publisher.begin_step().expect("it begins");
    let region = Region::new([0, 0], [2, row.len() as u64]).expect("a region");
    writer.put(&variable, &region, [row, row].concat()).expect("put");
    writer.end().expect("it ends");
}

#[test]
fn steps_without_the_variable_are_told_and_features_go_on() {
    let place = Place::new();
    let (told, outcome) = told(&place, &place.options(0), |place| {
        let mut publisher = place.publisher(0);
        put(&mut publisher, "x", &[1.0, 0.0, 1.0]);
        put(&mut publisher, "y", &[1.0, 0.0, 1.0]);
        put(&mut publisher, "x", &[1.0, 0.0, 0.0]);
        // Another shape has other features.
        put(&mut publisher, "x", &[1.0, 0.0, 0.0, 1.0]);
        publisher.close().expect("it closes");
    });
    outcome.expect("it ends well");
    assert_eq!(told[0], (0, Ok(vec![1, 2])));
    let (1, Err(why)) = &told[1] else { panic!("{told:?}") };
    assert!(why.contains("the step has no variable \"x\""), "{why}");
    assert_eq!(told[2..], [(2, Ok(vec![1])), (3, Ok(vec![3, 4]))]);
}

#[test]
fn what_has_no_features_ends_the_analysis_with_words() {
    let global = |dims: &[u64]| Variable::global::<f64>("x", dims).expect("a name");
    let complex = global(&[2, 2]).with_dtype(Dtype::C64).expect("elements");
    let local = Variable::local::<f64>("x", 2).expect("a name");
    let periodic = |dim: &str| vec![PeriodicDim::from(dim)];
    let (none, faces) = (Vec::new(), Connectivity::default());
    for (variable, dims, dim, neighbours, said) in [
        (
            complex,
            &[2, 2][..],
            none.clone(),
            faces,
            "its elements are c64, and features are of integers and reals",
        ),
        (local, &[2, 2], none.clone(), faces, "and features are of global arrays"),
        (global(&[4]), &[4], none.clone(), faces, "an array of 1 dimensions has no features here"),
        (
            global(&[2, 2]),
            &[2, 2],
            periodic("3"),
            faces,
            "dimension 3 is said to be periodic, and the array has 2",
        ),
        (
            global(&[2, 2]),
            &[2, 2],
            periodic("q"),
            faces,
            "it has no dimension \"q\"; names of dimensions are: none",
        ),
        (global(&[2, 2]), &[2, 2], none, Connectivity::Count(6), "has 4 or 8 neighbours, and not 6"),
    ] {
        let place = Place::new();
        let mut options = place.options(0);
        (options.periodic, options.connectivity) = (dim, neighbours);
        let (_, outcome) = told(&place, &options, |place| {
            let mut publisher = place.publisher(0);
            let mut writer = publisher.begin_step().expect("it begins");
            let dims = Dims::from_slice(dims).expect("dims");
            let region = Region::new(dims.zeros_like(), dims).expect("a region");
            let size = variable.definition().dtype.size_bytes().expect("a size");
            let len = dims.as_slice().iter().product::<u64>() as usize * size;
            writer.put_bytes(&variable, &region, &vec![0; len]).expect("put");
            writer.end().expect("it ends");
            // Whoever took it may be gone: that is what is told.
            let _ = publisher.close();
        });
        let error = outcome.expect_err("it cannot be").to_string();
        assert!(error.starts_with("stream \"field\", step 0, variable \"x\": "), "{error}");
        assert!(error.contains(said), "{error}");
    }
}

/// Ordinary watches sit on the stream of features.
#[test]
fn a_watch_tells_of_a_large_feature_that_is_born() {
    let place = Place::new();
    let options = place.options(1);
    let found = thread::scope(|scope| {
        scope.spawn(|| {
            let mut publisher = place.publisher(0);
            publish(&mut publisher, 0..16);
            publisher.close().expect("it closes");
        });
        scope.spawn(|| analyse_in_threads(&options, 2, &mut |_| true).expect("it ends well"));
        let mut watch = place.subscribe("features", Some("any(born.volume > 10)"));
        let mut found = Vec::new();
        loop {
            match watch.next_step(PATIENCE).expect("a step") {
                NextStep::Step(step) => {
                    found.push((step.step().0, step.get::<u64>("born.id", "[...]").expect("ids")))
                }
                NextStep::NotYet => panic!("no step within {PATIENCE:?}"),
                NextStep::Ended(_) => return found,
            }
        }
    });
    // By the script: those of the first step, and one in each of steps 5 and 12.
    assert_eq!(found, [(0, vec![1, 2, 3, 4]), (5, vec![5]), (12, vec![6])]);
}

/// A rank that goes, and one that never hands anything over: an error on rank 0, in time.
#[test]
fn a_rank_that_is_missing_is_named() {
    let mut ways = ThreadGather::of(2, Duration::from_millis(50), || false);
    let (mut other, mut lead) = (ways.pop().expect("rank 1"), ways.pop().expect("rank 0"));
    other.gather(vec![1]).expect("it is handed over");
    assert_eq!(lead.gather(vec![0]).expect("both are there"), Some(vec![vec![0], vec![1]]));
    let late = lead.gather(vec![0]).expect_err("nothing came").to_string();
    assert_eq!(late, "rank 1 of the analysis handed over nothing within 50ms");
    drop(other);
    let gone = lead.gather(vec![0]).expect_err("nobody is there").to_string();
    assert_eq!(gone, "rank 1 of the analysis is gone");
}

/// The same of processes, whose parts come over a stream.
#[test]
fn a_rank_that_leaves_the_stream_of_parts_is_noticed() {
    let place = Place::new();
    let mut link = place.options(0).link;
    link.close_timeout = Duration::from_millis(500);
    let open = |rank| StreamGather::open("parts", &link, Cohort::of(rank, 2).expect("a rank"), PATIENCE);
    thread::scope(|scope| {
        let (left, has_left) = mpsc::channel();
        scope.spawn(move || {
            let mut way = open(1).expect("it opens");
            way.gather(vec![1]).expect("it is handed over");
            drop(way);
            left.send(()).expect("somebody waits");
        });
        let mut way = open(0).expect("it opens");
        assert_eq!(way.gather(vec![0]).expect("both are there"), Some(vec![vec![0], vec![1]]));
        has_left.recv_timeout(PATIENCE).expect("it leaves");
        assert!(way.gather(vec![0]).is_err());
    });
}

/// Whoever is interrupted ends without an error, also where nothing comes.
#[test]
fn an_interrupt_ends_all_ranks() {
    let place = Place::new();
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let options = place.options(0).with_interrupt(move || asked.load(Ordering::Relaxed));
    thread::scope(|scope| {
        let ((done, is_done), place) = (mpsc::channel::<()>(), &place);
        scope.spawn(move || {
            let mut publisher = place.publisher(0);
            put(&mut publisher, "x", &[1.0, 0.0, 1.0]);
            // Nothing more is published until the analysis is over.
            is_done.recv_timeout(PATIENCE).expect("it ends");
            let _ = publisher.close();
        });
        let outcome = analyse_in_threads(&options, 3, &mut |_| {
            stop.store(true, Ordering::Relaxed);
            true
        });
        outcome.expect("whoever is interrupted has no error");
        done.send(()).expect("the publisher waits");
    });
}
