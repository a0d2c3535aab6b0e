//! A variable, and which of its elements: `temperature[0:10]`.

use std::str::FromStr;

use fp_core::SelectionExpression;

/// A variable and a selection of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The variable.
    pub(crate) variable: String,
    /// Which of its elements.
    pub(crate) selection: SelectionExpression,
}

/// Why a text names no elements of a variable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseTargetError {
    /// There is nothing before the brackets.
    #[error("no variable is named before the brackets, as in temperature[0:10]")]
    NoVariable,
    /// What stands in the brackets is no selection.
    #[error("{0}")]
    Selection(<SelectionExpression as FromStr>::Err),
}

impl FromStr for Target {
    type Err = ParseTargetError;

    fn from_str(text: &str) -> Result<Self, ParseTargetError> {
        let (variable, selection) =
            SelectionExpression::parse_with_name(text).map_err(ParseTargetError::Selection)?;
        if variable.is_empty() {
            return Err(ParseTargetError::NoVariable);
        }
        Ok(Self { variable: variable.to_owned(), selection })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_variable_with_or_without_a_selection() {
        let read = |text: &str| text.parse::<Target>();
        let target = read("T[0:10, ::2]").unwrap();
        assert_eq!((target.variable.as_str(), target.selection.to_string().as_str()), ("T", "[0:10, ::2]"));
        assert_eq!(read("T").unwrap().selection, SelectionExpression::All);
        assert!(matches!(read("[0:10]"), Err(ParseTargetError::NoVariable)));
        assert!(matches!(read("T[0:"), Err(ParseTargetError::Selection(_))));
    }
}
