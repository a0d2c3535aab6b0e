//! `flexpath doctor`: which transports work from here, how fast, and why the others do not. It also says what of this
//! machine makes users fail. Everything is found out by doing it.

mod advice;
mod listener;
mod machine;
mod rdma;
mod report;
mod transports;

use fp_core::rendezvous::{Rendezvous, RendezvousError};
use fp_core::{LinkOptions, ListenAddress};

use crate::arguments::DoctorOptions;
use crate::credentials::Credentials;
use crate::failure::Failure;
use crate::output;
use crate::program::Program;
use report::Report;

/// Examines, or answers the examinations of others.
pub(crate) fn run(
    program: &Program,
    rendezvous: Result<Rendezvous, RendezvousError>,
    options: &DoctorOptions,
) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    let link = link_options(options, &credentials);
    if options.listen.is_some() {
        return listener::listen(&link, options.until_input_ends);
    }
    let shown = rendezvous.and_then(|rendezvous| credentials.shown_to(rendezvous));
    let report = Report::new(
        options.contact.as_ref().map(ToString::to_string),
        transports::examine(program, &link, options),
        machine::examine(shown, credentials.tls()),
    );
    output::print(&report, options.json, |out| report.print(out))?;
    if report.works { Ok(()) } else { Err(Failure::NothingWorks) }
}

/// The options with which a stream would do the same.
fn link_options(options: &DoctorOptions, credentials: &Credentials) -> LinkOptions {
    let mut link = LinkOptions::default();
    credentials.set(&mut link);
    link.tcp = options.listen.map(ListenAddress::At).or(link.tcp);
    link.advertised = options.advertise;
    link.transports = options.transports.clone();
    link.open_timeout = options.timeout;
    link
}
