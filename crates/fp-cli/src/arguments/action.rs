//! What is done with a step that is as it should be.

use std::path::PathBuf;
use std::str::FromStr;

use super::render::{ParseRenderingError, Rendering};
use super::request::{Assignment, ParseAssignmentError};
use super::target::{ParseTargetError, Target};

/// What is done with a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// A line is printed.
    Notify,
    /// Values of a variable are printed.
    Deliver(Target),
    /// Its variables go into a file of this folder.
    Write(PathBuf),
    /// A picture of a variable goes to a file.
    Render(Rendering),
    /// The command of that name is started.
    Run(String),
    /// The simulation is asked for a value of a parameter.
    Request(Assignment),
}

impl Action {
    /// The word that it begins with.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Notify => "notify",
            Self::Deliver(_) => "deliver",
            Self::Write(_) => "write",
            Self::Render(_) => "render",
            Self::Run(_) => "run",
            Self::Request(_) => "request",
        }
    }
}

/// Why a text is no action.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseActionError {
    /// There is no such word.
    #[error(
        "there is no action {word:?}: say notify, deliver VARIABLE[slice], write DIR, render VARIABLE[slice] to DIR, \
             run NAME, or request PARAMETER[=VALUE]"
    )]
    Word {
        /// The word.
        word: String,
    },
    /// Something is to stand behind the word, or nothing is.
    #[error("{word} takes {wanted}")]
    Argument {
        /// The word.
        word: &'static str,
        /// What.
        wanted: &'static str,
    },
    /// It names no elements of a variable.
    #[error(transparent)]
    Target(#[from] ParseTargetError),
    /// It draws nothing.
    #[error(transparent)]
    Render(#[from] ParseRenderingError),
    /// It asks for nothing.
    #[error(transparent)]
    Request(#[from] ParseAssignmentError),
}

impl FromStr for Action {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, ParseActionError> {
        let (word, argument) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let argument = argument.trim();
        let some = |word, wanted| match argument {
            "" => Err(ParseActionError::Argument { word, wanted }),
            argument => Ok(argument),
        };
        match word {
            "notify" if argument.is_empty() => Ok(Self::Notify),
            "notify" => Err(ParseActionError::Argument { word: "notify", wanted: "nothing behind it" }),
            "deliver" => Ok(Self::Deliver(some("deliver", "a variable, as in deliver T[0:4]")?.parse()?)),
            "write" => Ok(Self::Write(some("write", "a folder, as in write hits")?.into())),
            "render" => Ok(Self::Render(
                some("render", "a variable and a place, as in render T[:, 0:4] to hits")?.parse()?,
            )),
            "run" => Ok(Self::Run(some("run", "a name of the --commands file, as in run alarm")?.to_owned())),
            "request" => Ok(Self::Request(some("request", "a parameter, as in request dt=1e-4")?.parse()?)),
            word => Err(ParseActionError::Word { word: word.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_a_word_and_what_belongs_to_it() {
        let read = |text: &str| text.parse::<Action>();
        assert_eq!(read(" notify ").ok(), Some(Action::Notify));
        assert_eq!(read("write some folder").ok(), Some(Action::Write("some folder".into())));
        assert_eq!(read("run alarm").ok(), Some(Action::Run("alarm".to_owned())));
        assert!(matches!(read("request dt = 1e-4"), Ok(Action::Request(asked)) if asked.parameter == "dt"));
        assert!(
            matches!(read("render T[:, 3, :] to hits"), Ok(Action::Render(of)) if of.target.variable == "T")
        );
        assert!(matches!(read("deliver T[0:4, :]"), Ok(Action::Deliver(target)) if target.variable == "T"));
        for (text, said) in [
            ("shout", "there is no action \"shout\""),
            ("notify me", "notify takes nothing behind it"),
            ("write", "write takes a folder"),
            ("run ", "run takes a name"),
            ("deliver", "deliver takes a variable"),
            ("render", "render takes a variable and a place"),
            ("render T", "a picture is written `render VARIABLE[slice] to DIR`"),
            ("request", "request takes a parameter"),
            ("request =2", "a request is written"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(said), "{error}");
        }
        assert!(matches!(read("deliver T[a]"), Err(ParseActionError::Target(_))));
    }
}
