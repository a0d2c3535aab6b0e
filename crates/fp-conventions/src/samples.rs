//! Steps for unit tests: each is made whole, broken once, and held against its convention.

use fp_types::{AttributeValue, BlockId, Dtype, Rank, Region, Shape, VariableDef};

use crate::check::check;
use crate::convention::Convention;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::value::ScalarValue;
use crate::variable::DescribedVariable;

/// A scalar.
pub(crate) fn scalar(name: &str, dtype: Dtype, value: ScalarValue) -> DescribedVariable {
    let def = VariableDef::scalar(name, dtype);
    DescribedVariable { def, shape: Some(Shape::scalar()), blocks: Vec::new(), value: Some(value) }
}

/// A text.
pub(crate) fn text(name: &str, value: &str) -> DescribedVariable {
    scalar(name, Dtype::String, ScalarValue::Text(value.to_owned()))
}

/// A real number.
pub(crate) fn real(name: &str, value: f64) -> DescribedVariable {
    scalar(name, Dtype::F64, ScalarValue::Real(value))
}

/// An integer.
pub(crate) fn integer(name: &str, value: i128) -> DescribedVariable {
    scalar(name, Dtype::U32, ScalarValue::Integer(value))
}

/// A global array of `f64`, as a single block.
pub(crate) fn array<const N: usize>(name: &str, shape: [u64; N]) -> DescribedVariable {
    let shape = Shape::new(shape).unwrap();
    let blocks = vec![(BlockId::new(Rank(0), 0), Region::whole(&shape))];
    let def = VariableDef::global_array(name, Dtype::F64, N);
    DescribedVariable { def, shape: Some(shape), blocks, value: None }
}

/// A local list with one block a rank, of so many elements each.
pub(crate) fn lists(name: &str, dtype: Dtype, counts: &[u64]) -> DescribedVariable {
    let block = |(rank, count): (usize, &u64)| {
        (BlockId::new(Rank(rank as u32), 0), Region::new([0], [*count]).unwrap())
    };
    let blocks = counts.iter().enumerate().map(block).collect();
    DescribedVariable { def: VariableDef::local_array(name, dtype, 1), shape: None, blocks, value: None }
}

/// Sets an attribute.
pub(crate) fn set(of: &mut DescribedVariable, name: &str, value: impl Into<AttributeValue>) {
    of.def.attributes.insert(name.to_owned(), value.into());
}

/// What breaks a step.
pub(crate) type Break = fn(&mut DescribedStep);

/// Holds a step against a convention that it keeps, and then broken in each way. Each gives its one finding, of that
/// variable and attribute, and nothing else.
pub(crate) fn each_break_is_found(
    whole: &DescribedStep,
    convention: Convention,
    breaks: &[(Break, Rule, &str, &str)],
) {
    assert_eq!(check(whole, convention).findings, []);
    for (number, (break_it, rule, variable, attribute)) in breaks.iter().enumerate() {
        let mut broken = whole.clone();
        break_it(&mut broken);
        let report = check(&broken, convention);
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|found| {
                let variable = found.variable.as_deref().unwrap_or_default();
                (found.rule, variable, found.attribute.as_deref().unwrap_or_default())
            })
            .collect();
        assert_eq!(found, [(*rule, *variable, *attribute)], "break {number}: {:?}", report.findings);
        let text = report.findings[0].to_string();
        assert!(text.contains(". ") && !text.ends_with('.'), "{text}");
    }
}

impl DescribedStep {
    /// The variable of that name, to be broken.
    pub(crate) fn of(&mut self, name: &str) -> &mut DescribedVariable {
        self.variables.iter_mut().find(|variable| variable.def.name == name).expect("it is there")
    }

    /// The step without that variable.
    pub(crate) fn lose(&mut self, name: &str) {
        let before = self.variables.len();
        self.variables.retain(|variable| variable.def.name != name);
        assert_eq!(self.variables.len() + 1, before, "{name} was there");
    }

    /// Another variable in the place of that of the same name.
    pub(crate) fn replace(&mut self, variable: DescribedVariable) {
        let name = variable.def.name.clone();
        *self.of(&name) = variable;
    }
}

impl DescribedVariable {
    /// The variable without that attribute.
    pub(crate) fn forget(&mut self, name: &str) {
        assert!(self.def.attributes.remove(name).is_some(), "{name} was there");
    }
}
