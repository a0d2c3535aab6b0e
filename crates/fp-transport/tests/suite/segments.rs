//! Segments between processes and at their limits: recycling, seals, retirement of what a stopped process still sees.

use crate::support::*;
use fp_transport::link::LinkError;
use fp_transport::memory::MapOptions;
use fp_transport::{
    Link, Location, MappedSegment, MappedSlice, MemoryError, OutFrame, Payload, Pool, PoolOptions,
    ProcessWatch, SegmentDescriptor, SegmentId, TransportKind, dial,
};
use proptest::prelude::*;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use std::os::fd::OwnedFd;
use std::sync::Arc;

const PAGE: u64 = 4096;

fn filled(pool: &Pool, seed: usize, len: usize) -> Payload {
    let mut loan = pool.loan(len, 64).expect("room");
    loan.copy_from_slice(&bytes(seed, len));
    loan.freeze()
}

fn fd_of(pool: &Pool, id: SegmentId) -> OwnedFd {
    pool.segment_fd(id).expect("a shareable segment").try_clone().expect("a descriptor")
}

fn map(pool: &Pool, location: Location) -> MappedSlice {
    let SegmentDescriptor { id, len_bytes } = pool.segment_descriptor(location.segment).expect("it is live");
    let mapped = MappedSegment::map(fd_of(pool, id), len_bytes, MapOptions::default()).expect("sealed by us");
    mapped.slice(location.offset, location.len).expect("within")
}

#[test]
fn a_peer_sees_the_bytes_without_a_copy() {
    let pool = Pool::new(PoolOptions::default());
    let payload = filled(&pool, 1, 100_000);
    let slice = map(&pool, payload.location().expect("shareable"));
    assert_eq!(slice.as_ref(), payload.as_slice());
    assert_ne!(slice.as_ref().as_ptr(), payload.as_slice().as_ptr(), "two mappings of one memory");
    let received = Payload::from_owner(slice.clone());
    assert_eq!(received.as_slice().as_ptr(), slice.as_ref().as_ptr());
    drop((pool, payload));
    assert_eq!(received.as_slice(), bytes(1, 100_000), "the mapping outlives the pool");
}

#[test]
fn what_is_not_sealed_or_not_as_long_is_refused() {
    let memfd = |len: u64, seals: SealFlags| {
        let fd = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("a memfd");
        ftruncate(&fd, len).expect("room");
        fcntl_add_seals(&fd, seals).expect("sealed");
        fd
    };
    let map = |fd: OwnedFd, len: u64| MappedSegment::map(fd, len, MapOptions::default());
    let all = SealFlags::FUTURE_WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    assert!(map(memfd(PAGE, all), PAGE).is_ok());
    for missing in [SealFlags::FUTURE_WRITE, SealFlags::SHRINK, SealFlags::GROW, SealFlags::SEAL] {
        let error = map(memfd(PAGE, all - missing), PAGE).expect_err("a seal is missing");
        assert!(
            matches!(error, MemoryError::NotSealed { found, needed } if needed == found | missing.bits())
        );
    }
    let error = map(memfd(PAGE, all), 2 * PAGE).expect_err("shorter than announced");
    assert!(matches!(error, MemoryError::WrongLen { expected_bytes: 8192, found_bytes: 4096 }));
    let error = map(memfd(2 * PAGE, all), PAGE).expect_err("longer than announced");
    assert!(matches!(error, MemoryError::WrongLen { expected_bytes: 4096, found_bytes: 8192 }));
    assert!(matches!(map(memfd(0, all), 0), Err(MemoryError::WrongLen { .. })));
    let (pipe, _other) = rustix::pipe::pipe().expect("a pipe");
    assert!(matches!(map(pipe, PAGE), Err(MemoryError::NotMemfd(_))));
    let file = std::fs::File::open("/proc/self/exe").expect("a file");
    assert!(matches!(map(file.into(), PAGE), Err(MemoryError::NotMemfd(_) | MemoryError::NotSealed { .. })));
}

#[test]
fn a_slice_of_a_segment_is_checked() {
    let pool = Pool::new(PoolOptions::default());
    let location = filled(&pool, 1, 5000).location().expect("shareable");
    let len = pool.segment_descriptor(location.segment).expect("live").len_bytes;
    let mapped =
        MappedSegment::map(fd_of(&pool, location.segment), len, MapOptions::default().with_prefault(true));
    let mapped = mapped.expect("sealed by us");
    assert_eq!(mapped.slice(len, 0).expect("the end is within").as_ref().len(), 0);
    for (offset, slice_len) in [(len, 1), (0, len + 1), (u64::MAX, 2), (1, u64::MAX), (len + 1, 0)] {
        let refused = mapped.slice(offset, slice_len);
        assert!(matches!(refused, Err(MemoryError::OutOfBounds { .. })), "{offset} {slice_len}");
    }
}

#[test]
fn segments_are_recycled_only_when_nobody_holds_a_block() {
    let pool = Pool::new(PoolOptions::default());
    let arena = pool.arena();
    let first = arena.loan(1000, 64).expect("room").freeze();
    let second = arena.loan(1000, 64).expect("room").freeze();
    let (one, two) = (first.location().expect("shareable"), second.location().expect("shareable"));
    assert_eq!((one.segment, one.offset, two.segment, two.offset), (two.segment, 0, one.segment, 1024));
    drop((arena, first));
    // The second block still holds the segment of the step.
    let other = pool.arena().loan(1000, 64).expect("room").freeze();
    assert_ne!(other.location().expect("shareable").segment, one.segment);
    drop(second);
    let again = pool.arena().loan(1000, 64).expect("room").freeze();
    assert_eq!(again.location().expect("shareable").segment, one.segment);
    let stats = pool.stats();
    assert_eq!((stats.segments_made, stats.recycled), (2, 1));
    assert_eq!((stats.live_bytes, stats.kept_bytes), (128 << 10, 0), "two of the shortest");
}

#[test]
fn of_equal_segments_that_comes_back_last_is_lent_first() {
    let pool = Pool::new(PoolOptions::default());
    let lent: Vec<_> = (0..3).map(|_| pool.loan(1 << 20, 64).expect("room").freeze()).collect();
    let last = lent[1].location().expect("shareable").segment;
    let [first, second, third]: [_; 3] = lent.try_into().expect("three");
    drop((third, first));
    drop(second);
    let again = pool.loan(1 << 20, 64).expect("room").freeze();
    assert_eq!(again.location().expect("shareable").segment, last);
}

#[test]
fn segments_for_small_blocks_are_as_long_as_steps_were_lately() {
    let pool = Pool::new(PoolOptions::default());
    let step = |blocks: usize, len: usize| {
        let arena = pool.arena();
        let held: Vec<_> = (0..blocks).map(|_| arena.loan(len, 64).expect("room").freeze()).collect();
        (held, pool.stats().live_bytes)
    };
    // The first step does not know what comes: each of its segments is as long as all before it.
    let (first, bytes) = step(100, 10_000);
    assert_eq!((pool.stats().segments_made, bytes), (5, 16 * (64 << 10)));
    drop(first);
    pool.trim();
    let made = pool.stats().segments_made;
    let (second, bytes) = step(100, 10_000);
    assert_eq!(pool.stats().segments_made, made + 1, "one segment for all");
    assert!(bytes <= 1_000_000 + 1_000_000 / 8, "{bytes}");
    drop(second);
    // One block of a step, and nothing beside it.
    let pool = Pool::new(PoolOptions::default());
    let _block = pool.arena().loan(1 << 20, 64).expect("room").freeze();
    assert_eq!(pool.stats().live_bytes, 1 << 20);
}

#[test]
fn the_steady_state_makes_no_segment() {
    let pool = Pool::new(PoolOptions::default());
    let mut live = std::collections::VecDeque::new();
    for step in 0..50usize {
        // Sizes change a little from step to step, as those of particles do.
        live.push_back(filled(&pool, step, 10_000_000 + step * 500));
        if live.len() > 4 {
            live.pop_front();
        }
    }
    let stats = pool.stats();
    assert_eq!(stats.segments_made, 5);
    assert!(stats.peak_bytes <= 5 * 11_000_000, "{stats:?}");
    drop(live);
    // Another size: what is kept is let go of rather than added to.
    let larger = filled(&pool, 0, 20_000_000);
    assert!(pool.stats().live_bytes + pool.stats().kept_bytes <= 5 * 11_000_000, "{:?}", pool.stats());
    assert!(!pool.drain_let_go().is_empty() && pool.drain_let_go().is_empty());
    pool.trim();
    assert_eq!((pool.stats().kept_bytes, larger.len()), (0, 20_000_000));
}

#[test]
fn a_small_loan_does_not_take_a_large_segment() {
    let pool = Pool::new(PoolOptions::default());
    drop(filled(&pool, 1, 64 << 20));
    let small = filled(&pool, 2, 1 << 20);
    let stats = pool.stats();
    assert_eq!((stats.live_bytes, stats.kept_bytes, small.len()), (1 << 20, 0, 1 << 20), "{stats:?}");
    // What was let go makes room: the pool holds no more than the most that was lent.
    drop(small);
    let large = filled(&pool, 3, 63 << 20);
    assert!(pool.stats().peak_bytes <= 64 << 20, "{:?}", (pool.stats(), large));
}

#[test]
fn limits_are_errors_with_numbers() {
    let pool = Pool::new(PoolOptions::default().with_limit_bytes(10 << 20));
    let held = filled(&pool, 1, 6 << 20);
    let error = pool.loan(6 << 20, 64).expect_err("over the limit");
    let (asked, used, limit) = (6 << 20, 6 << 20, 10 << 20);
    assert!(
        matches!(error, MemoryError::NoRoom { asked_bytes, used_bytes, limit_bytes, cause: None }
            if (asked_bytes, used_bytes, limit_bytes) == (asked, used, limit)),
        "{error}"
    );
    drop(held);
    assert!(pool.loan(9 << 20, 64).is_ok(), "what is kept makes room");
    for len in [usize::MAX, isize::MAX as usize, 1 << 60] {
        assert!(matches!(pool.loan(len, 64), Err(MemoryError::NoRoom { .. })));
    }
    for align in [0, 3, 8192] {
        assert!(matches!(pool.loan(1, align), Err(MemoryError::Alignment { limit: 4096, .. })));
    }
}

#[test]
fn limits_of_the_process_are_errors() {
    let mut child = Guard(child(module_path!(), "limits", None));
    assert!(child.0.wait().expect("it ends").success());
}

/// In a process of its own: the limits are for all threads, and one of them kills when it is not seen coming.
fn reach_the_limits() {
    let pool = Pool::new(PoolOptions::default().with_limit_bytes(1 << 40));
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(1 << 20), ..before }).expect("a lower limit");
    let error = pool.loan(2 << 20, 64).expect_err("RLIMIT_FSIZE");
    assert!(
        matches!(&error, MemoryError::NoRoom { cause: Some(_), limit_bytes, .. } if *limit_bytes == 1 << 40)
    );
    assert!(pool.loan(1 << 20, 64).is_ok());
    setrlimit(Resource::Fsize, before).expect("the old limit");

    // More than the machine has: an error before anything is taken (or this process, and no other, would be killed).
    std::fs::write("/proc/self/oom_score_adj", "1000").expect("anybody may volunteer");
    assert!(matches!(pool.loan(1 << 38, 64), Err(MemoryError::NoRoom { cause: Some(_), .. })));
    assert_eq!(pool.stats().live_bytes, 0, "nothing is booked");

    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), ..before }).expect("a lower limit");
    let mut held = Vec::new();
    let error = loop {
        match pool.loan(PAGE as usize, 64) {
            Ok(loan) => held.push(loan),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, MemoryError::NoDescriptor { limit: Some(100) }), "{error}");
    lose_descriptors();
    setrlimit(Resource::Nofile, before).expect("the old limit");
    assert!(pool.loan(5 << 20, 64).is_ok(), "the pool is sound");
}

/// Every descriptor is taken: one that a peer sends cannot come in, and that is said. A link that needs none goes on,
/// though rings would be offered.
fn lose_descriptors() {
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(200), ..before }).expect("a limit");
    let (mut one, mut other) = pair(TransportKind::Shm);
    let (mut near, mut far) = pair(TransportKind::Shm);
    let sent =
        Arc::new(rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).expect("a descriptor"));
    one.send(OutFrame::new(vec![1]).with_descriptor(Arc::clone(&sent))).expect("sent");
    let mut hoard = Vec::new();
    while let Ok(descriptor) = sent.try_clone() {
        hoard.push(descriptor);
    }
    let error = other.recv_deadline(soon()).expect_err("no room for a descriptor");
    assert!(matches!(error, LinkError::DescriptorsLost { limit: Some(200) }), "{error}");
    for number in 0..40u8 {
        near.send(OutFrame::new(vec![number])).expect("sent");
        assert_eq!(far.recv_deadline(soon()).expect("a frame").head, [number]);
    }
    assert!(far.watch_ring().is_none(), "there was room for a ring: this shows nothing");
}

#[test]
fn a_pool_that_nobody_shares_has_no_locations() {
    let pool = Pool::new(PoolOptions::default().with_shareable(false));
    let payload = filled(&pool, 2, 3000);
    assert_eq!((payload.location(), payload.as_slice()), (None, &bytes(2, 3000)[..]));
    assert_eq!(pool.loan(0, 4096).expect("nothing is always there").freeze().as_slice(), b"");
}

/// The `VmFlags` of the mapping that holds an address.
fn flags_at(address: usize) -> String {
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("proc");
    let holds = |line: &str| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        Some((start..end).contains(&address))
    };
    let mut lines = maps.lines().skip_while(|line| holds(line) != Some(true));
    lines.find_map(|line| line.strip_prefix("VmFlags:")).expect("a mapping").to_string()
}

/// `dc` among the flags of a mapping: a fork does not copy it.
#[test]
fn what_can_be_written_to_is_not_inherited_by_a_fork() {
    let pool = Pool::new(PoolOptions::default());
    let payload = filled(&pool, 3, 5000);
    let mapped = map(&pool, payload.location().expect("shareable"));
    let own = vec![0u8; 1 << 20];
    let copied = |bytes: &[u8]| !flags_at(bytes.as_ptr() as usize).split(' ').any(|flag| flag == "dc");
    assert_eq!([payload.as_slice(), mapped.as_ref(), &own].map(copied), [false, true, true]);
}

fn announce(link: &mut Link, pool: &Pool, location: Location) {
    let descriptor = pool.segment_descriptor(location.segment).expect("it is live");
    let head = [descriptor.len_bytes, location.offset, location.len].map(u64::to_le_bytes).concat();
    let fd = pool.segment_fd(location.segment).expect("it is live");
    link.send_all(OutFrame::new(head).with_descriptor(fd), soon()).expect("announced");
}

/// The rule "lost is not dead". A stopped subscriber that is given up still sees the bytes of its step when it goes on,
/// whatever the publisher has written since. When its process is gone the memory is used again.
#[test]
fn a_stopped_process_still_sees_its_step() {
    let pool = Pool::new(PoolOptions::default().with_limit_bytes(64 << 20));
    let mut listener = listener();
    let mut child = Guard(child(module_path!(), "map", Some(listener.contact())));
    let mut link = accept(&mut listener).link;
    let arena = pool.arena();
    let mut loan = arena.loan(3 << 20, 64).expect("room");
    loan.copy_from_slice(&bytes(11, 3 << 20));
    let payload = loan.freeze();
    let location = payload.location().expect("shareable");
    announce(&mut link, &pool, location);
    assert_eq!(link.recv_deadline(soon()).expect("it answers").head, b"mapped");
    let pid = stop(&child.0);

    let watch = link.watch().cloned().expect("shm watches its peer");
    arena.retire(vec![watch]);
    drop((arena, payload));
    assert_eq!((pool.stats().retired, pool.sweep()), (1, 0), "it is merely silent");
    // Everything that the pool can still give is overwritten.
    let mut others = Vec::new();
    while let Ok(mut loan) = pool.loan(3 << 20, 64) {
        loan.fill(0xff);
        let payload = loan.freeze();
        assert_ne!(payload.location().expect("shareable").segment, location.segment);
        others.push(payload);
    }
    assert!(!others.is_empty());

    kill_process(pid, Signal::CONT).expect("continued");
    link.send_all(OutFrame::new(b"what do you see?".to_vec()), soon()).expect("asked");
    let frame = link.recv_deadline(soon()).expect("it answers");
    let mut seen = vec![0; frame.body_len as usize];
    link.recv_body_deadline(&mut seen, soon()).expect("its view");
    assert!(seen == bytes(11, 3 << 20), "the bytes of its step");

    child.0.kill().expect("kill -9");
    child.0.wait().expect("it ends");
    assert_eq!((pool.sweep(), pool.stats().retired), (1, 0));
    let reused = pool.loan(3 << 20, 64).expect("room again").freeze();
    assert_eq!(reused.location().expect("shareable").segment, location.segment);
}

#[test]
fn retiring_waits_for_every_watched_process() {
    let pool = Pool::new(PoolOptions::default());
    let mut children =
        [Guard(child(module_path!(), "wait", None)), Guard(child(module_path!(), "wait", None))];
    let watches = children.each_ref().map(|child| ProcessWatch::open(child.0.id()).expect("a watch"));
    let arena = pool.arena();
    drop(arena.loan(100, 64).expect("room"));
    let [one, two] = watches;
    arena.retire(vec![one]);
    arena.retire(vec![two]);
    drop(arena);
    for (index, child) in children.iter_mut().enumerate() {
        assert_eq!((pool.sweep(), pool.stats().retired), (0, 1), "{index} gone");
        child.0.kill().expect("kill -9");
        child.0.wait().expect("it ends");
    }
    assert_eq!((pool.sweep(), pool.stats().retired), (1, 0));
}

#[test]
fn child_entry() {
    let Some((role, contact)) = role() else { return };
    match role.as_str() {
        "limits" => reach_the_limits(),
        "map" => {
            let contact = contact.expect("a contact");
            see_and_tell(dial(&contact, &options(TransportKind::Shm)).expect("the dial succeeds"));
        }
        _ => await_fd(listener(), rustix::event::PollFlags::IN, "being killed", soon()),
    }
}

fn see_and_tell(mut link: Link) {
    let mut frame = link.recv_deadline(soon()).expect("an announcement");
    let numbers: Vec<u64> =
        frame.head.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let [len, offset, slice_len] = numbers[..] else { panic!("three numbers") };
    let fd = frame.descriptors.pop().expect("a descriptor");
    let mapped = MappedSegment::map(fd, len, MapOptions::default()).expect("a sealed segment");
    let view = mapped.slice(offset, slice_len).expect("within");
    link.send_all(OutFrame::new(b"mapped".to_vec()), soon()).expect("told");
    link.recv_deadline(soon()).expect("the question");
    link.send_all(OutFrame::new(vec![]).with_body(vec![Payload::from_owner(view)]), soon()).expect("told");
    let _ = link.recv_deadline(soon());
}

#[derive(Debug, Clone)]
enum Action {
    Lend { len: usize, align_bits: u32, arena: bool },
    Drop { index: usize },
    NextStep,
    Retire,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (0usize..40_000, 0u32..=12, any::<bool>())
            .prop_map(|(len, align_bits, arena)| Action::Lend { len, align_bits, arena }),
        4 => any::<usize>().prop_map(|index| Action::Drop { index }),
        1 => Just(Action::NextStep),
        1 => Just(Action::Retire),
    ]
}

#[test]
fn segments_are_whole_pages_whatever_length_is_set() {
    let len = |len_bytes| PoolOptions::default().with_segment_len_bytes(len_bytes).segment_len_bytes;
    assert_eq!([0, 1, 4096, 4097].map(len), [4096, 4096, 4096, 8192]);
    assert_eq!(len(usize::MAX), PoolOptions::default().segment_len_bytes, "no page ends there");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Every live payload keeps its bytes whatever is lent, dropped and retired around it, and the numbers add up.
    #[test]
    fn live_payloads_never_change(actions in prop::collection::vec(action(), 1..80)) {
        let limit = 1 << 20;
        let pool = Pool::new(PoolOptions::default().with_segment_len_bytes(16_384).with_limit_bytes(limit));
        let own = ProcessWatch::open(std::process::id()).expect("a watch of ourselves");
        let (mut arena, mut live): (_, Vec<(usize, Payload)>) = (pool.arena(), Vec::new());
        for (seed, action) in actions.into_iter().enumerate() {
            match action {
                Action::Lend { len, align_bits, arena: from_arena } => {
                    let align = 1 << align_bits;
                    let lent = if from_arena { arena.loan(len, align) } else { pool.loan(len, align) };
                    let Ok(mut loan) = lent else { continue };
                    prop_assert_eq!(loan.as_ptr() as usize % align.max(64), 0);
                    loan.copy_from_slice(&bytes(seed, len));
                    live.push((seed, loan.freeze()));
                }
                Action::Drop { index } if !live.is_empty() => { live.swap_remove(index % live.len()); }
                Action::Drop { .. } => {}
                Action::NextStep => arena = pool.arena(),
                Action::Retire => arena.retire(vec![own.clone()]),
            }
            for (seed, payload) in &live {
                prop_assert!(payload.as_slice() == bytes(*seed, payload.len()), "block {} changed", seed);
            }
            let stats = pool.stats();
            let total = stats.live_bytes + stats.kept_bytes + stats.retired_bytes;
            prop_assert!(total <= limit && total <= stats.peak_bytes);
        }
        drop((live, arena));
        prop_assert_eq!(pool.stats().live_bytes, 0);
        prop_assert_eq!(pool.sweep(), 0, "this process is not gone");
    }
}
