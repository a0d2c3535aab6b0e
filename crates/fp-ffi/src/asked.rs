//! What somebody asks of the simulation, with its texts as C reads them.

use crate::attribute_value::AttributeCode;
use crate::c_text::clean;
use crate::failure::Failure;
use crate::raw::as_len;
use fp_core::{AttributeValue, ParameterRequest};
use std::ffi::{CString, c_char};

/// What somebody asks of the simulation. Its texts are valid until the step is ended or abandoned.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RequestStruct {
    /// the parameter
    pub parameter: *const c_char,
    /// who asks: the name of the subscriber
    pub by: *const c_char,
    /// the value of a text; empty of all others
    pub text: *const c_char,
    /// the value of a number. Truth values are 0 and 1, and a parameter without a value has 1
    pub number: f64,
    /// the value of a whole number, and of a truth value
    pub integer: i64,
    /// what the value is, one of `flexpath_attribute_kind`: bool, integer, real, or text
    pub kind: i32,
}

/// A request that a step has.
pub(crate) struct Asked {
    pub(crate) request: ParameterRequest,
    parameter: CString,
    by: CString,
    text: CString,
}

impl Asked {
    pub(crate) fn new(request: &ParameterRequest) -> Self {
        let text = if let AttributeValue::Text(text) = request.value() { text } else { "" };
        let (parameter, by) = (clean(request.parameter()), clean(request.by()));
        Self { request: request.clone(), parameter, by, text: clean(text) }
    }

    /// The request at an index.
    pub(crate) fn at(all: &[Self], index: u64) -> Result<&Self, Failure> {
        all.get(as_len(index)).ok_or_else(|| Failure::beyond("request", index, all.len()))
    }

    pub(crate) fn for_c(&self) -> RequestStruct {
        let (kind, number, integer) = match *self.request.value() {
            AttributeValue::Bool(truth) => (AttributeCode::Bool, f64::from(truth), truth.into()),
            AttributeValue::Integer(number) => (AttributeCode::Integer, number as f64, number),
            AttributeValue::Real(number) => (AttributeCode::Real, number.0, 0),
            // A parameter takes no other values than texts besides.
            #[rustfmt::skip]
            AttributeValue::Text(_) | AttributeValue::Unsigned(_) | AttributeValue::Bytes(_)
            | AttributeValue::Integers(_) | AttributeValue::Reals(_) | AttributeValue::Texts(_) => {
                (AttributeCode::Text, 0.0, 0)
            },
        };
        RequestStruct {
            parameter: self.parameter.as_ptr(),
            by: self.by.as_ptr(),
            text: self.text.as_ptr(),
            number,
            integer,
            kind: kind as i32,
        }
    }
}
