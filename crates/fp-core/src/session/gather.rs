//! A cohort comes together through its launcher's collectives: one record of each rank, gathered by all.
//!
//! A record is 512 bytes, little-endian. It has, with the number of bytes of each:
//!
//! * magic (8), version (1), state (1: 0 ready, 1 failed), role (1: 1 publisher, 2 subscriber)
//! * whether it says a first step (1: 0 or 1)
//! * rank (4), size (4), epoch (16)
//! * hash of the stream's name (8), its length (2), the text's length (2), the name's first 64 bytes
//! * the number of the first step or 0 (8), 392 bytes of text: the rank's contact, or why it failed
//!
//! A rank that cannot open gives its record all the same: others would wait for it in the collective for ever.

use crate::coordinator::Setup;
use crate::error::OpenError;
use crate::error::gather::GatherError;
use crate::options::link::LinkOptions;
use crate::value::collectives::SharedCollectives;
use fp_proto::config::{CohortPosition, ContactText};
use fp_proto::tree;
use fp_transport::Contact;
use fp_types::{Epoch, Rank};

/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = 512;

const MAGIC: [u8; 8] = *b"FLXPGATH";

const VERSION: u8 = 2;

const NAME_BYTES: usize = 64;

const NAME_AT: usize = 48;

const FIRST_AT: usize = NAME_AT + NAME_BYTES;

const TEXT_AT: usize = FIRST_AT + 8;

/// Which side of a stream a rank opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Publisher = 1,
    Subscriber = 2,
}

/// What one rank tells all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    side: Side,
    rank: Rank,
    size: u32,
    epoch: Epoch,
    /// Hash, length and beginning of the stream's name.
    name: (u64, u16, String),
    /// The number of the first step, if it says one.
    first_step: Option<u64>,
    /// The contact, or why the rank cannot open.
    contact: Result<String, String>,
}

/// The exchange of one opening.
pub(crate) struct Gathering {
    collectives: SharedCollectives,
    rank: Rank,
    size: u32,
    side: Side,
    stream: String,
    first_step: Option<u64>,
}

/// What a rank that is ready tells.
pub(crate) struct Ready {
    pub(crate) contact: Contact,
    pub(crate) epoch: Epoch,
}

impl Ready {
    pub(crate) fn of((setup, epoch): &(Setup, Epoch)) -> Self {
        Self { contact: setup.contact.clone(), epoch: *epoch }
    }
}

/// What every rank knows afterwards.
pub(crate) struct Gathered {
    records: Vec<Record>,
    rank: Rank,
}

/// The other ranks learn that this one cannot open, and why.
pub(crate) fn decline(link: &LinkOptions, why: &str) {
    if let Some(gathering) = Gathering::of(link, "", Side::Publisher) {
        // That it declines is its own error's matter; what the others do is known.
        let _ = gathering.gather(Err(why.to_owned()));
    }
}

impl Gathering {
    /// The exchange, if the options have collectives.
    pub(crate) fn of(link: &LinkOptions, stream: &str, side: Side) -> Option<Self> {
        let collectives = link.collectives.clone()?;
        let (rank, size) = (link.cohort.rank(), link.cohort.size());
        Some(Self { collectives, rank, size, side, stream: stream.to_owned(), first_step: None })
    }

    /// The same, of a publisher that says the number of its first step.
    pub(crate) fn with_first_step(self, first_step: Option<u64>) -> Self {
        Self { first_step, ..self }
    }

    pub(crate) fn is_lead(&self) -> bool {
        self.rank == Rank(0)
    }

    /// Gives what became of this rank's part, and learns what became of the others'. The own error comes first.
    pub(crate) fn exchange<T>(
        &self,
        own: Result<T, OpenError>,
        ready: impl FnOnce(&T) -> Ready,
    ) -> Result<(T, Gathered), OpenError> {
        let offer = own.as_ref().map(ready).map_err(ToString::to_string);
        let gathered = self.gather(offer);
        let own = own?;
        let records = gathered.map_err(|source| self.error(source))?;
        Ok((own, Gathered { records, rank: self.rank }))
    }

    pub(crate) fn error(&self, source: GatherError) -> OpenError {
        OpenError::Gather { stream: self.stream.clone(), rank: self.rank, source }
    }

    /// Both collectives, whatever happens: the others are in them, or will be.
    fn gather(&self, offer: Result<Ready, String>) -> Result<Vec<Record>, GatherError> {
        let own = self.record(offer);
        let all = self.collectives.inner().allgather(&own.encode());
        // A rank that has what it needs calls MPI no more while it opens. What is still on its way to others may move
        // only inside such calls.
        let passed = self.collectives.inner().barrier();
        let failed = |collective| move |source| GatherError::Collective { collective, source };
        let all = all.map_err(failed("allgather"))?;
        passed.map_err(failed("barrier"))?;
        self.check(&own, &all)
    }

    fn record(&self, offer: Result<Ready, String>) -> Record {
        let epoch = offer.as_ref().map_or(Epoch(0), |ready| ready.epoch);
        let contact = offer.map(|ready| ready.contact.to_string()).and_then(|contact| {
            let len = contact.len();
            let fits = len <= RECORD_BYTES - TEXT_AT;
            fits.then_some(contact).ok_or_else(|| format!("its contact has {len} bytes, too many to gather"))
        });
        let name = (hash(&self.stream), self.stream.len() as u16, cut(&self.stream, NAME_BYTES).to_owned());
        let Self { side, rank, size, first_step, .. } = *self;
        Record { side, rank, size, epoch, name, first_step, contact }
    }

    fn check(&self, own: &Record, all: &[u8]) -> Result<Vec<Record>, GatherError> {
        let (size, expected) = (self.size, self.size as usize * RECORD_BYTES);
        if all.len() != expected {
            let found = all.len();
            return Err(GatherError::WrongLen { found, expected, size, record_bytes: RECORD_BYTES });
        }
        let records = (0..size).map(Rank).zip(all.chunks_exact(RECORD_BYTES));
        let decode = |(at, bytes)| Record::decode(bytes).map_err(|what| GatherError::NoRecord { at, what });
        let records = records.map(decode).collect::<Result<Vec<Record>, GatherError>>()?;
        let placed = || (0..size).map(Rank).zip(&records);
        placed().try_for_each(|(at, record)| record.check_place(at))?;
        if let Some((failed, why)) =
            placed().find_map(|(at, record)| Some((at, record.contact.as_ref().err()?)))
        {
            return Err(GatherError::RankFailed { failed, why: why.clone() });
        }
        placed().try_for_each(|(at, record)| record.check_same(at, own))?;
        Ok(records)
    }
}

impl Gathered {
    /// Where this rank hangs in the tree; nothing is known of the lead's own place but that it is the lead. Each rank
    /// gets its parent's contact, so that the lead accepts sixteen links and not one from each rank.
    pub(crate) fn position(&self) -> CohortPosition {
        let of = |rank: Rank| self.records.get(rank.0 as usize);
        let parent = tree::parent(self.rank, tree::DEFAULT_FAN_OUT).and_then(of);
        match (parent, of(Rank(0))) {
            (Some(parent), Some(lead)) => {
                CohortPosition::Under { parent: ContactText(parent.text()), epoch: lead.epoch }
            }
            _ => CohortPosition::Gathered,
        }
    }

    /// How many ranks gave their records.
    pub(crate) fn size(&self) -> u32 {
        u32::try_from(self.records.len()).unwrap_or(u32::MAX)
    }
}

impl Record {
    fn text(&self) -> String {
        let (Ok(text) | Err(text)) = &self.contact;
        text.clone()
    }

    fn encode(&self) -> Vec<u8> {
        let (hash, name_len, name) = &self.name;
        let text = self.text();
        let text = cut(&text, RECORD_BYTES - TEXT_AT);
        let mut bytes = Vec::with_capacity(RECORD_BYTES);
        bytes.extend(MAGIC);
        let (failed, says_first) = (self.contact.is_err(), self.first_step.is_some());
        bytes.extend([VERSION, u8::from(failed), self.side as u8, u8::from(says_first)]);
        bytes.extend(self.rank.0.to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes.extend(self.epoch.0.to_le_bytes());
        bytes.extend(hash.to_le_bytes());
        bytes.extend(name_len.to_le_bytes());
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(FIRST_AT, 0);
        bytes.extend(self.first_step.unwrap_or(0).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(RECORD_BYTES, 0);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let mut rest = bytes;
        if take(&mut rest) != Some(MAGIC) {
            return Err("it does not begin like one");
        }
        let [version, failed, side, says_first] = take(&mut rest).ok_or("it is too short")?;
        if version != VERSION {
            return Err("it is of another version of Flexpath");
        }
        let side = match side {
            1 => Side::Publisher,
            2 => Side::Subscriber,
            _ => return Err("it opens neither side of a stream"),
        };
        let rank = Rank(u32::from_le_bytes(take(&mut rest).ok_or("it has no rank")?));
        let size = u32::from_le_bytes(take(&mut rest).ok_or("it has no size")?);
        let epoch = Epoch(u128::from_le_bytes(take(&mut rest).ok_or("it has no epoch")?));
        let hash = u64::from_le_bytes(take(&mut rest).ok_or("it has no name")?);
        let name_len = u16::from_le_bytes(take(&mut rest).ok_or("it has no name")?);
        let text_len = u16::from_le_bytes(take(&mut rest).ok_or("it has no text")?);
        let mut first = bytes.get(FIRST_AT..).ok_or("it has no first step")?;
        let first = u64::from_le_bytes(take(&mut first).ok_or("it has no first step")?);
        let first_step = (says_first != 0).then_some(first);
        let name =
            text(bytes, NAME_AT, usize::from(name_len).min(NAME_BYTES)).ok_or("its name is no text")?;
        let text = text(bytes, TEXT_AT, text_len.into()).ok_or("its contact is no text")?;
        let contact = if failed == 0 { Ok(text) } else { Err(text) };
        let name = (hash, name_len, name);
        Ok(Self { side, rank, size, epoch, name, first_step, contact })
    }

    /// Whether it is the record of rank `at`.
    fn check_place(&self, at: Rank) -> Result<(), GatherError> {
        if self.rank == at { Ok(()) } else { Err(GatherError::Misplaced { at, found: self.rank }) }
    }

    /// Whether its rank, `at`, opens what we open.
    fn check_same(&self, at: Rank, own: &Record) -> Result<(), GatherError> {
        let same =
            |record: &Record| (record.side, record.size, record.name.0, record.name.1, record.first_step);
        if same(self) != same(own) {
            return Err(GatherError::Disagree { rank: at, theirs: self.opens(), ours: own.opens() });
        }
        Ok(())
    }

    fn opens(&self) -> String {
        let (_, len, name) = &self.name;
        let more = if usize::from(*len) > name.len() { "..." } else { "" };
        let side = match self.side {
            Side::Publisher => "publisher",
            Side::Subscriber => "subscriber",
        };
        let first = self.first_step.map(|step| format!(", from step {step} on")).unwrap_or_default();
        format!("the stream \"{name}{more}\" as a {side} of {}{first}", self.size)
    }
}

/// A record as it is written after it was read, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn said_again(bytes: &[u8]) -> Option<Vec<u8>> {
    Record::decode(bytes).ok().map(|record| record.encode())
}

/// A record of a lead, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn sample() -> Vec<u8> {
    let name = (hash("heat"), 4, "heat".to_owned());
    let contact = Ok("flexpath:1,tcp=192.0.2.7:4000".to_owned());
    let (side, first_step) = (Side::Publisher, Some(7));
    Record { side, rank: Rank(0), size: 3, epoch: Epoch(7), name, first_step, contact }.encode()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

fn text(bytes: &[u8], at: usize, len: usize) -> Option<String> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

/// As much of a text as fits, in whole letters.
fn cut(text: &str, limit_bytes: usize) -> &str {
    let end = (0..=limit_bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// FNV-1a: the same in every build, unlike the standard library's.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

impl LinkOptions {
    /// Takes part in the collectives of an opening that this rank cannot do, and tells the other ranks why: they would
    /// wait for it there. Does nothing where there are no collectives.
    pub fn decline(&self, why: &str) {
        decline(self, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(rank: u32, contact: Result<&str, &str>) -> Record {
        Record {
            side: Side::Publisher,
            rank: Rank(rank),
            size: 3,
            epoch: Epoch(7),
            name: (hash("heat"), 4, "heat".to_owned()),
            first_step: (rank == 1).then_some(7),
            contact: contact.map(str::to_owned).map_err(str::to_owned),
        }
    }

    #[test]
    fn a_record_comes_back_as_it_went() {
        for record in [record(1, Ok("flexpath:1,...")), record(2, Err("no room – none"))] {
            assert_eq!(record.encode().len(), RECORD_BYTES);
            assert_eq!(Record::decode(&record.encode()), Ok(record));
        }
        let long = "ü".repeat(400);
        let cut = Record::decode(&record(0, Err(&long)).encode()).expect("it can be read");
        assert_eq!(cut.contact, Err("ü".repeat(196)));
    }

    #[test]
    fn a_record_with_bytes_that_are_no_text_is_none() {
        let sound = record(1, Ok("flexpath:1,...")).encode();
        for (at, expected) in [(NAME_AT, "its name is no text"), (TEXT_AT, "its contact is no text")] {
            let mut bytes = sound.clone();
            bytes[at] = 0xff;
            assert_eq!(Record::decode(&bytes), Err(expected));
        }
    }

    #[test]
    fn who_differs_is_named_with_what_it_opens() {
        let own = record(0, Ok("x"));
        let other = Record { name: (hash("cold"), 4, "cold".to_owned()), ..record(1, Ok("x")) };
        let complaint = other.check_same(Rank(1), &own).expect_err("another stream").to_string();
        let expected = "rank 1 opens the stream \"cold\" as a publisher of 3, from step 7 on, this rank the stream \"heat\" as a publisher of 3";
        assert_eq!(complaint, expected);
        assert!(matches!(
            record(2, Ok("x")).check_place(Rank(1)),
            Err(GatherError::Misplaced { at: Rank(1), found: Rank(2) })
        ));
    }

    proptest! {
        #[test]
        fn nothing_that_comes_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), intact in any::<bool>()) {
            let mut bytes = bytes;
            if intact {
                bytes.splice(0..bytes.len().min(11), [MAGIC.as_slice(), &[VERSION, 0, 1]].concat());
            }
            let _ = Record::decode(&bytes);
        }
    }
}
