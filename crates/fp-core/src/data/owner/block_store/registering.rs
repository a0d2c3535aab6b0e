//! Segments are registered before blocks in them are placed. A device may take long for it, so nobody holds the store
//! meanwhile. The thread that ends a step does it, or one of its own where a subscriber says late what it wants.

use crate::coordinator::workers::{self, Task};
use crate::data::owner::block_store::stored_step::StoredStep;
use crate::data::owner::block_store::{BlockStore, Inner};
use crate::data::owner::subscriber_link::SubscriberLink;
use fp_proto::data::EAGER_BYTES;
use fp_transport::{MemoryRegistrar, SegmentId};
use fp_types::StepId;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// What is to be registered, and with what.
pub(crate) type Unregistered = BTreeMap<(SegmentId, usize), MemoryRegistrar>;

/// Places blocks of steps for a link, once their segments are registered.
struct RegisterTask {
    server: Weak<BlockStore>,
    token: u64,
    steps: Vec<StepId>,
}

impl BlockStore {
    /// Registers what blocks of a step lie in, for those who are told of it as it ends. Waits for that. Gives what
    /// it tried, if there was anything to try.
    pub(crate) fn register_before_end(&self, step: StepId) -> Option<Unregistered> {
        if !self.reads_remote.load(Ordering::SeqCst) {
            return None;
        }
        let mut inner = self.lock();
        if inner.is_crowded() {
            // Nobody is told of it before it is assigned.
            return None;
        }
        let Inner { steps, links, .. } = &mut *inner;
        let stored = steps.get_mut(&step)?;
        let mut missing = Unregistered::new();
        links.values().for_each(|served| missing.extend(self.unregistered(stored, served)));
        drop(inner);
        self.register(&missing);
        Some(missing)
    }

    /// The segments in which blocks lie that this subscriber is told of, and that are not registered for it.
    pub(crate) fn unregistered(&self, stored: &mut StoredStep, served: &SubscriberLink) -> Unregistered {
        let mut missing = Unregistered::new();
        let Ok(registrar) = served.link.memory_registrar() else { return missing };
        for at in stored.wanted_by(served) {
            let Some(block) = stored.blocks.get_mut(at) else { continue };
            if block.len_bytes() <= EAGER_BYTES {
                continue;
            }
            let Some(location) = self.located(&stored.arena, block) else { continue };
            let is_known = served.announced.contains(&location.segment.0)
                || self.pool.known_remote_memory(location.segment, &registrar).is_some();
            if !is_known {
                missing.insert((location.segment, registrar.number()), registrar.clone());
            }
        }
        missing
    }

    fn register(&self, missing: &Unregistered) {
        for ((segment, _), registrar) in missing {
            if let Err(trouble) = self.pool.remote_memory(*segment, registrar) {
                tracing::warn!(%trouble, "a segment cannot be READ: its blocks are copied and sent");
            }
        }
    }

    /// Has blocks of these steps placed by a thread that may wait for the device. Whoever asks for them before gets
    /// them copied and sent.
    pub(crate) fn place_later(&self, token: u64, steps: Vec<StepId>) {
        if steps.is_empty() {
            return;
        }
        let task = RegisterTask { server: self.me.clone(), token, steps };
        if let Err(error) = workers::REGISTERING.submit(Arc::new(task)) {
            tracing::warn!(%error, "no thread can be started to register memory: blocks are copied and sent");
        }
    }

    fn register_and_place(&self, token: u64, steps: &[StepId]) {
        let mut inner = self.lock();
        let mut missing = Unregistered::new();
        inner.each_of((token, steps), |_, stored, served| missing.extend(self.unregistered(stored, served)));
        drop(inner);
        self.register(&missing);
        let mut inner = self.lock();
        let mut is_lost = false;
        inner.each_of((token, steps), |step, stored, served| {
            is_lost |= self.place_wanted(step, stored, served).is_err();
        });
        if let Some(served) = inner.links.get_mut(&token) {
            self.watch(token, served);
        }
        if is_lost {
            inner.part_with(&[token]);
        }
    }
}

impl Inner {
    /// Those of these steps that are here still, if the link is.
    fn each_of(
        &mut self,
        (token, steps): (u64, &[StepId]),
        mut visit: impl FnMut(StepId, &mut StoredStep, &mut SubscriberLink),
    ) {
        let Some(served) = self.links.get_mut(&token) else { return };
        for &step in steps {
            if let Some(stored) = self.steps.get_mut(&step) {
                visit(step, stored, served);
            }
        }
    }
}

impl Task for RegisterTask {
    fn stream(&self) -> usize {
        self.server.as_ptr() as usize
    }

    fn run(&self) {
        if let Some(server) = self.server.upgrade() {
            server.register_and_place(self.token, &self.steps);
        }
    }

    fn is_withdrawn(&self) -> bool {
        self.server.strong_count() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::DataServer;
    use crate::data::owner::block::{BlockBytes, StoredBlock};
    use crate::data::owner::block_store::testing::{link_of, server};
    use fp_proto::data::{BlockPart, DataMessage, PlacedBlocks, WantedVariable};
    use fp_proto::few::Few;
    use fp_proto::message::MemberId;
    use fp_transport::{Link, VerbsTrouble};
    use fp_types::{Dtype, Part, Region, SubscriptionId, VariableDef};
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(30);
    const LEN: u64 = 100_000;
    const SUBSCRIPTION: SubscriptionId = SubscriptionId(1);

    /// A device that says when it begins to register, and waits to be let go on for so many of the first times.
    fn gated(gates: usize) -> (MemoryRegistrar, Receiver<u64>, Sender<()>) {
        let (begun, begins) = channel();
        let (go, gate) = channel::<()>();
        let state = Mutex::new((begun, gates));
        let gate = Mutex::new(gate);
        let registrar = MemoryRegistrar::made_up(move |len_bytes| {
            let is_held = {
                let (begun, gates) = &mut *state.lock().unwrap();
                begun.send(len_bytes).unwrap();
                let held = *gates > 0;
                *gates = gates.saturating_sub(1);
                held
            };
            match is_held {
                true => gate.lock().unwrap().recv_timeout(PATIENCE).map_err(|_| VerbsTrouble::NoDevice),
                false => Ok(()),
            }
        });
        (registrar, begins, go)
    }

    fn put(server: &BlockStore, step: u64) {
        let arena =
            server.begin(StepId(step), [SUBSCRIPTION].into_iter().collect(), Few::new(), Arc::default());
        let payload = arena.loan(LEN as usize, 64).expect("room").freeze();
        let region = Region::new([0], [LEN]).unwrap();
        let def = Arc::new(VariableDef::local_array("x", Dtype::U8, 1));
        server.store(StepId(step), StoredBlock { def, index: 0, region, bytes: BlockBytes::Memory(payload) });
    }

    /// Says over a link that everything of x is wanted.
    fn want(server: &BlockStore, peer: &mut Link, token: u64) {
        let variables = vec![WantedVariable { name: "x".to_owned(), push: None }];
        ask(
            server,
            peer,
            token,
            DataMessage::Want { subscription: SUBSCRIPTION, member: MemberId(1), variables },
        );
        await_in(
            || server.lock().links.get(&token).is_some_and(|served| served.want.is_some()).then_some(()),
            || server.ready(token),
        );
    }

    fn ask(server: &BlockStore, peer: &mut Link, token: u64, message: DataMessage) {
        let deadline = Instant::now() + PATIENCE;
        peer.send_all(fp_transport::OutFrame::new(message.encode()), deadline).expect("sent");
        server.ready(token);
    }

    fn await_in<T>(mut look: impl FnMut() -> Option<T>, mut turn: impl FnMut()) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < deadline, "it does not come");
            turn();
            std::thread::yield_now();
        }
    }

    /// What the subscriber is told next, but for segments.
    fn told(peer: &mut Link) -> DataMessage {
        loop {
            let frame = peer.recv_deadline(Instant::now() + PATIENCE).expect("it is told");
            let message = DataMessage::decode(&frame.head).expect("a message");
            let mut body = vec![0; frame.body_len as usize];
            peer.recv_body_deadline(&mut body, Instant::now() + PATIENCE).expect("its body");
            if !matches!(message, DataMessage::SegmentIs { .. }) {
                return message;
            }
        }
    }

    fn placed(peer: &mut Link) -> (StepId, PlacedBlocks) {
        let message = told(peer);
        let DataMessage::Placed { step, request: None, blocks } = message else { panic!("{message:?}") };
        (step, blocks)
    }

    fn tokens(server: &BlockStore) -> Vec<u64> {
        server.lock().links.keys().copied().collect()
    }

    #[test]
    fn puts_other_steps_and_other_readers_go_on_while_memory_is_registered() {
        let (registrar, begins, go) = gated(1);
        let server = server();
        let mut reader = link_of(&server, |link| link.set_memory_registrar(registrar));
        let mut other = link_of(&server, |_| ());
        let tokens = tokens(&server);
        want(&server, &mut reader, tokens[0]);
        put(&server, 0);
        std::thread::scope(|scope| {
            let ending = scope.spawn(|| server.end(StepId(0)));
            begins.recv_timeout(PATIENCE).expect("it is registered as the step ends");
            let (done, went_on) = channel();
            let server = &server;
            let of_other = tokens[1];
            scope.spawn(move || {
                put(server, 1);
                server.end(StepId(1));
                let (request, step) = (7, StepId(1));
                let part = Part::Region(Region::new([0], [8]).unwrap());
                let pieces = vec![BlockPart { variable: "x".to_owned(), block: 0, part }];
                ask(server, &mut other, of_other, DataMessage::Fetch { request, step, pieces });
                done.send(told(&mut other)).unwrap();
            });
            let went_on = went_on.recv_timeout(Duration::from_secs(10));
            go.send(()).unwrap();
            assert_eq!(went_on, Ok(DataMessage::Pieces { request: 7, step: StepId(1) }));
            ending.join().unwrap();
        });
        assert_eq!(placed(&mut reader).0, StepId(1), "it did not wait for the first");
        let (step, blocks) = placed(&mut reader);
        assert_eq!((step, blocks.len()), (StepId(0), 1));
    }

    #[test]
    fn who_says_late_what_it_wants_is_told_when_that_is_registered() {
        let (registrar, begins, go) = gated(1);
        let server = server();
        let mut reader = link_of(&server, |link| link.set_memory_registrar(registrar));
        put(&server, 0);
        server.end(StepId(0));
        let token = tokens(&server)[0];
        want(&server, &mut reader, token);
        begins.recv_timeout(PATIENCE).expect("it is registered by a thread of its own");
        put(&server, 1);
        server.free(StepId(1), false);
        go.send(()).unwrap();
        assert_eq!(placed(&mut reader).0, StepId(0));
    }

    #[test]
    fn a_step_whose_memory_cannot_be_registered_ends_and_is_told_to_nobody() {
        let server = server();
        let refused = || Err(VerbsTrouble::MemoryLock { needed_bytes: LEN, limit_bytes: 1 });
        let calls = Arc::new(Mutex::new(0));
        let counted = calls.clone();
        let registrar = MemoryRegistrar::made_up(move |_| {
            let mut calls = counted.lock().unwrap();
            *calls += 1;
            if *calls == 1 { refused() } else { Ok(()) }
        });
        let mut reader = link_of(&server, |link| link.set_memory_registrar(registrar));
        let token = tokens(&server)[0];
        want(&server, &mut reader, token);
        (0..2).for_each(|step| {
            put(&server, step);
            server.end(StepId(step));
        });
        assert_eq!(placed(&mut reader).0, StepId(1), "of the first nothing was told");
        assert_eq!(*calls.lock().unwrap(), 2, "each tried once");
    }
}
