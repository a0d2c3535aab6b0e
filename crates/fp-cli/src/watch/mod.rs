//! `flexpath watch`: does something with each step that is as a condition says.
//!
//! The publisher judges. So of other steps nothing comes here, and of these only what an action needs.

mod commands;
mod line;
mod pace;
mod render;
mod requests;

use std::collections::HashSet;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    EndReason, Interrupt as Asked, Judgement, NextStep, OnLoss, QueuePolicy, StepReader, Subscriber,
    SubscriberOptions,
};
use fp_spool::Spool;

use crate::arguments::{Action, Assignment, Rendering, WatchOptions};
use crate::credentials::Credentials;
use crate::describe::open;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};
use crate::recorded_step;
use crate::request;
use crate::tail::{Showing, show_values};
use commands::{Commands, Started};
use pace::{Pace, Paced};
use render::Renderer;
use requests::Requests;

/// Follows a stream.
pub(crate) fn run(rendezvous: Rendezvous, options: &WatchOptions) -> Result<(), Failure> {
    let mut watch = Watch::new(options)?;
    let credentials = options.credentials.read()?;
    let interrupt = Interrupt::watch()?;
    let subscription = watch.subscription()?.with_interrupt(Asked::new(interrupt.asked()));
    let opened = watch.open_asker(&credentials, &rendezvous, &interrupt);
    let opened = opened.and_then(|()| open(&options.stream, subscription, &credentials, rendezvous));
    let outcome = opened.and_then(|mut subscriber| {
        watch.follow(&mut subscriber, &interrupt)?;
        Ok(subscriber.close()?)
    });
    watch.commands.finish();
    watch.requests.iter_mut().for_each(Requests::finish);
    watch.tell_passed_over();
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    outcome
}

/// What is done, and what was done last.
struct Watch<'o> {
    options: &'o WatchOptions,
    actions: Vec<Paced>,
    commands: Commands,
    /// Where some action asks for something.
    requests: Option<Requests>,
    /// By `--least`, of all actions together.
    pace: Pace,
}

impl<'o> Watch<'o> {
    fn new(options: &'o WatchOptions) -> Result<Self, Failure> {
        let actions = match options.actions.is_empty() {
            true => vec![Action::Notify],
            false => options.actions.clone(),
        };
        let mut names = Vec::new();
        for action in &actions {
            match action {
                Action::Run(name) => names.push(name.as_str()),
                Action::Write(folder) => std::fs::create_dir_all(folder)
                    .map_err(|error| Failure::Usage(format!("write {}: {error}", folder.display())))?,
                Action::Render(rendering) => {
                    std::fs::create_dir_all(rendering.place.folder()).map_err(|error| {
                        Failure::Usage(format!("render to {}: {error}", rendering.place.folder().display()))
                    })?
                }
                Action::Notify | Action::Deliver(_) | Action::Request(_) => {}
            }
        }
        check_places(&actions)?;
        let read = Commands::read(options.commands.as_deref(), &names);
        let commands = read.map_err(|error| Failure::Usage(error.to_string()))?;
        let actions = actions.into_iter().map(|action| Paced::new(action, options)).collect();
        let pace = Pace::new(options.least.unwrap_or_default());
        Ok(Self { options, actions, commands, requests: None, pace })
    }

    fn actions(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter().map(|paced| &paced.action)
    }

    /// No more is asked of the publisher than actions need: nothing for a line that is printed.
    fn subscription(&self) -> Result<SubscriberOptions, Failure> {
        let options = self.options;
        let asked = SubscriberOptions::default().with_open_timeout(options.timeout);
        let mut asked = asked.with_start_at(options.start_at);
        for (name, file) in &options.modules {
            let refused =
                |error: &dyn Display| Failure::Usage(format!("--module {}: {error}", file.display()));
            let code = std::fs::read(file).map_err(|error| refused(&error))?;
            asked = asked.with_module(name, code).map_err(|error| refused(&error))?;
        }
        let with = asked.with_condition(options.condition.clone());
        asked = with.map_err(|error| Failure::Usage(error.to_string().replace("with_module", "--module")))?;
        let writes = self.actions().any(|action| matches!(action, Action::Write(_)));
        if !(writes && options.variables.is_empty()) {
            let delivered = self.actions().filter_map(|action| match action {
                Action::Deliver(target) => Some(target.variable.clone()),
                Action::Render(rendering) => Some(rendering.target.variable.clone()),
                Action::Notify | Action::Write(_) | Action::Run(_) | Action::Request(_) => None,
            });
            let written = options.variables.iter().filter(|_| writes).cloned();
            asked = asked.with_variables(delivered.chain(written));
        }
        asked = self.awaiting(asked);
        Ok(if options.every_step { asked } else { asked.with_policy(QueuePolicy::DropOldest) })
    }

    /// With how long a publisher that is lost is awaited.
    fn awaiting(&self, asked: SubscriberOptions) -> SubscriberOptions {
        match self.options.awaits {
            Duration::ZERO => asked,
            awaits => asked.with_on_loss(OnLoss::AwaitRestart(awaits)),
        }
    }

    /// Opens the subscriber that asks, if any action does.
    fn open_asker(
        &mut self,
        credentials: &Credentials,
        rendezvous: &Rendezvous,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        if self.actions().any(|action| matches!(action, Action::Request(_))) {
            let timeout = self.options.timeout;
            let options = self.awaiting(request::asker(Asked::new(interrupt.asked()), timeout));
            let asker = open(&self.options.stream, options, credentials, rendezvous.clone())?;
            self.requests = Some(Requests::by(asker, timeout, self.options.json)?);
        }
        Ok(())
    }

    /// Acts on steps until there are enough, the stream ends, or the user has seen enough.
    fn follow(&mut self, subscriber: &mut Subscriber, interrupt: &Interrupt) -> Result<(), Failure> {
        let mut acted = 0;
        while !interrupt.is_requested() && self.options.steps.is_none_or(|limit| acted < limit) {
            match subscriber.next_step(NOTICE)? {
                NextStep::Step(step) => acted += u64::from(self.take(&step)?),
                NextStep::NotYet => self.commands.reap(),
                NextStep::Ended(ending) => return self.ended(&ending.reason),
            }
        }
        Ok(())
    }

    /// Whether the step was acted on.
    fn take(&mut self, step: &StepReader) -> Result<bool, Failure> {
        if !self.pace.is_due() {
            self.pace.pass_over();
            return Ok(false);
        }
        self.pace.is_done();
        tell(&self.options.stream, self.passed_over());
        let judgement = step.judgement().cloned().unwrap_or_default();
        let mut is_acted_on = false;
        for at in 0..self.actions.len() {
            let paced = &mut self.actions[at];
            if !paced.pace.is_due() {
                paced.pace.pass_over();
                continue;
            }
            let action = paced.action.clone();
            // Nothing is asked for a step that was not judged: the next one need not wait for that.
            if judgement.unjudged.is_none() || !matches!(action, Action::Request(_)) {
                paced.pace.is_done();
                tell(&self.options.stream, paced.passed_over());
            }
            self.act(&action, step, &judgement)?;
            is_acted_on = true;
        }
        Ok(is_acted_on)
    }

    fn act(&mut self, action: &Action, step: &StepReader, judgement: &Judgement) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match action {
            Action::Notify if self.options.json => writeln!(out, "{}", line::json(step, judgement)?)?,
            Action::Notify => writeln!(out, "{}", line::text(step, judgement))?,
            Action::Deliver(target) => {
                let stream = &self.options.stream;
                let showing = Showing { stream, json: self.options.json, values: self.options.values };
                show_values(&mut out, &showing, target, step)?;
            }
            Action::Write(folder) => self.write(folder, step)?,
            Action::Render(rendering) => {
                let WatchOptions { stream, condition, json, .. } = self.options;
                let renderer = Renderer { stream, condition, json: *json };
                renderer.render(&mut out, rendering, step, judgement)?;
            }
            Action::Run(name) => self.start(name, step, judgement)?,
            Action::Request(asked) => self.request(asked, step, judgement),
        }
        Ok(out.flush()?)
    }

    /// Puts the step into a file of its own: one that is there already stays as it is, and is an error.
    fn write(&self, folder: &Path, step: &StepReader) -> Result<(), Failure> {
        let path = folder.join(format!("{}-{}.fpsr", self.options.stream, step.step()));
        if path.exists() {
            return Err(Failure::Usage(format!("{} is there already: name another folder", path.display())));
        }
        let wanted = &self.options.variables;
        let mut variables = recorded_step::variables(step)?;
        variables.retain(|info| wanted.is_empty() || wanted.contains(&info.def.name));
        let head = recorded_step::head(step, &variables)?;
        let written: Result<_, Failure> = Spool::append(&path)?.write(&head, |record| {
            for (block, name, select) in recorded_step::all_blocks(step, &variables)? {
                let (_, bytes) = step.view_bytes(name, select)?;
                record.block(&block, &bytes)?;
            }
            Ok(())
        });
        if written.is_err() {
            // Half a step is none: the next attempt may have it whole.
            let _ = std::fs::remove_file(&path);
        }
        written.map(drop)
    }

    /// A command that cannot be started is told, and does not end the watch.
    fn start(&mut self, name: &str, step: &StepReader, judgement: &Judgement) -> Result<(), Failure> {
        let (number, told) = (step.step().to_string(), line::judgement_json(judgement)?);
        let words = [("stream", step.stream()), ("step", &number), ("judgement", &told)];
        match self.commands.start(name, &words) {
            Ok(Started::Now | Started::PassedOver) => {}
            Err(error) => {
                eprintln!("flexpath: command {name} could not be started for step {number}: {error}")
            }
        }
        Ok(())
    }

    /// Nothing is asked for a step of which nobody knows whether it is as it should be.
    fn request(&mut self, asked: &Assignment, step: &StepReader, judgement: &Judgement) {
        match (&judgement.unjudged, &mut self.requests) {
            (Some(why), _) => {
                let (parameter, number) = (&asked.parameter, step.step());
                eprintln!(
                    "flexpath: {parameter} is not asked for at step {number}, which was not judged: {why}"
                );
            }
            (None, requests) => requests.iter_mut().for_each(|requests| requests.start(asked, step.step())),
        }
    }

    /// How many steps came too soon after another one since the last time, if any.
    fn passed_over(&mut self) -> Option<String> {
        self.pace.passed_over().map(|steps| format!("{steps} such steps passed over (--least)"))
    }

    fn tell_passed_over(&mut self) {
        tell(&self.options.stream, self.passed_over());
        self.actions.iter_mut().for_each(|paced| tell(&self.options.stream, paced.passed_over()));
    }

    fn ended(&self, reason: &EndReason) -> Result<(), Failure> {
        let (stream, ending) = (self.options.stream.clone(), reason.to_string());
        if matches!(reason, EndReason::Closed) {
            eprintln!("flexpath: stream {stream:?}: {ending}");
            return Ok(());
        }
        Err(Failure::Ended { stream, ending })
    }
}

/// Says what became of a stream's steps, if there is anything to say.
fn tell(stream: &str, what: Option<String>) {
    if let Some(what) = what {
        eprintln!("flexpath: stream {stream:?}: {what}");
    }
}

/// No picture takes the place of another one of the same step.
fn check_places(actions: &[Action]) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for action in actions {
        let Action::Render(Rendering { target, place }) = action else { continue };
        let path = place.path("STREAM", &target.variable, 0);
        if !seen.insert(path.clone()) {
            let why =
                format!("render: two pictures of a step would go to {}: name another place", path.display());
            return Err(Failure::Usage(why));
        }
    }
    Ok(())
}
