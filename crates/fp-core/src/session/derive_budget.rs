//! How long what subscriptions ask for may hold a step up, and whose turn it is.
//!
//! A rank has an account of time. It begins full, and a step takes of it what the application waited. It fills up with
//! a share of the time that passes between two steps, at least with [`LEAST_PARTS`] of what it holds. Nothing is begun
//! when it is empty. What runs goes on to the end of a block, and the account may owe time for that. So one long block
//! is worked on now and then, and steps on average wait no longer than their share.
//!
//! What was not begun goes first in the next step, and of that what missed most steps. The rest goes by what it took
//! when it was done last: the cheapest first, so that as many as possible are done. Being begun is a turn, whatever
//! comes of it.
//!
//! Where a cohort has several ranks, nothing is whole but what all of them did in the same step. So their order is by the
//! step's number alone, which they have in common. A rank that owed time begins again in a step whose number others are
//! likely to choose as well.

use crate::options::publisher::PublisherOptions;
use crate::value::derive_pool::THREADS;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Each step fills the account by this part of the whole at least: small work in fast steps is always done.
const LEAST_PARTS: i64 = 100;

/// The account of one rank, and the turns of what is asked of it.
pub(crate) struct Budget {
    limit_ns: i64,
    share_percent: u32,
    /// Whether other ranks have parts of the same results.
    has_others: bool,
    state: Mutex<State>,
}

struct State {
    left_ns: i64,
    filled: Option<Instant>,
    /// What was taken since then: time in which the application waited.
    taken_ns: i64,
    /// Steps in a row that began with nothing.
    empty_steps: u32,
    turns: BTreeMap<String, Turn>,
}

/// What is known of something that is asked for, by the name of its result.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Steps in a row that passed without it.
    missed_steps: u32,
    /// What it took last.
    cost_ns: Option<i64>,
}

/// What one step has of the account.
pub(crate) struct StepBudget {
    account: Arc<Budget>,
    granted_ns: i64,
    taken_ns: i64,
    /// `None` where nothing is asked for, as in most steps.
    turns: Option<Box<StepTurns>>,
}

/// What is asked of one step, by name.
#[derive(Default)]
struct StepTurns {
    /// Time that is set aside for what missed a step and was not begun yet.
    aside: BTreeMap<String, i64>,
    /// The order that all ranks have in common, if there are several.
    order: BTreeMap<String, i64>,
    begun: BTreeMap<String, i64>,
    missed: BTreeSet<String>,
}

fn nanos(of: Duration) -> i64 {
    i64::try_from(of.as_nanos()).unwrap_or(i64::MAX)
}

fn duration(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

impl Budget {
    pub(crate) fn new(options: &PublisherOptions) -> Arc<Self> {
        let limit_ns = nanos(options.derive_budget);
        let turns = BTreeMap::new();
        let state = State { left_ns: limit_ns, filled: None, taken_ns: 0, empty_steps: 0, turns };
        let (share_percent, state) = (options.derive_share_percent, Mutex::new(state));
        Arc::new(Self { limit_ns, share_percent, has_others: options.link.cohort.size() > 1, state })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the step of that number has, which begins now and of which this is asked.
    pub(crate) fn begin(self: &Arc<Self>, step: u64, asked: &BTreeSet<&str>) -> StepBudget {
        match asked.is_empty() {
            true => self.unasked(),
            false => self.begin_at((Instant::now(), step), asked),
        }
    }

    /// What a step has of which nothing is asked.
    pub(crate) fn unasked(self: &Arc<Self>) -> StepBudget {
        StepBudget { account: Arc::clone(self), granted_ns: 0, taken_ns: 0, turns: None }
    }

    fn begin_at(self: &Arc<Self>, (now, step): (Instant, u64), asked: &BTreeSet<&str>) -> StepBudget {
        let mut state = self.lock();
        state.fill(now, (self.limit_ns, self.share_percent));
        state.turns.retain(|name, _| asked.contains(name.as_str()));
        let granted_ns = state.grant(self.has_others.then_some(step));
        let cost_ns = |turn: &Turn| turn.cost_ns.unwrap_or(granted_ns);
        let missed = state.turns.iter().filter(|(_, turn)| turn.missed_steps > 0);
        let mut turns = StepTurns {
            aside: missed.map(|(name, turn)| (name.clone(), cost_ns(turn))).collect(),
            ..StepTurns::default()
        };
        if self.has_others {
            turns.order = rotated(step, asked);
            let first =
                turns.order.iter().find(|(_, place)| **place == 0).filter(|_| !turns.aside.is_empty());
            let known = |name: &String| state.turns.get(name).copied().unwrap_or_default();
            turns.aside = first.map(|(name, _)| (name.clone(), cost_ns(&known(name)))).into_iter().collect();
        }
        let (account, turns) = (Arc::clone(self), Some(Box::new(turns)));
        StepBudget { account, granted_ns, taken_ns: 0, turns }
    }
}

/// The places of all in a step of that number: with each step as many others are first as are begun at once.
fn rotated(step: u64, asked: &BTreeSet<&str>) -> BTreeMap<String, i64> {
    let count = asked.len() as u64;
    let first = step.wrapping_mul(THREADS as u64) % count.max(1);
    let place = |at: u64| ((at + count - first) % count.max(1)) as i64;
    (0..).zip(asked).map(|(at, name)| ((*name).to_owned(), place(at))).collect()
}

impl State {
    fn fill(&mut self, now: Instant, (limit_ns, share_percent): (i64, u32)) {
        let since = self.filled.replace(now).map_or(0, |since| nanos(now.saturating_duration_since(since)));
        let own_ns = since.saturating_sub(std::mem::take(&mut self.taken_ns)).max(0);
        let share_ns = i128::from(own_ns) * i128::from(share_percent) / 100;
        let more_ns = i64::try_from(share_ns).unwrap_or(i64::MAX).max(limit_ns / LEAST_PARTS);
        self.left_ns = self.left_ns.saturating_add(more_ns).min(limit_ns);
    }

    /// What a step has. After steps with nothing, ranks that owe one another their parts wait for the next multiple of a
    /// power of two: so those that owed about as much begin again together.
    fn grant(&mut self, step_of_several: Option<u64>) -> i64 {
        let period = u64::from(self.empty_steps).saturating_add(1).next_power_of_two();
        if self.left_ns <= 0 {
            self.empty_steps = self.empty_steps.saturating_add(1);
            return 0;
        }
        if step_of_several.is_some_and(|step| step % period != 0) {
            return 0;
        }
        self.empty_steps = 0;
        self.left_ns
    }
}

impl StepBudget {
    /// What is left of this step's time; nothing once it is used up.
    pub(crate) fn left(&self) -> Option<Duration> {
        let left_ns = self.granted_ns.saturating_sub(self.taken_ns);
        (left_ns > 0).then(|| duration(left_ns))
    }

    /// What the step has in all.
    pub(crate) fn granted(&self) -> Duration {
        duration(self.granted_ns)
    }

    /// How many were begun.
    pub(crate) fn begun(&self) -> usize {
        self.turns.as_ref().map_or(0, |turns| turns.begun.len())
    }

    /// Whether this may be begun while it is not known what else the step will have: what missed a step has its time
    /// set aside.
    pub(crate) fn may_begin(&self, name: &str) -> bool {
        let others_ns =
            |turns: &StepTurns| match turns.begun.contains_key(name) || turns.aside.contains_key(name) {
                true => 0,
                false => turns.aside.values().fold(0, |sum: i64, cost_ns| sum.saturating_add(*cost_ns)),
            };
        let aside_ns = self.turns.as_ref().map_or(0, |turns| others_ns(turns));
        self.granted_ns > self.taken_ns.saturating_add(aside_ns)
    }

    /// Whether it was told already that this is not done in this step.
    pub(crate) fn is_missed(&self, name: &str) -> bool {
        self.turns.as_ref().is_some_and(|turns| turns.missed.contains(name))
    }

    /// In which order derivations are begun: the least first.
    pub(crate) fn turn(&self, name: &str) -> impl Ord + use<> {
        if let Some(place) = self.turns.as_ref().and_then(|turns| turns.order.get(name)) {
            return (Reverse(0), Some(*place));
        }
        let turn = self.account.lock().turns.get(name).copied().unwrap_or_default();
        (Reverse(turn.missed_steps), turn.cost_ns)
    }

    fn turns(&mut self) -> &mut StepTurns {
        self.turns.get_or_insert_default()
    }

    /// It has its turn.
    pub(crate) fn note_begun(&mut self, name: &str) {
        self.turns().aside.remove(name);
        self.turns().begun.entry(name.to_owned()).or_default();
        self.account.lock().turns.entry(name.to_owned()).or_default().missed_steps = 0;
    }

    /// What it took, once or in several blocks.
    pub(crate) fn note_cost(&mut self, name: &str, cost: Duration) {
        let sum_ns = self.turns().begun.entry(name.to_owned()).or_default();
        *sum_ns = sum_ns.saturating_add(nanos(cost));
        let cost_ns = *sum_ns;
        self.account.lock().turns.entry(name.to_owned()).or_default().cost_ns = Some(cost_ns);
    }

    /// It is not done in this step. What was not begun is the earlier in the next.
    pub(crate) fn note_missed(&mut self, name: &str) {
        let turns = self.turns();
        if turns.missed.insert(name.to_owned()) && !turns.begun.contains_key(name) {
            let mut state = self.account.lock();
            let turn = state.turns.entry(name.to_owned()).or_default();
            turn.missed_steps = turn.missed_steps.saturating_add(1);
        }
    }

    /// No thread began it after all.
    pub(crate) fn note_withdrawn(&mut self, name: &str) {
        self.turns().begun.remove(name);
    }

    /// The application waited so long.
    pub(crate) fn take(&mut self, waited: Duration) {
        self.taken_ns = self.taken_ns.saturating_add(nanos(waited));
        let mut state = self.account.lock();
        state.left_ns = state.left_ns.saturating_sub(nanos(waited));
        state.taken_ns = state.taken_ns.saturating_add(nanos(waited));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::cohort::Cohort;

    const MS: Duration = Duration::from_millis(1);

    fn budget(limit: Duration, share_percent: u32) -> Arc<Budget> {
        let options = PublisherOptions::default().with_derive_budget(limit);
        Budget::new(&options.with_derive_share_percent(share_percent))
    }

    #[test]
    fn the_first_step_has_all_of_it_and_others_what_time_brought() {
        let (budget, start, asked) = (budget(100 * MS, 50), Instant::now(), BTreeSet::from(["a"]));
        let mut first = budget.begin_at((start, 0), &asked);
        assert_eq!((first.left(), first.granted()), (Some(100 * MS), 100 * MS));
        first.take(300 * MS);
        assert_eq!(first.left(), None, "a block took longer than there was");
        let at = |ms: u32| budget.begin_at((start + ms * MS, 0), &asked).granted();
        assert_eq!(at(400), Duration::ZERO, "200 are owed, and half of 100 came");
        assert_eq!(at(700), Duration::ZERO);
        assert_eq!(at(720), 10 * MS);
        assert_eq!(at(720), 11 * MS, "a hundredth with each step");
        assert_eq!(at(5000), 100 * MS, "never more than all of it");
    }

    #[test]
    fn without_any_time_nothing_is_begun_and_with_all_of_it_everything() {
        let (asked, now) = (BTreeSet::from(["a"]), Instant::now());
        let none = budget(Duration::ZERO, 100).begin_at((now, 0), &asked);
        assert!(none.left().is_none() && !none.may_begin("a"));
        let mut all = budget(Duration::MAX, 100).begin_at((now, 0), &asked);
        all.take(Duration::MAX / 2);
        assert!(all.left().is_none());
        let unasked = budget(100 * MS, 50).begin(0, &BTreeSet::new());
        assert!(!unasked.may_begin("a"));
    }

    #[test]
    fn what_missed_steps_goes_first_and_then_the_cheapest() {
        let (budget, now) = (budget(100 * MS, 50), Instant::now());
        let asked = BTreeSet::from(["a", "b", "c", "d"]);
        let order = |step: &StepBudget| {
            let mut names: Vec<&str> = asked.iter().copied().collect();
            names.sort_by_key(|name| step.turn(name));
            names.concat()
        };
        let mut step = budget.begin_at((now, 0), &asked);
        assert_eq!(order(&step), "abcd");
        for (name, cost) in [("a", 40), ("b", 30)] {
            step.note_begun(name);
            step.note_cost(name, cost * MS);
        }
        ["c", "d", "d"].into_iter().for_each(|name| step.note_missed(name));
        let mut step = budget.begin_at((now, 0), &asked);
        assert_eq!(order(&step), "cdba");
        assert!(!step.may_begin("a") && step.may_begin("c"), "time is set aside for c and d");
        ["c", "d"].into_iter().for_each(|name| step.note_begun(name));
        assert!(step.may_begin("a"));
        step.note_withdrawn("d");
        step.note_missed("d");
        ["a", "b"].into_iter().for_each(|name| step.note_missed(name));
        assert_eq!(
            order(&budget.begin_at((now, 0), &asked)),
            "dbac",
            "all three missed one, and d has cost nothing yet"
        );
    }

    #[test]
    fn ranks_of_a_cohort_have_one_order_and_begin_again_together() {
        let (start, asked) = (Instant::now(), BTreeSet::from(["a", "b", "c", "d", "e"]));
        let cohort = Cohort::of(0, 2).expect("a cohort");
        let options = PublisherOptions::default().with_cohort(cohort).with_derive_budget(100 * MS);
        let ranks = [Budget::new(&options), Budget::new(&options)];
        let order = |step: &StepBudget| {
            let mut names: Vec<&str> = asked.iter().copied().collect();
            names.sort_by_key(|name| step.turn(name));
            names.concat()
        };
        let mut began = [Vec::new(), Vec::new()];
        for number in 0..40 {
            let now = start + number * 10 * MS;
            for ((rank, began), cost) in ranks.iter().zip(&mut began).zip([150, 155]) {
                let mut step = rank.begin_at((now, number.into()), &asked);
                let wanted = ["abcde", "cdeab", "eabcd", "bcdea", "deabc"][number as usize % 5];
                assert_eq!(order(&step), wanted, "whatever a rank did and missed");
                if step.left().is_some() {
                    began.push(number);
                    step.note_begun("c");
                    step.note_cost("c", cost * MS);
                    step.take(cost * MS);
                }
                step.note_missed(if cost == 150 { "a" } else { "b" });
            }
        }
        assert!(began[0].len() > 1 && began[0] == began[1], "{began:?}");
        let first = ranks[0].begin_at((start, 41), &asked);
        assert!(
            first.turns.is_some_and(|turns| turns.aside.keys().eq(["c"])),
            "time is set aside for the first of all ranks alone"
        );
    }
}
