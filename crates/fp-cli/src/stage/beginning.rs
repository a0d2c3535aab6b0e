//! What the ranks of a relay begin with: how many they are, what is on disk already, who is awaited.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fp_core::{Epoch, StepId};

use super::relay::Relay;
use super::shelf::{Kept, Shelf, StreamFolder};
use crate::failure::Failure;
use crate::publisher_size::{self, LIMIT_RANKS};

/// Where the steps come from.
pub(super) enum Source {
    /// From a stream, in this opening.
    Stream(Epoch),
    /// From disk alone.
    Disk(Kept),
}

impl Source {
    /// The opening of the stream that is taken.
    pub(super) fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::Stream(epoch) => Some(*epoch),
            Self::Disk(_) => None,
        }
    }
}

/// What the ranks of a relay begin with.
pub(super) struct Beginning {
    /// Whether there is a stream to take.
    pub(super) has_stream: bool,
    /// As many as the publisher has.
    pub(super) ranks: u32,
    /// The number of the step that begins next.
    pub(super) next: StepId,
    /// What is on disk of the stream.
    pub(super) folder: Option<StreamFolder>,
    /// The place for steps of this opening.
    pub(super) shelf: Option<Arc<Shelf>>,
    /// Steps that are on disk already.
    pub(super) kept: BTreeSet<StepId>,
    /// How many subscribed to what was staged, before an earlier stager was killed.
    pub(super) subscribers: u32,
    /// Until when they are awaited.
    pub(super) awaits: Instant,
}

impl Beginning {
    /// Finds all that out.
    pub(super) fn of(relay: &Relay, source: Source) -> Result<Self, Failure> {
        let options = &relay.options;
        let (epoch, has_stream, (ranks, next)) = match source {
            Source::Disk(kept) => (kept.epoch, false, (kept.ranks, StepId(0))),
            Source::Stream(epoch) => (epoch, true, ask(relay)?),
        };
        let open = |disk| StreamFolder::open(disk, &relay.stream, options.durable);
        let folder = options.disk.as_deref().map(open).transpose()?;
        let (shelf, kept) =
            folder.as_ref().map(|folder| folder.shelf(epoch, ranks, &relay.told_damage)).transpose()?.unzip();
        let kept: Option<Kept> = kept.flatten();
        let there = kept.as_ref().map_or(ranks, |kept| kept.ranks);
        let wrong = match ranks {
            _ if there < ranks => {
                format!("has {ranks} ranks, and steps of {there} are on disk: name another --disk")
            }
            _ if ranks > LIMIT_RANKS => format!("has {ranks} ranks, and {LIMIT_RANKS} at most are staged"),
            _ => String::new(),
        };
        if !wrong.is_empty() {
            return Err(Failure::Usage(format!("stream {:?} {wrong}", relay.stream)));
        }
        let steps = kept.map(|kept| kept.steps).unwrap_or_default();
        let subscribers = shelf.as_ref().map_or(0, |shelf: &Shelf| shelf.subscribers());
        let awaits = Instant::now().checked_add(options.awaits);
        let awaits = awaits.unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30));
        // Somebody has to come for what is there.
        let subscribers = subscribers.max(u32::from(!has_stream || !steps.is_empty()));
        let shelf = shelf.map(Arc::new);
        // A publisher that came back with fewer ranks goes on with the steps of all of them.
        let ranks = there;
        Ok(Self { has_stream, ranks, next, folder, shelf, kept: steps, subscribers, awaits })
    }
}

/// How many ranks the publisher has, and the number of its next step.
fn ask(relay: &Relay) -> Result<(u32, StepId), Failure> {
    let credentials = relay.options.credentials.read()?;
    let whom = (&relay.rendezvous, &credentials);
    publisher_size::ask(&relay.stream, whom, relay.options.awaits, || relay.course.is_over())
}
