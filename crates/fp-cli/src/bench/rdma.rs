//! What a bench needs to go over RDMA: a device that works and an address of it to listen at. As that address is not
//! loopback, it also needs a token. Everybody can see arguments. So the token lies in the run's own directory, which
//! nobody else can look into.

use std::net::SocketAddr;
use std::path::Path;

use fp_core::diagnosis::{ProbeError, probe_own_verbs};
use fp_core::{LinkOptions, Token, TransportPolicy, VerbsDevice, VerbsTrouble, verbs_devices};

use super::failure::{BenchFailure, RoleFailure};
use super::options::Transport;
use super::task::Setup;

/// The file of the token.
const FILE: &str = "token";

/// Where to listen, if the run is to go over RDMA; proved with real bytes.
pub(crate) fn prepare(transport: Transport, directory: &Path) -> Result<Option<SocketAddr>, BenchFailure> {
    if transport != Transport::Verbs {
        return Ok(None);
    }
    let address = address().map_err(Box::new)?;
    let failed = |what| move |source| BenchFailure::Start { what, source };
    let token = Token::random().map_err(failed("make a token"))?;
    token.write_file(directory.join(FILE)).map_err(failed("keep a token"))?;
    Ok(Some(address))
}

fn address() -> Result<SocketAddr, ProbeError> {
    let mut link = LinkOptions::default();
    link.transports = Transport::Verbs.policy().and_then(|names| names.parse::<TransportPolicy>().ok());
    probe_own_verbs(&link)?;
    let pinned = std::env::var("FLEXPATH_VERBS_DEVICE").ok();
    let usable = |device: &&VerbsDevice| {
        device.port.is_ok() && pinned.as_ref().is_none_or(|name| *name == device.name)
    };
    let devices = verbs_devices()?;
    let mut addresses = devices.iter().filter(usable).flat_map(|device| &device.addresses);
    Ok(SocketAddr::new(*addresses.next().ok_or(VerbsTrouble::NoDevice)?, 0))
}

/// The token of a run over RDMA.
pub(crate) fn token(setup: &Setup) -> Result<Option<Token>, RoleFailure> {
    let read = setup.listen.map(|_| Token::from_file(setup.directory.join(FILE)));
    Ok(read.transpose()?)
}
