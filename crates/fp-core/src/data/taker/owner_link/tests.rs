//! What a link to an owner makes of answers that come late, are of no question, or end too soon.

use super::*;
use crate::data::taker::owner_directory::OwnerDirectory;
use fp_proto::data::{Place, PlacedBlock, PlacedBlocks};
use fp_transport::{DialOptions, ListenOptions, Listener, dial, inproc};
use fp_types::{Part, Rank, Region, StridedRegion};
use std::time::Duration;

const EPOCH: u128 = 77;
const STEP: StepId = StepId(3);
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer than a connection takes without being read.
const LONG_BYTES: usize = 16 << 20;
/// How long such a body is tried.
const MOMENT: Duration = Duration::from_millis(50);

/// A data link to an owner in this process, and the owner's end, which must stay open.
fn peer() -> (OwnerLink, Link) {
    let mut listener = Listener::bind(ListenOptions::new(EPOCH)).expect("a listener");
    let (contact, deadline) = (listener.contact().clone(), Instant::now() + PATIENCE);
    let options = DialOptions::new(deadline).with_epoch(Some(EPOCH));
    let dialling = std::thread::spawn(move || dial(&contact, &options));
    let accepted = loop {
        if let Some(accepted) = listener.accept(Instant::now()).expect("the listener is sound") {
            break accepted;
        }
        assert!(Instant::now() < deadline, "nobody dials");
        std::thread::yield_now();
    };
    (OwnerLink::new(dialling.join().expect("no panic").expect("dialled")), accepted.link)
}

/// A block under a key that was withdrawn, as its step was released.
fn withdrawn() -> PlacedBlocks {
    let key = inproc::export(Payload::from_owner(vec![1u8; 8]));
    inproc::withdraw(key);
    [PlacedBlock { variable: "x".into(), block: 0, place: Place::Inproc { key: key.0 } }].into()
}

/// Keeps the bytes of pieces that have this length each.
struct Taken {
    len: usize,
    bytes: Vec<Vec<u8>>,
}

impl Sink for Taken {
    fn requested(&mut self, link: &mut Link, _: usize, patience: &Patience<'_>) -> Result<(), LinkError> {
        let mut bytes = vec![0; self.len];
        patience.receive(link, &mut [IoSliceMut::new(&mut bytes)])?;
        self.bytes.push(bytes);
        Ok(())
    }

    fn pushed(&mut self, _: &mut Link, _: &BlockPart, _: &Patience<'_>) -> Result<bool, LinkError> {
        Ok(false)
    }
}

/// The rank that takes, of one owner.
struct Taker {
    peer: OwnerLink,
    owner: Link,
    owners: OwnerDirectory,
    taken: Taken,
}

impl Taker {
    fn new() -> Self {
        let ((peer, owner), owners) = (peer(), OwnerDirectory::default());
        owners.took(STEP);
        Self { peer, owner, owners, taken: Taken { len: 0, bytes: Vec::new() } }
    }

    /// Asks for so many pieces of that length; the question itself is of no matter here.
    fn ask(&mut self, pieces: usize, len: usize) -> u64 {
        self.taken.len = len;
        let question = |request| DataMessage::AskOffers { request };
        self.peer.ask(pieces, question, Instant::now() + PATIENCE).expect("asked")
    }

    /// The step was read: the question of now has been settled otherwise.
    fn settle(&mut self) {
        self.peer.forget(|_| false);
    }

    fn tell(&mut self, message: DataMessage, body: Vec<u8>) {
        let frame = OutFrame::new(message.encode()).with_body(vec![Payload::from_owner(body)]);
        self.owner.send_all(frame, Instant::now() + PATIENCE).expect("sent");
    }

    fn hear(&mut self) -> Result<Heard, OwnerError> {
        let limit = (Instant::now() + PATIENCE).into();
        let patience = Patience { owners: &self.owners, rank: Rank(0), epoch: None, limit, interrupt: None };
        loop {
            let heard = self.peer.hear(&mut self.taken, STEP, &patience, &Counters::default())?;
            match heard {
                Some(heard) => return Ok(heard),
                None => patience.await_bytes(&mut self.peer.link, Instant::now() + PATIENCE)?,
            }
        }
    }

    /// Why what comes is a breach of the protocol.
    fn breach(&mut self) -> String {
        let Err(OwnerError::Misbehaved(what)) = self.hear() else { panic!("it was believed") };
        what
    }
}

fn pieces(request: u64) -> DataMessage {
    DataMessage::Pieces { request, step: STEP }
}

fn gone(request: u64) -> DataMessage {
    DataMessage::Gone { request, step: STEP, reason: GoneReason::Step }
}

#[test]
fn a_late_answer_about_a_released_step_is_no_misbehaviour() {
    let (mut peer, _owner) = peer();
    assert!(matches!(
        peer.place((StepId(0), Some(7)), withdrawn().iter().map(PlacedRef::from), None),
        Ok(Heard::Placed)
    ));
    assert!(matches!(
        peer.place((StepId(0), None), withdrawn().iter().map(PlacedRef::from), None),
        Ok(Heard::Placed)
    ));
    assert!(peer.placed(StepId(0), "x", 0).is_none());
}

#[test]
fn an_awaited_answer_without_its_block_says_that_the_step_is_gone() {
    let (mut peer, _owner) = peer();
    peer.requested = Some((7, 1));
    let gone = peer.place((StepId(0), Some(7)), withdrawn().iter().map(PlacedRef::from), None);
    assert!(matches!(gone, Err(OwnerError::Gone(GoneReason::Step))));
}

#[test]
fn a_late_body_is_passed_over_and_the_next_answer_is_taken() {
    let mut taker = Taker::new();
    let late = taker.ask(1, 8);
    taker.settle();
    let open = taker.ask(2, 3);
    taker.tell(pieces(late), vec![1; 200_000]);
    taker.tell(pieces(open), b"onetwo".to_vec());
    assert!(matches!(taker.hear(), Ok(Heard::News)));
    assert!(matches!(taker.hear(), Ok(Heard::Answered(request)) if request == open));
    assert_eq!(taker.taken.bytes, [b"one", b"two"]);
}

/// Whatever kind of answer comes late, it comes once.
#[test]
fn a_question_has_one_late_answer() {
    let placed =
        |request| DataMessage::Placed { step: STEP, request: Some(request), blocks: PlacedBlocks::new() };
    let described = |request| DataMessage::Described { request, schema: None };
    let first: [&dyn Fn(u64) -> DataMessage; 4] = [&pieces, &gone, &placed, &described];
    for answer in first {
        let mut taker = Taker::new();
        let late = taker.ask(1, 8);
        taker.settle();
        taker.tell(answer(late), Vec::new());
        taker.tell(pieces(late), Vec::new());
        assert!(matches!(taker.hear(), Ok(Heard::News | Heard::Placed)), "{:?}", answer(late));
        assert_eq!(taker.breach(), "an answer to request 0, which is not open", "{:?}", answer(late));
    }
}

#[test]
fn what_is_gone_is_so_for_the_question_that_is_open() {
    let mut taker = Taker::new();
    let late = taker.ask(1, 8);
    taker.settle();
    let open = taker.ask(1, 8);
    taker.tell(gone(late), Vec::new());
    taker.tell(gone(open), Vec::new());
    assert!(matches!(taker.hear(), Ok(Heard::News)));
    assert!(matches!(taker.hear(), Err(OwnerError::Gone(GoneReason::Step))));
    taker.tell(gone(open), Vec::new());
    assert!(matches!(taker.hear(), Ok(Heard::News)), "it is open no more");
}

#[test]
fn where_blocks_lie_answers_the_question_that_is_open() {
    let mut taker = Taker::new();
    let late = taker.ask(1, 8);
    taker.settle();
    let open = taker.ask(1, 8);
    let placed =
        |request| DataMessage::Placed { step: STEP, request: Some(request), blocks: PlacedBlocks::new() };
    taker.tell(placed(late), Vec::new());
    taker.tell(placed(open), Vec::new());
    assert!(matches!(taker.hear(), Ok(Heard::Placed)), "the other answer is still to come");
    assert!(matches!(taker.hear(), Ok(Heard::Answered(request)) if request == open));
}

#[test]
fn bodies_of_other_lengths_than_their_pieces_are_breaches() {
    let mut taker = Taker::new();
    let request = taker.ask(1, 8);
    taker.tell(pieces(request), vec![1; 9]);
    assert_eq!(taker.breach(), "a body that is longer than its pieces");

    let mut taker = Taker::new();
    let request = taker.ask(2, 8);
    taker.tell(pieces(request), vec![1; 15]);
    let Err(OwnerError::Link(LinkError::Malformed { what, .. })) = taker.hear() else { panic!("believed") };
    assert_eq!(what, "body shorter than its pieces");

    let mut taker = Taker::new();
    taker.peer.sizes.push(8);
    taker.peer.wants.push(WantedVariable { name: "x".to_owned(), push: Some(Selection::All) });
    taker.tell(DataMessage::Pushed { step: STEP, pieces: vec![part("x")] }, vec![1; 31]);
    assert_eq!(taker.breach(), "a body that is shorter than its pieces");

    let mut taker = Taker::new();
    taker.tell(DataMessage::Pushed { step: STEP, pieces: vec![part("y")] }, vec![1; 32]);
    assert_eq!(taker.breach(), "a pushed piece of unknown size");
}

/// Four elements of a block.
fn part(variable: &str) -> BlockPart {
    let region = Region::new([0], [4]).expect("a region");
    let part = Part::Strided(StridedRegion::from(region));
    BlockPart { variable: variable.to_owned(), block: 0, part }
}

/// A body that the owner leaves off in its midst: that of an answer, and one that is passed over.
#[test]
fn an_owner_that_goes_amid_a_body_is_lost() {
    for is_late in [false, true] {
        let mut taker = Taker::new();
        let request = taker.ask(1, LONG_BYTES);
        if is_late {
            taker.settle();
        }
        let body = vec![Payload::from_owner(vec![1; LONG_BYTES])];
        let frame = OutFrame::new(pieces(request).encode()).with_body(body);
        let sent = taker.owner.send_all(frame, Instant::now() + MOMENT);
        assert!(matches!(sent, Err(LinkError::Deadline { .. })), "half of it waits: {sent:?}");
        let other = Taker::new();
        drop(std::mem::replace(&mut taker.owner, other.owner));
        let heard = taker.hear().map(|_| ());
        let Err(OwnerError::Link(error)) = heard else { panic!("{heard:?}") };
        assert!(!matches!(error, LinkError::Deadline { .. }), "{error}");
        assert!(taker.peer.link.body_remaining() > 0, "it is not as if it had come");
        assert_eq!(taker.taken.bytes, Vec::<Vec<u8>>::new());
    }
}

/// Bytes that do not come are waited for until somebody knows that they never will.
#[test]
fn nobody_waits_for_an_owner_that_is_lost_or_for_bytes_that_nobody_wants() {
    let (mut peer, _owner) = peer();
    let (owners, given_up) = (OwnerDirectory::default(), std::sync::atomic::AtomicBool::new(true));
    let deadline = Instant::now() + PATIENCE;
    let patience = |limit| Patience { owners: &owners, rank: Rank(0), epoch: None, limit, interrupt: None };
    let mut receive = |limit| {
        let mut byte = [0];
        patience(limit)
            .await_bytes(&mut peer.link, deadline)
            .and_then(|()| patience(limit).receive(&mut peer.link, &mut [IoSliceMut::new(&mut byte)]))
    };
    let limit = crate::value::limit::Limit { deadline, given_up: Some(&given_up) };
    assert!(matches!(receive(limit), Err(LinkError::Deadline { .. })));
    owners.lost(Rank(0));
    assert!(matches!(receive(deadline.into()), Err(LinkError::Lost(_))));
    assert!(Instant::now() < deadline, "long before the deadline");
}
