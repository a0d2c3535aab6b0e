//! What is counted during one stage of a run.

use std::collections::BTreeMap;

/// Something that a rank reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Its stream is open: a publisher's cohort is complete, a subscriber is attached.
    Opened,
    /// It sent its subscription.
    Asked,
    /// A publisher rank knows the first step of a subscription.
    Started,
    /// A publisher rank knows that the step is decided and assigned.
    Applied,
    /// A subscriber rank's application has the step.
    Taken,
    /// A subscriber rank knows who owns what it wants of the step.
    Resolved,
    /// A publisher rank reclaimed the step's blocks.
    Freed,
    /// A publisher rank knows that a subscription is over.
    Detached,
    /// A subscriber rank knows that the stream is over.
    Ended,
    /// A rank knows that a rank of its cohort is lost.
    Lost,
}

/// Messages of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// How many.
    pub messages: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// Bytes of the longest.
    pub longest_bytes: u64,
}

/// The books of one stage.
#[derive(Clone, Debug, Default)]
pub struct Books {
    /// When the stage began.
    pub(crate) began_ns: u64,
    marks: BTreeMap<Mark, (u64, u64)>,
    /// Messages by their kinds.
    pub traffic: BTreeMap<&'static str, Traffic>,
    /// Processor time of all handlers, with the codec, over all ranks.
    pub(crate) cpu_ns: u64,
    /// Of the publisher's lead.
    pub(crate) lead_cpu_ns: u64,
    /// Of the longest single input, and what it was.
    pub(crate) longest_cpu: (u64, &'static str),
    /// Inputs that were interrupted, and what of their time is not counted for that.
    pub(crate) interruptions: (u64, u64),
}

impl Books {
    pub(crate) fn begin(began_ns: u64) -> Self {
        Self { began_ns, ..Self::default() }
    }

    pub(crate) fn mark(&mut self, mark: Mark, at_ns: u64) {
        let entry = self.marks.entry(mark).or_default();
        *entry = (entry.0 + 1, entry.1.max(at_ns));
    }

    pub(crate) fn sent(&mut self, kind: &'static str, len_bytes: u64) {
        let traffic = self.traffic.entry(kind).or_default();
        traffic.messages += 1;
        traffic.bytes += len_bytes;
        traffic.longest_bytes = traffic.longest_bytes.max(len_bytes);
    }

    pub(crate) fn worked(&mut self, what: &'static str, lead: bool, cpu_ns: u64) {
        self.cpu_ns += cpu_ns;
        if lead {
            self.lead_cpu_ns += cpu_ns;
        }
        self.longest_cpu = self.longest_cpu.max((cpu_ns, what));
    }

    pub(crate) fn interrupted(&mut self, lost_ns: u64) {
        self.interruptions = (self.interruptions.0 + 1, self.interruptions.1 + lost_ns);
    }

    /// How many ranks reached this.
    pub(crate) fn count(&self, mark: Mark) -> u64 {
        self.marks.get(&mark).map_or(0, |entry| entry.0)
    }

    /// When the last of them did, in microseconds since the stage began.
    pub(crate) fn reached_us(&self, mark: Mark) -> f64 {
        let at_ns = self.marks.get(&mark).map_or(self.began_ns, |entry| entry.1);
        at_ns.saturating_sub(self.began_ns) as f64 / 1e3
    }

    /// Messages of all kinds.
    pub fn messages(&self) -> u64 {
        self.traffic.values().map(|traffic| traffic.messages).sum()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.traffic.values().map(|traffic| traffic.bytes).sum()
    }

    /// Bytes of the longest message of a kind.
    pub fn longest_bytes(&self, kind: &str) -> u64 {
        self.traffic.get(kind).map_or(0, |traffic| traffic.longest_bytes)
    }
}
