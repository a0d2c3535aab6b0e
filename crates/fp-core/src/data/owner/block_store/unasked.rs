//! What owners tell subscribers as they are assigned a step: where blocks are, and blocks that are pushed. Whoever is
//! about some steps only is told nothing of one before it is assigned. With many links nobody is: then the background
//! thread tells them.

use crate::coordinator::relief::LIMIT_LINKS;
use crate::data::owner::block_store::stored_step::StoredStep;
use crate::data::owner::block_store::{BlockStore, Inner};
use crate::data::owner::part::wanted_part;
use crate::data::owner::subscriber_link::{SubscriberLink, Want};
use fp_proto::data::{BlockPart, DataMessage, EAGER_BYTES};
use fp_proto::message::MemberId;
use fp_transport::{LinkError, OutFrame};
use fp_types::{StepId, StepMap};

impl Inner {
    /// Whether there are so many links that each is told of a step when it is assigned.
    pub(super) fn is_crowded(&self) -> bool {
        self.links.len() > LIMIT_LINKS
    }
}

impl StoredStep {
    /// Whether whoever wants this is told of the step, now that it has ended.
    pub(super) fn is_told_of(&self, want: &Want) -> bool {
        let may_know = !self.is_unjudged(want) || self.assigned.contains(&want.member);
        self.keeps(want) && may_know
    }
}

impl BlockStore {
    /// The step was assigned: what its member wants pushed goes now, and where blocks are, if it was not told before.
    pub(crate) fn push(&self, member: MemberId, step: StepId) {
        let mut inner = self.lock();
        let is_late = inner.is_crowded();
        let Inner { steps, links, of_member, pushes, .. } = &mut *inner;
        let Some(stored) = steps.get_mut(&step) else { return };
        stored.assigned.push(member);
        let is_told_to_all = stored.unjudged.is_empty() && stored.watches.is_empty();
        if is_told_to_all && !is_late && !*pushes {
            return;
        }
        let mut lost = Vec::new();
        for &(_, token) in of_member.range((member, 0)..=(member, u64::MAX)) {
            let Some(served) = links.get_mut(&token) else { continue };
            match self.tell_late((step, member, is_late), steps, (token, served)) {
                Ok(false) => {}
                Ok(true) => self.watch(token, served),
                Err(_) => lost.push(token),
            }
        }
        inner.part_with(&lost);
    }

    /// Tells one rank of a member what it is told once it has the step. Says whether that was anything.
    fn tell_late(
        &self,
        (step, member, is_late): (StepId, MemberId, bool),
        steps: &mut StepMap<Box<StoredStep>>,
        (token, served): (u64, &mut SubscriberLink),
    ) -> Result<bool, LinkError> {
        let placed = self.place_late((step, is_late), steps, (token, served))?;
        if !served.is_pushed_to(member) || served.owes(step, |pushed| steps.contains_key(&pushed)) {
            return Ok(placed);
        }
        let Some(stored) = steps.get(&step) else { return Ok(placed) };
        self.push_to(step, stored, served)?;
        Ok(true)
    }

    /// Says where blocks are to whom it could not be said at the end of the step.
    fn place_late(
        &self,
        (step, is_late): (StepId, bool),
        steps: &mut StepMap<Box<StoredStep>>,
        (token, served): (u64, &mut SubscriberLink),
    ) -> Result<bool, LinkError> {
        let waits = |stored: &&mut Box<StoredStep>| {
            let of = |want: &Want| is_late || stored.is_unjudged(want);
            stored.ended && served.want.as_ref().is_some_and(of) && !served.was_placed(step)
        };
        let Some(stored) = steps.get_mut(&step).filter(waits) else { return Ok(false) };
        if self.unregistered(stored, served).is_empty() {
            self.place_wanted(step, stored, served)?;
        } else {
            self.place_later(token, vec![step]);
        }
        Ok(true)
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
                // What is in no memory is read for who asks.
                let Some(payload) = block.payload().filter(|_| block.len_bytes() > EAGER_BYTES) else {
                    continue;
                };
                let Some(part) = wanted_part(block, selection) else { continue };
                let Some(bytes) = self.gather(block, payload, &part) else { continue };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::owner::block::{BlockBytes, StoredBlock};
    use crate::data::owner::block_store::testing::{link_of, server};
    use fp_proto::data::WantedVariable;
    use fp_transport::{Link, Payload};
    use fp_types::{Dtype, Region, SubscriptionId, VariableDef};
    use std::time::{Duration, Instant};

    const ALL: (SubscriptionId, MemberId) = (SubscriptionId(2), MemberId(2));
    const SOME: (SubscriptionId, MemberId) = (SubscriptionId(3), MemberId(3));
    const WATCH: (SubscriptionId, MemberId) = (SubscriptionId(4), MemberId(4));

    /// A link whose other end wants a variable of every step.
    fn wanted((subscription, member): (SubscriptionId, MemberId)) -> (std::sync::Arc<BlockStore>, Link) {
        let server = server();
        let peer = link_of(&server, |_| ());
        let mut inner = server.lock();
        let Inner { links, of_member, .. } = &mut *inner;
        for (&token, served) in links.iter_mut() {
            let variables = vec![WantedVariable { name: "x".to_owned(), push: None }];
            served.want = Some(Want { subscription, member, variables });
            of_member.insert((member, token));
        }
        drop(inner);
        (server, peer)
    }

    /// A step that is over on this rank, kept for both subscriptions; one of them has a condition.
    fn end(server: &BlockStore, step: u64) {
        let step = StepId(step);
        let (kept, some) = ([ALL.0, SOME.0].into_iter().collect(), [SOME.0].into_iter().collect());
        drop(server.begin(step, kept, some, [WATCH.0].into()));
        let def = VariableDef::local_array("x", Dtype::U8, 1).into();
        let region = Region::new([0], [3]).expect("a region");
        let payload = Payload::from_owner(vec![1, 2, 3]);
        server.store(step, StoredBlock { def, index: 0, region, bytes: BlockBytes::Memory(payload) });
        server.end(step);
    }

    fn placed(peer: &mut Link) -> StepId {
        let frame = peer.recv_deadline(Instant::now() + Duration::from_secs(15)).expect("a message");
        let message = DataMessage::decode(&frame.head).expect("a message");
        let DataMessage::Placed { step, request: None, .. } = message else { panic!("{message:?}") };
        step
    }

    #[test]
    fn whoever_has_a_condition_hears_of_its_own_steps_alone() {
        for one in [SOME, WATCH] {
            let (server, mut peer) = wanted(one);
            (0..3).for_each(|step| end(&server, step));
            server.push(one.1, StepId(1));
            assert_eq!(placed(&mut peer), StepId(1));
            server.push(ALL.1, StepId(2));
            server.push(one.1, StepId(0));
            assert_eq!(placed(&mut peer), StepId(0));
        }
    }

    #[test]
    fn whoever_has_none_hears_of_every_step_as_it_ends() {
        let (server, mut peer) = wanted(ALL);
        (0..3).for_each(|step| end(&server, step));
        server.push(ALL.1, StepId(0));
        end(&server, 3);
        assert_eq!([0; 4].map(|_| placed(&mut peer).0), [0, 1, 2, 3]);
    }
}
