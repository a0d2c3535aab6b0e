//! Memory for small blocks that come along with their places: that of steps that were forgotten is used again.

use fp_proto::data::EAGER_BYTES;
use fp_transport::Payload;
use std::collections::VecDeque;
use std::sync::Arc;

/// Most buffers that are kept: as many small blocks as live at one time, as a rule.
const LIMIT_KEPT: usize = 16;

/// Buffers, those that were filled first at the front.
#[derive(Default)]
pub(crate) struct Buffers(VecDeque<Arc<Vec<u8>>>);

impl Buffers {
    /// These bytes, in memory that nobody looks at any more, or in new memory.
    pub(crate) fn payload(&mut self, bytes: &[u8]) -> Payload {
        let filled = self.filled(bytes).unwrap_or_else(|| Arc::new(bytes.to_vec()));
        if self.0.len() < LIMIT_KEPT && bytes.len() as u64 <= EAGER_BYTES {
            self.0.push_back(filled.clone());
        }
        Payload::from_shared(filled)
    }

    /// The first of the buffers, filled, if nobody looks at it. Otherwise it goes to the end: others are not to wait behind
    /// it.
    fn filled(&mut self, bytes: &[u8]) -> Option<Arc<Vec<u8>>> {
        let mut buffer = self.0.pop_front()?;
        let Some(free) = Arc::get_mut(&mut buffer) else {
            self.0.push_back(buffer);
            return None;
        };
        free.clear();
        free.extend_from_slice(bytes);
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_nobody_looks_at_it() {
        let mut buffers = Buffers::default();
        let one = buffers.payload(b"one");
        let two = buffers.payload(b"two");
        let three = buffers.payload(b"3");
        let all = [&one, &two, &three].map(|payload| payload.as_slice());
        assert_eq!(all, [&b"one"[..], b"two", b"3"], "all are looked at");
        let places = [&one, &two].map(|payload| payload.as_slice().as_ptr());
        drop((one, two));
        let again = [b"4", b"5", b"6"].map(|bytes| buffers.payload(bytes));
        let reused = again.iter().filter(|payload| places.contains(&payload.as_slice().as_ptr())).count();
        assert_eq!((reused, three.as_slice()), (2, &b"3"[..]));
        assert!(again.iter().zip([b"4", b"5", b"6"]).all(|(payload, bytes)| payload.as_slice() == bytes));
    }

    #[test]
    fn no_more_is_kept_than_a_few_small_ones() {
        let mut buffers = Buffers::default();
        let many: Vec<Payload> = (0..2 * LIMIT_KEPT).map(|_| buffers.payload(b"more")).collect();
        assert_eq!(buffers.0.len(), LIMIT_KEPT);
        drop(many);
        for _ in 0..2 * LIMIT_KEPT {
            buffers.payload(&vec![7; EAGER_BYTES as usize + 1]);
        }
        assert!(buffers.0.is_empty(), "what is large is not kept");
    }
}
