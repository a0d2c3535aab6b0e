//! Where a rank listens for tcp, as the program or the environment says.

use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// The variable of the environment that says where.
const VARIABLE: &str = "FLEXPATH_LISTEN";
/// What stands for not listening at all.
const NOWHERE: &str = "none";

/// Where a rank listens for tcp. Written as `192.0.2.7:0` or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenAddress {
    /// It does not listen for tcp.
    Nowhere,
    /// At this address. Port 0: one of the system's choice.
    At(SocketAddr),
}

/// Loopback, and a port of the system's choice.
impl Default for ListenAddress {
    fn default() -> Self {
        Self::At((Ipv4Addr::LOCALHOST, 0).into())
    }
}

impl ListenAddress {
    /// From `FLEXPATH_LISTEN`; the default where it is not set, or empty.
    ///
    /// # Errors
    /// [`ListenAddressError`]: it is no address.
    pub fn from_environment() -> Result<Self, ListenAddressError> {
        match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => text.parse(),
            _ => Ok(Self::default()),
        }
    }

    /// The address; none: it does not listen.
    pub fn address(self) -> Option<SocketAddr> {
        match self {
            Self::Nowhere => None,
            Self::At(address) => Some(address),
        }
    }
}

impl From<Option<SocketAddr>> for ListenAddress {
    fn from(address: Option<SocketAddr>) -> Self {
        address.map_or(Self::Nowhere, Self::At)
    }
}

/// A text that is no address to listen on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no address to listen on ({VARIABLE}, or an option): an address with a port, as 192.0.2.7:0 or [::1]:0, \
     or {NOWHERE}"
)]
pub struct ListenAddressError {
    /// The text.
    pub text: String,
}

impl FromStr for ListenAddress {
    type Err = ListenAddressError;

    fn from_str(text: &str) -> Result<Self, ListenAddressError> {
        if text == NOWHERE {
            return Ok(Self::Nowhere);
        }
        text.parse().map(Self::At).map_err(|_| ListenAddressError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_may_be_none() {
        let address: SocketAddr = "192.0.2.7:4000".parse().expect("an address");
        assert_eq!("192.0.2.7:4000".parse(), Ok(ListenAddress::At(address)));
        assert_eq!("none".parse(), Ok(ListenAddress::Nowhere));
        for text in ["192.0.2.7", "here:1", ""] {
            assert_eq!(text.parse::<ListenAddress>(), Err(ListenAddressError { text: text.to_owned() }));
        }
        assert!(ListenAddress::default().address().is_some_and(|address| address.ip().is_loopback()));
    }
}
