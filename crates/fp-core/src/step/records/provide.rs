//! Which variables of a stream provide a type, and why the others do not. That is known when the first step is here,
//! before anything of it is taken.

use crate::data::taker::fetch_plan::names;
use crate::error::ReadError;
use crate::error::misfit::Misfit;
use crate::options::transformed_variable::TransformedVariable;
use crate::records::fit;
use crate::records::fit::{Fit, Provided, fit};
use crate::step::held::HeldStep;
use crate::step::records::offered::OwnerRoute;
use crate::step::records::route::{Route, Way};
use crate::step::records::{record_type, route};
use crate::step::source::{made, transformed};
use crate::value::limit::Limit;
use fp_types::TableEntry;
use fp_types::record::{Loss, RecordSchema};

/// What provides a type: any variable, or `only` this one.
pub(crate) fn provided(
    held: &HeldStep,
    wanted: &RecordSchema,
    only: Option<&str>,
    limit: Limit<'_>,
) -> Result<Vec<Provided>, ReadError> {
    held.shared.types.learn_anyway(wanted);
    held.shared.offers.forget();
    let (mut provided, mut refused) = (Vec::new(), Vec::new());
    let is_asked = |name: &str| only.is_none_or(|only| only == name);
    for entry in held.table(limit.deadline)?.entries().iter().filter(|entry| entry.def.is_public()) {
        let name = &entry.def.name;
        if is_asked(name) && held.wants.contains(name) {
            match provided_by(held, entry, wanted, limit)? {
                Ok(fit) => provided.push(Provided { variable: name.clone(), fit }),
                Err(misfit) => refused.push(misfit),
            }
        }
    }
    for asked in held.shared.options.transformed().filter(|asked| is_asked(&asked.name)) {
        match received(held, asked, wanted, limit)? {
            Ok(fit) => provided.push(Provided { variable: asked.name.clone(), fit }),
            Err(misfit) => refused.push(misfit),
        }
    }
    provided.sort_by(|one, other| one.fit.compare(&other.fit));
    if let (true, true, Some(only)) = (provided.is_empty(), refused.is_empty(), only) {
        refused.push(Misfit::NotThere(only.to_owned(), subscribed(held, limit)?));
    }
    if provided.is_empty() {
        let (stream, wanted) = (held.stream().to_owned(), wanted.record().name.clone());
        return Err(ReadError::NotProvided { stream, wanted, refused });
    }
    Ok(provided)
}

/// How well a variable's records fit, or why they do not.
pub(crate) fn provided_by(
    held: &HeldStep,
    entry: &TableEntry,
    wanted: &RecordSchema,
    limit: Limit<'_>,
) -> Result<Result<Fit, Misfit>, ReadError> {
    let (def, variable) = (&entry.def, entry.def.name.clone());
    if def.record.is_none() {
        return Ok(Err(Misfit::NoRecords(variable, def.dtype.to_string())));
    }
    let found = record_type::type_of(held, def, None, limit)?;
    let why = match fit(&found, wanted) {
        Ok(fit) => return Ok(Ok(fit)),
        Err(why) => why,
    };
    Ok(match route::way(held, entry, (&found, wanted), Loss::Refused, limit)? {
        Ok(Way::Here(Route { path, .. })) => Ok(Fit::Through(path)),
        Ok(Way::There(OwnerRoute { path, .. }, _)) => Ok(Fit::ThroughPublisher(path)),
        Err(None) => Err(Misfit::Incompatible(variable, why)),
        Err(Some(path)) => Err(Misfit::NoPath(variable, why, path)),
    })
}

/// The names of what was subscribed to and is there.
pub(crate) fn subscribed(held: &HeldStep, limit: Limit<'_>) -> Result<Vec<String>, ReadError> {
    let mut names = names(&*held.table(limit.deadline)?);
    names.retain(|name| held.wants.contains(name));
    names.extend(held.shared.options.transformed().map(|asked| asked.name.clone()));
    Ok(names)
}

/// How well that variable fits which the publisher was asked for, or why it does not.
pub(crate) fn received(
    held: &HeldStep,
    asked: &TransformedVariable,
    wanted: &RecordSchema,
    limit: Limit<'_>,
) -> Result<Result<Fit, Misfit>, ReadError> {
    let (table, variable) = (held.table(limit.deadline)?, asked.name.clone());
    if made::is_made_here(held, asked) {
        return Ok(match made::made_type(held, asked, limit)? {
            Ok(given) => fit::fit(&given, wanted).map_err(|why| Misfit::Incompatible(variable, why)),
            Err(what) => Err(Misfit::NotTransformed(variable, what)),
        });
    }
    if let Some(what) = transformed::why_not_received(held, asked, &table, limit.deadline)? {
        return Ok(Err(Misfit::NotTransformed(variable, what)));
    }
    let Some(entry) = table.entry(&asked.result) else {
        return Ok(Err(Misfit::NotThere(variable, names(&table))));
    };
    let found = record_type::type_of(held, &entry.def, transformed::sender(held, asked, limit)?, limit)?;
    let fit = fit::fit(&found, wanted);
    Ok(fit.map_err(|why| Misfit::Incompatible(variable, why)))
}

/// Whether the step provides all types that were asked for; the error is that of the first which it does not.
pub(crate) fn check_types(held: &HeldStep, limit: Limit<'_>) -> Result<(), ReadError> {
    let mut wanted = held.shared.options.types();
    wanted.try_for_each(|one| provided(held, &one.schema, one.variable.as_deref(), limit).map(drop))
}
