//! The attributes of a variable as rules want them: what is missing or of another kind becomes a finding.

use fp_types::AttributeValue;

use crate::finding::Finding;
use crate::rule::Rule;
use crate::variable::DescribedVariable;

/// The attributes of one variable, and where findings go.
pub(crate) struct Attributes<'a> {
    /// The variable.
    pub(crate) of: &'a DescribedVariable,
    /// What was found.
    pub(crate) findings: &'a mut Vec<Finding>,
}

impl Attributes<'_> {
    /// A real number.
    pub(crate) fn real(&mut self, name: &str, rule: Rule) -> Option<f64> {
        self.wanted(name, rule, "a real number", real)
    }

    /// A text.
    pub(crate) fn text(&mut self, name: &str, rule: Rule) -> Option<String> {
        self.wanted(name, rule, "a text", text)
    }

    /// So many real numbers.
    pub(crate) fn reals(&mut self, name: &str, rule: Rule, count: usize) -> Option<Vec<f64>> {
        let what = format!("{count} real numbers");
        self.wanted(name, rule, &what, |value| reals(value).filter(|numbers| numbers.len() == count))
    }

    /// So many real numbers above 0.
    pub(crate) fn sizes(&mut self, name: &str, rule: Rule, count: usize) -> Option<Vec<f64>> {
        let what = format!("{count} real numbers above 0");
        let are_sizes = |numbers: &Vec<f64>| {
            numbers.len() == count && numbers.iter().all(|number| number.is_finite() && *number > 0.0)
        };
        self.wanted(name, rule, &what, |value| reals(value).filter(are_sizes))
    }

    /// So many texts.
    pub(crate) fn texts(&mut self, name: &str, rule: Rule, count: usize) -> Option<Vec<String>> {
        let what = format!("{count} texts");
        self.wanted(name, rule, &what, |value| texts(value).filter(|texts| texts.len() == count))
    }

    /// So many integers above 0.
    pub(crate) fn counts(&mut self, name: &str, rule: Rule, count: usize) -> Option<Vec<u64>> {
        let what = format!("{count} integers above 0");
        let are_counts =
            |numbers: &Vec<u64>| numbers.len() == count && numbers.iter().all(|number| *number > 0);
        self.wanted(name, rule, &what, |value| integers(value).filter(are_counts))
    }

    /// An integer that is not negative.
    pub(crate) fn count(&mut self, name: &str, rule: Rule) -> Option<u64> {
        self.wanted(name, rule, "an integer from 0 on", count)
    }

    /// Whether the attribute is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.of.def.attributes.contains_key(name)
    }

    /// Notes that an attribute is wrong.
    pub(crate) fn wrong(
        &mut self,
        name: &str,
        rule: Rule,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.findings.push(Finding::violation(rule, what, advice).of(self.of.name()).attribute(name));
    }

    /// The attribute as it is wanted; or else what is wrong with it.
    fn wanted<T>(
        &mut self,
        name: &str,
        rule: Rule,
        what: &str,
        read: impl Fn(&AttributeValue) -> Option<T>,
    ) -> Option<T> {
        let Some(value) = self.of.def.attributes.get(name) else {
            self.wrong(name, rule, "is missing", format!("Set it to {what}"));
            return None;
        };
        let read = read(value);
        if read.is_none() {
            self.wrong(name, rule, format!("is {}", said(value)), format!("Set it to {what}"));
        }
        read
    }
}

/// A value in words.
fn said(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Bool(value) => format!("the truth value {value}"),
        AttributeValue::Integer(number) => format!("the integer {number}"),
        AttributeValue::Unsigned(number) => format!("the integer {number}"),
        AttributeValue::Real(number) => format!("the real number {:?}", number.0),
        AttributeValue::Text(text) => format!("the text {text:?}"),
        AttributeValue::Bytes(bytes) => format!("{} bytes", bytes.len()),
        AttributeValue::Integers(numbers) => format!("the integers {numbers:?}"),
        AttributeValue::Reals(numbers) => {
            format!("the real numbers {:?}", numbers.iter().map(|number| number.0).collect::<Vec<_>>())
        }
        AttributeValue::Texts(texts) => format!("the texts {texts:?}"),
    }
}

fn real(value: &AttributeValue) -> Option<f64> {
    if let AttributeValue::Real(number) = value { Some(number.0) } else { None }
}

/// One text.
pub(crate) fn text(value: &AttributeValue) -> Option<String> {
    if let AttributeValue::Text(text) = value { Some(text.clone()) } else { None }
}

/// Real numbers; a single one is a list of one.
pub(crate) fn reals(value: &AttributeValue) -> Option<Vec<f64>> {
    if let AttributeValue::Reals(numbers) = value {
        return Some(numbers.iter().map(|number| number.0).collect());
    }
    real(value).map(|number| vec![number])
}

/// Texts; a single one is a list of one.
pub(crate) fn texts(value: &AttributeValue) -> Option<Vec<String>> {
    if let AttributeValue::Texts(texts) = value {
        return Some(texts.clone());
    }
    text(value).map(|text| vec![text])
}

fn count(value: &AttributeValue) -> Option<u64> {
    if let AttributeValue::Unsigned(number) = value {
        return Some(*number);
    }
    if let AttributeValue::Integer(number) = value { u64::try_from(*number).ok() } else { None }
}

/// Integers that are not negative; a single one is a list of one.
pub(crate) fn integers(value: &AttributeValue) -> Option<Vec<u64>> {
    if let AttributeValue::Integers(numbers) = value {
        return numbers.iter().map(|number| u64::try_from(*number).ok()).collect();
    }
    count(value).map(|number| vec![number])
}
