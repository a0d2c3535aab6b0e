//! Two thousand strangers connect and say nothing, or little by little. Descriptors are left to the simulation, its
//! subscriber is not disturbed, and a newcomer with the token gets in.
//!
//! A binary of its own, as the limit of descriptors is one of the whole process. The strangers are another process.

mod support;

use fp_core::{Publisher, Selection, Subscriber, Token, TransportKind};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Place, STREAM, publish, take, values};

/// Says to the child whom to crowd.
const CROWDED: &str = "FLEXPATH_CROWDED";
const STRANGERS: usize = 2000;
const DESCRIPTORS: u64 = 1024;
/// Files that the simulation has open at one time.
const FILES: usize = 200;
const STEPS: u64 = 50;
const LEN: u64 = 2000;

/// Sets how many descriptors this process may have; `None`: as many as it can.
fn allow(descriptors: Option<u64>) {
    let before = getrlimit(Resource::Nofile);
    let current = descriptors.or(before.maximum);
    setrlimit(Resource::Nofile, Rlimit { current, ..before }).expect("a limit");
}

/// Ends the strangers whatever becomes of the test.
struct Crowd(Child);

impl Crowd {
    /// Comes back when all have connected once.
    fn gather(address: SocketAddr) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["strangers", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(CROWDED, address.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut crowd = Self(command.spawn().expect("it starts"));
        let told = BufReader::new(crowd.0.stdout.take().expect("a pipe")).lines();
        let gathered = told.map_while(Result::ok).any(|line| line.ends_with("all are here"));
        assert!(gathered, "the strangers connect");
        crowd
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The other process: keeps two thousand connections and makes one after the other anew, until its parent is gone.
#[test]
fn strangers() {
    let Ok(address) = std::env::var(CROWDED) else { return };
    let address: SocketAddr = address.parse().expect("an address");
    allow(None);
    let mut crowd: Vec<Option<TcpStream>> = (0..STRANGERS).map(|_| None).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        over.store(true, Ordering::Relaxed);
    });
    for round in 0.. {
        for (number, stranger) in crowd.iter_mut().enumerate() {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            // Every other one is slow: it says the first letters of a hello, one in each round.
            let goes_on =
                stranger.as_mut().is_some_and(|stream| number % 2 == 1 && stream.write(b"F").is_ok());
            if !goes_on {
                *stranger = TcpStream::connect(address).ok();
            }
        }
        if round == 0 {
            println!("all are here");
        }
    }
}

#[test]
fn a_crowd_of_strangers_takes_neither_descriptors_nor_time_of_the_simulation() {
    allow(Some(DESCRIPTORS));
    let (place, token) = (Place::new(), Token::random().expect("random bytes"));
    let mut publisher = Publisher::open(STREAM, place.publisher_options().with_token(token.clone()))
        .expect("the stream opens");
    let address = publisher.contact().tcp_addresses().next().expect("it listens");
    let attach = || Subscriber::open(STREAM, place.over(TransportKind::Tcp).with_token(token.clone()));
    let mut subscriber = attach().expect("attached");
    let crowd = Crowd::gather(address);
    let take_all = |publisher: &mut Publisher, subscriber: &mut Subscriber| {
        let number = publish(publisher, LEN);
        let step = take(subscriber);
        assert_eq!(step.step().0, number);
        assert!(step.get::<u64>("array", Selection::All).expect("the array") == values(number, LEN));
    };
    for step in 0..STEPS {
        let file = |number| File::create(place.path().join(format!("output-{step}-{number}")));
        let files: Vec<File> = (0..FILES).map(|number| file(number).expect("a descriptor is left")).collect();
        take_all(&mut publisher, &mut subscriber);
        drop(files);
    }
    subscriber.close().expect("left");
    let mut newcomer = attach().expect("who has the token gets in");
    take_all(&mut publisher, &mut newcomer);
    let counted = publisher.statistics();
    assert!(counted.dropped_handshakes > 0, "{counted:?}");
    assert_eq!(counted.skipped_steps, 0);
    drop(crowd);
    newcomer.close().expect("left");
    publisher.close().expect("closed");
}
