//! How subscriber ranks tell publisher ranks that they have a step, so that the next one is begun. Each sends a
//! datagram, outside the stream that is measured.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::failure::RoleFailure;

/// Where a publisher rank hears of it.
fn place(directory: &Path, rank: u32) -> PathBuf {
    directory.join(format!("told-{rank}"))
}

/// A publisher rank's ear.
pub(crate) struct Ear {
    socket: UnixDatagram,
    spins: bool,
    timeout: Duration,
}

impl Ear {
    /// Opens it; with `spins` it never sleeps.
    pub(crate) fn open(
        directory: &Path,
        rank: u32,
        spins: bool,
        timeout: Duration,
    ) -> Result<Self, RoleFailure> {
        let open = || {
            let socket = UnixDatagram::bind(place(directory, rank))?;
            socket.set_nonblocking(spins)?;
            socket.set_read_timeout(Some(timeout))?;
            Ok(socket)
        };
        let socket = open().map_err(|source| RoleFailure::Tell { what: "listen for subscribers", source })?;
        Ok(Self { socket, spins, timeout })
    }

    /// Waits until `ranks` subscriber ranks have the step.
    pub(crate) fn hear(&self, ranks: u32) -> Result<(), RoleFailure> {
        let deadline = Instant::now() + self.timeout;
        let mut heard = 0;
        while heard < ranks {
            match self.socket.recv(&mut [0; 8]) {
                Ok(_) => heard += 1,
                Err(error)
                    if self.spins && error.kind() == ErrorKind::WouldBlock && Instant::now() < deadline =>
                {
                    std::hint::spin_loop();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(RoleFailure::Tell { what: "hear that subscribers have the step", source });
                }
            }
        }
        Ok(())
    }
}

/// A subscriber rank's voice.
pub(crate) struct Voice {
    socket: UnixDatagram,
    places: Vec<PathBuf>,
}

impl Voice {
    /// Opens it.
    pub(crate) fn open(directory: &Path, publishers: u32, timeout: Duration) -> Result<Self, RoleFailure> {
        let open = || -> io::Result<UnixDatagram> {
            let socket = UnixDatagram::unbound()?;
            socket.set_write_timeout(Some(timeout))?;
            Ok(socket)
        };
        let socket = open().map_err(|source| RoleFailure::Tell { what: "open a socket", source })?;
        let places = (0..publishers).map(|rank| place(directory, rank)).collect();
        Ok(Self { socket, places })
    }

    /// Tells all publisher ranks that this rank has the step.
    pub(crate) fn tell(&self, step: u64) -> Result<(), RoleFailure> {
        for place in &self.places {
            let sent = self.socket.send_to(&step.to_le_bytes(), place);
            sent.map_err(|source| RoleFailure::Tell { what: "tell a publisher of its step", source })?;
        }
        Ok(())
    }
}
