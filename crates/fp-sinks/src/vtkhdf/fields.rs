//! Values on meshes: one number at each place, or a vector.

use fp_conventions::MeshField;
use fp_core::{Dims, Dtype, Region};
use hdf5_metno::types::TypeDescriptor;

use crate::error::SinkError;
use crate::hdf5::placed_file::{Component, Place};
use crate::hdf5::plain::refused;
use crate::hdf5::types;
use crate::taken_step::{TakenStep, TakenVariable};

/// What each component of a field is: a variable, and the number of its first dimension if that counts components.
pub(super) type Components = Vec<(usize, Option<u64>)>;

/// A field, and how it is written.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) components: Components,
    pub(super) descriptor: TypeDescriptor,
    /// The bytes of one component.
    pub(super) size: usize,
}

impl Field {
    /// Finds the variables of a field.
    pub(super) fn of(step: &TakenStep, field: &MeshField) -> Result<Self, SinkError> {
        let mut components = Components::new();
        for name in &field.variables {
            let (number, variable) = find(step, name)?;
            let shape = variable.shape.filter(|_| field.has_component_dimension);
            match shape.and_then(|shape| shape.dims().first().copied()) {
                Some(count) => components.extend((0..count).map(|component| (number, Some(component)))),
                None => components.push((number, None)),
            }
        }
        let name = field.name.clone();
        Self::of_components(step, name, components)
    }

    /// A field of these components, which have one type.
    pub(super) fn of_components(
        step: &TakenStep,
        name: String,
        components: Components,
    ) -> Result<Self, SinkError> {
        let mut found = None;
        for (number, _) in &components {
            let variable = &step.variables[*number];
            let own = number_type(variable).map_err(|why| refused(step, variable, &why))?;
            if found.as_ref().is_some_and(|other| *other != own) {
                let why = format!("it has another type than the other components of {name:?}");
                return Err(refused(step, variable, &why));
            }
            found = Some(own);
        }
        let (descriptor, size) = found.unwrap_or((TypeDescriptor::Boolean, 0));
        Ok(Self { name, components, descriptor, size })
    }

    /// The extent of its dataset: one more where it has vectors.
    pub(super) fn shape(&self, places: &[u64]) -> Vec<u64> {
        let count = self.components.len() as u64;
        places.iter().copied().chain((count > 1).then_some(count)).collect()
    }

    /// Where each component of a region goes whose values begin at that byte, with its variable.
    pub(super) fn places(&self, offset: u64, region: &Region) -> Vec<(usize, Place)> {
        let count = self.components.len();
        let place = |(number, (variable, component)): (usize, &(usize, Option<u64>))| {
            let component = component.map_or(Some(*region), |component| of_component(region, component))?;
            let woven = Component { vectors: offset, number, count, coming: count };
            let component_of = (count > 1).then_some(woven);
            Some((*variable, Place { offset, region: component, size: self.size, component: component_of }))
        };
        self.components.iter().enumerate().filter_map(place).collect()
    }
}

/// The region of one component of a variable whose first dimension counts them.
pub(super) fn of_component(region: &Region, component: u64) -> Option<Region> {
    let with = |first: u64, rest: &Dims| {
        let all: Vec<u64> = std::iter::once(first).chain(rest.iter().copied()).collect();
        Dims::from_slice(&all).ok()
    };
    Region::new(with(component, region.start())?, with(1, region.count())?).ok()
}

/// The variable of that name, and its number.
pub(super) fn find<'s>(step: &'s TakenStep, name: &str) -> Result<(usize, &'s TakenVariable), SinkError> {
    let found = step.variables.iter().enumerate().find(|(_, variable)| variable.def.name == name);
    found.ok_or_else(|| SinkError::Variable {
        step: step.step,
        variable: name.to_owned(),
        why: "the mesh needs it, and it is not there; name it with --variables too".to_owned(),
    })
}

/// Numbers are all that VTK has.
fn number_type(variable: &TakenVariable) -> Result<(TypeDescriptor, usize), String> {
    match variable.dtype {
        Dtype::F16 | Dtype::BF16 => {
            Err(format!("VTK has no {}: write it as f32 with --cast f32", variable.dtype))
        }
        Dtype::C32 | Dtype::C64 | Dtype::String | Dtype::Bytes => {
            Err(format!("VTK has no {}", variable.dtype))
        }
        Dtype::I8
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::F32
        | Dtype::F64
        | Dtype::Bool => types::of(variable),
    }
}
