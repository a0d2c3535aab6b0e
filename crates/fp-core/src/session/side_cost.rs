//! On which side fewer bytes travel of what a transform makes. The subscriber's lead measures it in the steps that it
//! reads.
//!
//! Where the publisher makes it, layouts say how many bytes went in and came out on all ranks. Where the subscriber
//! makes it, it has seen both. Ranks need not measure the same. They must agree on what the lead asks for then, which
//! holds for all from one step on.

use fp_proto::subscriber::AttachmentId;
use fp_types::StepId;

/// Steps one after the other in which the other side has clearly fewer bytes, before it is moved there. So sizes near
/// each other do not move it with every step.
const PATIENCE_STEPS: u32 = 3;

/// A part of the bytes by which the other side must have fewer.
const MARGIN: u64 = 8;

/// A step, by its number and epoch.
pub(crate) type Identity = (StepId, Option<AttachmentId>);

/// What was measured of one variable.
#[derive(Clone, Default)]
pub(crate) struct Scale {
    pub(crate) last: Option<Identity>,
    pub(crate) measured: Option<(u64, u64)>,
    /// Steps in a row that speak for the other side.
    pub(crate) against: u32,
}

impl Scale {
    /// Takes what went in and came out in a step; whether it is to be moved to the other side.
    pub(crate) fn weigh(&mut self, step: Identity, is_here: bool, (input, output): (u64, u64)) -> bool {
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
