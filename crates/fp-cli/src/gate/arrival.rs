//! One who brings a stream.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fp_core::connection::{Connection, Incoming};
use fp_core::{Epoch, stream_name_fits};

use super::Gate;
use super::inflow::{Inflow, Offer, Reception};
use super::received::{Opened, Reading, Received};
use crate::crossing::{Note, VERSION, VERSION_PLAIN};
use crate::failure::Failure;
use crate::interrupt::NOTICE;
use crate::publisher_size::LIMIT_RANKS;

/// How long an offer, the end of who is refused, and what is still to be said are awaited.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why nothing more is taken over a connection.
enum Parting {
    /// It is no more: whoever brings the stream comes again.
    Lost(io::Error),
    /// It says or brings what cannot be.
    Wrong(String),
    /// The stream is not taken any more.
    Ended(Failure),
}

impl From<io::Error> for Parting {
    fn from(error: io::Error) -> Self {
        match error.kind() == io::ErrorKind::InvalidData {
            true => Self::Wrong(error.to_string()),
            false => Self::Lost(error),
        }
    }
}

/// Serves one connection to its end.
pub(super) fn serve(gate: &Arc<Gate>, connection: &Arc<Connection>) {
    if let Err(error) = offered(gate, connection)
        && !gate.is_over()
    {
        eprintln!("flexpath: {} is turned away: {error}", connection.peer());
    }
}

/// Hears the offer, and takes the stream.
fn offered(gate: &Arc<Gate>, connection: &Arc<Connection>) -> io::Result<()> {
    let Some(Note::Offer { version, stream, forward, subscribers }) = offer(connection)? else {
        return Err(invalid("it offers no stream"));
    };
    if !(VERSION_PLAIN..=VERSION).contains(&version) {
        let why = format!("it speaks versions up to {VERSION} with `flexpath forward`, and not {version}");
        return refuse(connection, &why, false);
    }
    let inflow = match gate.inflow(&stream) {
        Ok(inflow) => inflow,
        Err(why) => return refuse(connection, &why, false),
    };
    let offer = Offer { forward: &forward, subscribers, version };
    let (number, welcome) = match inflow.connect(&offer, connection, gate.options.reserve) {
        Ok(connected) => connected,
        Err(why) => return refuse(connection, &why, true),
    };
    let parted = thread::scope(|scope| {
        let telling = scope.spawn(|| tell(&inflow, connection, number, &welcome));
        let parted = take(gate, &inflow, connection, number);
        let is_last = inflow.disconnect(number, matches!(parted, Ok(true)));
        let began = Instant::now();
        while !telling.is_finished() && began.elapsed() < PATIENCE {
            thread::sleep(NOTICE / 8);
        }
        if !telling.is_finished() || matches!(parted, Err(Parting::Lost(_))) {
            connection.close();
        }
        parted.map(|has_ended| has_ended && is_last)
    });
    part(gate, &inflow, connection, parted)
}

/// Says what is to be said over a connection. One over which nothing can be said is closed: what was not said is told
/// over the next one.
fn tell(inflow: &Inflow, connection: &Connection, number: u64, welcome: &Note) {
    let mut told = welcome.tell(connection);
    while let (Ok(()), Some(note)) = (&told, inflow.next_note(number)) {
        told = note.tell(connection);
    }
    if told.is_err() {
        connection.close();
    }
}

/// Takes leave of who brought a stream.
fn part(
    gate: &Gate,
    inflow: &Arc<Inflow>,
    connection: &Connection,
    parted: Result<bool, Parting>,
) -> io::Result<()> {
    let (stream, peer) = (&inflow.stream, connection.peer());
    let told = |what: &str| {
        if !gate.is_over() {
            eprintln!("flexpath: stream {stream:?} {what}");
        }
    };
    match parted {
        Ok(false) => {
            told(&format!("is awaited: {peer} has closed the connection"));
            Ok(())
        }
        Ok(true) => {
            gate.forget(inflow);
            told("has ended");
            Ok(())
        }
        Err(Parting::Lost(error)) => {
            told(&format!("is awaited: {peer} is away: {error}"));
            Ok(())
        }
        Err(Parting::Wrong(why)) => {
            told(&format!("is not taken from {peer}: {why}"));
            refuse(connection, &why, false)
        }
        Err(Parting::Ended(failure)) => {
            inflow.give_up();
            gate.forget(inflow);
            let why = failure.to_string();
            told(&format!("is not taken any more: {why}"));
            gate.note_failure(failure);
            refuse(connection, &why, false)
        }
    }
}

/// Takes what comes; whether the stream has ended.
fn take(
    gate: &Arc<Gate>,
    inflow: &Arc<Inflow>,
    connection: &Connection,
    number: u64,
) -> Result<bool, Parting> {
    let (mut opened, mut is_packed) = (None, false);
    loop {
        match connection.incoming()? {
            None => return Ok(false),
            Some(Incoming::Note(bytes)) => match Note::read(&bytes)? {
                Note::Opening { next, ranks, begins_anew } => {
                    let checked = checked(next.epoch, ranks)?;
                    let run = (next.step, begins_anew);
                    in_time(inflow.open(gate, checked, run, number))?;
                    opened = Some(checked);
                }
                Note::Compressed => is_packed = true,
                Note::Answered { number, outcome } => inflow.answered(number, outcome),
                Note::Ended => {
                    inflow.end(Some(number)).map_err(Parting::Ended)?;
                    return hear_end(inflow, connection);
                }
                Note::Offer { .. }
                | Note::Welcome { .. }
                | Note::Refused { .. }
                | Note::Opened { .. }
                | Note::Taken(_)
                | Note::Wanted(_)
                | Note::Request(_)
                | Note::Subscribers(_) => {
                    return Err(invalid("it says what is not its to say").into());
                }
            },
            Some(_) => {
                let opened = opened.ok_or_else(|| invalid("a step came before its opening"))?;
                let how = Reading { opened, is_packed, limit_bytes: gate.options.memory.0 };
                // What is unpacked is in memory of its own.
                let spare = if is_packed { &Arc::default() } else { &inflow.spare };
                let received = Received::read(connection, &how, spare)?;
                in_time(inflow.publish(gate, received, opened, number))?;
            }
        }
    }
}

/// Who brought a stream says once more that it has ended, when it has heard that it has here: then it has. If the way is cut
/// before, it comes again. Requests may still be answered.
fn hear_end(inflow: &Inflow, connection: &Connection) -> Result<bool, Parting> {
    loop {
        let Some(incoming) = connection.incoming()? else { return Ok(false) };
        let note = if let Incoming::Note(bytes) = incoming { Some(Note::read(&bytes)?) } else { None };
        match note {
            Some(Note::Ended) => return Ok(true),
            Some(Note::Answered { number, outcome }) => inflow.answered(number, outcome),
            _ => return Err(Parting::Wrong("it goes on behind its end".to_owned())),
        }
    }
}

/// Over a connection that another one has replaced nothing is taken.
fn in_time(received: Result<Reception, Failure>) -> Result<(), Parting> {
    match received.map_err(Parting::Ended)? {
        Reception::Handed => Ok(()),
        Reception::Late => {
            let why = "another connection has taken its place";
            Err(Parting::Lost(io::Error::new(io::ErrorKind::ConnectionAborted, why)))
        }
    }
}

fn checked(epoch: Epoch, ranks: u32) -> io::Result<Opened> {
    match (1..=LIMIT_RANKS).contains(&ranks) {
        true => Ok(Opened { epoch, ranks }),
        false => {
            let why = format!("its stream has {ranks} ranks, and {LIMIT_RANKS} at most are published");
            Err(invalid(&why))
        }
    }
}

/// What it says first.
fn offer(connection: &Connection) -> io::Result<Option<Note>> {
    let began = Instant::now();
    match connection.incoming_until(&|| began.elapsed() >= PATIENCE)? {
        None => Ok(None),
        Some(Incoming::Note(bytes)) => Note::read(&bytes).map(Some),
        Some(_) => Err(invalid("it sends bytes before it offers a stream")),
    }
}

/// Says why not, and leaves it for a while to the other end to close.
fn refuse(connection: &Connection, why: &str, again: bool) -> io::Result<()> {
    Note::Refused { why: why.to_owned(), again }.tell(connection)?;
    let began = Instant::now();
    let is_over = || began.elapsed() >= PATIENCE;
    // It would not hear that if what it sent before were not read.
    while !is_over()
        && let Some(incoming) = connection.incoming_until(&is_over)?
    {
        if incoming == Incoming::Bytes {
            io::Read::read(&mut &*connection, &mut vec![0; 64 << 10])?;
        }
    }
    Ok(())
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Whether a stream may have that name.
pub(super) fn name_fits(stream: &str) -> bool {
    !stream.contains(['*', '?']) && stream_name_fits(stream, stream)
}
