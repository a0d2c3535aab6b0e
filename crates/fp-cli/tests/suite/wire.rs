//! A way between two ends that a test can cut, and make long.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::kinds::eventually;

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
        let note = move |count| {
            shared.carried.fetch_add(count, Ordering::SeqCst);
        };
        thread::spawn(move || pump(there, note));
        thread::spawn(move || pump(back, |_| {}));
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push((near, far));
    }
}

fn pump((mut from, mut to): (TcpStream, TcpStream), note: impl Fn(u64)) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        note(count as u64);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // Both know that nothing comes any more.
    let _ = to.shutdown(Shutdown::Write);
}
