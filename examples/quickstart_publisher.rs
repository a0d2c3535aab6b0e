//! Publishes the temperature of a rod that cools: ten steps. Started several times as one cohort (by `mpirun`, or
//! with `FLEXPATH_RANK` and `FLEXPATH_SIZE`), each rank owns its part of the rod.
use flexpath::{Cohort, Publisher, PublisherOptions, Region, Variable};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cohort = Cohort::from_environment()?;
    let (first, cells) = (u64::from(cohort.rank().0) * 100, u64::from(cohort.size()) * 100);
    let temperature = Variable::global::<f64>("temperature", &[cells])?.with_unit("K");
    let options = PublisherOptions::default().with_cohort(cohort).with_min_subscribers(1);
    let mut publisher = Publisher::open("heat", options)?;
    for step in 0..10 {
        let part = (first..first + 100).map(|cell| 300.0 + cell as f64 / f64::from(1 + step)).collect();
        let mut writer = publisher.begin_step()?;
        writer.put(&temperature, &Region::new([first], [100])?, part)?;
        writer.end()?;
    }
    publisher.close()?;
    Ok(())
}
