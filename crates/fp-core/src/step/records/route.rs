//! The way from the type of a variable's records to the one that is wanted, over registered transforms. It may be over
//! those that this process knows or, where the publisher knows some too, over the publisher's.

use crate::error::ReadError;
use crate::step::held::HeldStep;
use crate::step::plan;
use crate::step::records::offered::{OwnerRoute, expected_bytes};
use crate::step::records::{offered, record_type};
use crate::step::request::RecordRequest;
use crate::value::limit::{Limit, after};
use fp_transform::{CohortSide, DataType, PathError, TransformPath, Transforms};
use fp_types::TableEntry;
use fp_types::record::{Conversion, Loss, RecordSchema};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long is waited for what a publisher offers where it is not needed.
const PATIENCE: Duration = Duration::from_secs(1);

/// A way from one type to another.
pub(crate) struct Route {
    pub(crate) transforms: Transforms,
    /// What conversions at its ends may do to values.
    pub(crate) loss: Loss,
    /// To the type that the first transform takes, if that is another one than the records'.
    pub(crate) first: Option<Arc<Conversion>>,
    pub(crate) path: TransformPath,
    /// The type that the last transform gives.
    pub(crate) given: RecordSchema,
    /// From that to the type that is wanted, if that is another one.
    pub(crate) last: Option<Arc<Conversion>>,
    /// Whether each record is made of one alone.
    pub(crate) is_one_by_one: bool,
}

/// A way to a type, on one side or the other.
pub(crate) enum Way {
    /// Over transforms that this process knows.
    Here(Route),
    /// Over transforms that the publisher offers; and one that is left if these fail, unless they are to be taken.
    There(OwnerRoute, Option<Route>),
}

/// Types between which a path is looked for.
type Ends<'a> = (&'a RecordSchema, &'a RecordSchema);

impl Route {
    /// Whether a transform on it is to run where its result is wanted.
    fn is_for_subscriber(&self) -> bool {
        let native = |name: &str| self.transforms.native(name);
        let is = |name: &str| native(name).is_some_and(|of| of.placement == CohortSide::Subscriber);
        self.path.steps.iter().any(|(name, ..)| is(name))
    }
}

/// The way to the type that is wanted, over transforms that this process knows, or the publisher if that is the side
/// for it. There is one only if the variable's records are of another type and have no conversion to it.
pub(crate) fn way_to(
    held: &HeldStep,
    request: RecordRequest<'_>,
    wanted: &RecordSchema,
) -> Result<Option<Way>, ReadError> {
    let RecordRequest { variable, limit, .. } = request;
    let loss = request.loss();
    let shared = &held.shared;
    if shared.derived.find(variable).is_some() || shared.options.transformed_variable(variable).is_some() {
        return Ok(None);
    }
    plan::admit(held, variable)?;
    let table = held.table(limit.deadline)?;
    let Some(entry) = table.entry(variable).filter(|entry| entry.def.record.is_some()) else {
        return Ok(None);
    };
    shared.types.learn_anyway(wanted);
    let found = record_type::type_of(held, &entry.def, None, limit)?;
    if found == *wanted || record_type::conversion(held, &found, wanted, loss).is_ok() {
        return Ok(None);
    }
    Ok(way(held, entry, (&found, wanted), loss, limit)?.ok())
}

/// The way from one type to another, or why there is none, if any transforms are known at all.
///
/// Where both sides know a way, what the transforms of either say of their side counts. Otherwise it is this side's,
/// unless the publisher's gives the very same in fewer bytes: each record made of one alone, in its place.
pub(crate) fn way(
    held: &HeldStep,
    entry: &TableEntry,
    ends: Ends<'_>,
    loss: Loss,
    limit: Limit<'_>,
) -> Result<Result<Way, Option<PathError>>, ReadError> {
    let here = match route(held, ends, expected_bytes(&entry.def, &entry.layout), loss) {
        Some(Ok(route)) => return Ok(Ok(better_way(held, entry, ends, route, loss, limit))),
        Some(Err(error)) => Some(error),
        None => None,
    };
    let there = offered::there(held, entry, ends, loss, limit)?;
    Ok(there.map(|there| Way::There(there, None)).map_err(|error| here.or(error)))
}

/// The better one of a way that this process knows and one of the publisher's.
pub(crate) fn better_way(
    held: &HeldStep,
    entry: &TableEntry,
    ends: Ends<'_>,
    route: Route,
    loss: Loss,
    limit: Limit<'_>,
) -> Way {
    if route.is_for_subscriber() {
        return Way::Here(route);
    }
    // A rank that does not answer is no reason not to do what can be done here.
    let deadline = after(Instant::now(), PATIENCE).min(limit.deadline);
    match offered::there(held, entry, ends, loss, Limit { deadline, ..limit }) {
        Ok(Ok(there)) if there.is_better(&entry.def) => {
            let left = (!there.is_for_publisher).then_some(route);
            Way::There(there, left)
        }
        _ => Way::Here(route),
    }
}

/// The cheapest way for so many bytes; nothing where no transforms are known, or why none leads there.
pub(crate) fn route(
    held: &HeldStep,
    (found, wanted): Ends<'_>,
    len_bytes: u64,
    loss: Loss,
) -> Option<Result<Route, PathError>> {
    let transforms = held.shared.options.transforms.as_ref()?;
    match transforms.path(&found.into(), &wanted.into(), len_bytes) {
        Ok(path) => Some(Ok(over(held, transforms, path, (found, wanted), (found, wanted), loss))),
        Err(error) => Some(route_between(held, transforms, (found, wanted), len_bytes, loss).ok_or(error)),
    }
}

/// The cheapest way that begins or ends with a conversion.
pub(crate) fn route_between(
    held: &HeldStep,
    transforms: &Transforms,
    (found, wanted): Ends<'_>,
    len_bytes: u64,
    loss: Loss,
) -> Option<Route> {
    let natives = transforms.registered();
    let known = || natives.iter().filter_map(|native| native.schemas.as_ref());
    let mut starts: Vec<&RecordSchema> = known().map(|(from, _)| from).collect();
    starts.retain(|from| record_type::conversion(held, found, from, loss).is_ok());
    let mut ends: Vec<&RecordSchema> = known().map(|(_, to)| to).collect();
    ends.retain(|to| record_type::conversion(held, to, wanted, loss).is_ok());
    let pairs = starts
        .iter()
        .chain([&found])
        .flat_map(|&from| ends.iter().chain([&wanted]).map(move |&to| (from, to)));
    let path = |(from, to): Ends<'_>| transforms.path(&DataType::from(from), &to.into(), len_bytes).ok();
    let paths = pairs.filter_map(|pair| Some((path(pair)?, pair)));
    let paths = paths.filter(|(path, _)| !path.steps.is_empty());
    let (path, pair) = paths.min_by(|(one, _), (other, _)| one.compare(other))?;
    Some(over(held, transforms, path, (found, wanted), pair, loss))
}

/// The way along a path of transforms, from the records' type to the wanted one, with a conversion at an end that needs
/// one.
pub(crate) fn over(
    held: &HeldStep,
    transforms: &Transforms,
    path: TransformPath,
    (found, wanted): Ends<'_>,
    (taken, given): Ends<'_>,
    loss: Loss,
) -> Route {
    let is_one = |name: &str| transforms.native(name).is_some_and(|native| native.is_one_by_one);
    let is_one_by_one = path.steps.iter().all(|(name, ..)| is_one(name));
    // Both are known to exist, as by them the ends of the path were found.
    let between = |from: &RecordSchema, to: &RecordSchema| {
        if from == to { None } else { record_type::conversion(held, from, to, loss).ok() }
    };
    let (first, last) = (between(found, taken), between(given, wanted));
    let (transforms, given) = (transforms.clone(), given.clone());
    Route { transforms, loss, first, path, given, last, is_one_by_one }
}
