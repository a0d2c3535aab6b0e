//! Events, endings and counters as dicts.

use flexpath::{Event, Statistics, StreamEnding};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An event: `event` is its name, `text` says it in words, and the rest are its values.
pub(crate) fn told<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyDict>> {
    let words = PyDict::new(py);
    words.set_item("event", name(event))?;
    words.set_item("text", event.to_string())?;
    for (word, value) in numbers(event) {
        words.set_item(word, value)?;
    }
    for (word, value) in texts(event) {
        words.set_item(word, value)?;
    }
    if let Event::Restarted { continues, .. } = event {
        words.set_item("continues", continues)?;
    }
    Ok(words)
}

fn name(event: &Event) -> &'static str {
    match event {
        Event::Opened { .. } => "opened",
        Event::OpenFailed { .. } => "open_failed",
        Event::SubscriptionStarted { .. } => "subscription_started",
        Event::MemberJoined { .. } => "member_joined",
        Event::MemberLeft { .. } => "member_left",
        Event::SubscriptionEnded { .. } => "subscription_ended",
        Event::Denied(_) => "denied",
        Event::StepDropped { .. } => "step_dropped",
        Event::StepRejected { .. } => "step_rejected",
        Event::RankLagging { .. } => "rank_lagging",
        Event::RankLost { .. } => "rank_lost",
        Event::Reselected { .. } => "reselected",
        Event::AwaitingRestart { .. } => "awaiting_restart",
        Event::Restarted { .. } => "restarted",
        Event::Ended(_) => "ended",
        Event::Closed(_) => "closed",
        _ => "other",
    }
}

/// What is counted or numbered in an event.
fn numbers(event: &Event) -> Vec<(&'static str, u64)> {
    match event {
        Event::SubscriptionStarted { subscription, first } => {
            vec![("subscription", subscription.0), ("first", first.0)]
        }
        Event::MemberJoined { subscription, member, cohort_size, .. } => {
            let size = u64::from(*cohort_size);
            vec![("subscription", subscription.0), ("member", *member), ("cohort_size", size)]
        }
        Event::MemberLeft { subscription, member, .. } => {
            vec![("subscription", subscription.0), ("member", *member)]
        }
        Event::SubscriptionEnded { subscription } => vec![("subscription", subscription.0)],
        Event::StepDropped { subscription, step } => {
            vec![("subscription", subscription.0), ("step", step.0)]
        }
        Event::StepRejected { step, .. } => vec![("step", step.0)],
        Event::RankLagging { step, rank } => vec![("step", step.0), ("rank", rank.0.into())],
        Event::RankLost { rank, .. } => vec![("rank", rank.0.into())],
        Event::Reselected { first } | Event::Restarted { first, .. } => vec![("first", first.0)],
        _ => Vec::new(),
    }
}

/// What is said in words in an event.
fn texts(event: &Event) -> Vec<(&'static str, String)> {
    match event {
        Event::Opened { epoch } | Event::Restarted { epoch, .. } => vec![("epoch", epoch.to_string())],
        Event::MemberJoined { label, .. } => vec![("label", label.clone())],
        Event::MemberLeft { reason, .. } => vec![("reason", reason.to_string())],
        Event::Denied(denial) => vec![("reason", denial.to_string())],
        Event::StepRejected { reason, .. } => vec![("reason", reason.to_string())],
        Event::RankLost { reason, .. } => vec![("reason", reason.to_string())],
        Event::AwaitingRestart { reason } => vec![("reason", reason.to_string())],
        _ => Vec::new(),
    }
}

/// How a stream ended.
pub(crate) fn ending<'py>(py: Python<'py>, ending: &StreamEnding) -> PyResult<Bound<'py, PyDict>> {
    let words = PyDict::new(py);
    words.set_item("text", ending.to_string())?;
    words.set_item(
        "is_clean",
        matches!(ending.reason, flexpath::EndReason::Closed | flexpath::EndReason::Left),
    )?;
    words.set_item("last", ending.last.map(|step| step.0))?;
    words.set_item("skipped", ending.skipped)?;
    Ok(words)
}

/// What was counted, by name.
pub(crate) fn statistics<'py>(py: Python<'py>, counted: &Statistics) -> PyResult<Bound<'py, PyDict>> {
    let words = PyDict::new(py);
    for (name, value) in counted.named() {
        words.set_item(name, value)?;
    }
    Ok(words)
}
