//! Which opening of the stream steps are of, and whether a run begins anew with it: the gate is told before they come.

use std::io;

use fp_core::connection::Connection;
use fp_core::{Compression, StepId, Subscriber};

use super::Forward;
use super::held::Run;
use super::passage::{Barred, Offer, Passage, Unsent};
use crate::crossing::{Mark, Note};
use crate::failure::Failure;
use crate::interrupt::NOTICE;

/// Whether a gate refuses the version alone: those of version 1 speak "version 1", later ones "versions up to" theirs.
fn is_of_version(why: &str) -> bool {
    why.starts_with("it speaks version")
}

impl Forward<'_> {
    /// Offers the stream to the gate, in the newest version; where the gate does not speak that, in the one that is needed.
    /// What is refused for another reason may be taken the next time, and is not offered to a gate as if that were old.
    pub(super) fn dial(&self) -> Result<Passage, Barred> {
        let compression = self.options.compress.map(Compression::from);
        let (stream, forward, is_whole) = (&self.forwarded, &self.name, self.options.all);
        let offer = Offer { stream, forward, compression, is_whole };
        let [best, older, least] = offer.versions();
        let mut answer = self.offer(&offer, best);
        for version in [older, least] {
            match answer {
                Err(Barred::Refused(why)) if is_of_version(&why) => answer = self.offer(&offer, version),
                other => return other,
            }
        }
        answer
    }

    fn offer(&self, offer: &Offer<'_>, version: u32) -> Result<Passage, Barred> {
        match Connection::dial(&self.options.to, self.token.as_ref(), self.tls.as_ref()) {
            Ok(connection) => {
                let told = (&self.held, &self.errands);
                Passage::open(connection, (offer, version), told, self.interrupt.asked())
            }
            // Once it was there, it is away for a while: it may come again.
            Err(error) if error.is_passing() || self.connected.is_some() => {
                Err(Barred::Passing(error.to_string()))
            }
            Err(error) => Err(Barred::Lasting(Failure::Connection(error))),
        }
    }

    /// No step has come, and those that will are of this run.
    pub(super) fn begin(&self, source: &Subscriber) {
        let run = self.run_of(1, source.continues(), self.next);
        self.held.begin((self.subscribed, 1), run);
    }

    /// Of which run the steps of an attachment are, the first of which has that number. Each but a subscription's first one
    /// says what went before, and is told whether numbers go on.
    pub(super) fn run_of(&self, attachment: u32, continues: bool, first: StepId) -> Run {
        // What was brought to its end is before a run that begins anew at 0.
        let is_known = attachment > 1 || self.resumes || (self.has_ended && first == StepId(0));
        match (continues, is_known) {
            (true, _) => Run::Same,
            (false, true) => Run::Another,
            (false, false) => Run::Unknown,
        }
    }

    /// Sends what is held and was not sent.
    pub(super) fn send_all(&mut self) {
        loop {
            // Those who subscribe there find the stream before its first step.
            let (next, begins_anew) = self.held.next_or(Mark { epoch: self.epoch, step: self.next });
            if let Err(unsent) = self.tell_opening(next, begins_anew) {
                return self.note_unsent(next, unsent);
            }
            let Some((mark, step)) = self.held.next_to_send() else { return };
            match self.send(mark, &step) {
                Ok(sent) => {
                    self.steps += 1;
                    self.sent += sent;
                    self.answer();
                }
                Err(unsent) => return self.note_unsent(mark, unsent),
            }
        }
    }

    /// Tells the gate which opening the next step is of, unless it knows, and whether a run begins anew with it.
    pub(super) fn tell_opening(&mut self, next: Mark, begins_anew: bool) -> Result<(), Unsent> {
        if self.told == Some(next.epoch) {
            return Ok(());
        }
        let known = self.sizes.iter().find(|(epoch, _)| *epoch == next.epoch);
        let Some(&(_, ranks)) = known else { return Ok(()) };
        let Some(passage) = &self.passage else {
            return Err(Unsent::Cut(io::ErrorKind::NotConnected.into()));
        };
        let is_answered = begins_anew && passage.hears_of_runs();
        if begins_anew {
            self.held.open(next.epoch, is_answered);
        }
        passage.tell(&Note::Opening { next, ranks, begins_anew: is_answered }).map_err(Unsent::Cut)?;
        self.told = Some(next.epoch);
        if is_answered {
            self.held.wait(NOTICE);
        }
        Ok(())
    }
}
