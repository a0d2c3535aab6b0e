//! Options that both sides of a stream share: cohort, rendezvous, transports, timeouts.

use crate::rendezvous::Rendezvous;
use crate::value::cohort::Cohort;
use crate::value::collectives::SharedCollectives;
use fp_transport::{
    Contact, ListenAddress, ListenAddressError, TlsOptions, Token, TokenFileError, TransportPolicy,
};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What publisher and subscriber have in common: cohort, rendezvous, transports, patience.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkOptions {
    /// Rank and size. Default: alone.
    pub cohort: Cohort,
    /// Collectives of the launcher over the ranks of this cohort. Default none: the ranks find their lead by the
    /// rendezvous.
    pub collectives: Option<SharedCollectives>,
    /// The rendezvous directory. Default: by the environment.
    pub rendezvous: Option<Rendezvous>,
    /// The lead of the own cohort, where the launcher knows it.
    pub lead_contact: Option<Contact>,
    /// Which transports may be used, and whether falling back is forbidden. Default: by `FLEXPATH_TRANSPORTS`,
    /// else all.
    pub transports: Option<TransportPolicy>,
    /// Where to listen for tcp. Default: by `FLEXPATH_LISTEN`, else loopback and a port of the system's choice.
    pub tcp: Option<ListenAddress>,
    /// The address that others dial, where `tcp` is the unspecified address.
    pub advertised: Option<IpAddr>,
    /// Shown to, and demanded of, every peer. Needed to listen off loopback without TLS. Default: what the file holds
    /// that `FLEXPATH_TOKEN_FILE` names, else none.
    pub token: Option<Token>,
    /// TLS on every tcp link: control, data, and the own cohort's. Default: by `FLEXPATH_TLS_CERTIFICATE`,
    /// `FLEXPATH_TLS_KEY` and `FLEXPATH_TLS_AUTHORITY`, else none.
    pub tls: Option<TlsOptions>,
    /// The RDMA device to use, and no other. Default: by `FLEXPATH_VERBS_DEVICE`, else whichever leads to a peer.
    pub verbs_device: Option<String>,
    /// The longest that opening may take. Default 60 s.
    pub open_timeout: Duration,
    /// The longest that closing may take. Default 30 s.
    pub close_timeout: Duration,
    /// A peer that is silent for this long is lost. Default 10 s.
    pub silence: Duration,
    /// How long a waiting call looks again and again before it sleeps. Default zero: it sleeps at once.
    pub busy_poll: Duration,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self {
            cohort: Cohort::alone(),
            collectives: None,
            rendezvous: None,
            lead_contact: None,
            transports: None,
            tcp: None,
            advertised: None,
            token: None,
            tls: None,
            verbs_device: None,
            open_timeout: Duration::from_secs(60),
            close_timeout: Duration::from_secs(30),
            silence: Duration::from_secs(10),
            busy_poll: Duration::ZERO,
        }
    }
}

impl LinkOptions {
    /// Where to listen for tcp, by these options or the environment; `None`: not at all.
    pub(crate) fn tcp_address(&self) -> Result<Option<SocketAddr>, ListenAddressError> {
        let given = self.tcp.map_or_else(ListenAddress::from_environment, Ok);
        Ok(given?.address())
    }

    /// The token, by these options or the environment.
    pub(crate) fn run_token(&self) -> Result<Option<Token>, TokenFileError> {
        match &self.token {
            Some(given) => Ok(Some(given.clone())),
            None => Token::from_environment(),
        }
    }
}

/// Setters that both kinds of options share.
macro_rules! link_setters {
    () => {
        /// Sets rank and size; the ranks find their lead by the rendezvous.
        #[must_use]
        pub fn with_cohort(mut self, cohort: Cohort) -> Self {
            self.link.cohort = cohort;
            self.link.collectives = None;
            self
        }

        /// Sets rank and size, and the launcher's collectives over just these ranks. The ranks then find one another by
        /// them alone, and need no rendezvous directory in common.
        #[must_use]
        pub fn with_collectives(mut self, cohort: Cohort, collectives: impl Collectives + 'static) -> Self {
            self.link.cohort = cohort;
            self.link.collectives = Some(SharedCollectives::new(collectives));
            self
        }

        /// Sets the rendezvous directory.
        #[must_use]
        pub fn with_rendezvous(mut self, rendezvous: Rendezvous) -> Self {
            self.link.rendezvous = Some(rendezvous);
            self
        }

        /// Sets the contact of the own cohort's lead.
        #[must_use]
        pub fn with_lead_contact(mut self, contact: Contact) -> Self {
            self.link.lead_contact = Some(contact);
            self
        }

        /// Sets which transports may be used.
        #[must_use]
        pub fn with_transports(mut self, policy: TransportPolicy) -> Self {
            self.link.transports = Some(policy);
            self
        }

        /// Sets where to listen for tcp; `None`: not at all. `FLEXPATH_LISTEN` then counts no more.
        #[must_use]
        pub fn with_tcp(mut self, address: Option<SocketAddr>) -> Self {
            self.link.tcp = Some(address.into());
            self
        }

        /// Sets the address that others dial.
        #[must_use]
        pub fn with_advertised(mut self, address: IpAddr) -> Self {
            self.link.advertised = Some(address);
            self
        }

        /// Sets the token that every peer must show.
        #[must_use]
        pub fn with_token(mut self, token: Token) -> Self {
            self.link.token = Some(token);
            self
        }

        /// Sets TLS for every tcp link: then no peer without it is spoken to over tcp.
        #[must_use]
        pub fn with_tls(mut self, tls: TlsOptions) -> Self {
            self.link.tls = Some(tls);
            self
        }

        /// Sets the RDMA device to use, such as `mlx5_0`; `rdma link` lists them.
        #[must_use]
        pub fn with_verbs_device(mut self, device: &str) -> Self {
            self.link.verbs_device = Some(device.to_owned());
            self
        }

        /// Sets the longest that opening may take.
        #[must_use]
        pub fn with_open_timeout(mut self, timeout: Duration) -> Self {
            self.link.open_timeout = timeout;
            self
        }

        /// Sets the longest that closing may take.
        #[must_use]
        pub fn with_close_timeout(mut self, timeout: Duration) -> Self {
            self.link.close_timeout = timeout;
            self
        }

        /// Sets after which silence a peer is lost.
        #[must_use]
        pub fn with_silence(mut self, silence: Duration) -> Self {
            self.link.silence = silence;
            self
        }

        /// Sets how long a waiting call looks again and again before it sleeps. What comes meanwhile needs no wake of a
        /// sleeping core, which takes tens of microseconds. The price is a core that is busy while it waits.
        #[must_use]
        pub fn with_busy_poll(mut self, at_most: Duration) -> Self {
            self.link.busy_poll = at_most;
            self
        }
    };
}

pub(crate) use link_setters;
