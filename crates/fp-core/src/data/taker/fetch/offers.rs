//! What owners do with blocks before these are fetched: the transforms that they offer, and those that they are asked
//! for.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::question::Question;
use crate::error::ReadError;
use crate::value::limit::{Limit, after};
use fp_proto::data::{DataMessage, NamedType, OfferedTransform, TransformOutcome};
use fp_transform::{Cost, DataType, Offer, Offers};
use fp_types::Rank;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long is waited for an answer at first.
const PATIENCE: Duration = Duration::from_millis(250);

/// Asks an owner for the transforms that it offers.
pub(crate) fn offers(taker: Taker<'_>, rank: Rank, limit: Limit<'_>) -> Result<Offers, ReadError> {
    let read = |_, answer| {
        let DataMessage::Offers { transforms, .. } = answer else {
            return Err("something else, asked for its transforms".to_owned());
        };
        let offers = transforms.into_iter().map(offer).collect();
        Offers::new(offers).map_err(|error| format!("it offers what cannot be: {error}"))
    };
    let ask = |_, request| DataMessage::AskOffers { request };
    let mut told = Question { ask: &ask, read: &read }.of(taker, &[rank], limit)?;
    Ok(told.remove(&rank).unwrap_or_default())
}

fn offer(told: OfferedTransform) -> Offer {
    let named = |of: NamedType| DataType::new(of.name, of.fingerprint);
    let cost = Cost { nanos_per_byte: told.nanos_per_byte, output_ratio: told.output_ratio };
    let OfferedTransform { name, is_one_by_one, is_for_publisher, .. } = told;
    Offer { name, from: named(told.from), to: named(told.to), cost, is_one_by_one, is_for_publisher }
}

/// Asks owners to send blocks of a variable, by their indices, through transforms. That may take long, so it is asked
/// again and again, more and more patiently. Between two times others may use the links.
pub(crate) fn transform(
    taker: Taker<'_>,
    asked: (&str, &[String]),
    blocks: &BTreeMap<Rank, Vec<u32>>,
    limit: Limit<'_>,
) -> Result<BTreeMap<Rank, TransformOutcome>, ReadError> {
    let (started, mut patience) = (Instant::now(), PATIENCE);
    loop {
        let deadline = after(Instant::now(), patience).min(limit.deadline);
        match transform_within(taker, asked, blocks, Limit { deadline, ..limit }) {
            Err(ReadError::TimedOut { .. }) if Instant::now() < limit.deadline && !limit.is_given_up() => {
                patience *= 2;
            }
            Err(ReadError::TimedOut { stream, step, .. }) => {
                let waits_for = format!("the publisher's transforms {} of {:?}", asked.1.join(", "), asked.0);
                return Err(ReadError::TimedOut { stream, step, waited: started.elapsed(), waits_for });
            }
            done => return done,
        }
    }
}

fn transform_within(
    taker: Taker<'_>,
    (variable, transforms): (&str, &[String]),
    blocks: &BTreeMap<Rank, Vec<u32>>,
    limit: Limit<'_>,
) -> Result<BTreeMap<Rank, TransformOutcome>, ReadError> {
    let step = taker.step;
    let asked = |rank: Rank| blocks.get(&rank).map(Vec::as_slice).unwrap_or_default();
    let ask = |rank, request| DataMessage::Transform {
        request,
        step,
        variable: variable.to_owned(),
        blocks: asked(rank).to_vec(),
        transforms: transforms.to_vec(),
    };
    let read = |rank, answer| {
        let DataMessage::Transformed { outcome, .. } = answer else {
            return Err("something else, asked to transform blocks".to_owned());
        };
        let expected = asked(rank).len();
        if let TransformOutcome::Made { blocks, .. } = &outcome
            && blocks.len() != expected
        {
            return Err(format!("{} blocks went through transforms, of {expected} asked for", blocks.len()));
        }
        Ok(outcome)
    };
    let ranks: Vec<Rank> = blocks.keys().copied().collect();
    Question { ask: &ask, read: &read }.of(taker, &ranks, limit)
}
