//! How far a body has filled the runs of its destination.

use std::io::IoSliceMut;

/// Most runs that one call fills.
pub(super) const SLICES: usize = 64;

/// How far the runs of a destination are filled.
#[derive(Default)]
pub(super) struct BodyCursor {
    index: usize,
    offset: usize,
}

impl BodyCursor {
    /// The rest of the first run that is not full.
    pub(super) fn run<'a>(&mut self, destination: &'a mut [IoSliceMut<'_>]) -> Option<&'a mut [u8]> {
        while destination.get(self.index)?.len() == self.offset {
            (self.index, self.offset) = (self.index + 1, 0);
        }
        destination.get_mut(self.index)?.get_mut(self.offset..)
    }

    pub(super) fn advance(&mut self, destination: &[IoSliceMut<'_>], mut bytes: usize) {
        while let Some(run) = destination.get(self.index) {
            let left = run.len() - self.offset;
            if bytes < left {
                self.offset += bytes;
                return;
            }
            bytes -= left;
            (self.index, self.offset) = (self.index + 1, 0);
        }
    }

    /// Fills `slices` with what is left of the runs, at most `limit` bytes; says how many slices.
    pub(super) fn scatter<'a>(
        &self,
        destination: &'a mut [IoSliceMut<'_>],
        slices: &mut [IoSliceMut<'a>; SLICES],
        limit: usize,
    ) -> usize {
        let (mut used, mut left, mut offset) = (0, limit, self.offset);
        for run in destination.iter_mut().skip(self.index) {
            let rest = run.get_mut(std::mem::take(&mut offset)..).unwrap_or_default();
            let taken = rest.len().min(left);
            if used == SLICES || left == 0 {
                break;
            }
            if taken > 0 {
                slices[used] = IoSliceMut::new(&mut rest[..taken]);
                (used, left) = (used + 1, left - taken);
            }
        }
        used
    }
}
