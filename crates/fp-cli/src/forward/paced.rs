//! Bytes that go no faster than they may.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use fp_core::connection::Connection;

/// What may go at once, in seconds of the rate: so short a burst fills no queue on the way.
const BURST: Duration = Duration::from_millis(20);

/// How fast bytes may go, and when the next may.
pub(super) struct Paced {
    bytes_per_second: Option<u64>,
    /// When those that went before are due.
    due: Instant,
}

/// Where they go.
pub(super) struct PacedOver<'a> {
    paced: &'a mut Paced,
    connection: &'a Connection,
}

impl Paced {
    pub(super) fn new(bytes_per_second: Option<u64>) -> Self {
        Self { bytes_per_second, due: Instant::now() }
    }

    /// Writes over that connection.
    pub(super) fn over<'a>(&'a mut self, connection: &'a Connection) -> PacedOver<'a> {
        PacedOver { paced: self, connection }
    }

    /// How many of these bytes may go now; waits until some may.
    fn admit(&mut self, len: usize) -> usize {
        let Some(rate) = self.bytes_per_second else { return len };
        let now = Instant::now();
        self.due = self.due.max(now);
        let ahead = self.due - now;
        if ahead > BURST {
            thread::sleep(ahead - BURST);
        }
        let burst = (rate as f64 * BURST.as_secs_f64()).max(1.0) as usize;
        let may = len.min(burst);
        self.due += Duration::from_secs_f64(may as f64 / rate as f64);
        may
    }
}

impl Write for PacedOver<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let may = self.paced.admit(bytes.len());
        let mut connection = self.connection;
        connection.write(&bytes[..may])
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut connection = self.connection;
        connection.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_rate_all_may_go() {
        assert_eq!(Paced::new(None).admit(1 << 30), 1 << 30);
    }

    #[test]
    fn with_one_no_more_than_that() {
        let mut paced = Paced::new(Some(1_000_000));
        let (began, mut went) = (Instant::now(), 0);
        while went < 100_000 {
            went += paced.admit(100_000 - went);
        }
        // The first 20 ms go at once, and the last ones are under way.
        assert!(began.elapsed() >= Duration::from_millis(55), "{:?}", began.elapsed());
    }

    #[test]
    fn a_rate_below_a_byte_at_once_goes_byte_by_byte() {
        assert_eq!(Paced::new(Some(1)).admit(5), 1);
    }
}
