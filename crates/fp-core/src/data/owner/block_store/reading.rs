//! Blocks that are in no memory: a thread that may wait for a disk reads them when somebody asks, and they are sent. So
//! what somebody reads slowly takes memory only while it is on its way.

use crate::coordinator::workers::{self, Task};
use crate::data::owner::block_store::stored_step::StoredStep;
use crate::data::owner::block_store::{BlockStore, Inner};
use crate::data::owner::subscriber_link::SubscriberLink;
use crate::value::counters::Counters;
use crate::value::stored_bytes::StoredBytes;
use fp_proto::data::{BlockPart, GoneReason};
use fp_transport::{LinkError, Payload};
use fp_types::StepId;
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

/// A question for parts of blocks, some of which have to be read first.
struct ReadTask {
    server: Weak<BlockStore>,
    token: u64,
    request: u64,
    step: StepId,
    pieces: Vec<BlockPart>,
    /// What is to be read, by the place of the block among those of its step.
    stored: BTreeMap<usize, Arc<dyn StoredBytes>>,
}

impl BlockStore {
    /// Has the blocks read that are in no memory. The answer follows.
    pub(super) fn read_later(
        &self,
        (step, stored): (StepId, &StoredStep),
        (token, served): (u64, &mut SubscriberLink),
        request: u64,
        pieces: Vec<BlockPart>,
    ) -> Result<(), LinkError> {
        served.begin_read()?;
        let of_block = |at: usize| Some((at, stored.blocks.get(at)?.stored()?.clone()));
        let found = stored.find(&pieces).unwrap_or_default();
        let stored = found.into_iter().filter_map(of_block).collect();
        let task = ReadTask { server: self.me.clone(), token, request, step, pieces, stored };
        if let Err(error) = workers::READING.submit(Arc::new(task)) {
            tracing::error!(%step, %error, "no thread can be started that reads blocks");
            served.end_read();
            return self.answer_gone(served, Some(request), step, GoneReason::Unreadable);
        }
        Ok(())
    }

    fn answer_read(&self, task: &ReadTask, read: Result<BTreeMap<usize, Payload>, GoneReason>) {
        let mut inner = self.lock();
        let Inner { steps, links, .. } = &mut *inner;
        let Some(served) = links.get_mut(&task.token) else { return };
        served.end_read();
        let (step, request) = (task.step, task.request);
        let sent = match (read, steps.get(&step)) {
            (Ok(read), Some(stored)) => {
                self.send_pieces((step, stored), served, request, (&task.pieces, &read))
            }
            (Ok(_), None) => self.answer_gone(served, Some(request), step, GoneReason::Step),
            (Err(reason), _) => self.answer_gone(served, Some(request), step, reason),
        };
        match sent {
            Ok(()) => self.watch(task.token, served),
            Err(error) => {
                tracing::debug!(%error, "data link closed");
                inner.part_with(&[task.token]);
            }
        }
    }
}

impl ReadTask {
    /// Reads all of it.
    fn read(&self) -> Result<BTreeMap<usize, Payload>, GoneReason> {
        let one = |(&at, stored): (&usize, &Arc<dyn StoredBytes>)| {
            let read = catch_unwind(AssertUnwindSafe(|| stored.read()));
            let bytes = read.unwrap_or_else(|_| Err(io::Error::other("it ended in a panic")))?;
            match bytes.len() as u64 == stored.len_bytes() {
                true => Ok((at, Payload::from_owner(bytes))),
                false => Err(io::Error::other("it has another length than was said")),
            }
        };
        self.stored.iter().map(one).collect::<io::Result<_>>().map_err(|error| {
            tracing::error!(step = %self.step, %error, "a stored block cannot be read");
            GoneReason::Unreadable
        })
    }
}

impl Task for ReadTask {
    fn stream(&self) -> usize {
        self.server.as_ptr() as usize
    }

    fn run(&self) {
        let Some(server) = self.server.upgrade() else { return };
        let inner = server.lock();
        let (has_step, has_link) =
            (inner.steps.contains_key(&self.step), inner.links.contains_key(&self.token));
        drop(inner);
        drop(server);
        let read = match has_link {
            true if has_step => self.read(),
            true => Err(GoneReason::Step),
            false => return,
        };
        if let Some(server) = self.server.upgrade() {
            let len_bytes = read.iter().flatten().map(|(_, payload)| payload.len()).sum();
            Counters::add(&server.counters.stored_read_bytes, len_bytes);
            server.answer_read(self, read);
        }
    }

    fn is_withdrawn(&self) -> bool {
        self.server.strong_count() == 0
    }
}
