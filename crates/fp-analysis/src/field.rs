//! The array of a step whose features are asked for.

use fp_core::{ArrayKind, Dims, Dtype, Loss, Region, Select, StepReader, VariableInfo, View};

use crate::connectivity::PeriodicDim;
use crate::error::AnalysisError;
use crate::grid::{Grid, GridError, Neighbours};
use crate::options::AnalysisOptions;
use crate::slab::PlaneRange;

/// What a step has of the variable.
pub(crate) enum Found {
    /// The array.
    Array(Grid),
    /// Nothing, in words.
    Nothing(String),
}

/// What a step has of the variable. The same on all ranks.
pub(crate) fn look(step: &StepReader, options: &AnalysisOptions) -> Result<Found, AnalysisError> {
    let name = options.threshold.variable();
    let info = match step.variables() {
        Ok(variables) => variables.into_iter().find(|info| info.def.name == name),
        Err(error) => return Ok(Found::Nothing(error.to_string())),
    };
    let Some(info) = info else {
        return Ok(Found::Nothing(format!("the step has no variable {name:?}")));
    };
    let wrong = |what| AnalysisError::Variable {
        stream: step.stream().to_owned(),
        step: step.step().0,
        variable: name.to_owned(),
        what,
    };
    check_type(&info).map_err(wrong)?;
    let shape = info.shape.map(|shape| shape.dims().as_slice().to_vec()).unwrap_or_default();
    let periodic = periodic(&options.periodic, &info.def.dimensions).map_err(wrong)?;
    let no_grid = |source: GridError| AnalysisError::Grid {
        stream: step.stream().to_owned(),
        step: step.step().0,
        variable: name.to_owned(),
        source,
    };
    // Whether there are features at all is told before which neighbours are meant.
    Grid::new(&shape, Neighbours::Faces, &periodic).map_err(no_grid)?;
    let neighbours = options.connectivity.in_dims(shape.len()).map_err(wrong)?;
    Ok(Found::Array(Grid::new(&shape, neighbours, &periodic).map_err(no_grid)?))
}

fn check_type(info: &VariableInfo) -> Result<(), String> {
    if info.def.kind != ArrayKind::GlobalArray {
        return Err(format!("it is a {}, and features are of global arrays", info.def.kind));
    }
    let is_number = match info.def.dtype {
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => true,
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => true,
        Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64 => true,
        Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::Bytes | Dtype::String => false,
    };
    if is_number && info.def.record.is_none() {
        return Ok(());
    }
    let found = if info.def.record.is_some() { "records".to_owned() } else { info.def.dtype.to_string() };
    Err(format!("its elements are {found}, and features are of integers and reals"))
}

/// The dimensions of those names.
fn periodic(asked: &[PeriodicDim], names: &[String]) -> Result<Vec<usize>, String> {
    let one = |dim: &PeriodicDim| match dim {
        PeriodicDim::Index(dim) => Ok(*dim),
        PeriodicDim::Name(name) => names.iter().position(|known| known == name).ok_or_else(|| {
            let named: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
            let known = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
            format!(
                "it has no dimension {name:?}; names of dimensions are: {known}. Numbers from 0 on will do"
            )
        }),
    };
    asked.iter().map(one).collect()
}

/// The elements of a range of planes, in row-major order: where they lie, if one rank put them so. Otherwise in words why not.
pub(crate) fn elements(
    step: &StepReader,
    variable: &str,
    grid: &Grid,
    slab: PlaneRange,
) -> Result<View<f64>, String> {
    let (mut start, mut count) = (vec![0; grid.ndims()], grid.extents().to_vec());
    (start[0], count[0]) = (slab.first, slab.planes);
    let dims = |of: &[u64]| Dims::from_slice(of).map_err(|error| error.to_string());
    let region = Region::new(dims(&start)?, dims(&count)?).map_err(|error| error.to_string())?;
    let select = Select::from(region).with_conversion(Loss::Allowed);
    step.view::<f64>(variable, select).map_err(|error| error.to_string())
}
