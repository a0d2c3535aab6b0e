//! A data link as its owner knows it: what its subscriber wants, what it was told, and how much may wait for it.
//!
//! A subscriber need not read: it may release steps that it never fetched. So what waits in a link is bounded by what
//! is live, and goes on when the link is read again.

use crate::data::owner::block::StoredBlock;
use fp_proto::access::Denial;
use fp_proto::data::{DataMessage, EAGER_BYTES, InlineBlock, PlacedRef, Placement, WantedVariable};
use fp_proto::message::MemberId;
use fp_transport::{Link, LinkError, OutFrame, SegmentId, TransportKind};
use fp_types::{StepId, SubscriptionId};
use std::collections::BTreeSet;

/// Bytes that may wait in a link before placements, which are hints, are left out.
const LIMIT_HINTS_BYTES: u64 = 1 << 20;

/// Answers that may wait in a link: who asks has one question open at a time.
const LIMIT_ANSWERS: u64 = 64;

/// Bytes of placements in one message, so that it fits a frame however many blocks there are.
const LIMIT_PLACED_BYTES: usize = 8 << 20;

/// What a subscriber rank reads in every step.
pub(crate) struct Want {
    pub(crate) subscription: SubscriptionId,
    pub(crate) member: MemberId,
    pub(crate) variables: Vec<WantedVariable>,
}

/// A data link to a subscriber rank.
pub(crate) struct SubscriberLink {
    pub(crate) link: Link,
    pub(crate) want: Option<Want>,
    /// Segments whose descriptors it was sent.
    pub(crate) announced: BTreeSet<u64>,
    /// Whether the epoll set asks for room to write.
    pub(crate) writing: bool,
    /// Why the access list gives it nothing, and whether it was told.
    denial: Option<(Denial, bool)>,
    /// The oldest step whose push may still wait in the link.
    unread: Option<StepId>,
    /// Steps that are to be pushed when the link has been read.
    owed: BTreeSet<StepId>,
    /// Questions answered since nothing waited.
    answers: u64,
    /// Questions that wait for blocks to be read.
    reads: u64,
    /// The last step whose blocks were placed without being asked for.
    placed: Option<StepId>,
    /// Steps for which it was told where blocks lie that it can READ.
    readable: BTreeSet<StepId>,
    /// What was written last: its memory is for the next.
    written: Vec<u8>,
}

impl SubscriberLink {
    pub(crate) fn new(link: Link, denial: Option<Denial>) -> Self {
        let denial = denial.map(|denial| (denial, false));
        let (announced, owed) = (BTreeSet::new(), BTreeSet::new());
        let (placed, readable) = (None, BTreeSet::new());
        let (want, unread) = (None, None);
        Self {
            link,
            want,
            announced,
            writing: false,
            denial,
            unread,
            owed,
            answers: 0,
            reads: 0,
            placed,
            readable,
            written: Vec::new(),
        }
    }

    /// Which member's rank is at the other end, once it said so.
    pub(crate) fn member(&self) -> Option<MemberId> {
        self.want.as_ref().map(|want| want.member)
    }

    /// Whether the access list gives it nothing. Whatever it asks is then read and not answered, but for the first time.
    pub(crate) fn is_denied(&mut self) -> Result<bool, LinkError> {
        let Some((denial, told)) = &mut self.denial else { return Ok(false) };
        self.link.flush()?;
        while self.link.recv()?.is_some() {
            if !std::mem::replace(told, true) {
                self.link.send(OutFrame::new(DataMessage::Denied(denial.clone()).encode()))?;
            }
        }
        Ok(true)
    }

    /// Says where blocks are, in as many messages as that takes: the last is the answer to the request, if there is
    /// one.
    pub(crate) fn send_placed(
        &mut self,
        step: StepId,
        request: Option<u64>,
        mut placed: &[PlacedRef<'_>],
    ) -> Result<(), LinkError> {
        while let Some((blocks, rest)) = split_off(placed) {
            self.link.send(OutFrame::new(Placement::encode(step, None, blocks)))?;
            placed = rest;
        }
        self.link.send(OutFrame::new(Placement::encode(step, request, placed)))?;
        if request.is_none() {
            self.placed = Some(step);
        }
        Ok(())
    }

    /// Whether all blocks that are to be pushed came with their placements already, as they are small.
    pub(crate) fn has_all_of(&self, step: StepId, blocks: &[StoredBlock]) -> bool {
        let pushed = |name: &str| {
            let mut wanted = self.want.iter().flat_map(|want| &want.variables);
            wanted.any(|wanted| wanted.push.is_some() && wanted.name == name)
        };
        let small = |block: &StoredBlock| block.payload().is_some() && block.len_bytes() <= EAGER_BYTES;
        self.placed == Some(step) && blocks.iter().filter(|block| pushed(&block.def.name)).all(small)
    }

    /// Whether it was told where blocks of this step are without asking.
    pub(crate) fn was_placed(&self, step: StepId) -> bool {
        self.placed == Some(step)
    }

    /// Whether placements say to it where bytes are: in memory that it maps, or READs.
    pub(crate) fn is_placed_to(&self) -> bool {
        self.link.transport().shares_memory() || self.link.reads_remote()
    }

    /// Whether it maps memory of this process: it is another one on this machine.
    pub(crate) fn maps_memory(&self) -> bool {
        self.link.transport().shares_memory() && !self.link.is_inproc()
    }

    /// It was told where blocks of a step lie.
    pub(crate) fn told_of(&mut self, step: StepId) {
        if self.link.reads_remote() {
            self.may_read(step);
        }
    }

    /// It READs blocks of this step where they lie.
    pub(crate) fn may_read(&mut self, step: StepId) {
        self.readable.insert(step);
    }

    /// Whether there is nothing that it could READ.
    pub(crate) fn was_told_nothing(&self) -> bool {
        self.readable.is_empty()
    }

    /// The memory of a step is to be refilled. Whether the link must end first: its peer was told of the step, and may
    /// still READ it.
    pub(crate) fn ends_with(&mut self, step: StepId, retire: bool) -> bool {
        match retire {
            true => self.readable.contains(&step),
            false => {
                self.readable.remove(&step);
                false
            }
        }
    }

    /// Ends the link. Gives the steps that its peer may go on to READ: none, unless the device refused to end its
    /// access.
    pub(crate) fn end(mut self) -> BTreeSet<StepId> {
        if self.readable.is_empty() {
            return self.readable;
        }
        match self.link.revoke() {
            Ok(()) => BTreeSet::new(),
            Err(trouble) => {
                tracing::error!(%trouble, steps = ?self.readable, "a subscriber may go on to read");
                self.readable
            }
        }
    }

    /// Whether there is room for what the subscriber could ask for as well.
    pub(crate) fn takes_hints(&self) -> bool {
        self.link.queued_bytes() <= LIMIT_HINTS_BYTES
    }

    /// Whether the standing selections of this member are pushed over this link.
    pub(crate) fn is_pushed_to(&self, member: MemberId) -> bool {
        self.link.transport() == TransportKind::Tcp && self.member() == Some(member)
    }

    /// Whether a step is to be pushed later. That is so if the push of another one that is gone already still waits
    /// here: the subscriber does not read.
    pub(crate) fn owes(&mut self, step: StepId, is_live: impl Fn(StepId) -> bool) -> bool {
        if !self.link.wants_write() {
            self.unread = None;
        }
        if self.unread.is_none_or(&is_live) {
            return false;
        }
        self.owed.retain(|&owed| is_live(owed));
        self.owed.insert(step);
        true
    }

    /// A push was given to the link.
    pub(crate) fn pushed(&mut self, step: StepId) {
        if self.link.wants_write() {
            self.unread.get_or_insert(step);
        }
    }

    /// The steps that are to be pushed now, as everything before has been read.
    pub(crate) fn drained(&mut self) -> BTreeSet<StepId> {
        if self.link.wants_write() {
            return BTreeSet::new();
        }
        (self.unread, self.answers) = (None, 0);
        std::mem::take(&mut self.owed)
    }

    /// Another answer will wait.
    ///
    /// # Errors
    /// Too many do: the peer asks without reading.
    pub(crate) fn count_answer(&mut self) -> Result<(), LinkError> {
        self.answers += 1;
        let (value, limit) = (self.answers, LIMIT_ANSWERS);
        if value > limit {
            return Err(LinkError::Malformed { what: "number of unread answers", value, limit });
        }
        Ok(())
    }

    /// Blocks are to be read for it.
    ///
    /// # Errors
    /// Too many are: the peer asks without waiting for answers.
    pub(crate) fn begin_read(&mut self) -> Result<(), LinkError> {
        self.reads += 1;
        match self.reads {
            ..=LIMIT_ANSWERS => Ok(()),
            value => Err(LinkError::Malformed { what: "number of open reads", value, limit: LIMIT_ANSWERS }),
        }
    }

    /// They were read.
    pub(crate) fn end_read(&mut self) {
        self.reads = self.reads.saturating_sub(1);
    }

    /// Says where a small block is: here.
    pub(crate) fn send_inline(&mut self, one: &InlineBlock<'_>) -> Result<(), LinkError> {
        one.encode_into(&mut self.written);
        self.link.send_head(&self.written)?;
        self.placed = Some(one.step);
        Ok(())
    }

    /// Sends what has no body.
    pub(crate) fn tell(&mut self, message: DataMessage) -> Result<(), LinkError> {
        self.link.send(OutFrame::new(message.encode()))
    }

    /// Names segments that are gone, so that they are unmapped there as well.
    pub(crate) fn tell_let_go(&mut self, segments: &[SegmentId]) -> Result<(), LinkError> {
        for segment in segments {
            if self.announced.remove(&segment.0) {
                self.tell(DataMessage::SegmentGone { segment: segment.0 })?;
            }
        }
        Ok(())
    }
}

/// Those that fit into one message, and the others; `None` if all fit.
fn split_off<'p, 'b>(placed: &'p [PlacedRef<'b>]) -> Option<(&'p [PlacedRef<'b>], &'p [PlacedRef<'b>])> {
    let mut len_bytes = 0;
    let exceeds = |block: &PlacedRef<'_>| {
        len_bytes += placed_bytes(block);
        len_bytes > LIMIT_PLACED_BYTES
    };
    let fitting = placed.iter().position(exceeds)?.max(1);
    placed.split_at_checked(fitting).filter(|(_, rest)| !rest.is_empty())
}

/// Bytes that a placement takes in a message, at most.
fn placed_bytes(block: &PlacedRef<'_>) -> usize {
    block.variable.len() + block.place.inline_len_bytes() + 64 + 2 * 9 * fp_types::MAX_DIMS
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_proto::data::PlaceRef;

    #[test]
    fn what_a_placement_takes_in_a_message_is_known_before() {
        let far = PlaceRef::Segment { segment: u64::MAX, offset: u64::MAX, len: u64::MAX };
        let (name, inline) = ("x".repeat(200), |bytes| PlaceRef::Inline { bytes });
        for place in [inline(&[]), inline(&[1; 5000]), far, PlaceRef::Inproc { key: u128::MAX }] {
            let block = PlacedRef { variable: &name, block: u32::MAX, place };
            let len_bytes = |blocks: &[PlacedRef<'_>]| Placement::encode(StepId(0), None, blocks).len();
            let taken = len_bytes(&[block]) - len_bytes(&[]);
            let known = placed_bytes(&block);
            assert!((taken..=2 * taken + 256).contains(&known), "{known} are known of {taken} bytes");
        }
    }
}
