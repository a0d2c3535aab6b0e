//! How a listener listens, and why it cannot.

use crate::hello::{Token, TokenHash};
use crate::peer_proof::ShownToken;
use crate::tls::TlsIdentity;
use crate::verbs::Domain;
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// How to listen.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListenOptions {
    /// The epoch of this opening of a stream.
    pub epoch: u128,
    /// The token that diallers must show. Needed when `tcp` is not on loopback and without TLS.
    pub token: Option<Token>,
    /// Tokens that are taken beside it, by their hashes. Default none.
    pub listed_tokens: Vec<TokenHash>,
    /// TLS, on the tcp socket: then nothing else is spoken there. Default none.
    pub tls: Option<TlsIdentity>,
    /// Where to listen for tcp; port 0: the system chooses. Default: loopback. `None`: not at all.
    pub tcp: Option<SocketAddr>,
    /// The address that others dial, where `tcp` is the unspecified address.
    pub advertised: Option<IpAddr>,
    /// Where to take verbs connections: an address of an RDMA device, port 0: the system chooses. Off loopback, so it
    /// needs a token. Default `None`: not at all. Where it does not work the listener goes without, and says why
    /// ([`super::Listener::verbs_trouble`]).
    pub verbs: Option<SocketAddr>,
    /// What links over verbs share. Default: one of the listener's own.
    pub domain: Domain,
    /// Whether the last words of a handshake for control wait until the link is flushed, to go with what is sent first.
    /// Whoever accepts then flushes. Default false.
    pub gathers: bool,
    /// Whether shm is offered. Default true.
    pub shm: bool,
    /// Whether inproc is offered. Default true.
    pub inproc: bool,
    /// State byte of replies, see [`super::Listener::set_state`]. Default 0.
    pub state: u8,
    /// How long a handshake may take. Default 5 s.
    pub handshake_timeout_ms: u64,
    /// Most handshakes at one time, and half as many of one address or user. One more has the oldest given up that has
    /// not said a hello yet. Default 1024, and at most an eighth of the descriptors that the process may have.
    pub handshakes_limit: usize,
    /// Descriptors that are left to the program: what would take one of them is told `Busy`. Default `None`: a quarter
    /// of those that the process may have.
    pub kept_descriptors: Option<u64>,
}

impl ListenOptions {
    /// The defaults, for this epoch.
    pub fn new(epoch: u128) -> ListenOptions {
        ListenOptions {
            epoch,
            token: None,
            listed_tokens: Vec::new(),
            tls: None,
            tcp: Some((Ipv4Addr::LOCALHOST, 0).into()),
            advertised: None,
            verbs: None,
            domain: Domain::new(),
            gathers: false,
            shm: true,
            inproc: true,
            state: 0,
            handshake_timeout_ms: 5000,
            handshakes_limit: 1024,
            kept_descriptors: None,
        }
    }

    /// Sets the token.
    #[must_use]
    pub fn with_token(mut self, token: Option<Token>) -> Self {
        self.token = token;
        self
    }

    /// Sets the tokens that are taken beside that of the run.
    #[must_use]
    pub fn with_listed_tokens(mut self, tokens: Vec<TokenHash>) -> Self {
        self.listed_tokens = tokens;
        self
    }

    /// Sets TLS for tcp.
    #[must_use]
    pub fn with_tls(mut self, tls: Option<TlsIdentity>) -> Self {
        self.tls = tls;
        self
    }

    /// Sets where to listen for tcp.
    #[must_use]
    pub fn with_tcp(mut self, tcp: Option<SocketAddr>) -> Self {
        self.tcp = tcp;
        self
    }

    /// Sets the address that others dial.
    #[must_use]
    pub fn with_advertised(mut self, advertised: Option<IpAddr>) -> Self {
        self.advertised = advertised;
        self
    }

    /// Sets where to take verbs connections.
    #[must_use]
    pub fn with_verbs(mut self, verbs: Option<SocketAddr>) -> Self {
        self.verbs = verbs;
        self
    }

    /// Sets what links over verbs share.
    #[must_use]
    pub fn with_domain(mut self, domain: Domain) -> Self {
        self.domain = domain;
        self
    }

    /// Sets whether the last words of a handshake wait for a flush.
    #[must_use]
    pub fn with_gathers(mut self, gathers: bool) -> Self {
        self.gathers = gathers;
        self
    }

    /// Sets whether shm is offered.
    #[must_use]
    pub fn with_shm(mut self, shm: bool) -> Self {
        self.shm = shm;
        self
    }

    /// Sets whether inproc is offered.
    #[must_use]
    pub fn with_inproc(mut self, inproc: bool) -> Self {
        self.inproc = inproc;
        self
    }

    /// Sets the state byte of replies.
    #[must_use]
    pub fn with_state(mut self, state: u8) -> Self {
        self.state = state;
        self
    }

    /// Sets how long a handshake may take.
    #[must_use]
    pub fn with_handshake_timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.handshake_timeout_ms = timeout_ms;
        self
    }

    /// Sets how many handshakes may go on at one time.
    #[must_use]
    pub fn with_handshakes_limit(mut self, limit: usize) -> Self {
        self.handshakes_limit = limit;
        self
    }

    /// Sets how many descriptors are left to the program.
    #[must_use]
    pub fn with_kept_descriptors(mut self, descriptors: Option<u64>) -> Self {
        self.kept_descriptors = descriptors;
        self
    }

    /// Which of the tokens that are known here a dialler showed.
    pub(super) fn shown(&self, token: Option<&Token>) -> ShownToken {
        let Some(shown) = token else { return ShownToken::None };
        let hash = TokenHash::of(shown);
        match &self.token {
            Some(run) if run.matches(token) => ShownToken::Run(hash),
            _ if self.listed_tokens.contains(&hash) => ShownToken::Listed(hash),
            _ => ShownToken::None,
        }
    }

    pub(super) fn check(&self) -> Result<(), ListenError> {
        if self.tcp.or(self.verbs).is_none() && !self.shm && !self.inproc {
            return Err(ListenError::NoTransport);
        }
        self.tcp.into_iter().chain(self.verbs).try_for_each(|address| self.check_address(address))
    }

    fn check_address(&self, address: SocketAddr) -> Result<(), ListenError> {
        if !address.ip().is_loopback() && self.token.is_none() && self.tls.is_none() {
            return Err(ListenError::TokenNeeded { address });
        }
        if address.ip().is_unspecified() && self.advertised.is_none() {
            return Err(ListenError::Unadvertised { address });
        }
        Ok(())
    }

    pub(super) fn advertised(&self, bound: SocketAddr) -> SocketAddr {
        match self.advertised {
            Some(ip) if bound.ip().is_unspecified() => SocketAddr::new(ip, bound.port()),
            _ => bound,
        }
    }
}

/// Why a listener cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The options allow no transport.
    #[error("the options allow no transport to listen on")]
    NoTransport,
    /// Off loopback anybody can dial: that needs a token, or TLS, with which peers show certificates.
    #[error("listening on {address}, which is not loopback, needs a token or TLS")]
    TokenNeeded {
        /// The address.
        address: SocketAddr,
    },
    /// The unspecified address can be listened on, but not dialled.
    #[error("listening on {address} needs the address that others dial (`advertised`)")]
    Unadvertised {
        /// The address.
        address: SocketAddr,
    },
    /// The tcp address cannot be bound.
    #[error("cannot listen on tcp {address}: {cause}")]
    Tcp {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        cause: io::Error,
    },
    /// The abstract unix socket cannot be bound.
    #[error("cannot listen on unix @{name}: {cause}")]
    Unix {
        /// The abstract name.
        name: String,
        /// What the system said.
        cause: io::Error,
    },
    /// The listener's own descriptors failed.
    #[error("the listener failed: {0}")]
    System(io::Error),
}

impl ListenError {
    pub(super) fn system(errno: Errno) -> ListenError {
        ListenError::System(errno.into())
    }
}
