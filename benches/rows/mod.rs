//! What a bench found, for a program: a line of JSON for each row, appended to the file that `FLEXPATH_BENCH_ROWS` names.
//! `scripts/bench/record.py` names one.

use std::io::Write as _;

/// A figure of a row, or what it is of.
pub(crate) enum Figure<'a> {
    /// A text without control characters.
    Text(&'a str),
    /// A number; none where it is not finite.
    Number(f64),
    /// Whether a target was met.
    Met(bool),
}

/// Keeps a row, if anybody wants it.
pub(crate) fn keep(row: &[(&str, Figure<'_>)]) {
    let Some(path) = std::env::var_os("FLEXPATH_BENCH_ROWS") else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    let kept = file.and_then(|mut file| writeln!(file, "{}", line(row)));
    kept.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// A row as JSON.
pub(crate) fn line(row: &[(&str, Figure<'_>)]) -> String {
    let figures = row.iter().map(|(name, figure)| {
        let figure = match figure {
            Figure::Text(text) => quoted(text),
            Figure::Number(number) if number.is_finite() => number.to_string(),
            Figure::Number(_) => "null".to_owned(),
            Figure::Met(met) => met.to_string(),
        };
        format!("{}: {figure}", quoted(name))
    });
    format!("{{{}}}", figures.collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
