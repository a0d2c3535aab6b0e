//! What handles of either kind do before their machines begin: settle the options, bind the listener.

use crate::driver::Setup;
use crate::error::OpenError;
use crate::options::LinkOptions;
use crate::rendezvous::Rendezvous;
use crate::room::limit_by_environment;
use fp_proto::config::{CohortConfig, ContactText};
use fp_transport::{ListenOptions, Listener, TlsOptions, TransportPolicy};
use fp_types::{Epoch, validate_name};
use std::time::Duration;

/// What an endpoint of either kind of handle needs besides its machine, with the epoch of this opening.
pub(crate) fn prepare(link: &LinkOptions, stream: &str) -> Result<(Setup, Epoch), OpenError> {
    validate_name(stream)?;
    let epoch = random_epoch(stream)?;
    let rendezvous = match &link.rendezvous {
        Some(given) => given.clone(),
        None => Rendezvous::from_environment()?,
    };
    let policy = match &link.transports {
        Some(given) => given.clone(),
        None => TransportPolicy::from_environment()?,
    };
    let tls = match &link.tls {
        Some(given) => Some(given.clone()),
        None => TlsOptions::from_environment()?,
    };
    limit_by_environment()?;
    let options = ListenOptions::new(epoch.0)
        .with_tcp(link.tcp)
        .with_advertised(link.advertised)
        .with_token(link.token.clone())
        .with_tls(tls.map(|tls| tls.load()).transpose()?);
    let rank = link.cohort.rank();
    let listener = Listener::bind(options);
    let listener =
        listener.map_err(|source| OpenError::Listen { stream: stream.to_owned(), rank, source })?;
    let setup = Setup {
        contact: listener.contact().clone(),
        listener,
        rendezvous,
        policy,
        token: link.token.clone(),
        dial_timeout: link.silence,
        busy_poll: link.busy_poll,
    };
    Ok((setup, epoch))
}

pub(crate) fn cohort_config(link: &LinkOptions, name: &str, contact: String) -> CohortConfig {
    let mut config = CohortConfig::ranked(name, ContactText(contact), link.cohort.rank(), link.cohort.size());
    config.lead_contact = link.lead_contact.as_ref().map(|contact| ContactText(contact.to_string()));
    config.open_timeout = link.open_timeout;
    config.close_timeout = link.close_timeout;
    config.silence = link.silence;
    config.heartbeat = (link.silence / 10).min(Duration::from_secs(1));
    config
}

fn random_epoch(stream: &str) -> Result<Epoch, OpenError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| OpenError::Io { stream: stream.to_owned(), source: error.into() })?;
    Ok(Epoch(u128::from_ne_bytes(bytes) | 1))
}
