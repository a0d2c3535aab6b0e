//! The command that benches run beside themselves.

use std::io;
use std::path::{Path, PathBuf};

/// Where it was built: beside this program's folder. Says so where it was not.
pub(crate) fn built() -> io::Result<Option<PathBuf>> {
    let folder = std::env::current_exe()?.parent().and_then(Path::parent).map(Path::to_owned);
    let command = folder.map(|folder| folder.join("flexpath")).filter(|command| command.is_file());
    if command.is_none() {
        println!("not measured: the command is not there: cargo build --release -p flexpath-cli");
    }
    Ok(command)
}
