//! A double of SAVIME: a server on loopback that takes its messages, strictly in order, and keeps what it is sent.
//!
//! What it does not do: queries other than those of the sink. Where it is told so, it stalls, closes, or answers wrong.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

const HEADER_BYTES: usize = 298;

/// What it does to a query with these words in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It never answers.
    Stall(&'static str),
    /// It closes the connection when the first half of the parameter has come.
    Close(&'static str),
    /// It does nothing, and says this.
    Say(&'static str, &'static str),
    /// It sends bytes that are no message.
    Babble(&'static str),
    /// It sends one text after another, and no end.
    Drip(&'static str),
    /// It sends a block without a byte in the midst of others.
    Hollow(&'static str),
    /// It sends so many bytes.
    Flood(&'static str, usize),
}

/// The bounds of a part of an array, and its bytes.
type Subtar = (Vec<(i64, i64)>, Vec<u8>);

/// An array by step and dimensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tar {
    /// Names with their lowest and highest index.
    pub(crate) dimensions: Vec<(String, i64, i64)>,
    pub(crate) attribute: String,
    pub(crate) dtype: String,
    pub(crate) subtars: Vec<Subtar>,
}

/// What it keeps.
#[derive(Debug, Default)]
pub(crate) struct Database {
    pub(crate) datasets: BTreeMap<String, (String, Vec<u8>)>,
    pub(crate) tars: BTreeMap<String, Tar>,
    pub(crate) connections: i32,
    queries: i32,
    /// What clients did wrong.
    pub(crate) wrong: Vec<String>,
    /// Every query that was answered.
    pub(crate) asked: Vec<String>,
}

/// The server.
pub(crate) struct Double {
    pub(crate) place: String,
    database: Arc<Mutex<Database>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Double {
    pub(crate) fn start(fault: Fault) -> Self {
        Self::with(fault, Database::default())
    }

    /// One that has something already.
    pub(crate) fn with(fault: Fault, database: Database) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        let (database, open) = (Arc::new(Mutex::new(database)), Arc::new(Mutex::new(Vec::new())));
        let (shared, streams) = (Arc::clone(&database), Arc::clone(&open));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                streams.lock().unwrap().push(stream.try_clone().unwrap());
                let (shared, fault) = (Arc::clone(&shared), fault.clone());
                thread::spawn(move || {
                    let mut visit = Visit { stream, database: shared, fault, client: 0, query: 0, taken: 0 };
                    if let Err(why) = visit.serve() {
                        visit.database.lock().unwrap().wrong.push(why);
                        let _ = visit.stream.shutdown(Shutdown::Both);
                    }
                });
            }
        });
        Self { place, database, open }
    }

    pub(crate) fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap()
    }

    /// The values of a region of a TAR; none if not all of its cells are there.
    pub(crate) fn region(&self, tar: &str, bounds: &[(i64, i64)]) -> Option<Vec<u8>> {
        let database = self.database();
        let tar = database.tars.get(tar)?;
        let size = size_of(&tar.dtype)?;
        let cells = points(bounds).into_iter().map(|point| {
            let has = |bounds: &[(i64, i64)]| {
                bounds.iter().zip(&point).all(|((low, high), at)| low <= at && at <= high)
            };
            let (bounds, bytes) = tar.subtars.iter().find(|(bounds, _)| has(bounds))?;
            let place = bounds
                .iter()
                .zip(&point)
                .fold(0, |place, ((low, high), at)| place * (high - low + 1) + at - low);
            bytes.get(place as usize * size..(place as usize + 1) * size)
        });
        Some(cells.collect::<Option<Vec<&[u8]>>>()?.concat())
    }

    /// Everything that it keeps, for another that is to go on with it.
    pub(crate) fn taken(&self) -> Database {
        std::mem::take(&mut self.database())
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        for stream in self.open.lock().unwrap().iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// The points of a region, the last dimension fastest.
fn points(bounds: &[(i64, i64)]) -> Vec<Vec<i64>> {
    bounds.iter().fold(vec![Vec::new()], |points, (low, high)| {
        let next = |point: Vec<i64>| (*low..=*high).map(move |at| [point.clone(), vec![at]].concat());
        points.into_iter().flat_map(next).collect()
    })
}

fn size_of(dtype: &str) -> Option<usize> {
    match dtype {
        "int" | "float" => Some(4),
        "long" | "double" => Some(8),
        _ => None,
    }
}

/// A message that came.
struct Message {
    kind: u32,
    name: String,
    payload: Vec<u8>,
}

/// One connection.
struct Visit {
    stream: TcpStream,
    database: Arc<Mutex<Database>>,
    fault: Fault,
    client: i32,
    query: i32,
    /// How many messages came.
    taken: i32,
}

impl Visit {
    fn serve(&mut self) -> Result<(), String> {
        self.expect(0)?;
        self.client = {
            let mut database = self.database.lock().unwrap();
            database.connections += 1;
            100 + database.connections
        };
        self.send(10, "", &[])?;
        loop {
            match self.take()? {
                None => return Ok(()),
                Some(message) if message.kind == 8 => return Ok(()),
                Some(message) if message.kind == 1 => self.answer_query()?,
                Some(message) => return Err(format!("message {} where a query begins", message.kind)),
            }
        }
    }

    fn answer_query(&mut self) -> Result<(), String> {
        self.query = {
            let mut database = self.database.lock().unwrap();
            database.queries += 1;
            200 + database.queries
        };
        self.send(11, "", &[])?;
        let text = self.expect(2)?.payload;
        let text = String::from_utf8(text).map_err(|error| error.to_string())?;
        let text = text.strip_suffix('\0').ok_or("a text without its 0")?.to_owned();
        self.send(20, "", &[])?;
        self.expect(3)?;
        self.send(20, "", &[])?;
        let has = |words: &str| text.contains(words);
        let mut parameter = None;
        let mut message = self.take()?.ok_or("gone in a query")?;
        if message.kind == 4 {
            self.send(20, "", &[])?;
            if matches!(self.fault, Fault::Close(words) if has(words)) {
                let mut half = [0; HEADER_BYTES + 8];
                self.stream.read_exact(&mut half).map_err(|error| error.to_string())?;
                return self.stream.shutdown(Shutdown::Both).map_err(|error| error.to_string());
            }
            let data = self.expect(5)?;
            self.send(20, "", &[])?;
            self.expect(6)?;
            self.send(20, "", &[])?;
            parameter = Some((data.name, data.payload));
            message = self.take()?.ok_or("gone in a query")?;
        }
        if message.kind != 7 {
            return Err(format!("message {} where the result is asked for", message.kind));
        }
        if let Some(done) = self.answer_wrongly(&text) {
            return done;
        }
        let mut database = self.database.lock().unwrap();
        database.asked.push(text.clone());
        let done = run(&mut database, &text, parameter);
        drop(database);
        match done {
            Ok(None) => self.respond("Query executed successfully", &[]),
            Ok(Some((schema, blocks))) => self.respond(&schema, &blocks),
            Err(why) => self.respond(&format!("Error during operation execution: {why}"), &[]),
        }
    }

    /// What it does in place of an answer, if its fault is of that query.
    fn answer_wrongly(&mut self, text: &str) -> Option<Result<(), String>> {
        let has = |words: &str| text.contains(words);
        match self.fault {
            Fault::Stall(words) if has(words) => Some(self.take().map(drop)),
            Fault::Babble(words) if has(words) => {
                Some(self.stream.write_all(&[7; HEADER_BYTES]).map_err(|error| error.to_string()))
            }
            Fault::Say(words, said) if has(words) => Some(self.respond(said, &[])),
            Fault::Drip(words) if has(words) => Some(self.drip()),
            Fault::Hollow(words) if has(words) => Some(self.hollow()),
            Fault::Flood(words, len) if has(words) => {
                Some(self.respond("#rho,a,int8:1", &[("rho".to_owned(), vec![1; len])]))
            }
            Fault::None
            | Fault::Stall(_)
            | Fault::Close(_)
            | Fault::Say(..)
            | Fault::Babble(_)
            | Fault::Drip(_)
            | Fault::Hollow(_)
            | Fault::Flood(..) => None,
        }
    }

    fn hollow(&mut self) -> Result<(), String> {
        self.send(13, "", &[])?;
        self.expect(9)?;
        self.send(17, "rho", &[])
    }

    fn drip(&mut self) -> Result<(), String> {
        self.send(13, "", &[])?;
        self.expect(9)?;
        loop {
            self.send(14, "", b"#\0")?;
            self.expect(9)?;
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    fn respond(&mut self, text: &str, blocks: &[(String, Vec<u8>)]) -> Result<(), String> {
        self.send(13, "", &[])?;
        self.expect(9)?;
        self.send(14, "", &[text.as_bytes(), &[0]].concat())?;
        self.expect(9)?;
        for (name, bytes) in blocks {
            for (kind, part) in [(16, bytes.as_slice()), (18, &[])] {
                self.send(kind, name, part)?;
                self.expect(9)?;
            }
        }
        self.send(19, "", &[])
    }

    fn expect(&mut self, kind: u32) -> Result<Message, String> {
        let message = self.take()?.ok_or_else(|| format!("gone where message {kind} comes"))?;
        if message.kind == kind {
            Ok(message)
        } else {
            Err(format!("message {} in place of {kind}", message.kind))
        }
    }

    /// The next message, whose header is checked; none if there is no more.
    fn take(&mut self) -> Result<Option<Message>, String> {
        let mut header = [0; HEADER_BYTES];
        // What a client leaves in the midst of when it is killed is no fault of its messages.
        if self.stream.read_exact(&mut header).is_err() {
            return Ok(None);
        }
        let four = |at: usize| i32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let eight = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
        let (kind, total, payload_bytes) = (four(18), eight(22), eight(30));
        let name = String::from_utf8_lossy(&header[38..294]).trim_end_matches('\0').to_owned();
        let ids = [four(2), four(6), four(10), four(14)];
        let query = if kind <= 1 { ids[3] } else { self.query };
        if header[..2] != [0x42, 1]
            || ids != [0, self.taken, self.client, query]
            || total != payload_bytes + 298
        {
            return Err(format!(
                "a wrong header: {:?}, ids {ids:?} of {}, {total}",
                &header[..2],
                self.client
            ));
        }
        if (kind == 5) == name.is_empty() || four(294) != i32::from(kind == 5) {
            return Err(format!("a message {kind} with the block {name:?} {}", four(294)));
        }
        if payload_bytes > 0 && ![2, 5].contains(&kind) {
            return Err(format!("a message {kind} with {payload_bytes} bytes"));
        }
        self.taken += 1;
        let mut payload = vec![0; payload_bytes as usize];
        if self.stream.read_exact(&mut payload).is_err() {
            return Ok(None);
        }
        Ok(Some(Message { kind: kind as u32, name, payload }))
    }

    fn send(&mut self, kind: u32, name: &str, payload: &[u8]) -> Result<(), String> {
        let mut header = [0; HEADER_BYTES];
        header[..2].copy_from_slice(&[0x42, 1]);
        header[10..14].copy_from_slice(&self.client.to_le_bytes());
        header[14..18].copy_from_slice(&self.query.to_le_bytes());
        header[18..22].copy_from_slice(&kind.to_le_bytes());
        header[22..30].copy_from_slice(&(payload.len() as u64 + 298).to_le_bytes());
        header[30..38].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        header[38..38 + name.len()].copy_from_slice(name.as_bytes());
        // Who is gone takes nothing; that is noticed where the next message is taken.
        let _ = self.stream.write_all(&header).and_then(|()| self.stream.write_all(payload));
        Ok(())
    }
}

/// A schema, and the blocks of what was asked for.
type Found = (String, Vec<(String, Vec<u8>)>);

fn run(
    database: &mut Database,
    text: &str,
    parameter: Option<(String, Vec<u8>)>,
) -> Result<Option<Found>, String> {
    if let Some(name) = text.strip_prefix("scan(").and_then(|rest| rest.strip_suffix(");")) {
        let tar = database.tars.get(name).ok_or_else(|| format!("{name} does not exist."))?;
        let schema = format!("#step,d,int32|{},a,{}:1", tar.attribute, tar.dtype);
        let values: Vec<u8> = tar.subtars.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        return Ok(Some((schema, vec![(tar.attribute.clone(), values)])));
    }
    let (operator, rest) = text.strip_suffix(");").and_then(|text| text.split_once('(')).ok_or("no query")?;
    let quoted: Vec<&str> = rest.split('"').skip(1).step_by(2).collect();
    match (operator, quoted.as_slice()) {
        ("create_tar", [name, "*", dimensions, attribute]) => {
            create_tar(database, name, dimensions, attribute)?
        }
        ("create_dataset", [dataset, place]) => {
            let (name, dtype) = dataset.split_once(':').ok_or("no type")?;
            let (given, bytes) = parameter.ok_or("no parameter")?;
            if given != *place || *place != format!("@{name}") {
                return Err(format!("the parameter {given} is not {place}"));
            }
            let size = size_of(dtype).ok_or_else(|| format!("Invalid type: {dtype}."))?;
            if !bytes.len().is_multiple_of(size) || bytes.is_empty() {
                return Err(format!("{} bytes of {dtype}", bytes.len()));
            }
            if database.datasets.insert(name.to_owned(), (dtype.to_owned(), bytes)).is_some() {
                return Err(format!("Dataset {name} already exists."));
            }
        }
        ("load_subtar", [name, dimensions, values]) => load_subtar(database, name, dimensions, values)?,
        _ => return Err(format!("an unknown query: {text}")),
    }
    Ok(None)
}

fn fields(text: &str) -> Vec<Vec<&str>> {
    text.split('|').map(|part| part.split(',').map(str::trim).collect()).collect()
}

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn create_tar(database: &mut Database, name: &str, dimensions: &str, attribute: &str) -> Result<(), String> {
    if database.tars.contains_key(name) {
        return Err(format!("{name} TAR already exists."));
    }
    let mut tar = Tar::default();
    for dimension in fields(dimensions) {
        let ["implicit", name, "int" | "long", low, high, "1"] = dimension[..] else {
            return Err(format!("Invalid dimension definition: {dimension:?}"));
        };
        let (low, high) = (number(low)?, if high == "*" { i64::MAX } else { number(high)? });
        if high <= low {
            return Err(format!("Dimension {name} upper bound must be greater than the lower bound."));
        }
        tar.dimensions.push((name.to_owned(), low, high));
    }
    let [ref values] = fields(attribute)[..] else { return Err("one attribute is expected".to_owned()) };
    let [attribute, dtype] = values[..] else { return Err("Invalid attribute definition.".to_owned()) };
    size_of(dtype).ok_or_else(|| format!("Invalid type in attribute specification: {dtype}"))?;
    let mut names = tar.dimensions.iter().map(|(name, ..)| name.as_str()).chain([attribute, name]);
    if names.any(|name| name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_')) {
        return Err(format!("Invalid identifier in {dimensions}"));
    }
    drop(names);
    (tar.attribute, tar.dtype) = (attribute.to_owned(), dtype.to_owned());
    database.tars.insert(name.to_owned(), tar);
    Ok(())
}

fn load_subtar(database: &mut Database, name: &str, dimensions: &str, values: &str) -> Result<(), String> {
    let tar = database.tars.get_mut(name).ok_or_else(|| format!("{name} does not exist."))?;
    let mut bounds = Vec::new();
    let wanted = fields(dimensions);
    if wanted.len() != tar.dimensions.len() {
        return Err(format!("there are dimensions in {name} without definition"));
    }
    for (dimension, (name, low, high)) in wanted.iter().zip(&tar.dimensions) {
        let ["ordered", known, from, to] = dimension[..] else {
            return Err("no ordered dimension".to_owned());
        };
        let (from, to) = (number(from)?, number(to)?);
        if known != name || from < *low || to > *high || to < from {
            return Err(format!("{known} from {from} to {to} is not in {name} from {low} to {high}"));
        }
        bounds.push((from, to));
    }
    let (attribute, dataset) = values.split_once(", ").ok_or("Invalid datasets definition.")?;
    let (dtype, bytes) =
        database.datasets.get(dataset).ok_or_else(|| format!("Dataset {dataset} not found."))?;
    let cells = bounds.iter().map(|(from, to)| to - from + 1).product::<i64>() as usize;
    if attribute != tar.attribute || *dtype != tar.dtype || bytes.len() != cells * size_of(dtype).unwrap_or(0)
    {
        return Err(format!("Dataset {dataset} do not conform with attribute or subtar specification."));
    }
    let meets = |other: &[(i64, i64)]| {
        bounds.iter().zip(other).all(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
    };
    if tar.subtars.iter().any(|(other, _)| meets(other)) {
        return Err("This new subtar definition intersects with already existing subtar!".to_owned());
    }
    tar.subtars.push((bounds, bytes.clone()));
    Ok(())
}
