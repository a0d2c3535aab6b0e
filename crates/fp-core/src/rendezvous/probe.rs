//! Whether somebody answers at a contact. No handshake is begun: listing streams must not disturb them, least of all
//! count as the subscriber that one of them waits for.

use crate::rendezvous::Entry;
use crate::value::each::each_of;
use fp_transport::Contact;
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

/// How long an entry may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Entries that are asked at one time.
const LIMIT_AT_ONCE: usize = 64;

/// Each of these entries with what `ask` finds out about it, which is told whether somebody answers there; `None` where it
/// panicked. Many are asked at one time, so that a silent one holds nobody up. Each of its addresses has two seconds.
pub fn ask_each<T: Send>(
    entries: Vec<Entry>,
    ask: impl Fn(&Entry, bool) -> T + Sync,
) -> Vec<(Entry, Option<T>)> {
    let told = each_of(&entries, LIMIT_AT_ONCE, |entry| ask(entry, entry.answers(PATIENCE)));
    entries.into_iter().zip(told.into_iter().map(Result::ok)).collect()
}

impl Entry {
    /// Whether somebody answers there; each of its addresses has that much time. Whoever answers notices no more than a
    /// connection that is closed again.
    pub fn answers(&self, patience: Duration) -> bool {
        answers(&self.contact, patience)
    }
}

/// Whether a connection comes about: over the unix socket, whose random name nobody else can have, or over tcp.
fn answers(contact: &Contact, patience: Duration) -> bool {
    let local = contact.unix_name().is_some_and(|name| {
        let address = SocketAddr::from_abstract_name(name);
        address.and_then(|address| UnixStream::connect_addr(&address)).is_ok()
    });
    let answers = |address| TcpStream::connect_timeout(&address, patience).is_ok();
    // At such an address somebody else would answer.
    local || (!contact.is_out_of_reach() && contact.tcp_addresses().any(answers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::Epoch;
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_listener_answers_and_a_closed_one_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let contact = Contact::from_address(listener.local_addr().unwrap());
        assert!(answers(&contact, PATIENCE));
        drop(listener);
        assert!(!answers(&contact, PATIENCE));
    }

    #[test]
    fn an_abstract_name_is_tried_before_tcp() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let name = format!("flexpath-knock-{}", std::process::id());
        let contact: Contact = format!("{},unix={name}", Contact::from_address(closed)).parse().unwrap();
        assert!(!answers(&contact, PATIENCE));
        let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        assert!(answers(&contact, PATIENCE));
    }

    #[test]
    fn each_is_asked_and_keeps_its_place() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let alive = Contact::from_address(listener.local_addr().unwrap());
        let contacts = [Contact::from_address(closed), alive];
        let entry = |at: usize| Entry {
            name: at.to_string(),
            epoch: Epoch(at as u128),
            contact: contacts[at % 2].clone(),
        };
        let told = ask_each((0..150).map(entry).collect(), |entry, alive| {
            assert!(entry.name != "77", "one of them panics");
            alive
        });
        let told: Vec<_> = told.into_iter().map(|(entry, alive)| (entry.name, alive)).collect();
        let wanted = |at: usize| (at.to_string(), (at != 77).then_some(at % 2 == 1));
        assert_eq!(told, (0..150).map(wanted).collect::<Vec<_>>());
    }
}
