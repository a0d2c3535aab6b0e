//! Ways to a listener that can be cut, made mute, held up and broken in the midst of what comes back over them.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// How long half an address is kept back for its other half.
const HALF: Duration = Duration::from_millis(20);

/// What befalls a way.
#[derive(Clone, Copy, PartialEq)]
pub enum Accident {
    /// The connection ends.
    Break,
    /// Nothing comes back until it is let go.
    Hold,
}

/// The only way to a listener.
#[derive(Default)]
pub struct Way {
    is_cut: AtomicBool,
    /// Both sides of each connection, and whether what the near one says is lost on it.
    connections: Mutex<Vec<(TcpStream, TcpStream, Arc<AtomicBool>)>>,
    opened: AtomicUsize,
    /// After how many more bytes that come back what happens, one after the other.
    accidents: Mutex<VecDeque<(usize, Accident)>>,
    let_go: Condvar,
    /// An address that the far side tells, and the one of the same length that is heard.
    renamed: Option<(Vec<u8>, Vec<u8>)>,
}

impl Way {
    /// A way to there, and where it begins.
    pub fn to(target: SocketAddr) -> (Arc<Way>, SocketAddr) {
        Way::default().open(target)
    }

    /// A way to there, over which another address is heard than the far side tells as its own.
    pub fn to_renamed(target: SocketAddr, heard: SocketAddr) -> (Arc<Way>, SocketAddr) {
        let (told, heard) = (target.to_string().into_bytes(), heard.to_string().into_bytes());
        assert_eq!(told.len(), heard.len(), "one can stand in the other's place");
        Way { renamed: Some((told, heard)), ..Way::default() }.open(target)
    }

    fn open(self, target: SocketAddr) -> (Arc<Way>, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let begin = listener.local_addr().expect("its address");
        let way = Arc::new(self);
        let own = way.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                own.connect(near, target);
            }
        });
        (way, begin)
    }

    fn connect(self: &Arc<Self>, near: TcpStream, target: SocketAddr) {
        if self.is_cut.load(Ordering::SeqCst) {
            return;
        }
        let far = TcpStream::connect(target).expect("the publisher listens");
        let is_mute = Arc::new(AtomicBool::new(false));
        let both = || (near.try_clone().expect("a clone"), far.try_clone().expect("a clone"));
        let ((near, far), (near_back, far_back)) = (both(), both());
        self.connections.lock().expect("sound").push((both().0, both().1, is_mute.clone()));
        self.opened.fetch_add(1, Ordering::SeqCst);
        std::thread::spawn(move || carry(near, far, &is_mute));
        let own = self.clone();
        std::thread::spawn(move || own.carry_back(far_back, near_back));
    }

    /// How many connections there have been.
    pub fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }

    /// Ends what goes over it, and lets nothing new through.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for (near, far, _) in self.connections.lock().expect("sound").drain(..) {
            let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
        }
    }

    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }

    /// What the near side says on connections of now is lost from now on.
    pub fn mute(&self) {
        let connections = self.connections.lock().expect("sound");
        connections.iter().for_each(|(_, _, is_mute)| is_mute.store(true, Ordering::SeqCst));
    }

    /// After so many bytes more that come back, and whatever befalls it before, this happens.
    pub fn after(&self, len_bytes: usize, accident: Accident) {
        self.accidents().push_back((len_bytes, accident));
    }

    /// Lets go what is held, or will be.
    pub fn let_go(&self) {
        self.accidents().retain(|(_, accident)| *accident != Accident::Hold);
        self.let_go.notify_all();
    }

    /// How many accidents are still to come.
    pub fn to_come(&self) -> usize {
        self.accidents().len()
    }

    fn accidents(&self) -> MutexGuard<'_, VecDeque<(usize, Accident)>> {
        self.accidents.lock().expect("sound")
    }

    fn carry_back(&self, mut far: TcpStream, mut near: TcpStream) {
        if self.renamed.is_some() {
            far.set_read_timeout(Some(HALF)).expect("a timeout");
        }
        let (mut bytes, mut kept) = ([0; 4096], Vec::new());
        loop {
            let passed = match far.read(&mut bytes) {
                Ok(0) => break,
                Ok(len) => self.rename(&mut kept, &bytes[..len]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::mem::take(&mut kept),
                Err(_) => break,
            };
            if !self.pass(&passed, &mut near) {
                let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
                // What it had received already befalls nobody: the next accident is another connection's.
                break;
            }
        }
        let _ = near.shutdown(Shutdown::Write);
    }

    /// What can be passed on, renamed, of what was kept back and of what comes; the rest is kept back.
    fn rename(&self, kept: &mut Vec<u8>, comes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(kept);
        all.extend_from_slice(comes);
        let Some((told, heard)) = &self.renamed else { return all };
        while let Some(at) = all.windows(told.len()).position(|window| window == told) {
            all[at..at + told.len()].copy_from_slice(heard);
        }
        let half = (1..told.len()).rev().find(|&len| all.ends_with(&told[..len])).unwrap_or(0);
        *kept = all.split_off(all.len() - half);
        all
    }

    /// Passes bytes on, through what happens meanwhile; `false`: the connection is to end.
    fn pass(&self, bytes: &[u8], near: &mut TcpStream) -> bool {
        let mut rest = bytes;
        while !rest.is_empty() {
            let mut accidents = self.accidents();
            let left = accidents.front().map_or(usize::MAX, |(left, _)| *left);
            let (now, later) = rest.split_at(rest.len().min(left));
            if let Some((left, _)) = accidents.front_mut() {
                *left -= now.len();
            }
            drop(accidents);
            if near.write_all(now).is_err() || self.breaks() {
                return false;
            }
            rest = later;
        }
        true
    }

    /// Waits while it is held; whether it breaks now.
    fn breaks(&self) -> bool {
        let is_held = |accidents: &mut VecDeque<_>| accidents.front() == Some(&(0, Accident::Hold));
        let mut accidents = self.let_go.wait_while(self.accidents(), is_held).expect("sound");
        accidents.pop_front_if(|accident| *accident == (0, Accident::Break)).is_some()
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, is_mute: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(len @ 1..) = from.read(&mut bytes) {
        if !is_mute.load(Ordering::SeqCst) && to.write_all(&bytes[..len]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
