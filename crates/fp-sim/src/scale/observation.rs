//! What an observer costs: a stream is asked for the status of all its ranks again and again, while steps flow.

use crate::scale::boot::lone;
use crate::scale::content::Case;
use crate::scale::rank::{Machine, Rank, Slot};
use crate::scale::world::World;
use fp_proto::codec;
use fp_proto::effect::PeerId;
use fp_proto::message::Message;
use fp_proto::status::report::StatusScope;

/// An observer asks so often.
const QUESTIONS_PER_SECOND: u64 = 2;

/// What one question costs, the middle one of several.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// From the question until the lead has sent the answer.
    pub answer_us: f64,
    /// Bytes of the answer.
    pub answer_bytes: u64,
    /// Messages about status, over all links.
    pub messages: u64,
    /// Processor time of all ranks together, in parts of one core, at two questions a second.
    pub all_cores: f64,
    /// Of the lead alone.
    pub lead_core: f64,
    /// A step that nobody asks about, until every subscriber rank has it.
    pub step_us: f64,
    /// A step during which the observer asks.
    pub observed_step_us: f64,
}

/// Asks `questions` times, and takes as many steps without and with a question.
pub fn observe(mut world: World, questions: usize) -> Observation {
    world.open_publishers();
    world.open_subscribers();
    world.step("warm", Case::NewLayout);
    world.step("warm", Case::Unchanged);
    let observer = add_observer(&mut world);
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let mut asked: Vec<(f64, f64, f64)> = Vec::new();
    for _ in 0..questions.max(1) {
        rest(&mut world);
        world.begin_stage();
        ask_status(&mut world, observer);
        world.settle();
        let done_ns = world.ranks[0].sent_ns.saturating_sub(world.books.began_ns);
        asked.push((done_ns as f64, world.books.cpu_ns as f64, world.books.lead_cpu_ns as f64));
    }
    let books = world.books.clone();
    let mut steps = |observer: Option<PeerId>| {
        world.observer = observer;
        let one = |_| {
            rest(&mut world);
            world.step("observed", Case::Unchanged).time_us
        };
        middle((0..questions.max(1)).map(one).collect())
    };
    let (step_us, observed_step_us) = (steps(None), steps(Some(observer)));
    let of_core = |ns: f64| ns * QUESTIONS_PER_SECOND as f64 / 1e9;
    Observation {
        answer_us: middle(asked.iter().map(|one| one.0).collect()) / 1e3,
        answer_bytes: books.longest_bytes("Status"),
        messages: books.messages(),
        all_cores: of_core(middle(asked.iter().map(|one| one.1).collect())),
        lead_core: of_core(middle(asked.iter().map(|one| one.2).collect())),
        step_us,
        observed_step_us,
    }
}

/// Somebody who has a link to the publisher's lead, and no machine of ours.
fn add_observer(world: &mut World) -> PeerId {
    let slot = Slot(world.ranks.len());
    let mut rank = Rank::new(Machine::Subscriber(lone("observer", slot)), false, 0);
    rank.machine = None;
    world.ranks.push(rank);
    world.begin_stage();
    let peer = world.dial_lead(slot);
    world.settle();
    peer
}

/// Time passes until the next question is due.
fn rest(world: &mut World) {
    world.now_ns += 1_000_000_000 / QUESTIONS_PER_SECOND;
}

/// Asks how the stream is.
pub(crate) fn ask_status(world: &mut World, observer: PeerId) {
    let question = Message::AskStatus { request: 0, scope: StatusScope::Stream, patience_ms: 1_000 };
    let (from, now_ns) = (world.end(observer), world.now_ns);
    world.send(from, now_ns, observer, codec::encode(&question).into_vec(), question.name());
}
