//! How conditions are written. Equal conditions have equal texts, and a text is read as the condition that wrote it.

use std::fmt;

use super::Condition;
use crate::attribute::Real;

/// Writes a name, in quotes where something in it means something else. A backslash is in no name: it marks a quote.
pub(super) fn write_name(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !name.contains(['(', ')', ',', '<', '>', '=', '"']) {
        return f.write_str(name);
    }
    write!(f, "\"{}\"", name.replace('"', "\\\""))
}

/// Writes a number that reads as the same one.
pub(super) fn write_number(number: Real, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{:?}", number.0)
}

/// How strongly what is written binds: what binds less stands in brackets.
fn binding(condition: &Condition) -> u8 {
    match condition {
        Condition::Or(_) => 0,
        Condition::And(_) => 1,
        #[rustfmt::skip]
        Condition::Has { .. } | Condition::Compare { .. } | Condition::Measured(_) | Condition::Not(_)
        | Condition::Rises(_) | Condition::Hysteresis { .. } | Condition::Held { .. }
        | Condition::Every { .. } => 2,
    }
}

/// Writes a condition that stands where only what binds as strongly may stand as it is.
fn write_within(condition: &Condition, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if binding(condition) < least { write!(f, "({condition})") } else { write!(f, "{condition}") }
}

fn write_list(parts: &[Condition], between: &str, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        f.write_str(if at > 0 { between } else { "" })?;
        write_within(part, least, f)?;
    }
    Ok(())
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Has { variable } => {
                f.write_str("has(")?;
                write_name(variable, f)?;
                f.write_str(")")
            }
            Self::Compare { quantity, comparison, threshold } => {
                write!(f, "{quantity} {} ", comparison.sign())?;
                write_number(*threshold, f)
            }
            Self::Measured(measure) => write!(f, "{measure}"),
            Self::Not(part) => {
                f.write_str("not ")?;
                write_within(part, 2, f)
            }
            Self::And(parts) => write_list(parts, " and ", 2, f),
            Self::Or(parts) => write_list(parts, " or ", 1, f),
            Self::Rises(part) => write!(f, "rises({part})"),
            Self::Hysteresis { on, off } => write!(f, "hysteresis({on}, {off})"),
            Self::Every { steps } => write!(f, "every({steps})"),
            Self::Held { condition, count, of } => write!(f, "held({condition}, {count}, {of})"),
        }
    }
}
