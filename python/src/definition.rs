//! Variables as publishers define them.

use crate::attribute;
use crate::dtype;
use crate::error::{OrRaise, misuse};
use crate::schema::Schema;
use crate::selection::order;
use flexpath::{ArrayKind, MemoryOrder, Variable, VariableDef, VariableInfo, VariableOrigin};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A variable as a publisher defines it.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Definition {
    def: VariableDef,
    /// None of local arrays.
    shape: Option<Vec<u64>>,
    /// What is put by it; none of what a step merely lists.
    variable: Option<Variable>,
}

impl Definition {
    /// What a step says of one of its variables.
    pub(crate) fn of_step(info: VariableInfo) -> Self {
        Self { shape: info.shape.map(|shape| shape.dims().to_vec()), def: info.def, variable: None }
    }

    /// The same, to be put on another stream.
    pub(crate) fn with_variable(self, variable: Variable) -> Self {
        Self { variable: Some(variable), ..self }
    }

    /// What is put by it.
    pub(crate) fn variable(&self) -> PyResult<&Variable> {
        let name = &self.def.name;
        self.variable.as_ref().ok_or_else(|| {
            misuse(format!("variable {name:?}: ask for it by `step.definition(name)` to put it"))
        })
    }
}

fn origin_name(origin: &VariableOrigin) -> &'static str {
    match origin {
        VariableOrigin::Put => "put",
        VariableOrigin::Derived => "derived",
        VariableOrigin::Failed => "failed",
        VariableOrigin::Made => "made",
    }
}

fn kind_name(kind: ArrayKind) -> &'static str {
    match kind {
        ArrayKind::Scalar => "scalar",
        ArrayKind::LocalScalar => "local_scalar",
        ArrayKind::GlobalArray => "global",
        ArrayKind::LocalArray => "local",
        ArrayKind::JoinedArray { .. } => "joined",
    }
}

/// One of that kind; shape and number of dimensions are those that `shape` says.
fn of_kind(name: &str, kind: &str, shape: &[u64]) -> PyResult<Variable> {
    match kind {
        "scalar" => Variable::scalar::<u8>(name),
        "local_scalar" => Variable::local_scalar::<u8>(name),
        "global" => Variable::global::<u8>(name, shape),
        "local" => Variable::local::<u8>(name, shape.len()),
        "joined" => Variable::joined::<u8>(name, shape.get(1..).unwrap_or_default()),
        other => return Err(misuse(format!("variable {name:?}: there is no kind {other:?}"))),
    }
    .or_raise()
}

fn of_records(name: &str, kind: &str, shape: &[u64], schema: &Schema) -> PyResult<Variable> {
    let schema = &schema.0;
    match kind {
        "scalar" => Variable::record(name, schema),
        "local_scalar" => Variable::local_record(name, schema),
        "global" => Variable::global_records(name, schema, shape),
        "local" => Variable::local_records(name, schema, shape.len()),
        "joined" => Variable::joined_records(name, schema, shape.get(1..).unwrap_or_default()),
        other => return Err(misuse(format!("variable {name:?}: there is no kind {other:?}"))),
    }
    .or_raise()
}

#[pymethods]
impl Definition {
    #[new]
    #[pyo3(signature = (name, kind, dtype, shape=vec![], *, column_major=false, unit=None, description=None,
        attributes=None, dimensions=vec![], records=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        name: &str,
        kind: &str,
        dtype: &str,
        shape: Vec<u64>,
        column_major: bool,
        unit: Option<String>,
        description: Option<String>,
        attributes: Option<&Bound<'_, PyDict>>,
        dimensions: Vec<String>,
        records: Option<&Schema>,
    ) -> PyResult<Self> {
        let mut variable = match records {
            Some(schema) => of_records(name, kind, &shape, schema)?,
            None => of_kind(name, kind, &shape)?.with_dtype(dtype::named(dtype)?).or_raise()?,
        };
        variable = variable.with_order(order(column_major));
        variable = unit.into_iter().fold(variable, Variable::with_unit);
        variable = description.into_iter().fold(variable, Variable::with_description);
        if !dimensions.is_empty() {
            variable = variable.with_dimensions(&dimensions.iter().map(String::as_str).collect::<Vec<_>>());
        }
        for (key, value) in attributes.into_iter().flatten() {
            let key: String = key.extract()?;
            let value = attribute::given(&value)
                .map_err(|error| misuse(format!("variable {name:?}: attribute {key:?}: {error}")))?;
            variable = variable.with_attribute(key, value);
        }
        let shape = (kind != "local").then_some(shape);
        Ok(Self { def: variable.definition().clone(), shape, variable: Some(variable) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.def.name
    }

    #[getter]
    fn kind(&self) -> &'static str {
        kind_name(self.def.kind)
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        let definition = &self.def;
        if definition.record.is_some() { "record" } else { definition.dtype.name() }
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.shape.as_ref().map(|shape| PyTuple::new(py, shape)).transpose()
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.def.ndims()
    }

    #[getter]
    fn column_major(&self) -> bool {
        self.def.order == MemoryOrder::ColumnMajor
    }

    #[getter]
    fn unit(&self) -> Option<&str> {
        self.def.unit.as_deref()
    }

    #[getter]
    fn description(&self) -> Option<&str> {
        self.def.description.as_deref()
    }

    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, value) in &self.def.attributes {
            all.set_item(name, attribute::told(py, value)?)?;
        }
        Ok(all)
    }

    #[getter]
    fn dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.def.dimensions)
    }

    #[getter]
    fn origin(&self) -> &'static str {
        origin_name(&self.def.origin)
    }

    #[getter]
    fn records(&self) -> Option<Schema> {
        self.variable.as_ref()?.records().cloned().map(Schema)
    }
}
