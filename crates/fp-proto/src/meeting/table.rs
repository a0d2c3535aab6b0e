//! The leases of a meeting place: pure, so that time is an argument.

use crate::config::ContactText;
use crate::meeting::{
    Decline, Entry, LEASE, LIMIT_ENTRIES, LIMIT_OF_GUEST, LIMIT_OF_NAME, Reply, Request, SETTLING,
};
use crate::time::Moment;
use fp_types::Epoch;
use std::collections::BTreeMap;

/// A link to the place, as its owner numbers them; never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GuestId(pub u64);

type Key = (String, Epoch);

struct Lease {
    contact: ContactText,
    guest: GuestId,
    until: Moment,
}

/// What a meeting place knows.
pub struct Table {
    began: Moment,
    leases: BTreeMap<Key, Lease>,
}

impl Table {
    /// Knows nobody yet.
    pub fn new(now: Moment) -> Self {
        Self { began: now, leases: BTreeMap::new() }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.leases.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

    /// Does what a guest asks for.
    pub fn handle(&mut self, now: Moment, guest: GuestId, request: Request) -> Reply {
        match request {
            Request::Register(entry) => self.register(now, guest, entry),
            Request::Withdraw { name, epoch } => self.withdraw(guest, (name, epoch)),
            Request::Lookup { name } => self.listed(now, self.of_name(&name)),
            Request::List => self.listed(now, self.leases.iter()),
        }
    }

    fn register(&mut self, now: Moment, guest: GuestId, entry: Entry) -> Reply {
        let until = now.after(LEASE);
        let Entry { name, epoch, contact } = entry;
        let key = (name, epoch);
        if let Some(lease) = self.leases.get_mut(&key) {
            if lease.contact != contact {
                return Reply::Declined(Decline::Another);
            }
            // Over a new link, after the old one was lost.
            (lease.guest, lease.until) = (guest, until);
            return Reply::Done;
        }
        if let Some(decline) = self.has_no_room(guest, &key.0) {
            return Reply::Declined(decline);
        }
        self.leases.insert(key, Lease { contact, guest, until });
        Reply::Done
    }

    fn has_no_room(&self, guest: GuestId, name: &str) -> Option<Decline> {
        let of_name = self.of_name(name).count();
        let of_guest = self.leases.values().filter(|lease| lease.guest == guest).count();
        let full = [
            (self.leases.len() >= LIMIT_ENTRIES, Decline::Full),
            (of_name >= LIMIT_OF_NAME, Decline::NameFull),
            (of_guest >= LIMIT_OF_GUEST, Decline::GuestFull),
        ];
        full.into_iter().find_map(|(full, decline)| full.then_some(decline))
    }

    fn withdraw(&mut self, guest: GuestId, key: Key) -> Reply {
        match self.leases.get(&key) {
            Some(lease) if lease.guest != guest => Reply::Declined(Decline::Another),
            // It may have expired, which is as well.
            _ => {
                self.leases.remove(&key);
                Reply::Done
            }
        }
    }

    fn of_name(&self, name: &str) -> impl Iterator<Item = (&Key, &Lease)> {
        let (first, last) = ((name.to_owned(), Epoch(0)), (name.to_owned(), Epoch(u128::MAX)));
        self.leases.range(first..=last)
    }

    fn listed<'a>(&self, now: Moment, found: impl Iterator<Item = (&'a Key, &'a Lease)>) -> Reply {
        let entry = |((name, epoch), lease): (&Key, &Lease)| Entry {
            name: name.clone(),
            epoch: *epoch,
            contact: lease.contact.clone(),
        };
        let live = found.filter(|(_, lease)| lease.until > now);
        Reply::Listed { settled: now.since(self.began) >= SETTLING, entries: live.map(entry).collect() }
    }

    /// A link is gone, and with it what came over it. Says how many entries those were.
    pub fn gone(&mut self, guest: GuestId) -> usize {
        let before = self.leases.len();
        self.leases.retain(|_, lease| lease.guest != guest);
        before - self.leases.len()
    }

    /// Forgets what was not renewed in time. Says how many entries those were.
    pub fn expire(&mut self, now: Moment) -> usize {
        let before = self.leases.len();
        self.leases.retain(|_, lease| lease.until > now);
        before - self.leases.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const ONE: GuestId = GuestId(1);
    const TWO: GuestId = GuestId(2);

    fn entry(name: &str, epoch: u128) -> Entry {
        Entry { name: name.to_owned(), epoch: Epoch(epoch), contact: ContactText(format!("at {epoch}")) }
    }

    fn at(seconds: u64) -> Moment {
        Moment::ZERO.after(Duration::from_secs(seconds))
    }

    fn register(table: &mut Table, now: Moment, guest: GuestId, entry: Entry) -> Reply {
        table.handle(now, guest, Request::Register(entry))
    }

    fn listed(table: &mut Table, now: Moment, name: &str) -> (bool, Vec<Entry>) {
        let reply = table.handle(now, TWO, Request::Lookup { name: name.to_owned() });
        let Reply::Listed { settled, entries } = reply else { panic!("{reply:?}") };
        (settled, entries)
    }

    #[test]
    fn an_entry_is_there_as_long_as_it_is_renewed() {
        let mut table = Table::new(at(0));
        assert_eq!(register(&mut table, at(0), ONE, entry("heat", 1)), Reply::Done);
        assert_eq!(listed(&mut table, at(9), "heat").1, [entry("heat", 1)]);
        assert_eq!(listed(&mut table, at(9), "cold").1, []);
        assert_eq!(register(&mut table, at(9), ONE, entry("heat", 1)), Reply::Done);
        assert_eq!(listed(&mut table, at(18), "heat").1.len(), 1);
        assert_eq!(listed(&mut table, at(19), "heat").1.len(), 0);
    }

    #[test]
    fn what_came_over_a_link_goes_with_it_unless_another_has_it() {
        let mut table = Table::new(at(0));
        register(&mut table, at(0), ONE, entry("heat", 1));
        register(&mut table, at(0), ONE, entry("cold", 2));
        register(&mut table, at(1), TWO, entry("cold", 2));
        assert_eq!(table.gone(ONE), 1);
        assert_eq!(listed(&mut table, at(1), "cold").1.len(), 1);
        let withdraw = Request::Withdraw { name: "cold".to_owned(), epoch: Epoch(2) };
        assert_eq!(table.handle(at(1), ONE, withdraw.clone()), Reply::Declined(Decline::Another));
        assert_eq!(table.handle(at(1), TWO, withdraw), Reply::Done);
        assert!(table.is_empty());
    }

    #[test]
    fn nobody_takes_the_place_of_another() {
        let mut table = Table::new(at(0));
        register(&mut table, at(0), ONE, entry("heat", 1));
        let forged = Entry { contact: ContactText("mine".to_owned()), ..entry("heat", 1) };
        assert_eq!(register(&mut table, at(0), TWO, forged), Reply::Declined(Decline::Another));
        assert_eq!(listed(&mut table, at(0), "heat").1, [entry("heat", 1)]);
    }

    #[test]
    fn a_place_says_whether_it_has_settled() {
        let mut table = Table::new(at(5));
        assert!(!listed(&mut table, at(6), "heat").0);
        assert!(listed(&mut table, at(7), "heat").0);
    }

    #[test]
    fn entries_of_a_link_of_a_name_and_of_all_are_bounded() {
        let mut table = Table::new(at(0));
        let declined = |table: &mut Table, guest, name: String, epoch| {
            let reply = register(table, at(0), GuestId(guest), entry(&name, epoch));
            if let Reply::Declined(decline) = reply { Some(decline) } else { None }
        };
        let ours = (0..=LIMIT_OF_GUEST as u128).filter_map(|n| declined(&mut table, 1, format!("n{n}"), n));
        assert_eq!(ours.collect::<Vec<_>>(), [Decline::GuestFull]);
        let same =
            (0..=LIMIT_OF_NAME as u128).filter_map(|n| declined(&mut table, 100 + n as u64, "x".into(), n));
        assert_eq!(same.collect::<Vec<_>>(), [Decline::NameFull]);
        let all = (0..=LIMIT_ENTRIES as u128)
            .find_map(|n| declined(&mut table, 1000 + n as u64, format!("m{n}"), n));
        assert_eq!((all, table.len()), (Some(Decline::Full), LIMIT_ENTRIES));
    }
}
