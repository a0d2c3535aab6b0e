//! What handles of either kind do before their machines begin: settle the options, bind the listener.

use crate::driver::Setup;
use crate::error::OpenError;
use crate::options::LinkOptions;
use crate::rendezvous::Rendezvous;
use crate::room::limit_by_environment;
use fp_proto::config::{CohortConfig, ContactText};
use fp_transport::{
    Domain, ListenOptions, Listener, TlsOptions, TransportKind, TransportPolicy, verbs_devices,
};
use fp_types::{Epoch, validate_name};
use std::net::{IpAddr, SocketAddr};
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
    let device = link.verbs_device.clone().or_else(|| std::env::var("FLEXPATH_VERBS_DEVICE").ok());
    let domain = Domain::new().with_device(device.clone());
    let listens = tls.is_none() && policy.allow.contains(&TransportKind::Verbs);
    let options = ListenOptions::new(epoch.0)
        .with_verbs(if listens { verbs_address(link, device.as_deref()) } else { None })
        .with_domain(domain.clone())
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
        domain,
        dial_timeout: link.silence,
        busy_poll: link.busy_poll,
    };
    Ok((setup, epoch))
}

/// Where to take RDMA connections: where tcp leaves loopback, and so may be dialled from elsewhere, at the same address if
/// a device has it, and else at the first address of a device that is up.
fn verbs_address(link: &LinkOptions, device: Option<&str>) -> Option<SocketAddr> {
    let tcp = link.tcp.filter(|tcp| !tcp.ip().is_loopback() && link.token.is_some())?.ip();
    let devices = match verbs_devices() {
        Ok(devices) => devices,
        Err(trouble) => {
            tracing::info!(%trouble, "no verbs connections are taken");
            return None;
        }
    };
    let usable = devices.iter().filter(|found| device.is_none_or(|wanted| wanted == found.name));
    let up = usable.filter(|found| found.port.is_ok());
    let addresses: Vec<IpAddr> = up.flat_map(|found| found.addresses.iter().copied()).collect();
    let same = addresses.iter().find(|address| **address == tcp || Some(**address) == link.advertised);
    let chosen = same.or(addresses.first());
    if chosen.is_none() {
        tracing::info!(?devices, ?device, "no RDMA device is up: no verbs connections are taken");
    }
    chosen.map(|address| SocketAddr::new(*address, 0))
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
