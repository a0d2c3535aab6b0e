//! A rank leaves while it still looks at a step: its views stay as they are, and the others of its cohort read on. What
//! is told as a stream ends.

use crate::support::{PATIENCE, Place, STREAM, ending, publish, take, values};
use fp_core::{Cohort, Publisher, QueuePolicy, Selection, Subscriber, TransportKind, View};
use std::thread;

/// Elements of a step: more than fits into an announcement.
const LEN: u64 = 2000;
/// Steps that are published after one rank has left: more than any queue holds.
const LATER: u64 = 20;

fn view(subscriber: &mut Subscriber) -> View<u64> {
    take(subscriber).view("array", Selection::All).expect("a view")
}

/// One rank leaves with a view, the other takes all there is; gives what the first rank then sees of step 0.
fn leave_with_a_view(place: &Place, kind: TransportKind, leaver: u32) {
    let mut publisher = place.publisher();
    let ranks = [0, 1].map(|rank| {
        let options = place.over(kind).with_cohort(Cohort::of(rank, 2).expect("a cohort")).with_name("pair");
        thread::spawn(move || Subscriber::open(STREAM, options).expect("attached"))
    });
    let mut ranks = ranks.map(|rank| rank.join().expect("no panic"));
    publish(&mut publisher, LEN);
    let kept = view(&mut ranks[leaver as usize]);
    let [lead, child] = ranks;
    let (leaves, mut stays) = if leaver == 0 { (lead, child) } else { (child, lead) };
    thread::scope(|scope| {
        // It returns when all ranks have closed.
        let closing = scope.spawn(|| leaves.close());
        let published = scope.spawn(|| {
            (0..LATER).for_each(|_| _ = publish(&mut publisher, LEN));
            publisher.close()
        });
        for step in 0..=LATER {
            let reader = take(&mut stays);
            assert_eq!(reader.step().0, step);
            assert_eq!(reader.get::<u64>("array", Selection::All).expect("read"), values(step, LEN));
        }
        stays.close().expect("left");
        closing.join().expect("no panic").expect("left");
        published.join().expect("no panic").expect("all is released");
    });
    assert_eq!(&*kept, values(0, LEN), "nothing is written where somebody looks");
}

#[test]
fn a_rank_that_leaves_with_a_view_takes_nothing_from_its_cohort() {
    for kind in [TransportKind::Shm, TransportKind::Tcp, TransportKind::Inproc] {
        for leaver in [0, 1] {
            leave_with_a_view(&Place::new(), kind, leaver);
        }
    }
}

#[test]
fn a_view_outlives_its_subscriber_and_holds_up_nobody() {
    let place = Place::new();
    let mut publisher: Publisher = place.publisher();
    let mut subscriber = place.subscriber_over(TransportKind::Shm);
    publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    let kept: View<u64> = reader.view("array", Selection::All).expect("a view");
    subscriber.close().expect("left");
    let late = reader.get::<u64>("array", Selection::All).expect_err("the subscriber is closed");
    assert_eq!(
        late.to_string(),
        "stream \"stream\": the subscriber is closed: take what you need of a step before you close it"
    );
    publisher.sync(PATIENCE).expect("nothing is held");
    (0..LATER).for_each(|_| _ = publish(&mut publisher, LEN));
    publisher.close().expect("closed");
    assert_eq!(&*kept, values(0, LEN), "nothing is written where somebody looks");
}

/// With the end of a stream comes how many steps were missed after the last.
#[test]
fn what_is_missed_after_the_last_step_is_told_with_the_end() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_policy(QueuePolicy::DropNewest);
    let options = options.with_limit_steps(2).with_credit_steps(1);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    for _ in 0..7 {
        publish(&mut publisher, LEN);
    }
    let closing = thread::spawn(move || publisher.close());
    assert_eq!([0, 1].map(|_| take(&mut subscriber).step().0), [0, 1]);
    let ending = ending(&mut subscriber);
    assert_eq!((ending.last.map(|last| last.0), ending.skipped), (Some(1), 5), "{ending}");
    assert_eq!(subscriber.statistics().skipped_steps, 5);
    subscriber.close().expect("left");
    closing.join().expect("it ends").expect("closed");
}
