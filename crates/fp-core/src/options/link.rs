//! Options that both sides of a stream share: cohort, rendezvous, transports, timeouts.

use crate::rendezvous::Rendezvous;
use crate::value::cohort::Cohort;
use crate::value::collectives::SharedCollectives;
use crate::value::interrupt::Interrupt;
use fp_transport::{
    Contact, ListenAddress, ListenAddressError, TlsError, TlsOptions, Token, TokenFileError, TransportPolicy,
};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What publisher and subscriber have in common: cohort, rendezvous, transports, patience.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::PublisherOptions;
/// use std::time::Duration;
///
/// let mut options = PublisherOptions::default();
/// options.link.close_timeout = Duration::from_secs(30); // the same as with_close_timeout
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkOptions {
    /// Rank and size. Default: alone.
    pub cohort: Cohort,
    /// Collectives of the launcher over the ranks of this cohort. Default none: the ranks find their lead by the
    /// rendezvous.
    pub collectives: Option<SharedCollectives>,
    /// The rendezvous: a directory, or a meeting place. Default: by the environment.
    pub rendezvous: Option<Rendezvous>,
    /// The lead of the own cohort, where the launcher knows it.
    pub lead_contact: Option<Contact>,
    /// Which transports may be used, and whether falling back is forbidden. Default: by `FLEXPATH_TRANSPORTS`,
    /// else all.
    pub transports: Option<TransportPolicy>,
    /// Where to listen for tcp. Default: by `FLEXPATH_LISTEN`, else loopback and a port of the system's choice. With that
    /// address, and with none, a lone subscriber does not listen.
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
    /// Descriptors that links leave to the program. Default: a quarter of those that the process may have.
    pub kept_descriptors: Option<u64>,
    /// The longest that opening may take. Default 60 s.
    pub open_timeout: Duration,
    /// The longest that closing may take. Default 30 s.
    pub close_timeout: Duration,
    /// A peer that is silent for this long is lost. Default 10 s.
    pub silence: Duration,
    /// How long a waiting call looks again and again before it sleeps. Default zero: it sleeps at once.
    pub busy_poll: Duration,
    /// Asked while a call waits: whether it is to end. Default none.
    pub interrupt: Option<Interrupt>,
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
            kept_descriptors: None,
            open_timeout: Duration::from_secs(60),
            close_timeout: Duration::from_secs(30),
            silence: Duration::from_secs(10),
            busy_poll: Duration::ZERO,
            interrupt: None,
        }
    }
}

impl LinkOptions {
    /// Where to listen for tcp, by these options or the environment; `None`: not at all.
    pub(crate) fn tcp_address(&self) -> Result<Option<SocketAddr>, ListenAddressError> {
        let given = self.tcp.map_or_else(ListenAddress::from_environment, Ok);
        Ok(given?.address())
    }

    /// TLS, by these options or the environment.
    pub(crate) fn tls_options(&self) -> Result<Option<TlsOptions>, TlsError> {
        match &self.tls {
            Some(given) => Ok(Some(given.clone())),
            None => TlsOptions::from_environment(),
        }
    }

    /// The token, by these options or the environment.
    pub(crate) fn run_token(&self) -> Result<Option<Token>, TokenFileError> {
        match &self.token {
            Some(given) => Ok(Some(given.clone())),
            None => Token::from_environment(),
        }
    }
}

/// Setters of options: a line for each says what it is called and takes, and which field becomes what.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($given:ident: $kind:ty) => $($field:ident).+ = $value:expr;)+) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $given: $kind) -> Self {
                self.$($field).+ = $value;
                self
            }
        )+
    };
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

        setters! {
            /// Sets the rendezvous: a directory, or a meeting place.
            with_rendezvous(rendezvous: Rendezvous) => link.rendezvous = Some(rendezvous);

            /// Sets the contact of the own cohort's lead.
            with_lead_contact(contact: Contact) => link.lead_contact = Some(contact);

            /// Sets which transports may be used.
            with_transports(policy: TransportPolicy) => link.transports = Some(policy);

            /// Sets where to listen for tcp; `None`: not at all. `FLEXPATH_LISTEN` then counts no more. A lone subscriber
            /// listens at another address than `127.0.0.1:0` alone.
            with_tcp(address: Option<SocketAddr>) => link.tcp = Some(address.into());

            /// Sets the address that others dial.
            with_advertised(address: IpAddr) => link.advertised = Some(address);

            /// Sets the token that every peer must show.
            with_token(token: Token) => link.token = Some(token);

            /// Sets TLS for every tcp link: then no peer without it is spoken to over tcp.
            with_tls(tls: TlsOptions) => link.tls = Some(tls);

            /// Sets the RDMA device to use, such as `mlx5_0`; `rdma link` lists them.
            with_verbs_device(device: &str) => link.verbs_device = Some(device.to_owned());

            /// Sets how many descriptors links leave to the program: a peer whose link would take one of these is told to
            /// come again.
            with_kept_descriptors(descriptors: u64) => link.kept_descriptors = Some(descriptors);

            /// Sets the longest that opening may take.
            with_open_timeout(timeout: Duration) => link.open_timeout = timeout;

            /// Sets the longest that closing may take.
            with_close_timeout(timeout: Duration) => link.close_timeout = timeout;

            /// Sets after which silence a peer is lost.
            with_silence(silence: Duration) => link.silence = silence;

            /// Sets how long a waiting call looks again and again before it sleeps. What comes meanwhile needs no wake
            /// of a sleeping core, which takes tens of microseconds. The price is a core that is busy while it waits.
            with_busy_poll(at_most: Duration) => link.busy_poll = at_most;

            /// Sets what a call asks while it waits: whether it is to end. It is asked on the thread that waits, some 20
            /// times a second, and never by a call that need not wait. A call that is to end does so as if its time
            /// were over. It is for languages whose interpreter learns of a signal only when it is asked, as Python's.
            with_interrupt(interrupt: Interrupt) => link.interrupt = Some(interrupt);
        }
    };
}

pub(crate) use {link_setters, setters};
