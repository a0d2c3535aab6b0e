//! Selections print and parse back.

use fp_types::{BlockId, GapPolicy, Layout, Rank, Selection, SelectionExpression, Shape, plan};
use proptest::prelude::*;

use crate::arrays::{region_in, shape, strided_in};

/// Any selection that goes with the shape.
pub(crate) fn selection_in(shape: Shape) -> impl Strategy<Value = Selection> {
    let point = region_in(shape)
        .prop_filter_map("no element", |region| (!region.is_empty()).then_some(*region.start()));
    let most = if shape.is_empty() { 0 } else { 12 };
    let points =
        if most == 0 { Just(Vec::new()).boxed() } else { prop::collection::vec(point, 0..=most).boxed() };
    prop_oneof![
        Just(Selection::All),
        region_in(shape).prop_map(Selection::Region),
        strided_in(shape).prop_map(Selection::Strided),
        points.prop_map(Selection::Points),
        (0u32..6, 0u32..3).prop_map(|(rank, index)| Selection::Block(BlockId::new(Rank(rank), index))),
        (0u32..6).prop_map(|rank| Selection::Rank(Rank(rank))),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(
        (shape, selection) in shape().prop_flat_map(|shape| (Just(shape), selection_in(shape))),
    ) {
        let text = selection.to_string();
        let expression: SelectionExpression = text.parse().unwrap();
        prop_assert_eq!(expression.to_string().parse::<SelectionExpression>(), Ok(expression.clone()));
        let resolved = expression.resolve(&shape).unwrap();
        // A strided region that takes every element prints as the region that it is.
        let dense = |selection: Selection| {
            if let Selection::Strided(strided) = &selection && strided.is_dense() {
                return Selection::Region(*strided.region());
            }
            selection
        };
        prop_assert_eq!(resolved, dense(selection), "{}", text);
    }

    #[test]
    fn no_text_is_too_strange(text in "[\\[\\]0-9:, ()a-z.*-]{0,40}") {
        if let Ok(expression) = text.parse::<SelectionExpression>() {
            let _ = expression.resolve(&Shape::new([5, 6]).unwrap());
            prop_assert_eq!(expression.to_string().parse::<SelectionExpression>(), Ok(expression));
        }
    }

    #[test]
    fn results_have_the_shape_that_was_promised(
        (shape, selection) in shape().prop_flat_map(|shape| (Just(shape), selection_in(shape))),
    ) {
        let layout = Layout::global(shape, []).unwrap();
        let promised = selection.result_shape(&shape).unwrap();
        if let (Some(promised), Ok(plan)) = (promised, plan(&layout, &selection, GapPolicy::Fill)) {
            prop_assert_eq!(plan.result_shape(), promised);
            prop_assert_eq!(Some(plan.element_count()), selection.element_count(&shape).unwrap());
        }
    }
}
