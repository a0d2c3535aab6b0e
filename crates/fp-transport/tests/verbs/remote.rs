//! READs of a peer's memory, and how access to it ends.

use super::harness::Test;
use super::support::{
    EPOCH, Guard, accept, bytes, child_command, connected, options, role, soon, stop, token, verbs_listener,
    verbs_pair,
};
use fp_transport::verbs::{Breakage, DomainStats};
use fp_transport::{
    DialError, Domain, Link, LinkError, ListenOptions, Listener, OutFrame, Payload, Pool, PoolOptions,
    ReadRun, Reason, RemoteMemory, TransportKind, VerbsTrouble, dial, verbs_devices,
};
use rustix::process::{Signal, kill_process};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The tests.
pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test::new("strided_runs_are_read_to_their_places", strided_runs_are_read_to_their_places),
        Test::new("a_large_block_is_read_whole", a_large_block_is_read_whole),
        Test::new("nothing_is_registered_twice", nothing_is_registered_twice),
        Test::new("reads_through_memory_of_the_domain", reads_through_memory_of_the_domain),
        Test::new("a_part_of_a_guard_is_read_into", a_part_of_a_guard_is_read_into),
        Test::new("reads_while_looking_again_and_again", reads_while_looking_again_and_again),
        Test::new("a_wrong_key_reads_nothing", a_wrong_key_reads_nothing),
        Test::new("runs_outside_are_refused", runs_outside_are_refused),
        Test::new("a_revoked_peer_reads_nothing", a_revoked_peer_reads_nothing),
        Test::new("a_paused_and_expelled_peer_reads_nothing", a_paused_and_expelled_peer_reads_nothing),
        Test::new("a_killed_peer_is_noticed", a_killed_peer_is_noticed),
        Test::new("messages_come_between_reads", messages_come_between_reads),
        Test::new("too_low_a_limit_of_locked_memory_is_told", too_low_a_limit_of_locked_memory_is_told),
        Test::new("a_device_that_comes_and_goes_is_followed", a_device_that_comes_and_goes_is_followed),
        // The last one: it takes the device's link down for a moment.
        Test::new("a_port_that_goes_down_ends_its_links", a_port_that_goes_down_ends_its_links),
    ]
}

/// A block of a pool.
fn block(pool: &Pool, seed: usize, len: usize) -> Payload {
    let mut loan = pool.loan(len, 64).expect("room");
    loan.copy_from_slice(&bytes(seed, len));
    loan.freeze()
}

/// The block as the link's peer may read it.
fn remote(pool: &Pool, block: &Payload, link: &Link) -> RemoteMemory {
    let location = block.location().expect("of a pool");
    let segment = pool
        .remote_memory(location.segment, &link.memory_registrar().expect("verbs"))
        .expect("registered")
        .expect("a segment of the pool");
    RemoteMemory { address: segment.address + location.offset, len_bytes: location.len, ..segment }
}

fn whole(len_bytes: usize) -> [ReadRun; 1] {
    [ReadRun { source: 0, destination: 0, len_bytes }]
}

fn strided_runs_are_read_to_their_places() {
    let (mut one, other) = verbs_pair();
    let pool = Pool::new(PoolOptions::default());
    let (rows, row, taken) = (500, 640, 416);
    let source = block(&pool, 3, rows * row);
    let remote = remote(&pool, &source, &other);
    // Every second row dense (neighbours at the peer, apart here), and a part of the others.
    let runs: Vec<ReadRun> = (0..rows)
        .map(|at| {
            let len_bytes = if at % 2 == 0 { row } else { taken };
            ReadRun { source: (at * row) as u64, destination: (rows - 1 - at) * row, len_bytes }
        })
        .collect();
    let mut memory = vec![0xee; rows * row];
    let mut destination = one.register(&mut memory).expect("registered");
    one.read_remote(&remote, &mut destination, &runs, soon()).expect("read");
    drop(destination);
    for (at, found) in memory.chunks(row).rev().enumerate() {
        let len = if at % 2 == 0 { row } else { taken };
        assert_eq!(found[..len], source.as_slice()[at * row..at * row + len], "row {at}");
        assert!(found[len..].iter().all(|byte| *byte == 0xee), "row {at}: written beyond its run");
    }
}

fn a_large_block_is_read_whole() {
    let (mut one, other) = verbs_pair();
    let pool = Pool::new(PoolOptions::default());
    let len = 20 << 20;
    let source = block(&pool, 4, len);
    let remote = remote(&pool, &source, &other);
    let mut memory = vec![0; len];
    let mut destination = one.register(&mut memory).expect("registered");
    one.read_remote(&remote, &mut destination, &whole(len), soon()).expect("read");
    drop(destination);
    assert!(memory == source.as_slice());
}

fn nothing_is_registered_twice() {
    let domain = Domain::new();
    let mut listener = verbs_listener(&domain);
    let ours = Domain::new();
    let dialling = options(TransportKind::Verbs).with_token(Some(token())).with_domain(ours.clone());
    let (mut one, other) = connected(&mut listener, dialling);
    let pool = Pool::new(PoolOptions::default());
    let mut memory = vec![0; 100_000];
    let mut destination = one.register(&mut memory).expect("registered");
    let mut seen = Vec::new();
    for step in 0..6 {
        let source = block(&pool, step, 100_000);
        let remote = remote(&pool, &source, &other.link);
        one.read_remote(&remote, &mut destination, &whole(100_000), soon()).expect("read");
        drop(source);
        seen.push((domain.stats().registrations, ours.stats().registrations));
    }
    drop(destination);
    assert_eq!(memory, bytes(5, 100_000));
    assert_eq!(pool.stats().segments_made, 1);
    // One for each link's own messages, one for the segment, one for the destination.
    assert!(seen.iter().all(|counts| *counts == (2, 2)), "{seen:?}");
    let DomainStats { reads, read_bytes, .. } = ours.stats();
    assert_eq!((read_bytes, domain.stats().reads), (600_000, 0));
    assert_eq!(reads, 7, "one for each step and one for the probe");
}

/// Runs of many lengths, longer than the landing and shorter, in another order than they lie in: twice, registered
/// once.
fn reads_through_memory_of_the_domain() {
    let domain = Domain::new();
    let mut listener = verbs_listener(&Domain::new());
    let dialling = options(TransportKind::Verbs).with_token(Some(token())).with_domain(domain.clone());
    let (mut one, other) = connected(&mut listener, dialling);
    let pool = Pool::new(PoolOptions::default());
    let len = 700_000;
    let source = block(&pool, 9, len);
    let remote = remote(&pool, &source, &other.link);
    for landing_bytes in [10_000, 100_000, 1 << 20] {
        let mut runs = Vec::new();
        let (mut from, mut run) = (0, 1);
        while from < len {
            let len_bytes = (run * 7919 % 90_000).min(len - from);
            runs.push(ReadRun { source: from as u64, destination: len - from - len_bytes, len_bytes });
            (from, run) = (from + len_bytes, run + 1);
        }
        let before = domain.stats().registrations;
        for _ in 0..2 {
            let mut found = vec![0xee; len];
            let mut landing = one.landing(landing_bytes).expect("memory");
            one.read_remote_through(&remote, &mut landing, (&mut found, &runs), soon()).expect("read");
            for run in &runs {
                let of_source = &source.as_slice()[run.source as usize..][..run.len_bytes];
                assert!(found[run.destination..][..run.len_bytes] == *of_source, "{run:?}");
            }
        }
        assert_eq!(domain.stats().registrations, before + 1, "{landing_bytes}");
    }
    let outside = [ReadRun { source: 0, destination: len - 5, len_bytes: 6 }];
    let mut landing = one.landing(4096).expect("memory");
    let read = one.read_remote_through(&remote, &mut landing, (&mut vec![0; len], &outside), soon());
    assert!(matches!(read, Err(LinkError::Malformed { .. })), "{read:?}");
}

fn a_part_of_a_guard_is_read_into() {
    let (mut one, other) = verbs_pair();
    let pool = Pool::new(PoolOptions::default());
    let source = block(&pool, 11, 40_000);
    let remote = remote(&pool, &source, &other);
    let (mut memory, mut foreign) = (vec![0xee; 90_000], vec![0; 40_000]);
    let mut guard = one.register(&mut memory).expect("registered");
    let (slice, keys) = guard.parts();
    let part = (&mut slice[30_000..70_000], keys);
    one.read_remote_into(&remote, part, &whole(40_000), soon()).expect("read");
    let elsewhere = one.read_remote_into(&remote, (&mut foreign, guard.parts().1), &whole(40_000), soon());
    assert!(matches!(elsewhere, Err(LinkError::Malformed { .. })), "{elsewhere:?}");
    assert_eq!(guard.devices(), 1);
    drop(guard);
    assert!(memory[30_000..70_000] == *source.as_slice());
    assert!(memory[..30_000].iter().chain(&memory[70_000..]).all(|byte| *byte == 0xee));
}

/// Frames and READs, with the waits for both sides' answers spent looking.
fn reads_while_looking_again_and_again() {
    let (mut one, mut other) = verbs_pair();
    one.set_busy_poll(Duration::from_secs(60));
    let pool = Pool::new(PoolOptions::default());
    let source = block(&pool, 12, 300_000);
    let remote = remote(&pool, &source, &other);
    let mut memory = vec![0; 300_000];
    let mut destination = one.register(&mut memory).expect("registered");
    for _ in 0..5 {
        one.read_remote(&remote, &mut destination, &whole(300_000), soon()).expect("read");
        one.send_all(OutFrame::new(b"ask".to_vec()), soon()).expect("sent");
        let asked = other.recv_deadline(soon()).expect("a frame");
        other.send_all(OutFrame::new(asked.head), soon()).expect("sent");
        assert_eq!(one.recv_deadline(soon()).expect("a frame").head, b"ask");
    }
    drop(other);
    assert!(
        matches!(one.recv_deadline(soon()), Err(LinkError::Closed | LinkError::Lost(_))),
        "its end is seen"
    );
    drop(destination);
    assert!(memory == source.as_slice());
}

fn a_wrong_key_reads_nothing() {
    let (mut one, mut other) = verbs_pair();
    let pool = Pool::new(PoolOptions::default());
    let source = block(&pool, 5, 10_000);
    let right = remote(&pool, &source, &other);
    let wrong = RemoteMemory { key: right.key ^ 0x5500, ..right };
    let mut memory = vec![0xee; 10_000];
    let mut destination = one.register(&mut memory).expect("registered");
    let read = one.read_remote(&wrong, &mut destination, &whole(10_000), soon());
    assert!(matches!(read, Err(LinkError::Lost(_))), "{read:?}");
    assert_eq!(one.breakage(), Some(Breakage::Status { status: 10 }), "a remote access error");
    let again = one.read_remote(&right, &mut destination, &whole(10_000), soon());
    assert!(matches!(again, Err(LinkError::Lost(_))), "the link is of no more use");
    drop(destination);
    assert!(memory.iter().all(|byte| *byte == 0xee));
    assert!(matches!(other.recv_deadline(soon()), Err(LinkError::Lost(_))), "its owner hears of it");
}

fn runs_outside_are_refused() {
    let (mut one, mut other) = verbs_pair();
    let pool = Pool::new(PoolOptions::default());
    let source = block(&pool, 6, 8192);
    let remote = remote(&pool, &source, &other);
    let mut memory = vec![0; 8192];
    let mut destination = one.register(&mut memory).expect("registered");
    let outside = [
        ReadRun { source: 1, destination: 0, len_bytes: 8192 },
        ReadRun { source: u64::MAX, destination: 0, len_bytes: 8 },
        ReadRun { source: 0, destination: 8000, len_bytes: 193 },
        ReadRun { source: 0, destination: usize::MAX, len_bytes: 8 },
    ];
    for run in outside {
        let read = one.read_remote(&remote, &mut destination, &[run], soon());
        assert!(matches!(read, Err(LinkError::Malformed { .. })), "{run:?}: {read:?}");
    }
    one.read_remote(&remote, &mut destination, &whole(8192), soon()).expect("the link is sound");
    drop(destination);
    one.send_all(OutFrame::new(b"done".to_vec()), soon()).expect("the link is sound");
    assert_eq!(other.recv_deadline(soon()).expect("a frame").head, b"done");
}

fn a_revoked_peer_reads_nothing() {
    let (mut one, mut other) = verbs_pair();
    let pool = Pool::new(PoolOptions::default());
    let source = block(&pool, 7, 50_000);
    let remote = remote(&pool, &source, &other);
    other.revoke().expect("its access has ended");
    drop(source);
    let refilled = block(&pool, 8, 50_000);
    assert_eq!(pool.stats().recycled, 1, "the same memory");
    let mut memory = vec![0xee; 50_000];
    let mut destination = one.register(&mut memory).expect("registered");
    let read = one.read_remote(&remote, &mut destination, &whole(50_000), soon());
    assert!(matches!(read, Err(LinkError::Lost(_))), "{read:?}");
    drop(destination);
    assert!(memory.iter().all(|byte| *byte == 0xee), "foreign bytes");
    drop(refilled);
}

fn described(remote: &RemoteMemory) -> Vec<u8> {
    let RemoteMemory { address, key, len_bytes } = *remote;
    [&address.to_le_bytes()[..], &u64::from(key).to_le_bytes(), &len_bytes.to_le_bytes()].concat()
}

fn told(head: &[u8]) -> RemoteMemory {
    let word = |at: usize| u64::from_le_bytes(head[at * 8..][..8].try_into().expect("eight bytes"));
    RemoteMemory { address: word(0), key: word(1) as u32, len_bytes: word(2) }
}

/// A subscriber process: reads, says so, and reads again when it is told to.
pub(crate) fn child() -> ExitCode {
    let Some((role, contact)) = role() else { return ExitCode::FAILURE };
    if role == "follows" {
        return follow_a_device();
    }
    let Some(contact) = contact else { return ExitCode::FAILURE };
    let options = options(TransportKind::Verbs).with_token(Some(token()));
    if role == "limited" {
        return told_of_the_limit(dial(&contact, &options));
    }
    let mut link = dial(&contact, &options).expect("dialled");
    if role == "idle" {
        let _ = link.recv_deadline(soon());
        return ExitCode::SUCCESS;
    }
    let remote = told(&link.recv_deadline(soon()).expect("a place").head);
    let mut memory = vec![0; remote.len_bytes as usize];
    let mut destination = link.register(&mut memory).expect("registered");
    let runs = whole(remote.len_bytes as usize);
    link.read_remote(&remote, &mut destination, &runs, soon()).expect("the first READ");
    link.send_all(OutFrame::new(b"read".to_vec()), soon()).expect("told");
    // Paused here, expelled meanwhile, and resumed: it does not know, and reads.
    while link.read_remote(&remote, &mut destination, &runs, soon()).is_ok() {}
    drop(destination);
    // Whatever was read is of the step that it was: never of the one that came to lie there.
    let old = bytes(9, memory.len());
    let foreign = memory.iter().zip(&old).filter(|(found, old)| found != old).count();
    if foreign == 0 { ExitCode::SUCCESS } else { ExitCode::from(3) }
}

fn a_paused_and_expelled_peer_reads_nothing() {
    let mut listener = verbs_listener(&Domain::new());
    let mut child =
        Guard(child_command(module_path!(), "reads", Some(listener.contact())).spawn().expect("it starts"));
    let mut link = accept(&mut listener).link;
    let pool = Pool::new(PoolOptions::default());
    let source = block(&pool, 9, 300_000);
    let remote = remote(&pool, &source, &link);
    link.send_all(OutFrame::new(described(&remote)), soon()).expect("told");
    assert_eq!(link.recv_deadline(soon()).expect("it has read").head, b"read");
    let pid = stop(&child.0);
    link.revoke().expect("its access has ended");
    drop(source);
    let _refilled = block(&pool, 10, 300_000);
    assert_eq!(pool.stats().recycled, 1, "the same memory");
    kill_process(pid, Signal::CONT).expect("ours");
    let status = child.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(0), "3: it has read foreign bytes");
}

/// What a process hears that may lock 64 KiB.
fn told_of_the_limit(dialled: Result<Link, DialError>) -> ExitCode {
    let error = dialled.expect_err("a link needs more");
    let found = error.refused().iter().any(|(kind, reason)| {
        let limit = matches!(reason, Reason::Verbs(VerbsTrouble::MemoryLock { needed_bytes, limit_bytes: 65_536 }) if *needed_bytes > 200_000);
        *kind == TransportKind::Verbs && limit
    });
    println!("{error}");
    if found { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// As root without the capability that lifts the limit.
fn too_low_a_limit_of_locked_memory_is_told() {
    let listener = verbs_listener(&Domain::new());
    let plain = child_command(module_path!(), "limited", Some(listener.contact()));
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", "-ipc_lock", "prlimit", "--memlock=65536"]);
    command.arg(plain.get_program()).args(plain.get_args()).env_remove("RUST_BACKTRACE");
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    match command.status() {
        Ok(status) => assert_eq!(status.code(), Some(0)),
        Err(error) => println!("skipped: setpriv of util-linux: {error}"),
    }
}

/// Links and devices are changed only in a machine made for it: elsewhere they may be somebody's.
fn is_in_the_rig() -> bool {
    let is_there = std::env::var_os("RDMAVM").is_some();
    if !is_there {
        println!("skipped: changes the machine's links, which it does in that of the rig alone (RDMAVM)");
    }
    is_there
}

/// The words of a command, which must succeed.
fn run(words: &str) {
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    assert!(command.args(words).status().expect("it runs").success(), "{command:?}");
}

/// In a process of its own: soft-RoCE's device goes only when nobody has it open.
fn a_device_that_comes_and_goes_is_followed() {
    if is_in_the_rig() {
        let mut child = Guard(child_command(module_path!(), "follows", None).spawn().expect("it starts"));
        assert_eq!(child.0.wait().expect("it ends").code(), Some(0));
        let deadline = soon();
        while names().any(|name| name == "rxe1") {
            assert!(Instant::now() < deadline, "it does not go");
        }
        run("ip link delete second");
    }
}

fn names() -> impl Iterator<Item = String> {
    verbs_devices().expect("devices").into_iter().map(|device| device.name)
}

/// Has a link over the device that there is; then another comes, is dialled, and is removed under its links.
fn follow_a_device() -> ExitCode {
    let (mut first, mut peer) = verbs_pair();
    assert!(names().eq(["rxe0"]));
    run("ip link add second type dummy");
    run("ip link set second mtu 4200 up");
    run("ip address add 10.78.0.1/24 dev second");
    run("rdma link add rxe1 type rxe netdev second");
    let domain = Domain::new().with_device(Some("rxe1".to_owned()));
    let listening = ListenOptions::new(EPOCH).with_verbs(Some(([10, 78, 0, 1], 0).into()));
    let listening = listening.with_token(Some(token())).with_domain(domain.clone());
    let mut listener = Listener::bind(listening).expect("a listener");
    assert_eq!(listener.verbs_trouble(), None);
    let dialling = options(TransportKind::Verbs).with_token(Some(token())).with_domain(domain);
    let (mut link, mut accepted) = connected(&mut listener, dialling);
    assert!(link.negotiated().detail.starts_with("rxe1 10.78.0.1:"), "{}", link.negotiated());
    assert!(names().eq(["rxe0", "rxe1"]));
    // Left behind: it ends when this process has.
    let removal = Command::new("sh").args(["-c", "rdma link delete rxe1 &"]).status();
    assert!(removal.expect("it runs").success());
    for end in [&mut link, &mut accepted.link] {
        let ended = end.recv_deadline(soon());
        assert!(matches!(ended, Err(LinkError::Lost(_))), "{ended:?}");
        assert_eq!(end.breakage(), Some(Breakage::Device));
        end.revoke().expect("its access has ended");
    }
    assert!(names().eq(["rxe0"]));
    first.send_all(OutFrame::new(vec![1]), soon()).expect("the other device is as it was");
    assert_eq!(peer.recv_deadline(soon()).expect("a frame").head, [1]);
    ExitCode::SUCCESS
}

fn a_port_that_goes_down_ends_its_links() {
    if !is_in_the_rig() {
        return;
    }
    let (mut one, mut other) = verbs_pair();
    let device = verbs_devices().expect("devices").remove(0).name;
    let path = format!("/sys/class/infiniband/{device}/ports/1/gid_attrs/ndevs/0");
    let link = std::fs::read_to_string(path).expect("a network link").trim().to_owned();
    let set = |state: &str| run(&format!("ip link set {link} {state}"));
    set("down");
    for end in [&mut one, &mut other] {
        assert!(matches!(end.recv_deadline(soon()), Err(LinkError::Lost(_))));
        assert_eq!(end.breakage(), Some(Breakage::Device));
    }
    let port = verbs_devices().expect("devices").remove(0).port;
    assert!(matches!(port, Err(VerbsTrouble::PortDown { port: 1, .. })), "{port:?}");
    set("up");
}

fn a_killed_peer_is_noticed() {
    let mut listener = verbs_listener(&Domain::new());
    let mut child =
        Guard(child_command(module_path!(), "idle", Some(listener.contact())).spawn().expect("it starts"));
    let mut link = accept(&mut listener).link;
    child.0.kill().expect("ours");
    let ended = link.recv_deadline(soon());
    assert!(matches!(ended, Err(LinkError::Lost(_) | LinkError::Closed)), "{ended:?}");
    assert!(matches!(link.send(OutFrame::new(vec![0; 100])), Err(LinkError::Closed | LinkError::Lost(_))));
}

fn messages_come_between_reads() {
    let (mut one, mut other) = verbs_pair();
    let pool = Pool::new(PoolOptions::default());
    let source = block(&pool, 11, 1 << 20);
    let remote = remote(&pool, &source, &other);
    let mut memory = vec![0; 1 << 20];
    let mut destination = one.register(&mut memory).expect("registered");
    for number in 0..40u8 {
        other.send(OutFrame::new(vec![number; 3000])).expect("room");
        one.read_remote(&remote, &mut destination, &whole(1 << 20), soon()).expect("read");
        other.flush().expect("it goes on");
        assert_eq!(one.recv_deadline(soon()).expect("a frame").head, [number; 3000]);
    }
    drop(destination);
    assert!(memory == source.as_slice());
}
