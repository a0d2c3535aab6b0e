//! What streams there are, how their ranks are, and the command.

use crate::error::{OrRaise, misuse};
use crate::interrupt::waiting_beside;
use crate::options;
use crate::schema::Schema;
use crate::seconds::seconds;
use flexpath::diagnosis::status::StatusScope;
use flexpath::{Cohort, Rendezvous};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;

/// The streams and subscriber cohorts of the rendezvous: name, epoch and contact. Nobody is asked whether it is alive.
#[pyfunction]
#[pyo3(signature = (rendezvous=None))]
pub(crate) fn streams(py: Python<'_>, rendezvous: Option<String>) -> PyResult<Vec<(String, String, String)>> {
    let entries = py.detach(|| {
        let place = match rendezvous {
            Some(place) => Rendezvous::at(place),
            None => Rendezvous::from_environment(),
        };
        place.and_then(|place| place.list()).or_raise()
    })?;
    let told =
        |entry: flexpath::rendezvous::Entry| (entry.name, entry.epoch.to_string(), entry.contact.to_string());
    Ok(entries.into_iter().map(told).collect())
}

/// How the ranks of a stream and of its subscribers are, as JSON.
#[pyfunction]
pub(crate) fn status(
    py: Python<'_>,
    stream: &str,
    timeout: f64,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let (stream, options, timeout) = (stream.to_owned(), options::subscriber(options)?, seconds(timeout)?);
    let asked =
        move || flexpath::diagnosis::status::status(&stream, StatusScope::Stream, &options.link, timeout);
    let report = waiting_beside(py, asked)?;
    serde_json::to_string(&report.or_raise()?).map_err(misuse)
}

/// The streams that provide records of a type, and those that do not, each with the reason.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a tuple of Python")]
pub(crate) fn find(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    timeout: f64,
    options: &Bound<'_, PyDict>,
) -> PyResult<(Vec<(String, Vec<String>)>, Vec<(String, String)>)> {
    let (options, timeout, schema) =
        (options::subscriber(options)?, seconds(timeout)?, schema.get().0.clone());
    let asked = move || flexpath::Subscriber::find_schema(&schema, &options, timeout);
    let all = waiting_beside(py, asked)?.or_raise()?;
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for stream in all {
        match stream.provided {
            Ok(provided) => {
                found.push((stream.entry.name, provided.into_iter().map(|of| of.variable).collect()));
            }
            Err(why) => others.push((stream.entry.name, why.to_string())),
        }
    }
    Ok((found, others))
}

/// Bounds the bytes of live steps of all publishers of this process together.
#[pyfunction]
pub(crate) fn limit_process_bytes(len_bytes: u64) {
    flexpath::limit_process_bytes(len_bytes);
}

/// Rank and size, as FLEXPATH_RANK and FLEXPATH_SIZE or the launcher's variables say.
#[pyfunction]
pub(crate) fn cohort_from_environment() -> PyResult<(u32, u32)> {
    let cohort = Cohort::from_environment().or_raise()?;
    Ok((cohort.rank().0, cohort.size()))
}

/// The command `flexpath` with these arguments; gives its status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    // What `bench` and `doctor` start anew, whatever the current folder holds.
    let interpreter: OsString = py.import("sys")?.getattr("executable")?.extract()?;
    let program = vec![interpreter, "-P".into(), "-m".into(), "flexpath".into()];
    Ok(py.detach(|| fp_cli::main_started_by(program, arguments)))
}
