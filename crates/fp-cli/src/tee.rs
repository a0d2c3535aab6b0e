//! `flexpath tee`: becomes the program `flexpath-tee`, as its formats need libraries that nobody else should have.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::TeeOptions;
use crate::failure::Failure;

/// The program.
const NAME: &str = "flexpath-tee";

/// Becomes that program. Returns only where there is none.
pub(crate) fn run(rendezvous: Option<&Path>, options: &TeeOptions) -> Result<(), Failure> {
    let own = std::env::current_exe().ok();
    let error = command(&beside(own.as_deref()), rendezvous, options).exec();
    let why = if error.kind() == ErrorKind::NotFound {
        "it is neither beside this program nor in PATH; `make install SINKS=yes` builds and installs it"
            .to_owned()
    } else {
        error.to_string()
    };
    Err(Failure::Usage(format!("{NAME} cannot be started: {why}")))
}

/// The program beside this one, or else whichever PATH has.
fn beside(own: Option<&Path>) -> PathBuf {
    let sibling = own.and_then(Path::parent).map(|folder| folder.join(NAME));
    sibling.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(NAME))
}

/// It has the same options; a rendezvous that was named before `tee` goes first.
fn command(program: &Path, rendezvous: Option<&Path>, options: &TeeOptions) -> Command {
    let mut command = Command::new(program);
    if let Some(path) = rendezvous {
        command.args([OsStr::new("--rendezvous"), path.as_os_str()]);
    }
    command.args(&options.words);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_beside_is_taken_and_else_that_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("flexpath");
        assert_eq!(beside(Some(&own)), Path::new(NAME));
        std::fs::write(folder.path().join(NAME), "").unwrap();
        assert_eq!(beside(Some(&own)), folder.path().join(NAME));
        assert_eq!(beside(None), Path::new(NAME));
    }

    #[test]
    fn a_rendezvous_goes_along() {
        let options = TeeOptions { words: ["sim", "--to", "zarr:x"].map(Into::into).into() };
        let command = command(Path::new(NAME), Some(Path::new("/place")), &options);
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["--rendezvous", "/place", "sim", "--to", "zarr:x"]);
    }
}
