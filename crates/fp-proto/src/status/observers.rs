//! Who observes a rank, and how often it may ask: an observer costs a bounded number of messages, whatever it does.

use crate::bounds::{LIMIT_OBSERVERS, LIMIT_REFUSED_QUESTIONS, OBSERVER_QUESTIONS, RANK_QUESTIONS};
use crate::effect::PeerId;
use crate::status::report::StatusRefusal;
use crate::time::Moment;
use std::collections::BTreeMap;
use std::time::Duration;

/// How much of a rate is used up: so many at once, and so many within each span.
#[derive(Clone, Copy, Default)]
struct Rate {
    /// When all is free again.
    free: Moment,
}

impl Rate {
    /// How long until another one goes; none if it goes now.
    fn wait(self, now: Moment, span: Duration, each: u32) -> Option<Duration> {
        let used = self.free.since(now);
        let most = span - span / each;
        (used > most).then(|| used - most)
    }

    fn take(&mut self, now: Moment, span: Duration, each: u32) {
        self.free = self.free.max(now).after(span / each);
    }
}

#[derive(Default)]
struct Observer {
    rate: Rate,
    /// Questions refused since the last that was answered.
    refused: u32,
}

/// What becomes of a question.
pub(crate) enum Admission {
    Answered,
    Refused(StatusRefusal),
    /// It was refused too often: the link is closed.
    Flood,
}

/// The observers that have a link to this rank.
#[derive(Default)]
pub(crate) struct Observers {
    all: Rate,
    known: BTreeMap<PeerId, Observer>,
}

impl Observers {
    /// Somebody asks for the first time; whether there is a place for it.
    pub(crate) fn enter(&mut self, peer: PeerId) -> bool {
        let fits = self.known.len() < LIMIT_OBSERVERS;
        if fits {
            self.known.insert(peer, Observer::default());
        }
        fits
    }

    pub(crate) fn leave(&mut self, peer: PeerId) {
        self.known.remove(&peer);
    }

    /// An observer asks. `span` is the heartbeat.
    pub(crate) fn admit(&mut self, now: Moment, peer: PeerId, span: Duration) -> Admission {
        let Some(observer) = self.known.get_mut(&peer) else { return Admission::Flood };
        let own = observer.rate.wait(now, span, OBSERVER_QUESTIONS);
        let wait = own.max(self.all.wait(now, span, RANK_QUESTIONS));
        let Some(wait) = wait else {
            observer.rate.take(now, span, OBSERVER_QUESTIONS);
            self.all.take(now, span, RANK_QUESTIONS);
            observer.refused = 0;
            return Admission::Answered;
        };
        observer.refused += 1;
        if observer.refused > LIMIT_REFUSED_QUESTIONS {
            return Admission::Flood;
        }
        let retry_ms = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX).saturating_add(1);
        Admission::Refused(StatusRefusal::TooOften { retry_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_secs(1);
    const ONE: PeerId = PeerId(1);

    fn answered(observers: &mut Observers, peer: PeerId, at_ms: u64, asked: u32) -> usize {
        let now = Moment::from_micros(at_ms * 1000);
        let admitted = |_: &u32| matches!(observers.admit(now, peer, SPAN), Admission::Answered);
        (0..asked).filter(admitted).count()
    }

    #[test]
    fn so_many_questions_are_answered_and_no_more() {
        let mut observers = Observers::default();
        assert!(observers.enter(ONE));
        assert_eq!(answered(&mut observers, ONE, 0, 10), 4, "four at once");
        assert_eq!(answered(&mut observers, ONE, 249, 1), 0);
        assert_eq!(answered(&mut observers, ONE, 250, 10), 1, "then one each quarter of the span");
        assert_eq!(answered(&mut observers, ONE, 60_000, 10), 4, "rest does not add up");
    }

    #[test]
    fn all_observers_together_have_a_rate_too() {
        let mut observers = Observers::default();
        let peers: Vec<PeerId> = (0..LIMIT_OBSERVERS as u64).map(PeerId).collect();
        assert!(peers.iter().all(|&peer| observers.enter(peer)));
        assert!(!observers.enter(PeerId(99)), "there is no place for one more");
        let all: usize = peers.iter().map(|&peer| answered(&mut observers, peer, 0, 4)).sum();
        assert_eq!(all, RANK_QUESTIONS as usize);
        observers.leave(PeerId(0));
        assert!(observers.enter(PeerId(99)));
    }

    #[test]
    fn a_flood_of_questions_ends() {
        let mut observers = Observers::default();
        observers.enter(ONE);
        let asked = std::iter::repeat_with(|| observers.admit(Moment::ZERO, ONE, SPAN));
        let refused = asked.take_while(|admission| !matches!(admission, Admission::Flood)).count();
        assert_eq!(refused as u32, OBSERVER_QUESTIONS + LIMIT_REFUSED_QUESTIONS);
    }
}
