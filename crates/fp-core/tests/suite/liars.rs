//! Liars behind forged entries of the rendezvous: they answer with nonsense, or as a rank would, and then with nonsense.
//! Nobody waits for them longer than the deadline, and nobody is led away from the publisher that there is.

use crate::support::{PATIENCE, Place, STREAM, publish, take, values};
use fp_core::{OpenError, Publisher, Selection, Subscriber, TransportKind};
use fp_transport::{ListenOptions, Listener, OutFrame};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// For openings that come to nothing.
const SHORT: Duration = Duration::from_secs(1);
/// What a loaded machine may take on top of it.
const SLACK: Duration = Duration::from_secs(5);
/// The epoch of forged entries: it is higher than those that are drawn, most of the time.
const EPOCH: u128 = u128::MAX - 7;
const LEN: u64 = 1000;

/// Somebody who lies on a thread, until it is dropped.
struct Liar {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Liar {
    fn start(address: SocketAddr, mut turn: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let lie = move || {
            while !stopped.load(Ordering::Relaxed) {
                turn();
                std::thread::yield_now();
            }
        };
        Self { address, stop, thread: Some(std::thread::spawn(lie)) }
    }

    /// Answers every hello with these bytes, and keeps the connection.
    fn of_bytes(answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        listener.set_nonblocking(true).expect("it does not wait");
        let address = listener.local_addr().expect("an address");
        let mut kept: Vec<TcpStream> = Vec::new();
        Self::start(address, move || {
            let Ok((mut stream, _)) = listener.accept() else { return };
            stream.set_nonblocking(false).expect("it waits");
            stream.set_read_timeout(Some(SHORT)).expect("not for ever");
            let _ = stream.read_exact(&mut [0; 128]);
            let _ = stream.write_all(&answer);
            kept.push(stream);
        })
    }

    /// Is of the epoch that it is asked for, and then sends this head in a frame.
    fn of_frames(head: &'static [u8]) -> Self {
        let options = ListenOptions::new(EPOCH).with_shm(false).with_inproc(false);
        let mut listener = Listener::bind(options).expect("it listens");
        let address = listener.contact().tcp_addresses().next().expect("an address");
        let mut links = Vec::new();
        Self::start(address, move || {
            while let Some(accepted) = listener.accept(Instant::now()).expect("sound") {
                let mut link = accepted.link;
                if !head.is_empty() {
                    let _ = link.send_all(OutFrame::new(head.to_vec()), Instant::now() + SHORT);
                }
                links.push(link);
            }
        })
    }

    /// An entry of that name that leads here.
    fn forge(&self, place: &Place, name: &str) {
        let line =
            format!("flexpath:1,process={:032x},host={:032x},pid=7,token=no,tcp={}", 9, 0, self.address);
        std::fs::write(place.path().join(format!("{name}.{EPOCH:032x}")), line).expect("written");
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join).expect("once").expect("it only lied");
    }
}

/// Lies in every way, each at the same time, in a place of its own.
fn with_each_liar(test: impl Fn(&str, &Place, &Liar) + Sync) {
    let reply = |state: &[u8]| [state, &[0xff; 91]].concat();
    let liars = [
        ("another language", Liar::of_bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".repeat(8))),
        ("accepted, with a version that there is not", Liar::of_bytes(reply(b"FLXR\0"))),
        ("refused, with a reason that there is not", Liar::of_bytes(reply(b"FLXR\xee"))),
        ("half a reply", Liar::of_bytes(b"FLXR\0\0\x02\0".to_vec())),
        ("nothing", Liar::of_bytes(Vec::new())),
        ("a rank that says nothing", Liar::of_frames(b"")),
        ("a rank that says nonsense", Liar::of_frames(b"\xfe\xfe\xfe\xfe nonsense")),
        ("a rank that sends what only subscribers send", Liar::of_frames(&[3])),
    ];
    let test = &test;
    std::thread::scope(|scope| {
        for (what, liar) in &liars {
            scope.spawn(move || test(what, &Place::new(), liar));
        }
    });
}

#[test]
fn an_opening_that_a_liar_answers_ends_by_its_deadline_and_names_the_stream() {
    with_each_liar(|what, place, liar| {
        liar.forge(place, STREAM);
        let started = Instant::now();
        let opened = Subscriber::open(STREAM, place.subscriber_options().with_open_timeout(SHORT));
        let error = opened.err().unwrap_or_else(|| panic!("{what}: attached to a liar"));
        assert!(started.elapsed() < SHORT + SLACK, "{what}: after {:?}", started.elapsed());
        let is_known = matches!(error, OpenError::Failed { .. } | OpenError::Refused { .. });
        assert!(is_known, "{what}: {error:?}");
        let text = error.to_string();
        assert!(text.contains("stream \"stream\""), "{what}: {text}");
    });
}

#[test]
fn no_liar_keeps_a_subscriber_from_its_publisher() {
    with_each_liar(|what, place, liar| {
        let mut publisher = place.publisher();
        liar.forge(place, STREAM);
        let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Tcp))
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let step = publish(&mut publisher, LEN);
        let reader = take(&mut subscriber);
        let found = reader.get::<u64>("array", &Selection::All).expect("got");
        assert!(found == values(step, LEN), "{what}");
        drop(reader);
        subscriber.close().expect("left");
        publisher.close().expect("closed");
    });
}

/// A name is taken by whoever answers as its owner, so a rank may claim it falsely. No others count.
#[test]
fn no_liar_holds_a_publisher_up_beyond_its_deadline() {
    with_each_liar(|what, place, liar| {
        liar.forge(place, STREAM);
        let started = Instant::now();
        let opened = Publisher::open(STREAM, place.publisher_options());
        assert!(started.elapsed() < PATIENCE + SLACK, "{what}: after {:?}", started.elapsed());
        match opened {
            Ok(publisher) => publisher.close().expect("closed"),
            Err(error) => {
                assert!(matches!(error, OpenError::NameTaken { .. }), "{what}: {error:?}");
                assert!(what.starts_with("a rank"), "{what}: {error}");
            }
        }
    });
}
