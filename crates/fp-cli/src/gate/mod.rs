//! `flexpath gate`: publishes the streams that `flexpath forward` brings, with their names, ranks and step numbers. Those
//! who subscribe here notice nothing of the way between.
//!
//! An *inflow* is a stream that comes in, over one connection after the other. Its *outlet* publishes it.

mod arrival;
mod inflow;
mod outlet;
mod received;
mod requests;
mod taken;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use fp_core::connection::{Connection, ConnectionError, ConnectionListener};
use fp_core::rendezvous::Rendezvous;

use crate::arguments::GateOptions;
use crate::credentials::Credentials;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};
use crate::meet;
use inflow::Inflow;

/// Streams at one time.
const LIMIT_STREAMS: usize = 64;

/// Connections at one time, also of those who have not said yet what they bring.
const LIMIT_CONNECTIONS: usize = 256;

/// What all connections share.
struct Gate {
    options: GateOptions,
    rendezvous: Rendezvous,
    credentials: Credentials,
    is_interrupted: Box<dyn Fn() -> bool + Send + Sync>,
    inflows: Mutex<Inflows>,
}

#[derive(Default)]
struct Inflows {
    open: BTreeMap<String, Arc<Inflow>>,
    /// How many have ended.
    ended: u64,
    failure: Option<Failure>,
}

/// Takes streams until the user has seen enough; with `--once` until all that came have ended.
pub(crate) fn run(rendezvous: Rendezvous, options: &GateOptions) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    let rendezvous = credentials.shown_to(rendezvous)?;
    let (token, tls) = credentials.shown().map_err(|error| Failure::Connection(error.into()))?;
    fp_core::limit_process_bytes(options.memory.0);
    let interrupt = Interrupt::watch()?;
    let at = meet::resolve(&options.listen)?;
    let listener = ConnectionListener::listen(at, options.advertise, token, tls).map_err(failure)?;
    writeln!(io::stdout(), "{}", listener.address())?;
    io::stdout().flush()?;
    let gate = Arc::new(Gate {
        options: options.clone(),
        rendezvous,
        credentials,
        is_interrupted: Box::new(interrupt.asked()),
        inflows: Mutex::default(),
    });
    gate.watch(listener)?;
    let failure = gate.inflows().failure.take();
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    failure.map_or(Ok(()), Err)
}

/// Why it does not listen, and what to do.
fn failure(error: ConnectionError) -> Failure {
    if let ConnectionError::Listen(of) = &error {
        return Failure::Gate(format!("{error}{}", meet::advice(of)));
    }
    Failure::Connection(error)
}

impl Gate {
    fn inflows(&self) -> MutexGuard<'_, Inflows> {
        self.inflows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        (self.is_interrupted)()
    }

    fn watch(self: &Arc<Self>, mut listener: ConnectionListener) -> Result<(), Failure> {
        let mut arrivals: Vec<(Arc<Connection>, JoinHandle<()>)> = Vec::new();
        let mut endings: Vec<JoinHandle<()>> = Vec::new();
        while !self.is_over() {
            arrivals.retain(|(_, arrival)| !arrival.is_finished());
            endings.retain(|ending| !ending.is_finished());
            if let Some(connection) = listener.accept(NOTICE).map_err(Failure::Connection)? {
                // Who finds no room is closed on, and comes again.
                if arrivals.len() < LIMIT_CONNECTIONS {
                    let (gate, connection) = (self.clone(), Arc::new(connection));
                    let named = thread::Builder::new().name("gate".to_owned());
                    let served = connection.clone();
                    arrivals.push((connection, named.spawn(move || arrival::serve(&gate, &served))?));
                }
            }
            self.sweep(&mut endings)?;
            let inflows = self.inflows();
            if self.options.once && inflows.open.is_empty() && inflows.ended > 0 {
                break;
            }
        }
        let open: Vec<Arc<Inflow>> = self.inflows().open.values().cloned().collect();
        open.iter().for_each(|inflow| inflow.give_up());
        arrivals.iter().for_each(|(connection, _)| connection.close());
        let threads = arrivals.into_iter().map(|(_, arrival)| arrival).chain(endings);
        threads.for_each(|thread| drop(thread.join()));
        open.iter().for_each(|inflow| drop(inflow.end(None)));
        Ok(())
    }

    /// Ends the streams that nobody has brought for too long, each on a thread of its own: their subscribers may take a
    /// while.
    fn sweep(self: &Arc<Self>, endings: &mut Vec<JoinHandle<()>>) -> Result<(), Failure> {
        let is_left = |inflow: &&Arc<Inflow>| inflow.is_left(self.options.awaits);
        let left: Vec<Arc<Inflow>> = self.inflows().open.values().filter(is_left).cloned().collect();
        for inflow in left {
            let awaited = self.options.awaits;
            eprintln!(
                "flexpath: stream {:?} ends: nobody brings it any more (--await {awaited:?})",
                inflow.stream
            );
            inflow.give_up();
            let gate = self.clone();
            endings.push(thread::Builder::new().name("gate".to_owned()).spawn(move || {
                let ended = inflow.end(None);
                gate.forget(&inflow);
                if let Err(failure) = ended {
                    gate.note_failure(failure);
                }
            })?);
        }
        Ok(())
    }

    /// The stream of that name, if it may be taken.
    fn inflow(&self, stream: &str) -> Result<Arc<Inflow>, String> {
        let mut inflows = self.inflows();
        if let Some(inflow) = inflows.open.get(stream) {
            return Ok(inflow.clone());
        }
        if !arrival::name_fits(stream) {
            return Err(format!("{stream:?} is no name of a stream"));
        }
        if inflows.open.len() >= LIMIT_STREAMS {
            return Err(format!("it takes {LIMIT_STREAMS} streams at most"));
        }
        let inflow = Arc::new(Inflow::new(stream));
        inflows.open.insert(stream.to_owned(), inflow.clone());
        Ok(inflow)
    }

    /// The stream has ended.
    fn forget(&self, inflow: &Arc<Inflow>) {
        let mut inflows = self.inflows();
        if inflows.open.get(&inflow.stream).is_some_and(|open| Arc::ptr_eq(open, inflow)) {
            inflows.open.remove(&inflow.stream);
            inflows.ended += 1;
        }
    }

    fn note_failure(&self, failure: Failure) {
        if !self.is_over() {
            self.inflows().failure.get_or_insert(failure);
        }
    }
}
