//! The publisher and the subscriber, each on its host.

use crate::derived;
use crate::hosts::ADDRESSES;
use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Token, Variable,
};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// No wait is longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// What both sides show: streams between hosts want one.
const TOKEN: [u8; 32] = [0x5a; 32];

/// What is sent: `steps` steps of `len` numbers, one every `every_ms` milliseconds (0: as fast as it goes).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    pub(crate) steps: u64,
    pub(crate) len: u64,
    pub(crate) every_ms: u64,
}

impl Traffic {
    /// As arguments.
    pub(crate) fn words(self) -> [String; 3] {
        [self.steps, self.len, self.every_ms].map(|number| number.to_string())
    }

    fn of(words: &[String]) -> Self {
        let number = |at: usize| words[at].parse().expect("a number");
        Self { steps: number(0), len: number(1), every_ms: number(2) }
    }

    /// The element at that index in that step.
    fn element(self, step: u64, index: u64) -> u64 {
        step * self.len + index
    }
}

/// Plays a role; its words are the rendezvous directory and the traffic, or on which side is derived.
pub(crate) fn play(role: &str, words: &[String]) {
    let traffic = || Traffic::of(&words[1..]);
    match role {
        "publish" => publish(&words[0], traffic()),
        "subscribe" => subscribe(&words[0], traffic()),
        "publish-three" => derived::publish(words),
        _ => derived::subscribe(words),
    }
}

pub(crate) fn token() -> Token {
    Token::new(TOKEN).expect("a token")
}

pub(crate) fn address(host: usize) -> SocketAddr {
    format!("{}:0", ADDRESSES[host]).parse().expect("an address")
}

fn publish(directory: &str, traffic: Traffic) {
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(directory).expect("a directory"))
        .with_tcp(Some(address(0)))
        .with_token(token())
        .with_min_subscribers(1);
    let mut publisher = Publisher::open("wan", options).expect("the stream opens");
    let variable = Variable::global::<u64>("numbers", &[traffic.len]).expect("a variable");
    let whole = Region::whole(variable.shape());
    let begin = Instant::now();
    for step in 0..traffic.steps {
        let due = begin + Duration::from_millis(traffic.every_ms * step);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let mut writer = publisher.begin_step().expect("begun");
        let mut loan = writer.loan::<u64>(&variable, &whole).expect("lent");
        loan.iter_mut().zip(0..).for_each(|(place, index)| *place = traffic.element(step, index));
        writer.put_loan(loan).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// Prints the transport, then for each step when it was there, in seconds after the first.
fn subscribe(directory: &str, traffic: Traffic) {
    let options = SubscriberOptions::default()
        .with_rendezvous(Rendezvous::at(directory).expect("a directory"))
        .with_tcp(Some(address(1)))
        .with_token(token())
        .with_selection("numbers", flexpath::Selection::All);
    let mut subscriber = Subscriber::open("wan", options).expect("attached");
    let mut numbers = vec![0u64; usize::try_from(traffic.len).expect("a length")];
    let mut times = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a sound stream") {
        step.get_into("numbers", flexpath::Selection::All, &mut numbers).expect("the numbers");
        times.push(Instant::now());
        let number = step.step().0;
        drop(step);
        let is_right = |(index, found): (u64, &u64)| *found == traffic.element(number, index);
        assert!((0..).zip(&numbers).all(is_right), "step {number} is not what was put");
    }
    assert_eq!(times.len() as u64, traffic.steps, "steps are missing");
    println!("{:?}", subscriber.transports());
    let first = *times.first().expect("a step");
    times.iter().for_each(|time| println!("{:.6}", (*time - first).as_secs_f64()));
}
