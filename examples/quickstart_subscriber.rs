//! Attaches to the stream `heat` while it runs, and takes four cells of every step from whoever owns them.
use flexpath::{NextStep, Region, Selection, Subscriber, SubscriberOptions};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let middle = Selection::Region(Region::new([48], [4])?);
    let mut subscriber = Subscriber::open("heat", SubscriberOptions::default())?;
    loop {
        match subscriber.next_step(Duration::from_secs(10))? {
            NextStep::Step(step) => {
                let cells = step.get_array::<f64>("temperature", &middle)?;
                println!("step {}: {cells:.2}", step.step());
            }
            NextStep::NotYet => println!("no step for 10 s"),
            NextStep::Ended(ending) => return Ok(println!("{}", ending.reason)),
        }
    }
}
