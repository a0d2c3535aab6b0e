//! What a rank asks publisher ranks for: layouts, and where the ranks are that it fetches from.

use crate::error::ReadError;
use crate::session::subscriber::SubscriberSession;
use crate::value::counters::Counters;
use fp_proto::bounds::LIMIT_CONTACTS;
use fp_proto::commands::CommandError;
use fp_proto::event::ResolveOutcome;
use fp_proto::message::ResolveQuery;
use fp_proto::table;
use fp_types::{Epoch, Rank, StepId, StepTable, TableId};
use std::time::Instant;

/// Asks the publisher which blocks the selections touch.
pub(crate) fn resolve(
    shared: &SubscriberSession,
    (step, epoch): (StepId, Option<Epoch>),
    id: TableId,
    queries: Vec<ResolveQuery>,
    deadline: Instant,
) -> Result<StepTable, ReadError> {
    let started = Instant::now();
    Counters::add(&shared.counters.resolves, 1);
    let stream = shared.stream.clone();
    let (rank, asked) = shared.endpoint.drive(|state, now| {
        let of_epoch = state.machine.epoch() == epoch;
        let request = of_epoch.then(|| state.machine.resolve(now, id, queries).ok()).flatten();
        (state.machine.answering_rank(), request)
    });
    let lost = |what: &str| ReadError::Lost { stream: stream.clone(), step, rank, what: what.to_owned() };
    let request = asked.ok_or_else(|| lost("its opening of the stream is over"))?;
    let answer = shared.endpoint.wait(deadline, |state, _| state.role.answers.remove(&request).ok_or(None));
    match answer {
        Some(ResolveOutcome::Table { encoded, owners }) => {
            shared.owners.learn(epoch, owners);
            table::decode(&encoded).map_err(|error| {
                let what = format!("its table: {error}");
                ReadError::PeerMisbehaved { stream: stream.clone(), step, rank, what }
            })
        }
        Some(ResolveOutcome::Unknown) => Err(lost("its layout is not known any more: the step is gone")),
        Some(ResolveOutcome::Refused(source)) => Err(ReadError::NoLayout { stream, step, source }),
        Some(ResolveOutcome::Lost) => Err(lost("nobody is left to ask for its layout")),
        None => {
            let waits_for = "the publisher's answer about the layout".to_owned();
            let waited = started.elapsed();
            Err(ReadError::TimedOut { stream, step, waited, waits_for })
        }
    }
}

/// How many ranks the publisher has; none where that opening of the stream is over.
pub(crate) fn publisher_size(shared: &SubscriberSession, epoch: Option<Epoch>) -> Option<u32> {
    shared.endpoint.drive(|state, _| {
        let of_epoch = epoch.is_some() && state.machine.epoch() == epoch;
        of_epoch.then(|| state.machine.publisher_size())
    })
}

/// Asks where these ranks are, where this rank does not know it: as many at a time as one question may name. It is
/// known from then on, as long as the opening of the stream lasts.
pub(crate) fn learn_contacts(
    shared: &SubscriberSession,
    (step, epoch): (StepId, Option<Epoch>),
    ranks: impl IntoIterator<Item = Rank>,
    deadline: Instant,
) -> Result<(), ReadError> {
    let unknown = shared.owners.unknown(epoch, ranks);
    unknown
        .chunks(LIMIT_CONTACTS)
        .try_for_each(|part| ask_contacts(shared, (step, epoch), part, deadline))?;
    match shared.owners.unknown(epoch, unknown).first() {
        Some(&rank) => {
            let what = "nobody can say any more where it is: a rank on the way is lost".to_owned();
            Err(ReadError::Lost { stream: shared.stream.clone(), step, rank, what })
        }
        None => Ok(()),
    }
}

fn ask_contacts(
    shared: &SubscriberSession,
    (step, epoch): (StepId, Option<Epoch>),
    ranks: &[Rank],
    deadline: Instant,
) -> Result<(), ReadError> {
    let started = Instant::now();
    let asked = shared.endpoint.drive(|state, now| {
        let of_epoch = state.machine.epoch() == epoch;
        let asked = of_epoch.then(|| state.machine.ask_contacts(now, ranks.to_vec()));
        asked.unwrap_or(Err(CommandError::NotAttached))
    });
    let stream = shared.stream.clone();
    let request = asked.map_err(|error| {
        let rank = ranks.first().copied().unwrap_or(Rank::LEAD);
        ReadError::Lost { stream: stream.clone(), step, rank, what: format!("where it is: {error}") }
    })?;
    let answer = shared.endpoint.wait(deadline, |_, _| match shared.owners.take_answer(request) {
        true => Ok(()),
        false => Err(None),
    });
    answer.ok_or_else(|| {
        let waits_for = format!("the publisher's answer where {} of its ranks are", ranks.len());
        ReadError::TimedOut { stream, step, waited: started.elapsed(), waits_for }
    })
}
