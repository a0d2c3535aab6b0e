//! Events, endings and counters as dicts.

use flexpath::{Event, Statistics, StreamEnding};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An event: `event` is its name, `text` says it in words, and the rest are its values.
pub(crate) fn told<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyDict>> {
    let words = PyDict::new(py);
    words.set_item("text", event.to_string())?;
    let name = match event {
        Event::Opened { epoch } => {
            words.set_item("epoch", epoch.to_string())?;
            "opened"
        }
        Event::OpenFailed { .. } => "open_failed",
        Event::SubscriptionStarted { subscription, first } => {
            words.set_item("subscription", subscription.0)?;
            words.set_item("first", first.0)?;
            "subscription_started"
        }
        Event::MemberJoined { subscription, member, label, cohort_size } => {
            words.set_item("subscription", subscription.0)?;
            words.set_item("member", member)?;
            words.set_item("label", label)?;
            words.set_item("cohort_size", cohort_size)?;
            "member_joined"
        }
        Event::MemberLeft { subscription, member, reason } => {
            words.set_item("subscription", subscription.0)?;
            words.set_item("member", member)?;
            words.set_item("reason", reason.to_string())?;
            "member_left"
        }
        Event::SubscriptionEnded { subscription } => {
            words.set_item("subscription", subscription.0)?;
            "subscription_ended"
        }
        Event::Denied(denial) => {
            words.set_item("reason", denial.to_string())?;
            "denied"
        }
        Event::StepDropped { subscription, step } => {
            words.set_item("subscription", subscription.0)?;
            words.set_item("step", step.0)?;
            "step_dropped"
        }
        Event::StepRejected { step, reason } => {
            words.set_item("step", step.0)?;
            words.set_item("reason", reason.to_string())?;
            "step_rejected"
        }
        Event::RankLagging { step, rank } => {
            words.set_item("step", step.0)?;
            words.set_item("rank", rank.0)?;
            "rank_lagging"
        }
        Event::RankLost { rank, reason } => {
            words.set_item("rank", rank.0)?;
            words.set_item("reason", reason.to_string())?;
            "rank_lost"
        }
        Event::Reselected { first } => {
            words.set_item("first", first.0)?;
            "reselected"
        }
        Event::AwaitingRestart { reason } => {
            words.set_item("reason", reason.to_string())?;
            "awaiting_restart"
        }
        Event::Restarted { epoch, first, continues } => {
            words.set_item("epoch", epoch.to_string())?;
            words.set_item("first", first.0)?;
            words.set_item("continues", continues)?;
            "restarted"
        }
        Event::Ended(_) => "ended",
        Event::Closed(_) => "closed",
        _ => "other",
    };
    words.set_item("event", name)?;
    Ok(words)
}

/// How a stream ended.
pub(crate) fn ending<'py>(py: Python<'py>, ending: &StreamEnding) -> PyResult<Bound<'py, PyDict>> {
    let words = PyDict::new(py);
    words.set_item("text", ending.to_string())?;
    words.set_item("is_clean", matches!(ending.reason, flexpath::EndReason::Closed | flexpath::EndReason::Left))?;
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
