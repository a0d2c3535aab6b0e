//! What is asked of a variable of a step.

use crate::value::limit::Limit;
use crate::value::select::Select;
use fp_types::Dtype;
use fp_types::record::{Loss, RecordSchema};
use std::time::Instant;

/// Elements of a variable that are wanted until a deadline.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) variable: &'a str,
    pub(crate) select: &'a Select,
    /// Whether elements that no rank put may be missing.
    pub(crate) has_fill: bool,
    /// The element type, where it matters.
    pub(crate) dtype: Option<Dtype>,
    pub(crate) deadline: Instant,
}

impl<'a> Request<'a> {
    /// Elements of any type, without gaps.
    pub(crate) fn new(variable: &'a str, select: &'a Select, deadline: Instant) -> Self {
        Self { variable, select, has_fill: false, dtype: None, deadline }
    }

    /// The same with a value for what no rank put.
    pub(crate) fn with_fill(self) -> Self {
        Self { has_fill: true, ..self }
    }

    /// The same of this element type.
    pub(crate) fn of_type(self, dtype: Dtype) -> Self {
        Self { dtype: Some(dtype), ..self }
    }

    /// The same of another variable.
    pub(crate) fn of_variable<'v>(self, variable: &'v str) -> Request<'v>
    where
        'a: 'v,
    {
        Request { variable, ..self }
    }
}

/// Records of a variable that are wanted, as they are or in a type.
#[derive(Clone, Copy)]
pub(crate) struct RecordRequest<'a> {
    pub(crate) variable: &'a str,
    pub(crate) select: &'a Select,
    /// The type, where it matters.
    pub(crate) wanted: Option<&'a RecordSchema>,
    pub(crate) limit: Limit<'a>,
}

impl<'a> RecordRequest<'a> {
    /// The elements that the records are.
    pub(crate) fn elements(self) -> Request<'a> {
        Request::new(self.variable, self.select, self.limit.deadline)
    }

    /// What conversions may do to values.
    pub(crate) fn loss(self) -> Loss {
        self.select.loss().unwrap_or(Loss::Refused)
    }
}
