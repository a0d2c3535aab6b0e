//! How steps and data links end: no memory is lent again that somebody may still see.

use crate::data::owner::block::StoredBlock;
use crate::data::owner::block_store::made;
use crate::data::owner::block_store::stored_step::StoredStep;
use crate::data::owner::block_store::{BlockStore, Inner, LIMIT_SPARE};
use fp_transport::inproc;
use fp_types::StepId;

impl BlockStore {
    /// Nobody needs the step's blocks any more.
    pub(crate) fn free(&self, step: StepId, retire: bool) {
        let mut inner = self.lock();
        // Before its memory can be lent again.
        inner.end_reads_of(step, retire);
        let Some(mut stored) = inner.steps.remove(&step) else { return };
        made::forget(&mut inner.makings, step);
        drop(inner);
        for key in stored.exported.values() {
            inproc::withdraw(*key);
        }
        let len_bytes = stored.blocks.iter().map(StoredBlock::memory_bytes).sum();
        let made_bytes = stored.made_bytes;
        if retire {
            stored.arena.retire(stored.seen.to_vec());
        }
        if stored.clear(&self.pool) {
            self.keep_spare(stored);
        }
        // Who waits for room is woken when all of it is there.
        self.pool.sweep();
        self.room.free(len_bytes, made_bytes);
    }
}

impl BlockStore {
    fn keep_spare(&self, spare: Box<StoredStep>) {
        let mut inner = self.lock();
        if inner.spare.len() < LIMIT_SPARE {
            inner.spare.push(spare);
        }
    }
}

impl Inner {
    /// The memory of a step is to be refilled: parts with the links whose peers were told of it and may not have
    /// released it.
    fn end_reads_of(&mut self, step: StepId, retire: bool) {
        if self.links.values().all(|served| served.was_told_nothing()) {
            return;
        }
        let told = self.links.iter_mut().filter_map(|(token, served)| {
            let ends = served.ends_with(step, retire);
            ends.then_some(*token)
        });
        let told: Vec<u64> = told.collect();
        self.part_with(&told);
    }

    /// Ends links. Where a peer may go on to READ, the memory of every step that it was told of is not used again,
    /// whoever releases it.
    pub(crate) fn part_with(&mut self, tokens: &[u64]) {
        if tokens.is_empty() {
            return;
        }
        made::part_with(&mut self.makings, tokens);
        let parted: Vec<_> = tokens.iter().filter_map(|token| self.links.remove(token)).collect();
        if !parted.is_empty() {
            self.of_member.retain(|(_, token)| !tokens.contains(token));
        }
        for step in parted.into_iter().flat_map(|served| served.end()) {
            if let Some(stored) = self.steps.get(&step) {
                stored.arena.withhold();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::DataServer;
    use crate::data::owner::block_store::testing::{link_of, server};
    use fp_proto::few::Few;
    use fp_transport::Link;
    use fp_transport::link::Faults;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const LEN_BYTES: usize = 100_000;

    /// A publisher's server, and the other end of the link that it serves, which has faults.
    fn served(faults: Faults) -> (Arc<BlockStore>, Link) {
        let server = server();
        let peer = link_of(&server, |link| link.set_faults(faults));
        (server, peer)
    }

    /// A step with memory; whether the peer was told where it can READ it.
    fn begin(server: &BlockStore, step: u64, told: bool) {
        let arena = server.begin(StepId(step), Few::new(), Few::new(), Arc::default());
        drop(arena.loan(LEN_BYTES, 64).expect("room"));
        if told {
            server.lock().links.values_mut().for_each(|served| served.may_read(StepId(step)));
        }
    }

    /// Whether the memory of this step, which ends now, may be filled by another one.
    fn is_refilled_after(server: &BlockStore, step: u64, retire: bool) -> bool {
        let before = server.pool.stats();
        server.free(StepId(step), retire);
        let after = server.pool.stats();
        assert!(after.live_bytes + LEN_BYTES as u64 <= before.live_bytes, "{before:?} {after:?}");
        assert_eq!(after.retired, 0, "nothing waits for ever");
        after.kept_bytes > before.kept_bytes
    }

    fn links(server: &BlockStore) -> usize {
        server.lock().links.len()
    }

    #[test]
    fn memory_is_refilled_when_the_access_of_those_who_were_told_of_it_has_ended() {
        let (server, _peer) = served(Faults::default());
        begin(&server, 1, true);
        begin(&server, 2, true);
        assert!(is_refilled_after(&server, 1, false), "released");
        assert_eq!(links(&server), 1);
        assert!(is_refilled_after(&server, 2, true), "revoked");
        assert_eq!(links(&server), 0);
    }

    #[test]
    fn memory_is_never_refilled_where_the_access_of_a_peer_could_not_be_ended() {
        let (server, _peer) = served(Faults { stays_open: true, ..Faults::default() });
        (1..=4).for_each(|step| begin(&server, step, step != 3));
        assert!(!is_refilled_after(&server, 1, true));
        assert_eq!(links(&server), 0);
        assert_eq!(server.pool.drain_let_go().len(), 1, "its peers are told that the segment is gone");
        assert!(!is_refilled_after(&server, 2, true), "the same peer was told of it");
        assert!(is_refilled_after(&server, 3, true), "nobody was told of it");
        assert!(!is_refilled_after(&server, 4, false), "who released it was perhaps another");
        begin(&server, 5, false);
        assert_eq!(server.pool.stats().recycled, 1, "what the third had");
    }

    #[test]
    fn a_link_that_is_lost_by_itself_is_asked_whether_its_access_has_ended() {
        let (server, peer) = served(Faults { stays_open: true, ..Faults::default() });
        begin(&server, 1, true);
        let token = *server.lock().links.keys().next().expect("a link");
        drop(peer);
        let deadline = Instant::now() + Duration::from_secs(30);
        while links(&server) > 0 {
            server.ready(token);
            assert!(Instant::now() < deadline, "it does not hear that its peer is gone");
            std::thread::yield_now();
        }
        assert!(!is_refilled_after(&server, 1, true));
    }
}
