//! Which variables of a stream provide a type, and why the others do not: known when the first step is here, before
//! anything of it is taken.

use super::TransformedVariable;
use super::route::{Route, Way};
use super::there::There;
use crate::ahead::look_ahead;
use crate::error::{Misuse, ReadError};
use crate::patience::{Limit, after};
use crate::planned::{is_known, names};
use crate::step::StepReader;
use crate::subscriber::Subscriber;
use fp_transform::{PathError, TransformPath};
use fp_types::record::{Conversion, Difference, Incompatible, Loss, Record, RecordSchema, differences};
use fp_types::{ArrayKind, Fingerprint, Rank, Selection, TableEntry, VariableDef};
use std::cmp::Ordering;
use std::fmt;
use std::time::Instant;

/// A variable that provides the type that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Provided {
    /// Its name.
    pub variable: String,
    /// How well its records fit.
    pub fit: Fit,
}

/// How well records fit the type that was asked for, best first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fit {
    /// They are of that very type, or of one that only differs in texts for people: bytes pass untouched.
    Same,
    /// They are converted.
    Converted {
        /// What the types differ in.
        differences: Vec<Difference>,
    },
    /// Transforms that this process knows lead there, by the cheapest path; where it begins or ends with another type
    /// of the same meaning, records are converted there.
    Through(TransformPath),
    /// Transforms that the publisher registered lead there: its ranks make them of their blocks when they are asked for, and
    /// only what comes out crosses.
    ThroughPublisher(TransformPath),
}

impl Fit {
    /// What orders them: the best first, and of paths the cheapest.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (
                Self::Through(one) | Self::ThroughPublisher(one),
                Self::Through(other) | Self::ThroughPublisher(other),
            ) => one.compare(other),
            (one, other) => one.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Same => 0,
            Self::Converted { .. } => 1,
            Self::Through(_) | Self::ThroughPublisher(_) => 2,
        }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("as it is"),
            Self::Converted { differences } => {
                f.write_str("converted")?;
                differences.iter().try_for_each(|difference| write!(f, "\n  {difference}"))
            }
            Self::Through(path) => path.fmt(f),
            Self::ThroughPublisher(path) => write!(f, "{path}, by the publisher"),
        }
    }
}

/// A variable that does not provide the type that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The one that was to provide it is not there, or was not subscribed to: those that are.
    NotThere(String, Vec<String>),
    /// Its elements are no records.
    NoRecords(String, String),
    /// Its records have no conversion to that type.
    Incompatible(String, Incompatible),
    /// The same, nor do the transforms lead there that this process or the publisher knows.
    NoPath(String, Incompatible, PathError),
    /// The publisher was asked to send it through a transform of its own, and did not: why.
    NotTransformed(String, String),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere(variable, there) => {
                let there = there.join(", ");
                write!(f, "variable {variable:?} is not there, or not subscribed to; there are {there}")
            }
            Self::NoRecords(variable, dtype) => write!(f, "variable {variable:?} is of {dtype}, no records"),
            Self::Incompatible(variable, why) => write!(f, "variable {variable:?}: {why}"),
            Self::NotTransformed(variable, why) => write!(f, "variable {variable:?}: {why}"),
            Self::NoPath(variable, why, path) => write!(f, "variable {variable:?}: {why}\n  {path}"),
        }
    }
}

pub(crate) fn list(refused: &[Misfit]) -> String {
    refused.iter().map(|refused| format!("\n{refused}")).collect()
}

impl Subscriber {
    /// The variables that provide records of this Rust type, those that fit best first: as they are, converted, or
    /// through transforms that this process registered
    /// ([`SubscriberOptions::with_transforms`](crate::SubscriberOptions::with_transforms)) or the publisher did
    /// ([`PublisherOptions::with_transforms`](crate::PublisherOptions::with_transforms)). Waits until the first step is
    /// here, at most `open_timeout`; that step is still the next one.
    ///
    /// # Errors
    /// No variable does: the error says of each, field by field, why not. No step came, or the publisher did not say
    /// what is in it.
    pub fn of<T: Record>(&mut self) -> Result<Vec<Provided>, ReadError> {
        let wanted = T::schema().map_err(|error| self.no_type(error.into()))?;
        self.of_schema(&wanted)
    }

    /// As [`Subscriber::of`], for a type that was made at run time.
    ///
    /// # Errors
    /// As [`Subscriber::of`].
    pub fn of_schema(&mut self, wanted: &RecordSchema) -> Result<Vec<Provided>, ReadError> {
        self.shared.check_fork().map_err(|source| self.shared.misuse(source))?;
        let started = Instant::now();
        let deadline = after(started, self.shared.options.link.open_timeout);
        let came = self.shared.endpoint.wait(deadline, look_ahead);
        let reader = self.shared.ahead(came, started)?;
        reader.provided(wanted, None, deadline.into())
    }

    pub(crate) fn no_type(&self, source: crate::records::RecordBlockError) -> ReadError {
        let variable = String::new();
        self.shared.misuse(Misuse::NoRecords { variable, source: Box::new(source) })
    }
}

impl StepReader {
    /// What provides a type: any variable, or `only` this one.
    pub(crate) fn provided(
        &self,
        wanted: &RecordSchema,
        only: Option<&str>,
        limit: Limit<'_>,
    ) -> Result<Vec<Provided>, ReadError> {
        self.shared().types.learn_anyway(wanted);
        self.shared().offers.forget();
        let (mut provided, mut refused) = (Vec::new(), Vec::new());
        let is_asked = |name: &str| only.is_none_or(|only| only == name);
        for entry in self.table(limit.deadline)?.entries().iter().filter(|entry| is_known(&entry.def)) {
            let name = &entry.def.name;
            if is_asked(name) && self.held.wants.contains(name) {
                match self.provided_by(entry, wanted, limit)? {
                    Ok(fit) => provided.push(Provided { variable: name.clone(), fit }),
                    Err(misfit) => refused.push(misfit),
                }
            }
        }
        for asked in self.shared().options.transformed.iter().filter(|asked| is_asked(&asked.name)) {
            match self.received(asked, wanted, limit)? {
                Ok(fit) => provided.push(Provided { variable: asked.name.clone(), fit }),
                Err(misfit) => refused.push(misfit),
            }
        }
        provided.sort_by(|one, other| one.fit.compare(&other.fit));
        if let (true, true, Some(only)) = (provided.is_empty(), refused.is_empty(), only) {
            refused.push(Misfit::NotThere(only.to_owned(), self.subscribed(limit)?));
        }
        if provided.is_empty() {
            let (stream, wanted) = (self.stream().to_owned(), wanted.record().name.clone());
            return Err(ReadError::NotProvided { stream, wanted, refused });
        }
        Ok(provided)
    }

    /// How well a variable's records fit, or why they do not.
    fn provided_by(
        &self,
        entry: &TableEntry,
        wanted: &RecordSchema,
        limit: Limit<'_>,
    ) -> Result<Result<Fit, Misfit>, ReadError> {
        let (def, variable) = (&entry.def, entry.def.name.clone());
        if def.record.is_none() {
            return Ok(Err(Misfit::NoRecords(variable, def.dtype.to_string())));
        }
        let found = self.type_of(def, None, limit)?;
        let why = match fit(&found, wanted) {
            Ok(fit) => return Ok(Ok(fit)),
            Err(why) => why,
        };
        Ok(match self.way(entry, (&found, wanted), Loss::Refused, limit)? {
            Ok(Way::Here(Route { path, .. })) => Ok(Fit::Through(path)),
            Ok(Way::There(There { path, .. }, _)) => Ok(Fit::ThroughPublisher(path)),
            Err(None) => Err(Misfit::Incompatible(variable, why)),
            Err(Some(path)) => Err(Misfit::NoPath(variable, why, path)),
        })
    }

    /// The names of what was subscribed to and is there.
    fn subscribed(&self, limit: Limit<'_>) -> Result<Vec<String>, ReadError> {
        let mut names = names(&*self.table(limit.deadline)?);
        names.retain(|name| self.held.wants.contains(name));
        names.extend(self.shared().options.transformed.iter().map(|asked| asked.name.clone()));
        Ok(names)
    }

    /// The type of a variable's records: asked for once, of this rank or of any that put some.
    pub(super) fn type_of(
        &self,
        def: &VariableDef,
        rank: Option<Rank>,
        limit: Limit<'_>,
    ) -> Result<RecordSchema, ReadError> {
        let Some(id) = &def.record else {
            return Err(self.problem(&def.name, super::RecordProblem::NoRecords(def.dtype)));
        };
        let schema = match self.shared().types.find(id.fingerprint) {
            Some(known) => known,
            None => {
                let rank = rank.map_or_else(|| self.any_owner(def, limit), Ok)?;
                self.type_at(id.fingerprint, rank, limit)?
            }
        };
        if schema.size_bytes() as u64 != id.size_bytes {
            let (stream, step, rank) = (self.stream().to_owned(), self.step(), rank.unwrap_or(Rank::LEAD));
            let what = format!("records of {} bytes, said to be {}", schema.size_bytes(), id.size_bytes);
            return Err(ReadError::PeerMisbehaved { stream, step, rank, what });
        }
        Ok(schema)
    }

    /// The type of that fingerprint: asked for once, of a rank that knows it.
    pub(super) fn type_at(
        &self,
        fingerprint: Fingerprint,
        rank: Rank,
        limit: Limit<'_>,
    ) -> Result<RecordSchema, ReadError> {
        let types = &self.shared().types;
        if let Some(known) = types.find(fingerprint) {
            return Ok(known);
        }
        let schema = crate::fetch::describe(self.shared(), self.identity(), (rank, fingerprint), limit)?;
        crate::statistics::Counters::add(&self.shared().counters.types, 1);
        types.learn_anyway(&schema);
        Ok(schema)
    }

    /// The type of a variable's records, whether it was subscribed to or not. Asks the publisher if it is not known yet;
    /// at most `fetch_timeout`.
    ///
    /// # Errors
    /// Unknown variable; no records; a lost publisher; time.
    pub fn record_schema(&self, variable: &str) -> Result<RecordSchema, ReadError> {
        let limit = self.deadline().into();
        let received = self.shared().options.transformed_variable(variable).map(TransformedVariable::result);
        let table = self.table(self.deadline())?;
        let entry = table.entry(received.as_deref().unwrap_or(variable));
        let entry = entry.ok_or_else(|| self.misuse(self.unknown(&table, variable)))?;
        self.type_of(&entry.def, None, limit)
    }

    /// A rank that put a block of the variable.
    pub(super) fn any_owner(&self, def: &VariableDef, limit: Limit<'_>) -> Result<Rank, ReadError> {
        let table = self.table(limit.deadline)?;
        let shape = table.entry(&def.name).and_then(|entry| entry.layout.shape().copied());
        let corner = shape.filter(|shape| shape.element_count() > 0).map(|shape| shape.dims().zeros_like());
        let cheap = match (def.kind, corner) {
            (ArrayKind::GlobalArray | ArrayKind::JoinedArray { .. }, Some(corner)) => {
                Selection::Points(vec![corner])
            }
            _ => Selection::Rank(Rank::LEAD),
        };
        // Whether it was subscribed to does not matter: ranks tell the types of all that they put.
        let first = |selection: Selection| {
            let planned = self.planned_as_put(&def.name, &selection.into(), true, None, limit.deadline)?;
            Ok::<_, ReadError>(planned.plan.pieces.first().map(|piece| piece.block.rank))
        };
        if let Ok(Some(rank)) = first(cheap) {
            return Ok(rank);
        }
        let first = self.blocks_as_put(&def.name, limit.deadline)?.first().map(|(block, _)| block.rank);
        first.ok_or_else(|| self.problem(&def.name, super::RecordProblem::NoRecords(def.dtype)))
    }
}

/// How well one type fits the other.
pub(super) fn fit(found: &RecordSchema, wanted: &RecordSchema) -> Result<Fit, Incompatible> {
    match Conversion::new(found, wanted, Loss::Refused)?.is_identity() {
        true => Ok(Fit::Same),
        false => Ok(Fit::Converted { differences: differences(found, wanted) }),
    }
}
