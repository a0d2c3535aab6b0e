//! What a run comes to.

use serde::Serialize;
use std::collections::BTreeMap;

use super::options::Transport;
use super::task::{Found, Setup};

/// Quantiles of one kind of time, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Times {
    /// Of how many.
    pub(crate) count: usize,
    /// The middle.
    pub(crate) p50: f64,
    /// Of a hundred all but one are below.
    pub(crate) p99: f64,
    /// Of a thousand all but one are below; none of fewer.
    pub(crate) p999: Option<f64>,
    /// The longest.
    pub(crate) max: f64,
}

impl Times {
    /// Of nanoseconds.
    fn of(mut times_ns: Vec<u64>) -> Self {
        times_ns.sort_unstable();
        let count = times_ns.len();
        let at = |part: f64| {
            let index = (count.saturating_sub(1) as f64 * part).round() as usize;
            times_ns.get(index).map_or(f64::NAN, |ns| *ns as f64 / 1e3)
        };
        Self { count, p50: at(0.5), p99: at(0.99), p999: (count >= 1000).then(|| at(0.999)), max: at(1.0) }
    }
}

/// One side of the stream, all its ranks together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SideFigures {
    /// Processor time for each GB that was delivered, in the steps for throughput, without filling; of all ranks
    /// together where they are one process.
    pub(crate) cpu_s_per_gb: f64,
    /// The most memory that any rank's process had, shared memory included.
    pub(crate) peak_mib: f64,
    /// The same of all ranks, added.
    pub(crate) peak_all_mib: f64,
    /// Bytes that this side copied for each byte that was delivered; the kernel's copies are not counted.
    pub(crate) copied_per_delivered: f64,
}

/// What a run comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Bytes of a step over all ranks.
    pub(crate) step_bytes: u64,
    /// As the slowest subscriber rank sees it, 10^9 bytes.
    pub(crate) gb_per_s: f64,
    /// The same in steps.
    pub(crate) steps_per_s: f64,
    /// From before the last publisher rank's `begin_step` to a subscriber rank's array, paced.
    pub(crate) latency_us: Times,
    /// A publisher rank in our calls for one step, without filling, as fast as steps go: waiting for room is in it.
    pub(crate) calls_us: Times,
    /// Of that, `begin_step`: where it waits.
    pub(crate) begin_us: Times,
    /// A publisher rank in our calls for one step, without filling, paced: nothing to wait for.
    pub(crate) calls_paced_us: Times,
    /// From before the first subscriber rank attaches until the last one's `open` returned.
    pub(crate) open_ms: f64,
    /// From before the first subscriber rank attaches until the last one has the first step's data.
    pub(crate) attach_ms: f64,
    /// The publishers.
    pub(crate) publishers: SideFigures,
    /// The subscribers.
    pub(crate) subscribers: SideFigures,
    /// Bytes copied by either side for each byte that was delivered.
    pub(crate) copied_per_delivered: f64,
    /// Elements that were all looked at.
    pub(crate) checked: u64,
    /// Looking at elements, in the steps for throughput, for each step: it is in the throughput.
    pub(crate) checking_us: f64,
    /// What data links run over, and how many.
    pub(crate) transports: BTreeMap<String, usize>,
}

impl Figures {
    /// Of what all ranks found; none if a rank found less than it was told to.
    pub(crate) fn of(setup: &Setup, publishers: &[Found], subscribers: &[Found]) -> Option<Self> {
        let whole = setup.all_steps() as usize;
        let mut all = publishers.iter().chain(subscribers);
        if publishers.is_empty() || subscribers.is_empty() || all.any(|found| found.stamps_ns.len() != whole)
        {
            return None;
        }
        let (warm, paced) = (setup.warm_steps as usize, setup.first_paced() as usize);
        let had = |step: usize| subscribers.iter().map(|found| found.stamps_ns[step]).max().unwrap_or(0);
        let seconds = had(paced - 1).saturating_sub(had(warm - 1)).max(1) as f64 / 1e9;
        let opened = subscribers.iter().map(|found| found.opening_ns.0).min().unwrap_or(0);
        let open = subscribers.iter().map(|found| found.opening_ns.1).max().unwrap_or(0);
        let since_ms = |ns: u64| ns.saturating_sub(opened) as f64 / 1e6;
        let delivered = delivered_bytes(setup, subscribers);
        let copied = |side: &[Found]| side.iter().map(|found| found.copied_bytes).sum::<u64>() as f64;
        let calls = |found: &Found, step: usize| found.begin_ns[step] + found.put_ns[step];
        let checking: u64 = subscribers.iter().map(|found| found.checking_ns).max().unwrap_or(0);
        Some(Self {
            step_bytes: setup.step_bytes(),
            gb_per_s: (setup.step_bytes() * setup.steps) as f64 / seconds / 1e9,
            steps_per_s: setup.steps as f64 / seconds,
            latency_us: Times::of(latencies(publishers, subscribers, paced..whole - 1)),
            calls_us: times(publishers, warm..paced, calls),
            begin_us: times(publishers, warm..paced, |found, step| found.begin_ns[step]),
            calls_paced_us: times(publishers, paced..whole, calls),
            open_ms: since_ms(open),
            attach_ms: since_ms(had(0)),
            publishers: side(setup, publishers, delivered),
            subscribers: side(setup, subscribers, delivered),
            copied_per_delivered: (copied(publishers) + copied(subscribers)) / delivered.max(1.0),
            checked: subscribers.iter().map(|found| found.checked).sum(),
            checking_us: checking as f64 / 1e3 / setup.steps as f64,
            transports: transports(subscribers),
        })
    }
}

/// What the library says that it delivered; what must have been where it does not count.
fn delivered_bytes(setup: &Setup, subscribers: &[Found]) -> f64 {
    let counted: u64 = subscribers.iter().map(|found| found.payload_bytes).sum();
    if counted > 0 { counted as f64 } else { (setup.step_bytes() * setup.all_steps()) as f64 }
}

fn times(ranks: &[Found], steps: std::ops::Range<usize>, of: impl Fn(&Found, usize) -> u64) -> Times {
    Times::of(
        ranks
            .iter()
            .flat_map(|found| steps.clone().map(|step| of(found, step)).collect::<Vec<_>>())
            .collect(),
    )
}

/// Of each subscriber rank and step.
fn latencies(publishers: &[Found], subscribers: &[Found], steps: std::ops::Range<usize>) -> Vec<u64> {
    let begun = |step: usize| publishers.iter().map(|found| found.stamps_ns[step]).max().unwrap_or(0);
    let of_step = |step: usize| {
        let begun = begun(step);
        subscribers.iter().map(move |found| found.stamps_ns[step].saturating_sub(begun))
    };
    steps.flat_map(of_step).collect()
}

fn side(setup: &Setup, ranks: &[Found], delivered: f64) -> SideFigures {
    let one_process = setup.transport == Transport::Inproc;
    let own_cpu = |found: &Found| found.cpu_ns.0.saturating_sub(if one_process { 0 } else { found.cpu_ns.1 });
    let cpu = ranks.iter().map(own_cpu);
    let cpu_ns = if one_process { cpu.max().unwrap_or(0) } else { cpu.sum() };
    let gigabytes = (setup.step_bytes() * setup.steps) as f64 / 1e9;
    let peaks: Vec<f64> = ranks.iter().map(|found| found.peak_bytes as f64 / (1 << 20) as f64).collect();
    let peak_mib = peaks.iter().copied().fold(0.0, f64::max);
    SideFigures {
        cpu_s_per_gb: cpu_ns as f64 / 1e9 / gigabytes,
        peak_mib,
        peak_all_mib: if one_process { peak_mib } else { peaks.iter().sum() },
        copied_per_delivered: ranks.iter().map(|found| found.copied_bytes).sum::<u64>() as f64
            / delivered.max(1.0),
    }
}

/// The kinds of links, without what differs from link to link.
fn transports(subscribers: &[Found]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for text in subscribers.iter().flat_map(|found| &found.transports) {
        let kind = text.strip_prefix("transport=").unwrap_or(text);
        let kind = kind.split([' ', ';']).next().unwrap_or(kind).to_owned();
        let refused = text.split_once("; ").map_or(String::new(), |(_, refused)| format!(" ({refused})"));
        *kinds.entry(format!("{kind}{refused}")).or_insert(0) += 1;
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::options::{ElementType, Put};
    use std::time::Duration;

    fn setup() -> Setup {
        Setup {
            publishers: 2,
            subscribers: 1,
            shape: vec![1000],
            dtype: ElementType::U8,
            blocks: 1,
            warm_steps: 1,
            steps: 2,
            latency_steps: 1,
            transport: Transport::Shm,
            queue_limit: 4,
            put: Put::Loan,
            busy_poll: false,
            pin: false,
            timeout: Duration::from_secs(1),
            directory: std::path::PathBuf::new(),
            listen: None,
        }
    }

    fn publisher(shift_ns: u64) -> Found {
        Found {
            stamps_ns: [0, 10, 20, 5000, 9000].map(|ns| ns + shift_ns).to_vec(),
            begin_ns: vec![1, 2, 3, 4, 5],
            put_ns: vec![10; 5],
            cpu_ns: (500, 100),
            peak_bytes: 1 << 20,
            copied_bytes: 2500,
            ..Found::default()
        }
    }

    #[test]
    fn figures_are_what_the_stamps_say() {
        let subscriber = Found {
            stamps_ns: vec![1_000_000, 1_000_500, 1_001_000, 1_006_000, 1_009_000],
            opening_ns: (500_000, 700_000),
            payload_bytes: 5000,
            copied_bytes: 5000,
            transports: vec!["transport=shm abc; verbs refused: no device".into(); 2],
            ..Found::default()
        };
        let figures = Figures::of(&setup(), &[publisher(0), publisher(100)], &[subscriber]).unwrap();
        // Two steps of 1000 bytes in one microsecond.
        assert!((figures.gb_per_s - 2.0).abs() < 1e-9 && (figures.steps_per_s - 2e6).abs() < 1e-3);
        assert_eq!((figures.latency_us.count, figures.latency_us.p50), (1, 1000.9));
        assert_eq!((figures.calls_us.count, figures.calls_us.max, figures.begin_us.p50), (4, 0.013, 0.003));
        assert_eq!((figures.open_ms, figures.attach_ms), (0.2, 0.5));
        assert!((figures.publishers.cpu_s_per_gb - 0.4).abs() < 1e-9);
        assert_eq!((figures.publishers.peak_mib, figures.publishers.peak_all_mib), (1.0, 2.0));
        assert_eq!(figures.copied_per_delivered, 2.0);
        assert_eq!(
            figures.transports.into_iter().collect::<Vec<_>>(),
            [("shm (verbs refused: no device)".into(), 2)]
        );
    }

    #[test]
    fn a_rank_that_found_too_little_makes_no_figures() {
        let mut short = publisher(0);
        short.stamps_ns.pop();
        assert_eq!(Figures::of(&setup(), &[short], &[publisher(0)]), None);
    }
}
