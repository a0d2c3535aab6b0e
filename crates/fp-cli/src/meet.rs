//! `flexpath meet`: a meeting place, where cohorts find each other that share no directory.

use std::io::{self, Write as _};
use std::net::{SocketAddr, ToSocketAddrs as _};

use fp_core::diagnosis::ListenError;
use fp_core::rendezvous::place::{MeetError, MeetingPlace};

use crate::arguments::MeetOptions;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Listens, prints the address, and serves until it is told to end.
pub(crate) fn run(options: &MeetOptions) -> Result<(), Failure> {
    let (token, tls) = options.credentials.read()?.shown().map_err(|error| failure(error.into()))?;
    let place = MeetingPlace::listen(resolve(&options.listen)?, options.advertise, token, tls);
    let place = place.map_err(failure)?;
    let interrupt = Interrupt::watch()?;
    let mut out = io::stdout().lock();
    writeln!(out, "tcp://{}", place.address())?;
    out.flush()?;
    drop(out);
    place.serve(&|| interrupt.is_requested()).map_err(failure)
}

/// The address that `--listen` names, with a name in front of the port or an address.
pub(crate) fn resolve(text: &str) -> Result<SocketAddr, Failure> {
    let none =
        |why: String| Failure::Usage(format!("--listen {text}: {why}; it is HOST:PORT, as 192.0.2.7:7000"));
    let mut found = text.to_socket_addrs().map_err(|error| none(error.to_string()))?;
    found.next().ok_or_else(|| none("that host has no address".to_owned()))
}

/// Why there is none, and what to do.
fn failure(error: MeetError) -> Failure {
    let advice = if let MeetError::Listen(error) = &error { advice(error) } else { "" };
    Failure::Meet(format!("{error}{advice}"))
}

pub(crate) fn advice(error: &ListenError) -> &'static str {
    if matches!(error, ListenError::TokenNeeded { .. }) {
        "; give it a token (flexpath token --out run.token) with --token-file run.token, or TLS"
    } else if matches!(error, ListenError::Unadvertised { .. }) {
        "; name that address with --advertise"
    } else {
        "; listen at an address of this machine, with port 0 for one that is free"
    }
}
