//! The modelled data plane. Subscribers tell owners what they want, and owners say where blocks are when a step ends. A
//! subscriber asks for whatever was not said. Bulk has its own links, so it overtakes decisions and is overtaken.

use crate::simulator::application::App;
use crate::simulator::data_message::{DataMessage, Piece};
use crate::simulator::falsification::Falsification;
use crate::simulator::machine::Machine;
use crate::simulator::names::FetchId;
use crate::simulator::names::SlotId;
use crate::simulator::world::{Due, World};
use fp_types::{Rank, StepId};

impl World {
    /// Sends over a data link.
    pub(crate) fn send_data(&mut self, message: DataMessage) {
        let delays = self.scenario.data_delays;
        let delay = self.prng.micros(delays.low_us, delays.high_us);
        self.queue.push(self.now.after(delay), Due::Data(message));
    }

    /// Something arrives on a data link.
    pub(crate) fn data_arrives(&mut self, message: DataMessage) {
        let (_, to) = message.ends();
        if let Some(until) = self.slot(to).paused_until.filter(|_| self.is_alive(to)) {
            self.queue.push(until, Due::Data(message));
            return;
        }
        match message {
            DataMessage::Want { reader, owner } => self.wanted(reader, owner),
            DataMessage::Placed { owner, reader, step, pieces } => {
                let rank = self.slot(owner).rank;
                self.placed(reader, rank, step, pieces, owner);
            }
            DataMessage::Fetch { reader, owner, fetch, step, variable } => {
                self.serve(reader, owner, fetch, step, variable);
            }
            DataMessage::Fetched { reader, fetch, pieces, .. } => self.fetched(reader, fetch, pieces),
        }
    }

    fn wanted(&mut self, reader: SlotId, owner: SlotId) {
        if let App::Publisher(app) = &mut self.slot_mut(owner).app
            && !app.wants.contains(&reader)
        {
            app.wants.push(reader);
        }
    }

    fn pieces(&self, owner: SlotId, step: StepId, variable: &'static str) -> Vec<Piece> {
        let store = &self.slot(owner).store;
        let blocks = store.blocks(step.0, variable).into_iter();
        let piece = |stored: crate::simulator::store::Stored| Piece {
            variable: stored.variable,
            index: stored.index,
            cell: stored.cell,
            values: store.read(stored.cell).to_vec(),
        };
        blocks.map(piece).collect()
    }

    /// An owner has ended a step: it tells everybody who wants to know where its blocks are.
    pub(crate) fn place_blocks(&mut self, owner: SlotId, step: StepId) {
        let readers = match &self.slot(owner).app {
            App::Publisher(app) => app.wants.clone(),
            App::Subscriber(_) | App::None => Vec::new(),
        };
        // Who is about some steps only hears nothing of one before it is assigned.
        let is_about_all = |reader: &SlotId| match &self.slot(*reader).app {
            App::Subscriber(app) => app.plan.demand.is_none(),
            App::Publisher(_) | App::None => true,
        };
        let readers: Vec<SlotId> = readers.into_iter().filter(is_about_all).collect();
        let variables = crate::simulator::content::VARIABLES;
        let pieces: Vec<Piece> =
            variables.iter().flat_map(|variable| self.pieces(owner, step, variable)).collect();
        for reader in readers {
            self.send_data(DataMessage::Placed { owner, reader, step, pieces: pieces.clone() });
        }
    }

    /// An owner answers a fetch from its store.
    fn serve(&mut self, reader: SlotId, owner: SlotId, fetch: FetchId, step: StepId, variable: &'static str) {
        let runs = self.is_alive(owner) && matches!(self.slot(owner).machine, Some(Machine::Publisher(_)));
        let has = !self.falsifies(Falsification::NothingServed);
        let here = has && runs && self.slot(owner).store.live_steps().contains(&step.0);
        let pieces = here.then(|| self.pieces(owner, step, variable));
        self.note(owner, || {
            format!("serves {variable} of step {step}: {}", if here { "there" } else { "not there" })
        });
        self.send_data(DataMessage::Fetched { owner, reader, fetch, pieces });
    }

    /// The process of a publisher rank.
    pub(crate) fn owner_slot(
        &self,
        publisher: crate::simulator::names::CohortId,
        rank: Rank,
    ) -> Option<SlotId> {
        self.slot_of(publisher, rank)
    }
}
