//! What is told of the features of a step, as text or as a line of JSON.

use std::collections::HashMap;

use fp_analysis::{AnalysedStep, EventKind, FeatureEvent, TrackedFeature};
use serde::Serialize;

/// A step, for programs.
#[derive(Debug, Serialize)]
struct StepLine<'a> {
    stream: &'a str,
    step: u64,
    skipped: u64,
    features: Vec<FeatureLine<'a>>,
    events: Vec<EventLine>,
    /// Why there are no features.
    unlabelled: Option<&'a str>,
}

/// Numbers that are NaN or infinite are null.
#[derive(Debug, Serialize)]
struct FeatureLine<'a> {
    id: u64,
    age: u64,
    growth: i64,
    volume: u64,
    centroid: &'a [f64],
    low: &'a [u64],
    high: &'a [u64],
    /// A row for each dimension.
    covariance: Vec<&'a [f64]>,
    min: f64,
    min_place: &'a [u64],
    max: f64,
    max_place: &'a [u64],
    peak: f64,
    peak_place: &'a [u64],
    mean: f64,
    variance: f64,
}

#[derive(Debug, Serialize)]
struct EventLine {
    event: &'static str,
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<u64>,
}

/// A step as JSON.
pub(super) fn json(stream: &str, step: &AnalysedStep<'_>) -> Result<String, serde_json::Error> {
    let tracked = step.outcome.ok();
    let features = tracked.map(|tracked| tracked.features.iter().map(feature).collect());
    let events = tracked.map(|tracked| tracked.events.iter().map(event).collect());
    serde_json::to_string(&StepLine {
        stream,
        step: step.step,
        skipped: step.skipped,
        features: features.unwrap_or_default(),
        events: events.unwrap_or_default(),
        unlabelled: step.outcome.err(),
    })
}

fn feature(of: &TrackedFeature) -> FeatureLine<'_> {
    let feature = &of.feature;
    FeatureLine {
        id: of.id,
        age: of.age,
        growth: of.growth,
        volume: feature.volume,
        centroid: &feature.centroid,
        low: &feature.low,
        high: &feature.high,
        covariance: feature.covariance.chunks(feature.first.len().max(1)).collect(),
        min: feature.min,
        min_place: &feature.min_place,
        max: feature.max,
        max_place: &feature.max_place,
        peak: feature.peak,
        peak_place: &feature.peak_place,
        mean: feature.mean,
        variance: feature.variance,
    }
}

fn event(event: &FeatureEvent) -> EventLine {
    EventLine { event: event.kind.word(), id: event.id, other: event.other }
}

/// A line for each event: `step 41  birth of 7: 1203 elements around (3.1, 4.2, 9.0)`.
pub(super) fn texts(step: &AnalysedStep<'_>) -> Vec<String> {
    let skipped = if step.skipped > 0 { format!(" ({} skipped)", step.skipped) } else { String::new() };
    let lines = match step.outcome {
        Ok(tracked) => {
            let features: Features<'_> = tracked.features.iter().map(|of| (of.id, of)).collect();
            tracked.events.iter().map(|event| text(event, &features)).collect()
        }
        Err(why) => vec![format!("not labelled: {why}")],
    };
    lines.into_iter().map(|line| format!("step {}{skipped}  {line}", step.step)).collect()
}

/// The features of a step by their ids.
type Features<'f> = HashMap<u64, &'f TrackedFeature>;

fn text(event: &FeatureEvent, tracked: &Features<'_>) -> String {
    let (id, other) = (event.id, event.other.unwrap_or(0));
    match event.kind {
        EventKind::Birth => format!("birth of {id}{}", size(id, tracked)),
        EventKind::Death => format!("death of {id}"),
        EventKind::Merge => format!("merge: {id} takes {other} in{}", size(id, tracked)),
        EventKind::Split => format!("split: {other} comes out of {id}{}", size(other, tracked)),
    }
}

fn size(id: u64, tracked: &Features<'_>) -> String {
    let Some(of) = tracked.get(&id) else { return String::new() };
    let centroid: Vec<String> = of.feature.centroid.iter().map(|at| format!("{at:.1}")).collect();
    format!(": {} elements around ({})", of.feature.volume, centroid.join(", "))
}
