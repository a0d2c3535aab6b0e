//! How an owner tells the address and the key of a segment over RDMA.

use fp_transport::RemoteMemory;

/// Bytes of the body that names an address and a key: two words, little endian.
pub(crate) const REMOTE_LEN_BYTES: usize = 16;

/// Such a body.
pub(crate) fn telling(memory: &RemoteMemory) -> Vec<u8> {
    [memory.address.to_le_bytes(), u64::from(memory.key).to_le_bytes()].concat()
}

/// The address and the key of such a body.
pub(crate) fn told(body: &[u8; REMOTE_LEN_BYTES], len_bytes: u64) -> Option<RemoteMemory> {
    let address = u64::from_le_bytes(*body.first_chunk()?);
    let key = u64::from_le_bytes(*body.last_chunk()?);
    Some(RemoteMemory { address, key: u32::try_from(key).ok()?, len_bytes })
}
