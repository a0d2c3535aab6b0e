//! `flexpath ls`: the streams that are being published, or the steps of files.

use std::time::Duration;

use fp_core::rendezvous::{Entry, Rendezvous, ask_each};
use serde::Serialize;

use crate::arguments::LsOptions;
use crate::credentials::Credentials;
use crate::describe::variables;
use crate::failure::Failure;
use crate::output;
use crate::record_file;
use crate::summary::VariableSummary;

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
    /// Whether it listens on the loopback of another host, where nobody here can ask.
    out_of_reach: bool,
    /// Its variables, where they were asked for and told.
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<Vec<VariableSummary>>,
    /// Why they were not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    untold: Option<String>,
}

/// Lists streams, or steps of files.
pub(crate) fn run(rendezvous: Rendezvous, options: &LsOptions) -> Result<(), Failure> {
    if !options.files.is_empty() {
        return record_file::list(&options.files, options.json);
    }
    let credentials = options.credentials.read()?;
    let rendezvous = &credentials.shown_to(rendezvous)?;
    let lines = lines(rendezvous, options.types.then_some(options.timeout), &credentials)?;
    let lines: Vec<Line> = lines.into_iter().filter(|line| line.alive || options.all).collect();
    output::print(&lines, options.json, |out| {
        if lines.is_empty() {
            eprintln!("no stream is being published in {rendezvous}");
            return Ok(());
        }
        print_table(out, &lines, options.all)
    })
}

/// Every entry, with what variables it has where there is time to ask for them.
fn lines(
    rendezvous: &Rendezvous,
    types: Option<Duration>,
    credentials: &Credentials,
) -> Result<Vec<Line>, Failure> {
    let told = ask_each(rendezvous.list()?, |entry, alive| {
        let timeout = types.filter(|_| alive);
        (alive, timeout.map(|timeout| variables(rendezvous, entry, timeout, credentials)))
    });
    Ok(told.into_iter().map(|(entry, told)| line(&entry, told.unwrap_or((false, None)))).collect())
}

/// The line of an entry.
fn line(entry: &Entry, (alive, told): (bool, Option<Result<Vec<VariableSummary>, String>>)) -> Line {
    let (variables, untold) = match told.transpose() {
        Ok(variables) => (variables, None),
        Err(why) => (None, Some(why)),
    };
    Line {
        stream: entry.name.clone(),
        epoch: entry.epoch.to_string(),
        pid: entry.contact.pid,
        contact: entry.contact.to_string(),
        alive,
        out_of_reach: entry.contact.is_out_of_reach(),
        variables,
        untold,
    }
}

/// Prints columns as wide as they need to be.
fn print_table(out: &mut impl std::io::Write, lines: &[Line], all: bool) -> std::io::Result<()> {
    let width = lines.iter().map(|line| line.stream.chars().count()).max().unwrap_or(0).max(6);
    writeln!(out, "{:width$}  {:>8}  epoch", "stream", "pid")?;
    for line in lines {
        let state = match (all && !line.alive, line.out_of_reach) {
            (true, false) => "  (nobody answers: left behind)",
            (true, true) => "  (of another host, and listens there on loopback alone: give it Listen)",
            (false, _) => "",
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
            out_of_reach: stream == "far",
            variables: None,
            untold: None,
        };
        let mut out = Vec::new();
        print_table(&mut out, &[line("heat", true), line("a.long.name", false), line("far", false)], true)
            .unwrap();
        let expected = "stream            pid  epoch\n\
                        heat               42  0f\n\
                        a.long.name        42  0f  (nobody answers: left behind)\n\
                        far                42  0f  (of another host, and listens there on loopback alone: give it \
                        Listen)\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
