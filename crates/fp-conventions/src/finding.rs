//! One thing that is wrong with a step, or that should be there.

use std::fmt;

use fp_types::BlockId;

use crate::rule::Rule;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Tools that read the convention may misread the step or refuse it.
    Violation,
    /// Something recommended is missing.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Violation => "violation",
            Self::Warning => "warning",
        })
    }
}

/// One thing that is wrong with a step, or that should be there: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The rule that is broken.
    pub rule: Rule,
    /// The variable, or the one that is missing; none where it is about the whole step.
    pub variable: Option<String>,
    /// The attribute of that variable.
    pub attribute: Option<String>,
    /// The block of that variable.
    pub block: Option<BlockId>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

impl Finding {
    /// Something wrong with the whole step.
    pub(crate) fn violation(rule: Rule, what: impl Into<String>, advice: impl Into<String>) -> Self {
        let (what, advice) = (what.into(), advice.into());
        let (variable, attribute, block) = (None, None, None);
        Self { severity: Severity::Violation, rule, variable, attribute, block, what, advice }
    }

    /// Something recommended that is not there.
    pub(crate) fn warning(rule: Rule, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::violation(rule, what, advice) }
    }

    /// The same of a variable.
    pub(crate) fn of(self, variable: impl Into<String>) -> Self {
        Self { variable: Some(variable.into()), ..self }
    }

    /// The same of an attribute.
    pub(crate) fn attribute(self, attribute: impl Into<String>) -> Self {
        Self { attribute: Some(attribute.into()), ..self }
    }

    /// The same of a block.
    pub(crate) fn at(self, block: BlockId) -> Self {
        Self { block: Some(block), ..self }
    }
}

/// Printed as `variable "E.x", attribute "unitSI": is missing. Set it to a real number`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = self.variable.iter().map(|name| format!("variable {name:?}"));
        let attribute = self.attribute.iter().map(|name| format!("attribute {name:?}"));
        let block = self.block.iter().map(|block| match block.index {
            0 => format!("rank {}", block.rank),
            index => format!("rank {}, block {index}", block.rank),
        });
        let place: Vec<String> = variable.chain(attribute).chain(block).collect();
        let colon = if place.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}. {}", place.join(", "), self.what, self.advice)
    }
}
