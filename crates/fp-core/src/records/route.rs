//! The way from the type of a variable's records to the one that is wanted, over registered transforms: those that this
//! process knows, and on which side, where the publisher knows some too.

use super::there::There;
use crate::error::ReadError;
use crate::patience::{Limit, after};
use crate::statistics::Counters;
use crate::step::StepReader;
use fp_transform::{DataType, PathError, Placement, TransformPath, Transforms};
use fp_types::record::{Conversion, Incompatible, Loss, RecordSchema};
use fp_types::{Layout, TableEntry, VariableDef};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long is waited for what a publisher offers where it is not needed.
const PATIENCE: Duration = Duration::from_secs(1);

/// For how many bytes a path is chosen where their number is not known.
const NOMINAL_BYTES: u64 = 1 << 20;

/// A way from one type to another.
pub(super) struct Route {
    pub(super) transforms: Transforms,
    /// What conversions at its ends may do to values.
    pub(super) loss: Loss,
    /// To the type that the first transform takes, if that is another one than the records'.
    pub(super) first: Option<Arc<Conversion>>,
    pub(super) path: TransformPath,
    /// The type that the last transform gives.
    pub(super) given: RecordSchema,
    /// From that to the type that is wanted, if that is another one.
    pub(super) last: Option<Arc<Conversion>>,
    /// Whether each record is made of one alone.
    pub(super) is_one_by_one: bool,
}

/// A way to a type, on one side or the other.
pub(super) enum Way {
    /// Over transforms that this process knows.
    Here(Route),
    /// Over transforms that the publisher offers; and one that is left if these fail, unless they are to be taken.
    There(There, Option<Route>),
}

/// Types between which a path is looked for.
type Ends<'a> = (&'a RecordSchema, &'a RecordSchema);

impl Route {
    /// Whether a transform on it is to run where its result is wanted.
    fn is_for_subscriber(&self) -> bool {
        let native = |name: &str| self.transforms.native(name);
        let is = |name: &str| native(name).is_some_and(|of| of.placement == Placement::Subscriber);
        self.path.steps.iter().any(|(name, ..)| is(name))
    }
}

impl StepReader {
    /// The way to the type that is wanted over transforms that this process knows, or the publisher if that is the side
    /// for it; if the variable's records are of another type and have no conversion to it.
    pub(super) fn way_to(
        &self,
        variable: &str,
        wanted: &RecordSchema,
        loss: Loss,
        limit: Limit<'_>,
    ) -> Result<Option<Way>, ReadError> {
        let shared = self.shared();
        if shared.derived.find(variable).is_some() || shared.options.transformed_variable(variable).is_some()
        {
            return Ok(None);
        }
        self.admit(variable)?;
        let table = self.table(limit.deadline)?;
        let Some(entry) = table.entry(variable).filter(|entry| entry.def.record.is_some()) else {
            return Ok(None);
        };
        shared.types.learn_anyway(wanted);
        let found = self.type_of(&entry.def, None, limit)?;
        if found == *wanted || self.conversion(&found, wanted, loss).is_ok() {
            return Ok(None);
        }
        Ok(self.way(entry, (&found, wanted), loss, limit)?.ok())
    }

    /// The way from one type to another, or why there is none, if any transforms are known at all.
    ///
    /// Where both sides know one, that counts which transforms of either say of their side. Else it is this side's, unless the
    /// publisher's gives the very same in fewer bytes: each record made of one alone, in its place.
    pub(super) fn way(
        &self,
        entry: &TableEntry,
        ends: Ends<'_>,
        loss: Loss,
        limit: Limit<'_>,
    ) -> Result<Result<Way, Option<PathError>>, ReadError> {
        let here = match self.route(ends, expected_bytes(&entry.def, &entry.layout), loss) {
            Some(Ok(route)) => return Ok(Ok(self.better_way(entry, ends, route, loss, limit))),
            Some(Err(error)) => Some(error),
            None => None,
        };
        let there = self.there(entry, ends, loss, limit)?;
        Ok(there.map(|there| Way::There(there, None)).map_err(|error| here.or(error)))
    }

    /// Of a way that this process knows and one of the publisher's the better one.
    fn better_way(
        &self,
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
        match self.there(entry, ends, loss, Limit { deadline, ..limit }) {
            Ok(Ok(there)) if there.is_better(&entry.def) => {
                let left = (!there.is_for_publisher).then_some(route);
                Way::There(there, left)
            }
            _ => Way::Here(route),
        }
    }

    /// The cheapest way for so many bytes; nothing where no transforms are known, or why none leads there.
    fn route(
        &self,
        (found, wanted): Ends<'_>,
        len_bytes: u64,
        loss: Loss,
    ) -> Option<Result<Route, PathError>> {
        let transforms = self.shared().options.transforms.as_ref()?;
        match transforms.path(&found.into(), &wanted.into(), len_bytes) {
            Ok(path) => Some(Ok(self.over(transforms, path, (found, wanted), (found, wanted), loss))),
            Err(error) => Some(self.route_between(transforms, (found, wanted), len_bytes, loss).ok_or(error)),
        }
    }

    /// The cheapest way that begins or ends with a conversion.
    fn route_between(
        &self,
        transforms: &Transforms,
        (found, wanted): Ends<'_>,
        len_bytes: u64,
        loss: Loss,
    ) -> Option<Route> {
        let natives = transforms.registered();
        let known = || natives.iter().filter_map(|native| native.schemas.as_ref());
        let mut starts: Vec<&RecordSchema> = known().map(|(from, _)| from).collect();
        starts.retain(|from| self.conversion(found, from, loss).is_ok());
        let mut ends: Vec<&RecordSchema> = known().map(|(_, to)| to).collect();
        ends.retain(|to| self.conversion(to, wanted, loss).is_ok());
        let pairs = starts
            .iter()
            .chain([&found])
            .flat_map(|&from| ends.iter().chain([&wanted]).map(move |&to| (from, to)));
        let path = |(from, to): Ends<'_>| transforms.path(&DataType::from(from), &to.into(), len_bytes).ok();
        let paths = pairs.filter_map(|pair| Some((path(pair)?, pair)));
        let paths = paths.filter(|(path, _)| !path.steps.is_empty());
        let (path, pair) = paths.min_by(|(one, _), (other, _)| one.compare(other))?;
        Some(self.over(transforms, path, (found, wanted), pair, loss))
    }

    fn over(
        &self,
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
            if from == to { None } else { self.conversion(from, to, loss).ok() }
        };
        let (first, last) = (between(found, taken), between(given, wanted));
        let (transforms, given) = (transforms.clone(), given.clone());
        Route { transforms, loss, first, path, given, last, is_one_by_one }
    }

    /// The conversion from one type to the other; counted if it had to be worked out.
    pub(super) fn conversion(
        &self,
        from: &RecordSchema,
        to: &RecordSchema,
        loss: Loss,
    ) -> Result<Arc<Conversion>, Incompatible> {
        let (conversion, is_new) = self.shared().types.conversion(from, to, loss)?;
        Counters::add(&self.shared().counters.conversions, usize::from(is_new && from != to));
        Ok(conversion)
    }
}

/// The bytes of all fixed parts of a variable.
pub(super) fn expected_bytes(def: &VariableDef, layout: &Layout) -> u64 {
    let size = def.record.as_ref().map_or(1, |record| record.size_bytes);
    layout.shape().map_or(NOMINAL_BYTES, |shape| shape.element_count().saturating_mul(size))
}
