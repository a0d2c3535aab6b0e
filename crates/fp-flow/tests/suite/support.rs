//! What the tests share: streams of steps with a key, published by this process or by a child of it.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    Publisher, PublisherOptions, Region, StepReader, Subscriber, SubscriberOptions, TransportPolicy, Variable,
};
use fp_flow::{Key, NextWindow, Window, Windows};
use tempfile::TempDir;

/// Far more than anything here needs on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// A wait that is to end without anything.
pub(crate) const SHORT: Duration = Duration::from_millis(20);
/// What steps are joined by.
pub(crate) const KEY: &str = "time_step";

/// A rendezvous of one test's own.
pub(crate) struct Place(pub(crate) TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn rendezvous(&self) -> Rendezvous {
        Rendezvous::at(self.0.path()).expect("a rendezvous")
    }

    pub(crate) fn publishing(&self) -> PublisherOptions {
        PublisherOptions::default()
            .with_rendezvous(self.rendezvous())
            .with_transports(TransportPolicy::default())
            .with_close_timeout(PATIENCE)
    }

    pub(crate) fn publisher(&self, stream: &str) -> Publisher {
        Publisher::open(stream, self.publishing()).expect("it opens")
    }

    /// Options of a subscriber that can hold so many steps.
    pub(crate) fn holding(&self, steps: u32) -> SubscriberOptions {
        SubscriberOptions::default()
            .with_rendezvous(self.rendezvous())
            .with_transports(TransportPolicy::default())
            .with_limit_steps(steps)
    }

    pub(crate) fn subscriber(&self, stream: &str, steps: u32) -> Subscriber {
        Subscriber::open(stream, self.holding(steps)).expect("attached")
    }

    /// Publishers of streams, and subscribers of them that can hold so many steps.
    pub(crate) fn streams<const N: usize>(
        &self,
        names: [&str; N],
        steps: u32,
    ) -> ([Publisher; N], [Subscriber; N]) {
        let publishers = names.map(|name| self.publisher(name));
        (publishers, names.map(|name| self.subscriber(name, steps)))
    }

    /// A process that publishes steps of these keys, once somebody is there, and then neither ends nor closes.
    pub(crate) fn child(&self, stream: &str, keys: &[i64]) -> Process {
        let keys: Vec<String> = keys.iter().map(i64::to_string).collect();
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["support::published_by_a_child", "--exact", "--nocapture"]);
        command.env(CHILD, format!("{stream} {}", keys.join(","))).env("FLEXPATH_RENDEZVOUS", self.0.path());
        let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        Process(started.expect("it starts"))
    }
}

/// Set for a child: the stream, and the keys of its steps.
const CHILD: &str = "FLEXPATH_FLOW_CHILD";

/// A child of this process, killed when it is dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("it is there");
        self.0.wait().expect("it is over");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a child does; no test where it is none.
#[test]
fn published_by_a_child() {
    let Ok(asked) = std::env::var(CHILD) else { return };
    let (stream, keys) = asked.split_once(' ').expect("a stream and keys");
    let options = PublisherOptions::default().with_min_subscribers(1).with_open_timeout(PATIENCE);
    let mut publisher = Publisher::open(stream, options).expect("it opens");
    publish(&mut publisher, keys.split(',').map(|key| key.parse().expect("a key")));
    // Until whoever started it is gone.
    std::io::stdin().read_to_end(&mut Vec::new()).expect("a pipe");
}

/// Publishes a step for each key: the key, and ten times that as an array.
pub(crate) fn publish(publisher: &mut Publisher, keys: impl IntoIterator<Item = i64>) {
    let (time, x) =
        (Variable::scalar::<i64>(KEY).expect("a name"), Variable::global::<i64>("x", &[1]).expect("a name"));
    for key in keys {
        let mut writer = publisher.begin_step().expect("it begins");
        writer.put_scalar(&time, key).expect("put");
        writer.put(&x, &Region::new([0], [1]).expect("a region"), vec![10 * key]).expect("put");
        writer.end().expect("it ends");
    }
}

/// Publishes all of it on a thread, and closes.
pub(crate) fn publish_all(
    mut publisher: Publisher,
    keys: impl IntoIterator<Item = i64> + Send + 'static,
) -> JoinHandle<()> {
    thread::spawn(move || {
        publish(&mut publisher, keys);
        publisher.close().expect("it closes");
    })
}

/// What a step has.
pub(crate) fn content(step: &StepReader) -> i64 {
    step.get::<i64>("x", "[0]").expect("it can be read")[0]
}

pub(crate) fn number(key: Key) -> i64 {
    let Key::Integer(number) = key else { panic!("{key}: no integer") };
    number as i64
}

/// The keys of a window's rows, and what the steps of each row have.
pub(crate) fn rows(window: &Window) -> Vec<(i64, Vec<i64>)> {
    window.rows().iter().map(|row| (number(row.key()), row.steps().map(content).collect())).collect()
}

/// The next window, which must come.
pub(crate) fn next_window(windows: &mut Windows) -> Window {
    let next = windows.next(PATIENCE).expect("no error");
    let NextWindow::Window(window) = next else { panic!("{next:?} in place of a window") };
    window
}

/// Looks again and again until it is so.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        thread::yield_now();
    }
}
