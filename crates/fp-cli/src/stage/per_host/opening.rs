//! One opening of a stream that the stagers of all hosts publish: the ranks that are this host's.

use std::time::{Duration, Instant};

use fp_core::{Cohort, Epoch, HostId, Publisher, StepId, StepReader};

use super::division::{Division, Lanes, NoDivision, counted, words};
use super::lane::{Lane, all_blocks, on_each};
use crate::arguments::StagingRanks;
use crate::failure::Failure;
use crate::interrupt::NOTICE;
use crate::recorded_step;
use crate::stage::options::{LIMIT_GAP, LIMIT_WAIT};
use crate::stage::own_block::OwnBlock;
use crate::stage::relay::Relay;

/// What all ranks of this host share.
pub(super) struct HostOpening<'a> {
    relay: &'a Relay,
    place: Cohort,
    division: Division,
    lanes: Vec<Lane>,
    /// The opening of the stream that is taken, and the number of the step that comes next.
    epoch: Option<Epoch>,
    next: StepId,
}

/// Which ranks are on which host, as the contacts say or the options do.
fn division(relay: &Relay, place: Cohort, step: &StepReader) -> Result<Division, Failure> {
    let hosts = step.publisher_hosts()?;
    let (index, stagers) = (place.rank().0, place.size());
    let division = match relay.options.per_host.ranks_per_host {
        Some(per_host) => {
            let ranks = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
            Division::evenly(ranks, per_host.get()).of_stagers(stagers)
        }
        None => Division::by_host(&hosts, HostId::own(), (index, stagers)),
    };
    let ending = |error: NoDivision| error.to_string();
    division.map_err(|error| Failure::Ended { stream: relay.stream.clone(), ending: ending(error) })
}

/// The bytes of a step that are on these ranks.
fn len_bytes(all: &[OwnBlock<'_>], ranks: &std::ops::Range<u32>) -> u64 {
    let own = all.iter().filter(|own| ranks.contains(&own.head.block.rank.0));
    own.map(OwnBlock::len_bytes).sum()
}

impl<'a> HostOpening<'a> {
    /// Opens the staged stream with the ranks of all hosts. This step is its first one, and goes on with the numbers of an
    /// opening before, or not.
    pub(super) fn of(
        relay: &'a Relay,
        (place, asked): (Cohort, StagingRanks),
        step: &StepReader,
    ) -> Result<Self, Failure> {
        let division = division(relay, place, step)?;
        let variables = recorded_step::variables(step)?;
        let all = all_blocks(step, &variables)?;
        let lanes = division.lanes(asked, |ranks| len_bytes(&all, ranks));
        let here = division.of_host(place.rank().0);
        tell(relay, place, (&division, &lanes), len_bytes(&all, &here));
        let (first, count) = (step.step(), lanes.count());
        let opened = on_each(lanes.of_host(place.rank().0), |(rank, ranks)| {
            let cohort = Cohort::of(rank.0, count).map_err(Failure::publishing)?;
            let mut asked = relay.publisher_options(cohort, (first, step.continues()))?;
            asked.min_subscribers = relay.options.subscribers;
            // Who is awaited here was asked for. That the other stagers are there is known.
            asked.link.open_timeout =
                if asked.min_subscribers > 0 { LIMIT_WAIT } else { relay.options.awaits };
            let staged = Publisher::open(&relay.staged, asked).map_err(Failure::publishing)?;
            Ok(Lane::new(ranks, staged, first))
        });
        let lanes = opened.into_iter().collect::<Result<Vec<Lane>, Failure>>()?;
        Ok(Self { relay, place, division, lanes, epoch: step.epoch(), next: first })
    }

    /// Whether this step goes on with the numbers of the one before, and comes from the same ranks of each host.
    pub(super) fn takes(&mut self, step: &StepReader) -> Result<bool, Failure> {
        if !(self.next.0..self.next.0.saturating_add(LIMIT_GAP)).contains(&step.step().0) {
            return Ok(false);
        }
        if step.epoch() != self.epoch {
            if division(self.relay, self.place, step)? != self.division {
                return Ok(false);
            }
            self.epoch = step.epoch();
        }
        Ok(true)
    }

    /// Publishes what is on this host of a step: how many bytes.
    pub(super) fn pass_on(&mut self, step: &StepReader) -> Result<u64, Failure> {
        self.next = StepId(step.step().0 + 1);
        let variables = recorded_step::variables(step)?;
        let all = all_blocks(step, &variables)?;
        let put = on_each(&mut self.lanes, |lane| lane.put(step, &all));
        let (mut len_bytes, mut unread) = (0, None);
        for outcome in put {
            match outcome {
                Ok(put_bytes) => len_bytes += put_bytes,
                Err(Failure::Read(error)) => _ = unread.get_or_insert(error),
                Err(failure) => return Err(failure),
            }
        }
        unread.map_or(Ok(len_bytes), |error| Err(Failure::Read(error)))
    }

    /// A step cannot be read: its number is used up on every rank.
    pub(super) fn give_up(&mut self) -> Result<(), Failure> {
        let next = self.next;
        on_each(&mut self.lanes, |lane| lane.skip_to(next)).into_iter().collect()
    }

    /// Stays until all was taken, or as long as a reserve is to be there. It makes way for another opening after a
    /// while. Says whether all was taken.
    pub(super) fn outlive(&self, is_reserve: bool, is_succeeded: impl Fn() -> bool) -> bool {
        let mut pressed: Option<Instant> = None;
        while !self.relay.course.is_over() {
            let is_taken = self.lanes.iter().all(|lane| lane.staged.sync(NOTICE).is_ok());
            if is_succeeded() {
                pressed.get_or_insert_with(Instant::now);
            }
            let is_long = pressed.is_some_and(|since| since.elapsed() >= self.relay.options.awaits);
            if (is_taken && !(is_reserve && pressed.is_none())) || is_long {
                return is_taken;
            }
            std::thread::sleep(if is_taken { NOTICE } else { Duration::ZERO });
        }
        false
    }

    /// Closes the staged stream, as the stagers of all hosts do.
    pub(super) fn close(self) -> Result<(), Failure> {
        on_each(self.lanes, |lane| Ok(lane.staged.close()?)).into_iter().collect()
    }
}

/// Says which ranks are here, and how many stage them.
fn tell(relay: &Relay, place: Cohort, (division, lanes): (&Division, &Lanes), here_bytes: u64) {
    let Relay { stream, staged, .. } = relay;
    let (index, hosts) = (place.rank().0, place.size());
    let (here, own) = (words(&division.of_host(index)), lanes.of_host(index).len());
    let (ranks, count) = (division.ranks(), lanes.count());
    let mebibytes = here_bytes as f64 / f64::from(1 << 20);
    eprintln!(
        "flexpath: stream {stream:?} of {ranks} ranks is staged as {staged:?} by {count} ranks on {}; this is \
         host {index}: publisher ranks {here}, {mebibytes:.1} MiB a step, staged by {own}",
        counted(hosts as usize)
    );
}
