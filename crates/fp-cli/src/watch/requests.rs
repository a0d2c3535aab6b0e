//! What a watch asks of the simulation: by a subscriber of its own, one request at a time, while the watch goes on.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fp_core::{RequestError, StepId, Subscriber};
use serde_json::json;

use crate::arguments::Assignment;

/// What is asked for, and for which step of the watch.
struct Asked {
    assignment: Assignment,
    hit: StepId,
}

/// Requests for each parameter that are not answered, at most: one is under way, and one more may wait. Of several parameters
/// none is in another's way.
const LIMIT_UNANSWERED: u32 = 2;

/// How many requests for each parameter are not answered.
#[derive(Clone, Debug, Default)]
struct Unanswered(Arc<Mutex<HashMap<String, u32>>>);

impl Unanswered {
    fn counts(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there may be one more; then there is.
    fn begin(&self, parameter: &str) -> bool {
        let mut counts = self.counts();
        let count = counts.entry(parameter.to_owned()).or_default();
        let may = *count < LIMIT_UNANSWERED;
        *count += u32::from(may);
        may
    }

    fn end(&self, parameter: &str) {
        if let Some(count) = self.counts().get_mut(parameter) {
            *count -= 1;
        }
    }
}

/// Who asks.
#[derive(Debug)]
pub(super) struct Requests {
    sender: Option<Sender<Asked>>,
    thread: Option<JoinHandle<()>>,
    unanswered: Unanswered,
    /// Requests that were not made, as others for the same parameter were not answered.
    passed_over: u64,
}

impl Requests {
    /// Asks by that subscriber; each answer may take so long.
    pub(super) fn by(asker: Subscriber, patience: Duration, json: bool) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let unanswered = Unanswered::default();
        let answered = unanswered.clone();
        let thread = std::thread::Builder::new()
            .name("flexpath-request".to_owned())
            .spawn(move || ask_all(asker, &receiver, &answered, (patience, json)))?;
        Ok(Self { sender: Some(sender), thread: Some(thread), unanswered, passed_over: 0 })
    }

    /// Asks for something, unless as much of that is under way as may be.
    pub(super) fn start(&mut self, assignment: &Assignment, hit: StepId) {
        let asked = Asked { assignment: assignment.clone(), hit };
        let may = self.unanswered.begin(&assignment.parameter);
        let is_taken = may && self.sender.as_ref().is_some_and(|sender| sender.send(asked).is_ok());
        self.passed_over += u64::from(!is_taken);
    }

    /// Waits for the answers that are to come.
    pub(super) fn finish(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // It has said whatever went wrong.
            let _ = thread.join();
        }
        if self.passed_over > 0 {
            eprintln!(
                "flexpath: {} requests were not made, as {LIMIT_UNANSWERED} for the same parameter had no answer yet",
                self.passed_over
            );
        }
    }
}

fn ask_all(
    mut asker: Subscriber,
    asked: &Receiver<Asked>,
    unanswered: &Unanswered,
    (patience, json): (Duration, bool),
) {
    for Asked { assignment, hit } in asked {
        let answer = asker.request(&assignment.parameter, assignment.value.clone(), patience);
        unanswered.end(&assignment.parameter);
        let line =
            if json { json_line(&assignment, hit, &answer) } else { text_line(&assignment, hit, &answer) };
        // Nobody reads any more: the watch itself notices.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    if let Err(error) = asker.close() {
        eprintln!("flexpath: {error}");
    }
}

fn text_line(asked: &Assignment, hit: StepId, answer: &Result<StepId, RequestError>) -> String {
    let Assignment { parameter, value } = asked;
    match answer {
        Ok(step) => format!("step {hit}  {parameter} = {value}: applied at step {step}"),
        Err(error) => format!("step {hit}  {parameter} = {value}: {error}"),
    }
}

fn json_line(asked: &Assignment, hit: StepId, answer: &Result<StepId, RequestError>) -> String {
    let (applied, error) = match answer {
        Ok(step) => (Some(step.0), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let Assignment { parameter, value } = asked;
    json!({ "step": hit.0, "parameter": parameter, "value": value.to_string(), "applied": applied, "error": error })
        .to_string()
}
