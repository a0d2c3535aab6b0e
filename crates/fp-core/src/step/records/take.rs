//! The selected records in the type that is wanted: as they are, converted, or through transforms.

use crate::error::ReadError;
use crate::records::set::RecordSet;
use crate::step::held::HeldStep;
use crate::step::records::matched::may_be_of_type;
use crate::step::records::route::Way;
use crate::step::records::{made_by_owner, route, taken, through};
use crate::step::request::RecordRequest;
use crate::value::view::View;
use bytemuck::Pod;
use fp_types::record::RecordSchema;
use std::sync::Arc;

/// A view of a copy of the records, in memory that is aligned for `T`.
pub(crate) fn view_of<T: Pod>(held: &Arc<HeldStep>, set: &RecordSet) -> View<T> {
    let mut records = vec![T::zeroed(); set.count()];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut records);
    bytes.copy_from_slice(set.as_bytes());
    View::of_vec(records, *set.shape(), held.hold())
}

/// The selected records in the wanted type, or in the publisher's if none is wanted. The reader's calls for records end
/// here.
pub(crate) fn take_records(held: &Arc<HeldStep>, request: RecordRequest<'_>) -> Result<RecordSet, ReadError> {
    if let Some(set) = by_transforms(held, request)? {
        return Ok(set);
    }
    taken::take_as_put(held, request).or_else(|error| or_there(held, request, error))
}

/// What the publisher's transforms make of records that have no conversion to the type that is wanted, if they can.
pub(crate) fn or_there(
    held: &Arc<HeldStep>,
    request: RecordRequest<'_>,
    error: ReadError,
) -> Result<RecordSet, ReadError> {
    match request.wanted.filter(|_| may_be_of_type(&error)) {
        Some(wanted) => by_ways(held, request, wanted)?.ok_or(error),
        None => Err(error),
    }
}

/// The selected records through registered transforms, if these lead to the type that is wanted and nothing shorter
/// does.
pub(crate) fn by_transforms(
    held: &Arc<HeldStep>,
    request: RecordRequest<'_>,
) -> Result<Option<RecordSet>, ReadError> {
    match request.wanted.filter(|_| held.shared.options.transforms.is_some()) {
        Some(wanted) => by_ways(held, request, wanted),
        // Those of the publisher are looked for when nothing else leads there.
        None => Ok(None),
    }
}

/// The selected records over transforms of either side; `None` if they need no transform or none leads there.
pub(crate) fn by_ways(
    held: &Arc<HeldStep>,
    request: RecordRequest<'_>,
    wanted: &RecordSchema,
) -> Result<Option<RecordSet>, ReadError> {
    let set = match route::way_to(held, request, wanted)? {
        None => return Ok(None),
        Some(Way::Here(route)) => through::through(held, request, wanted, &route),
        Some(Way::There(there, left)) => match (made_by_owner::made_there(held, request, &there), left) {
            (Err(ReadError::NotTransformed { .. }), Some(route)) => {
                through::through(held, request, wanted, &route)
            }
            (made, _) => made,
        },
    };
    set.map(Some)
}
