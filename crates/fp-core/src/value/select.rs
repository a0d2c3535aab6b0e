//! What a get takes: a selection, or anything that means one, be it a text.

use fp_types::record::Loss;
use fp_types::{
    BlockId, MemoryOrder, ParseSelectionError, Rank, Region, Selection, SelectionError, SelectionExpression,
    Shape, StridedRegion,
};

/// What to take of a variable: made of a [`Selection`], a [`Region`], a [`StridedRegion`], a [`BlockId`], a [`Rank`] or
/// a [`SelectionExpression`]. The text of one will do as well, such as `"[0:10, ::2]"`.
///
/// Slices of an expression, and so of a text, are resolved against the variable's shape in the step. Where the shape is
/// not known yet it is asked for, once for every change of the layout. A selection by coordinates needs no such
/// question.
///
/// The elements arrive in row-major order, whatever the publisher's order, unless [`Select::with_order`] says
/// otherwise.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// # let temperature = Variable::global::<f64>("temperature", &[4])?;
/// # let mut writer = publisher.begin_step()?;
/// # writer.put(&temperature, &Region::new([0], [4])?, vec![300.0, 301.0, 302.0, 303.0])?;
/// # writer.end()?;
/// # let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(10))? else { panic!("no step") };
/// use flexpath::{MemoryOrder, Rank, Select};
///
/// assert_eq!(step.get::<f64>("temperature", "[::2]")?, [300.0, 302.0]);
/// assert_eq!(step.get::<f64>("temperature", Region::new([3], [1])?)?, [303.0]);
/// assert_eq!(step.get::<f64>("temperature", Rank(0))?.len(), 4);
/// let columns = Select::from("[1:3]").with_order(MemoryOrder::ColumnMajor);
/// assert_eq!(step.get::<f64>("temperature", columns)?, [301.0, 302.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    wanted: Wanted,
    order: MemoryOrder,
    loss: Option<Loss>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Exact(Selection),
    Slices(SelectionExpression),
    Misspelt(ParseSelectionError),
}

/// Why this selects nothing of an array.
pub(crate) enum NoSelection {
    /// Slices of a local array, which has no shape.
    Local,
    Text(ParseSelectionError),
    Shape(SelectionError),
}

impl Select {
    /// The same, but the elements are to lie in that order in the array that they arrive in. In column-major order its
    /// first dimension runs fastest, as in Fortran. Dimensions are named in the same order either way, and several
    /// blocks still follow one another. Points have one dimension, so any order is the same.
    #[must_use]
    pub fn with_order(mut self, order: MemoryOrder) -> Self {
        self.order = order;
        self
    }

    /// The same, but the elements may become another number type. With [`Loss::Refused`] that is only one that holds
    /// every value of theirs, with [`Loss::Allowed`] any. So `get::<f32>` takes what is published as `f64`. `get`,
    /// `get_into`, `get_array`, `view`, `get_async` and [`Fetch::get`](crate::Fetch::get) do that; all others want the
    /// variable's own type. Numbers in records become types that hold them unasked; this allows them any.
    #[must_use]
    pub fn with_conversion(mut self, loss: Loss) -> Self {
        self.loss = Some(loss);
        self
    }

    fn row_major(wanted: Wanted) -> Self {
        Self { wanted, order: MemoryOrder::RowMajor, loss: None }
    }

    /// How the elements are to lie in the array that they arrive in.
    pub(crate) fn order(&self) -> MemoryOrder {
        self.order
    }

    /// Whether elements may be converted, and how.
    pub(crate) fn loss(&self) -> Option<Loss> {
        self.loss
    }

    /// The selection in an array of that shape. A local array has none: slices do not go with it.
    pub(crate) fn resolve(&self, shape: Option<&Shape>) -> Result<Selection, NoSelection> {
        match &self.wanted {
            Wanted::Exact(selection) => Ok(selection.clone()),
            Wanted::Slices(expression) => {
                let shape = shape.ok_or(NoSelection::Local)?;
                expression.resolve(shape).map_err(NoSelection::Shape)
            }
            Wanted::Misspelt(error) => Err(NoSelection::Text(error.clone())),
        }
    }

    /// The selection, where it is one whatever the shape.
    pub(crate) fn exact(&self) -> Option<&Selection> {
        if let Wanted::Exact(selection) = &self.wanted { Some(selection) } else { None }
    }

    /// Whether it is of blocks as they were put.
    pub(crate) fn is_of_blocks(&self) -> bool {
        matches!(self.wanted, Wanted::Exact(Selection::Block(_) | Selection::Rank(_)))
    }

    /// Whether it is all of whatever there is, in the order in which transforms give it.
    pub(crate) fn is_everything(&self) -> bool {
        self.wanted == Wanted::Exact(Selection::All) && self.order == MemoryOrder::RowMajor
    }

    pub(crate) fn needs_shape(&self) -> bool {
        matches!(self.wanted, Wanted::Slices(_))
    }
}

impl From<Selection> for Select {
    fn from(selection: Selection) -> Self {
        Self::row_major(Wanted::Exact(selection))
    }
}

impl From<SelectionExpression> for Select {
    fn from(expression: SelectionExpression) -> Self {
        let exact = match expression {
            SelectionExpression::All => Selection::All,
            SelectionExpression::Points(points) => Selection::Points(points),
            SelectionExpression::Block(block) => Selection::Block(block),
            SelectionExpression::Rank(rank) => Selection::Rank(rank),
            slices @ SelectionExpression::Slices(_) => return Self::row_major(Wanted::Slices(slices)),
        };
        exact.into()
    }
}

impl From<&str> for Select {
    fn from(text: &str) -> Self {
        match text.parse::<SelectionExpression>() {
            Ok(expression) => expression.into(),
            Err(error) => Self::row_major(Wanted::Misspelt(error)),
        }
    }
}

impl From<&String> for Select {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

macro_rules! from_exact {
    ($($kind:ident($what:ty)),*) => {
        $(
            impl From<$what> for Select {
                fn from(what: $what) -> Self {
                    Selection::$kind(what).into()
                }
            }
        )*
    };
}

from_exact!(Block(BlockId), Rank(Rank), Region(Region), Strided(StridedRegion));

macro_rules! from_borrowed {
    ($($owned:ty),*) => {
        $(
            impl From<&$owned> for Select {
                fn from(borrowed: &$owned) -> Self {
                    borrowed.clone().into()
                }
            }
        )*
    };
}

from_borrowed!(Selection, SelectionExpression, Region, StridedRegion, Select);

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(select: impl Into<Select>) -> Option<String> {
        let shape = Shape::new([10, 4]).unwrap();
        select.into().resolve(Some(&shape)).ok().map(|selection| selection.to_string())
    }

    #[test]
    fn whatever_means_a_selection_is_one() {
        let region = Region::new([2, 0], [3, 4]).unwrap();
        let by_region = resolved(region).unwrap();
        assert_eq!(resolved("[2:5, :]").unwrap(), by_region);
        assert_eq!(resolved(Selection::Region(region)).unwrap(), by_region);
        assert_eq!(resolved("[-8:5, 0:4]".parse::<SelectionExpression>().unwrap()).unwrap(), by_region);
        assert_eq!(resolved("[...]"), resolved(Selection::All));
        assert_eq!(resolved("[rank 3]"), resolved(Rank(3)));
        assert_eq!(resolved("[block 3.1]"), resolved(BlockId::new(Rank(3), 1)));
        assert_eq!(resolved("[2:"), None);
        assert_eq!(resolved("[0:11, :]"), None);
    }

    #[test]
    fn only_slices_need_a_shape() {
        assert!(Select::from("[2:5]").needs_shape());
        assert!(
            ["[...]", "[rank 1]", "[points (1, 2)]"].iter().all(|&text| !Select::from(text).needs_shape())
        );
        assert!(Select::from("[2:5]").resolve(None).is_err(), "a local array has no shape");
    }
}
