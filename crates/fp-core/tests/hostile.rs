//! Twenty hostile peers at once. Some send junk, half hellos and dribbles. Others shake hands as ranks do, and flood with
//! subscriptions, questions and requests for data. The honest subscriber gets every step; memory and descriptors stay
//! bounded.
//!
//! A binary of its own, as memory and descriptors are those of the whole process. The hostile peers are another process.

mod support;

use fp_core::{Contact, Publisher, Selection, Subscriber, TransportKind};
use fp_proto::codec::{decode, encode};
use fp_transport::{DialOptions, Link, OutFrame, Purpose, TransportPolicy, dial};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{PATIENCE, Place, STREAM, eventually, publish, take, values};

/// Says to the child whom to attack: the contact, a space, the epoch.
const ATTACKED: &str = "FLEXPATH_ATTACKED";
const PEERS: usize = 20;
const STEPS: u64 = 300;
const LEN: u64 = 2000;
/// Memory that all of them together may cost.
const LIMIT_KIB: u64 = 64 << 10;
/// Descriptors that they may cost: their links, and handshakes that are not over.
const LIMIT_DESCRIPTORS: usize = 2 * PEERS + 80;
/// Attacks of each kind that there have been at least when the honest subscriber leaves.
const ATTACKS: u64 = 50;
/// What ranks say, by the name of its kind.
const CONTROL: &str = include_str!("../../fp-proto/tests/golden/control.txt");
const DATA: &str = include_str!("../../fp-proto/tests/golden/data.txt");

const KINDS: [&str; 5] = ["junk", "half hellos", "subscriptions", "questions", "requests"];
static DONE: [AtomicU64; KINDS.len()] = [const { AtomicU64::new(0) }; KINDS.len()];
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Whom a peer attacks.
#[derive(Clone)]
struct Target {
    contact: Contact,
    epoch: u128,
}

impl Target {
    fn connect(&self) -> Option<TcpStream> {
        let address: SocketAddr = self.contact.tcp_addresses().next()?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
        stream.set_write_timeout(Some(Duration::from_millis(200))).ok()?;
        Some(stream)
    }

    /// A link as a rank has it.
    fn link(&self, purpose: Purpose) -> Option<Link> {
        let options = DialOptions::new(Instant::now() + PATIENCE)
            .with_purpose(purpose)
            .with_epoch(Some(self.epoch))
            .with_policy(TransportPolicy::only(TransportKind::Tcp));
        dial(&self.contact, &options).ok()
    }
}

/// The bytes of the golden messages whose kind begins with that.
fn golden(lines: &str, kind: &str) -> Vec<Vec<u8>> {
    let byte = |digits: &str, at| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits");
    let bytes = |digits: &str| (0..digits.len()).step_by(2).map(|at| byte(digits, at)).collect();
    let lines = lines.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(name, _)| name.starts_with(kind)).map(|(_, digits)| bytes(digits)).collect()
}

/// Bytes that follow from a number.
fn junk(seed: u64) -> Vec<u8> {
    let word = |at: u64| (seed + at).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).to_le_bytes();
    (0..512).flat_map(word).collect()
}

/// One attack; nothing where the publisher let nobody in.
fn attack(kind: usize, target: &Target, seed: u64) -> Option<()> {
    match KINDS[kind] {
        "junk" => (0..16).try_for_each(|at| target.connect()?.write_all(&junk(seed + at)).ok()),
        "half hellos" => dribble(target),
        "subscriptions" => flood(target.link(Purpose::Control)?, &golden(CONTROL, "Subscribe")),
        "questions" => flood(target.link(Purpose::Control)?, &golden(CONTROL, "AskStatus")),
        _ => flood(target.link(Purpose::Data)?, &golden(DATA, "")),
    }
}

/// A hello byte by byte, which is never finished.
fn dribble(target: &Target) -> Option<()> {
    let mut stream = target.connect()?;
    for byte in b"FLXP\x02\0\x02\0".iter().chain(&[0; 100]) {
        stream.write_all(&[*byte]).ok()?;
        std::thread::yield_now();
    }
    Some(())
}

/// The same messages again and again, until the link is closed, or there were very many. Nothing is read.
fn flood(mut link: Link, messages: &[Vec<u8>]) -> Option<()> {
    for message in messages.iter().cycle().take(2000) {
        // An attack counts though the publisher ends it.
        if link.send_all(OutFrame::new(message.clone()), Instant::now() + Duration::from_millis(200)).is_err()
        {
            break;
        }
    }
    Some(())
}

/// The other process: twenty threads that attack, until its parent has heard enough.
#[test]
fn hostile_peers() {
    let Ok(attacked) = std::env::var(ATTACKED) else { return };
    let (contact, epoch) = attacked.split_once(' ').expect("a contact and an epoch");
    let epoch = u128::from_str_radix(epoch, 16).expect("an epoch");
    let target = Target { contact: contact.parse().expect("a contact"), epoch };
    std::thread::scope(|scope| {
        for peer in 0..PEERS {
            let target = target.clone();
            scope.spawn(move || {
                for seed in (peer as u64..).step_by(PEERS) {
                    if IS_OVER.load(Ordering::Relaxed) {
                        return;
                    }
                    let done = attack(peer % KINDS.len(), &target, seed);
                    DONE[peer % KINDS.len()].fetch_add(done.map_or(0, |()| 1), Ordering::Relaxed);
                }
            });
        }
        eventually("every kind of peer has attacked often", || {
            DONE.iter().all(|done| done.load(Ordering::Relaxed) >= ATTACKS)
        });
        println!("@ all have attacked");
        let _ = std::io::stdin().read(&mut [0]);
        IS_OVER.store(true, Ordering::Relaxed);
    });
}

/// Ends the peers whatever becomes of the test.
struct Peers(Child);

impl Peers {
    fn start(target: &Target) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["hostile_peers", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(ATTACKED, format!("{} {:032x}", target.contact, target.epoch));
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts"))
    }

    /// Comes true when all kinds have attacked often.
    fn have_attacked(&mut self) -> std::sync::mpsc::Receiver<()> {
        let (tell, told) = std::sync::mpsc::channel();
        let lines = BufReader::new(self.0.stdout.take().expect("a pipe")).lines();
        std::thread::spawn(move || {
            if lines.map_while(Result::ok).any(|line| line.ends_with("all have attacked")) {
                let _ = tell.send(());
            }
        });
        told
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Memory of this process in KiB, and its descriptors.
fn used() -> (u64, usize) {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the system counts");
    let pages: u64 = text.split(' ').nth(1).expect("a number").parse().expect("a number");
    let descriptors = std::fs::read_dir("/proc/self/fd").expect("proc is there").count();
    (pages * rustix::param::page_size() as u64 / 1024, descriptors)
}

#[test]
fn twenty_hostile_peers_cost_the_honest_subscriber_no_step() {
    let messages = golden(CONTROL, "Subscribe").into_iter().chain(golden(CONTROL, "AskStatus"));
    assert!(messages.clone().count() > 8, "they say what ranks say");
    messages.for_each(|bytes| assert_eq!(encode(&decode(&bytes).expect("a message")).as_slice(), bytes));
    let place = Place::new();
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Tcp)).expect("attached");
    let step_passes = |publisher: &mut Publisher, subscriber: &mut Subscriber| {
        let number = publish(publisher, LEN);
        let step = take(subscriber);
        assert_eq!((step.step().0, step.skipped()), (number, 0));
        assert!(step.get::<u64>("array", Selection::All).expect("the array") == values(number, LEN));
    };
    (0..20).for_each(|_| step_passes(&mut publisher, &mut subscriber));
    let (before_kib, before) = used();
    let entry = place.rendezvous().entries().remove(0);
    let mut peers = Peers::start(&Target { contact: entry.contact, epoch: entry.epoch.0 });
    let told = peers.have_attacked();
    let (mut steps, mut all_attacked, mut most_kib, mut most) = (0, false, 0, 0);
    let deadline = Instant::now() + 2 * PATIENCE;
    while steps < STEPS || !all_attacked {
        assert!(Instant::now() < deadline, "the peers do not attack");
        step_passes(&mut publisher, &mut subscriber);
        steps += 1;
        all_attacked = all_attacked || told.try_recv().is_ok();
        let (kib, descriptors) = used();
        (most_kib, most) = (most_kib.max(kib), most.max(descriptors));
    }
    println!("{steps} steps; {before_kib} KiB, at most {most_kib}; {before} descriptors, at most {most}");
    assert!(most_kib < before_kib + LIMIT_KIB, "{before_kib} KiB before, {most_kib} KiB while they attacked");
    assert!(most < before + LIMIT_DESCRIPTORS, "{before} descriptors before, {most} while they attacked");
    drop(peers);
    eventually("their descriptors are closed", || used().1 <= before + 2);
    step_passes(&mut publisher, &mut subscriber);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}
