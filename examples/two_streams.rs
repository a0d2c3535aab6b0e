//! Serves two streams and a timer in one loop, under tokio. `Subscriber::steps` needs the feature `stream` of flexpath.
use flexpath::{ReadError, Selection, StepReader, Subscriber, SubscriberOptions};
use futures_util::StreamExt;
use std::time::Duration;

async fn show(stream: &str, step: Option<Result<StepReader, ReadError>>) -> Result<bool, ReadError> {
    let Some(step) = step.transpose()? else {
        println!("{stream} is over");
        return Ok(false);
    };
    let cells = step.get_async::<f64>("temperature", Selection::All).await?;
    println!("{stream} step {}: {:.2}", step.step(), cells.iter().sum::<f64>() / cells.len() as f64);
    Ok(true)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let open = |stream| Subscriber::open_async(stream, SubscriberOptions::default());
    let (mut ocean, mut air) = tokio::try_join!(open("ocean"), open("air"))?;
    let mut timer = tokio::time::interval(Duration::from_millis(100));
    let (mut ocean_steps, mut air_steps) = (ocean.steps(), air.steps());
    let (mut ocean_runs, mut air_runs) = (true, true);
    while ocean_runs || air_runs {
        // What is not ready is dropped here in every turn, and no step is lost by it.
        tokio::select! {
            step = ocean_steps.next(), if ocean_runs => ocean_runs = show("ocean", step).await?,
            step = air_steps.next(), if air_runs => air_runs = show("air", step).await?,
            _ = timer.tick() => println!("a tenth of a second"),
        }
    }
    drop((ocean_steps, air_steps));
    // A subscriber that is dropped leaves as well, but a task must not wait in a drop.
    tokio::try_join!(ocean.close_async(), air.close_async())?;
    Ok(())
}
