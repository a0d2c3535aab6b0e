//! What the machines of a stream take for a step in the steady state, without links and without payloads.
//!
//! `cargo bench -p flexpath-proto --bench machines`: publisher ranks and one subscriber in one thread. The baseline is the
//! codec: each message of such a step, encoded and decoded once.

#[expect(dead_code, reason = "rounds of many times each are timed here")]
#[path = "../../../../benches/turns/mod.rs"]
mod turns;

mod stream;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use fp_proto::codec;
use fp_proto::message::Message;
use stream::Stream;
use turns::{Group, Medians, measured, timed};

/// Steps in one round: a clock is too coarse for one alone.
const STEPS: u32 = 64;

criterion_group!(benches, machines);
criterion_main!(benches);

fn machines(criterion: &mut Criterion) {
    let mut group = turns::group(criterion, "machines");
    for publishers in [1, 16, 64] {
        step(&mut group, publishers);
    }
    group.finish();
}

/// A step of so many publisher ranks and one subscriber, against the codec's work for its messages.
fn step(group: &mut Group<'_>, publishers: u32) {
    let mut stream = Stream::open(publishers);
    let messages = stream.messages_of_a_step();
    let name = format!("a step of {publishers} x 1 ranks");
    let round = || {
        let coded = repeated(|| messages.iter().for_each(through_codec));
        (coded, repeated(|| stream.step()))
    };
    let Some(medians) = measured(group, &name, round) else { return };
    let (ratio, Medians { baseline, ours }) = (medians.speed(), medians);
    let count = messages.len();
    println!(
        "{name:<24} {ours:>10.2?}   {ratio:>6.3} of the codec's speed, {count} messages ({baseline:.2?})"
    );
}

/// How long it takes once, of many times.
fn repeated(mut work: impl FnMut()) -> Duration {
    timed(&mut || (0..STEPS).for_each(|_| work())) / STEPS
}

fn through_codec(message: &Message) {
    let bytes = codec::encode(black_box(message));
    black_box(codec::decode(&bytes).expect("what was encoded is decoded"));
}
