//! Which steps of several streams belong together: a machine without a clock or threads.
//!
//! Each stream is a lane. A lane has at most one head, a step that is in no row yet. So a lane pins one step at most beside
//! those of rows, and one more where its last step stands in for later ones. Keys of a lane
//! rise, so a key that it has passed is known to be none of its own without waiting.

use std::collections::BTreeSet;

use crate::key::Key;

/// Keys that are remembered to have been told: of lower ones nothing more is said.
const LIMIT_MISSED: usize = 1024;

/// What is done with a key that not every stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is told.
    Tell,
    /// It is left out.
    Skip,
    /// The last step of a stream stands in for it.
    Last,
}

/// Why a step was not taken into its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The step before had the same key.
    Repeated,
    /// The step before had a higher one.
    Falling {
        /// That one.
        before: Key,
    },
}

/// What can be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer<T> {
    /// Steps that belong together, one of each lane.
    Row(Key, Vec<T>),
    /// These lanes do not have the key; the steps of the others are let go of.
    Missing(Key, Vec<usize>),
    /// Nothing without a step of these lanes.
    Want(Vec<usize>),
}

#[derive(Debug)]
struct Lane<T> {
    head: Option<(Key, T)>,
    /// The step that stands in for later keys; kept only where that is wanted.
    last: Option<(Key, T)>,
    newest: Option<Key>,
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self { head: None, last: None, newest: None }
    }
}

impl<T> Lane<T> {
    fn head_key(&self) -> Option<Key> {
        self.head.as_ref().map(|(key, _)| *key)
    }

    /// Whether the key is none that the lane has or will have: it is beyond it.
    fn is_past(&self, key: Key) -> bool {
        match self.head_key() {
            Some(head) => head > key,
            None => self.newest.is_some_and(|newest| newest >= key),
        }
    }

    fn take_head_at(&mut self, key: Key) -> Option<(Key, T)> {
        self.head.take_if(|(head, _)| *head == key)
    }
}

/// The lanes, and what they gave.
#[derive(Debug)]
pub(crate) struct Joiner<T> {
    lanes: Vec<Lane<T>>,
    missing: Missing,
    /// The highest key of a row.
    joined: Option<Key>,
    /// Keys that were told to be missing, the highest of them, and the highest of those that are remembered no more.
    missed: BTreeSet<Key>,
    forgotten: Option<Key>,
    /// Steps that were let go of in silence.
    late_steps: u64,
}

impl<T: Clone> Joiner<T> {
    pub(crate) fn new(lanes: usize, missing: Missing) -> Self {
        let lanes = (0..lanes).map(|_| Lane::default()).collect();
        Self { lanes, missing, joined: None, missed: BTreeSet::new(), forgotten: None, late_steps: 0 }
    }

    /// Takes a step into a lane, which must be one that is wanted.
    pub(crate) fn give(&mut self, lane: usize, key: Key, step: T) -> Result<(), Refused> {
        let lane = &mut self.lanes[lane];
        match lane.newest {
            Some(newest) if newest == key => return Err(Refused::Repeated),
            Some(before) if before > key => return Err(Refused::Falling { before }),
            Some(_) | None => {}
        }
        (lane.newest, lane.head) = (Some(key), Some((key, step)));
        Ok(())
    }

    /// A lane begins anew: keys may be what they like, and nothing of before stands in for later ones.
    pub(crate) fn restart(&mut self, lane: usize) {
        self.lanes[lane] = Lane::default();
        (self.joined, self.forgotten) = (None, None);
        self.missed.clear();
    }

    /// Steps that came when others had passed their keys, and were let go of.
    pub(crate) fn late_steps(&self) -> u64 {
        self.late_steps
    }

    /// Lets go of every step. No row comes of what was given so far.
    pub(crate) fn clear(&mut self) {
        self.lanes.iter_mut().for_each(|lane| (lane.head, lane.last) = (None, None));
    }

    /// Whether a lane has given a step that is in no row yet, and so waits for others.
    pub(crate) fn has_head(&self) -> bool {
        self.lanes.iter().any(|lane| lane.head.is_some())
    }

    /// What can be done now, where some lanes are late: nothing is expected of these.
    pub(crate) fn next(&mut self, is_late: impl Fn(usize) -> bool) -> Answer<T> {
        loop {
            let Some(key) = self.lanes.iter().filter_map(Lane::head_key).min() else {
                return Answer::Want((0..self.lanes.len()).collect());
            };
            let answer = match self.missing {
                Missing::Last => self.stand_in(key, &is_late),
                Missing::Tell | Missing::Skip => self.all_of(key, &is_late),
            };
            if let Some(answer) = answer {
                return answer;
            }
        }
    }

    /// The row of the lowest key of any head, if every lane has it; `None` if its steps were let go of in silence.
    fn all_of(&mut self, key: Key, is_late: &impl Fn(usize) -> bool) -> Option<Answer<T>> {
        let lanes = self.lanes.iter().enumerate();
        let without = |(index, lane): (usize, &Lane<T>)| {
            (lane.is_past(key) || (lane.head.is_none() && is_late(index))).then_some(index)
        };
        let without: Vec<usize> = lanes.filter_map(without).collect();
        if !without.is_empty() {
            // Its other steps would hold their publishers up for nothing.
            let let_go = self.take_heads(key).count() as u64;
            let answer = self.miss(key, without);
            self.late_steps += if answer.is_none() { let_go } else { 0 };
            return answer;
        }
        if let Some(wanted) = self.wanted(|_| false) {
            return Some(Answer::Want(wanted));
        }
        let steps = self.take_heads(key).map(|(_, step)| step).collect();
        self.joined = Some(key);
        Some(Answer::Row(key, steps))
    }

    /// The row of the lowest key of any head, with the last steps of lanes that do not have it.
    fn stand_in(&mut self, key: Key, is_late: &impl Fn(usize) -> bool) -> Option<Answer<T>> {
        let known = |index: usize, lane: &Lane<T>| lane.is_past(key) || is_late(index);
        if let Some(wanted) = self.wanted(|index| known(index, &self.lanes[index])) {
            return Some(Answer::Want(wanted));
        }
        for lane in &mut self.lanes {
            if let Some(head) = lane.take_head_at(key) {
                lane.last = Some(head);
            }
        }
        // A lane that was late comes with a key that others have passed: it stands in from now on, and no row is said twice.
        if self.joined.is_some_and(|joined| key <= joined) {
            return None;
        }
        let last = |lane: &Lane<T>| {
            lane.last.as_ref().filter(|(last, _)| *last <= key).map(|(_, step)| step.clone())
        };
        let steps: Vec<Option<T>> = self.lanes.iter().map(last).collect();
        let without: Vec<usize> =
            steps.iter().enumerate().filter(|(_, step)| step.is_none()).map(|(index, _)| index).collect();
        if !without.is_empty() {
            return self.miss(key, without);
        }
        self.joined = Some(key);
        Some(Answer::Row(key, steps.into_iter().flatten().collect()))
    }

    /// Lanes without a head whose next step decides; `None` if no step does.
    fn wanted(&self, is_known: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
        let open =
            self.lanes.iter().enumerate().filter(|(index, lane)| lane.head.is_none() && !is_known(*index));
        let open: Vec<usize> = open.map(|(index, _)| index).collect();
        (!open.is_empty()).then_some(open)
    }

    fn take_heads(&mut self, key: Key) -> impl Iterator<Item = (Key, T)> {
        self.lanes.iter_mut().filter_map(move |lane| lane.take_head_at(key))
    }

    /// A key has no row; it is said once, though a lane that is behind may still give a step of it.
    fn miss(&mut self, key: Key, without: Vec<usize>) -> Option<Answer<T>> {
        if self.forgotten.is_some_and(|forgotten| key <= forgotten) || !self.missed.insert(key) {
            return None;
        }
        if self.missed.len() > LIMIT_MISSED {
            self.forgotten = self.missed.pop_first();
        }
        Some(Answer::Missing(key, without))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::{Arc, Weak};

    /// A step: its lane and key.
    type Step = Arc<(usize, i64)>;

    fn give(joiner: &mut Joiner<Step>, lane: usize, key: i64) -> Result<(), Refused> {
        joiner.give(lane, key.into(), Arc::new((lane, key)))
    }

    fn row(keys: &[i64]) -> Vec<Step> {
        keys.iter().enumerate().map(|(lane, key)| Arc::new((lane, *key))).collect()
    }

    fn never(_: usize) -> bool {
        false
    }

    #[test]
    fn a_key_is_missing_as_soon_as_a_lane_has_passed_it() {
        let mut joiner = Joiner::new(3, Missing::Tell);
        assert_eq!(joiner.next(never), Answer::Want(vec![0, 1, 2]));
        give(&mut joiner, 0, 3).unwrap();
        give(&mut joiner, 1, 5).unwrap();
        assert_eq!(joiner.next(never), Answer::Missing(3.into(), vec![1]), "without asking the third");
        assert_eq!(joiner.next(never), Answer::Want(vec![0, 2]));
        // The third has it after all: that is said already.
        give(&mut joiner, 2, 3).unwrap();
        assert_eq!(joiner.next(never), Answer::Want(vec![0, 2]));
        assert_eq!(joiner.late_steps(), 1);
        give(&mut joiner, 2, 5).unwrap();
        give(&mut joiner, 0, 5).unwrap();
        assert_eq!(joiner.next(never), Answer::Row(5.into(), row(&[5, 5, 5])));
    }

    /// A lane without a head has passed a key, so that nobody will come: the step does not wait for its next one.
    #[test]
    fn a_step_that_was_passed_is_let_go_of_at_once() {
        let mut joiner = Joiner::new(2, Missing::Skip);
        give(&mut joiner, 0, 7).unwrap();
        assert_eq!(joiner.next(|lane| lane == 1), Answer::Missing(7.into(), vec![1]));
        let step = Arc::new((1, 6));
        let watched = Arc::downgrade(&step);
        joiner.give(1, 6.into(), step).unwrap();
        assert_eq!(joiner.next(never), Answer::Missing(6.into(), vec![0]));
        assert_eq!(watched.strong_count(), 0);
    }

    #[test]
    fn nothing_is_expected_of_a_lane_that_is_late() {
        let mut joiner = Joiner::new(2, Missing::Tell);
        give(&mut joiner, 0, 1).unwrap();
        assert_eq!(joiner.next(never), Answer::Want(vec![1]));
        assert_eq!(joiner.next(|lane| lane == 1), Answer::Missing(1.into(), vec![1]));
        let mut joiner = Joiner::new(2, Missing::Last);
        give(&mut joiner, 0, 1).unwrap();
        give(&mut joiner, 1, 1).unwrap();
        assert_eq!(joiner.next(never), Answer::Row(1.into(), row(&[1, 1])));
        give(&mut joiner, 0, 4).unwrap();
        assert_eq!(joiner.next(|lane| lane == 1), Answer::Row(4.into(), row(&[4, 1])));
        // It comes with what was passed: that stands in from now on, and no row is said twice.
        give(&mut joiner, 1, 3).unwrap();
        give(&mut joiner, 0, 5).unwrap();
        assert_eq!(joiner.next(|lane| lane == 1), Answer::Row(5.into(), row(&[5, 3])));
    }

    #[test]
    fn keys_rise_and_repeated_ones_are_refused() {
        let mut joiner = Joiner::new(1, Missing::Skip);
        give(&mut joiner, 0, 4).unwrap();
        assert_eq!(joiner.next(never), Answer::Row(4.into(), row(&[4])));
        assert_eq!(give(&mut joiner, 0, 4), Err(Refused::Repeated));
        assert_eq!(give(&mut joiner, 0, 3), Err(Refused::Falling { before: 4.into() }));
        give(&mut joiner, 0, 5).unwrap();
        assert_eq!(joiner.next(never), Answer::Row(5.into(), row(&[5])));
    }

    #[test]
    fn a_lane_that_begins_anew_forgets_its_keys_and_steps() {
        for missing in [Missing::Tell, Missing::Last] {
            let mut joiner = Joiner::new(2, missing);
            give(&mut joiner, 0, 8).unwrap();
            give(&mut joiner, 1, 8).unwrap();
            assert_eq!(joiner.next(never), Answer::Row(8.into(), row(&[8, 8])));
            joiner.restart(0);
            joiner.restart(1);
            give(&mut joiner, 0, 2).unwrap();
            assert_eq!(joiner.next(never), Answer::Want(vec![1]), "its last step is none of this opening");
            give(&mut joiner, 1, 2).unwrap();
            assert_eq!(joiner.next(never), Answer::Row(2.into(), row(&[2, 2])));
        }
    }

    #[test]
    fn a_step_of_later_keys_stands_in_for_no_earlier_one() {
        let mut joiner = Joiner::new(2, Missing::Last);
        give(&mut joiner, 0, 8).unwrap();
        give(&mut joiner, 1, 9).unwrap();
        assert_eq!(joiner.next(never), Answer::Missing(8.into(), vec![1]));
        give(&mut joiner, 0, 9).unwrap();
        assert_eq!(joiner.next(never), Answer::Row(9.into(), row(&[9, 9])));
        joiner.restart(0);
        give(&mut joiner, 0, 5).unwrap();
        assert_eq!(joiner.next(never), Answer::Missing(5.into(), vec![1]), "the 9 of the other is later");
    }

    /// What is remembered is bounded, whoever is silent.
    #[test]
    fn of_very_many_missing_keys_the_last_are_remembered() {
        let mut joiner = Joiner::new(2, Missing::Tell);
        let many = LIMIT_MISSED as i64 + 10;
        for key in 0..many {
            give(&mut joiner, 0, key).unwrap();
            assert_eq!(joiner.next(|lane| lane == 1), Answer::Missing(key.into(), vec![1]));
        }
        assert_eq!(joiner.missed.len(), LIMIT_MISSED);
        for key in [5, many - 1] {
            give(&mut joiner, 1, key).unwrap();
            assert_eq!(joiner.next(never), Answer::Want(vec![0, 1]), "{key} was told");
        }
    }

    /// What lanes gave, in which order they were asked, and what came of it.
    struct Run {
        lanes: Vec<BTreeSet<i64>>,
        given: Vec<Vec<i64>>,
        rows: Vec<(i64, Vec<i64>)>,
        missing: Vec<(i64, Vec<usize>)>,
    }

    fn key_of(key: Key) -> i64 {
        match key {
            Key::Integer(number) => number as i64,
            Key::Real(_) => panic!("none was given"),
        }
    }

    /// Gives steps to lanes that are wanted, whichever the draws say, until one of these has no more. Lateness is drawn too.
    fn run(lanes: &[BTreeSet<i64>], missing: Missing, draws: &[u8], may_be_late: bool) -> Run {
        let mut joiner = Joiner::<Step>::new(lanes.len(), missing);
        let mut left: Vec<_> = lanes.iter().map(|keys| keys.iter().copied()).collect();
        let mut watched: BTreeMap<(usize, i64), Weak<(usize, i64)>> = BTreeMap::new();
        let given = vec![Vec::new(); lanes.len()];
        let mut run = Run { lanes: lanes.to_vec(), given, rows: Vec::new(), missing: Vec::new() };
        for draw in draws.iter().cycle().take(10_000) {
            match joiner.next(|lane| may_be_late && draw >> 4 == lane as u8) {
                Answer::Row(key, steps) => {
                    let key = key_of(key);
                    for (lane, step) in steps.iter().enumerate() {
                        assert_eq!(step.0, lane);
                        let given = run.given[lane].iter().filter(|given| **given <= key).max();
                        assert_eq!(given, Some(&step.1), "the latest of the lane up to the row's key");
                    }
                    run.rows.push((key, steps.iter().map(|step| step.1).collect()));
                }
                Answer::Missing(key, lanes) => run.missing.push((key_of(key), lanes)),
                Answer::Want(wanted) => {
                    if missing != Missing::Last {
                        run.assert_let_go(&watched);
                    }
                    let lane = wanted[usize::from(*draw) % wanted.len()];
                    let Some(key) = left[lane].next() else { return run };
                    let step = Arc::new((lane, key));
                    watched.insert((lane, key), Arc::downgrade(&step));
                    joiner.give(lane, key.into(), step).unwrap();
                    run.given[lane].push(key);
                }
            }
        }
        panic!("it does not end");
    }

    /// Whether a lane that gave these keys has passed one, and does not have it.
    fn is_past(given: &[i64], key: i64) -> bool {
        given.last() >= Some(&key) && !given.contains(&key)
    }

    impl Run {
        /// A step that has no partner in a lane which is past it is held by nobody.
        fn assert_let_go(&self, watched: &BTreeMap<(usize, i64), Weak<(usize, i64)>>) {
            for ((lane, key), step) in watched {
                let is_past = self.given.iter().any(|given| is_past(given, *key));
                assert!(!is_past || step.strong_count() == 0, "{key} of lane {lane}");
            }
        }

        /// The key that every lane reaches.
        fn reached(&self) -> i64 {
            self.lanes.iter().map(|keys| keys.last().copied().unwrap_or(i64::MIN)).min().unwrap()
        }

        fn keys(&self) -> BTreeSet<i64> {
            self.lanes.iter().flatten().copied().collect()
        }
    }

    fn lanes() -> impl Strategy<Value = Vec<BTreeSet<i64>>> {
        prop::collection::vec(prop::collection::btree_set(0_i64..20, 0..15), 1..5)
    }

    proptest! {
        #[test]
        fn rows_have_the_keys_that_all_lanes_have(lanes in lanes(), draws in prop::collection::vec(any::<u8>(), 1..40)) {
            let run = run(&lanes, Missing::Tell, &draws, false);
            let in_all = |key: &i64| lanes.iter().all(|keys| keys.contains(key));
            let wanted: Vec<_> = run.keys().into_iter().filter(in_all).map(|key| (key, vec![key; lanes.len()])).collect();
            prop_assert_eq!(&run.rows, &wanted);
            for (key, without) in &run.missing {
                prop_assert!(!without.is_empty() && without.iter().all(|lane| !lanes[*lane].contains(key)));
            }
            let told: BTreeSet<i64> = run.missing.iter().map(|(key, _)| *key).collect();
            prop_assert_eq!(told.len(), run.missing.len(), "each once");
            for key in run.given.iter().flatten() {
                prop_assert!(told.contains(key) || !run.given.iter().any(|given| is_past(given, *key)), "{} is told", key);
            }
        }

        #[test]
        fn last_steps_stand_in_for_later_keys(lanes in lanes(), draws in prop::collection::vec(any::<u8>(), 1..40)) {
            let run = run(&lanes, Missing::Last, &draws, false);
            let last = |keys: &BTreeSet<i64>, key: i64| keys.range(..=key).next_back().copied();
            let row = |key: i64| Some((key, lanes.iter().map(|keys| last(keys, key)).collect::<Option<Vec<_>>>()?));
            let wanted: Vec<_> = run.keys().into_iter().filter(|key| *key <= run.reached()).filter_map(row).collect();
            prop_assert_eq!(&run.rows, &wanted);
        }

        /// Who is late makes rows fewer or older, and never wrong.
        #[test]
        fn lateness_makes_no_wrong_row(lanes in lanes(), draws in prop::collection::vec(0_u8..0x50, 1..40), last: bool) {
            let missing = if last { Missing::Last } else { Missing::Skip };
            let run = run(&lanes, missing, &draws, true);
            prop_assert!(run.rows.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert!(last || run.rows.iter().all(|(key, steps)| steps.iter().all(|step| step == key)));
        }
    }
}
