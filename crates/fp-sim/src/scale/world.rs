//! The world of one run: ranks, links, virtual time. Every input of a machine costs the processor's time that it took.

use crate::queue::Queue;
use crate::scale::books::{Books, Mark};
use crate::scale::content::{Case, Content};
use crate::scale::coordinator::{Asked, Kind, asked, codec_kind, given_bytes, sent_bytes};
use crate::scale::cost::LinkCost;
use crate::scale::cpu::CpuClock;
use crate::scale::memory;
use crate::scale::rank::{Account, Answer, Input, Machine, Rank, Slot};
use crate::scale::usual::Usual;
use fp_proto::bounds::LIMIT_CONTACTS;
use fp_proto::effect::{DialTicket, PeerId};
use fp_proto::time::Moment;
use fp_types::{Rank as RankId, StepId, TableId};
use std::sync::Arc;

struct Link {
    ends: [Slot; 2],
    open: [bool; 2],
    /// Bytes of this stage, both ways.
    bytes: u64,
}

/// Something that is due.
enum Due {
    /// The head of a message is at the port.
    Message {
        to: PeerId,
        bytes: Vec<u8>,
    },
    Dial {
        from: Slot,
        ticket: DialTicket,
        target: Slot,
    },
    Input(Slot, Input),
    Closed(PeerId),
}

/// The window in which an input is measured.
struct Measured {
    answer: Answer,
    what: &'static str,
    handling_ns: u64,
    sending_ns: u64,
}

/// More than the allocator takes from its lists of small pieces.
const TIDYING_BYTES: usize = 1 << 16;
/// Less than a table takes, and more than all else that one input frees.
const TABLE_BYTES: i64 = 2 << 10;

/// One run.
pub struct World {
    pub(crate) cost: LinkCost,
    /// Whether the processor's time is added to virtual time.
    pub charges_cpu: bool,
    /// The mistake that every publisher rank makes.
    #[cfg(feature = "mutations")]
    pub mutation: Option<fp_proto::mutation::Mutation>,
    pub(crate) publishers: u32,
    pub(crate) subscribers: u32,
    /// Subscribers of one rank that are attached beside the cohort, and take steps.
    pub(crate) guests: u32,
    pub(crate) ranks: Vec<Rank>,
    pub(crate) books: Books,
    pub(crate) content: Content,
    pub(crate) case: Case,
    pub(crate) now_ns: u64,
    /// Whether subscribers watch, and want no variables.
    pub(crate) is_watched: bool,
    /// Who asks for status during each step.
    pub(crate) observer: Option<PeerId>,
    queue: Queue<u64, Due>,
    links: Vec<Link>,
    clock: CpuClock,
    usual: Usual,
    outbox: Vec<Asked>,
}

impl World {
    /// A world of two cohorts, before anything happened.
    pub fn new(cost: LinkCost, publishers: u32, subscribers: u32) -> Self {
        Self {
            cost,
            charges_cpu: true,
            #[cfg(feature = "mutations")]
            mutation: None,
            publishers,
            subscribers,
            guests: 0,
            ranks: Vec::with_capacity((publishers + subscribers + 1) as usize),
            books: Books::default(),
            content: Content::new(publishers),
            case: Case::Unchanged,
            now_ns: 0,
            is_watched: false,
            observer: None,
            queue: Queue::new(),
            links: Vec::new(),
            clock: CpuClock::new(),
            usual: Usual::default(),
            outbox: Vec::with_capacity(1 << 10),
        }
    }

    pub(crate) fn is_publisher(&self, slot: Slot) -> bool {
        slot.0 < self.publishers as usize
    }

    pub(crate) fn publisher_slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.publishers as usize).map(Slot)
    }

    /// Begins a stage: its books are empty, its time starts when all that was before is done.
    pub(crate) fn begin_stage(&mut self) {
        // When a large piece is asked for, the allocator puts in order what all ranks have freed. So that is done
        // before anything is measured. Otherwise the first rank that happens to ask would pay for it.
        drop(std::hint::black_box(Vec::<u8>::with_capacity(TIDYING_BYTES)));
        let done_ns = self.ranks.iter().map(|rank| rank.cpu_free_ns.max(rank.sent_ns)).max();
        self.now_ns = self.now_ns.max(done_ns.unwrap_or(0)) + 1_000;
        self.books = Books::begin(self.now_ns);
        self.links.iter_mut().for_each(|link| link.bytes = 0);
    }

    /// The most that one link carried in this stage, both ways.
    pub(crate) fn longest_link_bytes(&self) -> u64 {
        self.links.iter().map(|link| link.bytes).max().unwrap_or(0)
    }

    /// Hands an input over at the present.
    pub(crate) fn command(&mut self, slot: Slot, input: Input) {
        self.queue.push(self.now_ns, Due::Input(slot, input));
    }

    /// Goes on until nothing is due.
    pub(crate) fn settle(&mut self) {
        while let Some((at_ns, due)) = self.queue.pop() {
            self.now_ns = self.now_ns.max(at_ns);
            match due {
                Due::Message { to, bytes } => self.message_arrives(at_ns, to, bytes),
                Due::Dial { from, ticket, target } => self.dial_arrives(at_ns, from, ticket, target),
                Due::Input(slot, input) => self.process(at_ns, slot, input, 0),
                Due::Closed(peer) => self.link_closes(at_ns, peer),
            }
        }
    }

    pub(crate) fn end(&self, peer: PeerId) -> Slot {
        self.links[(peer.0 / 2) as usize].ends[(peer.0 % 2) as usize]
    }

    fn is_open(&self, peer: PeerId) -> bool {
        self.links[(peer.0 / 2) as usize].open[(peer.0 % 2) as usize]
    }

    /// The port takes one message after the other.
    fn message_arrives(&mut self, at_ns: u64, to: PeerId, bytes: Vec<u8>) {
        if !self.is_open(to) {
            return;
        }
        let slot = self.end(to);
        let port_ns = self.cost.port_ns(bytes.len());
        let rank = &mut self.ranks[slot.0];
        rank.received_ns = rank.received_ns.max(at_ns) + port_ns;
        let ready_ns = rank.received_ns;
        self.process(ready_ns, slot, Input::Message(to, bytes), self.cost.overhead_ns);
    }

    /// A link to the publisher's lead, of somebody without a machine.
    pub(crate) fn dial_lead(&mut self, from: Slot) -> PeerId {
        let peer = PeerId(2 * self.links.len() as u64);
        self.dial_arrives(self.now_ns, from, DialTicket(u64::MAX), Slot(0));
        peer
    }

    fn dial_arrives(&mut self, at_ns: u64, from: Slot, ticket: DialTicket, target: Slot) {
        let number = self.links.len() as u64;
        self.links.push(Link { ends: [from, target], open: [true; 2], bytes: 0 });
        self.ranks[from.0].linked();
        self.ranks[target.0].linked();
        let [dialler, accepter] = [PeerId(2 * number), PeerId(2 * number + 1)];
        self.queue.push(at_ns + self.cost.dial_ns(), Due::Input(from, Input::Dialled(ticket, dialler)));
        self.process(at_ns, target, Input::Accepted(accepter), self.cost.overhead_ns);
    }

    fn link_closes(&mut self, at_ns: u64, peer: PeerId) {
        if self.is_open(peer) {
            self.shut(peer);
            self.process(at_ns, self.end(peer), Input::Disconnected(peer), 0);
        }
    }

    fn shut(&mut self, peer: PeerId) {
        self.links[(peer.0 / 2) as usize].open[(peer.0 % 2) as usize] = false;
        let slot = self.end(peer);
        self.ranks[slot.0].links -= 1;
    }

    /// A process dies: its host closes its links.
    pub(crate) fn kill(&mut self, slot: Slot) {
        self.ranks[slot.0].machine = None;
        for number in 0..self.links.len() {
            for side in [0, 1] {
                let peer = PeerId(2 * number as u64 + side);
                if self.end(peer) == slot && self.is_open(peer) {
                    self.shut(peer);
                    self.queue.push(self.now_ns + self.cost.latency_ns, Due::Closed(PeerId(peer.0 ^ 1)));
                }
            }
        }
    }

    /// One input: handled, its effects taken, its cost charged.
    fn process(&mut self, ready_ns: u64, slot: Slot, input: Input, overhead_ns: u64) {
        let Some(mut machine) = self.ranks[slot.0].machine.take() else { return };
        let start_ns = ready_ns.max(self.ranks[slot.0].cpu_free_ns) + overhead_ns;
        let (held_before, given) = (memory::live_bytes(), given_bytes(&input));
        let len_bytes = if let Input::Message(_, bytes) = &input { bytes.len() } else { 0 };
        let account = self.account(slot, &input);
        let input = self.with_content(slot, input);
        let mut outbox = std::mem::take(&mut self.outbox);
        let room = outbox.capacity();
        let mut measured = self.measure(&mut machine, start_ns, input, &mut outbox);
        let sent: i64 = outbox.iter().map(sent_bytes).sum();
        let grown = (outbox.capacity() - room) * size_of::<Asked>();
        let rank = &mut self.ranks[slot.0];
        rank.machine = Some(machine);
        if let Answer::Begun(step, measures) = std::mem::replace(&mut measured.answer, Answer::None) {
            (rank.open_step, rank.measures) = (Some(step), measures);
        }
        let added = memory::live_bytes() - held_before + given - sent - grown as i64;
        // The log frees tables: they were booked as layouts when they came.
        let account =
            if account == Account::Own && added < -TABLE_BYTES { Account::Layouts } else { account };
        rank.held.book(account, added);
        self.charge(slot, len_bytes, &mut measured);
        self.send_all(slot, start_ns, &measured, &mut outbox);
        self.outbox = outbox;
    }

    /// Books what an input took, without interruptions.
    fn charge(&mut self, slot: Slot, len_bytes: usize, measured: &mut Measured) {
        let Measured { what, handling_ns, sending_ns, .. } = *measured;
        let took_ns = handling_ns + sending_ns;
        let charged_ns =
            if self.is_usual(slot, what) { self.usual.charge_ns(what, len_bytes, took_ns) } else { took_ns };
        if charged_ns < took_ns {
            self.books.interrupted(took_ns - charged_ns);
            measured.handling_ns = charged_ns * handling_ns / took_ns;
            measured.sending_ns = charged_ns - measured.handling_ns;
        }
        self.books.worked(what, slot == Slot(0), charged_ns);
    }

    /// Whether all inputs of its kind and size are alike. What layouts are concerned with never is, nor is the lead.
    fn is_usual(&self, slot: Slot, what: &str) -> bool {
        let of_layouts = match what {
            "Ready" | "end_step" => self.case != Case::Unchanged,
            "Fragment" | "TableRequest" | "TableReply" | "Resolve" | "Resolved" | "resolve" => true,
            "AskContacts" | "Contacts" | "ask_contacts" => true,
            _ => false,
        };
        slot != Slot(0) && !of_layouts
    }

    /// What an application puts is made here, so that its memory is the machine's.
    fn with_content(&self, slot: Slot, input: Input) -> Input {
        if let Input::End(step, ..) = input {
            let part = |measure: &Arc<str>| self.content.measured(measure, slot.0 as u32);
            let parts = self.ranks[slot.0].measures.iter().map(part).collect();
            return Input::End(step, self.content.contribution(slot.0 as u32), parts);
        }
        input
    }

    fn measure(
        &self,
        machine: &mut Machine,
        start_ns: u64,
        input: Input,
        outbox: &mut Vec<Asked>,
    ) -> Measured {
        let now = Moment::from_micros(start_ns / 1_000);
        let begun = self.clock.now_ns();
        let (answer, what) = machine.handle(now, input);
        let handled = self.clock.now_ns();
        while let Some(effect) = machine.poll() {
            outbox.extend(asked(effect));
        }
        outbox.extend(machine.take(now).map(|(step, table)| Asked::Taken(step, table)));
        let _ = machine.deadline();
        let done = self.clock.now_ns();
        let handling_ns = self.clock.between_ns(begun, handled);
        Measured { answer, what, handling_ns, sending_ns: self.clock.between_ns(handled, done) }
    }

    /// What was asked for happens one after the other, each as soon as its share of the work is done.
    fn send_all(&mut self, slot: Slot, start_ns: u64, measured: &Measured, outbox: &mut Vec<Asked>) {
        let charged = |ns: u64| if self.charges_cpu { ns } else { 0 };
        let (handling_ns, sending_ns) = (charged(measured.handling_ns), charged(measured.sending_ns));
        let count = outbox.len().max(1) as u64;
        let mut at_ns = start_ns + handling_ns;
        for asked in outbox.drain(..) {
            at_ns += sending_ns / count;
            if matches!(asked, Asked::Send { .. } | Asked::Dial { .. }) {
                at_ns += self.cost.overhead_ns;
            }
            self.carry_out(slot, at_ns, asked);
        }
        let rank = &mut self.ranks[slot.0];
        rank.cpu_free_ns = at_ns.max(start_ns + handling_ns + sending_ns);
    }

    fn carry_out(&mut self, slot: Slot, at_ns: u64, asked: Asked) {
        match asked {
            Asked::Send { to, bytes, kind } => self.send(slot, at_ns, to, bytes, kind),
            Asked::Dial { ticket, target } => {
                self.queue.push(at_ns + self.cost.dial_ns(), Due::Dial { from: slot, ticket, target });
            }
            Asked::Disconnect(peer) => {
                if self.is_open(peer) {
                    self.shut(peer);
                    self.queue.push(at_ns + self.cost.latency_ns, Due::Closed(PeerId(peer.0 ^ 1)));
                }
            }
            Asked::Listing => self.queue.push(at_ns + self.cost.dial_ns(), Due::Input(slot, Input::Listing)),
            Asked::Marked(mark) => self.marked(slot, at_ns, mark),
            Asked::Taken(step, table) => self.taken(slot, at_ns, step, table),
            Asked::Owners(owners, located) => {
                let rank = &mut self.ranks[slot.0];
                rank.located.extend(located);
                rank.to_locate = owners.into_iter().filter(|owner| !rank.located.contains(owner)).collect();
                self.locate(slot, at_ns);
            }
            Asked::Located(ranks, left) => {
                self.ranks[slot.0].located.extend(ranks);
                if left == 0 {
                    self.locate(slot, at_ns);
                }
            }
        }
    }

    pub(crate) fn send(&mut self, slot: Slot, at_ns: u64, to: PeerId, bytes: Vec<u8>, kind: &'static str) {
        self.books.sent(kind, bytes.len() as u64);
        if kind == "Subscribe" {
            self.books.mark(Mark::Asked, at_ns);
        }
        self.links[(to.0 / 2) as usize].bytes += bytes.len() as u64;
        let port_ns = self.cost.port_ns(bytes.len());
        let rank = &mut self.ranks[slot.0];
        let head_ns = rank.sent_ns.max(at_ns);
        rank.sent_ns = head_ns + port_ns;
        let other = PeerId(to.0 ^ 1);
        self.queue.push(head_ns + self.cost.latency_ns, Due::Message { to: other, bytes });
    }

    /// A subscriber's application asks where the blocks are, or lets the step go at once if it knows.
    fn taken(&mut self, slot: Slot, at_ns: u64, step: StepId, table: TableId) {
        self.books.mark(Mark::Taken, at_ns);
        let subscriber = slot.0 as u32 - self.publishers;
        // The newcomer takes all, the ranks of the cohort a part each.
        let (part, parts) =
            if subscriber >= self.subscribers { (0, 1) } else { (subscriber, self.subscribers) };
        let rank = &mut self.ranks[slot.0];
        let next = if rank.asks && rank.known != Some(table) {
            rank.known = Some(table);
            rank.resolving = Some(step);
            Input::Resolve(table, vec![self.content.query(part, parts)])
        } else {
            Input::Release(step)
        };
        self.queue.push(at_ns, Due::Input(slot, next));
    }

    /// Asks for the next contacts of owners, as many as one question may name, until all are known.
    fn locate(&mut self, slot: Slot, at_ns: u64) {
        let missing = &mut self.ranks[slot.0].to_locate;
        let left = missing.len().saturating_sub(LIMIT_CONTACTS);
        let ranks: Vec<RankId> = missing.drain(left..).map(RankId).collect();
        if ranks.is_empty() {
            self.marked(slot, at_ns, Mark::Resolved);
        } else {
            self.queue.push(at_ns, Due::Input(slot, Input::AskContacts(ranks)));
        }
    }

    fn marked(&mut self, slot: Slot, at_ns: u64, mark: Mark) {
        self.books.mark(mark, at_ns);
        if mark == Mark::Resolved
            && let Some(step) = self.ranks[slot.0].resolving.take()
        {
            self.queue.push(at_ns, Due::Input(slot, Input::Release(step)));
        }
    }

    /// Where the memory of an input belongs.
    fn account(&self, slot: Slot, input: &Input) -> Account {
        let changes = self.case != Case::Unchanged;
        let lead = slot == Slot(0);
        match input {
            Input::Message(_, bytes) if self.is_publisher(slot) => match codec_kind(bytes) {
                Kind::Table => Account::Layouts,
                Kind::Ready if changes => Account::Layouts,
                Kind::Release if lead => Account::Layouts,
                Kind::Ready | Kind::Release | Kind::Other => Account::Own,
            },
            Input::End(..) if lead && changes => Account::Layouts,
            // What waits for the children's reports, or is the last of them.
            Input::End(..) if changes && slot.0 * 16 + 1 < self.publishers as usize => Account::Layouts,
            // Answers on their way to a subscriber's application, in fragments where they are long.
            Input::Message(_, bytes) if matches!(codec_kind(bytes), Kind::Table) => Account::Layouts,
            Input::Born
            | Input::Gathered(_)
            | Input::Listing
            | Input::Accepted(_)
            | Input::Dialled(..)
            | Input::Message(..)
            | Input::Disconnected(_)
            | Input::Begin
            | Input::End(..)
            | Input::Release(_)
            | Input::Resolve(..)
            | Input::AskContacts(_)
            | Input::Close => Account::Own,
        }
    }
}
