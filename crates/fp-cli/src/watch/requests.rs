//! What a watch asks of the simulation: by a subscriber of its own, one request at a time, while the watch goes on.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
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

/// Who asks.
#[derive(Debug)]
pub(super) struct Requests {
    sender: Option<SyncSender<Asked>>,
    thread: Option<JoinHandle<()>>,
    /// Steps for which nothing was asked, as a request was under way.
    passed_over: u64,
}

impl Requests {
    /// Asks by that subscriber; each answer may take so long.
    pub(super) fn by(asker: Subscriber, patience: Duration, json: bool) -> std::io::Result<Self> {
        // One is under way, and one more may wait.
        let (sender, receiver) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("flexpath-request".to_owned())
            .spawn(move || ask_all(asker, &receiver, patience, json))?;
        Ok(Self { sender: Some(sender), thread: Some(thread), passed_over: 0 })
    }

    /// Asks for something, unless as much is under way as may be.
    pub(super) fn start(&mut self, assignment: &Assignment, hit: StepId) {
        let asked = Asked { assignment: assignment.clone(), hit };
        let is_taken = self.sender.as_ref().is_some_and(|sender| sender.try_send(asked).is_ok());
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
                "flexpath: nothing was asked for {} steps, as requests were under way",
                self.passed_over
            );
        }
    }
}

fn ask_all(mut asker: Subscriber, asked: &Receiver<Asked>, patience: Duration, json: bool) {
    for Asked { assignment, hit } in asked {
        let answer = asker.request(&assignment.parameter, assignment.value.clone(), patience);
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
