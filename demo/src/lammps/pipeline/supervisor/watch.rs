//! The supervisor's own subscription: CSym's verdict on every step, as scalars that ride with the steps' announcements.

use std::sync::mpsc::Sender;
use std::thread;

use flexpath::{QueuePolicy, ReadError, Rendezvous, StepReader, Subscriber, SubscriberOptions};

use super::super::error::PartError;
use super::super::reach::subscribing;
use super::super::settings::Settings;
use super::super::streams::{SYMMETRY, TIME_STEP};
use super::notice::{Judged, Notice};
use crate::shared::steps::next_step;
use std::time::Duration;

/// Take every verdict, in a thread of its own, until CSym ends.
pub(super) fn watch(rendezvous: Rendezvous, settings: &Settings, inbox: Sender<Notice>) {
    let settings = settings.clone();
    thread::spawn(move || {
        let done = take_all(rendezvous, &settings, &inbox);
        // Where the run has failed already nobody listens any more.
        let _ = inbox.send(Notice::WatchEnded(done.map_err(|error| error.to_string())));
    });
}

fn take_all(rendezvous: Rendezvous, settings: &Settings, inbox: &Sender<Notice>) -> Result<(), PartError> {
    let options = subscribing(settings, Some(&rendezvous), SubscriberOptions::default())?
        .with_rendezvous(rendezvous)
        .with_name("demo")
        .with_variables([TIME_STEP, "torn", "torn_atoms", "atoms", "bonds"])
        .with_policy(QueuePolicy::EveryStep { max_wait: Duration::from_millis(settings.max_wait_ms) });
    let mut subscriber = Subscriber::open(SYMMETRY, options)?;
    let waited = settings.step_patience();
    while let Some(step) = next_step(&mut subscriber, SYMMETRY, waited)? {
        if inbox.send(Notice::Judged(judged(&step)?)).is_err() {
            return Ok(());
        }
    }
    Ok(subscriber.close()?)
}

fn judged(step: &StepReader) -> Result<Judged, ReadError> {
    Ok(Judged {
        time_step: step.scalar(TIME_STEP)?,
        torn: step.scalar::<u8>("torn")? != 0,
        torn_atoms: step.scalar("torn_atoms")?,
        atoms: step.scalar("atoms")?,
        bonds: step.scalar("bonds")?,
    })
}
