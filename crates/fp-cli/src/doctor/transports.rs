//! Every transport, from this machine to itself or to a contact: a line each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fp_core::diagnosis::{Answering, ProbeError, Probed, Reason, probe, probe_own_verbs};
use fp_core::{LinkOptions, TransportKind};

use super::listener::Second;
use super::report::Transport;
use super::{advice, rdma};
use crate::arguments::DoctorOptions;
use crate::credentials::CredentialOptions;
use crate::program::Program;

/// Every transport that there is.
pub(super) fn examine(program: &Program, link: &LinkOptions, options: &DoctorOptions) -> Vec<Transport> {
    match &options.contact {
        Some(contact) => TransportKind::ALL.map(|kind| line(kind, probe(contact, kind, link))).into(),
        None => with_itself(program, link, &options.credentials),
    }
}

fn line(kind: TransportKind, probed: Result<Probed, ProbeError>) -> Transport {
    match probed {
        Ok(probed) => Transport::works(kind.name(), &probed),
        Err(error) => {
            let (reason, advice) = told(kind, &error);
            Transport::fails(kind.name(), reason, advice)
        }
    }
}

/// What is wrong, and what to do about it. What the machine lacks says more than what the attempt ran into.
fn told(kind: TransportKind, error: &ProbeError) -> (String, String) {
    let forbidden = matches!(error, ProbeError::Refused(Reason::NotAllowed));
    let lack = (kind == TransportKind::Verbs && !forbidden).then(|| rdma::Rdma::look().obstacle());
    lack.flatten().unwrap_or_else(|| (error.to_string(), advice::of(error)))
}

/// This machine with itself: inproc and verbs within this process, all others with a second one.
fn with_itself(program: &Program, link: &LinkOptions, credentials: &CredentialOptions) -> Vec<Transport> {
    let second = Second::start(program, link, credentials);
    let outside = |kind: TransportKind| match &second {
        Ok(second) => line(kind, probe(&second.contact, kind, link)),
        Err(why) => Transport::fails(kind.name(), why.clone(), "see below for what is wrong here".to_owned()),
    };
    let examined = TransportKind::ALL.map(|kind| match kind {
        TransportKind::Inproc => line(kind, inside(kind, link)),
        TransportKind::Verbs => line(kind, probe_own_verbs(link)),
        TransportKind::Shm | TransportKind::Tcp | _ => outside(kind),
    });
    examined.into()
}

/// One transport within this process.
fn inside(kind: TransportKind, link: &LinkOptions) -> Result<Probed, ProbeError> {
    let answering = Answering::listen(link)?;
    let contact = answering.contact().clone();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let stopped = || over.load(Ordering::Relaxed);
        scope.spawn(move || answering.serve(&stopped));
        let probed = probe(&contact, kind, link);
        over.store(true, Ordering::Relaxed);
        probed
    })
}
