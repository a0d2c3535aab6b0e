//! How a subscriber rank learns where the owners are that it reads from. It asks for contacts and checks each. Once it
//! has been told of all it reads on.

use crate::simulator::application::App;
use crate::simulator::application::held_step::StepKey;
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::oracle::Rule;
use crate::simulator::world::{Due, World};
use fp_proto::config::ContactText;
use fp_types::Rank;
use std::collections::BTreeSet;

impl World {
    /// Contacts that came unasked, with an answer about a table.
    pub(crate) fn contacts_came(
        &mut self,
        slot: SlotId,
        publisher: CohortId,
        key: StepKey,
        contacts: &[(Rank, ContactText)],
    ) {
        for (rank, contact) in contacts {
            self.check_contact(publisher, *rank, contact);
            if let Some((_, app)) = self.subscriber(slot) {
                app.located.insert((key.0, *rank));
            }
        }
    }

    /// Whoever is told where a rank is finds that rank there.
    fn check_contact(&mut self, publisher: CohortId, rank: Rank, contact: &ContactText) {
        let there = self.owner_slot(publisher, rank).map(|slot| self.slot(slot).contact.clone());
        self.oracle.demand(there.as_ref() == Some(contact), Rule::ContactIsThatOfItsRank, || {
            format!("{publisher} rank {rank}: {contact:?} instead of {there:?}")
        });
    }

    /// Asks where those owners of a step's blocks are that this rank does not know, and now and then where all ranks
    /// are. Reads on if it knows all.
    pub(crate) fn locate_owners(&mut self, slot: SlotId, key: StepKey, owners: &BTreeSet<Rank>) {
        let now = self.now;
        let Some(size) = self.publisher_of(slot, key).and_then(|it| self.content_of(it)).map(|it| it.size)
        else {
            return;
        };
        let Some((machine, app)) = self.subscriber(slot) else { return };
        let mut missing: Vec<Rank> =
            owners.iter().copied().filter(|rank| !app.located.contains(&(key.0, *rank))).collect();
        if !missing.is_empty() && app.prng.chance(25) {
            missing = (0..size).map(Rank).collect();
        }
        if missing.is_empty() {
            self.fetch_blocks(slot, key);
            return;
        }
        match machine.ask_contacts(now, missing.clone()) {
            Ok(request) => {
                app.locating.insert(request, (key, missing.into_iter().collect()));
                let by = self.answered_by();
                self.queue.push(by, Due::CheckLocated { slot, request });
            }
            Err(error) => {
                self.note(slot, || format!("cannot ask for contacts: {error}"));
                self.give_step_up(slot, key, "contacts");
            }
        }
    }

    /// Part of the answer.
    pub(crate) fn contacts_told(
        &mut self,
        slot: SlotId,
        request: u64,
        contacts: Vec<(Rank, Option<ContactText>)>,
        left: usize,
    ) {
        let (cohort, rank) = self.place(slot);
        let Some((_, app)) = self.subscriber(slot) else { return };
        let Some((key, mut missing)) = app.locating.remove(&request) else {
            self.oracle.violated(
                Rule::OnlyQuestionsAreAnswered,
                format!("{cohort} rank {rank}: contacts {request}"),
            );
            return;
        };
        let asked = contacts.iter().all(|(rank, _)| missing.remove(rank)) && missing.len() == left;
        if left > 0 {
            app.locating.insert(request, (key, missing));
        }
        self.oracle.demand(asked, Rule::OnlyRanksAskedForAreToldOf, || {
            format!("{cohort} rank {rank}: {contacts:?}, {left} left")
        });
        let Some(publisher) = self.publisher_of(slot, key) else { return };
        let lost = contacts.iter().any(|(_, contact)| contact.is_none());
        let known: Vec<(Rank, ContactText)> =
            contacts.into_iter().filter_map(|(rank, contact)| Some((rank, contact?))).collect();
        self.contacts_came(slot, publisher, key, &known);
        if lost {
            self.give_step_up(slot, key, "an owner's contact");
        } else if left == 0 {
            self.fetch_blocks(slot, key);
        }
    }

    /// By now a question about contacts must have been answered.
    pub(crate) fn check_located(&mut self, slot: SlotId, request: u64) {
        if !self.is_alive(slot) || self.slot(slot).paused_until.is_some() {
            return;
        }
        let open = match &self.slot(slot).app {
            App::Subscriber(app) => app.locating.contains_key(&request) && app.is_waiting(),
            App::Publisher(_) | App::None => false,
        };
        let (cohort, rank) = self.place(slot);
        self.oracle.demand(!open, Rule::EveryQuestionIsAnswered, || {
            format!("{cohort} rank {rank}: contacts {request}")
        });
    }
}
