//! Queries of users, which are passed through to the database, and its answers to them.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use fp_core::{ArrayKind, Dtype, StepId};
use serde_json::{Map, Value, json};

use super::connection::Answer;
use super::{DONE, EXISTS, SavimeSink};
use crate::arguments::{Arguments, query};
use crate::error::SinkError;
use crate::json::real;
use crate::taken_step::{TakenStep, TakenVariable};

/// What stands for the step's number.
const STEP: &str = "%T";

/// No answer to a query of a user is longer: as JSON it takes some 30 times the memory.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// What the answer to a query that asks for cells begins with: what cells there are, and of which types.
const SCHEMA: char = '#';

/// Queries of users.
pub(super) struct Proxied {
    before: Vec<String>,
    after: Vec<String>,
    /// The text of a step that has more of them.
    variable: Option<String>,
    /// Whether it was told that a step does not have it.
    is_told: AtomicBool,
}

impl Proxied {
    pub(super) fn of(arguments: &Arguments) -> Self {
        let Arguments { before, after, queries, .. } = arguments;
        Self {
            before: before.clone(),
            after: after.clone(),
            variable: queries.clone(),
            is_told: AtomicBool::default(),
        }
    }

    /// Whether a variable has queries, and so is none that the database keeps.
    pub(super) fn is_query(&self, variable: &TakenVariable) -> bool {
        self.variable.as_ref() == Some(&variable.def.name)
    }

    /// Says once that a step does not have the text: its name may be a wrong one.
    fn tell_missing(&self, step: &TakenStep) {
        if let Some(name) = self.variable.as_ref().filter(|_| !self.is_told.swap(true, Ordering::Relaxed)) {
            let number = step.step;
            eprintln!(
                "flexpath: step {number}: it has no variable {name:?}, whose queries --queries asks for"
            );
        }
    }

    /// The queries that a step has itself.
    fn of_step(&self, step: &TakenStep) -> Result<Vec<String>, SinkError> {
        let Some(variable) = step.variables.iter().find(|variable| self.is_query(variable)) else {
            self.tell_missing(step);
            return Ok(Vec::new());
        };
        let refused = |why: &str| step.refusal(variable, why);
        if (variable.def.kind, variable.def.dtype) != (ArrayKind::Scalar, Dtype::String) {
            return Err(refused("its queries are no text: --queries names a text that the publisher puts"));
        }
        let text = std::str::from_utf8(variable.value.as_deref().unwrap_or_default());
        let lines = text.map_err(|_| refused("its queries are no text in UTF-8"))?.lines();
        lines
            .filter(|line| !line.trim().is_empty())
            .map(|line| query(line).map_err(|why| refused(&why)))
            .collect()
    }
}

impl SavimeSink {
    /// Asks what is to be asked before anything else.
    pub(super) fn ask_before(&self) -> Result<(), SinkError> {
        self.proxied.before.iter().try_for_each(|query| self.pass_on(query, None))
    }

    /// Asks what is to be asked after a step.
    pub(super) fn ask_after(&self, step: &TakenStep) -> Result<(), SinkError> {
        let after = self.proxied.after.iter().map(|query| query.replace(STEP, &step.step.to_string()));
        let all = self.proxied.of_step(step)?.into_iter().chain(after);
        all.into_iter().try_for_each(|query| self.pass_on(&query, Some(step.step)))
    }

    /// Asks a query, and prints the answer.
    fn pass_on(&self, query: &str, step: Option<StepId>) -> Result<(), SinkError> {
        let answer = self.ask_within(query, None, MAX_ANSWER_BYTES)?;
        let is_there = answer.text.contains(EXISTS) && self.append && step.is_none();
        if answer.text != DONE && !answer.text.starts_with(SCHEMA) && !is_there {
            return Err(self.refused(query, &answer));
        }
        let mut line = json!({"step": step.map(|step| step.0), "query": query, "answer": answer.text});
        if answer.text.starts_with(SCHEMA) {
            let values = values(&answer);
            line["values"] = Value::Object(values.map_err(|why| self.senseless(query, &why))?);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{line}")
            .and_then(|()| out.flush())
            .map_err(SinkError::file(Path::new("standard output")))
    }

    fn senseless(&self, query: &str, why: &str) -> SinkError {
        let why = format!("its answer makes no sense: {why}");
        SinkError::Database { place: self.place.clone(), query: query.to_owned(), why }
    }
}

/// The values of each dimension and attribute that an answer has, as its schema says.
fn values(answer: &Answer) -> Result<Map<String, Value>, String> {
    let mut values = Map::new();
    for part in answer.text.trim_start_matches(SCHEMA).split('|').filter(|part| !part.is_empty()) {
        let mut words = part.split(',');
        let (Some(name), Some(_), Some(dtype)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("{part:?} of the schema {:?} has no name, kind and type", answer.text));
        };
        let dtype = dtype.split_once(':').map_or(dtype, |(dtype, _)| dtype).trim();
        // A dimension whose indices follow from the others may have no block.
        if let Some(bytes) = answer.blocks.get(name.trim()) {
            let numbers = numbers(dtype, bytes).map_err(|why| format!("{name}: {why}"))?;
            values.insert(name.trim().to_owned(), numbers);
        }
    }
    match answer.blocks.keys().find(|name| !values.contains_key(*name)) {
        Some(name) => Err(format!("it has a block {name:?} that its schema {:?} does not have", answer.text)),
        None => Ok(values),
    }
}

/// Numbers of a type that the database names.
fn numbers(dtype: &str, bytes: &[u8]) -> Result<Value, String> {
    /// The numbers as that type of Rust.
    macro_rules! numbers {
        ($type:ty, $json:expr) => {{
            let (all, rest) = bytes.as_chunks::<{ size_of::<$type>() }>();
            if !rest.is_empty() {
                return Err(format!("{} bytes are no numbers of type {dtype}", bytes.len()));
            }
            Ok(all.iter().map(|one| $json(<$type>::from_le_bytes(*one))).collect())
        }};
    }
    match dtype {
        "char" | "int8" => numbers!(i8, Value::from),
        "int16" => numbers!(i16, Value::from),
        "int" | "int32" => numbers!(i32, Value::from),
        "long" | "int64" => numbers!(i64, Value::from),
        "uint8" => numbers!(u8, Value::from),
        "uint16" => numbers!(u16, Value::from),
        "uint32" => numbers!(u32, Value::from),
        "uint64" => numbers!(u64, Value::from),
        "float" => numbers!(f32, |one| real(f64::from(one))),
        "double" => numbers!(f64, real),
        other => Err(format!("nobody knows its type {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, blocks: &[(&str, &[u8])]) -> Answer {
        let blocks = blocks.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        Answer { text: text.to_owned(), blocks }
    }

    #[test]
    fn values_are_of_the_types_that_the_schema_says() {
        let bytes = [1.5_f64, -2.0].map(f64::to_le_bytes).concat();
        let found = answer("#x,d,int32|rho,a,double:1", &[("rho", &bytes), ("x", &[1, 0, 0, 0, 2, 0, 0, 0])]);
        assert_eq!(Value::Object(values(&found).unwrap()), json!({"rho": [1.5, -2.0], "x": [1, 2]}));
        let none = answer("#x,d,int32|rho,a,double:1", &[]);
        assert!(values(&none).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_number_is_a_text() {
        let all = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5];
        let wanted = json!(["NaN", "Infinity", "-Infinity", 0.5]);
        assert_eq!(numbers("double", &all.map(f64::to_le_bytes).concat()), Ok(wanted.clone()));
        assert_eq!(numbers("float", &all.map(|one| (one as f32).to_le_bytes()).concat()), Ok(wanted));
    }

    #[test]
    fn an_answer_that_its_schema_does_not_explain_is_refused() {
        for (text, name, bytes, why) in [
            ("#rho", "rho", [0; 8], "no name, kind and type"),
            ("#rho,a,quaternion", "rho", [0; 8], "quaternion"),
            ("#rho,a,double", "other", [0; 8], "\"other\""),
        ] {
            assert!(values(&answer(text, &[(name, &bytes)])).unwrap_err().contains(why), "{text}");
        }
        let odd = answer("#rho,a,double", &[("rho", &[0; 7])]);
        assert!(values(&odd).unwrap_err().contains("7 bytes"));
    }
}
