//! A way between two ends that a test can cut, and make long.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::kinds::eventually;

/// How soon what was held goes on when it is let go.
const LOOK: Duration = Duration::from_millis(20);

/// Whatever is dialled here goes on to another address.
pub(crate) struct Wire {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    to: Mutex<SocketAddr>,
    /// Both ends of each connection that there is.
    open: Mutex<Vec<(TcpStream, TcpStream)>>,
    dialled: AtomicUsize,
    /// Bytes that whoever dialled has sent.
    carried: AtomicU64,
    /// Whether what they send stays on its way.
    is_held: Mutex<bool>,
    let_go: Condvar,
}

impl Wire {
    /// A way to that address, as a command prints it.
    pub(crate) fn to(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let bound = listener.local_addr().unwrap();
        let to = Mutex::new(address.trim().parse().unwrap());
        let shared = Arc::new(Shared {
            to,
            open: Mutex::default(),
            dialled: AtomicUsize::new(0),
            carried: AtomicU64::new(0),
            is_held: Mutex::default(),
            let_go: Condvar::new(),
        });
        let of_thread = shared.clone();
        // It ends with the process.
        thread::spawn(move || listener.incoming().flatten().for_each(|near| of_thread.carry(near)));
        Self { address: bound, shared }
    }

    /// What is dialled in place of that address.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// From now on it leads elsewhere.
    pub(crate) fn lead_to(&self, address: &str) {
        *self.shared.to.lock().unwrap() = address.trim().parse().unwrap();
    }

    /// Cuts what goes over it, as soon as something does.
    pub(crate) fn cut(&self) {
        eventually("somebody is connected", || !self.shared.open.lock().unwrap().is_empty());
        self.cut_now();
    }

    /// Cuts what goes over it, if anything does.
    pub(crate) fn cut_now(&self) {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        for (near, far) in open.drain(..) {
            // Who has gone already needs no cut.
            let _ = near.shutdown(Shutdown::Both);
            let _ = far.shutdown(Shutdown::Both);
        }
    }

    /// From now on what whoever dialled sends stays on its way, or goes on.
    pub(crate) fn hold(&self, is_held: bool) {
        *self.shared.is_held.lock().unwrap() = is_held;
        self.shared.let_go.notify_all();
    }

    /// How often it was dialled.
    pub(crate) fn dialled(&self) -> usize {
        self.shared.dialled.load(Ordering::SeqCst)
    }

    /// How many bytes went over it, of those who dialled.
    pub(crate) fn carried(&self) -> u64 {
        self.shared.carried.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn carry(self: &Arc<Self>, near: TcpStream) {
        self.dialled.fetch_add(1, Ordering::SeqCst);
        let to = *self.to.lock().unwrap();
        // Where nobody listens the near end is closed.
        let Ok(far) = TcpStream::connect(to) else { return };
        let ends = |from: &TcpStream, to: &TcpStream| (from.try_clone().unwrap(), to.try_clone().unwrap());
        let (there, back, shared) = (ends(&near, &far), ends(&far, &near), self.clone());
        thread::spawn(move || shared.bring(there));
        thread::spawn(move || pump(back));
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push((near, far));
    }

    /// What whoever dialled sends: all of it is read and counted, also while it is held.
    fn bring(&self, (mut from, mut to): (TcpStream, TcpStream)) {
        from.set_read_timeout(Some(LOOK)).unwrap();
        let (mut bytes, mut held) = (vec![0; 64 << 10], Vec::new());
        loop {
            match from.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => {
                    self.carried.fetch_add(count as u64, Ordering::SeqCst);
                    held.extend_from_slice(&bytes[..count]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
            let is_held = *self.is_held.lock().unwrap();
            if !is_held && to.write_all(&std::mem::take(&mut held)).is_err() {
                break;
            }
        }
        let is_held = self.is_held.lock().unwrap();
        drop(self.let_go.wait_while(is_held, |is_held| *is_held).unwrap());
        // Both know that nothing comes any more.
        let _ = to.write_all(&held);
        let _ = to.shutdown(Shutdown::Write);
    }
}

fn pump((mut from, mut to): (TcpStream, TcpStream)) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // Both know that nothing comes any more.
    let _ = to.shutdown(Shutdown::Write);
}

/// Signs of life come before what a test awaits.
#[test]
fn what_is_held_is_counted_and_comes_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let way = Wire::to(&listener.local_addr().unwrap().to_string());
    let mut near = TcpStream::connect(way.address()).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    way.hold(true);
    for count in 1..=5_u8 {
        near.write_all(&[count; 10]).unwrap();
        eventually("it is counted", || way.carried() == u64::from(count) * 10);
    }
    way.hold(false);
    let mut found = [0; 50];
    far.read_exact(&mut found).unwrap();
    assert!(found.iter().zip(0..).all(|(found, at)| *found == at / 10 + 1), "{found:?}");
    drop(near);
    assert_eq!(far.read(&mut found).unwrap(), 0);
}
