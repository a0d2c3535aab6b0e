//! What two variables have to do with one another: their covariance, and a histogram in two dimensions.

use fp_types::{Dtype, Shape};

use super::Relation;
use super::histogram::Bins;
use crate::alignment::for_each_part;
use crate::block::Array;
use crate::error::DeriveError;
use crate::exact::{ExactSquares, ExactSum, Term, covariance};
use crate::memory::Memory;
use crate::numbers::{Scalar, Strip, for_each_pair};

/// What is known of the pairs seen so far.
#[derive(Clone, Debug)]
pub(crate) enum Related {
    Products { count: u64, sums: Box<(ExactSum, ExactSum)>, products: Box<ExactSquares> },
    Counts { bins: (Bins, Bins), counts: Vec<u64> },
}

/// What the blocks of two arrays give, element by element.
pub(crate) fn relate(relation: Relation, inputs: &[Array], memory: &Memory) -> Result<Related, DeriveError> {
    if let Relation::Histogram { first, second } = relation {
        memory.charge(first.places().saturating_mul(second.places()).saturating_mul(8))?;
    }
    let mut related = Related::new(relation);
    for_each_part(inputs, memory, |_, parts| {
        let parts = parts.iter().map(|part| part.native(memory)).collect::<Result<Vec<_>, _>>()?;
        if let [a, b] = &parts[..] {
            let (a, b) = ((a.dtype(), a.bytes()), (b.dtype(), b.bytes()));
            for_each_pair(a, b, |a, b| related.add(&a, &b));
        }
        Ok(())
    })?;
    Ok(related)
}

/// The number as exact sums of products take it; none if it is not finite.
fn term(number: Scalar) -> Option<Term> {
    match number {
        Scalar::Signed(number) => Some(Term::integer(number.unsigned_abs(), number < 0)),
        Scalar::Unsigned(number) => Some(Term::integer(number, false)),
        Scalar::Real(number) => Term::real(number),
    }
}

fn add(sum: &mut ExactSum, number: Scalar) {
    match number {
        Scalar::Signed(number) => sum.add_integer(number.unsigned_abs(), number < 0),
        Scalar::Unsigned(number) => sum.add_integer(number, false),
        Scalar::Real(number) => sum.add(number),
    }
}

impl Related {
    fn new(relation: Relation) -> Self {
        match relation {
            Relation::Covariance => Self::Products {
                count: 0,
                sums: Box::new((ExactSum::ZERO, ExactSum::ZERO)),
                products: Box::new(ExactSquares::ZERO),
            },
            Relation::Histogram { first, second } => {
                let places = first.places().saturating_mul(second.places());
                Self::Counts { bins: (first, second), counts: vec![0; places as usize] }
            }
        }
    }

    fn add(&mut self, a: &Strip<'_>, b: &Strip<'_>) {
        match self {
            Self::Products { count, sums, products } => {
                *count += a.len() as u64;
                for at in 0..a.len().min(b.len()) {
                    let (a, b) = (a.scalar(at), b.scalar(at));
                    add(&mut sums.0, a);
                    add(&mut sums.1, b);
                    if let (Some(a), Some(b)) = (term(a), term(b)) {
                        products.add_product(a, b);
                    }
                }
            }
            Self::Counts { bins: (first, second), counts } => {
                let width = second.places() as usize;
                for at in 0..a.len().min(b.len()) {
                    let (row, column) =
                        (first.place(a.scalar(at).as_f64()), second.place(b.scalar(at).as_f64()));
                    counts[row * width + column] += 1;
                }
            }
        }
    }

    /// Adds what another rank found; says whether the two are of a kind.
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Products { count, sums, products },
                Self::Products { count: others, sums: theirs, products: more },
            ) => {
                *count = count.saturating_add(*others);
                sums.0.merge(&theirs.0);
                sums.1.merge(&theirs.1);
                products.merge(more);
                true
            }
            (Self::Counts { bins, counts }, Self::Counts { bins: others, counts: more }) => {
                counts.iter_mut().zip(more).for_each(|(count, more)| *count = count.saturating_add(*more));
                bins == others
            }
            _ => false,
        }
    }

    /// The bytes of the result.
    pub(crate) fn finish(&self) -> Result<Vec<u8>, DeriveError> {
        match self {
            Self::Products { count: 0, .. } => Err(DeriveError::Empty {
                operation: super::Operation::Relate(Relation::Covariance).to_string(),
            }),
            Self::Products { count, sums, products } => {
                Ok(covariance(*count, (&sums.0, &sums.1), products).to_ne_bytes().to_vec())
            }
            Self::Counts { counts, .. } => Ok(counts.iter().flat_map(|count| count.to_ne_bytes()).collect()),
        }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Products { count, sums, products } => {
                bytes.extend(count.to_le_bytes());
                sums.0.write(bytes);
                sums.1.write(bytes);
                products.write(bytes);
            }
            Self::Counts { counts, .. } => counts.iter().for_each(|count| bytes.extend(count.to_le_bytes())),
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(crate) fn read(relation: Relation, bytes: &[u8]) -> Option<Self> {
        match Self::new(relation) {
            Self::Products { .. } => {
                let (count, rest) = bytes.split_first_chunk::<8>()?;
                let (first, rest) = ExactSum::read(rest)?;
                let (second, rest) = ExactSum::read(rest)?;
                let (products, rest) = ExactSquares::read(rest)?;
                let (count, sums) = (u64::from_le_bytes(*count), Box::new((first, second)));
                rest.is_empty().then_some(Self::Products { count, sums, products: Box::new(products) })
            }
            Self::Counts { bins, counts } => {
                let (read, rest) = bytes.as_chunks::<8>();
                let counts = (read.len() == counts.len() && rest.is_empty()).then_some(read)?;
                let counts = counts.iter().map(|count| u64::from_le_bytes(*count)).collect();
                Some(Self::Counts { bins, counts })
            }
        }
    }
}

impl Relation {
    /// The element type of the result.
    pub(super) fn dtype(self) -> Dtype {
        match self {
            Self::Covariance => Dtype::F64,
            Self::Histogram { .. } => Dtype::U64,
        }
    }

    /// The shape of the result.
    pub(super) fn shape(self) -> Result<Shape, DeriveError> {
        match self {
            Self::Covariance => Ok(Shape::scalar()),
            Self::Histogram { first, second } => Ok(Shape::new([first.places(), second.places()])?),
        }
    }
}
