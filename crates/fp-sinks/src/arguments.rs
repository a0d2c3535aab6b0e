//! What `flexpath tee` is told.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use fp_cli::{CredentialOptions, seconds, start_at};
use fp_core::{Condition, Dtype, ParseConditionError, StartAt};

use crate::target::Target;

/// What `--help` says at the end.
const AFTER: &str = "\
  flexpath tee sim --to zarr:run.zarr --ranks 4                         one store; every step is one more along `step`
  flexpath tee sim --to zarr:s3://runs/run.zarr                         the same in a bucket; the AWS_* variables say whose
  flexpath tee sim --to hdf5:run_%06T.h5                                one file a step, of that name when it is whole
  flexpath tee sim --to zarr:plot.zarr --variables rho,vx --cast f32 --every 10
  flexpath tee sim --to hdf5:hot_%06T.h5 --when 'max(T) > 900'          those steps alone that are so
  flexpath tee sim --to parquet:hits_%T.parquet --variables hits        records and joined arrays as tables
  flexpath tee sim --to savime:db:65000 --cast f32                      arrays by step in an array database
  flexpath tee sim --to savime:db:65000 --after 'aggregate(sim_rho, max, rho, m, step);'    and what that says, as JSON
  flexpath tee sim --to zarr:run.zarr --append                          goes on behind the last step of the store

Exit status: 0 all went well, 1 something failed (the message says what), 2 wrong usage.
A step is in the target whole, or not at all, whenever this is killed. docs/sinks.md has the two exceptions.";

/// Writes the steps of a stream as files that others read, as they come.
#[derive(Debug, Parser)]
#[command(name = "flexpath tee", version, after_help = AFTER)]
pub(crate) struct Arguments {
    /// Where streams are found: a directory, or the tcp://HOST:PORT of `flexpath meet` [default: FLEXPATH_RENDEZVOUS,
    /// else flexpath in the runtime directory, else one in the temporary directory for this user alone]
    #[arg(long, value_name = "PLACE")]
    pub(crate) rendezvous: Option<PathBuf>,
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// What is written, and where: zarr:FOLDER, zarr:s3://BUCKET/PREFIX, hdf5:FILE, vtkhdf:FILE, parquet:FILE or
    /// savime:HOST:PORT. In the name of a FILE %T stands for the step's number, and %06T for six digits of it. In that of a Parquet file %V stands
    /// for the first variable of a table, where steps have several tables
    #[arg(long, value_name = "KIND:PLACE")]
    pub(crate) to: Target,
    /// These variables alone
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) variables: Vec<String>,
    /// Real numbers of arrays are written as this type, be it less precise: f32 or f64
    #[arg(long, value_name = "TYPE", value_parser = real)]
    pub(crate) cast: Option<Dtype>,
    /// How arrays are compressed [default: none]: those of a Zarr store by zstd, and those of HDF5 files by gzip. Parquet
    /// files are compressed as they are; other targets have no compression
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) compress: Option<Compression>,
    /// Writes only steps whose number this divides
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: u64,
    /// Writes only steps that are so, as `has(VARIABLE)` or `max(VARIABLE) > 9`: `flexpath watch --help` has all conditions.
    /// The publisher judges, and others do not come here. With --every both must be true of a step
    #[arg(long, value_name = "CONDITION", value_parser = condition)]
    pub(crate) when: Option<Condition>,
    /// As many ranks take their parts of a step and write them, each a thread of this process
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) ranks: u32,
    /// Ends after that many steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Asks a database of savime:HOST:PORT this, before anything else: for structure that comes before data. The answer is
    /// printed as a line of JSON. May be said several times
    #[arg(long, value_name = "QUERY", value_parser = query)]
    pub(crate) before: Vec<String>,
    /// Asks it this after each step, when that is whole there. %T stands for the step's number
    #[arg(long, value_name = "QUERY", value_parser = query)]
    pub(crate) after: Vec<String>,
    /// A text of the stream that has queries, one a line: asked after the step that has it, and before those of --after
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) queries: Option<String>,
    /// Goes on behind the last step that the target has. Without it the target must not be there
    #[arg(long)]
    pub(crate) append: bool,
    /// Each step is on the device before the next is taken: a power failure costs the last step at most
    #[arg(long)]
    pub(crate) durable: bool,
    /// Never lets the publisher wait: old steps are dropped, and counted as skipped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Where it starts: with the `next` step, at the `oldest-reserved`, or `after:N`, with the first step of a higher
    /// number. With --append that counts only where the target has no step yet
    #[arg(long, value_name = "WHERE", default_value = "next", value_parser = start_at)]
    pub(crate) start_at: StartAt,
    /// How long to wait for the stream, and for each answer of a database or of S3. (For an object that is sent to S3 it is
    /// a second more for each MiB)
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// How arrays are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compression {
    /// Not at all.
    None,
    /// By Zstandard.
    Zstd,
    /// By the filters shuffle and deflate of HDF5, which all of its readers have.
    Gzip,
}

/// A type that real numbers can be written as.
fn real(text: &str) -> Result<Dtype, String> {
    match text.parse() {
        Ok(dtype @ (Dtype::F32 | Dtype::F64)) => Ok(dtype),
        Ok(_) | Err(_) => Err("f32 or f64 is expected".to_owned()),
    }
}

/// A query, which ends as queries do.
pub(crate) fn query(text: &str) -> Result<String, String> {
    let text = text.trim().trim_end_matches(';').trim_end();
    if text.is_empty() || text.contains('\0') {
        return Err(format!("{text:?} is no query, such as 'scan(sim_rho);'"));
    }
    Ok(format!("{text};"))
}

/// A condition that needs nothing besides.
fn condition(text: &str) -> Result<Condition, String> {
    let read: Condition = text.parse().map_err(|error: ParseConditionError| error.to_string())?;
    // It fails for a module, and for nothing else.
    read.with_modules(|_| None)
        .map_err(|_| format!("{text:?}: modules are handed over by `flexpath watch --module` alone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn numbers_are_cast_to_real_ones_alone() {
        assert_eq!(real("f32"), Ok(Dtype::F32));
        assert!(real("i32").is_err() && real("float").is_err());
    }

    #[test]
    fn queries_end_as_queries_do() {
        assert_eq!(query(" scan(a) ; ").as_deref(), Ok("scan(a);"));
        assert!([" ", ";", "scan(\0)"].iter().all(|text| query(text).is_err()));
    }
}
