//! Questions to owners that are not for pieces of blocks: each is put once, and its answer awaited.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::job::{Errand, Job};
use crate::data::taker::owner_directory::LIMIT_LINKS;
use crate::data::taker::owner_link::{Heard, OwnerError};
use crate::error::ReadError;
use crate::value::limit::Limit;
use fp_proto::data::DataMessage;
use fp_proto::few::Few;
use fp_types::Rank;
use std::collections::BTreeMap;
use std::time::Instant;

/// A question, and how its answer is read.
pub(crate) struct Question<'q, T> {
    /// What to ask a rank, under a number that the answer names.
    pub(crate) ask: &'q dyn Fn(Rank, u64) -> DataMessage,
    /// What a rank answered, or what is wrong with that.
    pub(crate) read: &'q dyn Fn(Rank, DataMessage) -> Result<T, String>,
}

impl<T> Question<'_, T> {
    /// Asks each of these ranks, and gives what they answered.
    pub(crate) fn of(
        &self,
        taker: Taker<'_>,
        ranks: &[Rank],
        limit: Limit<'_>,
    ) -> Result<BTreeMap<Rank, T>, ReadError> {
        let mut job = Job::new(taker, &mut [], Instant::now(), limit);
        let mut answers = BTreeMap::new();
        for wave in ranks.chunks(LIMIT_LINKS) {
            let mut errands: Vec<Errand> = wave.iter().map(|&rank| Errand::new(rank, Few::new())).collect();
            let outcome = job.ask_all(&mut errands, self, &mut answers);
            job.give_back(&mut errands);
            outcome?;
        }
        Ok(answers)
    }
}

impl Job<'_, '_, '_> {
    fn ask_all<T>(
        &mut self,
        errands: &mut [Errand],
        question: &Question<'_, T>,
        answers: &mut BTreeMap<Rank, T>,
    ) -> Result<(), ReadError> {
        self.link_up(errands)?;
        for errand in errands.iter_mut() {
            self.guard(errand, |job, errand| job.put(errand, question.ask))?;
        }
        for errand in errands {
            let answer = loop {
                self.guard(errand, |job, errand| job.await_answer(errand, question.ask))?;
                if let Some(answer) = errand.peer.as_mut().and_then(|peer| peer.answer.take()) {
                    break answer;
                }
            };
            let read = (question.read)(errand.rank, answer).map_err(|what| {
                errand.peer = None;
                self.taker.misbehaved(errand.rank, what)
            });
            answers.insert(errand.rank, read?);
        }
        Ok(())
    }

    /// Asks, if nothing was asked yet over this link.
    fn put(
        &mut self,
        errand: &mut Errand,
        question: &dyn Fn(Rank, u64) -> DataMessage,
    ) -> Result<(), OwnerError> {
        if errand.request.is_none() {
            let (rank, deadline) = (errand.rank, self.limit.deadline);
            let Some(peer) = &mut errand.peer else { return Ok(()) };
            errand.request = Some(peer.ask(0, |request| question(rank, request), deadline)?);
        }
        Ok(())
    }

    /// Hears until the answer is here, or nothing more is.
    fn await_answer(
        &mut self,
        errand: &mut Errand,
        question: &dyn Fn(Rank, u64) -> DataMessage,
    ) -> Result<(), OwnerError> {
        self.put(errand, question)?;
        while let Some(heard) = self.hear(errand)? {
            if matches!(heard, Heard::Answered(request) if errand.request == Some(request)) {
                errand.request = None;
                return Ok(());
            }
        }
        self.await_peer(errand, self.limit.deadline)
    }
}
