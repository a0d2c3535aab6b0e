//! The way out of the cluster: a firewall that lets connections out and none in, and that is cut now and then.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Whatever is dialled here goes on to one address outside.
pub(super) struct Way {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    to: SocketAddr,
    /// Both ends of each connection that there is.
    open: Mutex<Vec<(TcpStream, TcpStream)>>,
    dialled: AtomicUsize,
    /// Connections that there are, and the most at one time.
    live: AtomicUsize,
    most: AtomicUsize,
}

/// A connection that is there until both its ways have ended.
struct Live(Arc<Shared>);

impl Drop for Live {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Way {
    pub(super) fn to(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let bound = listener.local_addr()?;
        let [dialled, live, most] = [0; 3].map(AtomicUsize::new);
        let shared = Arc::new(Shared { to: address, open: Mutex::default(), dialled, live, most });
        let of_thread = shared.clone();
        // It ends with the process.
        thread::spawn(move || listener.incoming().flatten().for_each(|near| of_thread.carry(near)));
        Ok(Self { address: bound, shared })
    }

    /// What is dialled from inside.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts what goes over it now: how many connections that were.
    pub(super) fn cut(&self) -> usize {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        for (near, far) in open.iter() {
            // Who has gone already needs no cut.
            let _ = near.shutdown(Shutdown::Both);
            let _ = far.shutdown(Shutdown::Both);
        }
        open.drain(..).count()
    }

    /// How often it was dialled, and the most connections at one time.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.shared.dialled.load(Ordering::SeqCst), self.shared.most.load(Ordering::SeqCst))
    }
}

impl Shared {
    fn carry(self: &Arc<Self>, near: TcpStream) {
        self.dialled.fetch_add(1, Ordering::SeqCst);
        let Ok(far) = TcpStream::connect(self.to) else { return };
        self.most.fetch_max(self.live.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let live = Arc::new(Live(self.clone()));
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { return };
            let live = live.clone();
            thread::spawn(move || {
                pump(from, to);
                drop(live);
            });
        }
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push((near, far));
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // Both know that nothing comes any more.
    let _ = to.shutdown(Shutdown::Write);
}
