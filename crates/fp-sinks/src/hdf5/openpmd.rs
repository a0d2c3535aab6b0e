//! Steps of openPMD: one file an iteration, as openPMD writes it to HDF5.
//!
//! The dots of variables' names stand for the slashes of openPMD: `meshes.E.x` is the component `x` of the record `E`.

use std::collections::BTreeSet;

use fp_core::{ArrayKind, AttributeValue, Dtype, VariableDef};
use hdf5_metno::{Error, Location};

use crate::error::SinkError;
use crate::hdf5::draft::Draft;
use crate::hdf5::shares::Shares;
use crate::hdf5::{attributes, plain};
use crate::taken_step::{TakenStep, TakenVariable};

/// Scalars that are attributes of the iteration. From openPMD 1.1.0, Required Attributes for each Iteration.
const OF_ITERATION: [&str; 3] = ["time", "dt", "timeUnitSI"];
/// What a record has and its components have not. From openPMD 1.1.0, Mesh Based Records and Particle Records.
const OF_RECORD: [&str; 11] = [
    "geometry",
    "geometryParameters",
    "dataOrder",
    "axisLabels",
    "gridSpacing",
    "gridGlobalOffset",
    "gridUnitSI",
    "unitDimension",
    "timeOffset",
    "macroWeighted",
    "weightingPower",
];

/// A step that is one of openPMD.
pub(super) struct OpenPmd<'a> {
    pattern: &'a str,
    /// Where meshes and particles are within the iteration, each with how the names of their variables begin.
    paths: [Option<(String, String)>; 2],
}

/// Where a variable goes.
struct Component {
    /// The group of its record, which is none if the record has no components.
    record: Option<String>,
    path: String,
}

impl<'a> OpenPmd<'a> {
    /// A step that says that it is one of openPMD.
    pub(super) fn of(step: &TakenStep, pattern: &'a str) -> Option<Self> {
        text(step, "openPMD")?;
        let path = |name| {
            let path = text(step, name)?.trim_matches('/');
            Some((format!("data/{}/{path}", step.step), format!("{}.", path.replace('/', "."))))
        };
        Some(Self { pattern, paths: [path("meshesPath"), path("particlesPath")] })
    }

    pub(super) fn lay_out(
        &self,
        step: &TakenStep,
        draft: &mut Draft,
        shares: &mut Shares,
    ) -> Result<(), SinkError> {
        let file = draft.path().to_owned();
        self.root(draft).map_err(SinkError::format(&file))?;
        let mut records = BTreeSet::new();
        for (number, variable) in step.variables.iter().enumerate() {
            let made = match self.component(&variable.def.name) {
                Some(component) => component.lay_out((number, variable), draft, shares, &mut records),
                None => beside((number, variable), step, draft, shares),
            };
            made.map_err(|why| plain::refused(step, variable, &why))?;
        }
        Ok(())
    }

    /// What says how iterations are spread over files.
    fn root(&self, draft: &Draft) -> Result<(), Error> {
        let known = [
            ("basePath", "/data/%T/"),
            ("iterationEncoding", "fileBased"),
            ("iterationFormat", self.pattern),
        ];
        let root = draft.group("")?;
        known.iter().try_for_each(|(name, value)| attributes::one(&root, name, &attributes::text(value)?))
    }

    /// Where a variable of a mesh or of particles goes.
    fn component(&self, name: &str) -> Option<Component> {
        let [meshes, particles] = &self.paths;
        for (path, of_record) in [(meshes, 1), (particles, 2)] {
            let Some((folder, beginning)) = path else { continue };
            let Some(rest) = name.strip_prefix(beginning.as_str()) else { continue };
            let parts: Vec<&str> = rest.split('.').collect();
            let record = parts.get(..of_record).filter(|_| parts.len() > of_record);
            return Some(Component {
                record: record.map(|record| format!("{folder}/{}", record.join("/"))),
                path: format!("{folder}/{}", parts.join("/")),
            });
        }
        None
    }
}

impl Component {
    fn lay_out(
        &self,
        (number, variable): (usize, &TakenVariable),
        draft: &mut Draft,
        shares: &mut Shares,
        records: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let told = |error: Error| format!("HDF5 says: {error}");
        let (of_record, own) = divided(&variable.def);
        let place = if variable.def.kind == ArrayKind::Scalar {
            // A component of one value is a group without data.
            let group = draft.group(&self.path).map_err(told)?;
            value(&group, "value", variable).map_err(told)?;
            Location::clone(&group)
        } else {
            plain::lay_out_variable((number, variable), &self.path, draft, shares)?
        };
        attributes::set_all(&place, &own).map_err(told)?;
        match &self.record {
            None => attributes::set_all(&place, &of_record).map_err(told),
            Some(record) if records.insert(record.clone()) => {
                let group = draft.group(record).map_err(told)?;
                attributes::set_all(&group, &of_record).map_err(told)
            }
            Some(_) => Ok(()),
        }
    }
}

/// What a variable tells of its record, and what of itself. Whatever its order was, HDF5 has it in that of C.
fn divided(def: &VariableDef) -> (VariableDef, VariableDef) {
    let (mut of_record, mut own) = (def.clone(), def.clone());
    (of_record.unit, of_record.description) = (None, None);
    of_record.attributes.retain(|name, _| OF_RECORD.contains(&name.as_str()));
    own.attributes.retain(|name, _| !OF_RECORD.contains(&name.as_str()));
    if let Some(order) = of_record.attributes.get_mut("dataOrder") {
        *order = AttributeValue::from("C");
    }
    (of_record, own)
}

/// What is neither mesh nor particles: scalars are attributes of the iteration or of the root.
fn beside(
    (number, variable): (usize, &TakenVariable),
    step: &TakenStep,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<(), String> {
    let told = |error: Error| format!("HDF5 says: {error}");
    let name = variable.def.name.as_str();
    if variable.def.kind != ArrayKind::Scalar {
        let place = plain::lay_out_variable((number, variable), name, draft, shares)?;
        return attributes::set_all(&place, &variable.def).map_err(told);
    }
    let is_own = ["basePath", "iterationEncoding", "iterationFormat", "stream", "step"].contains(&name);
    let iteration = format!("data/{}", step.step);
    let path = if OF_ITERATION.contains(&name) { iteration.as_str() } else { "" };
    let group = draft.group(path).map_err(told)?;
    if is_own { Ok(()) } else { value(&group, name, variable).map_err(told) }
}

/// Sets an attribute to the value of a scalar, in its own type.
fn value(place: &Location, name: &str, variable: &TakenVariable) -> Result<(), Error> {
    let bytes = variable.value.as_deref().unwrap_or_default();
    /// The value as that type of Rust.
    macro_rules! number {
        ($type:ty) => {
            match bytemuck::try_pod_read_unaligned::<$type>(bytes) {
                Ok(number) => attributes::one(place, name, &number),
                Err(error) => Err(Error::from(error.to_string())),
            }
        };
    }
    match variable.def.dtype {
        Dtype::I8 => number!(i8),
        Dtype::I16 => number!(i16),
        Dtype::I32 => number!(i32),
        Dtype::I64 => number!(i64),
        Dtype::U8 | Dtype::Bool => number!(u8),
        Dtype::U16 => number!(u16),
        Dtype::U32 => number!(u32),
        Dtype::U64 => number!(u64),
        Dtype::F32 => number!(f32),
        Dtype::F64 => number!(f64),
        Dtype::String => {
            let value = std::str::from_utf8(bytes).map_err(|error| Error::from(error.to_string()))?;
            attributes::one(place, name, &attributes::text(value)?)
        }
        dtype @ (Dtype::F16 | Dtype::BF16 | Dtype::C32 | Dtype::C64 | Dtype::Bytes) => {
            Err(Error::from(format!("an attribute of {dtype} is nothing that openPMD has")))
        }
    }
}

/// The text scalar of that name.
fn text<'s>(step: &'s TakenStep, name: &str) -> Option<&'s str> {
    let found = step.variables.iter().find(|variable| variable.def.name == name)?;
    let bytes = found.value.as_deref().filter(|_| found.def.dtype == Dtype::String)?;
    std::str::from_utf8(bytes).ok()
}
