//! The canonical encoding behind content ids: numbers little-endian, texts with their length before them.

/// Feeds values to BLAKE3 in one fixed form and yields the first 16 bytes of the hash.
///
/// Every kind of content starts with a domain of its own that carries a version. So ids of different kinds never meet,
/// and an encoding can be changed without a silent clash.
#[derive(Debug)]
pub(crate) struct CanonicalHasher {
    hasher: blake3::Hasher,
    /// Small writes are gathered: hashing eight bytes at a time costs far more than hashing.
    pending: Vec<u8>,
}

/// How many bytes are gathered before they are hashed.
const PENDING_BYTES: usize = 16 * 1024;

impl CanonicalHasher {
    pub(crate) fn new(domain: &str) -> Self {
        let mut canonical = Self { hasher: blake3::Hasher::new(), pending: Vec::new() };
        canonical.text(domain);
        canonical
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= PENDING_BYTES {
            self.hasher.update(&self.pending);
            self.pending.clear();
        }
    }

    pub(crate) fn byte(&mut self, number: u8) {
        self.bytes(&[number]);
    }

    pub(crate) fn number_u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    pub(crate) fn number_u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.number_u64(count as u64);
    }

    pub(crate) fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|&number| self.number_u64(number));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes(text.as_bytes());
    }

    /// A presence byte, then the text if there is one.
    pub(crate) fn optional_text(&mut self, text: Option<&str>) {
        self.byte(u8::from(text.is_some()));
        text.into_iter().for_each(|text| self.text(text));
    }

    pub(crate) fn finish(mut self) -> [u8; 16] {
        self.hasher.update(&self.pending);
        let mut id = [0; 16];
        self.hasher.finalize_xof().fill(&mut id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::CanonicalHasher;

    #[test]
    fn gathering_does_not_change_the_hash() {
        let mut canonical = CanonicalHasher::new("domain");
        let mut whole = blake3::Hasher::new();
        whole.update(&6u64.to_le_bytes());
        whole.update(b"domain");
        for number in 0..10_000u64 {
            canonical.number_u64(number);
            whole.update(&number.to_le_bytes());
        }
        assert_eq!(canonical.finish(), whole.finalize().as_bytes()[..16]);
    }
}
