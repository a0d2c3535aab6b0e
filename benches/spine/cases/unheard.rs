//! Steps that nobody subscribed to: what a put costs then.

use crate::bench::{Around, Bench};
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Words, listed};
use crate::report::{Row, Target, median, quantile};
use flexpath::{Publisher, Variable};
use std::sync::Arc;

const ELEMENTS: u64 = 1 << 17;
/// Variables put in each step.
const VARIABLES: usize = 16;
const STEPS: usize = 500;

/// Times of a put of memory that stays with its owner, of a put of a copy, and of the rest of the step.
pub(crate) fn measure(bench: &mut Bench) {
    let directory = bench.directory();
    let role = Role::new("unheard-publisher").with("core", 0).with("directory", directory);
    let role = role.with("transport", "shm").with("rank", 0).with("size", 1);
    let role = role.with("steps", bench.scaled(STEPS));
    let (around, found) = Around::during(|| role.start().finish());
    for (key, name, target) in [
        ("external", "unheard put_external 1 MiB", Target::Below(1.0)),
        ("copy", "unheard put_copy 1 MiB", Target::Below(1.0)),
        ("rest", "unheard begin_step and end", Target::None),
    ] {
        let times = found.list(key);
        let note = format!("p99 {:.2} us", quantile(&times, 0.99) / 1e3);
        bench.add(Row::new(name, "us", median(&times) / 1e3, target).under(around).noting(note));
    }
    let copied = found.number("copied");
    bench.add(Row::new("unheard puts, copied", "B", copied, Target::Exactly(0.0)).under(around));
}

/// Role: publishes to nobody, and prints nanoseconds for each put.
pub(crate) fn publisher(words: &Words) {
    ours::take_core(words);
    let options = ours::publisher_options(words);
    let mut publisher = Publisher::open(ours::STREAM, options).expect("the stream opens");
    let variable = |at| Variable::global::<u64>(format!("x{at}"), &[ELEMENTS]).expect("a variable");
    let variables: Vec<Variable> = (0..VARIABLES).map(variable).collect();
    let owner = Elements(Arc::new(vec![1; ELEMENTS as usize]));
    let (mut external, mut copy, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..words.number::<usize>("steps") {
        let (puts_ns, rest_ns) = timed_step(&mut publisher, &variables, |writer, variable, region| {
            writer.put_external::<u64>(variable, region, owner.clone()).expect("a put");
        });
        external.push(puts_ns);
        rest.push(rest_ns);
        let (puts_ns, _) = timed_step(&mut publisher, &variables, |writer, variable, region| {
            writer.put_copy(variable, region, &owner.0).expect("a put");
        });
        copy.push(puts_ns);
    }
    let counted = publisher.statistics();
    let copied = counted.put_copied_bytes + counted.shared_copied_bytes + counted.gathered_bytes;
    publisher.close().expect("nothing is left to deliver");
    let (external, copy, rest) = (listed(&external), listed(&copy), listed(&rest));
    println!("external={external} copy={copy} rest={rest} copied={copied}");
}

/// Elements that many steps share.
#[derive(Clone)]
struct Elements(Arc<Vec<u64>>);

impl AsRef<[u64]> for Elements {
    fn as_ref(&self) -> &[u64] {
        &self.0
    }
}

/// Nanoseconds of each put of a step, and of its beginning and end.
fn timed_step(
    publisher: &mut Publisher,
    variables: &[Variable],
    mut put: impl FnMut(&mut flexpath::StepWriter, &Variable, &flexpath::Region),
) -> (u64, u64) {
    let region = ours::region(&[0], &[ELEMENTS]);
    let started = now_ns();
    let mut writer = publisher.begin_step().expect("a step");
    let begun = now_ns();
    variables.iter().for_each(|variable| put(&mut writer, variable, &region));
    let done = now_ns();
    writer.end().expect("the end of a step");
    ((done - begun) / variables.len() as u64, begun - started + now_ns() - done)
}
