//! Questions about contacts that a rank has passed on: for whom, and which ranks' are still to come
//! (`docs/protocol.md`, section 11). Nothing of an answer is kept here: each part goes on as it comes. And no more than
//! a few questions go one way at one time: however many ask at once, each rank has few of theirs.
//!
//! So a rank keeps four bytes for each rank still to come; merged answers would be 106 each.

use crate::config::ContactText;
use crate::effect::{Misbehaviour, PeerId};
use crate::message::Message;
use crate::time::Moment;
use fp_types::Rank;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Questions that may be at one rank at one time, those that wait among them.
const LIMIT_PASSED: usize = 4096;
/// Questions that may be under way over one link at one time: the next one waits for the answer.
const LIMIT_UNDER_WAY: usize = 2;

/// Part of an answer: `None` where nobody can say any more.
pub(crate) type Told = Vec<(Rank, Option<ContactText>)>;

/// Nobody can say where these are.
pub(crate) fn untold(ranks: impl IntoIterator<Item = Rank>) -> Told {
    ranks.into_iter().map(|rank| (rank, None)).collect()
}

/// The neighbour that a question goes to; `None` where there is only one, whoever that is at the time.
type Way = Option<PeerId>;

/// Who asked, with which own number, and the ranks that nobody told of.
pub(crate) type Unanswered<A> = (A, u64, Vec<Rank>);

struct Passed<A> {
    asker: A,
    way: Way,
    /// Rising.
    missing: Vec<Rank>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// To be sent.
    Waiting,
    /// Under way; given up then, if no part of the answer comes.
    Sent(Option<Moment>),
}

impl State {
    fn due(self) -> Option<Moment> {
        match self {
            Self::Waiting => None,
            Self::Sent(due) => due,
        }
    }
}

/// The questions under way, of askers of type `A`.
pub(crate) struct Asking<A> {
    next: u64,
    /// After how long without a part of its answer a question under way is given up, if ever.
    patience: Option<Duration>,
    passed: BTreeMap<u64, Passed<A>>,
    /// Those that wait to be sent, in the order in which they came.
    waiting: VecDeque<u64>,
}

/// What part of an answer means.
pub(crate) struct Heard<A> {
    pub(crate) asker: A,
    /// How many ranks are still to come.
    pub(crate) left: usize,
}

impl<A: Copy> Asking<A> {
    pub(crate) fn new(patience: Option<Duration>) -> Self {
        Self { next: 0, patience, passed: BTreeMap::new(), waiting: VecDeque::new() }
    }

    fn sent(&self, now: Moment) -> State {
        State::Sent(self.patience.map(|patience| now.after(patience)))
    }

    /// Whether no more questions can be passed on.
    pub(crate) fn is_full(&self) -> bool {
        self.passed.len() >= LIMIT_PASSED
    }

    /// Takes a question to be passed on; its ranks rise. Gives its number, which is never used again.
    pub(crate) fn pass(&mut self, asker: A, way: Way, missing: Vec<Rank>) -> u64 {
        let request = self.next;
        self.next += 1;
        self.passed.insert(request, Passed { asker, way, missing, state: State::Waiting });
        self.waiting.push_back(request);
        request
    }

    /// The next question that may be sent now, and which way.
    pub(crate) fn next_to_send(&mut self, now: Moment) -> Option<(A, Way, Message)> {
        let at = self.waiting.iter().position(|request| self.may_go(*request))?;
        let request = self.waiting.remove(at)?;
        let sent = self.sent(now);
        let passed = self.passed.get_mut(&request)?;
        passed.state = sent;
        Some((passed.asker, passed.way, Message::AskContacts { request, ranks: passed.missing.clone() }))
    }

    fn may_go(&self, request: u64) -> bool {
        let Some(way) = self.passed.get(&request).map(|passed| passed.way) else { return true };
        let under_way =
            self.passed.values().filter(|passed| passed.way == way && passed.state != State::Waiting);
        under_way.take(LIMIT_UNDER_WAY).count() < LIMIT_UNDER_WAY
    }

    /// Part of an answer has come; `None` if the question was given up before.
    ///
    /// # Errors
    /// If it tells of ranks that were not asked for, or were told already, or comes from somebody else.
    pub(crate) fn heard(
        &mut self,
        now: Moment,
        from: PeerId,
        request: u64,
        contacts: &Told,
    ) -> Result<Option<Heard<A>>, Misbehaviour> {
        let sent = self.sent(now);
        let Some(passed) = self.passed.get_mut(&request) else {
            return if request < self.next { Ok(None) } else { Err(Misbehaviour::Unexpected("Contacts")) };
        };
        if passed.state == State::Waiting || passed.way.is_some_and(|way| way != from) {
            return Err(Misbehaviour::Unexpected("Contacts"));
        }
        for (rank, _) in contacts {
            match passed.missing.binary_search(rank) {
                Ok(at) => drop(passed.missing.remove(at)),
                Err(_) => return Err(Misbehaviour::OutOfBounds("Contacts.contacts")),
            }
        }
        passed.state = sent;
        let heard = Heard { asker: passed.asker, left: passed.missing.len() };
        if heard.left == 0 {
            self.passed.remove(&request);
        }
        Ok(Some(heard))
    }

    /// Takes the questions out for which that holds.
    fn take(&mut self, which: impl Fn(&Passed<A>) -> bool) -> Vec<Unanswered<A>> {
        let taken = self.passed.extract_if(.., |_, passed| which(passed));
        let taken = taken.map(|(request, passed)| (passed.asker, request, passed.missing)).collect();
        self.waiting.retain(|request| self.passed.contains_key(request));
        taken
    }

    /// Who was asked is gone.
    pub(crate) fn gone(&mut self, peer: PeerId) -> Vec<Unanswered<A>> {
        self.take(|passed| passed.way == Some(peer))
    }

    /// What was not answered in time.
    pub(crate) fn overdue(&mut self, now: Moment) -> Vec<Unanswered<A>> {
        self.take(|passed| passed.state.due().is_some_and(|due| now >= due))
    }

    /// Nobody will answer any more.
    pub(crate) fn end(&mut self) -> Vec<Unanswered<A>> {
        self.take(|_| true)
    }

    /// When the first of them is overdue.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Moment> {
        if self.passed.is_empty() {
            return None;
        }
        self.passed.values().filter_map(|passed| passed.state.due()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: PeerId = PeerId(7);
    const PATIENCE: Duration = Duration::from_micros(10);

    fn told(rank: u32) -> (Rank, Option<ContactText>) {
        (Rank(rank), Some(ContactText(format!("rank {rank}"))))
    }

    fn three() -> Vec<Rank> {
        [3, 5, 9].map(Rank).to_vec()
    }

    fn asking() -> Asking<&'static str> {
        let mut asking = Asking::new(Some(PATIENCE));
        assert_eq!(asking.pass("me", Some(ASKED), three()), 0);
        assert!(sent(&mut asking).is_some());
        asking
    }

    fn sent(asking: &mut Asking<&'static str>) -> Option<u64> {
        let (_, way, message) = asking.next_to_send(Moment::ZERO)?;
        let Message::AskContacts { request, ranks } = message else { panic!("{message:?}") };
        assert_eq!((way, ranks), (Some(ASKED), three()));
        Some(request)
    }

    fn hear(
        asking: &mut Asking<&'static str>,
        request: u64,
        contacts: &Told,
    ) -> Result<Option<usize>, Misbehaviour> {
        let heard = asking.heard(Moment::ZERO, ASKED, request, contacts)?;
        Ok(heard.map(|heard| heard.left))
    }

    #[test]
    fn an_answer_comes_in_parts_until_none_is_missing() {
        let mut asking = asking();
        assert_eq!(hear(&mut asking, 0, &vec![told(3), told(9)]), Ok(Some(1)));
        assert_eq!(hear(&mut asking, 0, &untold([Rank(5)])), Ok(Some(0)));
        assert_eq!(asking.deadline(), None);
        assert_eq!(hear(&mut asking, 0, &vec![told(5)]), Ok(None), "what is over is passed over");
    }

    #[test]
    fn what_was_not_asked_or_comes_twice_is_no_answer() {
        let mut asking = asking();
        assert!(hear(&mut asking, 1, &vec![told(3)]).is_err(), "a number never given");
        let other = asking.heard(Moment::ZERO, PeerId(8), 0, &vec![told(3)]);
        assert!(other.is_err(), "somebody else");
        assert!(hear(&mut asking, 0, &vec![told(4)]).is_err(), "another rank");
        assert!(hear(&mut asking, 0, &vec![told(3)]).is_ok());
        assert!(hear(&mut asking, 0, &vec![told(3)]).is_err(), "the same again");
    }

    #[test]
    fn only_a_few_go_one_way_at_one_time() {
        let mut asking = asking();
        for number in 1..4 {
            assert_eq!(asking.pass("me", Some(ASKED), three()), number);
        }
        assert_eq!(sent(&mut asking), Some(1));
        assert_eq!(sent(&mut asking), None, "two are under way");
        asking.pass("me", Some(PeerId(8)), three());
        let other = asking.next_to_send(Moment::ZERO);
        assert!(other.is_some_and(|(_, way, _)| way == Some(PeerId(8))), "another way is free");
        assert!(hear(&mut asking, 2, &vec![told(3)]).is_err(), "it was not sent yet");
        assert_eq!(hear(&mut asking, 0, &vec![told(3), told(5), told(9)]), Ok(Some(0)));
        assert_eq!(sent(&mut asking), Some(2), "in the order in which they came");
        assert_eq!(asking.gone(ASKED).len(), 3, "those that wait are given up as well");
        assert_eq!(sent(&mut asking), None);
    }

    #[test]
    fn whatever_ends_a_question_names_what_is_missing() {
        let missing = vec![("me", 0, three())];
        assert!(asking().gone(PeerId(8)).is_empty());
        assert_eq!(asking().gone(ASKED), missing);
        assert!(asking().overdue(Moment::from_micros(9)).is_empty());
        assert_eq!(asking().overdue(Moment::from_micros(10)), missing);
        assert_eq!(asking().end(), missing);
        let mut slow = asking();
        let later = Moment::from_micros(9);
        assert!(slow.heard(later, ASKED, 0, &vec![told(3)]).is_ok());
        assert!(slow.overdue(Moment::from_micros(18)).is_empty(), "part of the answer came");
        assert_eq!(slow.overdue(Moment::from_micros(19)), [("me", 0, vec![Rank(5), Rank(9)])]);
    }

    #[test]
    fn without_a_patience_only_a_lost_neighbour_ends_a_question() {
        let mut asking = Asking::new(None);
        asking.pass("me", Some(ASKED), three());
        assert_eq!(sent(&mut asking), Some(0));
        assert_eq!(asking.deadline(), None);
        assert!(asking.overdue(Moment::from_micros(u64::MAX)).is_empty());
        assert_eq!(asking.gone(ASKED), [("me", 0, three())]);
    }
}
