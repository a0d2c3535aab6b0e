//! Joins two streams by their time, and publishes the heat that goes from one to the other over the last four rows.
use flexpath::flow::{MissingPartner, Windows};
use flexpath::{Publisher, PublisherOptions, Subscriber, SubscriberOptions, Variable};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Four steps for the rows of a window, and one more.
    let open = |stream| Subscriber::open(stream, SubscriberOptions::default().with_limit_steps(5));
    let join = Windows::new([open("ocean")?, open("air")?]).by("time");
    // The air gives a step more often: each has a row, with the last one of the ocean.
    let mut windows = join.with_missing(MissingPartner::Last).sliding(4, 1)?;
    let mut publisher = Publisher::open("exchange", PublisherOptions::default().with_min_subscribers(1))?;
    let (time, heat) = (Variable::scalar::<f64>("time")?, Variable::scalar::<f64>("heat")?);

    let published = windows.publish(&mut publisher, Duration::from_secs(60), |window, step| {
        let mut sum = 0.0;
        for row in window.rows() {
            let (water, air) = (row[0].get::<f64>("T", "[...]")?, row[1].get::<f64>("T", "[...]")?);
            sum += water.iter().zip(&air).map(|(water, air)| water - air).sum::<f64>();
        }
        step.put_scalar(&time, window.last()[1].scalar::<f64>("time")?)?;
        Ok(step.put_scalar(&heat, sum / window.rows().len() as f64)?)
    })?;
    println!("{} windows", published.windows);
    Ok(publisher.close().map(drop)?)
}
