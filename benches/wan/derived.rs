//! One array derived of three. It is derived where they are published, so that a third of the bytes goes over the wire.
//! Or it is derived where it is wanted, of all three.

use super::roles::{PATIENCE, address, token};
use flexpath::{
    CohortSide, DerivedVariable, NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection,
    Subscriber, SubscriberOptions, Variable,
};
use std::time::Instant;

const NAMES: [&str; 3] = ["x", "y", "z"];
const SPEED: &str = "x, y, z | compute(sqrt(x*x + y*y + z*z))";
/// Elements of each array: 2 MiB.
const LEN: u64 = 1 << 18;
const STEPS: usize = 60;

fn directory(words: &[String]) -> Rendezvous {
    Rendezvous::at(&words[0]).expect("a directory")
}

/// Role: puts three components in every step.
pub(crate) fn publish(words: &[String]) {
    let options = PublisherOptions::default().with_rendezvous(directory(words)).with_tcp(Some(address(0)));
    let options = options.with_token(token()).with_min_subscribers(1);
    let mut publisher = Publisher::open("wan", options).expect("the stream opens");
    let variables = NAMES.map(|name| Variable::global::<f64>(name, &[LEN]).expect("a variable"));
    let whole = Region::new([0], [LEN]).expect("a region");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("begun");
        for variable in &variables {
            let mut loan = writer.loan::<f64>(variable, &whole).expect("lent");
            loan.fill(step as f64);
            writer.put_loan(loan).expect("put");
        }
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// Role: takes the speed of every step, derived on the side that the second word names. Prints as `roles::subscribe`.
pub(crate) fn subscribe(words: &[String]) {
    let here = words[1] == "subscriber";
    let (placement, selected) = match here {
        true => (CohortSide::Subscriber, &NAMES[..]),
        false => (CohortSide::Publisher, &["speed"][..]),
    };
    let options = SubscriberOptions::default().with_rendezvous(directory(words)).with_tcp(Some(address(1)));
    let derived = DerivedVariable::new("speed", SPEED).expect("a derivation").with_placement(placement);
    let options = options.with_token(token()).with_request(derived);
    let selecting = |options: SubscriberOptions, name: &&str| options.with_selection(*name, Selection::All);
    let options = selected.iter().fold(options.expect("a derivation"), selecting);
    let mut subscriber = Subscriber::open("wan", options).expect("attached");
    let mut speed = vec![0.0; LEN as usize];
    let mut times = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a sound stream") {
        step.get_into("speed", Selection::All, &mut speed[..]).expect("the speed");
        times.push(Instant::now());
        let expected = (3.0 * (step.step().0 as f64).powi(2)).sqrt();
        assert!(speed.iter().all(|found| *found == expected), "step {} is not what was put", step.step());
    }
    assert_eq!(times.len(), STEPS, "steps are missing");
    println!("{:?}", subscriber.transports());
    let first = *times.first().expect("a step");
    times.iter().for_each(|time| println!("{:.6}", (*time - first).as_secs_f64()));
}
