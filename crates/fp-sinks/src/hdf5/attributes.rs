//! What is told about files, groups and datasets, as attributes of HDF5.

use fp_core::{AttributeValue, VariableDef};
use hdf5_metno::types::{FixedAscii, TypeDescriptor, VarLenUnicode};
use hdf5_metno::{Dataset, Error, H5Type, Location};

/// The name under which HDF5 keeps the names of dimensions: h5py shows them as `dims[0].label`.
const DIMENSION_LABELS: &str = "DIMENSION_LABELS";

/// Sets an attribute.
pub(crate) fn set(place: &Location, name: &str, value: &AttributeValue) -> Result<(), Error> {
    match value {
        AttributeValue::Bool(value) => one(place, name, value),
        AttributeValue::Integer(value) => one(place, name, value),
        AttributeValue::Unsigned(value) => one(place, name, value),
        AttributeValue::Real(value) => one(place, name, &value.0),
        AttributeValue::Text(value) => one(place, name, &text(value)?),
        AttributeValue::Bytes(values) => list(place, name, values),
        AttributeValue::Integers(values) => list(place, name, values),
        AttributeValue::Reals(values) => {
            list(place, name, &values.iter().map(|value| value.0).collect::<Vec<f64>>())
        }
        AttributeValue::Texts(values) => {
            list(place, name, &values.iter().map(|value| text(value)).collect::<Result<Vec<_>, _>>()?)
        }
    }
}

/// Sets an attribute of one value.
pub(crate) fn one<T: H5Type>(place: &Location, name: &str, value: &T) -> Result<(), Error> {
    place.new_attr::<T>().create(name)?.write_scalar(value)
}

/// Sets an attribute of several values, be it none.
pub(crate) fn list<T: H5Type>(place: &Location, name: &str, values: &[T]) -> Result<(), Error> {
    let attribute = place.new_attr::<T>().shape([values.len()]).create(name)?;
    if values.is_empty() { Ok(()) } else { attribute.write_raw(values) }
}

/// Sets an attribute that is a short text of ASCII of just that length, as VTK wants it.
pub(crate) fn ascii(place: &Location, name: &str, value: &str) -> Result<(), Error> {
    let text = FixedAscii::<32>::from_ascii(value).map_err(|error| Error::from(error.to_string()))?;
    let descriptor = TypeDescriptor::FixedAscii(value.len());
    place.new_attr_builder().empty_as(&descriptor).create(name)?.write_scalar(&text)
}

/// A text as HDF5 keeps it.
pub(crate) fn text(text: &str) -> Result<VarLenUnicode, Error> {
    text.parse().map_err(|_| Error::from(format!("a text has a zero byte, which HDF5 cannot hold: {text:?}")))
}

/// Tells all that is known about a variable. An attribute of its own stands before its unit and description.
pub(crate) fn set_all(place: &Location, def: &VariableDef) -> Result<(), Error> {
    let known = [("units", &def.unit), ("description", &def.description)];
    for (name, value) in known {
        if let Some(value) = value.as_ref().filter(|_| !def.attributes.contains_key(name)) {
            one(place, name, &text(value)?)?;
        }
    }
    def.attributes.iter().try_for_each(|(name, value)| set(place, name, value))
}

/// Tells the names of a dataset's dimensions, if one of them has a name.
pub(crate) fn set_dimensions(dataset: &Dataset, def: &VariableDef) -> Result<(), Error> {
    let names = &def.dimensions;
    if names.len() != dataset.ndim() || names.iter().all(String::is_empty) {
        return Ok(());
    }
    let labels: Result<Vec<VarLenUnicode>, Error> = names.iter().map(|name| text(name)).collect();
    list(dataset, DIMENSION_LABELS, &labels?)
}
