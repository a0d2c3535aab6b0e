//! A cohort whose launcher has the ranks exchange their contacts (MPI): nobody searches, nobody calls the lead.

use super::{Cohort, Stage};
use crate::config::CohortPosition;
use crate::event::OpenFailure;
use crate::outcome::RefusalReason;
use crate::wire::Wire;

impl Cohort {
    /// The launcher has exchanged the contacts of so many ranks: at the lead, which needs none of them, as its children
    /// tell it theirs. How long that took is not counted: the time for opening begins anew.
    pub(crate) fn gathered(&mut self, wire: &mut Wire, size: u32) {
        if self.config.position != CohortPosition::Gathered || self.gathered {
            return;
        }
        let (rank, expected_size) = (self.config.rank, self.config.size);
        if size != expected_size {
            let mismatch = RefusalReason::CohortMismatch { rank, size, expected_size };
            return self.fail(OpenFailure::Refused(mismatch));
        }
        self.give_up = wire.now.after(self.config.open_timeout);
        self.gathered = true;
        self.review(wire);
    }

    /// Whether the lead holds its name, if it needs one, and the launcher has not told it where the others are. That
    /// wait is the launcher's.
    pub(super) fn awaits_launcher(&self) -> bool {
        let gathers = self.config.position == CohortPosition::Gathered && !self.gathered;
        gathers && matches!(self.stage, Stage::Gathering)
    }
}
