//! A rank whose blocks make no sense to the lead. It would not send them if it checked them: its code is another, or
//! worse. No step is whole until it reports others.

use crate::machines::{Publishers, START, TREE, contribution, effects, events};
use fp_proto::event::{Event, StepRejection};
use fp_proto::message::{Message, ReadyReport};
use fp_types::{Contribution, PutChanges, Rank, Shape, StepId};

/// The step is ended by both ranks, of which rank 1 reports these changes; why the lead rejects it, if it does.
fn rejected(publishers: &mut Publishers, step: u64, changed: PutChanges) -> Option<String> {
    let lead = &mut publishers.lead;
    lead.begin_step(START).expect("it may begin");
    lead.end_step(START, StepId(step), Contribution::default(), Vec::new(), 0).expect("ended");
    let report = ReadyReport { changed, ..ReadyReport::default() };
    lead.handle_message(
        START,
        TREE,
        Message::Ready { step: StepId(step), again: None, report: report.into() },
    );
    let why = |event: Event| {
        let Event::StepRejected { reason: StepRejection::Disagreement { what }, .. } = event else {
            return None;
        };
        Some(what)
    };
    events(&effects(|| lead.poll())).into_iter().find_map(why)
}

#[test]
fn who_was_refused_and_reports_nothing_new_is_refused_again_until_it_reports_better() {
    let mut publishers = Publishers::open(1 << 20);
    let sensible = PutChanges::of(Rank(1), &contribution(2)).expect("they make sense");
    let mut senseless = sensible.clone();
    senseless.columns[0].shape = Shape::new([4]).ok();
    let unchanged = PutChanges::default;

    assert_eq!(rejected(&mut publishers, 0, sensible.clone()), None);
    let why = rejected(&mut publishers, 1, senseless.clone()).expect("a shape of another rank");
    assert!(why.contains("rank 1") && why.contains("\"T\""), "{why}");
    assert_eq!(rejected(&mut publishers, 2, unchanged()), Some(why.clone()), "it stands by it");
    assert_eq!(rejected(&mut publishers, 3, sensible), None);
    assert_eq!(rejected(&mut publishers, 4, unchanged()), None);
    assert_eq!(rejected(&mut publishers, 5, senseless), Some(why));
}
