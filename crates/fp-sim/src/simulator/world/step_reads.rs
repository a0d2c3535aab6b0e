//! How a subscriber rank reads a step. It resolves the table, collects pieces from their owners, and checks every
//! element. It keeps views for as long as it holds the step.

use crate::simulator::application::App;
use crate::simulator::application::held_step::{Held, KnownTable, Progress, StepKey, View};
use crate::simulator::data_message::{DataMessage, Piece};
use crate::simulator::falsification::Falsification;
use crate::simulator::layouts::{self, Located};
use crate::simulator::names::FetchId;
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::oracle::Rule;
use crate::simulator::world::{Due, World};
use fp_proto::event::ResolveOutcome;
use fp_proto::message::Assignment;
use fp_proto::table;
use fp_proto::time::Moment;
use fp_types::{Rank, StepId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

impl World {
    /// A rank begins to read a step that it has just taken.
    pub(crate) fn read_step(&mut self, slot: SlotId, attachment: usize, assignment: Assignment) {
        let (cohort, _) = self.place(slot);
        let publisher = self.oracle.subscribers[&cohort].attachments[attachment].publisher;
        self.oracle.table_seen(publisher, &assignment);
        let key = (attachment, assignment.step);
        let now = self.now;
        let Some((_, app)) = self.subscriber(slot) else { return };
        let wanted = app.wanted(assignment.step);
        let table: KnownTable = (attachment, assignment.table, wanted);
        if app.passes_over(assignment.step) {
            app.held
                .insert(key, Held { publisher, table, progress: Progress::Holding(now), views: Vec::new() });
            self.release_step(slot, key);
            return;
        }
        let owners =
            app.tables.get(&table).map(|blocks| blocks.iter().map(|block| block.block.rank).collect());
        let held = Held { publisher, table: table.clone(), progress: Progress::Resolving, views: Vec::new() };
        app.held.insert(key, held);
        match owners {
            // Where they are may be asked for still.
            Some(owners) => self.locate_owners(slot, key, &owners),
            None => self.resolve_table(slot, key, table),
        }
    }

    fn resolve_table(&mut self, slot: SlotId, key: StepKey, table: KnownTable) {
        let now = self.now;
        let publisher = self.held_by(slot, key).map(|held| held.publisher);
        let Some(content) = publisher.and_then(|publisher| self.content_of(publisher)) else { return };
        let Some((machine, app)) = self.subscriber(slot) else { return };
        let queries = layouts::draw_queries(&content, &table.2, &mut app.prng);
        match machine.resolve(now, table.1, queries.clone()) {
            Ok(request) => {
                app.asked.insert(request, (table, key.1, queries));
                let by = self.answered_by();
                self.queue.push(by, Due::CheckResolved { slot, request });
            }
            Err(error) => {
                self.note(slot, || format!("cannot resolve: {error}"));
                self.give_step_up(slot, key, "resolve");
            }
        }
    }

    /// When a question that is asked now must have been answered, whatever happens meanwhile.
    pub(crate) fn answered_by(&self) -> Moment {
        let stall = self.scenario.longest_stall();
        // In a chain each owner is asked for by those before it, one after the other.
        let hops = u64::from(self.scenario.publishers[0].size).pow(2) * 2;
        let walk = Duration::from_micros(hops * self.scenario.delays.high_us);
        self.now.after(self.scenario.timing.silence * 3 + self.oracle.slack + stall + walk)
    }

    /// The publisher of a step that a rank holds.
    pub(crate) fn publisher_of(&self, slot: SlotId, key: StepKey) -> Option<CohortId> {
        self.held_by(slot, key).map(|held| held.publisher)
    }

    fn held_by(&self, slot: SlotId, key: StepKey) -> Option<&Held> {
        match &self.slot(slot).app {
            App::Subscriber(app) => app.held.get(&key),
            App::Publisher(_) | App::None => None,
        }
    }

    /// A step that cannot be read: that must be somebody's fault. Where a rank of its own cohort is lost, nobody may be
    /// left to ask for its table; whether that loss is a fault's is a rule of its own.
    pub(crate) fn give_step_up(&mut self, slot: SlotId, key: StepKey, what: &'static str) {
        let (cohort, rank) = self.place(slot);
        let Some(held) = self.held_by(slot, key) else { return };
        let publisher = held.publisher;
        let member = self.oracle.may_read(cohort, key.0);
        let truth = &self.oracle.publishers[&publisher];
        let lost = truth.over_at.is_some() || truth.ranks.iter().any(|rank| rank.gone.is_some());
        let alone = self.oracle.subscribers[&cohort].ranks[rank.0 as usize].told_lost;
        let excused = !member || lost || alone || self.oracle.is_pair_tainted(publisher, cohort);
        self.oracle.demand(excused, Rule::AssignedStepCanBeReadUntilItIsReleased, || {
            format!("{cohort} rank {rank} cannot read step {} of {publisher}: {what}", key.1)
        });
        self.release_step(slot, key);
    }

    /// The answer to a question.
    pub(crate) fn table_answered(&mut self, slot: SlotId, request: u64, outcome: ResolveOutcome) {
        let Some((_, app)) = self.subscriber(slot) else { return };
        let asked = app.asked.remove(&request);
        let (cohort, rank) = self.place(slot);
        let Some((known, step, queries)) = asked else {
            self.oracle
                .violated(Rule::OnlyQuestionsAreAnswered, format!("{cohort} rank {rank}: request {request}"));
            return;
        };
        let key = (known.0, step);
        let Some(publisher) = self.held_by(slot, key).map(|held| held.publisher) else { return };
        let ResolveOutcome::Table { encoded, owners } = outcome else {
            self.give_step_up(slot, key, "no table");
            return;
        };
        let Some(content) = self.content_of(publisher) else { return };
        let mut found = Vec::new();
        match table::decode(&encoded) {
            Ok(part) => {
                for query in &queries {
                    let expected = layouts::expected(&content, step.0, query);
                    let blocks =
                        expected.first().map_or(Vec::new(), |first| layouts::located(&part, first.variable));
                    let same = blocks.len() == expected.len()
                        && blocks.iter().zip(&expected).all(|(block, expected)| block.agrees(expected));
                    self.oracle.demand(same, Rule::TableTellsWhereEveryBlockIs, || {
                        format!(
                            "{cohort} rank {rank} step {step}, {query:?}: {blocks:?} instead of {expected:?}"
                        )
                    });
                    found.extend(blocks);
                }
            }
            Err(error) => self.oracle.violated(Rule::WhatWasEncodedIsDecoded, format!("{error:?}")),
        }
        let needed: BTreeSet<Rank> = found.iter().map(|block| block.block.rank).collect();
        if let Some((_, app)) = self.subscriber(slot) {
            app.tables.insert(known, found);
        }
        self.contacts_came(slot, publisher, key, &owners);
        self.locate_owners(slot, key, &needed);
    }

    /// Collects the pieces of a step: those that were announced, and the others on request.
    pub(crate) fn fetch_blocks(&mut self, slot: SlotId, key: StepKey) {
        let Some(held) = self.held_by(slot, key) else { return };
        let (publisher, table) = (held.publisher, held.table.clone());
        let Some((_, app)) = self.subscriber(slot) else { return };
        let needed: BTreeSet<(Rank, &'static str)> = app
            .tables
            .get(&table)
            .into_iter()
            .flatten()
            .map(|block| (block.block.rank, block.variable))
            .collect();
        let mut fetches = BTreeMap::new();
        for (owner, variable) in needed {
            self.tell_owner(slot, publisher, owner);
            let Some((_, app)) = self.subscriber(slot) else { return };
            let announced = app.placed.get(&(key.1, owner)).cloned();
            let covers = |pieces: &[Piece]| pieces.iter().any(|piece| piece.variable == variable);
            match announced.filter(|(_, pieces)| covers(pieces)) {
                Some((_, pieces)) => self.take_pieces(slot, key, owner, variable, &pieces, true),
                None => {
                    let Some(fetch) = self.fetch(slot, publisher, owner, key.1, variable) else { continue };
                    fetches.insert(fetch, (owner, variable));
                }
            }
        }
        self.set_fetching(slot, key, fetches);
    }

    fn tell_owner(&mut self, slot: SlotId, publisher: CohortId, owner: Rank) {
        let Some(target) = self.owner_slot(publisher, owner) else { return };
        if let Some((_, app)) = self.subscriber(slot)
            && app.told.insert(target)
        {
            self.send_data(DataMessage::Want { reader: slot, owner: target });
        }
    }

    fn fetch(
        &mut self,
        slot: SlotId,
        publisher: CohortId,
        owner: Rank,
        step: StepId,
        variable: &'static str,
    ) -> Option<FetchId> {
        let target = self.owner_slot(publisher, owner)?;
        self.fetches += 1;
        let fetch = FetchId(self.fetches);
        self.send_data(DataMessage::Fetch { reader: slot, owner: target, fetch, step, variable });
        Some(fetch)
    }

    fn set_fetching(&mut self, slot: SlotId, key: StepKey, fetches: BTreeMap<FetchId, (Rank, &'static str)>) {
        let now = self.now;
        let Some((_, app)) = self.subscriber(slot) else { return };
        let hold = app.plan.hold.draw(&mut app.prng);
        if let Some(held) = app.held.get_mut(&key) {
            held.progress = if fetches.is_empty() {
                Progress::Holding(now.after(hold))
            } else {
                Progress::Fetching(fetches)
            };
        }
        self.wake_at(slot, now.after(hold));
    }

    /// An owner said where the blocks of a step are; used once the step is assigned.
    pub(crate) fn placed(
        &mut self,
        reader: SlotId,
        owner: Rank,
        step: StepId,
        pieces: Vec<Piece>,
        from: SlotId,
    ) {
        if let Some((_, app)) = self.subscriber(reader)
            && app.told.contains(&from)
        {
            app.placed.insert((step, owner), (from, pieces));
            while app.placed.len() > 256 {
                app.placed.pop_first();
            }
        }
    }

    /// The answer to a fetch.
    pub(crate) fn fetched(&mut self, reader: SlotId, fetch: FetchId, pieces: Option<Vec<Piece>>) {
        let Some((_, app)) = self.subscriber(reader) else { return };
        let mine = app.held.iter_mut().find_map(|(key, held)| match &mut held.progress {
            Progress::Fetching(open) => open.remove(&fetch).map(|what| (*key, what, open.is_empty())),
            Progress::Resolving | Progress::Holding(_) => None,
        });
        let Some((key, (owner, variable), last)) = mine else { return };
        let Some(pieces) = pieces else {
            self.give_step_up(reader, key, "its owner has it no more");
            return;
        };
        self.take_pieces(reader, key, owner, variable, &pieces, false);
        if last {
            self.set_fetching(reader, key, BTreeMap::new());
        }
    }

    /// Checks every element of an owner's blocks of one variable, and keeps views of them.
    fn take_pieces(
        &mut self,
        slot: SlotId,
        key: StepKey,
        owner: Rank,
        variable: &'static str,
        pieces: &[Piece],
        announced: bool,
    ) {
        let Some(held) = self.held_by(slot, key) else { return };
        let (publisher, table) = (held.publisher, held.table.clone());
        let (Some(content), Some(target)) = (self.content_of(publisher), self.owner_slot(publisher, owner))
        else {
            return;
        };
        let Some((_, app)) = self.subscriber(slot) else { return };
        let keeps_views = app.plan.views;
        let blocks: Vec<Located> = app
            .tables
            .get(&table)
            .into_iter()
            .flatten()
            .filter(|block| block.block.rank == owner && block.variable == variable)
            .cloned()
            .collect();
        for block in blocks {
            let values = block.values(&content, key.1.0);
            let piece =
                pieces.iter().find(|piece| piece.variable == variable && piece.index == block.block.index);
            // What was announced is looked at only now: by now its memory may have another content.
            let there = piece.map(|piece| match announced {
                true => self.slot(target).store.read(piece.cell).to_vec(),
                false => piece.values.clone(),
            });
            let right = there.as_ref() == Some(&values);
            let (cohort, rank) = self.place(slot);
            self.oracle.demand(right, Rule::WhatIsReadIsWhatWasPut, || {
                let how = if announced { "announced" } else { "fetched" };
                format!("{cohort} rank {rank}: {variable} of step {} from rank {owner}, {how}: {there:?} instead of {block:?} {values:?}", key.1)
            });
            let Some(piece) = piece else { continue };
            let view = View { owner: target, cell: piece.cell, variable, values };
            if let Some((_, app)) = self.subscriber(slot)
                && let Some(held) = app.held.get_mut(&key)
                && keeps_views
            {
                held.views.push(view);
            }
            if self.falsifies(Falsification::ViewReused) {
                self.slot_mut(target).store.free(key.1.0, false);
            }
        }
    }

    /// Steps that were looked at for long enough are let go.
    pub(crate) fn finish_reads(&mut self, slot: SlotId) {
        let now = self.now;
        let Some((_, app)) = self.subscriber(slot) else { return };
        let done = |held: &Held| held.until().is_some_and(|until| until <= now);
        let keys: Vec<StepKey> =
            app.held.iter().filter(|(_, held)| done(held)).map(|(key, _)| *key).collect();
        for key in keys {
            self.check_views(slot, key);
            self.release_step(slot, key);
        }
    }

    /// Looks at all views that a rank has.
    pub(crate) fn check_all_views(&mut self, slot: SlotId) {
        let Some((_, app)) = self.subscriber(slot) else { return };
        let keys: Vec<StepKey> = app.held.keys().copied().collect();
        keys.into_iter().for_each(|key| self.check_views(slot, key));
    }

    /// Memory that a rank may look at holds what was put there, until it lets go: whatever became of the rank.
    fn check_views(&mut self, slot: SlotId, key: StepKey) {
        let views = self.held_by(slot, key).map(|held| held.views.clone()).unwrap_or_default();
        views.iter().for_each(|view| self.check_view(slot, key, view));
    }

    /// The same for what a rank looks at after it has closed.
    pub(crate) fn check_left_views(&mut self, slot: SlotId) {
        let App::Subscriber(app) = &mut self.slot_mut(slot).app else { return };
        let views = std::mem::take(&mut app.left_views);
        views.iter().for_each(|(key, view)| self.check_view(slot, *key, view));
    }

    fn check_view(&mut self, slot: SlotId, key: StepKey, view: &View) {
        let (cohort, rank) = self.place(slot);
        let there = self.slot(view.owner).store.read(view.cell).to_vec();
        let owner = self.slot(view.owner).who.clone();
        self.oracle.demand(there == view.values, Rule::ViewNeverShowsForeignBytes, || {
            format!("{cohort} rank {rank}: {} of step {} at {owner}: {there:?}", view.variable, key.1)
        });
    }

    /// By now a question must have been answered.
    pub(crate) fn check_resolved(&mut self, slot: SlotId, request: u64) {
        if !self.is_alive(slot) || self.slot(slot).paused_until.is_some() {
            return;
        }
        let Some((_, app)) = self.subscriber(slot) else { return };
        let open = app.asked.contains_key(&request) && app.is_waiting();
        let (cohort, rank) = self.place(slot);
        self.oracle.demand(!open, Rule::EveryQuestionIsAnswered, || {
            format!("{cohort} rank {rank}: request {request}")
        });
    }
}
