//! Questions about status under way at one rank: for whom, which neighbours are still to answer, and what is known.

use crate::bounds::LIMIT_STATUS_PASSED;
use crate::effect::PeerId;
use crate::message::Message;
use crate::status::observers::Observers;
use crate::status::report::{CohortStatus, LinkStatus, ProcessStatus, StatusReport, StatusScope};
use crate::time::Moment;
use fp_types::Rank;
use std::collections::BTreeMap;

/// A neighbour that a question goes to.
pub(crate) struct Neighbour {
    pub(crate) rank: Rank,
    /// Ranks that are asked through it.
    pub(crate) beyond: u32,
    /// Its cohort, if that is one of subscribers: as it is told of if nobody there answers.
    pub(crate) cohort: Option<CohortStatus>,
}

/// A question under way.
pub(crate) struct Asked {
    pub(crate) asker: PeerId,
    /// The asker's number for it.
    pub(crate) request: u64,
    pub(crate) due: Moment,
    pub(crate) report: StatusReport,
    /// Who has not answered.
    pub(crate) left: BTreeMap<PeerId, Neighbour>,
}

/// What the coordinator knows of its process, to be told with the next answers.
#[derive(Clone, Debug, Default)]
pub struct ProcessFacts {
    /// The process.
    pub process: ProcessStatus,
    /// How bytes go over each control link, and why no faster.
    pub links: BTreeMap<PeerId, (String, String)>,
    /// The links that data goes over.
    pub data_links: Vec<LinkStatus>,
}

/// What one machine has of questions about status.
#[derive(Default)]
pub(crate) struct Questions {
    next: u64,
    passed: BTreeMap<u64, Asked>,
    pub(crate) observers: Observers,
    pub(crate) facts: ProcessFacts,
}

impl Questions {
    /// Whether no more questions can wait for neighbours.
    pub(crate) fn is_full(&self) -> bool {
        self.passed.len() >= LIMIT_STATUS_PASSED
    }

    /// Whether neighbours are waited for.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.passed.is_empty()
    }

    /// Takes a question that waits for neighbours; gives the message that goes to each of them.
    pub(crate) fn pass(&mut self, asked: Asked, scope: StatusScope, patience_ms: u32) -> Message {
        let request = self.next;
        self.next += 1;
        self.passed.insert(request, asked);
        Message::AskStatus { request, scope, patience_ms }
    }

    /// The question that a neighbour answers. `None` if it was answered without.
    ///
    /// # Errors
    /// If it was never asked that.
    pub(crate) fn answered(
        &mut self,
        from: PeerId,
        request: u64,
    ) -> Result<Option<(&mut Asked, Neighbour)>, ()> {
        if request >= self.next {
            return Err(());
        }
        let Some(asked) = self.passed.get_mut(&request) else { return Ok(None) };
        let neighbour = asked.left.remove(&from).ok_or(())?;
        Ok(Some((asked, neighbour)))
    }

    /// Questions for which nobody is waited for any more, or not any longer.
    pub(crate) fn take_due(&mut self, now: Moment) -> Vec<Asked> {
        let due = self.passed.extract_if(.., |_, asked| asked.left.is_empty() || now >= asked.due);
        due.map(|(_, asked)| asked).collect()
    }

    /// A peer is gone: what it asked is forgotten. Gives the questions that it was to answer.
    pub(crate) fn gone(&mut self, peer: PeerId) -> Vec<(&mut Asked, Neighbour)> {
        self.observers.leave(peer);
        self.passed.retain(|_, asked| asked.asker != peer);
        let of_peer = |asked| take_left(asked, peer);
        self.passed.values_mut().filter_map(of_peer).collect()
    }

    /// When the first of them is answered without those who did not answer.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Moment> {
        if self.passed.is_empty() {
            return None;
        }
        self.passed.values().map(|asked| asked.due).min()
    }
}

fn take_left(asked: &mut Asked, peer: PeerId) -> Option<(&mut Asked, Neighbour)> {
    let neighbour = asked.left.remove(&peer)?;
    Some((asked, neighbour))
}
