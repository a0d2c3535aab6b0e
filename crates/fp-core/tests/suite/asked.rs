//! A publisher says which variables its subscriptions want.

use crate::support::{Place, STREAM, eventually, named, take, values};
use fp_core::{
    CohortSide, DerivedVariable, Misuse, Publisher, ReadError, Selection, Subscriber, SubscriberOptions,
    VariableSet,
};

const LEN: u64 = 2000;

fn open(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options).expect("attached")
}

fn wants(publisher: &Publisher, names: &[&str]) {
    let expected = VariableSet::named(names.iter().copied());
    eventually("that is wanted", || publisher.wanted_variables() == expected);
}

#[test]
fn what_is_wanted_is_what_all_select_have_derived_or_judge_by() {
    let place = Place::new();
    // A reserve keeps all, and nobody reads it.
    let options = place.publisher_options().with_reserve_steps(3);
    let publisher = Publisher::open(STREAM, options).expect("the stream opens");
    wants(&publisher, &[]);
    let with = |set: fn(SubscriberOptions) -> SubscriberOptions| open(set(place.subscriber_options()));
    let near = with(|options| options.with_variables(["near"]));
    wants(&publisher, &["near"]);
    let derived =
        with(|options| options.with_derivation("most", "far, more | magnitude | max").expect("one"));
    wants(&publisher, &["far", "more", "near"]);
    let derived_here = with(|options| {
        let max = DerivedVariable::new("most", "other | max").expect("a derivation");
        options.with_request(max.with_placement(CohortSide::Subscriber)).expect("one")
    });
    let transformed =
        with(|options| options.with_transformed("lists", "bonds", "adjacency").expect("a name"));
    wants(&publisher, &["bonds", "far", "more", "near", "other"]);
    let judging = with(|options| {
        let options = options.with_variables(["near"]);
        options.with_condition("has(particles)").expect("a condition")
    });
    wants(&publisher, &["bonds", "far", "more", "near", "other", "particles"]);
    [near, derived, derived_here, transformed].into_iter().for_each(|one| one.close().expect("left"));
    wants(&publisher, &["near", "particles"]);
    let all = with(|options| options);
    eventually("all are wanted", || publisher.wanted_variables() == VariableSet::All);
    [judging, all].into_iter().for_each(|one| one.close().expect("left"));
    wants(&publisher, &[]);
    publisher.close().expect("closed");
}

#[test]
fn who_selects_all_again_is_given_all_and_knows_of_each_step_what_it_selected() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = open(place.subscriber_options().with_variables(["near"]));
    let mut put_both = || {
        let mut writer = publisher.begin_step().expect("a step");
        for name in ["near", "far"] {
            let (variable, region) = named(name, LEN);
            writer.put(&variable, &region, values(1, LEN)).expect("put");
        }
        writer.end().expect("ended");
    };
    put_both();
    let before = take(&mut subscriber);
    assert!(before.is_selected("near") && !before.is_selected("far"));
    subscriber.select(VariableSet::All).expect("asked");
    assert_eq!(first_with_far(&mut put_both, &mut subscriber), values(1, LEN));
    let error = before.get::<u64>("far", &Selection::All).expect_err("not asked for then");
    assert!(matches!(error, ReadError::Misuse { source: Misuse::NotSubscribed { .. }, .. }), "{error}");
    drop(before);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

/// Publishes until a step comes of which all was selected: what was read of it.
fn first_with_far(put_both: &mut dyn FnMut(), subscriber: &mut Subscriber) -> Vec<u64> {
    loop {
        put_both();
        let step = take(subscriber);
        if step.is_selected("far") {
            return step.get::<u64>("far", &Selection::All).expect("all of it");
        }
    }
}
