//! One connection to a database, over which one query after another is asked.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use super::header::{HEADER_BYTES, Header, MessageType, NAME_BYTES};

/// One connection to a database.
pub(super) struct Connection {
    stream: TcpStream,
    /// How long each answer may take, and each bit of what is sent.
    patience: Duration,
    /// Since when an answer is awaited.
    asked: Instant,
    client: i32,
    query: i32,
    /// How many messages were sent.
    sent: i32,
}

/// What the database says to a query.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) text: String,
    /// The values of each dimension and attribute, where the query asks for some.
    pub(super) blocks: BTreeMap<String, Vec<u8>>,
}

impl Connection {
    /// Connects to HOST:PORT.
    pub(super) fn open(place: &str, patience: Duration) -> Result<Self, String> {
        let addresses =
            place.to_socket_addrs().map_err(|error| format!("no HOST:PORT that is known: {error}"))?;
        let mut last = "the name has no address".to_owned();
        for address in addresses {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => return Self::greet(stream, patience),
                Err(error) => last = format!("{address} cannot be connected to: {error}"),
            }
        }
        Err(last)
    }

    fn greet(stream: TcpStream, patience: Duration) -> Result<Self, String> {
        let set = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(patience)));
        set.map_err(|error| error.to_string())?;
        let mut made = Self { stream, patience, asked: Instant::now(), client: 0, query: 0, sent: 0 };
        made.send(MessageType::ConnectionRequest, "", &[])?;
        made.client = made.expect(MessageType::ConnectionAccepted)?.client;
        Ok(made)
    }

    /// Asks a query, whose answer is no longer than that. A parameter has the name that the query calls it by, and its
    /// bytes.
    pub(super) fn ask(
        &mut self,
        query: &str,
        parameter: Option<(&str, &[u8])>,
        max_bytes: u64,
    ) -> Result<Answer, String> {
        self.send(MessageType::CreateQuery, "", &[])?;
        self.query = self.expect(MessageType::QueryAccepted)?.query;
        // The database takes the text up to the 0 behind it.
        self.send(MessageType::QueryText, "", &[query.as_bytes(), &[0]].concat())?;
        self.expect(MessageType::ServerAcknowledged)?;
        self.send(MessageType::QueryDone, "", &[])?;
        self.expect(MessageType::ServerAcknowledged)?;
        if let Some((name, bytes)) = parameter {
            if name.len() >= NAME_BYTES {
                return Err(format!("the name {name} is too long: a shorter name of the variable is needed"));
            }
            for (kind, name, bytes) in [
                (MessageType::ParameterRequest, "", [].as_slice()),
                (MessageType::ParameterData, name, bytes),
                (MessageType::ParameterDone, "", &[]),
            ] {
                self.send(kind, name, bytes)?;
                self.expect(MessageType::ServerAcknowledged)?;
            }
        }
        self.send(MessageType::ResultRequest, "", &[])?;
        // From here to its end the answer has one deadline.
        self.expect(MessageType::ResponseStarts)?;
        self.send(MessageType::Acknowledged, "", &[])?;
        self.answer(max_bytes)
    }

    /// Takes an answer up to its end.
    fn answer(&mut self, max_bytes: u64) -> Result<Answer, String> {
        let (mut answer, mut len_bytes) = (Answer::default(), 0u64);
        loop {
            let header = self.header()?;
            len_bytes = len_bytes.saturating_add(header.payload_bytes);
            if len_bytes > max_bytes {
                return Err(format!("its answer is longer than {max_bytes} bytes: ask for fewer cells"));
            }
            if header.kind == MessageType::Block && header.payload_bytes == 0 {
                return Err(format!("it sent an empty block {:?} in the midst of others", header.block));
            }
            let mut bytes = vec![0; header.payload_bytes as usize];
            self.fill(&mut bytes)?;
            match header.kind {
                MessageType::ResponseEnds => return Ok(answer),
                MessageType::Text => {
                    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
                    answer.text.push_str(&String::from_utf8_lossy(text));
                }
                MessageType::FirstBlock | MessageType::Block | MessageType::LastBlock => {
                    answer.blocks.entry(header.block).or_default().extend(bytes);
                }
                other => return Err(format!("it sent {other:?} in the midst of an answer")),
            }
            self.send(MessageType::Acknowledged, "", &[])?;
        }
    }

    fn send(&mut self, kind: MessageType, block: &str, payload: &[u8]) -> Result<(), String> {
        let (message, client, query) = (self.sent, self.client, self.query);
        let payload_bytes = payload.len() as u64;
        self.sent = self.sent.wrapping_add(1);
        let header = Header { message, client, query, kind, payload_bytes, block: block.to_owned() };
        let sent = self.stream.write_all(&header.to_bytes()).and_then(|()| self.stream.write_all(payload));
        sent.map_err(|error| self.why(error.kind(), &error, &format!("it takes no {kind:?}")))
    }

    fn expect(&mut self, kind: MessageType) -> Result<Header, String> {
        self.asked = Instant::now();
        let header = self.header()?;
        if header.kind == kind && header.payload_bytes == 0 {
            return Ok(header);
        }
        let mut bytes = vec![0; header.payload_bytes.min(4096) as usize];
        self.fill(&mut bytes)?;
        let said = String::from_utf8_lossy(&bytes);
        Err(format!("it sent {:?} in place of {kind:?}: {:?}", header.kind, said.trim_end_matches('\0')))
    }

    fn header(&mut self) -> Result<Header, String> {
        let mut bytes = [0; HEADER_BYTES];
        self.fill(&mut bytes)?;
        Header::from_bytes(&bytes)
    }

    /// Waits for so many bytes of an answer, and no longer than all of it may take.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        let mut filled = 0;
        while filled < bytes.len() {
            let left = self.patience.saturating_sub(self.asked.elapsed());
            if left.is_zero() {
                return Err(self.why(ErrorKind::TimedOut, &"", "its answer does not end"));
            }
            let read = self
                .stream
                .set_read_timeout(Some(left))
                .and_then(|()| self.stream.read(&mut bytes[filled..]));
            match read {
                Ok(0) => return Err("it closed the connection".to_owned()),
                Ok(len) => filled += len,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.why(error.kind(), &error, "it says nothing")),
            }
        }
        Ok(())
    }

    fn why(&self, kind: ErrorKind, error: &dyn std::fmt::Display, silent: &str) -> String {
        match kind {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!("{silent} within {:?}; --timeout says how long to wait", self.patience)
            }
            _ => format!("the connection broke: {error}"),
        }
    }
}

impl Drop for Connection {
    /// Says goodbye, if somebody is still there.
    fn drop(&mut self) {
        let _ = self.send(MessageType::Close, "", &[]);
    }
}
