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
        let reused = self.0.pop_front().and_then(|mut buffer| {
            // One that is looked at is let go of: others are not to wait behind it.
            let free = Arc::get_mut(&mut buffer)?;
            free.clear();
            free.extend_from_slice(bytes);
            Some(buffer)
        });
        let filled = reused.unwrap_or_else(|| Arc::new(bytes.to_vec()));
        if self.0.len() < LIMIT_KEPT && bytes.len() as u64 <= EAGER_BYTES {
            self.0.push_back(filled.clone());
        }
        Payload::from_shared(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_nobody_looks_at_it() {
        let mut buffers = Buffers::default();
        let one = buffers.payload(b"one");
        let at = one.as_slice().as_ptr();
        let two = buffers.payload(b"two");
        assert_eq!((one.as_slice(), two.as_slice()), (&b"one"[..], &b"two"[..]), "both are looked at");
        let three = buffers.payload(b"3");
        drop(two);
        let four = buffers.payload(b"4");
        drop((one, three));
        let five = buffers.payload(b"5");
        assert_eq!((four.as_slice(), five.as_slice()), (&b"4"[..], &b"5"[..]));
        assert_ne!(five.as_slice().as_ptr(), at, "what was looked at is let go of");
        drop(four);
        let kept: Vec<Payload> = (0..2 * LIMIT_KEPT).map(|_| buffers.payload(b"more")).collect();
        assert!(buffers.0.len() <= LIMIT_KEPT);
        drop(kept);
        let at = buffers.0.front().map(|buffer| buffer.as_ptr());
        assert_eq!(at, Some(buffers.payload(b"last").as_slice().as_ptr()));
        buffers.payload(&vec![7; 2 * EAGER_BYTES as usize]);
        let most = buffers.0.iter().map(|buffer| buffer.capacity()).max();
        assert!(most <= Some(EAGER_BYTES as usize), "what is large is not kept");
    }
}
