//! What processes have told one another over tcp, as the system counts it for each connection: `ss` prints that.

use std::collections::BTreeMap;
use std::process::Command;

/// Bytes by sender and receiver.
pub(crate) struct Traffic(BTreeMap<(u32, u32), u64>);

impl Traffic {
    /// Up to now. Nothing where `ss` is not there, or knows no counts.
    pub(crate) fn now() -> Option<Self> {
        let asked = Command::new("ss").args(["-tinpHO", "state", "established"]).output().ok()?;
        let text = String::from_utf8(asked.stdout).ok().filter(|_| asked.status.success())?;
        let ends: Vec<End<'_>> = text.lines().filter_map(End::read).collect();
        let owners: BTreeMap<&str, u32> = ends.iter().map(|end| (end.here, end.owner)).collect();
        let mut bytes = BTreeMap::new();
        for end in &ends {
            if let Some(sender) = owners.get(end.there) {
                *bytes.entry((*sender, end.owner)).or_default() += end.received_bytes;
            }
        }
        (!bytes.is_empty()).then_some(Self(bytes))
    }

    /// Bytes that a process has had in all, from anybody.
    pub(crate) fn to(&self, receiver: u32) -> u64 {
        self.0.iter().filter(|((_, owner), _)| *owner == receiver).map(|(_, bytes)| bytes).sum()
    }

    /// Bytes that any of the receivers had from any of the senders since then.
    pub(crate) fn since(&self, before: &Self, senders: &[u32], receivers: &[u32]) -> f64 {
        let wanted =
            |(sender, receiver): &(u32, u32)| senders.contains(sender) && receivers.contains(receiver);
        let sum =
            |of: &Self| of.0.iter().filter(|(pair, _)| wanted(pair)).map(|(_, bytes)| bytes).sum::<u64>();
        sum(self) as f64 - sum(before) as f64
    }
}

/// One end of a connection.
struct End<'l> {
    here: &'l str,
    there: &'l str,
    owner: u32,
    received_bytes: u64,
}

impl<'l> End<'l> {
    fn read(line: &'l str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(2);
        let (here, there) = (words.next()?, words.next()?);
        let owner = line.split_once("pid=")?.1.split(|letter: char| !letter.is_ascii_digit()).next()?;
        let counted = words.find_map(|word| word.strip_prefix("bytes_received:"));
        // What has received nothing has no such word.
        let received_bytes = counted.map_or(Some(0), |number| number.parse().ok())?;
        Some(Self { here, there, owner: owner.parse().ok()?, received_bytes })
    }
}
