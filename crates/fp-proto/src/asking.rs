//! Questions about contacts that a rank has passed on: for whom, and which ranks' are still to come
//! (`docs/protocol.md`, section 11). Nothing of an answer is kept here: each part goes on as it comes.

use crate::config::ContactText;
use crate::effect::{Misbehaviour, PeerId};
use crate::message::Message;
use crate::time::Moment;
use fp_types::Rank;
use std::collections::BTreeMap;

/// Questions that may be under way at one rank at one time.
const LIMIT_PASSED: usize = 4096;

/// Part of an answer: `None` where nobody can say any more.
pub(crate) type Told = Vec<(Rank, Option<ContactText>)>;

/// Nobody can say where these are.
pub(crate) fn untold(ranks: impl IntoIterator<Item = Rank>) -> Told {
    ranks.into_iter().map(|rank| (rank, None)).collect()
}

struct Passed<A> {
    asker: A,
    /// Who was asked, where it matters who answers.
    to: Option<PeerId>,
    /// Rising.
    missing: Vec<Rank>,
    due: Moment,
}

/// The questions under way, of askers of type `A`.
pub(crate) struct Asking<A> {
    next: u64,
    passed: BTreeMap<u64, Passed<A>>,
}

impl<A> Default for Asking<A> {
    fn default() -> Self {
        Self { next: 0, passed: BTreeMap::new() }
    }
}

/// What part of an answer means.
pub(crate) struct Heard<A> {
    pub(crate) asker: A,
    /// How many ranks are still to come.
    pub(crate) left: usize,
}

impl<A: Copy> Asking<A> {
    /// Whether no more questions can be passed on.
    pub(crate) fn is_full(&self) -> bool {
        self.passed.len() >= LIMIT_PASSED
    }

    /// The question as it is passed on; the ranks rise. Its number is never used again.
    pub(crate) fn pass(
        &mut self,
        asker: A,
        to: Option<PeerId>,
        ranks: Vec<Rank>,
        due: Moment,
    ) -> (u64, Message) {
        let request = self.next;
        self.next += 1;
        self.passed.insert(request, Passed { asker, to, missing: ranks.clone(), due });
        (request, Message::AskContacts { request, ranks })
    }

    /// Part of an answer has come; `None` if the question was given up before.
    ///
    /// # Errors
    /// If it tells of ranks that were not asked for, or were told already, or comes from somebody else.
    pub(crate) fn heard(
        &mut self,
        from: PeerId,
        request: u64,
        contacts: &Told,
    ) -> Result<Option<Heard<A>>, Misbehaviour> {
        let Some(passed) = self.passed.get_mut(&request) else {
            return if request < self.next { Ok(None) } else { Err(Misbehaviour::Unexpected("Contacts")) };
        };
        if passed.to.is_some_and(|to| to != from) {
            return Err(Misbehaviour::Unexpected("Contacts"));
        }
        for (rank, _) in contacts {
            match passed.missing.binary_search(rank) {
                Ok(at) => drop(passed.missing.remove(at)),
                Err(_) => return Err(Misbehaviour::OutOfBounds("Contacts.contacts")),
            }
        }
        let heard = Heard { asker: passed.asker, left: passed.missing.len() };
        if heard.left == 0 {
            self.passed.remove(&request);
        }
        Ok(Some(heard))
    }

    /// Takes the questions out for which that holds: who asked each, its number, and the ranks that nobody told of.
    fn take(&mut self, which: impl Fn(&Passed<A>) -> bool) -> Vec<(A, u64, Vec<Rank>)> {
        let taken = self.passed.extract_if(.., |_, passed| which(passed));
        taken.map(|(request, passed)| (passed.asker, request, passed.missing)).collect()
    }

    /// Who was asked is gone.
    pub(crate) fn gone(&mut self, peer: PeerId) -> Vec<(A, u64, Vec<Rank>)> {
        self.take(|passed| passed.to == Some(peer))
    }

    /// What was not answered in time.
    pub(crate) fn overdue(&mut self, now: Moment) -> Vec<(A, u64, Vec<Rank>)> {
        self.take(|passed| now >= passed.due)
    }

    /// Nobody will answer any more.
    pub(crate) fn end(&mut self) -> Vec<(A, u64, Vec<Rank>)> {
        self.take(|_| true)
    }

    /// Whoever asked these needs no answer any more.
    pub(crate) fn forget(&mut self, which: impl Fn(&A) -> bool) {
        self.passed.retain(|_, passed| !which(&passed.asker));
    }

    /// When the first of them is overdue.
    pub(crate) fn deadline(&self) -> Option<Moment> {
        self.passed.values().map(|passed| passed.due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: PeerId = PeerId(7);

    fn told(rank: u32) -> (Rank, Option<ContactText>) {
        (Rank(rank), Some(ContactText(format!("rank {rank}"))))
    }

    fn asking() -> Asking<&'static str> {
        let mut asking = Asking::default();
        let ranks = [3, 5, 9].map(Rank).to_vec();
        let (request, _) = asking.pass("me", Some(ASKED), ranks, Moment::from_micros(10));
        assert_eq!(request, 0);
        asking
    }

    #[test]
    fn an_answer_comes_in_parts_until_none_is_missing() {
        let mut asking = asking();
        let first = asking.heard(ASKED, 0, &vec![told(3), told(9)]).expect("they were asked for");
        assert_eq!(first.map(|heard| (heard.asker, heard.left)), Some(("me", 1)));
        let last = asking.heard(ASKED, 0, &untold([Rank(5)])).expect("it was asked for");
        assert_eq!(last.map(|heard| heard.left), Some(0));
        assert_eq!(asking.deadline(), None);
        assert!(matches!(asking.heard(ASKED, 0, &vec![told(5)]), Ok(None)), "what is over is passed over");
    }

    #[test]
    fn what_was_not_asked_or_comes_twice_is_no_answer() {
        let mut asking = asking();
        assert!(asking.heard(ASKED, 1, &vec![told(3)]).is_err(), "a number never given");
        assert!(asking.heard(PeerId(8), 0, &vec![told(3)]).is_err(), "somebody else");
        assert!(asking.heard(ASKED, 0, &vec![told(4)]).is_err(), "another rank");
        assert!(asking.heard(ASKED, 0, &vec![told(3)]).is_ok());
        assert!(asking.heard(ASKED, 0, &vec![told(3)]).is_err(), "the same again");
    }

    #[test]
    fn whatever_ends_a_question_names_what_is_missing() {
        let missing = vec![("me", 0, vec![Rank(3), Rank(5), Rank(9)])];
        assert!(asking().gone(PeerId(8)).is_empty());
        assert_eq!(asking().gone(ASKED), missing);
        assert!(asking().overdue(Moment::from_micros(9)).is_empty());
        assert_eq!(asking().overdue(Moment::from_micros(10)), missing);
        assert_eq!(asking().end(), missing);
        let mut forgotten = asking();
        forgotten.forget(|&asker| asker == "me");
        assert!(forgotten.end().is_empty());
    }
}
