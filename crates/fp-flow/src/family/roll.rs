//! Which streams are members, which are to become some, and when: a machine without threads, to which the time is told.

use std::collections::BTreeMap;
use std::time::Duration;

use fp_core::Epoch;

/// How long a stream that refused is left alone, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Names that are remembered though nobody of that name is there.
const LIMIT_NAMES: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Somebody attaches to it.
    Attaching {
        is_again: bool,
        after: Duration,
    },
    Member,
    Gone,
    /// It is left alone until then. `is_again` says whether it was a member before.
    Refused {
        until: Duration,
        after: Duration,
        is_again: bool,
    },
    /// There was no room.
    PassedOver {
        is_again: bool,
    },
}

/// What is known of a name.
#[derive(Clone, Copy, Debug)]
struct Known {
    epoch: Epoch,
    standing: Standing,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Attach to a stream.
    Attach(String),
    /// Say that there is no room for a stream.
    PassOver(String),
}

/// All names, and how they stand.
#[derive(Debug)]
pub(crate) struct Roll {
    known: BTreeMap<String, Known>,
    limit_members: usize,
    follow_restarts: bool,
}

impl Roll {
    pub(crate) fn new(limit_members: usize, follow_restarts: bool) -> Self {
        Self { known: BTreeMap::new(), limit_members, follow_restarts }
    }

    /// Whether an opening of a stream may become a member, so that somebody is to ask whether it is alive.
    pub(crate) fn is_open(&self, now: Duration, name: &str, epoch: Epoch) -> bool {
        let Some(known) = self.known.get(name) else { return true };
        let is_other = known.epoch != epoch;
        match known.standing {
            Standing::Attaching { .. } | Standing::Member => false,
            Standing::Gone => is_other && self.follow_restarts,
            Standing::Refused { until, .. } => is_other || now >= until,
            Standing::PassedOver { .. } => true,
        }
    }

    /// What is to be done about openings that are alive. Each is to be attached to, or passed over for want of room.
    pub(crate) fn look(&mut self, now: Duration, living: &[(String, Epoch)]) -> Vec<Order> {
        let mut orders = Vec::new();
        for (name, epoch) in living {
            if !self.is_open(now, name, *epoch) {
                continue;
            }
            let (is_again, after) = match self.known.get(name).map(|known| known.standing) {
                Some(Standing::Gone | Standing::Member) => (true, Duration::ZERO),
                Some(Standing::PassedOver { is_again }) => (is_again, Duration::ZERO),
                Some(Standing::Refused { is_again, after, .. } | Standing::Attaching { is_again, after }) => {
                    (is_again, after)
                }
                None => (false, Duration::ZERO),
            };
            let standing = if self.has_room() {
                orders.push(Order::Attach(name.clone()));
                Standing::Attaching { is_again, after }
            } else {
                let is_told =
                    matches!(self.known.get(name), Some(Known { standing: Standing::PassedOver { .. }, .. }));
                orders.extend((!is_told).then(|| Order::PassOver(name.clone())));
                Standing::PassedOver { is_again }
            };
            self.known.insert(name.clone(), Known { epoch: *epoch, standing });
        }
        orders
    }

    fn has_room(&self) -> bool {
        let takes_room =
            |known: &&Known| matches!(known.standing, Standing::Attaching { .. } | Standing::Member);
        self.known.values().filter(takes_room).count() < self.limit_members
    }

    /// A stream is a member: whether it was one before. It may be another opening than was looked at.
    pub(crate) fn attached(&mut self, name: &str, epoch: Option<Epoch>) -> bool {
        let Some(known) = self.known.get_mut(name) else { return false };
        let is_again = matches!(known.standing, Standing::Attaching { is_again: true, .. });
        (known.epoch, known.standing) = (epoch.unwrap_or(known.epoch), Standing::Member);
        is_again
    }

    /// A stream cannot be attached to: how long it is left alone, longer each time.
    pub(crate) fn refused(&mut self, now: Duration, name: &str) -> Duration {
        let Some(known) = self.known.get_mut(name) else { return AGAIN.0 };
        let (is_again, before) = match known.standing {
            Standing::Attaching { is_again, after } => (is_again, after),
            Standing::Member | Standing::Gone | Standing::Refused { .. } | Standing::PassedOver { .. } => {
                (false, Duration::ZERO)
            }
        };
        let after = (before * 2).clamp(AGAIN.0, AGAIN.1);
        known.standing = Standing::Refused { until: now.saturating_add(after), after, is_again };
        after
    }

    /// A member has gone, at last in this opening.
    pub(crate) fn gone(&mut self, name: &str, epoch: Option<Epoch>) {
        if let Some(known) = self.known.get_mut(name) {
            (known.epoch, known.standing) = (epoch.unwrap_or(known.epoch), Standing::Gone);
        }
    }

    /// Forgets names of nobody, if there are very many: those that are neither listed nor taken in.
    pub(crate) fn forget(&mut self, is_listed: impl Fn(&str) -> bool) {
        if self.known.len() > LIMIT_NAMES {
            let takes_room =
                |known: &Known| matches!(known.standing, Standing::Attaching { .. } | Standing::Member);
            self.known.retain(|name, known| takes_room(known) || is_listed(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::ZERO;

    fn living(of: &[(&str, u128)]) -> Vec<(String, Epoch)> {
        of.iter().map(|(name, epoch)| ((*name).to_owned(), Epoch(*epoch))).collect()
    }

    fn attach(names: &[&str]) -> Vec<Order> {
        names.iter().map(|name| Order::Attach((*name).to_owned())).collect()
    }

    #[test]
    fn what_is_new_is_attached_to_once() {
        let mut roll = Roll::new(8, true);
        assert_eq!(roll.look(START, &living(&[("a", 1), ("b", 1)])), attach(&["a", "b"]));
        assert_eq!(roll.look(START, &living(&[("a", 1), ("a", 2), ("b", 1)])), [], "somebody is at it");
        assert!(!roll.attached("a", Some(Epoch(2))), "it came for the first time");
        assert!(!roll.is_open(START, "a", Epoch(1)) && !roll.is_open(START, "a", Epoch(2)));
        assert!(roll.is_open(START, "c", Epoch(1)));
    }

    #[test]
    fn who_has_gone_is_a_member_again_when_it_is_opened_anew() {
        for follow in [true, false] {
            let mut roll = Roll::new(8, follow);
            roll.look(START, &living(&[("a", 1)]));
            roll.attached("a", Some(Epoch(1)));
            roll.gone("a", Some(Epoch(1)));
            assert_eq!(roll.look(START, &living(&[("a", 1)])), [], "that opening is over");
            let again = roll.look(START, &living(&[("a", 2)]));
            assert_eq!(again, attach(if follow { &["a"] } else { &[] }));
            assert_eq!(roll.attached("a", Some(Epoch(2))), follow, "it was one before");
        }
    }

    #[test]
    fn who_refuses_is_left_alone_for_longer_each_time() {
        let mut roll = Roll::new(8, true);
        let (mut now, mut pauses) = (START, Vec::new());
        for _ in 0..9 {
            assert_eq!(roll.look(now, &living(&[("a", 1)])), attach(&["a"]));
            let after = roll.refused(now, "a");
            assert_eq!(roll.look(now + after - Duration::from_millis(1), &living(&[("a", 1)])), []);
            now += after;
            pauses.push(after.as_secs());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        roll.look(now, &living(&[("a", 1)]));
        roll.refused(now, "a");
        assert_eq!(roll.look(now, &living(&[("a", 2)])), attach(&["a"]), "it is another opening");
    }

    #[test]
    fn who_finds_no_room_is_told_of_once_and_taken_later() {
        let mut roll = Roll::new(1, true);
        let both = living(&[("a", 1), ("b", 1)]);
        assert_eq!(roll.look(START, &both), [Order::Attach("a".into()), Order::PassOver("b".into())]);
        roll.attached("a", Some(Epoch(1)));
        assert_eq!(roll.look(START, &both), []);
        roll.gone("a", Some(Epoch(1)));
        assert_eq!(roll.look(START, &both), attach(&["b"]));
        assert!(!roll.attached("b", None));
        // A member that found no room when it came again is one that came again all the same.
        assert_eq!(roll.look(START, &living(&[("a", 2)])), [Order::PassOver("a".into())]);
        roll.gone("b", None);
        assert_eq!(roll.look(START, &living(&[("a", 2)])), attach(&["a"]));
        assert!(roll.attached("a", None));
    }

    #[test]
    fn names_of_nobody_are_forgotten_when_there_are_very_many() {
        let mut roll = Roll::new(1, true);
        let many: Vec<_> = (0..=LIMIT_NAMES as u128).map(|of| (format!("{of:05}"), Epoch(of))).collect();
        roll.look(START, &many);
        roll.forget(|name| name == "00007");
        assert_eq!(roll.known.keys().collect::<Vec<_>>(), ["00000", "00007"], "the member and who is listed");
    }
}
