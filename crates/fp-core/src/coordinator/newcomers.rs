//! Newcomers: peers that dial this endpoint, and what they need until they are at home.
//!
//! A simulation that publishes often has its endpoint to itself, and hears at its next call what came meanwhile. Who
//! attaches needs several answers, each after the other, and would wait for as many calls. So the background thread
//! attends while one comes.

use crate::coordinator::{Endpoint, Role};
use fp_proto::message::{Decision, Message};
use std::time::{Duration, Instant};

/// How long another word of a newcomer is expected. Peers that are at home wake the background thread meanwhile too, so
/// it is short: steps of 1 MiB go half as fast. It is longer than the way there and back within a cluster. Where that
/// takes longer, waiting for the simulation's next call is the smaller part.
const EXPECTED: Duration = Duration::from_millis(10);

/// What an endpoint knows of them.
#[derive(Default)]
pub(crate) struct Newcomers {
    /// Until when one is expected to say more.
    until: Option<Instant>,
    /// One knocked while a caller was at the descriptors, who may have looked already.
    waits: bool,
}

impl Newcomers {
    /// One has said something.
    pub(super) fn came(&mut self) {
        self.until = Some(Instant::now() + EXPECTED);
    }

    /// One knocked and was not let in.
    pub(super) fn knocked_in_vain(&mut self) {
        self.waits = true;
    }

    /// Whether the background thread is to attend, though a caller was here just now.
    pub(super) fn are_expected(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether a caller that goes now has the background thread attend.
    pub(super) fn want_attention(&mut self, now: Instant) -> bool {
        std::mem::take(&mut self.waits) || self.until.is_some_and(|until| now < until)
    }
}

/// Whether this tells that one comes, or wants something else now: his own words, or what the lead says of him to the other
/// ranks. Nothing that peers say in every step, as `Resolve` where layouts change with each.
pub(super) fn tells_of_newcomer(message: &Message) -> bool {
    let prepares = |decision: &Decision| matches!(decision, Decision::Prepare { .. });
    let by_itself = matches!(
        message,
        Message::Probe { .. }
            | Message::Join { .. }
            | Message::TreeHello { .. }
            | Message::Subscribe { .. }
            | Message::Reselect { .. }
            | Message::AskContacts { .. }
    );
    by_itself || matches!(message, Message::Log { entries, .. } if entries.iter().any(prepares))
}

impl<R: Role> Endpoint<R> {
    /// Has the background thread attend, whoever was here just now.
    pub(super) fn call_background(&self) {
        if let Some((background, token)) = self.registered.get() {
            background.arm(*token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_thread_attends_for_a_while_after_each_word_of_a_newcomer() {
        let mut newcomers = Newcomers::default();
        let before = Instant::now();
        assert!(!newcomers.want_attention(before) && !newcomers.are_expected());
        newcomers.came();
        assert!(newcomers.want_attention(before));
        assert!(!newcomers.want_attention(Instant::now() + EXPECTED));
    }

    #[test]
    fn who_knocked_in_vain_is_seen_to_once() {
        let mut newcomers = Newcomers::default();
        newcomers.knocked_in_vain();
        let now = Instant::now();
        assert!(newcomers.want_attention(now));
        assert!(!newcomers.want_attention(now));
    }
}
