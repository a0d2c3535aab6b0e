//! Files of steps, as `flexpath record` and `flexpath stage` write them: what is in them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use fp_core::{Rank, StepId};
use fp_spool::{Entry, Spool, StoredStep};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::summary::VariableSummary;

/// A step of a file.
#[derive(Debug, Serialize)]
struct Line {
    /// The file.
    file: PathBuf,
    /// The stream that it was of.
    stream: String,
    /// The epoch of its publisher.
    epoch: String,
    /// Its number in that epoch.
    step: u64,
    /// When it was taken, in seconds since the beginning of 1970 UTC.
    taken: f64,
    /// How many ranks have blocks in it.
    ranks: usize,
    /// How many blocks it has.
    blocks: usize,
    /// What it takes in the file.
    bytes: u64,
    /// The names of its variables.
    variables: Vec<String>,
}

/// Whether a text is the path of a file of steps, and no stream's name: it has a `/`, or ends in `.fpsr`.
pub(crate) fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".fpsr")
}

/// Lists the steps of files. One that cannot be read keeps none of the others from being listed.
pub(crate) fn list(files: &[PathBuf], json: bool) -> Result<(), Failure> {
    let (mut lines, mut failures) = (Vec::new(), Vec::new());
    for file in files {
        let listed = list_file(file, &mut |line| match json {
            true => Ok(lines.push(line)),
            false => Ok(print(&line, files.len() > 1)?),
        });
        match listed {
            // Nobody reads it any more.
            Err(failure @ Failure::Output(_)) => return Err(failure),
            Err(failure) => failures.push(failure),
            Ok(()) => {}
        }
    }
    if json {
        output::print(&lines, true, |_| Ok(()))?;
    }
    // The last one is told as the command ends.
    let last = failures.pop();
    failures.iter().for_each(|failure| eprintln!("flexpath: {failure}"));
    last.map_or(Ok(()), Err)
}

fn list_file(file: &Path, tell: &mut dyn FnMut(Line) -> Result<(), Failure>) -> Result<(), Failure> {
    if !file.exists() && !is_path(&file.to_string_lossy()) {
        let name = file.display();
        let why = format!("there is no file {name}; of a stream `flexpath describe {name}` tells more");
        return Err(Failure::Usage(why));
    }
    let spool = Spool::open(file)?;
    for entry in spool.entries() {
        tell(line(file, entry, &spool.step(entry)?))?;
    }
    tell_torn(&spool, file)
}

fn print(line: &Line, names_file: bool) -> std::io::Result<()> {
    let Line { file, stream, epoch, step, ranks, blocks, bytes, variables, .. } = line;
    let mut out = std::io::stdout().lock();
    if names_file {
        write!(out, "{}: ", file.display())?;
    }
    let (ranks, blocks) = (counted(*ranks, "rank"), counted(*blocks, "block"));
    let names = variables.join(", ");
    writeln!(out, "step {step} of {stream:?}: {blocks} of {ranks}, {bytes} bytes, epoch {epoch}: {names}")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn line(file: &Path, entry: &Entry, step: &StoredStep) -> Line {
    let mut ranks: Vec<Rank> = step.blocks.iter().map(|block| block.head.block.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    Line {
        file: file.to_owned(),
        stream: step.head.stream.clone(),
        epoch: step.head.epoch.to_string(),
        step: step.head.step.0,
        taken: step.head.taken.as_secs_f64(),
        ranks: ranks.len(),
        blocks: step.blocks.len(),
        bytes: entry.len_bytes,
        variables: step.head.variables.iter().map(|variable| variable.def.name.clone()).collect(),
    }
}

/// The step of that number, the last that was written of it, or the first step of the file.
pub(crate) fn step(file: &Path, number: Option<u64>) -> Result<StoredStep, Failure> {
    let spool = Spool::open(file)?;
    let mut entries = spool.entries().iter();
    let found = match number {
        Some(number) => entries.rfind(|entry| entry.step == StepId(number)),
        None => entries.next(),
    };
    match found {
        Some(entry) => Ok(spool.step(entry)?),
        None => Err(spool.damaged().map_or_else(|| no_such_step(&spool, file), Failure::from)),
    }
}

/// A file has none of the steps that were asked for.
pub(crate) fn no_such_step(spool: &Spool, file: &Path) -> Failure {
    let known = spool.entries().iter().map(|entry| entry.step.0);
    let known = known.clone().min().zip(known.max());
    let there = known.map_or("it has none".to_owned(), |(low, high)| format!("it has {low} to {high}"));
    Failure::Usage(format!("{}: no such step: {there}", file.display()))
}

/// The variables of a step.
pub(crate) fn variables(step: &StoredStep) -> Vec<VariableSummary> {
    step.head.variables.iter().map(|of| VariableSummary::stored(&step.head, of)).collect()
}

/// Says what follows the last whole step of a file, if something does; damage is an error.
pub(crate) fn tell_torn(spool: &Spool, file: &Path) -> Result<(), Failure> {
    if let Some(torn) = spool.torn().filter(|torn| torn.is_unfinished()) {
        eprintln!(
            "flexpath: {}: the step that begins at byte {} was not finished, and is left out",
            file.display(),
            torn.offset
        );
    }
    spool.damaged().map_or(Ok(()), |damaged| Err(damaged.into()))
}
