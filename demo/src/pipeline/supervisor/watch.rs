//! The supervisor's own subscription: CSym's verdict on every step, as scalars that ride with the steps' announcements.

use std::sync::mpsc::Sender;
use std::thread;

use flexpath::{
    EndReason, NextStep, QueuePolicy, ReadError, Rendezvous, StepReader, Subscriber, SubscriberOptions,
};

use super::super::error::PartError;
use super::super::reach::subscribing;
use super::super::settings::Settings;
use super::super::streams::{SYMMETRY, TIME_STEP};
use super::run::Notice;

/// What CSym says of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    /// The time step.
    pub(super) time_step: i64,
    /// Whether the material has torn.
    pub(super) torn: bool,
    /// How many atoms are torn.
    pub(super) torn_atoms: i64,
    /// Of how many.
    pub(super) atoms: i64,
    /// Bonds among them.
    pub(super) bonds: i64,
}

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
        .with_policy(QueuePolicy::EveryStep { max_wait_ms: settings.max_wait_ms });
    let mut subscriber = Subscriber::open(SYMMETRY, options)?;
    let waited = settings.step_patience();
    loop {
        match subscriber.next_step(waited)? {
            NextStep::Step(step) => {
                if inbox.send(Notice::Judged(judged(&step)?)).is_err() {
                    return Ok(());
                }
            }
            NextStep::Ended(ending) if ending.reason == EndReason::Closed => break,
            NextStep::Ended(ending) => {
                return Err(PartError::Ended { stream: SYMMETRY, reason: ending.reason });
            }
            NextStep::NotYet => return Err(PartError::NoStep { stream: SYMMETRY, waited }),
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
