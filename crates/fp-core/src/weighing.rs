//! On which side fewer bytes travel of what a transform makes: measured by the subscriber's lead in steps that it reads.
//!
//! Where the publisher makes it, layouts say how many bytes went in and came out on all ranks; where the subscriber
//! does, it has seen both. What must agree between ranks is not what each of them measures but what the lead asks for
//! then, which holds from one step on for all.

use crate::derived::derived_name_of;
use crate::error::ReadError;
use crate::records::TransformedVariable;
use crate::step::StepReader;
use crate::subscriber::SubscriberShared;
use fp_proto::message::ResolveQuery;
use fp_transform::Placement;
use fp_types::{Epoch, Layout, Selection, StepId, StepTable, VariableDef};
use std::time::Instant;

/// Steps one after the other in which the other side has clearly fewer bytes, before it is moved there.
const PATIENCE_STEPS: u32 = 3;

/// A part of the bytes by which the other side must have fewer.
const MARGIN: u64 = 8;

type Identity = (StepId, Option<Epoch>);

/// What was measured of one variable.
#[derive(Clone, Default)]
pub(crate) struct Scale {
    last: Option<Identity>,
    measured: Option<(u64, u64)>,
    /// Steps in a row that speak for the other side.
    against: u32,
}

impl Scale {
    pub(crate) fn measured(&self) -> Option<(u64, u64)> {
        self.measured
    }

    /// Takes what went in and came out in a step; whether it is to be moved to the other side.
    fn weigh(&mut self, step: Identity, is_here: bool, (input, output): (u64, u64)) -> bool {
        if self.last.replace(step) == Some(step) {
            return false;
        }
        self.measured = Some((input, output));
        let (crosses, would_cross) = if is_here { (input, output) } else { (output, input) };
        let is_clear = would_cross.saturating_add(crosses / MARGIN) < crosses;
        self.against = if is_clear { self.against + 1 } else { 0 };
        self.against >= PATIENCE_STEPS
    }
}

impl SubscriberShared {
    /// Whether this rank measures it: the lead does, where fewer bytes decide.
    fn weighs(&self, asked: &TransformedVariable) -> bool {
        let is_decided = |of: &TransformedVariable| of.placement == Placement::FewerBytes;
        self.options.link.cohort.rank().is_lead()
            && self.asking().transformed_variable(&asked.name).is_some_and(is_decided)
    }

    /// So many bytes went in and came out in a step, on the side that this says.
    pub(crate) fn weigh(
        &self,
        asked: &TransformedVariable,
        step: Identity,
        is_here: bool,
        sizes: (u64, u64),
    ) {
        if !self.weighs(asked) {
            return;
        }
        let is_due = self.placed.with_history(&asked.name, |of| of.scale.weigh(step, is_here, sizes));
        let is_asked = |of: &TransformedVariable| of.is_here() == is_here;
        // A move that is under way is waited for.
        let is_settled = self.asking().transformed_variable(&asked.name).is_some_and(is_asked);
        if is_due != Some(true) || !is_settled || !self.options.knows_transform_of(&asked.name) {
            return;
        }
        let moved = self.ask(|asking| {
            if let Some(of) = asking.transformed.iter_mut().find(|of| of.name == asked.name) {
                of.is_moved = !is_here;
            }
        });
        self.placed.with_history(&asked.name, |of| of.scale.against = 0);
        match moved {
            Ok(()) => tracing::debug!(variable = asked.name, ?sizes, from_here = is_here, "moved"),
            // The stream has ended: nothing is left to be moved.
            Err(error) => tracing::debug!(variable = asked.name, %error, "not moved"),
        }
    }
}

impl StepReader {
    /// Measures what the publisher made of a step, where that is to be known.
    pub(crate) fn weigh_received(&self, asked: &TransformedVariable, table: &StepTable, deadline: Instant) {
        let is_new = |of: &mut crate::placing::History| of.scale.last != Some(self.identity());
        if !self.shared().weighs(asked)
            || self.shared().placed.with_history(&asked.name, is_new) != Some(true)
        {
            return;
        }
        // Where they cannot be had, reading it will say what is wrong.
        if let Ok(Some(sizes)) = self.sizes(asked, table, deadline) {
            self.shared().weigh(asked, self.identity(), false, sizes);
        }
    }

    /// The bytes of all blocks of all ranks that went in and came out.
    fn sizes(
        &self,
        asked: &TransformedVariable,
        table: &StepTable,
        deadline: Instant,
    ) -> Result<Option<(u64, u64)>, ReadError> {
        let result = derived_name_of(&asked.base());
        let (Some(input), Some(output)) = (table.entry(&asked.variable), table.entry(&result)) else {
            return Ok(None);
        };
        let names = [&input.def, &output.def].map(|def| (def.clone(), def.parts().map(|parts| parts.name)));
        let wanted = names.iter().flat_map(|(def, parts)| [Some(def.name.clone()), parts.clone()]).flatten();
        let query = |variable| ResolveQuery { variable, selection: Selection::All };
        let queries = wanted.filter(|name| table.entry(name).is_some()).map(query).collect();
        let answer = self.shared().resolve(self.identity(), self.held.assignment.table, queries, deadline)?;
        let len =
            |name: &str, each: u64| answer.entry(name).map_or(0, |entry| elements(&entry.layout) * each);
        let [input, output] = names.map(|(def, parts)| {
            len(&def.name, size_of_record(&def)) + parts.map_or(0, |parts| len(&parts, 1))
        });
        Ok(Some((input, output)))
    }
}

fn size_of_record(def: &VariableDef) -> u64 {
    def.record.as_ref().map_or(1, |record| record.size_bytes)
}

fn elements(layout: &Layout) -> u64 {
    layout.blocks().map(|(_, region)| region.element_count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clear_for_some_steps_moves_it() {
        let mut scale = Scale::default();
        let mut weigh = |step: u64, is_here, sizes| scale.weigh((StepId(step), None), is_here, sizes);
        assert!((0..9).all(|step| !weigh(step, false, (100, 110))), "nearly the same is no reason");
        assert!(!weigh(10, false, (100, 200)) && !weigh(11, false, (100, 200)));
        assert!(!weigh(11, false, (100, 200)), "a step counts once");
        assert!(!weigh(12, false, (100, 90)), "and the row is broken");
        assert_eq!([13, 14, 15].map(|step| weigh(step, false, (100, 200))), [false, false, true]);
        assert!((16..19).all(|step| !weigh(step, true, (100, 200))), "there it stays");
        assert_eq!([20, 21, 22].map(|step| weigh(step, true, (100, 0))), [false, false, true]);
    }
}
