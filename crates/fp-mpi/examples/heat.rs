//! A rod that cools, under MPI: `mpirun -n 4 heat publish` and, meanwhile, `mpirun -n 2 heat subscribe`. Each publisher
//! rank owns a hundred cells; each subscriber rank takes an equal part of all of them, whoever owns it.

use flexpath::{NextStep, PublisherOptions, Region, Selection, SubscriberOptions, Variable};
use mpi::topology::Communicator;
use std::error::Error;
use std::time::Duration;

const CELLS: u64 = 100;
const STEPS: u64 = 10;

fn temperature(step: u64, cell: u64) -> f64 {
    300.0 + cell as f64 / (1 + step) as f64
}

fn publish(world: &impl Communicator) -> Result<(), Box<dyn Error>> {
    let (rank, size) = (u64::try_from(world.rank())?, u64::try_from(world.size())?);
    let options = PublisherOptions::default().with_min_subscribers(1);
    let mut publisher = fp_mpi::open_publisher(world, "heat", options)?;
    let rod = Variable::global::<f64>("temperature", &[CELLS * size])?;
    let own = Region::new([CELLS * rank], [CELLS])?;
    for step in 0..STEPS {
        let cells = (CELLS * rank..CELLS * (rank + 1)).map(|cell| temperature(step, cell)).collect();
        let mut writer = publisher.begin_step()?;
        writer.put(&rod, &own, cells)?;
        writer.end()?;
    }
    publisher.close()?;
    Ok(())
}

fn subscribe(world: &impl Communicator) -> Result<(), Box<dyn Error>> {
    let (rank, size) = (u64::try_from(world.rank())?, u64::try_from(world.size())?);
    let mut subscriber = fp_mpi::open_subscriber(world, "heat", SubscriberOptions::default())?;
    let mut taken = 0;
    while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(30))? {
        let rod = step.variables()?.into_iter().find(|variable| variable.def.name == "temperature");
        let cells = rod.and_then(|rod| rod.shape).ok_or("no rod")?.element_count();
        let (start, end) = (cells * rank / size, cells * (rank + 1) / size);
        let part: Vec<f64> =
            step.get("temperature", Selection::Region(Region::new([start], [end - start])?))?;
        let expected = (start..end).map(|cell| temperature(step.step().0, cell));
        if !part.into_iter().eq(expected) {
            return Err(format!("step {} is not what was published", step.step()).into());
        }
        taken += 1;
    }
    subscriber.close()?;
    if rank == 0 {
        println!("took {taken} steps, each cell as published");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let universe = mpi::initialize().ok_or("MPI was started before")?;
    let world = universe.world();
    match std::env::args().nth(1).as_deref() {
        Some("publish") => publish(&world),
        Some("subscribe") => subscribe(&world),
        _ => Err("heat publish, or heat subscribe".into()),
    }
}
