//! Members that are killed or that refuse, and a rendezvous that is not there.

use std::fs;

use fp_core::{EndReason, Publisher};
use fp_flow::{Family, FamilyEvent, FamilyNext};

use crate::families::nexts;
use crate::support::{PATIENCE, Place, publish};

#[test]
fn who_is_killed_has_gone_and_comes_again() {
    let place = Place::new();
    let options = place.holding(4).with_silence(PATIENCE);
    let mut family = Family::open("run#*", options).expect("it opens");
    let mut child = place.child("run#1", &[1, 2]);
    assert_eq!(nexts(&mut family, 3), ["run#1 came", "run#1 1", "run#1 2"]);
    let mut steady = place.publisher("run#2");
    assert_eq!(nexts(&mut family, 1), ["run#2 came"]);
    child.kill();
    let FamilyNext::Event(FamilyEvent::Gone { member, ending }) = family.next(PATIENCE).expect("no error")
    else {
        panic!("it was killed");
    };
    assert_eq!(member, "run#1");
    assert!(matches!(ending.reason, EndReason::Lost { .. }), "{}", ending.reason);
    publish(&mut steady, [5]);
    assert_eq!(nexts(&mut family, 1), ["run#2 5"], "the others go on");
    let mut child = place.child("run#1", &[3]);
    assert_eq!(nexts(&mut family, 2), ["run#1 restarted", "run#1 3"]);
    child.kill();
    assert_eq!(nexts(&mut family, 1), ["run#1 gone"]);
}

/// Its owner lets nothing be measured, so no condition holds there. Another stream becomes a member meanwhile.
#[test]
fn who_refuses_is_told_of_and_asked_again() {
    let place = Place::new();
    let options = place.holding(4).with_condition("max(x) > 15").expect("a condition");
    let mut family = Family::open("run#*", options).expect("it opens");
    let refusing = Publisher::open("run#1", place.publishing().with_derivations(false)).expect("it opens");
    let FamilyNext::Event(FamilyEvent::Refused { member, error, again_after }) =
        family.next(PATIENCE).expect("no error")
    else {
        panic!("it refuses");
    };
    assert_eq!((member.as_str(), again_after.as_secs()), ("run#1", 1), "{error}");
    let mut steady = place.publisher("run#2");
    assert_eq!(nexts(&mut family, 1), ["run#2 came"]);
    publish(&mut steady, [1, 2]);
    assert_eq!(nexts(&mut family, 1), ["run#2 2"]);
    assert_eq!(nexts(&mut family, 1), ["run#1 refused"], "it was asked again");
    drop(refusing);
}

#[test]
fn a_rendezvous_that_is_gone_is_told_of_once() {
    let place = Place::new();
    let mut family = Family::open("run", place.holding(4)).expect("it opens");
    fs::remove_dir(place.0.path()).expect("it is empty");
    assert_eq!(nexts(&mut family, 1), ["unseen"]);
    fs::create_dir(place.0.path()).expect("it is ours");
    let mut publisher = place.publisher("run");
    assert_eq!(nexts(&mut family, 1), ["run came"]);
    publish(&mut publisher, [1]);
    assert_eq!(nexts(&mut family, 1), ["run 1"]);
}
