//! An independent witness of a verbs device: what a Flexpath link carries over it, the crate `ibverbs` carries too. A
//! listener of ours takes a link on the device. Two queue pairs of `ibverbs` exchange the same memory there, by the
//! address that the listener gave. That crate knows nothing of us, and we nothing of it.
//!
//! Exit status: 0 all bytes came both ways, by both; else the panic says what did not.

use fp_transport as transport;
use ibverbs::{CompletionQueue, GidEntry, MemoryRegion, QueuePair, ibv_qp_type, ibv_wc};
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};
use transport::{
    DialOptions, Domain, Link, ListenOptions, Listener, OutFrame, Token, TransportKind, TransportPolicy,
};

const LEN: usize = 1 << 20;
/// Bytes of one message of `ibverbs`.
const PIECE: usize = 64 << 10;
/// `IBV_GID_TYPE_ROCE_V2`, which the crate does not name.
const ROCE_V2: u32 = 2;
const EPOCH: u128 = 7;
const PATIENCE: Duration = Duration::from_secs(60);

fn pattern(seed: usize) -> Vec<u8> {
    (0..LEN).map(|index| (index ^ (index >> 8) ^ seed.wrapping_mul(167)) as u8).collect()
}

/// Both ends of a link of ours over verbs, the dialler's first, and where its listener is.
fn our_link() -> (Link, Link, IpAddr) {
    let devices = transport::verbs_devices().expect("RDMA's libraries and a device");
    let active = devices.iter().find(|device| device.port.is_ok()).expect("a device with an active port");
    let address = *active.addresses.first().expect("an address of it");
    let token = Token::new([7; 32]).expect("no zeros");
    let options = ListenOptions::new(EPOCH).with_token(Some(token.clone())).with_domain(Domain::new());
    let mut listener =
        Listener::bind(options.with_verbs(Some(SocketAddr::new(address, 0)))).expect("a listener");
    let contact = listener.contact().clone();
    let policy = TransportPolicy::only(TransportKind::Verbs);
    let dialling =
        DialOptions::new(Instant::now() + PATIENCE).with_epoch(Some(EPOCH)).with_token(Some(token));
    let dialler = thread::spawn(move || transport::dial(&contact, &dialling.with_policy(policy)));
    let deadline = Instant::now() + PATIENCE;
    let accepted = loop {
        if let Some(accepted) = listener.accept(Instant::now()).expect("a sound listener") {
            break accepted.link;
        }
        assert!(Instant::now() < deadline, "nobody came");
        thread::yield_now();
    };
    let dialled = dialler.join().expect("no panic").expect("a link");
    assert_eq!(accepted.transport(), TransportKind::Verbs);
    println!("a link of ours over {} at {address}", active.name);
    (dialled, accepted, address)
}

/// One frame with the bytes, from one end to the other.
fn by_our_link(from: &mut Link, to: &mut Link, sent: Vec<u8>) -> Vec<u8> {
    from.send(OutFrame::new(sent)).expect("room");
    let deadline = Instant::now() + PATIENCE;
    loop {
        from.flush().expect("an open link");
        if let Some(frame) = to.recv().expect("an open link") {
            return frame.head.to_vec();
        }
        assert!(Instant::now() < deadline, "the frame does not come");
        thread::yield_now();
    }
}

/// Waits for a send and a receive.
fn completed(queue: &CompletionQueue<'_>) {
    let deadline = Instant::now() + PATIENCE;
    let (mut found, mut room) = (0, [ibv_wc::default(); 4]);
    while found < 2 {
        for completion in queue.poll(&mut room).expect("a sound queue") {
            assert!(completion.is_valid(), "{:?}", completion.error());
            found += 1;
        }
        assert!(Instant::now() < deadline, "{found} of 2 completions");
        thread::yield_now();
    }
}

/// The same memory from one queue pair to the other.
fn by_ibverbs(
    queue: &CompletionQueue<'_>,
    (from, source): (&mut QueuePair<'_>, &mut MemoryRegion<u8>),
    (to, target): (&mut QueuePair<'_>, &mut MemoryRegion<u8>),
) {
    for start in (0..LEN).step_by(PIECE) {
        let piece = start..start + PIECE;
        // SAFETY: both regions live, and are left alone, until both requests have completed.
        unsafe {
            to.post_receive(target, piece.clone(), 2).expect("a receive");
            from.post_send(source, piece, 1).expect("a send");
        }
        completed(queue);
    }
}

/// Whether a place of a device's table is an address of RoCE v2. IPv4 addresses are mapped.
fn is_at(entry: &GidEntry, address: IpAddr) -> bool {
    let mapped = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    let gid = (u128::from(entry.gid.subnet_prefix()) << 64) | u128::from(entry.gid.interface_id());
    gid == mapped.to_bits() && entry.gid_type == ROCE_V2
}

fn main() {
    let (mut near, mut far, address) = our_link();
    let devices = ibverbs::devices().expect("a list");
    let opened = devices.iter().map(|device| device.open().expect("it opens"));
    let places = opened.filter_map(|context| {
        let entry =
            context.gid_table().iter().find(|entry| is_at(entry, address)).map(|entry| entry.gid_index);
        entry.map(|index| (context, index))
    });
    let (context, gid) = places.into_iter().next().expect("ibverbs finds the listener's address on a device");
    let queue = context.create_cq(16, 0).expect("a queue");
    let domain = context.alloc_pd().expect("a domain");
    let prepare = || {
        let mut builder = domain.create_qp(&queue, &queue, ibv_qp_type::IBV_QPT_RC);
        builder.set_gid_index(gid).build().expect("a queue pair")
    };
    let (one, other) = (prepare(), prepare());
    let (here, there) = (one.endpoint(), other.endpoint());
    let mut one = one.handshake(there).expect("connected");
    let mut other = other.handshake(here).expect("connected");
    let mut memory = [(); 2].map(|()| domain.allocate::<u8>(LEN).expect("registered"));
    for seed in 0..4 {
        let sent = pattern(seed);
        let [first, second] = &mut memory;
        first.copy_from_slice(&sent);
        second.fill(0);
        by_ibverbs(&queue, (&mut one, first), (&mut other, second));
        assert!(**second == *sent, "ibverbs carried other bytes");
        let carried = by_our_link(&mut near, &mut far, second.to_vec());
        assert!(carried == sent, "our link carried other bytes");
        let back = by_our_link(&mut far, &mut near, carried);
        first.fill(0);
        second.copy_from_slice(&back);
        by_ibverbs(&queue, (&mut other, second), (&mut one, first));
        assert!(**first == *sent, "other bytes came back");
    }
    println!("{LEN} bytes went four times to and fro, by ibverbs and by a link of ours in turns");
}
