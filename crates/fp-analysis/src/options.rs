//! What is asked of an analysis.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fp_core::{Cohort, Interrupt, LinkOptions, OnLoss, PublisherOptions, QueuePolicy, SubscriberOptions};

use crate::connectivity::{Connectivity, PeriodicDim};
use crate::statistics::Column;
use crate::threshold::Threshold;

/// What is asked of an analysis. All its ranks are asked the same.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AnalysisOptions {
    /// The stream that is taken.
    pub stream: String,
    /// The stream of features.
    pub published: String,
    /// Which elements of which variable count.
    pub threshold: Threshold,
    /// Which elements are neighbours. Default: those that share a face.
    pub connectivity: Connectivity,
    /// The dimensions in which the last element is a neighbour of the first. Default: none.
    pub periodic: Vec<PeriodicDim>,
    /// The columns that are correlated. Default: volume and peak.
    pub correlated: (Column, Column),
    /// Whether steps are dropped where the publisher would have to wait. Default no.
    pub lossy: bool,
    /// How long a publisher that is lost is awaited. Default zero: the analysis ends.
    pub awaits: Duration,
    /// Subscribers of the features that are awaited before their first step. Default 0.
    pub subscribers: u32,
    /// The last steps of features that are kept for newcomers. Default 0.
    pub reserve_steps: u32,
    /// Ends after so many steps. Default: with the stream.
    pub steps: Option<u64>,
    /// Whether each step is told with a map of its features. Default no. It must be asked of all ranks.
    pub mapped: bool,
    /// The longest that one rank's part is awaited. Default 60 s.
    pub patience: Duration,
    /// Rendezvous, transports, credentials, timeouts, interrupts of all streams. Its cohort is set by the analysis.
    pub link: LinkOptions,
    stop: Option<Stop>,
}

/// A question that the analysis asks: whether it is to end.
#[derive(Clone)]
struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}

impl AnalysisOptions {
    /// Takes this stream, and publishes features of these elements under another name.
    pub fn new(stream: impl Into<String>, published: impl Into<String>, threshold: Threshold) -> Self {
        Self {
            stream: stream.into(),
            published: published.into(),
            threshold,
            connectivity: Connectivity::default(),
            periodic: Vec::new(),
            correlated: (Column::Volume, Column::Peak),
            lossy: false,
            awaits: Duration::ZERO,
            subscribers: 0,
            reserve_steps: 0,
            steps: None,
            mapped: false,
            patience: Duration::from_secs(60),
            link: LinkOptions::default(),
            stop: None,
        }
    }

    /// Has the analysis ask, in its waits too, whether it is to end. What was asked before is asked no more.
    #[must_use]
    pub fn with_interrupt(mut self, is_asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let stop: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(is_asked);
        let asked = stop.clone();
        self.link.interrupt = Some(Interrupt::new(move || asked()));
        self.stop = Some(Stop(stop));
        self
    }

    /// Whether the analysis is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| (stop.0)())
    }

    /// The name of the stream over which ranks in several processes hand over their parts.
    pub fn parts_stream(&self) -> String {
        format!("{}-parts", self.published)
    }

    pub(crate) fn link_of(&self, cohort: Cohort) -> LinkOptions {
        let mut link = self.link.clone();
        link.cohort = cohort;
        link
    }

    /// For a rank that takes its ranges of planes.
    pub(crate) fn subscription(&self, cohort: Cohort) -> SubscriberOptions {
        let mut asked = SubscriberOptions::default()
            .with_variables([self.threshold.variable()])
            // By it the ranks of the cohort find one another.
            .with_name(format!("features-{}", self.published));
        asked.link = self.link_of(cohort);
        if !self.awaits.is_zero() {
            asked = asked.with_on_loss(OnLoss::AwaitRestart(self.awaits));
        }
        if self.lossy { asked.with_policy(QueuePolicy::DropOldest) } else { asked }
    }

    /// For the rank that publishes features, from this step on.
    pub(crate) fn publication(&self, first: u64) -> PublisherOptions {
        let mut asked = PublisherOptions::default()
            .with_first_step(first)
            .with_min_subscribers(self.subscribers)
            .with_reserve_steps(self.reserve_steps);
        asked.link = self.link_of(Cohort::alone());
        asked
    }
}
