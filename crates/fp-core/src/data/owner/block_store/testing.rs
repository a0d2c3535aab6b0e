//! For unit tests: a publisher's server, and links that it serves.

use crate::data::owner::block_store::BlockStore;
use crate::data::owner::room::Room;
use crate::value::counters::Counters;
use fp_transport::{DialOptions, Link, ListenOptions, Listener, Pool, PoolOptions};
use fp_transport::{TransportKind, TransportPolicy, dial};
use rustix::event::{PollFd, PollFlags, epoll, poll};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn server() -> Arc<BlockStore> {
    let pool = Pool::new(PoolOptions::default());
    let room = Room::of_stream(pool.clone(), 1 << 30);
    BlockStore::new(pool, room, Arc::new(Counters::default()), None)
}

/// Has the server serve one more link over tcp, prepared so. Gives the other end.
pub(super) fn link_of(server: &BlockStore, prepare: impl FnOnce(&mut Link)) -> Link {
    let mut listener = Listener::bind(ListenOptions::new(7)).expect("it listens");
    let (contact, deadline) = (listener.contact().clone(), Instant::now() + Duration::from_secs(30));
    let policy = TransportPolicy::only(TransportKind::Tcp);
    let options = DialOptions::new(deadline).with_epoch(Some(7)).with_policy(policy);
    let dialling = std::thread::spawn(move || dial(&contact, &options));
    let mut link = loop {
        if let Some(accepted) = listener.accept(Instant::now()).expect("the listener is sound") {
            break accepted.link;
        }
        assert!(Instant::now() < deadline, "nobody dials");
        let left = (deadline - Instant::now()).try_into().expect("a time");
        poll(&mut [PollFd::new(&listener, PollFlags::IN)], Some(&left)).expect("poll works");
    };
    prepare(&mut link);
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a set");
    server.add_link(link, None, rustix::fd::AsFd::as_fd(&set));
    dialling.join().expect("no panic").expect("the dial succeeds")
}
