//! Where a meeting place is: `tcp://HOST:PORT`.

use crate::connection::dialled::is_address;
use crate::error::rendezvous::RendezvousError;
use std::fmt;
use std::str::FromStr;

/// What begins the address of a meeting place.
const SCHEME: &str = "tcp";

/// The address of a meeting place, as a user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MeetingAddress {
    /// A name or an address, with the port behind it.
    host_and_port: String,
}

impl MeetingAddress {
    /// Whether a text names something other than a directory: it begins as `scheme://`.
    pub(crate) fn is_one(text: &str) -> bool {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        text.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.bytes().all(letter))
    }

    /// The host and its port.
    pub(crate) fn host_and_port(&self) -> &str {
        &self.host_and_port
    }
}

impl fmt::Display for MeetingAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}://{}", self.host_and_port)
    }
}

impl FromStr for MeetingAddress {
    type Err = RendezvousError;

    fn from_str(text: &str) -> Result<Self, RendezvousError> {
        let (scheme, host_and_port) = text.split_once("://").unwrap_or(("", text));
        if scheme != SCHEME {
            return Err(RendezvousError::Scheme { given: text.to_owned(), scheme: scheme.to_owned() });
        }
        match is_address(host_and_port) {
            true => Ok(Self { host_and_port: host_and_port.to_owned() }),
            false => Err(RendezvousError::Address { given: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for text in ["tcp://login1:7000", "tcp://192.0.2.7:1", "tcp://[::1]:7000"] {
            let address: MeetingAddress = text.parse().expect("an address");
            assert_eq!(address.to_string(), text);
        }
        for text in
            ["tcp://login1", "tcp://:7000", "tcp://login1:0", "tcp://login1:70000", "tcp://login1:7/x"]
        {
            let error = text.parse::<MeetingAddress>().expect_err(text);
            assert!(matches!(&error, RendezvousError::Address { given } if given == text), "{error}");
        }
        let error = "http://login1:7000".parse::<MeetingAddress>().expect_err("another scheme").to_string();
        assert!(error.contains("\"http\"") && error.contains("tcp://HOST:PORT"), "{error}");
    }

    #[test]
    fn a_path_is_a_directory_whatever_is_in_it() {
        assert!(["tcp://x:1", "http://x"].into_iter().all(MeetingAddress::is_one));
        assert!(!["/a/b", "run", "://x", "a/b://c", ""].into_iter().any(MeetingAddress::is_one));
    }
}
