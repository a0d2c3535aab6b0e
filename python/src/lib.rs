//! The part of the Python package `flexpath` that is written in Rust: the handles, without element types and without
//! convenience. Everything that numpy knows better is in Python.
//!
//! No lock of a handle is held while the interpreter's is waited for, and every call that may wait gives the
//! interpreter's lock up.

mod attribute;
mod buffer;
mod definition;
mod diagnosis;
mod dtype;
mod error;
mod events;
mod interrupt;
mod judgement;
mod options;
mod pending;
mod publisher;
mod schema;
mod seconds;
mod selection;
mod slot;
mod step;
mod subscriber;
mod values;
mod writer;

use pyo3::prelude::*;

/// Handles without convenience: use the package's own classes.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::buffer::{Loan, Memory};
    #[pymodule_export]
    use crate::definition::Definition;
    #[pymodule_export]
    use crate::diagnosis::{cohort_from_environment, find, limit_process_bytes, main, status, streams};
    #[pymodule_export]
    use crate::pending::{Alarm, Pending};
    #[pymodule_export]
    use crate::publisher::Publisher;
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::step::Step;
    #[pymodule_export]
    use crate::subscriber::Subscriber;
    #[pymodule_export]
    use crate::writer::StepWriter;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
