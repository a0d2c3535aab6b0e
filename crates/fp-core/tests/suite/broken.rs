//! Data links that break, or stand still, in the midst of what an owner sends. What is still missing is asked for again
//! over another link, and what is here is not. No late answer is taken for one to what is asked now.

use crate::support::bonds::{BondPair, Label, label, pairs};
use crate::support::way::{Accident, Way};
use crate::support::{PATIENCE, Place, STREAM, eventually, publish, take, values};
use fp_core::{
    Contact, Publisher, ReadError, Record as _, RecordBlock, Region, Selection, StepReader, Subscriber,
    SubscriberOptions, TransportKind, Variable,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Elements of the array, and of its first block: more than an announcement has.
const LEN: u64 = 1 << 18;
const FIRST_LEN: u64 = 1 << 13;
/// Bytes of the array, and a number of them that ends amid the second block, whatever stands before it.
const LEN_BYTES: u64 = 8 * LEN;
const AMID_SECOND: usize = LEN_BYTES as usize / 2;
/// Fewer bytes than any answer has.
const AMID_HEAD: usize = 5;
/// How long is waited for what does not come.
const SHORT: Duration = Duration::from_millis(200);

/// A publisher, and a subscriber whose data go by a way.
struct Apart {
    publisher: Publisher,
    subscriber: Subscriber,
    way: Arc<Way>,
    _place: Place,
}

impl Apart {
    fn new(options: impl FnOnce(SubscriberOptions) -> SubscriberOptions) -> Self {
        let place = Place::new();
        let publisher = place.publisher();
        let target = publisher.contact().tcp_addresses().next().expect("it listens for tcp");
        let (way, begin) = Way::to(target);
        // Over this one the subscriber is told where the other way begins, as if the publisher were there.
        let (_, control) = Way::to_renamed(target, begin);
        let over = place.over(TransportKind::Tcp).with_publisher_contact(Contact::from_address(control));
        let subscriber = Subscriber::open(STREAM, options(over)).expect("attached");
        Self { publisher, subscriber, way, _place: place }
    }

    /// The next step, in two blocks.
    fn step(&mut self) -> StepReader {
        let variable = Variable::global::<u64>("array", &[LEN]).expect("a shape");
        let mut writer = self.publisher.begin_step().expect("a step");
        let all = values(writer.step().0, LEN);
        let (first, second) = all.split_at(FIRST_LEN as usize);
        for (start, block) in [(0, first), (FIRST_LEN, second)] {
            let region = Region::new([start], [block.len() as u64]).expect("inside");
            writer.put(&variable, &region, block.to_vec()).expect("put");
        }
        writer.end().expect("ended");
        take(&mut self.subscriber)
    }

    /// A step that is read, so that there is a link and the owner knows what is wanted.
    fn warm(&mut self) {
        assert_whole(&self.step());
        assert_eq!(self.links(), 1);
    }

    /// How many data links there have been.
    fn links(&self) -> u64 {
        let dialled = self.subscriber.statistics().data_links;
        assert_eq!(dialled, self.way.opened() as u64, "each goes by the way");
        dialled
    }

    fn close(self) {
        assert_eq!(self.way.to_come(), 0, "all accidents have happened");
        self.subscriber.close().expect("left");
        self.publisher.close().expect("closed");
    }
}

fn assert_whole(reader: &StepReader) {
    let found = reader.get::<u64>("array", Selection::All).expect("got");
    assert!(found == values(reader.step().0, LEN), "other elements");
}

/// What a read ends with that has a moment only.
fn read_briefly(reader: &StepReader) -> ReadError {
    let mut elements = vec![0u64; LEN as usize];
    let fetch = reader.fetch().get("array", Selection::All, &mut elements[..]);
    fetch.wait(SHORT).expect_err("it comes no further")
}

#[test]
fn what_has_not_come_whole_is_asked_for_again_and_what_has_is_not() {
    let mut apart = Apart::new(|options| options);
    apart.warm();
    let before = apart.subscriber.statistics();
    apart.way.after(AMID_SECOND, Accident::Break);
    let reader = apart.step();
    assert_whole(&reader);
    assert_eq!(apart.links(), 2);
    let after = apart.subscriber.statistics();
    assert_eq!(after.requests - before.requests, 2);
    assert_eq!(after.payload_bytes - before.payload_bytes, LEN_BYTES, "each block came whole once");
    let sent = apart.publisher.statistics().sent_bytes;
    assert_eq!(sent, 3 * LEN_BYTES - 8 * FIRST_LEN, "the first block was sent once a step");
    assert_whole(&apart.step());
    assert_eq!(apart.links(), 2, "the new link is kept");
    drop(reader);
    apart.close();
}

#[test]
fn what_was_to_be_pushed_is_asked_for_when_the_link_breaks_amid_it() {
    let mut apart = Apart::new(|options| options.with_selection("array", Selection::All));
    apart.warm();
    let before = apart.subscriber.statistics().requests;
    assert_whole(&apart.step());
    assert_eq!(apart.subscriber.statistics().requests, before, "it comes unasked");
    apart.way.after(AMID_SECOND, Accident::Break);
    assert_whole(&apart.step());
    assert_eq!((apart.links(), apart.subscriber.statistics().requests), (2, before + 1));
    apart.close();
}

#[test]
fn a_link_that_breaks_again_fails_the_read_and_the_next_read_dials_anew() {
    let mut apart = Apart::new(|options| options);
    apart.warm();
    (0..2).for_each(|_| apart.way.after(AMID_SECOND, Accident::Break));
    let reader = apart.step();
    let error = reader.get::<u64>("array", Selection::All).expect_err("broken twice");
    assert!(matches!(&error, ReadError::Lost { rank, .. } if rank.0 == 0), "{error}");
    assert_eq!((apart.links(), apart.subscriber.transports().len()), (2, 0));
    // This one breaks as well, once: no read answers for what befell those before it.
    apart.way.after(AMID_SECOND, Accident::Break);
    assert_whole(&reader);
    assert_eq!(apart.links(), 4);
    drop(reader);
    apart.close();
}

#[test]
fn a_read_that_cannot_dial_again_says_that_the_owner_is_lost() {
    let mut apart = Apart::new(|options| options);
    apart.warm();
    let reader = apart.step();
    apart.way.cut();
    let started = Instant::now();
    let error = reader.get::<u64>("array", Selection::All).expect_err("cut off");
    assert!(matches!(&error, ReadError::Lost { rank, .. } if rank.0 == 0), "{error}");
    assert!(started.elapsed() < PATIENCE, "after {:?}", started.elapsed());
    apart.way.mend();
    assert_whole(&reader);
    drop(reader);
    apart.close();
}

/// A link on which an answer is still to come, or the rest of a body, is not used again. One is on which nothing was
/// asked, and nothing has begun to come.
#[test]
fn a_link_that_stood_still_when_a_read_ended_is_closed_unless_it_is_idle() {
    for (is_pushed, stands_still_after, links) in
        [(false, 0, 2), (false, AMID_SECOND, 2), (true, AMID_SECOND, 2), (true, 0, 1)]
    {
        let standing = |options: SubscriberOptions| options.with_selection("array", Selection::All);
        let mut apart = Apart::new(|options| if is_pushed { standing(options) } else { options });
        apart.warm();
        apart.way.after(stands_still_after, Accident::Hold);
        let reader = apart.step();
        let error = read_briefly(&reader);
        assert!(matches!(error, ReadError::TimedOut { .. }), "{error}");
        let kept = apart.subscriber.transports().len();
        assert_eq!(kept, if links == 1 { 1 } else { 0 }, "pushed: {is_pushed}, after {stands_still_after}");
        apart.way.let_go();
        assert_whole(&reader);
        assert_eq!(apart.links(), links);
        drop(reader);
        apart.close();
    }
}

/// The next step, with records of two types that the subscriber does not know.
fn step_of_records(apart: &mut Apart) -> StepReader {
    let region = Region::new([0], [4]).expect("inside");
    let pairs = pairs(0, 0..4);
    let labels: Vec<Label> = pairs.iter().map(|pair| label(pair).expect("a label")).collect();
    let mut writer = apart.publisher.begin_step().expect("a step");
    for (name, schema, block) in [
        ("pairs", BondPair::schema(), RecordBlock::plain(pairs).expect("plain")),
        ("labels", Label::schema(), RecordBlock::encode(&labels).expect("encoded")),
    ] {
        let variable = Variable::global_records(name, &schema.expect("a type"), &[4]);
        writer.put_records(&variable.expect("a shape"), &region, block).expect("put");
    }
    writer.end().expect("ended");
    take(&mut apart.subscriber)
}

#[test]
fn a_question_is_put_again_when_the_link_breaks_amid_its_answer() {
    let mut apart = Apart::new(|options| options);
    apart.warm();
    let reader = step_of_records(&mut apart);
    apart.way.after(AMID_HEAD, Accident::Break);
    let told = reader.record_schema("pairs").expect("told");
    assert_eq!(told, BondPair::schema().expect("a type"));
    assert_eq!(apart.links(), 2);
    drop(reader);
    apart.close();
}

#[test]
fn the_answer_to_a_question_that_timed_out_is_none_to_the_next() {
    let mut apart = Apart::new(|options| options.with_fetch_timeout(2 * SHORT));
    eventually("a warm link", || {
        publish(&mut apart.publisher, LEN);
        take(&mut apart.subscriber).get::<u64>("array", Selection::All).is_ok()
    });
    let reader = step_of_records(&mut apart);
    let links = apart.links();
    apart.way.after(0, Accident::Hold);
    let error = reader.record_schema("pairs").expect_err("nothing comes");
    assert!(matches!(error, ReadError::TimedOut { .. }), "{error}");
    apart.way.let_go();
    eventually("the other type is told", || match reader.record_schema("labels") {
        Ok(told) => told == Label::schema().expect("a type"),
        Err(error) => {
            assert!(matches!(error, ReadError::TimedOut { .. }), "{error}");
            false
        }
    });
    assert_eq!(apart.links(), links, "the late answer was passed over, and the link is as good as before");
    drop(reader);
    apart.close();
}
