//! What a step says of its variables, for people and for programs.

use std::collections::BTreeMap;
use std::fmt;

use fp_core::record::RecordSchema;
use fp_core::{AttributeValue, ReadError, Shape, StepReader, VariableDef, VariableInfo};
use fp_spool::{StepHead, StepVariable};
use serde::Serialize;

use crate::fields::{FieldSummary, in_short};

/// A variable of a step.
#[derive(Debug, Serialize)]
pub(crate) struct VariableSummary {
    /// Its name.
    name: String,
    /// How its blocks make it up: `scalar`, `global array` and so on.
    kind: String,
    /// The type of its elements.
    dtype: String,
    /// The record that its elements are.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<String>,
    /// The fields of that record, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<FieldSummary>>,
    /// Its global extent; none of local arrays.
    shape: Option<Vec<u64>>,
    /// The names of its dimensions; none if they have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dimensions: Vec<String>,
    /// In which order the elements of its blocks lie.
    order: String,
    /// The unit of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Facts about it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<String, Attribute>,
}

/// The value of an attribute.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Attribute {
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Vec<String>),
}

impl VariableSummary {
    /// What there is to say of a variable.
    pub(crate) fn new(info: &VariableInfo) -> Self {
        Self::of(&info.def, info.shape)
    }

    fn of(def: &VariableDef, shape: Option<Shape>) -> Self {
        let attributes = def.attributes.iter().map(|(name, value)| (name.clone(), Attribute::new(value)));
        Self {
            name: def.name.clone(),
            kind: def.kind.to_string(),
            dtype: def.dtype.to_string(),
            record: def.record.as_ref().map(|record| record.name.clone()),
            fields: None,
            shape: shape.map(|shape| shape.dims().to_vec()),
            dimensions: def.dimensions.iter().filter(|name| !name.is_empty()).cloned().collect(),
            order: def.order.to_string(),
            unit: def.unit.clone(),
            description: def.description.clone(),
            attributes: attributes.collect(),
        }
    }

    /// The same with the fields of its records, as the publisher tells them.
    pub(crate) fn with_fields(step: &StepReader, info: &VariableInfo) -> Result<Self, ReadError> {
        let summary = Self::new(info);
        if summary.record.is_none() {
            return Ok(summary);
        }
        let schema = step.record_schema(&info.def.name)?;
        Ok(Self { fields: Some(FieldSummary::all(schema.record())), ..summary })
    }

    /// The same of a variable of a step that was stored.
    pub(crate) fn stored(step: &StepHead, of: &StepVariable) -> Self {
        let is_its = |schema: &&RecordSchema| {
            of.def.record.as_ref().is_some_and(|id| id.fingerprint == schema.fingerprint())
        };
        let schema = step.records.iter().find(is_its);
        let fields = schema.map(|schema| FieldSummary::all(schema.record()));
        Self { fields, ..Self::of(&of.def, of.shape) }
    }

    /// A few words: `temperature f64 [64, 64] K`.
    pub(crate) fn brief(&self) -> String {
        let shape = self.shape.as_ref().filter(|shape| !shape.is_empty());
        let shape = shape.map(|shape| format!(" {shape:?}")).unwrap_or_default();
        let unit = self.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        format!("{} {}{shape}{unit}", self.name, self.record.as_ref().unwrap_or(&self.dtype))
    }

    /// Everything, over several lines.
    pub(crate) fn full(&self) -> String {
        let mut text = format!("{}, {}, {}", self.brief(), self.kind, self.order);
        if let Some(fields) = &self.fields {
            text.push_str(&format!("\n    {}", in_short(fields)));
        }
        if !self.dimensions.is_empty() {
            text.push_str(&format!("\n    dimensions: {}", self.dimensions.join(", ")));
        }
        if let Some(description) = &self.description {
            text.push_str(&format!("\n    {description}"));
        }
        for (name, value) in &self.attributes {
            text.push_str(&format!("\n    {name} = {value}"));
        }
        text
    }
}

impl Attribute {
    /// The same value.
    pub(crate) fn new(value: &AttributeValue) -> Self {
        match value {
            AttributeValue::Bool(value) => Self::Bool(*value),
            AttributeValue::Integer(value) => Self::Integer(*value),
            AttributeValue::Unsigned(value) => Self::Unsigned(*value),
            AttributeValue::Real(value) => Self::Real(value.0),
            AttributeValue::Text(value) => Self::Text(value.clone()),
            AttributeValue::Bytes(value) => Self::Bytes(value.clone()),
            AttributeValue::Integers(values) => Self::Integers(values.clone()),
            AttributeValue::Reals(values) => Self::Reals(values.iter().map(|value| value.0).collect()),
            AttributeValue::Texts(values) => Self::Texts(values.clone()),
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Bytes(value) => write!(f, "{} bytes", value.len()),
            Self::Integers(values) => write!(f, "{values:?}"),
            Self::Reals(values) => write!(f, "{values:?}"),
            Self::Texts(values) => write!(f, "{values:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::Variable;

    fn summary() -> VariableSummary {
        let variable = Variable::global::<f64>("T", &[64, 32]).unwrap().with_unit("K");
        let variable = variable.with_dimensions(&["y", "x"]).with_attribute("origin", "north");
        let shape = Some(Shape::new([64, 32]).unwrap());
        VariableSummary::of(variable.definition(), shape)
    }

    #[test]
    fn people_read_lines() {
        assert_eq!(summary().brief(), "T f64 [64, 32] K");
        let full = "T f64 [64, 32] K, global array, row-major\n    dimensions: y, x\n    origin = \"north\"";
        assert_eq!(summary().full(), full);
    }

    #[test]
    fn programs_read_json() {
        let json = serde_json::to_value(summary()).unwrap();
        assert_eq!(json["shape"], serde_json::json!([64, 32]));
        assert_eq!(json["attributes"]["origin"], "north");
        assert!(json.get("description").is_none());
    }
}
