//! What owners do with blocks before these are fetched: the transforms that they offer, and those that they are asked for.

use super::questions::Question;
use crate::error::ReadError;
use crate::patience::Limit;
use crate::subscriber::SubscriberShared;
use fp_proto::data::{DataMessage, NamedType, OfferedTransform, TransformOutcome};
use fp_transform::{Cost, DataType, Offer, Offers};
use fp_types::{Epoch, Rank, StepId};
use std::collections::BTreeMap;

/// Asks an owner for the transforms that it offers.
pub(crate) fn offers(
    shared: &SubscriberShared,
    identity: (StepId, Option<Epoch>),
    rank: Rank,
    limit: Limit<'_>,
) -> Result<Offers, ReadError> {
    let read = |_, answer| match answer {
        DataMessage::Offers { transforms, .. } => {
            let offers = transforms.into_iter().map(offer).collect();
            Offers::new(offers).map_err(|error| format!("it offers what cannot be: {error}"))
        }
        _ => Err("something else, asked for its transforms".to_owned()),
    };
    let ask = |_, request| DataMessage::AskOffers { request };
    let mut told = Question { ask: &ask, read: &read }.of(shared, identity, &[rank], limit)?;
    Ok(told.remove(&rank).unwrap_or_default())
}

fn offer(told: OfferedTransform) -> Offer {
    let named = |of: NamedType| DataType::new(of.name, of.fingerprint);
    let cost = Cost { nanos_per_byte: told.nanos_per_byte, output_ratio: told.output_ratio };
    let OfferedTransform { name, is_one_by_one, is_for_publisher, .. } = told;
    Offer { name, from: named(told.from), to: named(told.to), cost, is_one_by_one, is_for_publisher }
}

/// Asks owners to send blocks of a variable, by their indices, through transforms.
pub(crate) fn transform(
    shared: &SubscriberShared,
    identity: (StepId, Option<Epoch>),
    (variable, transforms): (&str, &[String]),
    blocks: &BTreeMap<Rank, Vec<u32>>,
    limit: Limit<'_>,
) -> Result<BTreeMap<Rank, TransformOutcome>, ReadError> {
    let step = identity.0;
    let asked = |rank: Rank| blocks.get(&rank).map(Vec::as_slice).unwrap_or_default();
    let ask = |rank, request| DataMessage::Transform {
        request,
        step,
        variable: variable.to_owned(),
        blocks: asked(rank).to_vec(),
        transforms: transforms.to_vec(),
    };
    let read = |rank, answer| match answer {
        DataMessage::Transformed { outcome: TransformOutcome::Made { blocks, .. }, .. }
            if blocks.len() != asked(rank).len() =>
        {
            Err(format!(
                "{} blocks went through transforms, of {} asked for",
                blocks.len(),
                asked(rank).len()
            ))
        }
        DataMessage::Transformed { outcome, .. } => Ok(outcome),
        _ => Err("something else, asked to transform blocks".to_owned()),
    };
    let ranks: Vec<Rank> = blocks.keys().copied().collect();
    Question { ask: &ask, read: &read }.of(shared, identity, &ranks, limit)
}
