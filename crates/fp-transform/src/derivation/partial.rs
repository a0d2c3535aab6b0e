//! What a rank knows of results that need all ranks: merged on the way, finished at the end.

use super::{DerivationId, DerivationPlan};
use crate::error::DeriveError;
use crate::operation::{Cells, Found, Located, Operation, Related, Statistic};
use crate::placing::Placing;

/// What is known of a result while other ranks have a part of it.
///
/// Merging is exact: whatever the order, and however the array was cut, the same bits come out.
#[derive(Clone, Debug)]
pub struct Partial {
    pub(super) of: DerivationId,
    pub(crate) content: Content,
}

/// The part itself.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Statistic(Box<Statistic>),
    Cells(Cells),
    Found(Found),
    Located(Located),
    Related(Related),
}

/// Bytes that are no partial result of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{len_bytes} bytes that are no partial result of {derivation}")]
pub struct PartialError {
    /// How many bytes there were.
    pub len_bytes: usize,
    /// The derivation that they were to be a part of.
    pub derivation: String,
}

impl Partial {
    /// Brings two parts together.
    ///
    /// # Errors
    /// [`DeriveError::Unlike`] if they are of two derivations.
    pub fn merge(&mut self, other: &Self) -> Result<(), DeriveError> {
        let alike = self.of == other.of
            && match (&mut self.content, &other.content) {
                (Content::Statistic(ours), Content::Statistic(theirs)) => ours.merge(theirs),
                (Content::Cells(ours), Content::Cells(theirs)) => {
                    ours.merge(theirs);
                    true
                }
                (Content::Found(ours), Content::Found(theirs)) => {
                    ours.merge(theirs);
                    true
                }
                (Content::Located(ours), Content::Located(theirs)) => ours.merge(theirs),
                (Content::Related(ours), Content::Related(theirs)) => ours.merge(theirs),
                _ => false,
            };
        alike.then_some(()).ok_or(DeriveError::Unlike)
    }

    /// The same of a rank's rows, where they lie in the whole array; `None` if they do not lie there.
    pub(super) fn placed(&mut self, placing: &Option<Placing>) -> Option<()> {
        match &mut self.content {
            Content::Cells(cells) => cells.placed(placing.as_ref()?),
            Content::Found(found) => found.placed(placing.as_ref()?),
            Content::Located(located) => located.placed(placing.as_ref()?),
            Content::Statistic(_) | Content::Related(_) => Some(()),
        }
    }

    /// The part as bytes, for another rank that has the same plan.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.of.0.to_vec();
        match &self.content {
            Content::Statistic(statistic) => statistic.write(&mut bytes),
            Content::Cells(cells) => cells.write(&mut bytes),
            Content::Found(found) => found.write(&mut bytes),
            Content::Located(located) => located.write(&mut bytes),
            Content::Related(related) => related.write(&mut bytes),
        }
        bytes
    }
}

impl DerivationPlan {
    /// Reads what [`Partial::to_bytes`] wrote on a rank that has the same plan.
    ///
    /// # Errors
    /// Bytes that are anything else. Nothing larger than they are is made of them.
    pub fn partial_from_bytes(&self, bytes: &[u8]) -> Result<Partial, PartialError> {
        let fail = || PartialError { len_bytes: bytes.len(), derivation: self.derivation().to_string() };
        let (id, body) = bytes.split_first_chunk::<16>().ok_or_else(fail)?;
        if *id != self.id().0 {
            return Err(fail());
        }
        Ok(Partial { of: self.id(), content: self.read_content(body).ok_or_else(fail)? })
    }

    fn read_content(&self, body: &[u8]) -> Option<Content> {
        let of = self.last_input()?;
        match self.derivation().operations().last()? {
            Operation::Reduce(reduction) => {
                Statistic::read(*reduction, of.dtype, body).map(|it| Content::Statistic(Box::new(it)))
            }
            Operation::Average(_) => {
                Cells::read(body, self.outputs()[0].shape.element_count()).map(Content::Cells)
            }
            Operation::Points { .. } => {
                Found::read(body, of.dtype.size_bytes()?, &of.shape).map(Content::Found)
            }
            Operation::Module(call) => Found::read(body, call.row_bytes(), &of.shape).map(Content::Found),
            Operation::Locate(extreme) => {
                Located::read(*extreme, of.dtype, &of.shape, body).map(Content::Located)
            }
            Operation::Relate(relation) => Related::read(*relation, body).map(Content::Related),
            Operation::Cast(_)
            | Operation::Scale { .. }
            | Operation::Reorder(_)
            | Operation::Stride(_)
            | Operation::Slice(_)
            | Operation::Magnitude
            | Operation::Compute(_) => None,
        }
    }
}
