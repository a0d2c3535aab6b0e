//! A stream in one thread: machines whose effects are carried out at once, at one moment.

use fp_proto::commands::{Begin, Next};
use fp_proto::config::{CohortConfig, ContactText, PublisherConfig, SubscriberConfig};
use fp_proto::effect::{DialTicket, Effect, PeerId};
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_types::{Contribution, Dtype, Epoch, Rank, Region, Shape, VariableDef, VariablePut};

const NOW: Moment = Moment::ZERO;
const ROWS: u64 = 128;
const BLOCK_BYTES: u64 = ROWS * ROWS * 8;

/// A machine of either side.
enum Machine {
    Publisher(PublisherMachine),
    Subscriber(SubscriberMachine),
}

/// The same for a machine of either side.
macro_rules! either {
    ($node:expr, $machine:ident => $call:expr) => {
        match $node {
            Machine::Publisher($machine) => $call,
            Machine::Subscriber($machine) => $call,
        }
    };
}

/// A publisher cohort and a subscriber that is attached to it.
pub(crate) struct Stream {
    /// The publisher ranks in their order, then the subscriber. The contact of each is its index.
    nodes: Vec<Machine>,
    /// The two nodes of each link. Both name it by its index.
    links: Vec<[usize; 2]>,
    /// What each publisher rank puts in every step.
    puts: Vec<Contribution>,
    /// The messages since they were last taken, if they are kept at all.
    kept: Option<Vec<Message>>,
}

impl Stream {
    /// A stream of so many publisher ranks that has come to its steady state.
    pub(crate) fn open(publishers: u32) -> Self {
        let publisher = |rank| Machine::Publisher(publisher(rank, publishers));
        let puts = (0..publishers).map(|rank| put(rank, publishers)).collect();
        let nodes = (0..publishers).map(publisher).collect();
        let mut stream = Self { nodes, links: Vec::new(), puts, kept: None };
        stream.carry();
        stream.nodes.push(Machine::Subscriber(subscriber()));
        // A search dials at its first deadline.
        stream.nodes.iter_mut().for_each(|node| either!(node, machine => machine.handle_timeout(NOW)));
        stream.carry();
        stream.step();
        stream
    }

    /// A step from its begin on every publisher rank to its release by the subscriber.
    pub(crate) fn step(&mut self) {
        for (node, put) in self.nodes.iter_mut().zip(&self.puts) {
            let Machine::Publisher(machine) = node else { panic!("a publisher rank is expected") };
            let begun = machine.begin_step(NOW).expect("the stream is open");
            let Begin::Started(begun) = begun else { panic!("no step can begin: {begun:?}") };
            machine.end_step(NOW, begun.step, put.clone(), Vec::new(), BLOCK_BYTES).expect("it is begun");
        }
        self.carry();
        let Some(Machine::Subscriber(machine)) = self.nodes.last_mut() else { panic!("no subscriber") };
        let Next::Step(assignment) = machine.next_step(NOW) else { panic!("no step was assigned") };
        machine.release(NOW, assignment.step).expect("it is held");
        self.carry();
    }

    /// The messages of one step.
    pub(crate) fn messages_of_a_step(&mut self) -> Vec<Message> {
        self.kept = Some(Vec::new());
        self.step();
        self.kept.take().unwrap_or_default()
    }

    /// Carries effects out until there are none.
    fn carry(&mut self) {
        let mut rests = false;
        while !rests {
            rests = true;
            for node in 0..self.nodes.len() {
                while let Some(effect) = either!(&mut self.nodes[node], machine => machine.poll()) {
                    rests = false;
                    self.perform(node, effect);
                }
            }
        }
    }

    fn perform(&mut self, node: usize, effect: Effect) {
        match effect {
            Effect::Send { to, message } => self.send(node, to, message),
            Effect::Dial { ticket, contact, .. } => self.dial(node, ticket, &contact),
            Effect::Disconnect { peer, .. } => {
                let other = self.other_end(node, peer);
                either!(&mut self.nodes[other], machine => machine.handle_disconnected(NOW, peer));
            }
            Effect::Lookup { .. } => {
                either!(&mut self.nodes[node], machine => machine.handle_listing(NOW, Vec::new()));
            }
            Effect::PublishName { .. }
            | Effect::WithdrawName { .. }
            | Effect::Assigned { .. }
            | Effect::Free { .. }
            | Effect::LogRequest { .. }
            | Effect::Delegate { .. }
            | Effect::Event(_) => {}
        }
    }

    fn send(&mut self, from: usize, link: PeerId, message: Message) {
        if let Some(kept) = &mut self.kept {
            kept.push(message.clone());
        }
        let to = self.other_end(from, link);
        either!(&mut self.nodes[to], machine => machine.handle_message(NOW, link, message));
    }

    fn dial(&mut self, from: usize, ticket: DialTicket, contact: &ContactText) {
        let to = contact.0.parse().expect("the contact of a node");
        let link = PeerId(self.links.len() as u64);
        self.links.push([from, to]);
        either!(&mut self.nodes[to], machine => machine.handle_accepted(NOW, link));
        either!(&mut self.nodes[from], machine => machine.handle_dialled(NOW, ticket, link));
    }

    fn other_end(&self, node: usize, link: PeerId) -> usize {
        let [dialler, dialled] = self.links[link.0 as usize];
        if node == dialler { dialled } else { dialler }
    }
}

fn contact(node: u32) -> ContactText {
    ContactText(node.to_string())
}

fn publisher(rank: u32, size: u32) -> PublisherMachine {
    let mut cohort = CohortConfig::ranked("stream", contact(rank), Rank(rank), size);
    cohort.lead_contact = (rank > 0).then(|| contact(0));
    PublisherMachine::new(PublisherConfig::new(cohort, Epoch(7)), NOW)
}

fn subscriber() -> SubscriberMachine {
    let cohort = CohortConfig::alone("reader", ContactText("nobody dials it".to_owned()));
    let mut config = SubscriberConfig::new(cohort, Epoch(3), "stream");
    config.publisher_contact = Some(contact(0));
    SubscriberMachine::new(config, NOW)
}

/// The block of one rank, of a global array that all ranks share by rows.
fn put(rank: u32, size: u32) -> Contribution {
    let block = Region::new([ROWS * u64::from(rank), 0], [ROWS, ROWS]).expect("a region");
    let shape = Shape::new([ROWS * u64::from(size), ROWS]).expect("a shape");
    let def = VariableDef::global_array("T", Dtype::F64, 2).into();
    Contribution {
        variables: vec![VariablePut { def, shape: Some(shape), blocks: vec![block], bytes: BLOCK_BYTES }],
    }
}
