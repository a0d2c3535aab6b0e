//! A subscriber rank's data link to one owner: what it has announced, what it was asked, and the bytes that come.
//! Read by the thread that fetches, so that bytes go straight to where they are wanted.

use crate::data::segment::{REMOTE_LEN_BYTES, told};
use crate::data::taker::block_locations::{BlockLocations, VariableBlocks};
use crate::data::taker::buffers::Buffers;
use crate::data::taker::owner_wait::Patience;
use crate::data::taker::placed::{Finder, is_mostly_blocks, remote_place};
use crate::value::counters::Counters;
use fp_proto::access::Denial;
use fp_proto::data::{
    BlockPart, DataMessage, GoneReason, InlineBlock, PlaceRef, PlacedRef, Placement, WantedVariable,
};
use fp_proto::message::MemberId;
use fp_transport::memory::MapOptions;
use fp_transport::{InFrame, Link, LinkError, MappedSegment, OutFrame, Payload, RemoteMemory};
use fp_types::{Selection, StepId, StepMap, SubscriptionId};
use std::collections::{BTreeSet, HashMap};
use std::io::IoSliceMut;
use std::time::Instant;

/// Bytes that an owner may push before somebody fetches them; past it they are asked for again.
const LIMIT_STAGED_BYTES: usize = 256 << 20;

/// What can go wrong with one owner.
#[derive(Debug)]
pub(crate) enum OwnerError {
    Link(LinkError),
    Misbehaved(String),
    Gone(GoneReason),
    Denied(Denial),
}

impl From<LinkError> for OwnerError {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

/// Takes the body of a frame piece by piece.
pub(crate) trait Sink {
    /// Receives the next `len` bytes of the body, a piece that was asked for under this place in the request.
    fn requested(&mut self, link: &mut Link, at: usize, patience: &Patience<'_>) -> Result<(), LinkError>;
    /// Receives a pushed piece, or says that it is not wanted now.
    fn pushed(
        &mut self,
        link: &mut Link,
        piece: &BlockPart,
        patience: &Patience<'_>,
    ) -> Result<bool, LinkError>;
    /// Whether pieces that were asked for are received later. Nothing else is heard before.
    fn takes_later(&self) -> bool {
        false
    }
}

/// What one received message meant.
pub(crate) enum Heard {
    /// Where blocks are, or pieces that were pushed for another fetch.
    Placed,
    /// A segment, or the like: nothing that could be copied now.
    News,
    /// The request was answered.
    Answered(u64),
    /// The pieces that were asked for come, and are still to be received.
    Coming,
}

/// A live data link to an owner.
pub(crate) struct OwnerLink {
    pub(crate) link: Link,
    segments: HashMap<u64, MappedSegment>,
    /// Segments that are READ.
    remote_segments: HashMap<u64, RemoteMemory>,
    placed: BlockLocations<Payload>,
    /// Blocks that are READ.
    remote: BlockLocations<RemoteMemory>,
    staged: StepMap<Vec<(BlockPart, Vec<u8>)>>,
    pushed: StepMap<()>,
    wants: Vec<WantedVariable>,
    /// Bytes of an element of each wanted variable.
    sizes: Vec<usize>,
    next_request: u64,
    /// The request under way and how many pieces it has.
    requested: Option<(u64, usize)>,
    /// Requests that were settled otherwise, whose answers are still to come and to be passed over.
    settled: BTreeSet<u64>,
    /// What was received last: its memory is for what comes next.
    frame: InFrame,
    /// Memory of blocks that came along with their places.
    buffers: Buffers,
    /// The answer to a question that is not for pieces.
    pub(crate) answer: Option<DataMessage>,
}

impl OwnerLink {
    /// Nobody waits on the link's descriptor but a fetch, which says so: its owner need not ring for placements.
    pub(crate) fn new(mut link: Link) -> Self {
        link.arm(false);
        Self {
            link,
            segments: HashMap::new(),
            remote_segments: HashMap::new(),
            placed: BlockLocations::default(),
            remote: BlockLocations::default(),
            staged: StepMap::new(),
            pushed: StepMap::new(),
            wants: Vec::new(),
            sizes: Vec::new(),
            next_request: 0,
            requested: None,
            settled: BTreeSet::new(),
            frame: InFrame::default(),
            buffers: Buffers::default(),
            answer: None,
        }
    }

    pub(crate) fn shares_memory(&self) -> bool {
        self.link.transport().shares_memory()
    }

    /// Where the owner's memory holds a block that is READ, if the owner has said so.
    pub(crate) fn remote(&self, step: StepId, variable: &str, block: u32) -> Option<RemoteMemory> {
        self.remote.find(step, variable, block)
    }

    /// The block's bytes, if the owner has said where they are.
    pub(crate) fn placed(&self, step: StepId, variable: &str, block: u32) -> Option<Payload> {
        self.placed.find(step, variable, block)
    }

    /// All blocks of a variable of which the owner has said where they are.
    pub(crate) fn placed_of(&self, step: StepId, variable: &str) -> Option<&VariableBlocks<Payload>> {
        self.placed.of(step, variable)
    }

    /// Whether pieces of a step were pushed before anybody wanted them.
    pub(crate) fn has_staged(&self, step: StepId) -> bool {
        self.staged.contains_key(&step)
    }

    /// Whether anything of a step is here or known already.
    pub(crate) fn knows_of(&self, step: StepId) -> bool {
        self.placed.has(step) || self.staged.contains_key(&step)
    }

    /// A piece that was pushed before anybody wanted it.
    pub(crate) fn staged(&mut self, step: StepId, wanted: &BlockPart) -> Option<Vec<u8>> {
        let pieces = self.staged.get_mut(&step)?;
        let at = pieces.iter().position(|(piece, _)| piece == wanted)?;
        Some(pieces.swap_remove(at).1)
    }

    pub(crate) fn pushes_done(&self, step: StepId) -> bool {
        self.pushed.contains_key(&step)
    }

    /// Whether the owner places or pushes this variable without being asked.
    pub(crate) fn wants(&self, variable: &str) -> bool {
        self.wants.iter().any(|wanted| wanted.name == variable)
    }

    pub(crate) fn pushes(&self, variable: &str) -> bool {
        self.wants.iter().any(|wanted| wanted.name == variable && wanted.push.is_some())
    }

    /// Tells the owner what will be read in every step; `true` if that is news.
    pub(crate) fn want<'a>(
        &mut self,
        membership: (SubscriptionId, MemberId),
        variables: impl Iterator<Item = (&'a str, usize, Option<Selection>)>,
        deadline: Instant,
    ) -> Result<bool, LinkError> {
        let known = self.wants.len();
        for (name, element_size, push) in variables {
            if !self.wants(name) {
                self.sizes.push(element_size);
                self.wants.push(WantedVariable { name: name.to_owned(), push });
            }
        }
        if self.wants.len() == known {
            return Ok(false);
        }
        let (subscription, member) = membership;
        let message = DataMessage::Want { subscription, member, variables: self.wants.clone() };
        self.link.send_all(OutFrame::new(message.encode()), deadline)?;
        Ok(true)
    }

    /// Asks for so many pieces, or for what is none, under the number that the question is given; the answer is awaited
    /// with [`OwnerLink::hear`].
    pub(crate) fn ask(
        &mut self,
        pieces: usize,
        question: impl FnOnce(u64) -> DataMessage,
        deadline: Instant,
    ) -> Result<u64, LinkError> {
        let request = self.next_request;
        self.next_request += 1;
        self.requested = Some((request, pieces));
        self.link.send_all(OutFrame::new(question(request).encode()), deadline)?;
        Ok(request)
    }

    /// Whether an answer is still to come that nobody waits for.
    pub(crate) fn is_answer_late(&self) -> bool {
        !self.settled.is_empty()
    }

    fn take_answer(&mut self, request: u64, answer: DataMessage) -> Heard {
        if self.requested.take_if(|(open, _)| *open == request).is_none() {
            self.settled.remove(&request);
            return Heard::News;
        }
        self.answer = Some(answer);
        Heard::Answered(request)
    }

    /// Takes the next message, if one is here.
    pub(crate) fn hear(
        &mut self,
        sink: &mut dyn Sink,
        step: StepId,
        patience: &Patience<'_>,
        counters: &Counters,
    ) -> Result<Option<Heard>, OwnerError> {
        if !self.link.recv_into(&mut self.frame)? {
            return Ok(None);
        }
        if let Some(heard) = self.hear_placement()? {
            return Ok(Some(heard));
        }
        let message = DataMessage::decode(&self.frame.head)
            .map_err(|error| OwnerError::Misbehaved(error.to_string()))?;
        let heard = match message {
            DataMessage::SegmentIs { segment, len } if self.link.reads_remote() => {
                self.learn_remote(segment, len, patience)?
            }
            DataMessage::SegmentIs { segment, len } => self.map(segment, len)?,
            DataMessage::SegmentGone { segment } => {
                self.remote_segments.remove(&segment);
                self.segments.remove(&segment);
                Heard::News
            }
            DataMessage::Placed { step, request, blocks } => {
                self.place((step, request), blocks.iter().map(PlacedRef::from), None)?
            }
            DataMessage::Pieces { request, .. } => self.take_requested(sink, request, patience)?,
            DataMessage::Pushed { step: of, pieces } => {
                self.take_pushed(sink, of, of == step, pieces, patience, counters)?
            }
            DataMessage::Gone { request, reason, .. } => {
                // An answer to a question that was settled otherwise says nothing of what is wanted now.
                match self.requested.take_if(|(open, _)| *open == request) {
                    Some(_) => return Err(OwnerError::Gone(reason)),
                    None => {
                        self.settled.remove(&request);
                        Heard::News
                    }
                }
            }
            DataMessage::Denied(denial) => return Err(OwnerError::Denied(denial)),
            DataMessage::Described { request, .. }
            | DataMessage::Offers { request, .. }
            | DataMessage::Transformed { request, .. } => self.take_answer(request, message),
            DataMessage::Want { .. }
            | DataMessage::Fetch { .. }
            | DataMessage::Describe { .. }
            | DataMessage::AskOffers { .. }
            | DataMessage::Transform { .. } => {
                return Err(OwnerError::Misbehaved("an owner that asks".to_owned()));
            }
        };
        if self.link.body_remaining() > 0 && !matches!(heard, Heard::Coming) {
            return Err(OwnerError::Misbehaved("a body that is longer than its pieces".to_owned()));
        }
        Ok(Some(heard))
    }

    fn map(&mut self, segment: u64, len: u64) -> Result<Heard, OwnerError> {
        let Some(fd) = self.frame.descriptors.drain(..).next() else {
            return Err(OwnerError::Misbehaved("a segment without a descriptor".to_owned()));
        };
        let mapped = MappedSegment::map(fd, len, MapOptions::default().with_prefault(true));
        let mapped = mapped.map_err(|error| OwnerError::Misbehaved(error.to_string()))?;
        self.segments.insert(segment, mapped);
        Ok(Heard::News)
    }

    /// Takes in what was received last, if it is a placement and says nothing unusual.
    #[inline]
    fn hear_placement(&mut self) -> Result<Option<Heard>, OwnerError> {
        if self.frame.body_len > 0 || !Placement::begins(&self.frame.head) {
            return Ok(None);
        }
        if let Some(InlineBlock { step, variable, block, bytes }) = InlineBlock::decode(&self.frame.head) {
            self.placed.add(step, [(variable, block, self.buffers.payload(bytes))]);
            return Ok(Some(Heard::Placed));
        }
        self.place_all()
    }

    /// Takes in the placement that was received last; `None` if it says anything unusual. Blocks that came along stay
    /// where they are, if there are many.
    fn place_all(&mut self) -> Result<Option<Heard>, OwnerError> {
        let mut frame = std::mem::take(&mut self.frame);
        let kept = is_mostly_blocks(&frame.head)
            .then(|| Payload::from_owner(std::mem::take(&mut frame.head).into_vec()));
        let head = kept.as_ref().map_or(&*frame.head, Payload::as_slice);
        let heard = Placement::decode(head).map(|placement| {
            self.place((placement.step, placement.request), placement.blocks(), kept.as_ref())
        });
        self.frame = frame;
        heard.transpose()
    }

    fn place<'a>(
        &mut self,
        (step, request): (StepId, Option<u64>),
        blocks: impl Iterator<Item = PlacedRef<'a>>,
        kept: Option<&Payload>,
    ) -> Result<Heard, OwnerError> {
        // An answer to a question that was settled otherwise is no more than a hint.
        let answered = request.filter(|&request| self.requested.is_some_and(|(open, _)| open == request));
        let (mut outcome, mut remote) = (Ok(()), Vec::new());
        let mut finder = Finder { segments: &self.segments, last: None, buffers: &mut self.buffers, kept };
        let (reads_remote, remote_segments) = (self.link.reads_remote(), &self.remote_segments);
        let found = blocks.map_while(|PlacedRef { variable, block, place }| {
            let found = match place {
                PlaceRef::Segment { segment, offset, len } if reads_remote => {
                    remote_place(remote_segments, (segment, offset, len)).map_err(OwnerError::Misbehaved).map(
                        |place| {
                            remote.push((variable, block, place));
                            None
                        },
                    )
                }
                // What nobody waits for may be of a step that was released or dropped meanwhile.
                place @ (PlaceRef::Segment { .. } | PlaceRef::Inproc { .. } | PlaceRef::Inline { .. }) => {
                    finder.payload(place).map_err(OwnerError::Misbehaved).and_then(|payload| {
                        match answered.is_some() && payload.is_none() {
                            true => Err(OwnerError::Gone(GoneReason::Step)),
                            false => Ok(payload.map(|payload| (variable, block, payload))),
                        }
                    })
                }
            };
            found.map_err(|error| outcome = Err(error)).ok()
        });
        self.placed.add(step, found.flatten());
        outcome?;
        if !remote.is_empty() {
            self.remote.add(step, remote);
        }
        if let Some(request) = request {
            self.settled.remove(&request);
        }
        Ok(answered.map_or(Heard::Placed, |request| {
            self.requested = None;
            Heard::Answered(request)
        }))
    }

    fn learn_remote(&mut self, segment: u64, len: u64, patience: &Patience<'_>) -> Result<Heard, OwnerError> {
        let mut body = [0; REMOTE_LEN_BYTES];
        patience.receive(&mut self.link, &mut [IoSliceMut::new(&mut body)])?;
        let remote =
            told(&body, len).ok_or_else(|| OwnerError::Misbehaved("a key that is none".to_owned()))?;
        self.remote_segments.insert(segment, remote);
        Ok(Heard::News)
    }

    fn take_requested(
        &mut self,
        sink: &mut dyn Sink,
        request: u64,
        patience: &Patience<'_>,
    ) -> Result<Heard, OwnerError> {
        let Some((_, pieces)) = self.requested.take_if(|(open, _)| *open == request) else {
            if self.settled.remove(&request) {
                let len = usize::try_from(self.link.body_remaining()).unwrap_or(usize::MAX);
                patience.discard(&mut self.link, len)?;
                return Ok(Heard::News);
            }
            return Err(OwnerError::Misbehaved(format!("an answer to request {request}, which is not open")));
        };
        if sink.takes_later() {
            return Ok(Heard::Coming);
        }
        for at in 0..pieces {
            sink.requested(&mut self.link, at, patience)?;
        }
        Ok(Heard::Answered(request))
    }

    fn take_pushed(
        &mut self,
        sink: &mut dyn Sink,
        step: StepId,
        current: bool,
        pieces: Vec<BlockPart>,
        patience: &Patience<'_>,
        counters: &Counters,
    ) -> Result<Heard, OwnerError> {
        // A step that was released without being fetched: its pieces are of no use to anybody.
        let passed = !current && !patience.owners.may_read(step);
        for piece in pieces {
            if current && sink.pushed(&mut self.link, &piece, patience)? {
                continue;
            }
            let Some(len) = self.len_of(&piece) else {
                return Err(OwnerError::Misbehaved("a pushed piece of unknown size".to_owned()));
            };
            if passed || self.staged_bytes().saturating_add(len) > LIMIT_STAGED_BYTES {
                patience.discard(&mut self.link, len)?;
            } else {
                self.stage(step, piece, len, patience, counters)?;
            }
        }
        self.pushed.insert(step, ());
        Ok(Heard::Placed)
    }

    fn staged_bytes(&self) -> usize {
        self.staged.values().flatten().map(|(_, bytes)| bytes.len()).sum()
    }

    fn len_of(&self, piece: &BlockPart) -> Option<usize> {
        let at = self.wants.iter().position(|wanted| wanted.name == piece.variable)?;
        usize::try_from(piece.part.element_count()).ok()?.checked_mul(*self.sizes.get(at)?)
    }

    fn stage(
        &mut self,
        step: StepId,
        piece: BlockPart,
        len: usize,
        patience: &Patience<'_>,
        counters: &Counters,
    ) -> Result<(), OwnerError> {
        if len as u64 > self.link.body_remaining() {
            return Err(OwnerError::Misbehaved("a body that is shorter than its pieces".to_owned()));
        }
        let mut bytes = vec![0; len];
        patience.receive(&mut self.link, &mut [IoSliceMut::new(&mut bytes)])?;
        counters.count_staged(&self.link, len);
        self.staged.get_or_insert_with(step, Vec::new).push((piece, bytes));
        Ok(())
    }

    /// Forgets steps that nobody will read any more.
    pub(crate) fn forget(&mut self, gone: impl Fn(StepId) -> bool) {
        self.placed.forget(&gone);
        self.remote.forget(&gone);
        if !self.staged.is_empty() {
            self.staged.retain(|&step, _| !gone(step));
        }
        if !self.pushed.is_empty() {
            self.pushed.retain(|&step, _| !gone(step));
        }
        self.settled.extend(self.requested.take().map(|(request, _)| request));
    }
}

#[cfg(test)]
mod tests;
