//! Reads selections as they are written, and a variable's name before one: `T[0:10, ::2]`.

use std::str::FromStr;

use super::expression::{Position, SelectionExpression, Slice};
use crate::dims::{Dims, MAX_DIMS};

/// Why a text is no selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseSelectionError {
    /// No `[` at the start, or no `]` at the end.
    #[error("a selection stands in brackets, as in [0:10, ::2], not {text:?}")]
    Brackets {
        /// What was given.
        text: String,
    },
    /// A slice that is none of `position`, `start:end`, `start:end:stride`.
    #[error("{slice:?} is no slice; slices are written start:end:stride, each of which may be left out")]
    Slice {
        /// The part that could not be read.
        slice: String,
    },
    /// More slices, or coordinates in a point, than arrays have dimensions.
    #[error("{ndims} dimensions, but arrays have at most {MAX_DIMS}")]
    TooManyDims {
        /// How many were given.
        ndims: usize,
    },
    /// A point that is not written `(1, 2)`.
    #[error("{point:?} is no point; points are written (1, 2)")]
    Point {
        /// The part that could not be read.
        point: String,
    },
    /// `block` without a rank and an index, or `rank` without a number.
    #[error("{text:?} names no block or rank; write block 3.0 or rank 3")]
    Owner {
        /// The part that could not be read.
        text: String,
    },
}

impl SelectionExpression {
    /// Splits `T[0:10, ::2]` into the variable's name and the selection; without brackets everything is selected.
    pub fn parse_with_name(text: &str) -> Result<(&str, SelectionExpression), ParseSelectionError> {
        let bracket = text.find('[').unwrap_or(text.len());
        let (name, selection) = text.split_at(bracket);
        Ok((name.trim(), selection.parse()?))
    }
}

impl FromStr for SelectionExpression {
    type Err = ParseSelectionError;

    fn from_str(text: &str) -> Result<Self, ParseSelectionError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::All);
        }
        let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inside = inside.ok_or_else(|| ParseSelectionError::Brackets { text: text.to_owned() })?.trim();
        if let Some(points) = inside.strip_prefix("points") {
            return parse_points(points).map(Self::Points);
        }
        let owner = || ParseSelectionError::Owner { text: inside.to_owned() };
        if let Some(block) = inside.strip_prefix("block ") {
            return block.trim().parse().map(Self::Block).map_err(|_| owner());
        }
        if let Some(rank) = inside.strip_prefix("rank ") {
            return rank.trim().parse().map(|rank: u32| Self::Rank(rank.into())).map_err(|_| owner());
        }
        if inside == "..." { Ok(Self::All) } else { parse_slices(inside).map(Self::Slices) }
    }
}

/// Reads `0:10, ::2`; nothing at all is no slices.
fn parse_slices(text: &str) -> Result<Vec<Slice>, ParseSelectionError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let ndims = text.split(',').count();
    if ndims > MAX_DIMS {
        return Err(ParseSelectionError::TooManyDims { ndims });
    }
    text.split(',').map(parse_slice).collect()
}

/// Reads `5`, `0:10`, `::2` and so on.
fn parse_slice(text: &str) -> Result<Slice, ParseSelectionError> {
    let malformed = || ParseSelectionError::Slice { slice: text.trim().to_owned() };
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (start, end, stride) = match parts[..] {
        [single] => return parse_position(single).map(Slice::Single).ok_or_else(malformed),
        [start, end] => (start, end, ""),
        [start, end, stride] => (start, end, stride),
        _ => return Err(malformed()),
    };
    let optional = |part: &str| match part {
        "" => Some(None),
        position => parse_position(position).map(Some),
    };
    let stride = if stride.is_empty() { Some(1) } else { parse_digits(stride) };
    match (optional(start), optional(end), stride) {
        (Some(start), Some(end), Some(stride)) => Ok(Slice::Range { start, end, stride }),
        _ => Err(malformed()),
    }
}

/// Reads `5` or `-5`.
fn parse_position(text: &str) -> Option<Position> {
    match text.strip_prefix('-') {
        Some(from_end) => parse_digits(from_end).map(Position::FromEnd),
        None => parse_digits(text).map(Position::FromStart),
    }
}

/// Reads a number of digits alone: no sign.
fn parse_digits(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Reads ` (1, 2) (3, 4)`; a comma may stand between two points.
fn parse_points(text: &str) -> Result<Vec<Dims>, ParseSelectionError> {
    let mut points = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let malformed = || ParseSelectionError::Point { point: rest.to_owned() };
        let (point, behind) = rest.strip_prefix('(').and_then(|r| r.split_once(')')).ok_or_else(malformed)?;
        points.push(parse_point(point)?);
        rest = behind.trim();
        let next = rest.strip_prefix(',').map(str::trim).filter(|next| !next.is_empty());
        rest = next.unwrap_or(rest);
    }
    Ok(points)
}

/// Reads `1, 2`; nothing at all is the point of a scalar.
fn parse_point(text: &str) -> Result<Dims, ParseSelectionError> {
    if text.trim().is_empty() {
        return Ok(Dims::default());
    }
    let coordinates: Option<Vec<u64>> = text.split(',').map(|part| parse_digits(part.trim())).collect();
    let coordinates = coordinates.ok_or_else(|| ParseSelectionError::Point { point: format!("({text})") })?;
    Dims::from_slice(&coordinates).map_err(|error| ParseSelectionError::TooManyDims { ndims: error.ndims })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{BlockId, Rank};

    #[test]
    fn a_name_may_stand_before_the_brackets() {
        let all = Ok(("T", SelectionExpression::All));
        assert_eq!(SelectionExpression::parse_with_name("T"), all);
        assert_eq!(SelectionExpression::parse_with_name("T [...]"), all);
        let (name, expression) = SelectionExpression::parse_with_name("atom.x[0:10,::2]").unwrap();
        assert_eq!((name, expression.to_string().as_str()), ("atom.x", "[0:10, ::2]"));
    }

    #[test]
    fn owners_and_points_are_read() {
        let read = |text: &str| text.parse::<SelectionExpression>().unwrap();
        assert_eq!(read("[rank 3]"), SelectionExpression::Rank(Rank(3)));
        assert_eq!(read("[block 3.1]"), SelectionExpression::Block(BlockId::new(Rank(3), 1)));
        let points = vec![Dims::from([1, 2]), Dims::from([3, 4])];
        for text in ["[points (1, 2)(3,4)]", "[points (1, 2), (3, 4)]", "[points (1, 2) ,(3, 4)]"] {
            assert_eq!(read(text), SelectionExpression::Points(points.clone()), "{text}");
        }
        assert_eq!(read("[points ()]"), SelectionExpression::Points(vec![Dims::default()]));
    }

    #[test]
    fn malformed_texts_are_named() {
        let refused = |text: &str| text.parse::<SelectionExpression>().unwrap_err();
        assert_eq!(refused("0:1]"), ParseSelectionError::Brackets { text: "0:1]".into() });
        assert_eq!(refused("[0:1:2:3]"), ParseSelectionError::Slice { slice: "0:1:2:3".into() });
        assert_eq!(refused("[1, +2]"), ParseSelectionError::Slice { slice: "+2".into() });
        assert_eq!(refused("[1,,2]"), ParseSelectionError::Slice { slice: "".into() });
        assert_eq!(refused("[:,:,:,:,:,:,:,:,:]"), ParseSelectionError::TooManyDims { ndims: 9 });
        assert_eq!(refused("[points 1]"), ParseSelectionError::Point { point: "1".into() });
        assert_eq!(refused("[points (1),]"), ParseSelectionError::Point { point: ",".into() });
        assert_eq!(refused("[points (1),,(2)]"), ParseSelectionError::Point { point: ",(2)".into() });
        assert_eq!(refused("[rank x]"), ParseSelectionError::Owner { text: "rank x".into() });
    }
}
