//! What is drawn of a step, and where the picture goes.

use std::path::PathBuf;
use std::str::FromStr;

use super::target::{ParseTargetError, Target};

/// Between what is drawn and where it goes.
const TO: &str = " to ";
/// How the name of a file ends that is drawn anew for each step.
const SUFFIX: &str = "png";

/// What is drawn of a step, and where the picture goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendering {
    /// What is drawn.
    pub(crate) target: Target,
    /// Where it goes.
    pub(crate) place: PicturePlace,
}

/// Where pictures go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PicturePlace {
    /// A file that each picture replaces.
    File(PathBuf),
    /// A folder, with a file for each step.
    Folder(PathBuf),
}

/// Why nothing is drawn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseRenderingError {
    /// There is no place.
    #[error(
        "a picture is written `render VARIABLE[slice] to DIR`, or `to FILE.png`: {text:?} does not say where to"
    )]
    NoPlace {
        /// The text.
        text: String,
    },
    /// It names no elements of a variable.
    #[error(transparent)]
    Target(#[from] ParseTargetError),
}

impl FromStr for Rendering {
    type Err = ParseRenderingError;

    fn from_str(text: &str) -> Result<Self, ParseRenderingError> {
        let none = || ParseRenderingError::NoPlace { text: text.to_owned() };
        // Names of variables with that word in them go before names of files with it.
        let (target, place) = text.split_once(TO).ok_or_else(none)?;
        let place = PathBuf::from(place.trim());
        if place.as_os_str().is_empty() {
            return Err(none());
        }
        let is_file = place.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(SUFFIX));
        let place = if is_file { PicturePlace::File(place) } else { PicturePlace::Folder(place) };
        Ok(Self { target: target.trim().parse()?, place })
    }
}

impl PicturePlace {
    /// Where the picture of a step goes.
    pub(crate) fn path(&self, stream: &str, variable: &str, step: u64) -> PathBuf {
        let part = |name: &str| name.replace(['/', '\0'], "_");
        match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) => folder.join(format!("{}-{}-{step}.png", part(stream), part(variable))),
        }
    }

    /// The folder in which files are.
    pub(crate) fn folder(&self) -> PathBuf {
        match self {
            Self::File(path) => path.parent().map(PathBuf::from).unwrap_or_default(),
            Self::Folder(folder) => folder.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendering_is_a_target_and_a_place() {
        let read = |text: &str| text.parse::<Rendering>().expect(text);
        let one = read("T[:, :, 32] to some folder");
        assert_eq!(
            (one.target.variable.as_str(), &one.place),
            ("T", &PicturePlace::Folder("some folder".into()))
        );
        let path = one.place.path("heat", "fields/T", 41);
        assert_eq!(path, PathBuf::from("some folder/heat-fields_T-41.png"));
        let other = read("T to out/now.PNG");
        assert_eq!(other.place, PicturePlace::File("out/now.PNG".into()));
        assert_eq!(other.place.path("heat", "T", 41), PathBuf::from("out/now.PNG"));
        assert_eq!(other.place.folder(), PathBuf::from("out"));
        assert_eq!(read("T to from here to there").place.folder(), PathBuf::from("from here to there"));
    }

    #[test]
    fn what_is_no_rendering_is_said() {
        for (text, said) in [
            ("T[:, 3]", "a picture is written `render VARIABLE[slice] to DIR`"),
            ("T to  ", "a picture is written"),
            ("[0] to here", "no variable is named before the brackets"),
            ("T[a, 0] to here", "\"a\" is no slice"),
        ] {
            let error = text.parse::<Rendering>().expect_err(text).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
