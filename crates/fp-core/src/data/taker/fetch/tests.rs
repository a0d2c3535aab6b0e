//! What a fetch from many owners asks, and when: of owners that answer only when they have seen enough.

use super::asking::{LIMIT_OPEN_BYTES, LIMIT_OPEN_REQUESTS};
use super::*;
use crate::coordinator::dial::Dial;
use crate::data::taker::context::Subscription;
use crate::data::taker::fetch_plan::PlanKey;
use crate::data::taker::owner_directory::OwnerDirectory;
use fp_proto::config::ContactText;
use fp_proto::data::{BlockPart, DataMessage};
use fp_proto::message::MemberId;
use fp_proto::subscriber::AttachmentId;
use fp_transport::{
    Domain, Link, ListenOptions, Listener, OutFrame, Payload, TransportKind, TransportPolicy,
};
use fp_types::{
    BlockId, Dtype, Epoch, Layout, MemoryOrder, Rank, Region, Selection, Shape, SubscriptionId, TableId,
    VariableDef,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(super) const STEP: StepId = StepId(3);
const EPOCH: AttachmentId = AttachmentId { epoch: Epoch(77), nth: 1 };
/// Only a fetch that is wrong waits so long.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of a block that are as they should be, and of an answer that comes too late.
pub(super) const LATE: u8 = 0xee;

/// A request that is not answered yet.
pub(super) struct Asked {
    pub(super) link: usize,
    pub(super) request: u64,
    pub(super) owner: usize,
    pub(super) pieces: Vec<BlockPart>,
}

/// What the owners know: their links, and what they were asked. They are one listener; a block tells whose it is.
pub(super) struct Owners {
    pub(super) links: Vec<Option<Link>>,
    pub(super) asked: Vec<Asked>,
    /// Requests in all.
    pub(super) seen: usize,
}

impl Owners {
    /// Takes what has come.
    fn hear(&mut self) {
        for (at, slot) in self.links.iter_mut().enumerate() {
            // A link that fails was left by the taker.
            while let Some(frame) = slot.as_mut().and_then(|link| link.recv().ok().flatten()) {
                let Ok(DataMessage::Fetch { request, pieces, .. }) = DataMessage::decode(&frame.head) else {
                    continue;
                };
                let owner = pieces.first().expect("a piece").block as usize;
                self.asked.push(Asked { link: at, request, owner, pieces });
                self.seen += 1;
            }
            if let Some(link) = slot {
                let _ = link.flush();
            }
        }
    }

    /// Answers with bytes of each block's number, or others.
    pub(super) fn answer(&mut self, asked: &Asked, byte: Option<u8>) {
        let bytes = |piece: &BlockPart| {
            std::iter::repeat_n(
                byte.unwrap_or(byte_of(piece.block as usize)),
                piece.part.element_count() as usize,
            )
        };
        let body: Vec<u8> = asked.pieces.iter().flat_map(bytes).collect();
        let head = DataMessage::Pieces { request: asked.request, step: STEP }.encode();
        if let Some(link) = &mut self.links[asked.link] {
            let _ = link.send(OutFrame::new(head).with_body(vec![Payload::from_owner(body)]));
        }
    }

    pub(super) fn answer_all(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            self.answer(&asked, None);
        }
    }
}

pub(super) fn byte_of(owner: usize) -> u8 {
    (owner % 200) as u8 + 1
}

struct NoSubscription;

impl Subscription for NoSubscription {
    fn learn_contacts(
        &self,
        _: (StepId, Option<AttachmentId>),
        _: Vec<Rank>,
        _: Instant,
    ) -> Result<(), ReadError> {
        Ok(())
    }

    fn membership(&self) -> Option<(SubscriptionId, MemberId)> {
        None
    }

    fn standing(&self, _: &str) -> Option<Selection> {
        None
    }
}

/// A rank that takes blocks of that length, one of each owner, and the thread of the owners.
pub(super) struct Stage {
    directory: OwnerDirectory,
    pub(super) counters: Counters,
    dial: Dial,
    planned: Arc<FetchPlan>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stage {
    /// The owners take a turn again and again.
    fn new(owners: usize, len: usize, turn: impl FnMut(&mut Owners) + Send + 'static) -> Self {
        Self::of(owners, planned(owners, len), turn)
    }

    /// The same, of what is planned so.
    pub(super) fn of(
        owners: usize,
        planned: Arc<FetchPlan>,
        mut turn: impl FnMut(&mut Owners) + Send + 'static,
    ) -> Self {
        let options = ListenOptions::new(EPOCH.epoch.0).with_shm(false).with_inproc(false);
        let mut listener = Listener::bind(options).expect("a listener");
        let contact = ContactText(listener.contact().to_string());
        let directory = OwnerDirectory::default();
        directory.attached(Some(EPOCH));
        directory.learn(Some(EPOCH), (0..owners).map(|rank| (Rank(rank as u32), contact.clone())));
        directory.took(STEP);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut owners = Owners { links: Vec::new(), asked: Vec::new(), seen: 0 };
            while !stopped.load(Ordering::Relaxed) {
                while let Some(accepted) = listener.accept(Instant::now()).expect("sound") {
                    owners.links.push(Some(accepted.link));
                }
                owners.hear();
                turn(&mut owners);
                std::thread::yield_now();
            }
        });
        let dial = Dial {
            policy: TransportPolicy::only(TransportKind::Tcp),
            token: None,
            tls: None,
            domain: Domain::default(),
            timeout: PATIENCE,
        };
        let counters = Counters::default();
        Self { directory, counters, dial, planned, stop, thread: Some(thread) }
    }

    pub(super) fn array(&self) -> Vec<u8> {
        vec![0; self.planned.len_bytes().expect("a length")]
    }

    pub(super) fn fetch(&self, array: &mut [u8], limit: Limit<'_>) -> Result<(), ReadError> {
        let taker = Taker {
            stream: "stream",
            step: STEP,
            epoch: Some(EPOCH),
            owners: &self.directory,
            counters: &self.counters,
            subscription: &NoSubscription,
            dial: &self.dial,
            busy_poll: Duration::ZERO,
            interrupt: None,
        };
        fetch(taker, &mut [Get::new(self.planned.clone(), array)], limit)
    }

    /// Fetches all, and checks each byte.
    fn fetch_whole(&self) {
        let mut array = self.array();
        self.fetch(&mut array, (Instant::now() + PATIENCE).into()).expect("fetched");
        let len = array.len() / self.planned.plan.pieces.len();
        for (owner, block) in array.chunks(len).enumerate() {
            assert!(block.iter().all(|byte| *byte == byte_of(owner)), "the block of owner {owner}");
        }
    }

    pub(super) fn dialled(&self) -> u64 {
        self.counters.data_links.load(Ordering::Relaxed)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let served = self.thread.take().expect("once").join();
        assert!(served.is_ok() || std::thread::panicking(), "an owner panicked");
    }
}

/// All blocks of an array, of which each owner has one: its number is the owner's.
fn planned(owners: usize, len: usize) -> Arc<FetchPlan> {
    let block = |owner: u64| {
        let id = BlockId { rank: Rank(owner as u32), index: owner as u32 };
        (id, Region::new([owner * len as u64], [len as u64]).expect("a region"))
    };
    let shape = Shape::new([(owners * len) as u64]).expect("a shape");
    planned_of(&Layout::global(shape, (0..owners as u64).map(block)).expect("a layout"))
}

pub(super) fn planned_of(layout: &Layout) -> Arc<FetchPlan> {
    let key = PlanKey {
        epoch: Some(EPOCH),
        table: TableId([0; 16]),
        variable: "x".to_owned(),
        selection: Selection::All,
        fill: false,
        order: MemoryOrder::RowMajor,
    };
    let ndims = layout.shape().map_or(1, Shape::ndims);
    let def = Arc::new(VariableDef::global_array("x", Dtype::U8, ndims));
    Arc::new(FetchPlan::of_layout(def, layout, &key).expect("a plan"))
}

#[test]
fn all_owners_are_asked_before_one_has_answered() {
    const OWNERS: usize = 64;
    let stage = Stage::new(OWNERS, 1000, |owners| {
        if owners.asked.len() == OWNERS {
            owners.answer_all();
        }
    });
    stage.fetch_whole();
    stage.fetch_whole();
    assert_eq!(stage.dialled(), OWNERS as u64, "each was dialled once");
}

/// The last one to be asked answers first, each when all before it have.
#[test]
fn answers_are_taken_in_the_order_in_which_they_come() {
    const OWNERS: usize = 9;
    let stage = Stage::new(OWNERS, 1000, |owners| {
        if owners.seen == OWNERS
            && let Some(asked) = owners.asked.pop()
        {
            owners.answer(&asked, None);
        }
    });
    stage.fetch_whole();
}

#[test]
fn no_more_are_asked_at_one_time_than_is_allowed() {
    const OWNERS: usize = LIMIT_OPEN_REQUESTS + 30;
    let most = Arc::new(AtomicUsize::new(0));
    let told = most.clone();
    let stage = Stage::new(OWNERS, 10, move |owners| {
        told.fetch_max(owners.asked.len(), Ordering::Relaxed);
        // As many as there may be, or all that are left.
        let is_time = owners.asked.len() >= LIMIT_OPEN_REQUESTS || owners.seen == OWNERS;
        if is_time && !owners.asked.is_empty() {
            let asked = owners.asked.remove(0);
            owners.answer(&asked, None);
        }
    });
    stage.fetch_whole();
    assert_eq!(most.load(Ordering::Relaxed), LIMIT_OPEN_REQUESTS);
}

#[test]
fn no_owner_is_asked_while_many_bytes_are_to_come() {
    const OWNERS: usize = 3;
    let most = Arc::new(AtomicUsize::new(0));
    let told = most.clone();
    let stage = Stage::new(OWNERS, LIMIT_OPEN_BYTES / 2, move |owners| {
        told.fetch_max(owners.asked.len(), Ordering::Relaxed);
        if owners.seen == 2 || owners.seen == OWNERS {
            owners.answer_all();
        }
    });
    stage.fetch_whole();
    assert_eq!(most.load(Ordering::Relaxed), 2);
}

/// What an owner is asked that breaks the link it was asked over, the first time or always.
pub(super) fn breaking(owner: usize, times: usize) -> impl FnMut(&mut Owners) + Send + 'static {
    let mut left = times;
    move |owners| {
        let Some(at) = owners.asked.iter().position(|asked| asked.owner == owner && left > 0) else { return };
        let asked = owners.asked.remove(at);
        owners.links[asked.link] = None;
        left -= 1;
    }
}

#[test]
fn a_link_that_breaks_is_dialled_again_while_others_are_under_way() {
    const OWNERS: usize = 16;
    let mut breaks = breaking(5, 1);
    let stage = Stage::new(OWNERS, 1000, move |owners| {
        breaks(owners);
        // The one that broke was asked twice.
        if owners.seen == OWNERS + 1 {
            owners.answer_all();
        }
    });
    stage.fetch_whole();
    assert_eq!(stage.dialled(), OWNERS as u64 + 1);
}

/// Nothing comes into the array of a fetch that failed, and what comes too late is taken for nothing else.
#[test]
fn when_one_owner_dies_the_late_answers_of_the_others_go_nowhere() {
    const OWNERS: usize = 16;
    let has_failed = Arc::new(AtomicBool::new(false));
    let failed = has_failed.clone();
    let mut dies = breaking(5, 2);
    let mut late = Vec::new();
    let stage = Stage::new(OWNERS, 1000, move |owners| {
        dies(owners);
        if !failed.load(Ordering::Relaxed) {
            late.append(&mut owners.asked);
            return;
        }
        for asked in late.drain(..).filter(|asked: &Asked| asked.owner != 5) {
            owners.answer(&asked, Some(LATE));
        }
        owners.answer_all();
    });
    let mut array = stage.array();
    let outcome = stage.fetch(&mut array, (Instant::now() + PATIENCE).into());
    assert!(matches!(outcome, Err(ReadError::Lost { rank: Rank(5), .. })), "{outcome:?}");
    let before = stage.dialled();
    has_failed.store(true, Ordering::Relaxed);
    stage.fetch_whole();
    assert!(array.iter().all(|byte| *byte == 0), "nobody had answered");
    assert_eq!(stage.dialled(), before + 1, "but for the one that died, links are used again");
    stage.fetch_whole();
    assert_eq!(stage.dialled(), before + 1);
}

/// A fetch that nobody waits for any more, and one whose deadline passes.
#[test]
fn a_fetch_that_ends_early_leaves_links_whose_answers_may_still_come() {
    const OWNERS: usize = 8;
    let given_up = Arc::new(AtomicBool::new(false));
    let asked_for = given_up.clone();
    let stage = Stage::new(OWNERS, 1000, move |owners| match owners.seen {
        OWNERS if !asked_for.swap(true, Ordering::Relaxed) => {}
        seen if seen > OWNERS => owners.answer_all(),
        _ => {}
    });
    let limit = Limit { deadline: Instant::now() + PATIENCE, given_up: Some(&given_up) };
    let outcome = stage.fetch(&mut stage.array(), limit);
    assert!(matches!(outcome, Err(ReadError::TimedOut { .. })), "{outcome:?}");
    stage.fetch_whole();
    assert_eq!(stage.dialled(), OWNERS as u64 + 1, "whose answer was waited for in vain is dialled anew");
    let outcome = stage.fetch(&mut stage.array(), Instant::now().into());
    assert!(matches!(outcome, Err(ReadError::TimedOut { .. })), "{outcome:?}");
    stage.fetch_whole();
}
