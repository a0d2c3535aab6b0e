//! Who a process is, and whether two ranks share a process or a host.

use crate::page::word_wiped_by_fork;
use rustix::fs::stat;
use rustix::process::getpid;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// One copy of the library in one process: random, made once, different in a forked child. Two copies of the library
/// in one process (a Rust crate beside a shared library) have two. Zero: not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ProcessId(pub u128);

impl ProcessId {
    /// The id of this copy of the library. The process number is mixed in, so a forked child is somebody else.
    pub fn own() -> ProcessId {
        static BASE: OnceLock<u128> = OnceLock::new();
        let base = *BASE.get_or_init(random_u128);
        ProcessId(base ^ (u128::from(own_pid()) << 64))
    }

    /// Whether it says anything.
    pub fn is_known(self) -> bool {
        self.0 != 0
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// One boot of one machine, as seen through one network namespace: abstract sockets reach no further. Zero: not known,
/// and then it matches nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct HostId(pub u128);

impl HostId {
    /// The id of this process's host: the boot id, mixed with the inode of the network namespace.
    pub fn own() -> HostId {
        static OWN: OnceLock<HostId> = OnceLock::new();
        *OWN.get_or_init(|| HostId(own_host().unwrap_or(0)))
    }

    /// Whether both are known and equal.
    pub fn matches(self, other: HostId) -> bool {
        self.0 != 0 && self == other
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

fn own_host() -> Option<u128> {
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let boot = u128::from_str_radix(&boot_id.trim().replace('-', ""), 16).ok()?;
    let namespace = stat("/proc/self/ns/net").ok()?.st_ino;
    // An odd factor spreads the inode over all bits and maps no two inodes to one value.
    Some(boot ^ u128::from(namespace).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
}

/// Who is at the other end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerIdentity {
    /// Its copy of the library.
    pub process: ProcessId,
    /// Its process number: as the kernel says it over inproc and shm, as it says itself over tcp.
    pub pid: u32,
    /// Its host.
    pub host: HostId,
    /// Its user, known over inproc and shm only.
    pub uid: Option<u32>,
}

/// The number of this process. Only the first call in each process costs a system call. It is asked for often, as every
/// handle looks whether it was forked.
pub fn own_pid() -> u32 {
    static KNOWN: OnceLock<Option<&'static AtomicU32>> = OnceLock::new();
    let Some(known) = KNOWN.get_or_init(|| word_wiped_by_fork().ok()) else { return ask_pid() };
    match known.load(Ordering::Relaxed) {
        0 => {
            let pid = ask_pid();
            known.store(pid, Ordering::Relaxed);
            pid
        }
        pid => pid,
    }
}

fn ask_pid() -> u32 {
    getpid().as_raw_nonzero().get().unsigned_abs()
}

/// Random bits that name something. Where the system gives none, those that the standard library seeds its maps with:
/// a name must be unique, not secret. Secrets are made by `Token::random`, which fails instead.
pub(crate) fn random_u128() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_le_bytes(bytes) | 1,
        Err(_) => u128::from(hashed()) << 64 | u128::from(hashed()) | 1,
    }
}

fn hashed() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_stable_and_known() {
        assert_eq!(ProcessId::own(), ProcessId::own());
        assert!(ProcessId::own().is_known() && !ProcessId::default().is_known());
        assert!(HostId::own().matches(HostId::own()), "a Linux host knows its boot id");
        assert!(!HostId::default().matches(HostId::default()), "unknown is equal to nothing");
        assert_ne!(random_u128(), random_u128());
    }
}
