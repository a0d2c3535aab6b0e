//! Every transport, from this machine to itself or to a contact: a line each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fp_core::diagnosis::{Answering, ProbeError, Probed, probe};
use fp_core::{Contact, LinkOptions, TransportKind};

use super::listening::Second;
use super::report::Transport;
use super::{advice, rdma};

/// How RDMA is called among the transports.
const VERBS: &str = "verbs";

/// Every transport that there is, and why there is no other.
pub(super) fn examine(link: &LinkOptions, contact: Option<&Contact>) -> Vec<Transport> {
    let mut found = match contact {
        Some(contact) => TransportKind::ALL.map(|kind| line(kind, probe(contact, kind, link))).into(),
        None => with_itself(link),
    };
    if found.iter().all(|transport| transport.name != VERBS) {
        let (reason, advice) = rdma::Rdma::look().why_not();
        found.push(Transport::fails(VERBS, reason, advice));
    }
    found
}

fn line(kind: TransportKind, probed: Result<Probed, ProbeError>) -> Transport {
    match probed {
        Ok(probed) => Transport::works(kind.name(), &probed),
        Err(error) => {
            // What the machine lacks is better advice than what the attempt ran into.
            let lack = (kind.name() == VERBS).then(|| rdma::Rdma::look().obstacle()).flatten();
            let advice = lack.map_or_else(|| advice::of(&error), |(_, advice)| advice);
            Transport::fails(kind.name(), error.to_string(), advice)
        }
    }
}

/// This machine with itself: inproc within this process, all others with a second one.
fn with_itself(link: &LinkOptions) -> Vec<Transport> {
    let second = Second::start(link);
    let outside = |kind: TransportKind| match &second {
        Ok(second) => line(kind, probe(&second.contact, kind, link)),
        Err(why) => Transport::fails(kind.name(), why.clone(), "see below for what is wrong here".to_owned()),
    };
    let examined = TransportKind::ALL.map(|kind| match kind {
        TransportKind::Inproc => line(kind, inside(kind, link)),
        _ => outside(kind),
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
