//! `flexpath tee`: the steps of a stream as files that others read, or in an array database.
//!
//! A [`sink::Sink`] says which parts of a step each rank writes, so no two ranks write the same place. When all have
//! written, it commits the step: until then nobody who looks at the target sees it.
#![forbid(unsafe_code)]

mod arguments;
mod dense;
mod error;
mod hdf5;
mod json;
mod opening;
mod parquet;
mod part;
mod pieces;
mod savime;
mod sink;
mod step_file;
mod taken_step;
mod target;
mod team;
mod vtkhdf;
mod zarr;

use std::ffi::OsString;

use arguments::Arguments;
use clap::{CommandFactory as _, Parser as _};

/// Runs the program with these arguments, its name not among them: the exit status, as that of `flexpath`.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = std::iter::once(OsString::from("flexpath tee")).chain(arguments);
    match Arguments::try_parse_from(arguments) {
        Err(error) => fp_cli::told(&error),
        Ok(arguments) => {
            fp_core::start_log();
            fp_cli::exit_status(team::run(&arguments), Arguments::command())
        }
    }
}
