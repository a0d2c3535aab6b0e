//! `flexpath doctor`: which transports work from here, how fast, and why the others do not. It also says what of this
//! machine makes users fail. Everything is found out by doing it.

mod advice;
mod listener;
mod machine;
mod rdma;
mod report;
mod transports;

use fp_core::LinkOptions;
use fp_core::rendezvous::{Rendezvous, RendezvousError};

use crate::arguments::DoctorOptions;
use crate::failure::Failure;
use crate::output;
use crate::token::token;
use report::Report;

/// Examines, or answers the examinations of others.
pub(crate) fn run(
    rendezvous: Result<Rendezvous, RendezvousError>,
    options: &DoctorOptions,
) -> Result<(), Failure> {
    let link = link_options(options)?;
    if options.listen.is_some() {
        return listener::listen(&link, options.until_input_ends);
    }
    let report = Report::new(
        options.contact.as_ref().map(ToString::to_string),
        transports::examine(&link, options.contact.as_ref()),
        machine::examine(rendezvous),
    );
    output::print(&report, options.json, |out| report.print(out))?;
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
