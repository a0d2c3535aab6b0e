//! The hand-over within a process: a payload is put down under a key and picked up by the peer, without a copy.
//!
//! The table is a static of this copy of the library. A second copy in the same process (a Rust crate beside a shared
//! library) has its own table. It does not find the key, and negotiation refuses inproc for that reason.

use super::payload::Payload;
use crate::identity::random_u128;
use crate::lock::lock;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, OnceLock};

/// Names an exported payload: half random for this copy of the library, half counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InprocKey(pub u128);

impl fmt::Display for InprocKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

struct Table {
    nonce: u128,
    counter: u128,
    payloads: HashMap<u128, Payload>,
}

fn table() -> &'static Mutex<Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    TABLE.get_or_init(|| {
        Mutex::new(Table { nonce: random_u128() << 64, counter: 0, payloads: HashMap::new() })
    })
}

/// Puts a payload down; it stays alive until [`withdraw`].
pub fn export(payload: Payload) -> InprocKey {
    let mut table = lock(table());
    table.counter += 1;
    let key = table.nonce | table.counter;
    table.payloads.insert(key, payload);
    InprocKey(key)
}

/// The payload under `key`: another handle on the same bytes. `None` if it was withdrawn or belongs elsewhere.
pub fn import(key: InprocKey) -> Option<Payload> {
    lock(table()).payloads.get(&key.0).cloned()
}

/// Takes a payload off the table; handles that were picked up stay valid. `None` if there was none.
pub fn withdraw(key: InprocKey) -> Option<Payload> {
    lock(table()).payloads.remove(&key.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handle_itself_crosses() {
        let payload = Payload::from_owner(vec![7u8; 100]);
        let address = payload.as_slice().as_ptr();
        let key = export(payload);
        let imported = import(key).expect("it was exported");
        assert_eq!(imported.as_slice().as_ptr(), address);
        assert!(withdraw(key).is_some());
        assert!(import(key).is_none() && withdraw(key).is_none());
        assert_eq!(imported.as_slice(), &[7u8; 100]);
    }
}
