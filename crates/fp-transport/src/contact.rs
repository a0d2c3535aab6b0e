//! The printable address of a rank.
//!
//! One line, for files, environments and messages:
//! `flexpath:1,process=<32 hex>,host=<32 hex>,pid=<number>,token=<no|needed>,unix=<name>,tcp=<address:port>`; `tls=` in
//! place of `tcp=` where TLS is spoken, `verbs=<address:port>` where RDMA connections are taken.
//! A contact never holds the token itself: contacts are printed, tokens must not be.

use crate::identity::{HostId, ProcessId, own_pid};
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// Longest contact line in bytes.
pub const CONTACT_LIMIT_BYTES: usize = 1024;
/// Most endpoints of a contact.
pub const ENDPOINTS_LIMIT: usize = 8;
/// Longest abstract name in bytes (the kernel's limit is 107).
pub const NAME_LIMIT_BYTES: usize = 100;
const PREFIX: &str = "flexpath:1";

/// One address that a rank listens on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// An abstract unix socket: control of inproc and shm. Letters, digits, `-`, `_` and `.` only.
    Unix(String),
    /// A tcp address.
    Tcp(SocketAddr),
    /// A tcp address at which TLS is spoken and nothing else.
    Tls(SocketAddr),
    /// An address of an RDMA device.
    Verbs(SocketAddr),
}

/// Where a rank is reached, and what is known of it before it is dialled. Only a hello proves any of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Contact {
    /// Its copy of the library; zero if not known.
    pub process: ProcessId,
    /// Its host; zero if not known.
    pub host: HostId,
    /// Its process number, for messages.
    pub pid: u32,
    /// Whether it wants a token.
    pub needs_token: bool,
    /// Where it listens, at most [`ENDPOINTS_LIMIT`].
    pub endpoints: Vec<Endpoint>,
}

/// What is wrong with a contact line, with the part that is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContactError {
    /// The line is longer than any contact.
    #[error("a contact of {len_bytes} bytes is longer than {CONTACT_LIMIT_BYTES}")]
    TooLong {
        /// Its length.
        len_bytes: usize,
    },
    /// It does not begin like a contact.
    #[error("a contact begins with `{PREFIX}`, this with `{found}`")]
    Prefix {
        /// Its first part.
        found: String,
    },
    /// A part that is not `name=value` with a known name.
    #[error("a contact has no part `{part}`")]
    UnknownPart {
        /// The part.
        part: String,
    },
    /// A value that cannot be read.
    #[error("`{value}` is no {name} of a contact")]
    Value {
        /// The name of the part.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A part that must be there once is missing or there twice.
    #[error("a contact has exactly one `{name}`")]
    Count {
        /// The name of the part.
        name: &'static str,
    },
    /// More endpoints than a contact may have.
    #[error("a contact has at most {ENDPOINTS_LIMIT} endpoints")]
    TooManyEndpoints,
}

impl Contact {
    /// A contact that is known by its tcp address alone, as a user would type it.
    pub fn from_address(address: SocketAddr) -> Contact {
        Contact {
            process: ProcessId::default(),
            host: HostId::default(),
            pid: 0,
            needs_token: false,
            endpoints: vec![Endpoint::Tcp(address)],
        }
    }

    /// This process, which listens there.
    pub fn of_this_process(needs_token: bool, endpoints: Vec<Endpoint>) -> Contact {
        let (process, host, pid) = (ProcessId::own(), HostId::own(), own_pid());
        Contact { process, host, pid, needs_token, endpoints }
    }

    /// The abstract unix name, if it has one.
    pub fn unix_name(&self) -> Option<&str> {
        self.endpoints.iter().find_map(|endpoint| match endpoint {
            Endpoint::Unix(name) => Some(name.as_str()),
            Endpoint::Tcp(_) | Endpoint::Tls(_) | Endpoint::Verbs(_) => None,
        })
    }

    /// Whether it says that it speaks TLS. One that says nothing may still do so: an address that a user typed.
    pub fn speaks_tls(&self) -> bool {
        self.endpoints.iter().any(|endpoint| matches!(endpoint, Endpoint::Tls(_)))
    }

    /// The tcp addresses, with and without TLS.
    pub fn tcp_addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.endpoints.iter().filter_map(|endpoint| match endpoint {
            Endpoint::Tcp(address) | Endpoint::Tls(address) => Some(*address),
            Endpoint::Unix(_) | Endpoint::Verbs(_) => None,
        })
    }

    /// Whether it is of another host and listens on the loopback there. Nobody else can dial it: what answers at its
    /// address here is somebody else.
    pub fn is_out_of_reach(&self) -> bool {
        let elsewhere = self.host != HostId::default() && !self.host.matches(HostId::own());
        let mut addresses = self.tcp_addresses().chain(self.verbs_addresses());
        elsewhere && addresses.all(|address| address.ip().is_loopback())
    }

    /// The addresses of RDMA devices.
    pub fn verbs_addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.endpoints.iter().filter_map(|endpoint| match endpoint {
            Endpoint::Verbs(address) => Some(*address),
            Endpoint::Unix(_) | Endpoint::Tcp(_) | Endpoint::Tls(_) => None,
        })
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = if self.needs_token { "needed" } else { "no" };
        write!(f, "{PREFIX},process={},host={},pid={},token={token}", self.process, self.host, self.pid)?;
        for endpoint in &self.endpoints {
            match endpoint {
                Endpoint::Unix(name) => write!(f, ",unix={name}")?,
                Endpoint::Tcp(address) => write!(f, ",tcp={address}")?,
                Endpoint::Tls(address) => write!(f, ",tls={address}")?,
                Endpoint::Verbs(address) => write!(f, ",verbs={address}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Contact {
    type Err = ContactError;

    fn from_str(line: &str) -> Result<Contact, ContactError> {
        if line.len() > CONTACT_LIMIT_BYTES {
            return Err(ContactError::TooLong { len_bytes: line.len() });
        }
        let mut parts = line.split(',');
        let prefix = parts.next().unwrap_or_default();
        if prefix != PREFIX {
            return Err(ContactError::Prefix { found: prefix.to_string() });
        }
        let mut draft = Draft::default();
        parts.try_for_each(|part| draft.take(part))?;
        draft.finish()
    }
}

#[derive(Default)]
struct Draft {
    process: Option<u128>,
    host: Option<u128>,
    pid: Option<u32>,
    needs_token: Option<bool>,
    endpoints: Vec<Endpoint>,
}

impl Draft {
    fn take(&mut self, part: &str) -> Result<(), ContactError> {
        let unknown = || ContactError::UnknownPart { part: part.to_string() };
        let (name, value) = part.split_once('=').ok_or_else(unknown)?;
        match name {
            "process" => once(&mut self.process, "process", hex(value), value),
            "host" => once(&mut self.host, "host", hex(value), value),
            "pid" => once(&mut self.pid, "pid", number(value), value),
            "token" => once(&mut self.needs_token, "token", token(value), value),
            "unix" => {
                self.push("unix", value, name_is_sound(value).then(|| Endpoint::Unix(value.to_string())))
            }
            "tcp" => self.push("tcp", value, value.parse().ok().map(Endpoint::Tcp)),
            "tls" => self.push("tls", value, value.parse().ok().map(Endpoint::Tls)),
            "verbs" => self.push("verbs", value, value.parse().ok().map(Endpoint::Verbs)),
            _ => Err(unknown()),
        }
    }

    fn push(
        &mut self,
        name: &'static str,
        value: &str,
        endpoint: Option<Endpoint>,
    ) -> Result<(), ContactError> {
        let endpoint = endpoint.ok_or_else(|| ContactError::Value { name, value: value.to_string() })?;
        if self.endpoints.len() == ENDPOINTS_LIMIT {
            return Err(ContactError::TooManyEndpoints);
        }
        self.endpoints.push(endpoint);
        Ok(())
    }

    fn finish(self) -> Result<Contact, ContactError> {
        let missing = |name| ContactError::Count { name };
        Ok(Contact {
            process: ProcessId(self.process.ok_or(missing("process"))?),
            host: HostId(self.host.ok_or(missing("host"))?),
            pid: self.pid.ok_or(missing("pid"))?,
            needs_token: self.needs_token.ok_or(missing("token"))?,
            endpoints: self.endpoints,
        })
    }
}

fn once<T>(
    slot: &mut Option<T>,
    name: &'static str,
    parsed: Option<T>,
    value: &str,
) -> Result<(), ContactError> {
    let parsed = parsed.ok_or_else(|| ContactError::Value { name, value: value.to_string() })?;
    match slot.replace(parsed) {
        None => Ok(()),
        Some(_) => Err(ContactError::Count { name }),
    }
}

fn hex(value: &str) -> Option<u128> {
    let exact = value.len() == 32 && value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if exact { u128::from_str_radix(value, 16).ok() } else { None }
}

/// Only what printing gives: no sign, no leading zero.
fn number(value: &str) -> Option<u32> {
    value.parse::<u32>().ok().filter(|number| number.to_string() == value)
}

fn token(value: &str) -> Option<bool> {
    match value {
        "needed" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn name_is_sound(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=NAME_LIMIT_BYTES).contains(&name.len()) && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn endpoint() -> impl Strategy<Value = Endpoint> {
        let address = || (any::<std::net::IpAddr>(), any::<u16>()).prop_map(SocketAddr::from);
        prop_oneof![
            "[a-zA-Z0-9_.-]{1,100}".prop_map(Endpoint::Unix),
            address().prop_map(Endpoint::Tcp),
            address().prop_map(Endpoint::Tls),
            address().prop_map(Endpoint::Verbs),
        ]
    }

    prop_compose! {
        fn contact()(process in any::<u128>(), host in any::<u128>(), pid in any::<u32>(),
                     needs_token in any::<bool>(), endpoints in prop::collection::vec(endpoint(), 0..=6)) -> Contact {
            Contact { process: ProcessId(process), host: HostId(host), pid, needs_token, endpoints }
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(contact in contact()) {
            prop_assert_eq!(contact.to_string().parse::<Contact>(), Ok(contact));
        }

        /// Whatever parses prints as it was: there is one line for each contact.
        #[test]
        fn hostile_lines_end_in_a_value_or_an_error(contact in contact(), at in 0usize..200, byte in any::<char>()) {
            let mut line: Vec<char> = contact.to_string().chars().collect();
            let at = at % line.len();
            line[at] = byte;
            let line: String = line.into_iter().collect();
            if let Ok(parsed) = line.parse::<Contact>() {
                prop_assert_eq!(parsed.to_string().parse::<Contact>(), Ok(parsed));
            }
        }

        #[test]
        fn any_text_is_survived(line in "\\PC{0,1200}") {
            let _ = line.parse::<Contact>();
        }
    }

    #[test]
    fn errors_name_the_bad_part() {
        let good = Contact::from_address("127.0.0.1:4000".parse().expect("an address")).to_string();
        let value = |name, value: &str| ContactError::Value { name, value: value.to_string() };
        assert_eq!(good.replace("pid=0", "pid=+1").parse::<Contact>(), Err(value("pid", "+1")));
        assert_eq!(good.replace(":4000", ":70000").parse::<Contact>(), Err(value("tcp", "127.0.0.1:70000")));
        assert_eq!(format!("{good},unix=a/b").parse::<Contact>(), Err(value("unix", "a/b")));
        assert_eq!(format!("{good},pid=3").parse::<Contact>(), Err(ContactError::Count { name: "pid" }));
        assert_eq!(good.replace(",pid=0", "").parse::<Contact>(), Err(ContactError::Count { name: "pid" }));
        assert_eq!("x".repeat(1025).parse::<Contact>(), Err(ContactError::TooLong { len_bytes: 1025 }));
        assert_eq!("http://x".parse::<Contact>(), Err(ContactError::Prefix { found: "http://x".into() }));
        let many = format!("{good}{}", ",unix=a".repeat(8));
        assert_eq!(many.parse::<Contact>(), Err(ContactError::TooManyEndpoints));
    }
}
