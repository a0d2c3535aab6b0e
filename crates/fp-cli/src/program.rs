//! What starts this command anew: `bench` and `doctor` have work for processes of their own.

use std::ffi::OsString;
use std::io;
use std::process::Command;

/// The program that this command is part of.
pub(crate) struct Program {
    /// What starts it, and the words before the command's own; empty: the executable of this process.
    words: Vec<OsString>,
}

impl Program {
    /// The one that these words start.
    pub(crate) fn started_by(words: Vec<OsString>) -> Self {
        Self { words }
    }

    /// This process's own executable.
    pub(crate) fn own() -> Self {
        Self { words: Vec::new() }
    }

    /// Starts it anew, once the command's own words follow.
    pub(crate) fn anew(&self) -> io::Result<Command> {
        let Some((program, words)) = self.words.split_first() else {
            return Ok(Command::new(std::env::current_exe()?));
        };
        let mut command = Command::new(program);
        command.args(words);
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_the_commands_own_words_is_said_again() {
        let program = Program::started_by(["python3", "-m", "flexpath"].map(OsString::from).into());
        let mut command = program.anew().unwrap();
        command.arg("bench");
        assert_eq!(command.get_program(), "python3");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-m", "flexpath", "bench"]);
    }

    #[test]
    fn without_words_it_is_this_executable() {
        let own = Program::own().anew().unwrap();
        assert_eq!(own.get_program(), std::env::current_exe().unwrap());
        assert_eq!(own.get_args().count(), 0);
    }
}
