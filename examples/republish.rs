//! Publishes a stream once more under another name, whatever is in it: `republish heat copy`. It knows no type.
//!
//! Started several times as one cohort, each rank takes the blocks of its share of the publisher's ranks. Values of each
//! rank (local scalars) need as many ranks as the publisher has.
use flexpath::{
    ArrayKind, Cohort, NextStep, Publisher, PublisherOptions, Region, Select, Selection, StepReader,
    StepWriter, Subscriber, SubscriberOptions, Variable,
};
use std::error::Error;
use std::time::Duration;

/// Where a block is put that lies there. The rows of a joined array are placed anew: those of lower ranks come first.
fn placed(variable: &Variable, region: &Region) -> Result<Region, Box<dyn Error>> {
    let is_joined = matches!(variable.definition().kind, ArrayKind::JoinedArray { .. });
    Ok(if is_joined { Region::new(region.start().zeros_like(), *region.count())? } else { *region })
}

/// Puts this rank's share of a step.
fn copy(step: &StepReader, writer: &mut StepWriter, cohort: Cohort) -> Result<(), Box<dyn Error>> {
    for info in step.variables()? {
        let variable = step.variable(&info.def.name)?;
        let bytes = |part: Select| step.get_bytes(variable.name(), part.with_order(info.def.order));
        if info.def.kind == ArrayKind::Scalar {
            let (_, shape, value) = bytes(Selection::All.into())?;
            writer.put_bytes(&variable, &Region::whole(&shape), &value)?;
            continue;
        }
        for (block, region) in step.blocks(variable.name())? {
            if block.rank.0 % cohort.size() == cohort.rank().0 {
                let (_, _, elements) = bytes(block.into())?;
                writer.put_external_bytes(&variable, &placed(&variable, &region)?, elements)?;
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = names.as_slice() else { return Err("give two names: republish <from> <to>".into()) };
    let cohort = Cohort::from_environment()?;
    let options = PublisherOptions::default().with_cohort(cohort).with_min_subscribers(1);
    let mut publisher = Publisher::open(to, options)?;
    let options = SubscriberOptions::default().with_cohort(cohort).with_name(format!("republish as {to}"));
    let mut subscriber = Subscriber::open(from, options)?;
    loop {
        match subscriber.next_step(Duration::from_secs(10))? {
            NextStep::Step(step) => {
                let mut writer = publisher.begin_step()?;
                copy(&step, &mut writer, cohort)?;
                writer.end()?;
            }
            NextStep::NotYet => println!("no step for 10 s"),
            NextStep::Ended(ending) => {
                println!("{}", ending.reason);
                return Ok(publisher.close()?);
            }
        }
    }
}
