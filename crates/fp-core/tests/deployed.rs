//! Deployed code in streams: whose modules a publisher runs, that these give what they should, and that the others harm
//! nobody else.
//!
//! A binary of its own: the shard `wasm` builds it again with that feature, and nothing else of this crate's tests.

mod support;

use fp_core::{
    DeployPolicy, ModuleHash, Publisher, PublisherOptions, ReadError, Region, Selection, StepReader,
    Subscriber, SubscriberOptions, TransportKind, Variable,
};
use support::{Place, STREAM, take};

const LEN: u64 = 1000;

fn element(step: u64, index: u64) -> f64 {
    ((step * 31 + index * 7) % 101) as f64 - 50.0
}

fn elements(step: u64) -> Vec<f64> {
    (0..LEN).map(|index| element(step, index)).collect()
}

/// Publishes the next step of two variables, each in three blocks.
fn publish(publisher: &mut Publisher) -> u64 {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    for name in ["a", "b"] {
        let variable = Variable::global::<f64>(name, &[LEN]).expect("a shape");
        for (from, to) in [(700, LEN), (0, 300), (300, 700)] {
            let region = Region::new([from], [to - from]).expect("inside");
            let part = (from..to).map(|index| element(step, index)).collect();
            writer.put(&variable, &region, part).expect("put");
        }
    }
    writer.end().expect("ended");
    step
}

fn open(options: PublisherOptions) -> Publisher {
    Publisher::open(STREAM, options).expect("the stream opens")
}

fn attach(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options).expect("attached")
}

/// With a module of that name and a variable of the same name derived by it.
fn with(options: SubscriberOptions, name: &str, module: &[u8], text: &str) -> SubscriberOptions {
    let options = options.with_module(name, module).expect("a module");
    options.with_derivation(name, text).expect("a derivation")
}

/// Why a variable could not be derived.
fn why(step: &StepReader, variable: &str) -> String {
    match step.get::<f64>(variable, Selection::All) {
        Err(ReadError::NotDerived { what, .. }) => what,
        other => panic!("{variable}: {other:?}"),
    }
}

/// One step of a publisher with these options. Gives what a subscriber is told that hands over bytes which are no
/// module.
fn refusal(options: impl Fn(PublisherOptions) -> PublisherOptions, kind: TransportKind) -> String {
    let place = Place::new();
    let mut publisher = open(options(place.publisher_options()));
    let derived = with(place.over(kind), "m", b"no module", "a | module(m)");
    let derived = derived.with_derivation("sum", "a | sum").expect("a derivation");
    let mut subscriber = attach(derived);
    let mut other = attach(place.over(kind));
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    let sum: f64 = elements(number).iter().sum();
    assert_eq!(step.get::<f64>("sum", Selection::All).expect("the sum"), [sum]);
    assert_eq!(take(&mut other).get::<f64>("a", Selection::All).expect("a"), elements(number));
    let counted = publisher.statistics();
    assert_eq!((counted.derivations, counted.failed_derivations), (1, 1));
    why(&step, "m")
}

#[test]
fn nobodys_code_is_run_unless_the_publisher_says_so() {
    let told = refusal(|options| options, TransportKind::Shm);
    assert_eq!(told, "publisher rank 0: deployed code: this publisher runs no code that others hand over");
    let other = ModuleHash::of(b"another one");
    let listed =
        move |options: PublisherOptions| options.with_deployment(DeployPolicy::Listed([other].into()));
    let told = refusal(listed, TransportKind::Shm);
    let hash = ModuleHash::of(b"no module");
    assert_eq!(
        told,
        format!(
            "publisher rank 0: deployed code: the module {hash} is not on the list of those that are run"
        )
    );
}

#[test]
fn over_tcp_nobody_tells_who_the_user_is() {
    let told = refusal(|options| options.with_deployment(DeployPolicy::SameUid), TransportKind::Tcp);
    assert!(told.contains("is run, and who sent this is not known"), "{told}");
}

#[test]
fn a_condition_names_modules_that_are_there() {
    let place = Place::new();
    let options = || place.over(TransportKind::Shm);
    let error = options().with_condition("max(module(m, a)) > 1").expect_err("no module is called so");
    assert!(
        error.to_string().contains("module(m, ...)") && error.to_string().contains("with_module"),
        "{error}"
    );
    let named = options().with_module("m", b"no module".to_vec()).expect("a name");
    let hash = ModuleHash::of(b"no module");
    let condition =
        named.with_condition("rises(max(module(m, a[3:9], f32)) > 1)").expect("it is there").condition;
    let text = condition.map(|condition| condition.to_string());
    assert_eq!(text, Some(format!("rises(max(module({hash}, a[3:9], f32)) > 1.0)")));
}

#[cfg(not(feature = "wasm"))]
#[test]
fn without_the_feature_no_code_is_run() {
    for kind in [TransportKind::Inproc, TransportKind::Shm] {
        let told = refusal(|options| options.with_deployment(DeployPolicy::SameUid), kind);
        let said = "deployed code is not run here: this program was built without the feature `wasm`";
        assert_eq!(told, format!("publisher rank 0: {said}"));
    }
}

#[cfg(feature = "wasm")]
mod wasm {
    use super::*;
    use fp_core::{CohortSide, DeployLimits, DerivedVariable};
    use std::time::Duration;
    use support::eventually;

    fn text(source: &str) -> Vec<u8> {
        wat::parse_str(source).expect("WebAssembly text")
    }

    fn sum_of_squares() -> Vec<u8> {
        text(include_str!("../../fp-transform/guest/sum_of_squares.wat"))
    }

    /// A guest that gives room from 1024 on, with a transform of that body.
    fn guest(body: &str) -> Vec<u8> {
        text(&format!(
            r#"(module (memory (export "memory") 2)
                (func (export "flexpath_reserve_1") (param i32) (result i32) (i32.const 1024))
                (func (export "flexpath_transform_1")
                    (param $inputs i32) (param $count i32) (param $output i32) (result i32)
                    (local $at i32) (local $other i32) (local $end i32)
                    {body} (i32.const 0)))"#
        ))
    }

    /// Adds the elements of the first block and of the last one, in place: two blocks, or one twice.
    fn add() -> Vec<u8> {
        guest(
            "(local.set $at (i32.load (local.get $inputs)))
             (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $inputs))))
             (local.set $other (i32.load (i32.add (local.get $inputs)
                (i32.mul (i32.sub (local.get $count) (i32.const 1)) (i32.const 152)))))
             (loop $next
                (f64.store (local.get $at) (f64.add (f64.load (local.get $at)) (f64.load (local.get $other))))
                (local.set $at (i32.add (local.get $at) (i32.const 8)))
                (local.set $other (i32.add (local.get $other) (i32.const 8)))
                (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
             (memory.copy (local.get $output) (local.get $inputs) (i32.const 152))",
        )
    }

    fn same_user(place: &Place) -> PublisherOptions {
        let limits = DeployLimits::default().with_memory_bytes(4 << 20).with_fuel(20_000_000);
        place.publisher_options().with_deployment(DeployPolicy::SameUid).with_deploy_limits(limits)
    }

    fn square(value: f64) -> f64 {
        value * value
    }

    #[test]
    fn a_reduction_gives_a_row_of_each_block() {
        for kind in [TransportKind::Inproc, TransportKind::Shm] {
            let place = Place::new();
            let mut publisher = open(same_user(&place));
            let options = with(place.over(kind), "squares", &sum_of_squares(), "a | module(squares, f64, 1)");
            let mut subscriber = attach(options);
            for _ in 0..3 {
                let number = publish(&mut publisher);
                let step = take(&mut subscriber);
                let sum = |from: u64, to: u64| (from..to).map(|at| square(element(number, at))).sum::<f64>();
                let rows = step.get_array::<f64>("squares", Selection::All).expect("rows");
                assert_eq!(rows.shape(), [3, 1], "{kind:?}");
                assert_eq!(rows.into_raw_vec_and_offset().0, [sum(0, 300), sum(300, 700), sum(700, LEN)]);
            }
            let counted = publisher.statistics();
            assert_eq!((counted.derivations, counted.failed_derivations), (3, 0));
        }
    }

    #[test]
    fn a_module_goes_along_where_what_it_derives_moves_to() {
        let place = Place::new();
        let mut publisher = open(same_user(&place));
        let options = place.over(TransportKind::Shm).with_module("add", add()).expect("a module");
        let derived = DerivedVariable::new("it", "a, b | module(add)").expect("a derivation");
        let options = options.with_request(derived.with_placement(CohortSide::Subscriber));
        let mut subscriber = attach(options.expect("the module is there"));
        for (moves, placement) in
            (1..).zip([CohortSide::Publisher, CohortSide::Subscriber, CohortSide::Publisher])
        {
            let before = publish(&mut publisher);
            subscriber.place("it", placement).expect("asked");
            eventually("it has moved", || subscriber.statistics().moves == moves);
            for number in [before, publish(&mut publisher)] {
                let twice: Vec<f64> = elements(number).iter().map(|x| 2.0 * x).collect();
                let step = take(&mut subscriber);
                assert_eq!(step.get::<f64>("it", Selection::All).expect("all"), twice, "{placement:?}");
            }
        }
        assert_eq!((publisher.statistics().derivations, subscriber.statistics().derivations), (3, 3));
    }

    #[test]
    fn modules_are_operations_among_others_and_results_are_shared() {
        let place = Place::new();
        let listed = DeployPolicy::Listed([ModuleHash::of(&add())].into());
        let mut publisher = open(place.publisher_options().with_deployment(listed));
        let text = |name: &str| format!("a, b | module({name}) | module({name}) | cast(f32)");
        let mut first = attach(with(place.over(TransportKind::Tcp), "add", &add(), &text("add")));
        let mut second = attach(with(place.over(TransportKind::Shm), "more", &add(), &text("more")));
        for _ in 0..3 {
            let wanted: Vec<f32> =
                elements(publish(&mut publisher)).iter().map(|x| 4.0 * *x as f32).collect();
            let step = take(&mut first);
            assert_eq!(step.get::<f32>("add", Selection::All).expect("all"), wanted);
            assert_eq!(step.get::<f32>("add", "[250:350]").expect("a slice"), wanted[250..350]);
            assert_eq!(take(&mut second).get::<f32>("more", "[5:7]").expect("a slice"), wanted[5..7]);
        }
        let counted = publisher.statistics();
        assert_eq!((counted.derivations, counted.shared_derivations), (3, 3));
        assert_eq!(counted.payload_bytes, 3 * LEN * 4, "inputs are not kept");
    }

    #[test]
    fn a_module_runs_where_it_is_told_to() {
        let place = Place::new();
        let mut publisher = place.publisher();
        let module = sum_of_squares();
        let options = place.over(TransportKind::Tcp).with_module("m", module).expect("a module");
        let derived = DerivedVariable::new("squares", "a | module(m, f64, 1)").expect("a derivation");
        let options = options.with_request(derived.with_placement(CohortSide::Subscriber));
        let mut subscriber = attach(options.expect("the module is there"));
        let number = publish(&mut publisher);
        let sum: f64 = elements(number).into_iter().map(square).sum();
        let step = take(&mut subscriber);
        assert_eq!(step.get::<f64>("squares", Selection::All).expect("one row of all"), [sum]);
        assert_eq!((publisher.statistics().derivations, subscriber.statistics().derivations), (0, 1));
    }

    #[test]
    fn guests_that_do_what_they_should_not_fail_alone() {
        let place = Place::new();
        let mut publisher = open(same_user(&place));
        let import = text(r#"(module (import "env" "read" (func)))"#);
        let cases: [(&str, Vec<u8>, &str, &str); 7] = [
            (
                "loops",
                guest("(loop $again (br $again))"),
                "",
                "the module did more than 20000000 units of work",
            ),
            ("traps", guest("unreachable"), "", "the module trapped: "),
            (
                "grows",
                guest("(loop $again (drop (memory.grow (i32.const 1))) (br $again))"),
                "",
                "the module wanted more memory than 4194304 bytes",
            ),
            ("imports", import, "", "the module imports \"env\" \"read\", but nothing can be imported"),
            ("rubbish", b"no module".to_vec(), "", "not a module"),
            ("reduces", sum_of_squares(), "", "the module gave f64"),
            ("doubles", add(), ", f64, 2", "where 2 of f64 was asked for"),
        ];
        let mut options =
            place.over(TransportKind::Shm).with_derivation("sum", "a | sum").expect("a derivation");
        for (name, module, more, _) in &cases {
            options = with(options, name, module, &format!("a | module({name}{more})"));
        }
        let mut subscriber = attach(options);
        let mut good = attach(with(place.over(TransportKind::Shm), "add", &add(), "a, b | module(add)"));
        let mut plain = attach(place.over(TransportKind::Tcp));
        for round in 0..3 {
            let number = publish(&mut publisher);
            let step = take(&mut subscriber);
            for (name, _, _, wanted) in &cases {
                let told = why(&step, name);
                let wanted = match (*name, round) {
                    ("loops", 2) => "it ran for too long 2 times, and is not done any more",
                    _ => wanted,
                };
                assert!(told.starts_with("publisher rank 0: ") && told.contains(wanted), "{name}: {told}");
            }
            let (all, sum) = (elements(number), elements(number).iter().sum::<f64>());
            assert_eq!(step.get::<f64>("sum", Selection::All).expect("the sum"), [sum]);
            let twice: Vec<f64> = all.iter().map(|x| 2.0 * x).collect();
            assert_eq!(take(&mut good).get::<f64>("add", Selection::All).expect("all"), twice);
            assert_eq!(take(&mut plain).get::<f64>("b", Selection::All).expect("all"), all);
        }
    }

    #[test]
    fn a_guest_is_stopped_in_time() {
        let place = Place::new();
        let limits = DeployLimits::default().with_fuel(u64::MAX);
        let timeout = Duration::from_secs(1);
        let mut publisher = open(same_user(&place).with_deploy_limits(limits).with_derive_timeout(timeout));
        let forever = guest("(loop $again (br $again))");
        let mut subscriber = attach(with(place.over(TransportKind::Shm), "m", &forever, "a | module(m)"));
        let mut told = Vec::new();
        for _ in 0..3 {
            publish(&mut publisher);
            told.push(why(&take(&mut subscriber), "m"));
        }
        assert!(told[..2].iter().all(|told| told.contains("ran for longer than ")), "{told:?}");
        assert_eq!(told[2], "publisher rank 0: it ran for too long 2 times, and is not done any more");
    }

    #[test]
    fn derivations_of_one_module_share_the_count_of_its_overruns() {
        let place = Place::new();
        let mut publisher = open(same_user(&place));
        let forever = guest("(loop $again (br $again))");
        let options = with(place.over(TransportKind::Shm), "m", &forever, "a | module(m)");
        let options = options.with_derivation("other", "b | module(m)").expect("a derivation");
        let mut subscriber = attach(options);
        let mut good = attach(with(place.over(TransportKind::Shm), "add", &add(), "a, b | module(add)"));
        publish(&mut publisher);
        let step = take(&mut subscriber);
        for name in ["m", "other"] {
            let told = why(&step, name);
            assert!(told.ends_with("the module did more than 20000000 units of work"), "{told}");
        }
        drop((step, take(&mut good)));
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        for name in ["m", "other"] {
            let told = why(&step, name);
            assert!(told.contains("the module ran too long 2 times, for all derivations of it"), "{told}");
        }
        let twice: Vec<f64> = elements(number).iter().map(|x| 2.0 * x).collect();
        assert_eq!(take(&mut good).get::<f64>("add", Selection::All).expect("all"), twice);
    }

    #[test]
    fn what_could_take_long_to_compile_is_refused_and_the_subscriber_is_told() {
        let place = Place::new();
        let mut publisher = open(same_user(&place));
        let huge = guest(&"nop ".repeat(70_000));
        let mut subscriber = attach(with(place.over(TransportKind::Shm), "m", &huge, "a | module(m)"));
        publish(&mut publisher);
        let told = why(&take(&mut subscriber), "m");
        let said = "function 1 of the module has 70006 bytes: at most 65536 are compiled";
        assert_eq!(told, format!("publisher rank 0: {said}"));
    }

    /// What a condition says of each step, found here.
    type Known = (&'static str, fn(&[f64]) -> bool);

    const CONDITIONS: [Known; 3] = [
        ("sum(module(twice, a)) > -95", |all| all.iter().sum::<f64>() * 2.0 > -95.0),
        ("max(module(twice, a[10:30])) > 97", |all| all[10..30].iter().any(|x| 2.0 * x > 97.0)),
        ("argmin(module(twice, a))[0] < 5", |all| {
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            all.iter().position(|x| *x == least).is_some_and(|at| at < 5)
        }),
    ];

    fn watching(place: &Place, kind: TransportKind, module: &[u8], condition: &str) -> Subscriber {
        let options = place.over(kind).with_module("twice", module).expect("a module");
        attach(options.with_condition(condition).expect(condition).with_limit_steps(64))
    }

    #[test]
    fn conditions_measure_what_modules_make() {
        for kind in [TransportKind::Inproc, TransportKind::Shm] {
            let place = Place::new();
            let mut publisher = open(same_user(&place).with_derive_budget(Duration::from_secs(60)));
            let mut watchers = CONDITIONS.map(|(condition, _)| watching(&place, kind, &add(), condition));
            let steps: Vec<u64> = (0..40).map(|_| publish(&mut publisher)).collect();
            for ((condition, holds), watcher) in CONDITIONS.into_iter().zip(&mut watchers) {
                let wanted: Vec<u64> = steps.iter().copied().filter(|step| holds(&elements(*step))).collect();
                assert!(!wanted.is_empty() && wanted.len() < steps.len(), "{condition}: {wanted:?}");
                for number in wanted {
                    let step = take(watcher);
                    let judgement = step.judgement().expect("it is told why");
                    assert_eq!((step.step().0, &judgement.unjudged), (number, &None), "{condition}");
                    let hash = ModuleHash::of(&add()).to_string();
                    assert!(judgement.measured[0].measure.contains(&format!("module({hash}, a")));
                }
            }
        }
    }

    #[test]
    fn a_step_is_not_judged_where_its_module_gives_nothing() {
        let place = Place::new();
        let mut publisher = open(same_user(&place));
        let forever = guest("(loop $again (br $again))");
        let mut watcher = watching(&place, TransportKind::Shm, &forever, "any(module(twice, a) > 9)");
        let mut not_proved = watching(&place, TransportKind::Tcp, &add(), "any(module(twice, b) > 9)");
        for round in 0..3 {
            publish(&mut publisher);
            let told = take(&mut watcher).judgement().and_then(|known| known.unjudged.clone());
            let told = told.expect("it was not judged").reason;
            let wanted = match round {
                0 | 1 => "the module did more than 20000000 units of work",
                _ => "it ran for too long 2 times",
            };
            assert!(told.contains(wanted), "{round}: {told}");
            let told = take(&mut not_proved).judgement().and_then(|known| known.unjudged.clone());
            let told = told.expect("it was not judged").reason;
            assert!(told.contains("who sent this is not known"), "{told}");
        }
    }

    #[test]
    fn who_hands_the_same_over_again_finds_it_there() {
        let place = Place::new();
        let mut publisher = open(same_user(&place));
        for _ in 0..2 {
            let options = place.over(TransportKind::Shm);
            let mut subscriber = attach(with(options, "m", &sum_of_squares(), "a | module(m, f64, 1)"));
            publish(&mut publisher);
            take(&mut subscriber).get::<f64>("m", "[0, 0]").expect("a row");
            subscriber.close().expect("closed");
            eventually("nobody is there", || !publisher.has_subscribers());
        }
        assert_eq!(publisher.statistics().derivations, 2);
    }
}
