//! Members that come, go, find no room, and come again.

use fp_core::{Publisher, Subscriber};
use fp_flow::{Family, FamilyError, FamilyEvent, FamilyNext, FamilyOptions, FamilyStep, OpenFamily as _};

use crate::support::{KEY, PATIENCE, Place, content, publish, publish_all};

/// What comes next, in words; steps are kept.
pub(crate) fn next(family: &mut Family, steps: &mut Vec<FamilyStep>) -> String {
    match family.next(PATIENCE).expect("no error") {
        FamilyNext::Step(step) => {
            let told = format!("{} {}", step.member(), step.scalar::<i64>(KEY).expect("a key"));
            steps.push(step);
            told
        }
        FamilyNext::Event(event) => told(&event),
        FamilyNext::NotYet => panic!("nothing within {PATIENCE:?}"),
    }
}

fn told(event: &FamilyEvent) -> String {
    match event {
        FamilyEvent::Came { member, .. } => format!("{member} came"),
        FamilyEvent::Restarted { member, .. } => format!("{member} restarted"),
        FamilyEvent::Gone { member, .. } => format!("{member} gone"),
        FamilyEvent::Refused { member, .. } => format!("{member} refused"),
        FamilyEvent::PassedOver { member, .. } => format!("{member} passed over"),
        FamilyEvent::Unseen { .. } => "unseen".to_owned(),
        other => panic!("{other}"),
    }
}

/// What comes next, and for steps that they are let go of.
pub(crate) fn nexts(family: &mut Family, count: usize) -> Vec<String> {
    (0..count).map(|_| next(family, &mut Vec::new())).collect()
}

fn waiting(place: &Place, stream: &str) -> Publisher {
    Publisher::open(stream, place.publishing()).expect("it opens")
}

#[test]
fn members_are_found_and_lost_while_it_runs() {
    let place = Place::new();
    let _other = place.publisher("walk#1");
    let mut family = Subscriber::open_family("run#*", place.holding(4)).expect("it opens");
    let mut one = waiting(&place, "run#1");
    assert_eq!(nexts(&mut family, 1), ["run#1 came"]);
    publish(&mut one, [1, 2]);
    let mut kept = Vec::new();
    assert_eq!(next(&mut family, &mut kept), "run#1 1");
    let mut two = waiting(&place, "run#2");
    // The second step of the one may come before the other one.
    let mut found = nexts(&mut family, 2);
    found.sort();
    assert_eq!(found, ["run#1 2", "run#2 came"]);
    assert_eq!(family.members().collect::<Vec<_>>(), ["run#1", "run#2"]);
    let closing = publish_all(one, 3..4);
    assert_eq!(nexts(&mut family, 2), ["run#1 3", "run#1 gone"]);
    assert_eq!(content(&kept[0]), 10, "a member that has gone can still be read");
    drop(kept);
    closing.join().expect("no panic");
    publish(&mut two, [7]);
    assert_eq!(nexts(&mut family, 1), ["run#2 7"]);
    assert_eq!(family.members().collect::<Vec<_>>(), ["run#2"]);
    family.close().expect("it closes");
    two.close().expect("it closes");
}

#[test]
fn who_is_opened_anew_is_a_member_again() {
    for follow in [true, false] {
        let place = Place::new();
        let options = FamilyOptions::from(place.holding(4)).with_follow_restarts(follow);
        let mut family = Family::open("run*", options).expect("it opens");
        let first = waiting(&place, "run");
        assert_eq!(nexts(&mut family, 1), ["run came"]);
        let closing = publish_all(first, 0..1);
        assert_eq!(nexts(&mut family, 2), ["run 0", "run gone"]);
        closing.join().expect("no panic");
        let mut again = waiting(&place, "run");
        if follow {
            assert_eq!(nexts(&mut family, 1), ["run restarted"]);
            publish(&mut again, [5]);
            assert_eq!(nexts(&mut family, 1), ["run 5"]);
        } else {
            let mut other = waiting(&place, "runner");
            assert_eq!(nexts(&mut family, 1), ["runner came"]);
            publish(&mut again, [5]);
            publish(&mut other, [6]);
            assert_eq!(nexts(&mut family, 1), ["runner 6"]);
        }
    }
}

#[test]
fn who_finds_no_room_is_taken_when_somebody_goes() {
    let place = Place::new();
    let options = FamilyOptions::from(place.holding(4)).with_limit_members(1);
    let mut family = Family::open("run#?", options).expect("it opens");
    let one = waiting(&place, "run#1");
    assert_eq!(nexts(&mut family, 1), ["run#1 came"]);
    let mut two = waiting(&place, "run#2");
    assert_eq!(nexts(&mut family, 1), ["run#2 passed over"]);
    let closing = publish_all(one, 0..1);
    assert_eq!(nexts(&mut family, 3), ["run#1 0", "run#1 gone", "run#2 came"]);
    closing.join().expect("no panic");
    publish(&mut two, [3]);
    assert_eq!(nexts(&mut family, 1), ["run#2 3"]);
}

#[test]
fn options_of_one_publisher_are_refused() {
    let place = Place::new();
    let cohort = fp_core::Cohort::of(1, 4).expect("a rank of four");
    let of_cohort = Family::open("run", place.holding(4).with_cohort(cohort)).err().expect("refused");
    assert!(of_cohort.to_string().contains("this is rank 1 of 4"), "{of_cohort}");
    let none = FamilyOptions::from(place.holding(4)).with_limit_members(0);
    assert!(matches!(Family::open("run", none), Err(FamilyError::NoRoom)));
    let contact = "flexpath:1,process=0000000000000000000000000000000a,host=0000000000000000000000000000000b,pid=7,token=no,unix=a";
    let contact = contact.parse().expect("a contact");
    let of_one = Family::open("run", place.holding(4).with_publisher_contact(contact));
    assert!(matches!(of_one, Err(FamilyError::Contact)));
}
