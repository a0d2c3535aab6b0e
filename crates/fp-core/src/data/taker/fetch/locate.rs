//! Where a block lies that is looked at in place: a fetch that ends as soon as its owner has said so.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::job::{Errand, Get, Job, errands};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_link::{Heard, OwnerError};
use crate::error::ReadError;
use crate::value::limit::Limit;
use std::sync::Arc;
use std::time::Instant;

/// Where the block of a plan's only piece lies, if its owner shares memory with this rank; `None` if it does not.
pub(crate) fn locate(
    taker: Taker<'_>,
    planned: &Arc<FetchPlan>,
    limit: Limit<'_>,
) -> Result<Option<fp_transport::Payload>, ReadError> {
    let mut gets = [Get::new(planned.clone(), &mut [])];
    let mut errands = errands(&gets);
    let mut job = Job { taker, gets: &mut gets, started: Instant::now(), limit };
    let outcome = job.locate(&mut errands);
    job.give_back(&mut errands);
    outcome
}

impl Job<'_, '_, '_> {
    fn locate(&mut self, errands: &mut [Errand]) -> Result<Option<fp_transport::Payload>, ReadError> {
        self.link_up(errands)?;
        let [errand] = errands else { return Ok(None) };
        if !errand.peer.as_ref().is_some_and(|peer| peer.shares_memory()) {
            return Ok(None);
        }
        let since = Instant::now();
        loop {
            if let Some(found) = self.placed(errand) {
                return Ok(Some(found));
            }
            self.guard(errand, Self::hear_placement)?;
            if self.placed(errand).is_some() {
                continue;
            }
            self.guard(errand, Self::tell_wants)?;
            self.guard(errand, |job, errand| {
                let until = job.ask_when_late(errand, since)?;
                job.await_peer(errand, until)
            })?;
        }
    }

    /// Where the first piece of the first get lies, if its owner has said so.
    pub(crate) fn placed(&self, errand: &mut Errand) -> Option<fp_transport::Payload> {
        let wanted = self.gets.first()?.planned.wanted.first()?;
        let found = errand.peer.as_ref()?.placed(self.taker.step, &wanted.variable, wanted.block);
        if found.is_some() {
            // An answer that is still to come will say nothing new.
            errand.request = None;
        }
        found
    }

    /// Takes messages until the placement is here or nothing more is.
    fn hear_placement(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        while self.placed(errand).is_none() {
            match self.hear(errand)? {
                None => return Ok(()),
                Some(Heard::Answered(request)) => drop(errand.request.take_if(|open| *open == request)),
                Some(Heard::News | Heard::Placed) => {}
            }
        }
        Ok(())
    }
}
