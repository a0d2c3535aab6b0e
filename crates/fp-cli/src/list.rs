//! `flexpath ls`: the streams that are being published.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use fp_core::rendezvous::{Entry, Rendezvous};
use serde::Serialize;

use crate::arguments::LsOptions;
use crate::describe::variables;
use crate::failure::Failure;
use crate::summary::VariableSummary;

/// How long an entry may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A line of the list.
#[derive(Debug, Serialize)]
struct Line {
    /// The stream's name.
    stream: String,
    /// This opening of it.
    epoch: String,
    /// The process of its lead.
    pid: u32,
    /// Where its lead is.
    contact: String,
    /// Whether it answers.
    alive: bool,
    /// Its variables, where they were asked for and told.
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<Vec<VariableSummary>>,
    /// Why they were not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    untold: Option<String>,
}

/// Lists streams.
pub(crate) fn run(rendezvous: &Rendezvous, options: &LsOptions) -> Result<(), Failure> {
    let lines = lines(rendezvous, options.types.then_some(options.timeout));
    let lines: Vec<Line> = lines.into_iter().filter(|line| line.alive || options.all).collect();
    let mut out = std::io::stdout().lock();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &lines)?;
        writeln!(out)?;
    } else if lines.is_empty() {
        eprintln!("no stream is being published in {}", rendezvous.directory().display());
    } else {
        print_table(&mut out, &lines, options.all)?;
    }
    Ok(out.flush()?)
}

/// The names of the streams that answer.
pub(crate) fn alive(rendezvous: &Rendezvous) -> Vec<String> {
    lines(rendezvous, None).into_iter().filter(|line| line.alive).map(|line| line.stream).collect()
}

/// The files of entries behind which nobody answers, and how many entries there are.
pub(crate) fn stale(rendezvous: &Rendezvous) -> (Vec<String>, usize) {
    let lines = lines(rendezvous, None);
    let stale = lines.iter().filter(|line| !line.alive);
    (stale.map(|line| format!("{}.{}", line.stream, line.epoch)).collect(), lines.len())
}

/// Every entry, each asked whether it is alive, and what variables it has where there is time for that; all at once, so
/// that a silent one holds nothing up.
fn lines(rendezvous: &Rendezvous, types: Option<Duration>) -> Vec<Line> {
    let entries = rendezvous.entries();
    thread::scope(|scope| {
        let asked = entries.iter().map(|entry| scope.spawn(move || asked(rendezvous, entry, types)));
        let asked: Vec<_> = asked.collect();
        let line = |(entry, asked): (_, thread::ScopedJoinHandle<'_, Line>)| {
            asked.join().unwrap_or_else(|_| line(entry, false))
        };
        entries.iter().zip(asked).map(line).collect()
    })
}

/// What is found out about an entry.
fn asked(rendezvous: &Rendezvous, entry: &Entry, types: Option<Duration>) -> Line {
    let line = line(entry, entry.answers(PATIENCE));
    match types.filter(|_| line.alive).map(|timeout| variables(rendezvous, entry, timeout)) {
        None => line,
        Some(Ok(variables)) => Line { variables: Some(variables), ..line },
        Some(Err(why)) => Line { untold: Some(why), ..line },
    }
}

/// The line of an entry.
fn line(entry: &Entry, alive: bool) -> Line {
    Line {
        stream: entry.name.clone(),
        epoch: entry.epoch.to_string(),
        pid: entry.contact.pid,
        contact: entry.contact.to_string(),
        alive,
        variables: None,
        untold: None,
    }
}

/// Prints columns as wide as they need to be.
fn print_table(out: &mut impl std::io::Write, lines: &[Line], all: bool) -> std::io::Result<()> {
    let width = lines.iter().map(|line| line.stream.chars().count()).max().unwrap_or(0).max(6);
    writeln!(out, "{:width$}  {:>8}  epoch", "stream", "pid")?;
    for line in lines {
        let state = match (all, line.alive) {
            (true, false) => "  (nobody answers: left behind)",
            _ => "",
        };
        writeln!(out, "{:width$}  {:>8}  {}{state}", line.stream, line.pid, line.epoch)?;
        for variable in line.variables.iter().flatten() {
            writeln!(out, "  {}", variable.full())?;
        }
        if let Some(why) = &line.untold {
            writeln!(out, "  ({why})")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_dead_are_marked() {
        let line = |stream: &str, alive| Line {
            stream: stream.into(),
            epoch: "0f".into(),
            pid: 42,
            contact: String::new(),
            alive,
            variables: None,
            untold: None,
        };
        let mut out = Vec::new();
        print_table(&mut out, &[line("heat", true), line("a.long.name", false)], true).unwrap();
        let expected = "stream            pid  epoch\n\
                        heat               42  0f\n\
                        a.long.name        42  0f  (nobody answers: left behind)\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
