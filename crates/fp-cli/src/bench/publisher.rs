//! What a publisher rank does.

use fp_core::{
    Cohort, Publisher, PublisherOptions, Region, Rendezvous, Statistics, StepWriter, TransportPolicy,
    Variable,
};
use std::time::Duration;

use super::content::{Bits, fill};
use super::cuts::Part;
use super::failure::RoleFailure;
use super::machine::{now_ns, peak_bytes, pin, process_cpu_ns, thread_cpu_ns};
use super::options::{Put, Transport};
use super::pace::Ear;
use super::rdma;
use super::task::{Found, Setup};

/// The stream's name; each run has a rendezvous directory of its own.
pub(crate) const STREAM: &str = "bench";
/// The one variable.
pub(crate) const VARIABLE: &str = "x";
/// Asking for the processor's time takes a system call: of shorter fillings the wall's time is taken.
const LONG_FILLING_BYTES: usize = 64 << 10;

/// Which transports a role may use; none: what the library does by itself. Over verbs it is an error that data goes by
/// another.
pub(crate) fn transports(setup: &Setup) -> Option<TransportPolicy> {
    let policy: TransportPolicy = setup.transport.policy().and_then(|names| names.parse().ok())?;
    Some(policy.with_forbid_fallback(setup.transport == Transport::Verbs))
}

/// How long a waiting call spins.
pub(crate) fn busy_poll(setup: &Setup) -> Duration {
    if setup.busy_poll { setup.timeout } else { Duration::ZERO }
}

/// The region of a part.
pub(crate) fn region(part: &Part) -> Result<Region, RoleFailure> {
    let wrong = |error: &dyn std::fmt::Display| RoleFailure::Array(error.to_string());
    let dims = |of: &[u64]| fp_core::Dims::from_slice(of).map_err(|error| wrong(&error));
    Region::new(dims(&part.start)?, dims(&part.count)?).map_err(|error| wrong(&error))
}

fn options(setup: &Setup, rank: u32, own_bytes: u64) -> Result<PublisherOptions, RoleFailure> {
    // As many steps as the subscription may hold, and one that is being made.
    let limit_bytes = (own_bytes * (u64::from(setup.queue_limit) + 1)).max(1 << 30);
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(&setup.directory)?)
        .with_cohort(Cohort::of(rank, setup.publishers)?)
        .with_open_timeout(setup.timeout)
        .with_close_timeout(setup.timeout)
        .with_skew_timeout(setup.timeout)
        .with_limit_bytes(limit_bytes)
        .with_busy_poll(busy_poll(setup));
    let options = match rdma::token(setup)? {
        Some(token) => options.with_token(token).with_tcp(setup.listen),
        None => options,
    };
    Ok(match transports(setup) {
        Some(policy) => options.with_transports(policy),
        None => options,
    })
}

/// Publishes all steps; `opened` is called when the stream is open.
pub(crate) fn publish<T: Bits>(
    setup: &Setup,
    rank: u32,
    blocks: &[Part],
    opened: impl FnOnce(),
) -> Result<Found, RoleFailure> {
    if setup.pin && setup.transport != Transport::Inproc {
        pin(true, rank);
    }
    let ear = Ear::open(&setup.directory, rank, setup.busy_poll, setup.timeout)?;
    let own_bytes = blocks.iter().map(Part::elements).sum::<u64>() * setup.dtype.len_bytes();
    let mut publisher = Publisher::open(STREAM, options(setup, rank, own_bytes)?)?;
    opened();
    let mut work = Work::<T>::new(setup, blocks)?;
    if publisher.wait_for_subscriptions(1, setup.timeout) == 0 {
        return Err(RoleFailure::NoSubscriber(setup.timeout));
    }
    for step in 0..setup.all_steps() {
        if step >= setup.first_paced() {
            ear.hear(setup.subscribers)?;
        }
        work.watch_processor(step);
        work.step(&mut publisher, step)?;
    }
    let mut found = work.found;
    count(&mut found, &publisher.statistics());
    publisher.close()?;
    found.peak_bytes = peak_bytes();
    Ok(found)
}

/// What was put, and what of it was copied.
fn count(found: &mut Found, counted: &Statistics) {
    found.payload_bytes = counted.payload_bytes;
    found.copied_bytes = counted.put_copied_bytes
        + counted.shared_copied_bytes
        + counted.gathered_bytes
        + counted.enciphered_bytes;
}

/// The blocks, what they are put from, and what was found so far.
struct Work<'a, T> {
    setup: &'a Setup,
    variable: Variable,
    blocks: Vec<(&'a Part, Region)>,
    own: Vec<Vec<T>>,
    filling_cpu_ns: u64,
    found: Found,
}

impl<'a, T: Bits> Work<'a, T> {
    fn new(setup: &'a Setup, blocks: &'a [Part]) -> Result<Self, RoleFailure> {
        let variable = Variable::global::<T>(VARIABLE, &setup.shape);
        let variable = variable.map_err(|error| RoleFailure::Array(error.to_string()))?;
        let blocks: Result<Vec<_>, RoleFailure> =
            blocks.iter().map(|part| Ok((part, region(part)?))).collect();
        let blocks = blocks?;
        let own = match setup.put {
            Put::Copy => {
                blocks.iter().map(|(part, _)| vec![T::default(); part.elements() as usize]).collect()
            }
            Put::Loan | Put::Vec => Vec::new(),
        };
        Ok(Self { setup, variable, blocks, own, filling_cpu_ns: 0, found: Found::default() })
    }

    /// Remembers what the processor did between the first and the last step for throughput.
    fn watch_processor(&mut self, step: u64) {
        if step == self.setup.warm_steps {
            self.found.cpu_ns = (process_cpu_ns(), self.filling_cpu_ns);
        } else if step == self.setup.first_paced() {
            let (all, filling) = self.found.cpu_ns;
            self.found.cpu_ns = (process_cpu_ns() - all, self.filling_cpu_ns - filling);
        }
    }

    /// Publishes one step. What the publisher owns is filled before it begins.
    fn step(&mut self, publisher: &mut Publisher, step: u64) -> Result<(), RoleFailure> {
        let mut given = self.prepare(step);
        let stamp = now_ns();
        let mut writer = publisher.begin_step()?;
        let begun = now_ns();
        let mut filling_ns = 0;
        for index in 0..self.blocks.len() {
            filling_ns += self.put(&mut writer, index, given.get_mut(index), step)?;
        }
        writer.end()?;
        self.found.stamps_ns.push(stamp);
        self.found.begin_ns.push(begun - stamp);
        self.found.put_ns.push((now_ns() - begun).saturating_sub(filling_ns));
        Ok(())
    }

    /// Fills the publisher's own arrays, or vectors to be given away.
    fn prepare(&mut self, step: u64) -> Vec<Vec<T>> {
        if self.setup.put == Put::Loan {
            return Vec::new();
        }
        let mut arrays = std::mem::take(&mut self.own);
        if self.setup.put == Put::Vec {
            arrays =
                self.blocks.iter().map(|(part, _)| vec![T::default(); part.elements() as usize]).collect();
        }
        for (index, array) in arrays.iter_mut().enumerate() {
            self.fill(array, index, step);
        }
        if self.setup.put == Put::Copy {
            self.own = arrays;
            return Vec::new();
        }
        arrays
    }

    /// Puts a block; how many nanoseconds of it went into filling it.
    fn put(
        &mut self,
        writer: &mut StepWriter,
        index: usize,
        given: Option<&mut Vec<T>>,
        step: u64,
    ) -> Result<u64, RoleFailure> {
        let region = &self.blocks[index].1;
        match (given, self.own.get(index)) {
            (Some(given), _) => writer.put(&self.variable, region, std::mem::take(given))?,
            (None, Some(own)) => writer.put_copy(&self.variable, region, own)?,
            (None, None) => {
                let mut loan = writer.loan::<T>(&self.variable, region)?;
                let filling_ns = self.fill(&mut loan, index, step);
                writer.put_loan(loan)?;
                return Ok(filling_ns);
            }
        }
        Ok(0)
    }

    /// Writes all elements of a block; in how many nanoseconds.
    fn fill(&mut self, memory: &mut [T], index: usize, step: u64) -> u64 {
        let is_long = std::mem::size_of_val(memory) >= LONG_FILLING_BYTES;
        let (started, cpu) = (now_ns(), if is_long { thread_cpu_ns() } else { 0 });
        fill(memory, self.blocks[index].0, &self.setup.shape, step);
        let taken = now_ns() - started;
        self.filling_cpu_ns += if is_long { thread_cpu_ns() - cpu } else { taken };
        taken
    }
}
