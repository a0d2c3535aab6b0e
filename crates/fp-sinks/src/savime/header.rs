//! The head of each message.

/// How long it is.
pub(super) const HEADER_BYTES: usize = 298;

/// The first byte of each message.
const MAGIC: u8 = 0x42;

/// The version of these messages.
const VERSION: u8 = 1;

/// Where the parts are whose places are needed twice.
const TYPE: usize = 18;
const PAYLOAD: usize = 30;
const NAME: usize = 38;
const BLOCK: usize = 294;

/// The longest name of a block, with the 0 behind it.
pub(super) const NAME_BYTES: usize = BLOCK - NAME;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum MessageType {
    ConnectionRequest = 0,
    CreateQuery = 1,
    QueryText = 2,
    QueryDone = 3,
    ParameterRequest = 4,
    ParameterData = 5,
    ParameterDone = 6,
    ResultRequest = 7,
    Close = 8,
    Acknowledged = 9,
    ConnectionAccepted = 10,
    QueryAccepted = 11,
    ResponseStarts = 13,
    Text = 14,
    FirstBlock = 16,
    Block = 17,
    LastBlock = 18,
    ResponseEnds = 19,
    ServerAcknowledged = 20,
}

impl MessageType {
    const ALL: [Self; 19] = [
        Self::ConnectionRequest,
        Self::CreateQuery,
        Self::QueryText,
        Self::QueryDone,
        Self::ParameterRequest,
        Self::ParameterData,
        Self::ParameterDone,
        Self::ResultRequest,
        Self::Close,
        Self::Acknowledged,
        Self::ConnectionAccepted,
        Self::QueryAccepted,
        Self::ResponseStarts,
        Self::Text,
        Self::FirstBlock,
        Self::Block,
        Self::LastBlock,
        Self::ResponseEnds,
        Self::ServerAcknowledged,
    ];
}

/// The head of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) message: i32,
    pub(super) client: i32,
    pub(super) query: i32,
    pub(super) kind: MessageType,
    pub(super) payload_bytes: u64,
    /// The name of a block of data; else empty.
    pub(super) block: String,
}

impl Header {
    /// As it is sent. Blocks of data are sent whole, each as number 1.
    pub(super) fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(0, &[MAGIC, VERSION]);
        put(6, &self.message.to_le_bytes());
        put(10, &self.client.to_le_bytes());
        put(14, &self.query.to_le_bytes());
        put(TYPE, &(self.kind as u32).to_le_bytes());
        put(22, &(self.payload_bytes + HEADER_BYTES as u64).to_le_bytes());
        put(PAYLOAD, &self.payload_bytes.to_le_bytes());
        let name = self.block.as_bytes();
        put(NAME, &name[..name.len().min(NAME_BYTES - 1)]);
        put(BLOCK, &i32::from(!name.is_empty()).to_le_bytes());
        bytes
    }

    /// As it came.
    pub(super) fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Result<Self, String> {
        if bytes[0] != MAGIC {
            return Err(format!("no message of SAVIME begins with the byte {}", bytes[0]));
        }
        let four = |at: usize| std::array::from_fn(|index| bytes[at + index]);
        let eight = |at: usize| std::array::from_fn(|index| bytes[at + index]);
        let number = u32::from_le_bytes(four(TYPE));
        let kind = MessageType::ALL.into_iter().find(|kind| *kind as u32 == number);
        let kind = kind.ok_or_else(|| format!("no message of SAVIME has the type {number}"))?;
        let name = bytes[NAME..BLOCK].split(|byte| *byte == 0).next().unwrap_or_default();
        let (message, client, query) = (four(6), four(10), four(14));
        Ok(Self {
            message: i32::from_le_bytes(message),
            client: i32::from_le_bytes(client),
            query: i32::from_le_bytes(query),
            kind,
            payload_bytes: u64::from_le_bytes(eight(PAYLOAD)),
            block: String::from_utf8_lossy(name).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_these_bytes() {
        let header = Header {
            message: 0x0102,
            client: 3,
            query: 4,
            kind: MessageType::ParameterData,
            payload_bytes: 0x1_0000_0006,
            block: "@d".to_owned(),
        };
        let mut golden = vec![0x42, 1, 0, 0, 0, 0, 2, 1, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0];
        golden.extend([0x30, 1, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, b'@', b'd']);
        golden.resize(294, 0);
        golden.extend([1, 0, 0, 0]);
        assert_eq!(header.to_bytes().as_slice(), golden);
        assert_eq!(Header::from_bytes(&header.to_bytes()), Ok(header));
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let mut bytes = [0; HEADER_BYTES];
        assert!(Header::from_bytes(&bytes).unwrap_err().contains("begins with"));
        (bytes[0], bytes[18]) = (0x42, 99);
        assert!(Header::from_bytes(&bytes).unwrap_err().contains("type 99"));
    }
}
