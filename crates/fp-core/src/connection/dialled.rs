//! Dialling who is known by host and port alone: no stream, and no entry of a rendezvous.

use fp_transport::{
    Contact, DialError, DialOptions, Endpoint, Link, Purpose, Reason, Refusal, TlsIdentity, Token,
    TransportKind, TransportPolicy, dial,
};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long it may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Why nobody was met who was meant, in words that follow a colon.
#[derive(Debug)]
pub(crate) enum Unmet {
    /// Nobody is there.
    Away(String),
    /// Who is there does not let this process in.
    NotLetIn(String),
    /// Somebody else is there.
    Another(String),
}

/// Whether a text is a host and a port behind it.
pub(crate) fn is_address(text: &str) -> bool {
    let parts = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    parts.is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// The addresses of a host and a port, found in time. Names are looked up anew each time: a place may have moved.
pub(crate) fn resolve(host_and_port: &str, deadline: Instant) -> Result<Vec<SocketAddr>, String> {
    if let Ok(address) = host_and_port.parse() {
        return Ok(vec![address]);
    }
    // The system's lookup takes no deadline; a thread that comes too late finds nobody to tell.
    let (text, (tell, told)) = (host_and_port.to_owned(), channel());
    let look = move || {
        let found = text.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let _ = tell.send(found.map_err(|error| error.to_string()));
    };
    let thread = std::thread::Builder::new().name("flexpath-name".to_owned()).spawn(look);
    thread.map_err(|error| error.to_string())?;
    let left = deadline.saturating_duration_since(Instant::now());
    told.recv_timeout(left).unwrap_or_else(|_| Err("its name was not found in time".to_owned()))
}

/// A link to who has this epoch there; at most [`PATIENCE`] after it began.
pub(crate) fn link(
    host_and_port: &str,
    epoch: u128,
    token: Option<&Token>,
    tls: Option<&TlsIdentity>,
) -> Result<Link, Unmet> {
    let deadline = Instant::now() + PATIENCE;
    let endpoint = if tls.is_some() { Endpoint::Tls } else { Endpoint::Tcp };
    let options = DialOptions::new(deadline)
        .with_purpose(Purpose::Control)
        .with_epoch(Some(epoch))
        .with_token(token.cloned())
        .with_tls(tls.cloned())
        .with_policy(TransportPolicy::only(TransportKind::Tcp));
    let mut last = Unmet::Away("it has no address".to_owned());
    for address in resolve(host_and_port, deadline).map_err(Unmet::Away)? {
        let mut contact = Contact::from_address(address);
        contact.endpoints = vec![endpoint(address)];
        match dial(&contact, &options) {
            Ok(link) => return Ok(link),
            Err(error) => last = judged(&error),
        }
    }
    Err(last)
}

/// What it means that nobody could be dialled: nobody is there, it does not want us, or it is another.
fn judged(error: &DialError) -> Unmet {
    let another = |why: &str| Unmet::Another(why.to_owned());
    let reason = error.refused().iter().find(|(kind, _)| *kind == TransportKind::Tcp);
    match (error, reason.map(|(_, reason)| reason)) {
        (DialError::Refused { refusal: Refusal::Epoch { .. }, .. }, _) => {
            another("a rank of a stream answers there, or another command of Flexpath")
        }
        (DialError::Refused { refusal, .. }, _) => Unmet::NotLetIn(refusal.to_string()),
        (DialError::Deadline { waiting_for, .. }, _) if *waiting_for == "a tcp connection" => {
            Unmet::Away(format!("no answer within {PATIENCE:?}"))
        }
        (DialError::Deadline { .. }, _) => Unmet::Away(format!(
            "it took the connection, and said nothing for {PATIENCE:?}; is it another program's port?"
        )),
        (_, Some(Reason::BadAnswer)) => another("who answers there does not speak Flexpath's language"),
        (_, Some(reason)) if reason.is_about_credentials() => Unmet::NotLetIn(reason.to_string()),
        (_, Some(reason @ Reason::Tls(_))) => another(&reason.to_string()),
        (_, Some(reason)) => Unmet::Away(reason.to_string()),
        (error, None) => Unmet::Away(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        assert!(["login1:7000", "192.0.2.7:1", "[::1]:7000"].into_iter().all(is_address));
        assert!(!["login1", ":7000", "login1:0", "login1:70000", "login1:7/x"].into_iter().any(is_address));
    }

    #[test]
    fn a_name_that_is_none_is_said_so() {
        assert!(resolve("no-such-host.invalid:7000", Instant::now() + Duration::from_secs(10)).is_err());
        let near = resolve("127.0.0.1:7000", Instant::now()).expect("no lookup");
        assert_eq!(near, ["127.0.0.1:7000".parse().expect("one")]);
    }
}
