//! Peers and listeners of the tests' own, which speak with bytes.
#![allow(dead_code, unreachable_pub)] // each test binary uses its part

use super::{EPOCH, soon};
use fp_transport::hello::{REPLY_LEN, Reply, VERSION_HIGHEST, VERSION_LOWEST};
use fp_transport::{Contact, Hello, HostId, Link, Listener, OutFrame, ProcessId, Purpose, TransportKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use std::io::Read;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

pub fn exchange(one: &mut Link, other: &mut Link) {
    one.send_all(OutFrame::new(b"there".to_vec()), soon()).expect("sent");
    assert_eq!(other.recv_deadline(soon()).expect("received").head, b"there");
    other.send_all(OutFrame::new(b"back".to_vec()), soon()).expect("sent");
    assert_eq!(one.recv_deadline(soon()).expect("received").head, b"back");
}

pub fn tcp_address(contact: &Contact) -> SocketAddr {
    contact.tcp_addresses().next().expect("it listens on tcp")
}

pub fn hello(transport: TransportKind) -> Hello {
    Hello {
        version_lowest: VERSION_LOWEST,
        version_highest: VERSION_HIGHEST,
        epoch: Some(EPOCH),
        token: None,
        process: ProcessId(1),
        host: HostId(2),
        pid: 3,
        purpose: Purpose::Control,
        transport,
    }
}

/// Drives the listener until a reply has come.
pub fn hear_reply(listener: &mut Listener, from: &mut (impl Read + AsFd)) -> Reply {
    let deadline = soon();
    while !is_ready(from.as_fd()) {
        assert!(Instant::now() < deadline, "no reply came");
        listener.accept(Instant::now()).expect("the listener is sound");
    }
    let mut bytes = [0; REPLY_LEN];
    from.read_exact(&mut bytes).expect("a whole reply");
    Reply::decode(&bytes).expect("a reply")
}

pub fn abstract_socket(name: &str) -> (OwnedFd, SocketAddrUnix) {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).expect("a short name");
    (socket.expect("a socket"), address)
}

/// Whether a descriptor is readable now, or within a millisecond.
pub fn is_ready(fd: impl AsFd) -> bool {
    let short = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&short)).expect("poll works") > 0
}
