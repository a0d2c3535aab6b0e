//! Where connections are taken.

use crate::connection::{Connection, EPOCH};
use crate::error::connection::ConnectionError;
use fp_transport::{ListenError, ListenOptions, Listener, TlsError, TlsOptions, Token};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Takes connections that others dial.
#[derive(Debug)]
pub struct ConnectionListener {
    listener: Listener,
    address: SocketAddr,
}

/// Who listens for tcp alone, at an address that is known without an entry of a rendezvous; and what others dial.
pub(crate) fn bound<E: From<ListenError> + From<TlsError>>(
    epoch: u128,
    (address, advertised): (SocketAddr, Option<IpAddr>),
    token: Option<Token>,
    tls: Option<TlsOptions>,
) -> Result<(Listener, SocketAddr), E> {
    let options = ListenOptions::new(epoch)
        .with_shm(false)
        .with_inproc(false)
        .with_tcp(Some(address))
        .with_advertised(advertised)
        .with_token(token)
        .with_tls(tls.map(|tls| tls.load()).transpose()?);
    let listener = Listener::bind(options)?;
    let address = listener.contact().tcp_addresses().next().unwrap_or(address);
    Ok((listener, address))
}

impl ConnectionListener {
    /// Listens at an address; port 0: one of the system's choice. Off loopback that needs a token or TLS, and at the
    /// unspecified address the one that others dial (`advertised`).
    ///
    /// # Errors
    /// [`ConnectionError`]: the address, the token, the files of TLS.
    pub fn listen(
        address: SocketAddr,
        advertised: Option<IpAddr>,
        token: Option<Token>,
        tls: Option<TlsOptions>,
    ) -> Result<Self, ConnectionError> {
        let (listener, address) = bound::<ConnectionError>(EPOCH, (address, advertised), token, tls)?;
        Ok(Self { listener, address })
    }

    /// What others dial.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection; none if nobody came in that time. Who is slow to say who he is holds up nobody else.
    ///
    /// # Errors
    /// What breaks the listener itself; no peer can cause that.
    pub fn accept(&mut self, within: Duration) -> Result<Option<Connection>, ConnectionError> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(accepted) = self.listener.accept(Instant::now())? {
                let peer = accepted.link.negotiated().detail.clone();
                return Connection::over(accepted.link, peer).map(Some).map_err(ConnectionError::System);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = left.try_into().ok();
            match poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], timeout.as_ref()) {
                Ok(0) if left.is_zero() => return Ok(None),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(ConnectionError::System(errno.into())),
            }
        }
    }
}
