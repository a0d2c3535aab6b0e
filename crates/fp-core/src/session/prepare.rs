//! What handles of either kind do before their machines begin: settle the options, bind the listener.

use crate::coordinator::Setup;
use crate::data::owner::room::limit_by_environment;
use crate::error::OpenError;
use crate::options::link::LinkOptions;
use crate::options::publisher::PublisherOptions;
use crate::rendezvous::Rendezvous;
use crate::value::log::start_log;
use fp_proto::config::{CohortConfig, ContactText};
use fp_proto::parameter::{LIMIT_PARAMETERS, Parameter};
use fp_transport::{
    Contact, Domain, ListenOptions, Listener, TokenHash, TransportKind, TransportPolicy, VerbsDevice,
    VerbsTrouble, verbs_devices,
};
use fp_types::{Epoch, validate_name};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Who opens.
pub(crate) enum Opener {
    /// A publisher, with the tokens of its access list.
    Publisher(Vec<TokenHash>),
    /// A subscriber, which waits as soon as it has started.
    Subscriber,
}

impl Opener {
    fn listed_tokens(self) -> Vec<TokenHash> {
        match self {
            Self::Publisher(tokens) => tokens,
            Self::Subscriber => Vec::new(),
        }
    }

    /// Whether anybody is told where this rank is: others of its cohort, or those who attach to it. A lone subscriber is
    /// asked for its status by the publisher, over the link that it has made itself. It listens where its address is
    /// another than the usual one, whoever said so.
    fn listens(&self, link: &LinkOptions, tcp: Option<SocketAddr>) -> bool {
        let is_lone = link.cohort.size() == 1 && link.collectives.is_none();
        let is_usual = tcp.is_none_or(|tcp| tcp == SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        matches!(self, Self::Publisher(_)) || !is_lone || !is_usual
    }
}

/// What an endpoint of either kind of handle needs besides its machine, with the epoch of this opening.
pub(crate) fn prepare(link: &LinkOptions, stream: &str, opener: Opener) -> Result<(Setup, Epoch), OpenError> {
    start_log();
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
    let tls = link.tls_options()?.map(|tls| tls.load()).transpose()?;
    let (tcp, token) = (link.tcp_address()?, link.run_token()?);
    limit_by_environment()?;
    let device = pinned_device(link);
    let domain = Domain::new().with_device(device.clone());
    let listens = tls.is_none() && policy.allow.contains(&TransportKind::Verbs);
    let is_awaited = matches!(opener, Opener::Subscriber);
    let is_dialled = opener.listens(link, tcp);
    let options = ListenOptions::new(epoch.0)
        .with_verbs(
            tcp.filter(|_| listens && token.is_some())
                .and_then(|tcp| verbs_address(tcp, link, device.as_deref())),
        )
        .with_domain(domain.clone())
        .with_tcp(tcp)
        .with_advertised(link.advertised)
        .with_token(token.clone())
        .with_listed_tokens(opener.listed_tokens())
        .with_gathers(true)
        .with_kept_descriptors(link.kept_descriptors)
        .with_tls(tls.clone());
    let rank = link.cohort.rank();
    let listener = is_dialled.then(|| Listener::bind(options)).transpose();
    let listener =
        listener.map_err(|source| OpenError::Listen { stream: stream.to_owned(), rank, source })?;
    let contact = match &listener {
        Some(listener) => listener.contact().clone(),
        None => Contact::of_this_process(token.is_some(), Vec::new()),
    };
    let setup = Setup {
        contact,
        listener,
        is_awaited,
        tls,
        rendezvous,
        policy,
        token,
        domain,
        dial_timeout: link.silence,
        busy_poll: link.busy_poll,
        interrupt: link.interrupt.clone(),
    };
    Ok((setup, epoch))
}

/// Refuses bounds of 0.
pub(crate) fn check_bounds(stream: &str, bounds: &[(&'static str, u64)]) -> Result<(), OpenError> {
    let none = bounds.iter().find(|(_, bound)| *bound == 0);
    none.map_or(Ok(()), |&(option, _)| Err(OpenError::NoBound { stream: stream.to_owned(), option }))
}

/// Refuses a first step after which numbers could come to their end.
pub(crate) fn check_first_step(stream: &str, first_step: Option<u64>) -> Result<(), OpenError> {
    let too_large = first_step.filter(|&number| i64::try_from(number).is_err());
    too_large.map_or(Ok(()), |first_step| Err(OpenError::FirstStep { stream: stream.to_owned(), first_step }))
}

/// Refuses a reserve that never has a step of those that it is to have.
pub(crate) fn check_reserve(stream: &str, options: &PublisherOptions) -> Result<(), OpenError> {
    let Some(condition) = &options.reserve_condition else { return Ok(()) };
    let is_empty = options.reserve_steps == 0 && options.reserve_bytes == u64::MAX;
    let what = match (is_empty, options.derivations || condition.measures().is_empty()) {
        (true, _) => "reserve_steps is 0: say how many",
        (_, false) => "derivations is false, so that nothing is measured: let it be true",
        (false, true) => return Ok(()),
    };
    Err(OpenError::Reserve { stream: stream.to_owned(), condition: condition.to_string(), what })
}

/// Each parameter is one that can be asked for, and they are no more than a refusal can tell.
pub(crate) fn check_parameters(stream: &str, parameters: &[Parameter]) -> Result<(), OpenError> {
    let (found, most, option) = (parameters.len() as u64, LIMIT_PARAMETERS as u64, "parameters");
    if found > most {
        return Err(OpenError::BoundTooHigh { stream: stream.to_owned(), option, found, most });
    }
    parameters.iter().try_for_each(|parameter| {
        let name = parameter.name.clone();
        let refused = |source| OpenError::Parameter { stream: stream.to_owned(), parameter: name, source };
        parameter.check().map_err(refused)
    })
}

/// Where to take RDMA connections beside tcp: only where that leaves loopback, and so may be dialled from elsewhere. It
/// is the same address if a device has it, and else the first address of a device that is up.
pub(crate) fn verbs_address(tcp: SocketAddr, link: &LinkOptions, device: Option<&str>) -> Option<SocketAddr> {
    if tcp.ip().is_loopback() {
        return None;
    }
    let preferred = [Some(tcp.ip()), link.advertised];
    match device_address(device, &preferred) {
        Ok(address) => Some(address),
        Err(trouble) => {
            tracing::info!(%trouble, "no verbs connections are taken");
            None
        }
    }
}

/// The device that is allowed, by the options or the environment; `None`: any.
pub(crate) fn pinned_device(link: &LinkOptions) -> Option<String> {
    link.verbs_device.clone().or_else(|| std::env::var("FLEXPATH_VERBS_DEVICE").ok())
}

/// One of the preferred addresses if a device that is up has it, and else the first of such a device. The error says
/// what is wrong with the devices.
pub(crate) fn device_address(
    pinned: Option<&str>,
    preferred: &[Option<IpAddr>],
) -> Result<SocketAddr, VerbsTrouble> {
    let devices = verbs_devices()?;
    let mut usable: Vec<&IpAddr> = Vec::new();
    let mut trouble = None;
    for device in devices.iter().filter(|found| pinned.is_none_or(|wanted| wanted == found.name)) {
        match &device.port {
            Ok(_) if device.addresses.is_empty() => {
                trouble = Some(VerbsTrouble::NoAddress { device: device.name.clone() });
            }
            Ok(_) => usable.extend(&device.addresses),
            Err(down) => trouble = Some(down.clone()),
        }
    }
    let same = usable.iter().find(|address| preferred.contains(&Some(***address)));
    let chosen = same.or(usable.first()).map(|address| SocketAddr::new(**address, 0));
    chosen.ok_or_else(|| trouble.unwrap_or_else(|| not_there(pinned, &devices)))
}

fn not_there(pinned: Option<&str>, devices: &[VerbsDevice]) -> VerbsTrouble {
    let Some(wanted) = pinned else { return VerbsTrouble::NoDevice };
    let names: Vec<_> = devices.iter().map(|device| device.name.as_str()).collect();
    VerbsTrouble::NotThere { wanted: wanted.to_owned(), found: names.join(", ") }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::cohort::Cohort;

    #[test]
    fn who_is_dialled_listens_and_who_was_told_where() {
        let usual = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let given = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 7000)));
        let lone = LinkOptions::default();
        let ranks = LinkOptions { cohort: Cohort::of(0, 2).expect("two ranks"), ..LinkOptions::default() };
        assert!(!Opener::Subscriber.listens(&lone, usual) && !Opener::Subscriber.listens(&lone, None));
        assert!(Opener::Subscriber.listens(&lone, given));
        assert!(Opener::Subscriber.listens(&ranks, usual));
        assert!(Opener::Publisher(Vec::new()).listens(&lone, usual));
    }
}
