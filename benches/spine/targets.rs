//! Which targets were met before: a run that misses one of them has failed.

use serde_json::Value;

/// What a run says of the targets that were met before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Met before, and missed now.
    pub(crate) fallen: Vec<String>,
    /// Missed before, or unknown, and met now.
    pub(crate) risen: Vec<String>,
}

/// Compares rows with the list of a bench in the file of targets. A row that was not measured says nothing.
///
/// # Errors
/// The file is none, or has no such list.
pub(crate) fn judge(file: &str, bench: &str, rows: &[Value]) -> Result<Judged, String> {
    let all: Value = serde_json::from_str(file).map_err(|error| error.to_string())?;
    let listed = all[bench].as_array().ok_or_else(|| format!("there is no list {bench:?}"))?;
    let mut judged = Judged::default();
    for row in rows {
        let (Some(case), Some(met)) = (row["case"].as_str(), row["met"].as_bool()) else { continue };
        match (listed.iter().any(|name| name == case), met) {
            (true, false) => judged.fallen.push(case.to_owned()),
            (false, true) => judged.risen.push(case.to_owned()),
            (true, true) | (false, false) => {}
        }
    }
    Ok(judged)
}
