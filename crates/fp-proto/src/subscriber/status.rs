//! What a subscriber rank tells observers of itself.

use super::{Phase, SubscriberMachine};
use crate::cohort::Cohort;
use crate::effect::{Misbehaviour, PeerId};
use crate::status::answer::{Observed, millis};
use crate::status::questions::Questions;
use crate::status::report::{CohortStatus, ProcessStatus, RankPhase, RankStatus, Wait, WaitOn};
use crate::time::Moment;
use crate::wire::Wire;

impl Observed for SubscriberMachine {
    fn cohort(&self) -> &Cohort {
        &self.cohort
    }

    fn status(&mut self) -> (&mut Wire, &mut Questions) {
        (&mut self.wire, &mut self.questions)
    }

    fn own_status(&self) -> RankStatus {
        RankStatus {
            rank: self.config.cohort.rank,
            phase: phase(self),
            steps: self.stream.counts(),
            waits: wait(self).into_iter().collect(),
            subscriptions: Vec::new(),
            subscriptions_left_out: 0,
            links: Vec::new(),
            links_left_out: 0,
            process: ProcessStatus::default(),
        }
    }

    fn cohort_status(&self) -> CohortStatus {
        CohortStatus {
            name: self.config.cohort.name.clone(),
            publishes: false,
            epoch: self.attachment.epoch,
            size: self.config.cohort.size,
            ..CohortStatus::default()
        }
    }

    fn subscriber_cohorts(&self) -> Vec<(PeerId, CohortStatus)> {
        Vec::new()
    }

    fn blame(&mut self, from: PeerId, what: Misbehaviour) {
        self.misbehaved(from, what);
    }
}

fn phase(machine: &SubscriberMachine) -> RankPhase {
    match machine.phase {
        Phase::Assembling => RankPhase::Opening,
        Phase::Attaching => RankPhase::Attaching,
        Phase::Streaming => RankPhase::Streaming,
        Phase::Ended => RankPhase::Ended,
        Phase::Closing => RankPhase::Closing,
        Phase::Closed => RankPhase::Closed,
    }
}

fn wait(machine: &SubscriberMachine) -> Option<Wait> {
    let now = machine.wire.now;
    let waits_since = |since: Moment, on: WaitOn| Some(Wait { on, waited_ms: millis(now.since(since)) });
    match machine.phase {
        Phase::Assembling => machine.cohort.wait_status(now),
        Phase::Attaching => waits_since(machine.phase_since, WaitOn::Publisher),
        Phase::Streaming => machine.stream.waits_since.and_then(|since| waits_since(since, WaitOn::Step)),
        Phase::Closing => waits_since(machine.phase_since, WaitOn::Others),
        Phase::Ended | Phase::Closed => None,
    }
}
