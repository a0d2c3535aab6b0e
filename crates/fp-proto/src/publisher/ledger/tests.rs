//! What the books of a rank say.

use super::*;
use crate::config::{QueuePolicy, VariableSet};

fn request(derivation: &[u8]) -> Request {
    Request::Derivation { derivation: derivation.to_vec(), may_be_left: false }
}

fn spec(variable: &str, derivation: &[u8]) -> SubscriptionSpec {
    let requests = vec![request(derivation)];
    SubscriptionSpec { variables: VariableSet::named([variable]), requests, ..Default::default() }
}

#[test]
fn what_has_ended_is_forgotten_once_its_last_step_is_decided() {
    let (id, mut ledger) = (SubscriptionId(2), Ledger::default());
    let mut known = Subscription::new(spec("a", b"old"), Some(StepId(0)));
    known.ended = Some(StepId(1));
    ledger.add(id, known);
    let step = ledger.begin(Moment::ZERO, (Few::from_slice(&[id]), None), Vec::new(), Vec::new());
    ledger.forget_ended();
    assert!(ledger.subscriptions.contains_key(&id), "step 0 is still to be reported for it");
    ledger.settle(step);
    ledger.forget_ended();
    assert!(ledger.subscriptions.is_empty());
}

#[test]
fn what_is_asked_for_is_what_every_reader_asks_for() {
    let mut ledger = Ledger::default();
    let known = |spec: SubscriptionSpec| Subscription::new(spec, Some(StepId(0)));
    ledger.add(RESERVE, known(SubscriptionSpec::default()));
    assert_eq!(ledger.asked(), [], "nobody reads what the reserve keeps");
    ledger.add(SubscriptionId(2), known(spec("a", b"one")));
    ledger.add(SubscriptionId(3), known(spec("b", b"two")));
    assert_eq!(ledger.asked(), [spec("a", b"one"), spec("b", b"two")]);
    ledger.reselect(SubscriptionId(2), spec("c", b"three"));
    let both = SubscriptionSpec {
        variables: VariableSet::named(["a", "c"]),
        requests: vec![request(b"one"), request(b"three")],
        ..Default::default()
    };
    assert_eq!(ledger.asked(), [both, spec("b", b"two")], "until that is agreed");
    ledger.selection_agreed(SubscriptionId(2), StepId(0));
    ledger.remove(SubscriptionId(3));
    assert_eq!(ledger.asked(), [spec("c", b"three")]);
}

#[test]
fn what_is_asked_for_is_told_once_with_how_many_ask() {
    let mut ledger = Ledger::default();
    let ids = [2, 3, 4].map(SubscriptionId);
    let specs = [spec("a", b"one"), spec("b", b"one"), SubscriptionSpec::default()];
    for (id, spec) in ids.into_iter().zip(specs) {
        ledger.add(id, Subscription::new(spec, Some(StepId(0))));
    }
    assert_eq!(ledger.requests(&ids, None), [(Arc::new(request(b"one")), 2)]);
    assert_eq!(ledger.requests(&[ids[2]], None), []);
    // What it asks for no more it asks for until that is agreed.
    ledger.reselect(ids[0], SubscriptionSpec::default());
    assert_eq!(ledger.requests(&[ids[0]], None), [(Arc::new(request(b"one")), 1)]);
}

/// A reserve, a lossless subscription and a lossy one, and three steps that begin one after the other: for all, for
/// nobody but the reserve, and one for the two that is open.
fn filled() -> (Ledger, [SubscriptionId; 3], [StepId; 3]) {
    let [every, lossy] = [SubscriptionId(2), SubscriptionId(3)];
    let mut ledger = Ledger::starting_at(StepId(5));
    for (id, policy) in [
        (RESERVE, QueuePolicy::DropOldest),
        (every, QueuePolicy::EveryStep { max_wait: Duration::ZERO }),
        (lossy, QueuePolicy::LatestOnly),
    ] {
        let spec = SubscriptionSpec { policy, ..Default::default() };
        ledger.add(id, Subscription::new(spec, Some(StepId(0))));
    }
    let mut begin = |kept: &[SubscriptionId], not_kept: &[SubscriptionId]| {
        let kept = kept.iter().copied().collect();
        ledger.begin(Moment::ZERO, (kept, None), not_kept.to_vec(), Vec::new())
    };
    let steps =
        [begin(&[RESERVE, every, lossy], &[]), begin(&[RESERVE], &[every]), begin(&[every, lossy], &[])];
    for step in &steps[..2] {
        ledger.steps.get_mut(step).expect("begun").stage = Stage::Ended;
    }
    (ledger, [RESERVE, every, lossy], steps)
}

#[test]
fn who_needs_which_steps_is_known() {
    let (mut ledger, [reserve, every, lossy], [all, none, open]) = filled();
    assert_eq!([all, none, open], [5, 6, 7].map(StepId));
    assert_eq!(ledger.keepers(all), [reserve, every, lossy]);
    assert_eq!(ledger.keepers(none), [reserve]);
    assert_eq!(ledger.keepers(StepId(8)), []);
    assert_eq!(
        ledger.holders(),
        [(every, vec![all, open]), (lossy, vec![all, open])],
        "nobody reads a reserve"
    );
    assert_eq!(ledger.unreleased(), [(every, vec![all])], "neither what may be dropped nor what is open");
    assert_eq!(ledger.steps.get(&none).expect("it is there").report.not_kept, [every], "that is reported");
    assert!(ledger.let_go(every, all, false).is_none(), "others need it");
    assert_eq!((ledger.unreleased(), ledger.holders().len()), (vec![], 2));
    assert_eq!(ledger.holders()[0], (every, vec![open]));
    ledger.hold(every, all);
    assert_eq!(ledger.unreleased(), [(every, vec![all])], "it has it again");
}

#[test]
fn a_step_is_freed_once_when_nobody_needs_it_and_is_retired_if_one_was_cut_off() {
    let (mut ledger, [reserve, every, lossy], [all, none, open]) = filled();
    assert!(ledger.let_go(reserve, all, false).is_none() && ledger.let_go(every, all, true).is_none());
    let freed = ledger.let_go(lossy, all, false).expect("nobody needs it");
    assert!(freed.step == all && freed.retire, "what one cut off may still look at is not lent again");
    ledger.hold(every, all);
    assert_eq!(ledger.keepers(all), [], "what is freed is nobody's any more");
    assert!(ledger.review(all).is_none(), "and not freed twice");
    let freed = ledger.let_go(reserve, none, false).expect("nobody needs it");
    assert!(freed.step == none && !freed.retire);
    assert!(ledger.let_go(every, open, false).is_none() && ledger.let_go(lossy, open, false).is_none());
    assert!(ledger.review(open).is_none(), "a step that is open is not freed");
    let unstored = ledger.begin(Moment::ZERO, (Few::new(), None), vec![every], Vec::new());
    ledger.steps.get_mut(&unstored).expect("begun").stage = Stage::Ended;
    assert!(ledger.review(unstored).is_none(), "nothing is stored of it");
}

#[test]
fn a_step_is_remembered_until_nothing_is_left_to_say_of_it() {
    let (mut ledger, ids, [all, none, open]) = filled();
    assert_eq!(ledger.undecided_steps(Some(open)), [all, none, open]);
    assert_eq!(ledger.undecided_steps(Some(StepId(9))), [all, none, open, StepId(9)]);
    let release = |ledger: &mut Ledger, step| ids.iter().for_each(|id| _ = ledger.let_go(*id, step, false));
    release(&mut ledger, all);
    assert!(ledger.steps.contains_key(&all), "it flows, and is not decided");
    ledger.steps.get_mut(&all).expect("it is there").stage = Stage::Reported;
    assert!(ledger.is_reported(all) && !ledger.is_reported(none) && !ledger.is_reported(StepId(8)));
    let table = TableId([7; 16]);
    assert!(!ledger.has_table(table));
    ledger.steps.get_mut(&none).expect("it is there").table = Some(table);
    assert!(ledger.has_table(table) && !ledger.has_table(TableId([8; 16])));
    ledger.settle(all);
    assert!(
        ledger.review(all).is_none() && !ledger.steps.contains_key(&all),
        "decided, and needed by nobody"
    );
    ledger.settle(none);
    assert_eq!(ledger.undecided_steps(None), [open]);
    assert!(ledger.review(none).is_none() && ledger.steps.contains_key(&none), "the reserve needs it");
    // Of what nobody asks for nothing has to be decided, unless a change under way may make somebody ask.
    ledger.subscriptions = Default::default();
    for (change, is_left) in [(None, false), (Some(ChangeId(3)), true)] {
        let step = ledger.begin(Moment::ZERO, (Few::new(), None), Vec::new(), change.into_iter().collect());
        ledger.steps.get_mut(&step).expect("begun").stage = Stage::Ended;
        assert!(ledger.review(step).is_none());
        assert_eq!(ledger.steps.contains_key(&step), is_left, "{change:?}");
    }
}

#[test]
fn until_a_change_is_agreed_both_are_wanted() {
    let (id, mut ledger) = (SubscriptionId(2), Ledger::default());
    ledger.add(id, Subscription::new(spec("a", b"old"), Some(StepId(0))));
    let kept = Few::from_slice(&[id]);
    let derived = |ledger: &Ledger| {
        let all = ledger.requests(&[id], None);
        all.iter().map(|(request, count)| (Request::clone(request), *count)).collect::<Vec<_>>()
    };
    let (old, new) = ((request(b"old"), 1), (request(b"new"), 1));
    assert_eq!(derived(&ledger), std::slice::from_ref(&old));
    ledger.reselect(id, spec("b", b"new"));
    assert_eq!(derived(&ledger), [new.clone(), old.clone()]);
    let step = ledger.begin(Moment::ZERO, (kept.clone(), None), Vec::new(), Vec::new());
    assert!(ledger.keeps(step, "a") && ledger.keeps(step, "b"));
    ledger.selection_agreed(id, StepId(2));
    assert_eq!(derived(&ledger), [new.clone(), old], "step 1 is before that");
    ledger.begin(Moment::ZERO, (kept.clone(), None), Vec::new(), Vec::new());
    assert_eq!(derived(&ledger), [new]);
    let step = ledger.begin(Moment::ZERO, (kept, None), Vec::new(), Vec::new());
    assert!(!ledger.keeps(step, "a") && ledger.keeps(step, "b"));
}

/// Three watches of which each has had its first step, which is over; none has anything.
fn watching() -> (Ledger, [SubscriptionId; 3]) {
    let (mut ledger, ids) = (Ledger::default(), [2, 3, 4].map(SubscriptionId));
    for (id, variable) in ids.into_iter().zip(["a", "b", "b"]) {
        let spec = SubscriptionSpec { when: Some(Vec::new()), limit_steps: 2, ..spec(variable, b"one") };
        ledger.add(id, Subscription::new(spec, Some(StepId(0))));
    }
    assert!(ledger.looked_at() == ids && ledger.watched().is_none(), "none has begun");
    let first = ledger.begin(Moment::ZERO, (ids.into_iter().collect(), None), Vec::new(), Vec::new());
    decide(&mut ledger, first, &ids);
    (ledger, ids)
}

/// Begins a step for the watches.
fn watch(ledger: &mut Ledger) -> StepId {
    let watched = ledger.watched();
    ledger.begin(Moment::ZERO, (Few::new(), watched), Vec::new(), Vec::new())
}

/// A step is decided, and is for nobody.
fn decide(ledger: &mut Ledger, step: StepId, kept: &[SubscriptionId]) {
    ledger.settle(step);
    kept.iter().for_each(|id| _ = ledger.let_go(*id, step, false));
    _ = ledger.let_go_watched(step, false, true);
}

#[test]
fn a_watch_is_looked_at_while_it_has_something() {
    let (mut ledger, [one, other, third]) = watching();
    assert_eq!(ledger.looked_at(), []);
    let step = watch(&mut ledger);
    assert_eq!((ledger.looked_at(), ledger.keepers(step).len()), (&[][..], 0));
    let held = |ids: &[SubscriptionId]| ids.iter().map(|id| (*id, vec![step])).collect::<Vec<_>>();
    assert_eq!(ledger.holders(), held(&[one, other, third]), "nobody knows for whom it is");
    ledger.hold(other, step);
    ledger.settle(step);
    assert!(ledger.let_go_watched(step, false, true).is_none(), "one has it");
    assert_eq!((ledger.looked_at(), ledger.holders()), (&[other][..], held(&[other])));
    assert_eq!(ledger.let_go(other, step, false).map(|freed| freed.step), Some(step));
    assert_eq!((ledger.looked_at(), ledger.holders()), (&[][..], Vec::new()));
}

#[test]
fn a_watch_awaits_the_oldest_step_when_it_has_as_many_as_it_may() {
    let (mut ledger, [one, other, _]) = watching();
    let awaited = |ledger: &Ledger| [false, true].map(|full| ledger.awaited_by_watches(full));
    assert_eq!(awaited(&ledger), [None, None]);
    let step = watch(&mut ledger);
    assert_eq!(awaited(&ledger), [None, Some(step)]);
    watch(&mut ledger);
    assert_eq!(awaited(&ledger), [Some(step), Some(step)]);
    // What one has counts too, and its patience is renewed by what it lets go of.
    ledger.hold(one, step);
    decide(&mut ledger, step, &[]);
    ledger.waited_for(one).expect("known").waited = Duration::from_secs(1);
    let known = ledger.get(one).expect("known");
    assert_eq!((ledger.live_len(known), ledger.oldest_unjudged(known)), (2, Some(StepId(step.0 + 1))));
    assert_eq!(ledger.live_len(ledger.get(other).expect("known")), 1);
    assert_eq!(awaited(&ledger)[0], None);
    decide(&mut ledger, StepId(step.0 + 1), &[]);
    assert_eq!(ledger.get(one).expect("known").waited, Duration::ZERO);
}

#[test]
fn what_watches_want_is_found_out_when_they_change() {
    let (mut ledger, [one, other, third]) = watching();
    let step = watch(&mut ledger);
    let wants = |ledger: &Ledger, step| ["a", "b", "c"].map(|variable| ledger.keeps(step, variable));
    assert_eq!(wants(&ledger, step), [true, true, false]);
    let watched = ledger.watched();
    assert_eq!(ledger.requests(&[], watched.as_deref()), [(Arc::new(request(b"one")), 3)]);
    ledger.reselect(one, spec("c", b"two"));
    let step = watch(&mut ledger);
    assert_eq!((wants(&ledger, step), ledger.looked_at()), ([true; 3], &[one][..]), "until that is agreed");
    ledger.selection_agreed(one, StepId(step.0 + 1));
    // A step of which the old selection is known to be none forgets it.
    watch(&mut ledger);
    let step = watch(&mut ledger);
    assert_eq!((wants(&ledger, step), ledger.looked_at()), ([false, true, true], &[][..]));
    for (id, unwatched) in [(third, 0), (one, 0), (other, 4)] {
        assert_eq!(ledger.remove(id).1.len(), unwatched);
    }
    assert!(ledger.watched().is_none());
}
