//! What links cost: latency, overhead for each message, bandwidth.

/// One kind of network. Every rank has a processor and a port of its own: it sends one message after the other and
/// receives one after the other.
#[derive(Clone, Copy, Debug)]
pub struct LinkCost {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// From the sender's port to the receiver's.
    pub(crate) latency_ns: u64,
    /// Of the processor for each message, at the sender and again at the receiver.
    pub(crate) overhead_ns: u64,
    /// Of each port.
    pub(crate) bytes_per_second: u64,
}

/// The networks that can be chosen.
pub(crate) const NETWORKS: [LinkCost; 3] = [
    LinkCost { name: "cluster", latency_ns: 2_000, overhead_ns: 1_000, bytes_per_second: 12_500_000_000 },
    // What docs/transports.md and docs/performance.md say of tcp on one machine: a half trip of a socket, with the
    // wake.
    LinkCost { name: "loopback", latency_ns: 10_000, overhead_ns: 5_000, bytes_per_second: 4_000_000_000 },
    LinkCost { name: "wan", latency_ns: 25_000_000, overhead_ns: 1_000, bytes_per_second: 125_000_000 },
];

impl LinkCost {
    /// The network of that name.
    pub fn named(name: &str) -> Option<Self> {
        NETWORKS.iter().copied().find(|network| network.name == name)
    }

    /// How long a message occupies a port.
    pub fn port_ns(&self, len_bytes: usize) -> u64 {
        (len_bytes as u128 * 1_000_000_000 / u128::from(self.bytes_per_second)) as u64
    }

    /// How long a dial takes until the other side has accepted; as long again until the dialler knows. One round trip
    /// for the connection and one for the hellos.
    pub(crate) fn dial_ns(&self) -> u64 {
        2 * self.latency_ns + 2 * self.overhead_ns
    }

    /// How long one rank takes to open data links to so many owners and to say to each what it wants. It opens them in
    /// waves of `wave` links. Computed, not run: data links are no part of the machines.
    pub(crate) fn open_data_links_ns(&self, owners: u64, wave: u64, want_bytes: usize) -> u64 {
        let of_wave = |links: u64| {
            let messages = 3 * links * self.overhead_ns;
            2 * self.dial_ns() + messages + links * self.port_ns(want_bytes) + self.latency_ns
        };
        let full = owners / wave;
        let rest = owners % wave;
        full * of_wave(wave) + if rest > 0 { of_wave(rest) } else { 0 }
    }
}
