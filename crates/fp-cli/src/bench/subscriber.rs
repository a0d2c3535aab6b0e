//! What a subscriber rank does.

use fp_core::{
    Cohort, NextStep, QueuePolicy, Rendezvous, Selection, Statistics, StepReader, Subscriber,
    SubscriberOptions,
};

use super::content::{Bits, check, check_some};
use super::cuts::Part;
use super::failure::RoleFailure;
use super::machine::{now_ns, peak_bytes, pin, process_cpu_ns};
use super::options::Transport;
use super::pace::Voice;
use super::publisher::{STREAM, VARIABLE, busy_poll, region, transports};
use super::rdma;
use super::task::{Found, Setup};

/// By what the ranks of the subscriber cohort find one another.
const NAME: &str = "bench-subscribers";

fn options(setup: &Setup, rank: u32, selection: &Selection) -> Result<SubscriberOptions, RoleFailure> {
    let options = SubscriberOptions::default()
        .with_rendezvous(Rendezvous::at(&setup.directory)?)
        .with_cohort(Cohort::of(rank, setup.subscribers)?)
        .with_name(NAME)
        .with_open_timeout(setup.timeout)
        .with_close_timeout(setup.timeout)
        .with_fetch_timeout(setup.timeout)
        .with_policy(QueuePolicy::EveryStep { max_wait: setup.timeout })
        .with_limit_steps(setup.queue_limit)
        .with_busy_poll(busy_poll(setup))
        .with_selection(VARIABLE, selection.clone());
    let options = match rdma::token(setup)? {
        Some(token) => options.with_token(token),
        None => options,
    };
    Ok(match transports(setup) {
        Some(policy) => options.with_transports(policy),
        None => options,
    })
}

/// Takes its part of all steps.
pub(crate) fn subscribe<T: Bits>(setup: &Setup, rank: u32, part: &Part) -> Result<Found, RoleFailure> {
    if setup.pin && setup.transport != Transport::Inproc {
        pin(false, rank);
    }
    let voice = Voice::open(&setup.directory, setup.publishers, setup.timeout)?;
    let mut destination = vec![T::default(); part.elements() as usize];
    // A loop of its own: the pages of what was made zero are had only when they are written.
    destination.iter_mut().for_each(|element| *element = T::of(1));
    let selection = Selection::Region(region(part)?);
    let started = now_ns();
    let mut subscriber = Subscriber::open(STREAM, options(setup, rank, &selection)?)?;
    let mut found = Found { opening_ns: (started, now_ns()), ..Found::default() };
    for step in 0..setup.all_steps() {
        let reader = next(&mut subscriber, setup, step)?;
        reader.get_into(VARIABLE, &selection, &mut destination)?;
        found.stamps_ns.push(now_ns());
        drop(reader);
        look(&mut found, &destination, part, setup, step)?;
        watch_processor(&mut found, setup, step);
        if setup.is_told(step) {
            voice.tell(step)?;
        }
    }
    count(&mut found, &subscriber.statistics());
    found.transports = subscriber.transports().into_iter().map(|(_, text)| text).collect();
    subscriber.close()?;
    found.peak_bytes = peak_bytes();
    Ok(found)
}

/// The step that has to come next.
fn next(subscriber: &mut Subscriber, setup: &Setup, wanted: u64) -> Result<StepReader, RoleFailure> {
    match subscriber.next_step(setup.timeout)? {
        NextStep::Step(step) if step.step().0 == wanted => Ok(step),
        NextStep::Step(step) => Err(RoleFailure::OtherStep { came: step.step().0, wanted }),
        NextStep::NotYet => Err(RoleFailure::NoStep { step: wanted, timeout: setup.timeout }),
        NextStep::Ended(ending) => {
            Err(RoleFailure::EndedEarly { step: wanted, reason: ending.reason.to_string() })
        }
    }
}

/// Looks at what came.
fn look<T: Bits>(
    found: &mut Found,
    elements: &[T],
    part: &Part,
    setup: &Setup,
    step: u64,
) -> Result<(), RoleFailure> {
    let started = now_ns();
    let looked = if setup.is_looked_through(step) {
        found.checked += elements.len() as u64;
        check(elements, part, &setup.shape, step)
    } else {
        check_some(elements, part, &setup.shape, step)
    };
    if step >= setup.warm_steps && step < setup.first_paced() {
        found.checking_ns += now_ns() - started;
    }
    looked.map_err(|wrong| RoleFailure::Wrong { step, wrong })
}

/// Remembers what the processor did from the last step that is not counted to the last one for throughput.
fn watch_processor(found: &mut Found, setup: &Setup, step: u64) {
    if step + 1 == setup.warm_steps {
        found.cpu_ns.0 = process_cpu_ns();
    } else if step + 1 == setup.first_paced() {
        found.cpu_ns.0 = process_cpu_ns() - found.cpu_ns.0;
    }
}

/// What was delivered, and what of it was copied.
fn count(found: &mut Found, counted: &Statistics) {
    found.payload_bytes = counted.payload_bytes;
    // What was staged is copied from there, once, and counted as that.
    found.copied_bytes = counted.get_copied_bytes + counted.deciphered_bytes;
}
