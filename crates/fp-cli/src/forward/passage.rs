//! The connection to the gate, while there is one: a thread hears what the gate says.

use std::io::{self, BufWriter, Write as _};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fp_core::connection::{Connection, Incoming};
use fp_core::{Compression, StepReader, VariableInfo, VariableSet};
use fp_spool::{BlockHead, OpenRecord};

use super::errands::Errands;
use super::held::{Held, Other};
use super::paced::Paced;
use super::selecting;
use super::sent::Sent;
use crate::crossing::{self, Note, VERSION, VERSION_PLAIN, VERSION_RUNS, VERSION_SELECTED};
use crate::failure::Failure;
use crate::recorded_step;

/// Bytes of small parts that are sent together.
const GATHERED_BYTES: usize = 64 << 10;

/// How long a gate may take to answer an offer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no passage.
pub(super) enum Barred {
    /// It may be another time.
    Passing(String),
    /// The gate does not take the stream, or not in this version.
    Refused(String),
    /// It stays so.
    Lasting(Failure),
}

/// Whose stream is offered.
pub(super) struct Offer<'a> {
    pub(super) stream: &'a str,
    /// This process.
    pub(super) forward: &'a str,
    /// How its blocks are compressed.
    pub(super) compression: Option<Compression>,
    /// Whether all variables cross in any case.
    pub(super) is_whole: bool,
}

/// A connection over which the gate has taken the offer.
pub(super) struct Passage {
    connection: Arc<Connection>,
    version: u32,
    hearing: Option<JoinHandle<()>>,
    compression: Option<Compression>,
    /// How many it keeps in any case.
    pub(super) reserve: u32,
}

/// Why a step was not sent.
pub(super) enum Unsent {
    /// The step cannot be read.
    Read(Failure),
    /// The way is cut.
    Cut(io::Error),
}

impl Passage {
    /// Offers the stream over a new connection.
    pub(super) fn open(
        connection: Connection,
        (offer, version): (&Offer<'_>, u32),
        (held, errands): (&Arc<Held>, &Arc<Errands>),
        is_over: impl Fn() -> bool + Send + 'static,
    ) -> Result<Self, Barred> {
        let cut = |error: io::Error| Barred::Passing(error.to_string());
        let nonsense = |error: io::Error| match error.kind() == io::ErrorKind::InvalidData {
            true => Barred::Lasting(Failure::Gate(error.to_string())),
            false => cut(error),
        };
        let offered = Note::Offer {
            version,
            stream: offer.stream.to_owned(),
            forward: offer.forward.to_owned(),
            subscribers: held.subscribers(),
        };
        offered.tell(&connection).map_err(cut)?;
        let began = Instant::now();
        let (has, pending, reserve, wanted) =
            match hear(&connection, &|| is_over() || began.elapsed() >= PATIENCE).map_err(nonsense)? {
                Some(Note::Welcome { has, pending, reserve, wanted }) => (has, pending, reserve, wanted),
                Some(Note::Refused { why, again: true }) => return Err(Barred::Passing(why)),
                Some(Note::Refused { why, again: false }) => return Err(Barred::Refused(why)),
                Some(_) => {
                    let why = "it answers an offer with something else; is it a gate of another version?";
                    return Err(Barred::Lasting(Failure::Gate(why.to_owned())));
                }
                None => return Err(Barred::Passing("it closed the connection".to_owned())),
            };
        if offer.compression.is_some() {
            Note::Compressed.tell(&connection).map_err(cut)?;
        }
        held.note_wanted(wanted);
        held.connected(has, &pending);
        let connection = Arc::new(connection);
        let (of_thread, told, errands) = (connection.clone(), held.clone(), errands.clone());
        let hearing = thread::Builder::new()
            .name("hear the gate".to_owned())
            .spawn(move || {
                let other = follow(&of_thread, (&told, &errands), &is_over);
                if other != Other::Ended {
                    // Who sends need not wait for one who is heard no more.
                    of_thread.close();
                }
                told.note_other(other);
            })
            .map_err(|error| Barred::Passing(error.to_string()))?;
        let compression = offer.compression;
        Ok(Self { connection, version, hearing: Some(hearing), compression, reserve })
    }

    /// Whether the gate is told when a run begins anew, and answers.
    pub(super) fn hears_of_runs(&self) -> bool {
        self.version >= VERSION_RUNS
    }

    /// Whether the gate knows what an answer to a request is.
    pub(super) fn hears_answers(&self) -> bool {
        self.version >= VERSION
    }

    /// Says something.
    pub(super) fn tell(&self, note: &Note) -> io::Result<()> {
        note.tell(&self.connection)
    }

    /// Sends these variables of a step, with their blocks as they lie in the publisher's memory.
    pub(super) fn send(
        &self,
        step: &StepReader,
        wanted: &VariableSet,
        paced: &mut Paced,
    ) -> Result<Sent, Unsent> {
        let read = |error| Unsent::Read(Failure::from(error));
        let variables = selecting::crossing(step, wanted).map_err(Unsent::Read)?;
        let head = recorded_step::head(step, &variables).map_err(Unsent::Read)?;
        let cut = |error: fp_spool::SpoolError| Unsent::Cut(io::Error::other(error));
        let mut out = BufWriter::with_capacity(GATHERED_BYTES, paced.over(&self.connection));
        let mut record = OpenRecord::begin(&mut out, &head).map_err(cut)?;
        let mut data_bytes = 0;
        for (block, name, select) in recorded_step::all_blocks(step, &variables).map_err(Unsent::Read)? {
            let (_, bytes) = step.view_bytes(name, select).map_err(read)?;
            data_bytes += bytes.len() as u64;
            let packed = self.packed(&variables, &block, &bytes)?;
            record.block(&block, packed.as_deref().unwrap_or(&bytes)).map_err(cut)?;
        }
        let crossed_bytes = record.end().map_err(cut)?;
        out.flush().map_err(Unsent::Cut)?;
        Ok(Sent { data_bytes, crossed_bytes })
    }
}

impl Passage {
    /// A block as it crosses, if that is another than it is.
    fn packed(
        &self,
        variables: &[VariableInfo],
        block: &BlockHead,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Unsent> {
        let of = variables.get(block.variable as usize);
        let (Some(by), Some(of)) = (self.compression, of) else { return Ok(None) };
        let packed = crossing::pack(by, &of.def, bytes);
        packed.map(Some).map_err(|error| Unsent::Read(Failure::Gate(error.to_string())))
    }
}

impl Offer<'_> {
    /// The versions in which it is made, the best one first. In the last one all that was asked for can be said: so older
    /// gates take what they can.
    pub(super) fn versions(&self) -> [u32; 3] {
        let is_plain = self.is_whole && self.compression.is_none();
        [VERSION, VERSION_RUNS, if is_plain { VERSION_PLAIN } else { VERSION_SELECTED }]
    }
}

/// What the gate says, until it says no more.
fn follow(
    connection: &Connection,
    (held, errands): (&Held, &Arc<Errands>),
    is_over: &dyn Fn() -> bool,
) -> Other {
    loop {
        match hear(connection, is_over) {
            Ok(Some(Note::Taken(mark))) if held.taken(mark) => {}
            Ok(Some(Note::Taken(mark))) => {
                return Other::Refuses(format!(
                    "it says that step {} was taken, and never got it",
                    mark.step
                ));
            }
            Ok(Some(Note::Request(request))) => errands.run(request),
            Ok(Some(Note::Opened { epoch })) => held.note_opened(epoch),
            Ok(Some(Note::Subscribers(count))) => held.note_subscribers(count),
            Ok(Some(Note::Wanted(wanted))) if wanted.fits() => held.note_wanted(wanted),
            Ok(Some(Note::Wanted(_))) => {
                return Other::Refuses("it asks for more variables than there can be".to_owned());
            }
            Ok(Some(Note::Refused { why, again: false })) => return Other::Refuses(why),
            Ok(Some(Note::Refused { why, again: true })) => return Other::Cut(why),
            Ok(None) => return Other::Cut("it closed the connection".to_owned()),
            Err(error) => return Other::Cut(error.to_string()),
            Ok(Some(Note::Ended)) if held.all_taken() => return Other::Ended,
            Ok(Some(Note::Ended)) => {}
            #[rustfmt::skip]
            Ok(Some(
                Note::Offer { .. } | Note::Welcome { .. } | Note::Compressed | Note::Opening { .. }
                | Note::Answered { .. },
            )) => {
                return Other::Refuses("it says what is not its to say".to_owned());
            }
        }
    }
}

/// The next note; a gate sends no bytes.
fn hear(connection: &Connection, is_over: &dyn Fn() -> bool) -> io::Result<Option<Note>> {
    match connection.incoming_until(is_over)? {
        None => Ok(None),
        Some(Incoming::Note(note)) => Note::read(&note).map(Some),
        Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "a gate sends no bytes")),
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.connection.close();
        if let Some(hearing) = self.hearing.take() {
            // It has said why it ended.
            let _ = hearing.join();
        }
    }
}
