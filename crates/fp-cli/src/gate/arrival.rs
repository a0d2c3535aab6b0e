//! One who brings a stream.

use std::io;
use std::sync::Arc;
use std::thread;

use fp_core::connection::{Connection, Incoming};
use fp_core::{Epoch, stream_name_fits};

use super::Gate;
use super::inflow::{Inflow, Taker};
use super::received::{Opened, Received};
use crate::crossing::{Note, VERSION};
use crate::failure::Failure;
use crate::publisher_size::LIMIT_RANKS;

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
pub(super) fn serve(gate: &Arc<Gate>, connection: Connection) {
    let connection = Arc::new(connection);
    if let Err(error) = offered(gate, &connection)
        && !gate.is_over()
    {
        eprintln!("flexpath: {} is turned away: {error}", connection.peer());
    }
}

/// Hears the offer, and takes the stream.
fn offered(gate: &Arc<Gate>, connection: &Arc<Connection>) -> io::Result<()> {
    let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let Some(Note::Offer { version, stream, forward, subscribers }) = note(connection)? else {
        return Err(invalid("it offers no stream"));
    };
    if version != VERSION {
        let why = format!("it speaks version {VERSION} with `flexpath forward`, and not {version}");
        return refuse(connection, &why, false);
    }
    let inflow = match gate.inflow(&stream) {
        Ok(inflow) => inflow,
        Err(why) => return refuse(connection, &why, false),
    };
    let (number, welcome) = match inflow.connect(&forward, connection, gate.options.reserve) {
        Ok(connected) => connected,
        Err(Taker(peer)) => {
            let why = format!("stream {stream:?} is brought by another already, from {peer}");
            return refuse(connection, &why, true);
        }
    };
    let parted = thread::scope(|scope| {
        let told = scope.spawn(|| -> io::Result<()> {
            welcome.tell(connection)?;
            while let Some(note) = inflow.next_note(number) {
                note.tell(connection)?;
            }
            Ok(())
        });
        let parted = take(gate, &inflow, connection, subscribers);
        inflow.disconnect(number);
        // What it could not tell is told over the next connection.
        let _ = told.join();
        parted
    });
    part(gate, &inflow, connection, parted)
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
    subscribers: u32,
) -> Result<bool, Parting> {
    let mut opened: Option<Opened> = None;
    loop {
        match connection.incoming()? {
            None => return Ok(false),
            Some(Incoming::Note(bytes)) => match Note::read(&bytes)? {
                Note::Opening { next, ranks } => {
                    let checked = checked(next.epoch, ranks)?;
                    inflow.open(gate, checked, next.step, subscribers).map_err(Parting::Ended)?;
                    opened = Some(checked);
                }
                Note::Ended => {
                    inflow.end().map_err(Parting::Ended)?;
                    // It closes when it has heard that; if the way is cut before, it says once more that it has ended.
                    return match connection.incoming()? {
                        None => Ok(true),
                        Some(_) => Err(Parting::Wrong("it goes on behind its end".to_owned())),
                    };
                }
                Note::Offer { .. }
                | Note::Welcome { .. }
                | Note::Refused { .. }
                | Note::Taken(_)
                | Note::Subscribers(_) => {
                    return Err(
                        io::Error::new(io::ErrorKind::InvalidData, "it says what is not its to say").into()
                    );
                }
            },
            Some(_) => {
                let without = || io::Error::new(io::ErrorKind::InvalidData, "a step came before its opening");
                let opened = opened.ok_or_else(without)?;
                let received = Received::read(connection, opened, gate.options.memory.0, &inflow.spare)?;
                inflow.publish(gate, received, opened, subscribers).map_err(Parting::Ended)?;
            }
        }
    }
}

fn checked(epoch: Epoch, ranks: u32) -> io::Result<Opened> {
    match (1..=LIMIT_RANKS).contains(&ranks) {
        true => Ok(Opened { epoch, ranks }),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("its stream has {ranks} ranks, and {LIMIT_RANKS} at most are published"),
        )),
    }
}

/// The next note.
fn note(connection: &Connection) -> io::Result<Option<Note>> {
    match connection.incoming()? {
        None => Ok(None),
        Some(Incoming::Note(bytes)) => Note::read(&bytes).map(Some),
        Some(_) => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it sends bytes before it offers a stream"))
        }
    }
}

/// Says why not, and leaves it to the other end to close.
fn refuse(connection: &Connection, why: &str, again: bool) -> io::Result<()> {
    Note::Refused { why: why.to_owned(), again }.tell(connection)?;
    while let Some(incoming) = connection.incoming()? {
        if incoming == Incoming::Bytes {
            // What was on its way when that was said.
            io::Read::read(&mut &*connection, &mut vec![0; 64 << 10])?;
        }
    }
    Ok(())
}

/// Whether a stream may have that name.
pub(super) fn name_fits(stream: &str) -> bool {
    !stream.contains(['*', '?']) && stream_name_fits(stream, stream)
}
