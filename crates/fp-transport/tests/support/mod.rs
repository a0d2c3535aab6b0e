//! What the tests of this crate share: connected pairs, waiting with a deadline, child processes.
#![allow(dead_code, unreachable_pub)] // each test binary uses its part

pub mod certificates;
pub mod raw;
pub mod strange_tls;

use certificates::Authority;
use fp_transport::{
    Accepted, Contact, DialError, DialOptions, Domain, Link, ListenOptions, Listener, TlsIdentity,
    TlsOptions, Token, TransportKind, TransportPolicy, dial, verbs_devices,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

pub const EPOCH: u128 = 0x1234_5678_9abc_def0_1122_3344_5566_7788;

/// Long enough that only a hang reaches it.
pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

pub fn options(kind: TransportKind) -> DialOptions {
    DialOptions::new(soon()).with_epoch(Some(EPOCH)).with_policy(TransportPolicy::only(kind))
}

/// Waits for a descriptor; panics at the deadline, saying what it waited for.
pub fn await_fd(fd: impl AsFd, flags: PollFlags, what: &str, deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(left).expect("a time that can be told");
    let ready = poll(&mut [PollFd::new(&fd, flags)], Some(&timeout)).expect("poll works");
    assert!(ready > 0, "the deadline is over while waiting for {what}");
}

/// The next link of a listener.
pub fn accept(listener: &mut Listener) -> Accepted {
    let deadline = soon();
    loop {
        if let Some(accepted) = listener.accept(Instant::now()).expect("the listener is sound") {
            return accepted;
        }
        await_fd(&*listener, PollFlags::IN, "a peer to dial", deadline);
    }
}

/// Drives a listener until `done`, collecting links.
pub fn accept_until(
    listener: &mut Listener,
    mut done: impl FnMut(&Listener, &[Accepted]) -> bool,
) -> Vec<Accepted> {
    let (mut links, deadline) = (Vec::new(), soon());
    loop {
        while let Some(accepted) = listener.accept(Instant::now()).expect("the listener is sound") {
            links.push(accepted);
        }
        if done(listener, &links) {
            return links;
        }
        assert!(Instant::now() < deadline, "the listener does not come to an end: {listener:?}");
        await_fd(&*listener, PollFlags::IN, "the listener", deadline);
    }
}

/// Dials on a thread while this one accepts; the dialler's end first.
pub fn connected(listener: &mut Listener, options: DialOptions) -> (Link, Accepted) {
    let contact = listener.contact().clone();
    let dialling = thread::spawn(move || dial(&contact, &options));
    let accepted = accept(listener);
    (dialling.join().expect("no panic").expect("the dial succeeds"), accepted)
}

/// Dials on a thread while this one drives the listener, until the dial failed.
pub fn refused(listener: &mut Listener, contact: &Contact, options: DialOptions) -> DialError {
    let contact = contact.clone();
    let dialling = thread::spawn(move || dial(&contact, &options));
    let deadline = soon();
    while !dialling.is_finished() {
        listener.accept(Instant::now()).expect("the listener is sound");
        assert!(Instant::now() < deadline, "the dial did not end");
        thread::yield_now();
    }
    dialling.join().expect("no panic").expect_err("the dial fails")
}

/// All transports allowed.
pub fn open_options() -> DialOptions {
    DialOptions::new(soon()).with_epoch(Some(EPOCH))
}

pub fn listener() -> Listener {
    Listener::bind(ListenOptions::new(EPOCH)).expect("a listener")
}

pub fn pair(kind: TransportKind) -> (Link, Link) {
    let (dialled, accepted) = connected(&mut listener(), options(kind));
    assert_eq!((dialled.transport(), accepted.link.transport()), (kind, kind));
    (dialled, accepted.link)
}

/// Certificate and key of a new authority, which they trust, for the expected name.
pub fn identity() -> TlsIdentity {
    let authority = Authority::new();
    identity_of(&authority, &authority)
}

/// A certificate of one authority, and trust in another.
pub fn identity_of(signer: &Authority, trusted: &Authority) -> TlsIdentity {
    let own = signer.issue("flexpath");
    TlsOptions::new(own.certificate, own.key, trusted.path()).load().expect("sound files")
}

pub fn tls_listener(identity: &TlsIdentity) -> Listener {
    let options = ListenOptions::new(EPOCH).with_tls(Some(identity.clone()));
    Listener::bind(options).expect("a listener")
}

/// Both ends of a tcp link with TLS.
pub fn tls_pair() -> (Link, Link) {
    static IDENTITY: OnceLock<TlsIdentity> = OnceLock::new();
    let identity = IDENTITY.get_or_init(identity);
    let options = options(TransportKind::Tcp).with_tls(Some(identity.clone()));
    let (dialled, accepted) = connected(&mut tls_listener(identity), options);
    assert!(dialled.is_encrypted() && accepted.link.is_encrypted());
    (dialled, accepted.link)
}

/// An address of an RDMA device of this machine, or why there is none.
pub fn verbs_address() -> Result<SocketAddr, String> {
    let devices = verbs_devices().map_err(|trouble| trouble.to_string())?;
    let mut active = devices.iter().filter(|device| device.port.is_ok());
    let address = active.find_map(|device| device.addresses.first());
    address.map(|ip| SocketAddr::new(*ip, 0)).ok_or_else(|| format!("no device with an address: {devices:?}"))
}

pub fn token() -> Token {
    Token::new([7; 32]).expect("no zeros")
}

/// A listener that takes verbs connections, in a domain of its own.
pub fn verbs_listener(domain: &Domain) -> Listener {
    let address = verbs_address().expect("a device");
    let options = ListenOptions::new(EPOCH).with_verbs(Some(address)).with_token(Some(token()));
    let listener = Listener::bind(options.with_domain(domain.clone())).expect("a listener");
    assert_eq!(listener.verbs_trouble(), None);
    listener
}

/// Both ends of a verbs link, the dialler's first.
pub fn verbs_pair() -> (Link, Link) {
    let options = options(TransportKind::Verbs).with_token(Some(token()));
    let (dialled, accepted) = connected(&mut verbs_listener(&Domain::new()), options);
    assert_eq!(
        (dialled.transport(), accepted.link.transport()),
        (TransportKind::Verbs, TransportKind::Verbs)
    );
    (dialled, accepted.link)
}

/// Bytes that tell which frame and which position they are of.
pub fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|index| (index ^ (index >> 8) ^ seed.wrapping_mul(167)) as u8).collect()
}

/// This test binary again, running only the `child_entry` of a module (its `module_path!()`) in the given role.
pub fn child(module: &str, role: &str, contact: Option<&Contact>) -> Child {
    child_command(module, role, contact).spawn().expect("the test binary starts")
}

/// The command that [`child`] spawns.
pub fn child_command(module: &str, role: &str, contact: Option<&Contact>) -> Command {
    // The harness names tests without the binary.
    let within = module.split_once("::").map_or("", |(_, within)| within);
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args([&format!("{within}::child_entry"), "--exact", "--nocapture", "--test-threads=1"]);
    command.env("FLEXPATH_TEST_ROLE", role).stdout(Stdio::null());
    if let Some(contact) = contact {
        command.env("FLEXPATH_TEST_CONTACT", contact.to_string());
    }
    command
}

/// The role and contact of a child process; `None` in the parent.
pub fn role() -> Option<(String, Option<Contact>)> {
    let role = std::env::var("FLEXPATH_TEST_ROLE").ok()?;
    let contact = std::env::var("FLEXPATH_TEST_CONTACT").ok().map(|line| line.parse().expect("a contact"));
    Some((role, contact))
}

/// Kills a child when the test is over, also when it fails.
pub struct Guard(pub Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Stops a process and waits until it is stopped: the signal is on its way when `kill` returns.
pub fn stop(child: &Child) -> Pid {
    let pid = Pid::from_raw(child.id() as i32).expect("a pid");
    kill_process(pid, Signal::STOP).expect("the child is ours");
    let (stat, deadline) = (format!("/proc/{}/stat", child.id()), soon());
    while !std::fs::read_to_string(&stat).expect("it lives").contains(") T ") {
        assert!(Instant::now() < deadline, "the child does not stop");
        thread::yield_now();
    }
    pid
}
