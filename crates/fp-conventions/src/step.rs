//! A step, as far as its publisher tells without data.

use crate::value::ScalarValue;
use crate::variable::DescribedVariable;

/// A step, as far as its publisher tells without data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedStep {
    /// Its variables.
    pub variables: Vec<DescribedVariable>,
}

impl DescribedStep {
    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<&DescribedVariable> {
        self.variables.iter().find(|variable| variable.def.name == name)
    }

    /// The value of the scalar of that name.
    pub(crate) fn value(&self, name: &str) -> Option<&ScalarValue> {
        self.variable(name)?.value.as_ref()
    }

    /// The text scalar of that name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            ScalarValue::Text(text) => Some(text),
            ScalarValue::Integer(_) | ScalarValue::Real(_) => None,
        }
    }

    /// The names that follow this path, each once and in order: of `a.b.c` and path `a` that is `b`.
    pub(crate) fn children(&self, path: &str) -> Vec<&str> {
        let rest = self.variables.iter().filter_map(|variable| below(variable.name(), path));
        let mut children: Vec<&str> = rest.filter_map(|rest| rest.split('.').next()).collect();
        children.sort_unstable();
        children.dedup();
        children
    }
}

/// What follows a path in a name.
pub(crate) fn below<'a>(name: &'a str, path: &str) -> Option<&'a str> {
    name.strip_prefix(path)?.strip_prefix('.')
}
