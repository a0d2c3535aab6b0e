//! `flexpath doctor`: which transports work from here, how fast, and why the others do not; what of this machine makes
//! users fail. Everything is found out by doing it.

mod advice;
mod listening;
mod machine;
mod rdma;
mod report;
mod transports;

use std::io::Write as _;

use fp_core::diagnosis::ProbeError;
use fp_core::rendezvous::{Rendezvous, RendezvousError};
use fp_core::{LinkOptions, TlsOptions};

use crate::arguments::{DoctorOptions, token};
use crate::failure::Failure;
use report::Report;

/// Examines, or answers the examinations of others.
pub(crate) fn run(
    rendezvous: Result<Rendezvous, RendezvousError>,
    options: &DoctorOptions,
) -> Result<(), Failure> {
    let link = link_options(options)?;
    if options.listen.is_some() {
        return listening::listen(&link, options.until_input_ends);
    }
    let report = Report::new(
        options.contact.as_ref().map(ToString::to_string),
        transports::examine(&link, options.contact.as_ref()),
        machine::examine(rendezvous),
    );
    let mut out = std::io::stdout().lock();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        report.print(&mut out)?;
    }
    out.flush()?;
    if report.works { Ok(()) } else { Err(Failure::NothingWorks) }
}

/// The options with which a stream would do the same.
fn link_options(options: &DoctorOptions) -> Result<LinkOptions, Failure> {
    let mut link = LinkOptions::default();
    link.tcp = options.listen.or(link.tcp);
    link.advertised = options.advertise;
    link.transports = options.transports.clone();
    link.open_timeout = options.timeout;
    if let Some(path) = &options.token_file {
        let read = token(path).map_err(|why| Failure::Token { path: path.clone(), why });
        link.token = Some(read?);
    }
    Ok(link)
}

/// Whether TLS is configured by the environment; the error says what is wrong with it.
fn tls_of_environment() -> Result<Option<TlsOptions>, ProbeError> {
    let options = TlsOptions::from_environment()?;
    if let Some(options) = &options {
        options.load()?;
    }
    Ok(options)
}
