//! Control links between machines: first in, first out in each direction, with random delays. They can be closed,
//! reset, or go silent without anybody being told.

use crate::simulator::names::SlotId;
use crate::simulator::prng::Prng;
use fp_proto::effect::PeerId;
use fp_proto::time::Moment;
use std::collections::BTreeMap;
use std::time::Duration;

/// A link of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkId(pub(crate) usize);

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// The machine at this end.
    pub(crate) slot: SlotId,
    /// How that machine names the link.
    pub(crate) peer: PeerId,
    /// Whether this end may still send and receive.
    open: bool,
    /// Nothing is delivered to this end before this moment: first in, first out.
    next_at: Moment,
}

/// How a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    /// Everything vanishes, and nobody is told.
    HalfOpen,
    /// Reset: what was under way is gone.
    Down,
}

/// A link between two machines.
pub(crate) struct Link {
    pub(crate) ends: [End; 2],
    state: State,
}

/// The usual delay of a message and the spikes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    pub(crate) low_us: u64,
    pub(crate) high_us: u64,
}

/// A time in which every message takes longer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spike {
    pub(crate) from: Moment,
    pub(crate) to: Moment,
    pub(crate) extra: Duration,
    /// Only links of this machine, if named.
    pub(crate) only: Option<SlotId>,
}

impl Spike {
    /// Whether it may hold up what is sent from then on: what it held up before comes first.
    pub(crate) fn is_felt_since(&self, moment: Moment) -> bool {
        self.to.after(self.extra) > moment
    }
}

/// All links.
pub(crate) struct Network {
    links: Vec<Link>,
    by_peer: BTreeMap<PeerId, (LinkId, usize)>,
    next_peer: u64,
    delays: Delays,
    pub(crate) spikes: Vec<Spike>,
    prng: Prng,
}

impl Network {
    pub(crate) fn new(delays: Delays, prng: Prng) -> Self {
        Self { links: Vec::new(), by_peer: BTreeMap::new(), next_peer: 1, delays, spikes: Vec::new(), prng }
    }

    /// Makes a link from `from` to `to`.
    pub(crate) fn connect(&mut self, from: SlotId, to: SlotId) -> LinkId {
        let link = LinkId(self.links.len());
        let ends = [self.end(link, 0, from), self.end(link, 1, to)];
        self.links.push(Link { ends, state: State::Up });
        link
    }

    fn end(&mut self, link: LinkId, side: usize, slot: SlotId) -> End {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        self.by_peer.insert(peer, (link, side));
        End { slot, peer, open: true, next_at: Moment::ZERO }
    }

    /// The link and side that a machine names so.
    pub(crate) fn side(&self, peer: PeerId) -> Option<(LinkId, usize)> {
        self.by_peer.get(&peer).copied()
    }

    pub(crate) fn link(&self, link: LinkId) -> &Link {
        &self.links[link.0]
    }

    /// When something sent now from `side` arrives at the other end; `None` if it never will.
    pub(crate) fn send(&mut self, now: Moment, link: LinkId, side: usize) -> Option<Moment> {
        let (from, to) = (self.links[link.0].ends[side], self.links[link.0].ends[1 - side]);
        if self.links[link.0].state != State::Up || !from.open {
            return None;
        }
        let at = now.after(self.delay(now, from.slot, to.slot)).max(to.next_at);
        self.links[link.0].ends[1 - side].next_at = at;
        Some(at)
    }

    /// A delay between two machines, with whatever spike is on.
    pub(crate) fn delay(&mut self, now: Moment, from: SlotId, to: SlotId) -> Duration {
        let usual = self.prng.micros(self.delays.low_us, self.delays.high_us);
        let hit = |spike: &&Spike| {
            spike.from <= now && now < spike.to && spike.only.is_none_or(|only| only == from || only == to)
        };
        usual + self.spikes.iter().filter(hit).map(|spike| spike.extra).max().unwrap_or_default()
    }

    /// The end that a delivery is for, if it still takes one.
    pub(crate) fn arrive(&self, link: LinkId, side: usize) -> Option<End> {
        let found = &self.links[link.0];
        let end = found.ends[side];
        (end.open && found.state == State::Up).then_some(end)
    }

    /// Whether this end has not heard of the link's end.
    pub(crate) fn is_open(&self, link: LinkId, side: usize) -> bool {
        self.links[link.0].ends[side].open
    }

    /// Whether what is sent over a link arrives.
    pub(crate) fn is_up(&self, link: LinkId) -> bool {
        let found = &self.links[link.0];
        found.state == State::Up && found.ends.iter().all(|end| end.open)
    }

    /// Nothing is delivered to this end before `at`.
    pub(crate) fn hold_until(&mut self, link: LinkId, side: usize, at: Moment) {
        let end = &mut self.links[link.0].ends[side];
        end.next_at = end.next_at.max(at);
    }

    /// Closes one end. The other hears of it after everything that was sent before.
    pub(crate) fn close(&mut self, now: Moment, link: LinkId, side: usize) -> Option<Moment> {
        let at = self.send(now, link, side);
        self.links[link.0].ends[side].open = false;
        at
    }

    /// Marks one end as told of the end of the link.
    pub(crate) fn shut(&mut self, link: LinkId, side: usize) {
        self.links[link.0].ends[side].open = false;
    }

    /// Resets a link: what is under way is lost. Gives the ends that are to be told.
    pub(crate) fn reset(&mut self, link: LinkId) -> Vec<usize> {
        self.links[link.0].state = State::Down;
        (0..2).filter(|&side| self.links[link.0].ends[side].open).collect()
    }

    /// From now on everything on this link vanishes.
    pub(crate) fn go_silent(&mut self, link: LinkId) {
        self.links[link.0].state = State::HalfOpen;
    }

    /// The links of a machine that are open at its end.
    pub(crate) fn links_of(&self, slot: SlotId) -> Vec<(LinkId, usize)> {
        let sides = self.links.iter().enumerate().flat_map(|(index, link)| {
            (0..2)
                .filter(move |&side| link.ends[side].open && link.ends[side].slot == slot)
                .map(move |side| (LinkId(index), side))
        });
        sides.collect()
    }

    /// Links that are up at both ends.
    pub(crate) fn live_links(&self) -> Vec<LinkId> {
        let live = |link: &Link| link.state == State::Up && link.ends.iter().all(|end| end.open);
        (0..self.links.len()).filter(|&index| live(&self.links[index])).map(LinkId).collect()
    }
}
