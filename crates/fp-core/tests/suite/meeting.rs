//! A rendezvous that is no directory: a meeting place in this process, streams that find each other by it, and whoever
//! is none.

use crate::support::{PATIENCE, STREAM, array, eventually, publish, take, values};
use fp_core::rendezvous::RendezvousError;
use fp_core::rendezvous::place::MeetingPlace;
use fp_core::{
    Cohort, OpenError, Publisher, PublisherOptions, Rendezvous, Selection, Subscriber, SubscriberOptions,
    Token,
};
use fp_proto::config::ContactText;
use fp_proto::meeting::{EPOCH, Entry, Reply};
use fp_transport::{FrameLimits, ListenOptions, Listener, OutFrame};
use fp_types::Epoch;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Short, for openings that come to nothing.
const SHORT: Duration = Duration::from_millis(600);

/// How soon entries are back, and newcomers find them.
const BACK: Duration = Duration::from_secs(2);

/// Something that serves on a thread until it is dropped.
struct Served {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn run(address: SocketAddr, serve: impl FnOnce(&AtomicBool) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = Some(std::thread::spawn(move || serve(&stopped)));
        Self { address, stop, thread }
    }

    /// A meeting place.
    fn place(address: SocketAddr, token: Option<Token>) -> Self {
        let place = MeetingPlace::listen(address, None, token, None).expect("it listens");
        let address = place.address();
        Self::run(address, move |stop| place.serve(&|| stop.load(Ordering::Relaxed)).expect("served"))
    }

    /// One that answers as a meeting place would, with these bytes, whatever it is asked.
    fn liar(answer: Vec<u8>) -> Self {
        let options = ListenOptions::new(EPOCH).with_shm(false).with_inproc(false);
        let mut listener = Listener::bind(options).expect("it listens");
        let address = listener.contact().tcp_addresses().next().expect("an address");
        Self::run(address, move |stop| {
            let mut links = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                links.extend(listener.accept(Instant::now()).expect("sound").map(|accepted| accepted.link));
                for link in &mut links {
                    link.set_frame_limits(FrameLimits::default());
                    if let Ok(Some(_)) = link.recv() {
                        let _ = link.send(OutFrame::new(answer.clone()));
                    }
                    let _ = link.flush();
                }
                std::thread::yield_now();
            }
        })
    }

    /// The port of another program, which says this to whoever dials.
    fn stranger(said: &'static [u8]) -> Self {
        let listener = TcpListener::bind(any()).expect("it listens");
        let address = listener.local_addr().expect("bound");
        listener.set_nonblocking(true).expect("a socket");
        Self::run(address, move |stop| {
            while !stop.load(Ordering::Relaxed) {
                if let Ok((mut dialled, _)) = listener.accept() {
                    let _ = dialled.set_nonblocking(false);
                    let _ = dialled.read(&mut [0; 64]);
                    let _ = dialled.write_all(said);
                }
                std::thread::yield_now();
            }
        })
    }

    fn url(&self) -> String {
        format!("tcp://{}", self.address)
    }

    fn rendezvous(&self) -> Rendezvous {
        Rendezvous::at(self.url()).expect("an address")
    }

    fn publisher_options(&self) -> PublisherOptions {
        PublisherOptions::default().with_rendezvous(self.rendezvous()).with_open_timeout(PATIENCE)
    }

    fn subscriber_options(&self) -> SubscriberOptions {
        SubscriberOptions::default().with_rendezvous(self.rendezvous()).with_open_timeout(PATIENCE)
    }

    fn end(mut self) -> SocketAddr {
        self.stop();
        self.address
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic");
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}

fn any() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

/// Publishes a step, and has the subscriber take it.
fn pass_a_step(publisher: &mut Publisher, subscriber: &mut Subscriber) {
    let step = publish(publisher, 64);
    let taken = take(subscriber);
    let got: Vec<u64> = taken.get("array", &Selection::All).expect("the array");
    assert_eq!((taken.step().0, got), (step, values(step, 64)));
}

fn names(served: &Served) -> Vec<String> {
    served.rendezvous().list().expect("listed").into_iter().map(|entry| entry.name).collect()
}

#[test]
fn everything_that_a_directory_does_works_at_a_meeting_place() {
    let place = Served::place(any(), None);
    // The subscriber is there first, and waits.
    let waiting = place.subscriber_options();
    let waiting = std::thread::spawn(move || Subscriber::open(STREAM, waiting).expect("attached"));
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("opened");
    let mut subscriber = waiting.join().expect("no panic");
    pass_a_step(&mut publisher, &mut subscriber);
    assert_eq!(names(&place), [STREAM]);
    let taken = Publisher::open(STREAM, place.publisher_options()).err().expect("it is taken");
    assert!(matches!(taken, OpenError::NameTaken { contact: Some(_), .. }), "{taken}");
    drop(subscriber);
    publisher.close().expect("closed");
    eventually("the entry is gone", || names(&place).is_empty());
    // The same name is another epoch.
    let again = Publisher::open(STREAM, place.publisher_options()).expect("opened again");
    assert_eq!(names(&place), [STREAM]);
    again.close().expect("closed");
}

#[test]
fn cohorts_find_their_lead_by_a_meeting_place() {
    let place = Served::place(any(), None);
    let (publishing, subscribing) = (place.publisher_options(), place.subscriber_options());
    let ranks = (0..3).map(|rank| Cohort::of(rank, 3).expect("a rank"));
    let publishers: Vec<_> = ranks
        .map(|rank| {
            let options = publishing.clone().with_cohort(rank);
            std::thread::spawn(move || Publisher::open(STREAM, options).expect("opened"))
        })
        .collect();
    let ranks = (0..2).map(|rank| Cohort::of(rank, 2).expect("a rank"));
    let subscribers: Vec<_> = ranks
        .map(|rank| {
            let options = subscribing.clone().with_cohort(rank).with_name("pair");
            std::thread::spawn(move || Subscriber::open(STREAM, options).expect("attached"))
        })
        .collect();
    let publishers: Vec<_> = publishers.into_iter().map(|one| one.join().expect("opened")).collect();
    let subscribers: Vec<_> = subscribers.into_iter().map(|one| one.join().expect("attached")).collect();
    // Ranks of one cohort leave together.
    let leaving = subscribers.into_iter().map(|one| std::thread::spawn(move || one.close()));
    let closing = publishers.into_iter().map(|one| std::thread::spawn(move || one.close()));
    let ends: Vec<_> = leaving.chain(closing).collect();
    ends.into_iter().for_each(|one| one.join().expect("no panic").expect("closed"));
}

/// A stream does not notice that its meeting place is away, and newcomers find it two seconds after the place is back.
#[test]
fn a_meeting_place_that_begins_again_knows_all_streams() {
    let place = Served::place(any(), None);
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("opened");
    let mut subscriber = Subscriber::open(STREAM, place.subscriber_options()).expect("attached");
    pass_a_step(&mut publisher, &mut subscriber);
    let address = place.end();
    (0..50).for_each(|_| pass_a_step(&mut publisher, &mut subscriber));
    let place = Served::place(address, None);
    let back = Instant::now();
    let newcomer = Subscriber::open(STREAM, place.subscriber_options()).expect("attached");
    assert!(back.elapsed() < BACK, "{:?}", back.elapsed());
    // Nobody gets the name meanwhile.
    let taken = Publisher::open(STREAM, place.publisher_options()).err().expect("it is taken");
    assert!(matches!(taken, OpenError::NameTaken { .. }), "{taken}");
    drop(newcomer);
    pass_a_step(&mut publisher, &mut subscriber);
    drop(subscriber);
    publisher.close().expect("closed");
}

/// A claim is not granted by a place that has just begun: who had the name may not be back yet.
#[test]
fn a_name_is_claimed_when_the_place_has_settled() {
    let place = Served::place(any(), None);
    let began = Instant::now();
    let publisher = Publisher::open(STREAM, place.publisher_options()).expect("opened");
    assert!(began.elapsed() >= Duration::from_millis(1900), "{:?}", began.elapsed());
    publisher.close().expect("closed");
    let began = Instant::now();
    Publisher::open(STREAM, place.publisher_options()).expect("opened").close().expect("closed");
    assert!(began.elapsed() < Duration::from_millis(1900), "{:?}", began.elapsed());
}

fn publisher_error(url: &str, timeout: Duration) -> RendezvousError {
    let rendezvous = Rendezvous::at(url).expect("an address");
    let options = PublisherOptions::default().with_rendezvous(rendezvous).with_open_timeout(timeout);
    let (began, error) = (Instant::now(), Publisher::open(STREAM, options).err().expect("no stream"));
    assert!(began.elapsed() < timeout + Duration::from_secs(6), "{:?}", began.elapsed());
    let OpenError::Rendezvous(error) = error else { panic!("{error}") };
    error
}

fn subscriber_error(url: &str, timeout: Duration) -> OpenError {
    let rendezvous = Rendezvous::at(url).expect("an address");
    let options = SubscriberOptions::default().with_rendezvous(rendezvous).with_open_timeout(timeout);
    Subscriber::open(STREAM, options).err().expect("no stream")
}

#[test]
fn a_place_where_nobody_listens_is_an_error_at_the_deadline() {
    let closed = TcpListener::bind(any()).expect("a port").local_addr().expect("bound");
    let url = format!("tcp://{closed}");
    let error = publisher_error(&url, SHORT);
    let told = error.to_string();
    assert!(matches!(error, RendezvousError::Away { .. }), "{told}");
    assert!(told.contains(&url) && told.contains("flexpath meet") && told.contains("refused"), "{told}");
    let error = subscriber_error(&url, SHORT);
    assert!(matches!(error, OpenError::Rendezvous(RendezvousError::Away { .. })), "{error}");
    assert!(matches!(Rendezvous::at(url).expect("one").list(), Err(RendezvousError::Away { .. })));
    // The place may begin while somebody waits for it.
    let options = PublisherOptions::default().with_open_timeout(PATIENCE);
    let options = options.with_rendezvous(Rendezvous::at(format!("tcp://{closed}")).expect("an address"));
    let waiting = std::thread::spawn(move || Publisher::open(STREAM, options).expect("opened"));
    let _place = Served::place(closed, None);
    waiting.join().expect("no panic").close().expect("closed");
}

#[test]
fn a_wrong_token_is_told_at_once() {
    let token = Token::random().expect("a token");
    let place = Served::place(any(), Some(token.clone()));
    for wrong in [None, Some(Token::random().expect("a token"))] {
        let mut options = place.publisher_options();
        options.link.token = wrong.clone();
        let began = Instant::now();
        let error = Publisher::open(STREAM, options).err().expect("not let in");
        assert!(matches!(error, OpenError::Rendezvous(RendezvousError::NotLetIn { .. })), "{error}");
        assert!(error.to_string().contains("the token is missing or wrong"), "{error}");
        assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
        let listed = place.rendezvous().with_credentials(wrong, None).list();
        assert!(matches!(listed, Err(RendezvousError::NotLetIn { .. })), "{listed:?}");
    }
    let mut publisher =
        Publisher::open(STREAM, place.publisher_options().with_token(token.clone())).expect("opened");
    let options = place.subscriber_options().with_token(token.clone());
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    pass_a_step(&mut publisher, &mut subscriber);
    assert_eq!(place.rendezvous().with_credentials(Some(token), None).list().expect("listed").len(), 1);
    drop(subscriber);
    publisher.close().expect("closed");
}

#[test]
fn whoever_is_no_meeting_place_is_told_from_one() {
    let web = Served::stranger(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let error = publisher_error(&web.url(), PATIENCE);
    assert!(matches!(error, RendezvousError::NoPlace { .. }), "{error}");
    assert!(error.to_string().contains("does not speak Flexpath"), "{error}");
    // A rank of a stream.
    let place = Served::place(any(), None);
    let publisher = Publisher::open(STREAM, place.publisher_options()).expect("opened");
    let entry = place.rendezvous().list().expect("listed").remove(0);
    let address = entry.contact.tcp_addresses().next().expect("it listens");
    let error = publisher_error(&format!("tcp://{address}"), PATIENCE);
    assert!(error.to_string().contains("a rank of a stream answers there"), "{error}");
    publisher.close().expect("closed");
}

#[test]
fn a_liar_is_told_from_a_meeting_place() {
    let other = Entry { name: "cold".to_owned(), epoch: Epoch(1), contact: ContactText("x".to_owned()) };
    let other = Reply::Listed { settled: true, entries: vec![other] }.encode();
    let lies = [
        (b"garbage".to_vec(), "malformed"),
        (vec![7; 9 << 20], "head length"),
        (other, "an entry of \"cold\", asked for \"stream\""),
        (Reply::Done.encode(), "no entries, asked for some"),
    ];
    for (answer, expected) in lies {
        let liar = Served::liar(answer);
        let error = subscriber_error(&liar.url(), PATIENCE);
        assert!(matches!(error, OpenError::Rendezvous(RendezvousError::Misbehaved { .. })), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// An entry that leads to somebody of another epoch is passed over, as one in a directory is.
#[test]
fn an_entry_that_leads_elsewhere_is_not_believed() {
    let place = Served::place(any(), None);
    let publisher = Publisher::open("another", place.publisher_options()).expect("opened");
    let contact = place.rendezvous().list().expect("listed").remove(0).contact.to_string();
    let entry = Entry { name: STREAM.to_owned(), epoch: Epoch(1), contact: ContactText(contact) };
    let liar = Served::liar(Reply::Listed { settled: true, entries: vec![entry] }.encode());
    let error = subscriber_error(&liar.url(), Duration::from_secs(2)).to_string();
    assert!(error.contains("entries of \"stream\" in tcp://") && error.contains("it is of epoch"), "{error}");
    publisher.close().expect("closed");
}

#[test]
fn only_directories_and_meeting_places_are_a_rendezvous() {
    let error = Rendezvous::at("http://login1:7000").expect_err("another scheme");
    assert!(matches!(error, RendezvousError::Scheme { .. }), "{error}");
    let error = Rendezvous::at("tcp://login1").expect_err("no port");
    assert!(matches!(error, RendezvousError::Address { .. }), "{error}");
    let place = Rendezvous::at("tcp://login1:7000").expect("an address");
    assert_eq!((place.to_string().as_str(), place.directory()), ("tcp://login1:7000", None));
}

/// Steps are not held up by a place that takes connections and says nothing.
#[test]
fn steps_go_on_while_the_meeting_place_hangs() {
    let place = Served::place(any(), None);
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("opened");
    let mut subscriber = Subscriber::open(STREAM, place.subscriber_options()).expect("attached");
    let address = place.end();
    // Its queue takes connections, and nobody takes them out of there.
    let _deaf = TcpListener::bind(address).expect("the port");
    let (variable, region) = array(64);
    let mut longest = Duration::ZERO;
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until {
        let began = Instant::now();
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &region, values(0, 64)).expect("put");
        writer.end().expect("ended");
        drop(take(&mut subscriber));
        longest = longest.max(began.elapsed());
    }
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    drop(subscriber);
    publisher.close().expect("closed");
}
