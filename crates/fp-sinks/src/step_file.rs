//! Files of one step each: they have their name when they are whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use fp_core::StepId;

use crate::error::SinkError;

/// What stands for the number of a step that is still to come, while names are looked at.
const MARK: char = 'T';

/// The names of files of one step each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepFiles {
    folder: PathBuf,
    before: String,
    digits: usize,
    behind: String,
}

impl StepFiles {
    /// Reads a name such as `run_%06T.h5`.
    pub(crate) fn of(path: &Path) -> Result<Self, SinkError> {
        let wrong = || {
            let path = path.display();
            SinkError::Target(format!(
                "{path}: a file is of one step, so its name needs %T once, as in run_%T.h5, or %06T for six digits"
            ))
        };
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(wrong)?;
        let (before, rest) = name.split_once('%').ok_or_else(wrong)?;
        let (digits, behind) = rest.split_once(MARK).ok_or_else(wrong)?;
        let digits = if digits.is_empty() { Ok(0) } else { digits.parse() };
        let digits = digits.ok().filter(|digits| *digits <= 20 && !behind.contains('%')).ok_or_else(wrong)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (before, behind) = (before.to_owned(), behind.to_owned());
        Ok(Self { folder: folder.to_owned(), before, digits, behind })
    }

    /// The file of a step, once it is whole.
    pub(crate) fn path(&self, step: StepId) -> PathBuf {
        let Self { folder, before, digits, behind } = self;
        folder.join(format!("{before}{:0digits$}{behind}", step.0))
    }

    /// The file of a step while it is written: in the same folder, and no name that the pattern has.
    pub(crate) fn unfinished(&self, step: StepId) -> PathBuf {
        let Self { folder, before, behind, .. } = self;
        folder.join(format!(".{before}{}{behind}.unfinished", step.0))
    }

    /// The last step that has a file. Makes the folder if it is not there. Without `append` no step may have a file.
    ///
    /// Files that were never finished are removed: no other program may write files of these names meanwhile.
    pub(crate) fn open(&self, append: bool) -> Result<Option<StepId>, SinkError> {
        fs::create_dir_all(&self.folder).map_err(SinkError::file(&self.folder))?;
        let (mut last, mut unfinished) = (None, Vec::new());
        for entry in fs::read_dir(&self.folder).map_err(SinkError::file(&self.folder))? {
            let entry = entry.map_err(SinkError::file(&self.folder))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if self.is_unfinished(&name) {
                unfinished.push(entry.path());
            }
            last = last.max(self.step(&name));
        }
        match last {
            Some(step) if !append => {
                let path = self.path(step);
                let path = path.display();
                Err(SinkError::Target(format!("{path} is there already: name other files, or say --append")))
            }
            Some(_) | None => {
                let remove = |path: &PathBuf| fs::remove_file(path).map_err(SinkError::file(path));
                unfinished.iter().try_for_each(remove)?;
                Ok(last)
            }
        }
    }

    /// Has what was written of a step on the device, though it has no name yet.
    pub(crate) fn sync(&self, step: StepId) -> Result<(), SinkError> {
        let unfinished = self.unfinished(step);
        File::open(&unfinished).and_then(|file| file.sync_all()).map_err(SinkError::file(&unfinished))
    }

    /// Gives a file its name. With `durable` it is on the device then, and so is its name.
    pub(crate) fn finish(&self, step: StepId, durable: bool) -> Result<(), SinkError> {
        let (unfinished, path) = (self.unfinished(step), self.path(step));
        if durable {
            self.sync(step)?;
        }
        fs::rename(&unfinished, &path).map_err(SinkError::file(&path))?;
        if durable {
            File::open(&self.folder)
                .and_then(|folder| folder.sync_all())
                .map_err(SinkError::file(&self.folder))?;
        }
        Ok(())
    }

    /// The step whose file has this name.
    fn step(&self, name: &str) -> Option<StepId> {
        let digits = name.strip_prefix(&self.before)?.strip_suffix(&self.behind)?;
        let step = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(StepId(step)).filter(|step| self.path(*step).file_name().is_some_and(|own| own == name))
    }

    fn is_unfinished(&self, name: &str) -> bool {
        let own = name.strip_prefix('.').and_then(|name| name.strip_prefix(&self.before));
        let number = own.and_then(|name| name.strip_suffix(&format!("{}.unfinished", self.behind)));
        number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(name: &str) -> StepFiles {
        StepFiles::of(Path::new(name)).unwrap()
    }

    #[test]
    fn names_have_the_number_of_the_step() {
        assert_eq!(files("out/run_%06T.h5").path(StepId(42)), Path::new("out/run_000042.h5"));
        assert_eq!(files("run%T").path(StepId(42)), Path::new("./run42"));
        for wrong in ["run.h5", "run_%d.h5", "run_%T_%T.h5", "run_%xT.h5", "run_%99T.h5"] {
            assert!(StepFiles::of(Path::new(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_was_never_finished_goes_and_the_last_step_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let files = StepFiles::of(&folder.path().join("run_%03T.h5")).unwrap();
        assert_eq!(files.open(false).unwrap(), None);
        for step in [7, 11] {
            fs::write(files.unfinished(StepId(step)), "whole").unwrap();
            files.finish(StepId(step), true).unwrap();
        }
        fs::write(files.unfinished(StepId(12)), "half").unwrap();
        // Neither is of this pattern.
        fs::write(folder.path().join("run_13.h5"), "").unwrap();
        fs::write(folder.path().join("other_099.h5"), "").unwrap();
        assert!(files.open(false).unwrap_err().to_string().contains("run_011.h5 is there already"));
        assert_eq!(files.open(true).unwrap(), Some(StepId(11)));
        assert!(!files.unfinished(StepId(12)).exists() && files.path(StepId(7)).exists());
    }
}
