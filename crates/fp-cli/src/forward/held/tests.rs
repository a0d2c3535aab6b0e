//! Steps that are held: what is sent, sent again, let go of and given up.

use super::*;

fn mark(epoch: u128, step: u64) -> Mark {
    Mark { epoch: Epoch(epoch), step: StepId(step) }
}

fn held(marks: &[Mark]) -> Held<()> {
    let held = Held::default();
    marks.iter().for_each(|mark| push(&held, *mark));
    held
}

/// Of the first attachment to each opening, whose numbers go on from none.
fn push(held: &Held<()>, mark: Mark) {
    held.push(mark, (), ((mark.epoch.0 as u32, 1), Run::Unknown));
}

/// Of an attachment to a publisher that goes on with the numbers.
fn push_on(held: &Held<()>, mark: Mark) {
    held.push(mark, (), ((mark.epoch.0 as u32, 1), Run::Same));
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn to_send(held: &Held<()>) -> Vec<Mark> {
    std::iter::from_fn(|| held.next_to_send().map(|(mark, _)| mark)).collect()
}

#[test]
fn each_is_sent_once_over_a_connection() {
    let held = held(&[mark(1, 0), mark(1, 1)]);
    held.connected(None, &[]);
    assert_eq!(to_send(&held), [mark(1, 0), mark(1, 1)]);
    assert_eq!(to_send(&held), []);
    held.connected(None, &[]);
    assert_eq!(to_send(&held), [mark(1, 0), mark(1, 1)], "another gate has nothing of it");
}

#[test]
fn what_the_gate_has_is_not_sent_again_and_released_once_it_is_taken() {
    let held = held(&[mark(1, 7), mark(2, 0), mark(2, 1), mark(2, 2)]);
    to_send(&held);
    // The word that 7 and 0 were taken was lost with the connection.
    held.connected(Some(mark(2, 1)), &[mark(2, 1)]);
    assert_eq!((held.count(), held.taken_steps()), (2, 2));
    assert_eq!(to_send(&held), [mark(2, 2)]);
    assert!(held.taken(mark(2, 1)) && held.taken(mark(2, 2)));
    assert_eq!((held.count(), held.taken_steps()), (0, 4));
}

#[test]
fn what_is_pending_of_an_earlier_opening_is_not_sent_again() {
    let held = held(&[mark(1, 7), mark(2, 8)]);
    to_send(&held);
    assert!(held.taken(mark(2, 8)));
    held.connected(Some(mark(2, 8)), &[mark(1, 7)]);
    assert_eq!((held.count(), to_send(&held)), (1, Vec::new()));
}

#[test]
fn a_forward_that_begins_holds_what_the_gate_would_lose() {
    let held = held(&[]);
    held.connected(Some(mark(1, 9)), &[mark(1, 6), mark(1, 8)]);
    assert_eq!(held.behind(), Some((Epoch(1), StepId(6))));
    (6..=10).for_each(|step| push_on(&held, mark(1, step)));
    assert_eq!((held.count(), to_send(&held)), (3, vec![mark(1, 10)]));
    // The gate was killed: the next one has nothing.
    held.connected(None, &[]);
    assert_eq!(to_send(&held), [mark(1, 6), mark(1, 8), mark(1, 10)]);
    let all_taken = self::held(&[]);
    all_taken.connected(Some(mark(1, 9)), &[]);
    assert_eq!(all_taken.behind(), Some((Epoch(1), StepId(10))));
    assert_eq!(self::held(&[]).behind(), None);
}

#[test]
fn what_comes_again_takes_the_place_of_what_was_held() {
    let held = held(&[mark(1, 4), mark(1, 5), mark(1, 6), mark(1, 7)]);
    held.connected(None, &[]);
    assert_eq!(
        [held.next_to_send(), held.next_to_send()].map(|next| next.unwrap().0),
        [mark(1, 4), mark(1, 5)]
    );
    assert!(held.taken(mark(1, 4)));
    held.lose(held.next_to_send().unwrap().0, later());
    assert_eq!((held.kept(), held.next_to_send()), (2, None), "it is awaited");
    // The gate has 5, of which it is not to get another one, but the new one is held until it is taken.
    push_on(&held, mark(2, 5));
    assert_eq!((held.kept(), held.next_to_send()), (1, None));
    push_on(&held, mark(2, 6));
    push_on(&held, mark(2, 7));
    push_on(&held, mark(2, 8));
    assert_eq!((held.kept(), held.count()), (4, 4));
    assert_eq!(to_send(&held), [mark(2, 6), mark(2, 7), mark(2, 8)]);
    assert!(!held.taken(mark(2, 5)) && held.taken(mark(1, 5)) && held.taken(mark(2, 6)));
    held.connected(None, &[]);
    assert_eq!((to_send(&held), held.given_up_steps()), (vec![mark(2, 7), mark(2, 8)], 0));
}

#[test]
fn what_does_not_come_again_is_given_up() {
    let lost = || {
        let held = held(&[mark(1, 5), mark(1, 6)]);
        held.connected(None, &[]);
        held.lose(held.next_to_send().unwrap().0, later());
        assert_eq!(to_send(&held), []);
        held
    };
    let passed_over = lost();
    push_on(&passed_over, mark(2, 6));
    assert_eq!((to_send(&passed_over), passed_over.given_up_steps()), (vec![mark(2, 6)], 1));
    let counts_anew = lost();
    push(&counts_anew, mark(2, 0));
    assert_eq!((to_send(&counts_anew), counts_anew.given_up_steps()), (vec![mark(1, 6), mark(2, 0)], 1));
    let at_the_end = lost();
    at_the_end.note_final(true);
    assert_eq!((to_send(&at_the_end), at_the_end.given_up_steps()), (vec![mark(1, 6)], 1));
    let too_late = lost();
    too_late.lose(mark(1, 5), Instant::now());
    assert_eq!((to_send(&too_late), too_late.given_up_steps()), (vec![mark(1, 6)], 1));
}

#[test]
fn what_is_held_of_another_subscription_comes_again_from_the_oldest_on_that_was_not_sent() {
    let held = held(&[mark(1, 4), mark(1, 5), mark(1, 6), mark(1, 7)]);
    held.connected(None, &[]);
    held.next_to_send();
    held.next_to_send();
    assert_eq!(held.lose_all(later()), Some(StepId(6)));
    assert_eq!((held.kept(), held.count(), to_send(&held)), (0, 4, Vec::new()), "none can be read");
    let again = |step| held.push(mark(1, step), (), ((1, 2), Run::Same));
    again(6);
    again(7);
    again(8);
    assert_eq!((held.kept(), to_send(&held)), (3, vec![mark(1, 6), mark(1, 7), mark(1, 8)]));
    // What was sent is had by the gate, and by no other one.
    assert!(held.taken(mark(1, 4)));
    held.connected(None, &[]);
    assert_eq!(to_send(&held), [mark(1, 6), mark(1, 7), mark(1, 8)]);
    assert_eq!((held.given_up_steps(), held.lose_all(later())), (1, None));
}

/// A gate that takes nothing, and a publisher that begins anew again and again.
#[test]
fn what_is_held_of_publishers_before_has_a_bound_too() {
    const WINDOW: usize = 3;
    let held = held(&[]);
    held.connected(None, &[]);
    for run in 1..=6 {
        for step in 0..2 {
            assert!(!held.is_full(WINDOW), "step {step} of run {run}");
            push(&held, mark(run, step));
        }
        to_send(&held);
        assert_eq!(held.kept(), 2, "the next publisher keeps none of these");
    }
    assert!(held.is_full(WINDOW), "{}", held.count());
    assert!(held.taken(mark(1, 1)) && !held.is_full(WINDOW), "the gate has taken one");
}

#[test]
fn a_forward_that_begins_behind_another_opening_holds_what_the_gate_has_of_the_one_before() {
    let held = held(&[]);
    held.connected(Some(mark(1, 9)), &[mark(1, 7), mark(1, 9)]);
    assert_eq!(held.behind(), Some((Epoch(1), StepId(7))));
    (7..=10).for_each(|step| push_on(&held, mark(2, step)));
    assert_eq!((held.count(), to_send(&held)), (3, vec![mark(2, 10)]));
    assert!(held.taken(mark(1, 7)) && held.taken(mark(1, 9)));
    assert_eq!(held.count(), 1);
    // Of two with one number it is the one of its own opening.
    let twice = self::held(&[]);
    twice.connected(Some(mark(2, 7)), &[mark(1, 7), mark(2, 7)]);
    push_on(&twice, mark(2, 7));
    assert!(twice.taken(mark(2, 7)));
    assert_eq!(twice.count(), 0);
    // Numbers that begin anew are other steps.
    let anew = self::held(&[]);
    anew.connected(Some(mark(1, 9)), &[mark(1, 9)]);
    push(&anew, mark(2, 0));
    push(&anew, mark(2, 1));
    assert_eq!(to_send(&anew), [mark(2, 0), mark(2, 1)]);
}

#[test]
fn a_gate_that_has_an_earlier_opening_gets_all() {
    let held = held(&[mark(2, 0), mark(2, 1)]);
    held.connected(Some(mark(1, 40)), &[]);
    assert_eq!(to_send(&held), [mark(2, 0), mark(2, 1)]);
}

#[test]
fn what_was_never_sent_cannot_be_taken() {
    let held = held(&[mark(1, 0)]);
    held.connected(None, &[]);
    assert!(!held.taken(mark(1, 0)) && !held.taken(mark(1, 5)));
    assert_eq!(held.count(), 1);
    to_send(&held);
    assert!(held.taken(mark(1, 0)) && !held.taken(mark(1, 0)));
}

#[test]
fn what_a_forward_before_sent_is_awaited_and_no_lie() {
    let held = held(&[]);
    held.connected(Some(mark(1, 6)), &[mark(1, 5), mark(1, 6)]);
    assert!(held.taken(mark(1, 6)) && held.taken(mark(1, 5)) && !held.taken(mark(1, 5)));
    assert_eq!((held.count(), held.taken_steps()), (0, 0));
}

#[test]
fn a_stream_that_has_ended_there_was_taken_as_far_as_it_was_sent() {
    let held = held(&[mark(1, 0), mark(1, 1)]);
    held.connected(None, &[]);
    held.next_to_send();
    held.await_end();
    assert!(!held.all_taken());
    held.next_to_send();
    held.connected(Some(mark(1, 1)), &[mark(1, 0), mark(1, 1)]);
    assert!(!held.all_taken(), "that was said of another connection");
    held.await_end();
    assert!(held.all_taken());
    assert_eq!((held.count(), held.taken_steps()), (0, 2));
}

#[test]
fn somebody_is_awaited_where_steps_are_given_again() {
    let held = held(&[]);
    assert_eq!(held.subscribers(), 0);
    push(&held, mark(1, 0));
    assert_eq!(held.subscribers(), 1);
    held.note_subscribers(3);
    assert_eq!(held.subscribers(), 3);
}

#[test]
fn of_a_run_that_begins_anew_nothing_is_sent_before_the_gate_is_ready() {
    let held = held(&[mark(1, 7)]);
    let another = |mark: Mark| held.push(mark, (), ((1, mark.epoch.0 as u32), Run::Another));
    let coming = mark(9, 9);
    held.connected(None, &[]);
    assert_eq!(held.next_or(coming), (mark(1, 7), false), "nothing is known to be before it");
    another(mark(2, 0));
    another(mark(2, 1));
    assert_eq!((to_send(&held), held.next_or(coming)), (vec![mark(1, 7)], (mark(2, 0), true)));
    held.note_opened(Epoch(2));
    assert_eq!((to_send(&held), held.awaits_run()), (Vec::new(), false), "nobody was told");
    held.open(Epoch(2), true);
    held.note_opened(Epoch(1));
    assert_eq!((to_send(&held), held.has_unsent()), (Vec::new(), true), "it is of another opening");
    assert!(held.awaits_run());
    // The gate was killed: the next one is told too.
    held.connected(None, &[mark(1, 7)]);
    assert!(!held.awaits_run());
    held.note_opened(Epoch(2));
    assert_eq!((to_send(&held), held.next_or(coming)), (vec![mark(1, 7)], (mark(2, 0), true)));
    held.open(Epoch(2), true);
    held.note_opened(Epoch(2));
    assert_eq!((to_send(&held), held.awaits_run()), (vec![mark(2, 0), mark(2, 1)], false));
    // Somebody may have some of it now.
    held.connected(None, &[]);
    assert_eq!(to_send(&held), [mark(1, 7), mark(2, 0), mark(2, 1)]);
    another(mark(3, 4));
    // It goes on with another publisher, before a gate was told.
    held.push(mark(4, 5), (), ((1, 4), Run::Same));
    held.open(Epoch(3), false);
    assert_eq!(to_send(&held), [mark(3, 4), mark(4, 5)], "who does not know of that gets it so");
    assert_eq!(held.next_or(coming), (coming, false));
}

/// Nobody had a step of the run before: who waits for that waits for this one.
#[test]
fn a_run_behind_one_without_steps_does_not_begin_anew() {
    let coming = mark(9, 9);
    let another = |held: &Held<()>, mark: Mark, of: Attachment| held.push(mark, (), (of, Run::Another));
    let held = held(&[]);
    held.connected(None, &[]);
    held.begin((1, 1), Run::Unknown);
    another(&held, mark(2, 0), (1, 2));
    assert_eq!((held.next_or(coming), to_send(&held)), ((mark(2, 0), false), vec![mark(2, 0)]));
    another(&held, mark(3, 0), (1, 3));
    assert_eq!(held.next_or(coming), (mark(3, 0), true), "that one had a step");

    // A forward before had brought steps of the run before.
    let behind = self::held(&[]);
    behind.connected(Some(mark(1, 9)), &[]);
    behind.begin((1, 1), Run::Another);
    assert_eq!(behind.next_or(coming), (coming, true));
    another(&behind, mark(3, 0), (1, 2));
    assert_eq!(behind.next_or(coming), (mark(3, 0), true), "no gate was ready for the one without steps");
}

#[test]
fn what_the_gate_has_of_the_run_before_is_not_taken_for_the_next_one_over_another_connection() {
    let held = held(&[]);
    held.connected(Some(mark(1, 9)), &[]);
    held.begin((1, 1), Run::Another);
    held.connected(Some(mark(1, 9)), &[]);
    held.push(mark(2, 0), (), ((1, 1), Run::Another));
    held.open(Epoch(2), false);
    assert_eq!(to_send(&held), [mark(2, 0)]);
}
