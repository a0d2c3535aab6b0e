//! What a member is told when it is assigned a step: the blocks that it wants pushed and, in a crowd, where all are.
//!
//! With few links, whoever ends a step tells all of them where its blocks are. With many, each
//! link is told when its member is assigned the step, on the background thread.

use crate::data::owner::block_store::{BlockStore, Inner, StoredStep};
use crate::data::owner::part::wanted_part;
use crate::data::owner::subscriber_link::SubscriberLink;
use fp_proto::data::{BlockPart, DataMessage, EAGER_BYTES};
use fp_proto::message::MemberId;
use fp_transport::{LinkError, OutFrame};
use fp_types::StepId;

/// The most links that the end of a step tells of it.
const LIMIT_EARLY: usize = 64;

impl Inner {
    /// Whether there are so many links that each is told of a step when it is assigned.
    pub(super) fn is_crowded(&self) -> bool {
        self.links.len() > LIMIT_EARLY
    }
}

impl BlockStore {
    /// Tells a member, which was assigned the step, where its blocks are.
    fn place_late(&self, inner: &mut Inner, member: MemberId, step: StepId) {
        if !inner.is_crowded() {
            return;
        }
        let Inner { steps, links, of_member, .. } = &mut *inner;
        let Some(stored) = steps.get_mut(&step).filter(|stored| stored.ended) else { return };
        let mut lost = Vec::new();
        for &(_, token) in of_member.range((member, 0)..=(member, u64::MAX)) {
            let Some(served) = links.get_mut(&token).filter(|served| !served.was_placed(step)) else {
                continue;
            };
            if self.place_wanted(step, stored, served).is_err() {
                lost.push(token);
            }
            self.watch(token, served);
        }
        inner.part_with(&lost);
    }

    /// The step was assigned: what its member wants pushed goes now.
    pub(crate) fn push(&self, member: MemberId, step: StepId) {
        let mut inner = self.lock();
        self.place_late(&mut inner, member, step);
        let Inner { steps, links, of_member, .. } = &mut *inner;
        let Some(stored) = steps.get_mut(&step) else { return };
        stored.assigned.push(member);
        let mut lost = Vec::new();
        for &(_, token) in of_member.range((member, 0)..=(member, u64::MAX)) {
            let Some(served) = links.get_mut(&token).filter(|served| served.is_pushed_to(member)) else {
                continue;
            };
            if served.owes(step, |pushed| steps.contains_key(&pushed)) {
                continue;
            }
            let Some(stored) = steps.get(&step) else { continue };
            if self.push_to(step, stored, served).is_err() {
                lost.push(token);
            }
            self.watch(token, served);
        }
        inner.part_with(&lost);
    }

    pub(super) fn push_to(
        &self,
        step: StepId,
        stored: &StoredStep,
        served: &mut SubscriberLink,
    ) -> Result<(), LinkError> {
        let Some(want) = &served.want else { return Ok(()) };
        let mut pieces = Vec::new();
        let mut body = Vec::new();
        for wanted in &want.variables {
            let Some(selection) = &wanted.push else { continue };
            for block in stored.blocks.iter().filter(|block| block.def.name == wanted.name) {
                let large = block.payload.len() as u64 > EAGER_BYTES;
                let Some(part) = wanted_part(block, selection).filter(|_| large) else { continue };
                let Some(bytes) = self.gather(block, &part) else { continue };
                body.extend(bytes);
                pieces.push(BlockPart { variable: wanted.name.clone(), block: block.index, part });
            }
        }
        if want.variables.iter().all(|wanted| wanted.push.is_none())
            || served.has_all_of(step, &stored.blocks)
        {
            return Ok(());
        }
        // Sent even without a piece: the subscriber waits for it before it asks.
        let frame = OutFrame::new(DataMessage::Pushed { step, pieces }.encode()).with_body(body);
        self.counters.count_sent(&served.link, &frame);
        served.link.send(frame)?;
        served.pushed(step);
        Ok(())
    }
}
