//! The names of files of one table of one step each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fp_core::StepId;

use crate::error::SinkError;
use crate::step_file::StepFiles;

/// What stands for the table.
const TABLE: &str = "%V";

/// The names of files of one table of one step each, or of one step each where there is no `%V` in the pattern.
#[derive(Debug)]
pub(super) struct TableFiles {
    folder: PathBuf,
    /// The name with `%T` and perhaps `%V`.
    name: String,
}

impl TableFiles {
    /// Reads a name such as `run_%V_%06T.parquet`.
    pub(super) fn of(pattern: &Path) -> Result<Self, SinkError> {
        // What else is wrong with the name is found as if it had no table.
        let name = pattern.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let folder =
            pattern.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = Self { folder: folder.to_owned(), name };
        StepFiles::of(&made.folder.join(made.name.replacen(TABLE, "V", 1)))?;
        let steps = made.name.find('%').map(|at| &made.name[at..]);
        // A table's name may end in digits, and those of the step would not be told from them.
        let touches = steps.is_some_and(|rest| rest.starts_with("%V%"))
            || made
                .name
                .split_once(TABLE)
                .is_some_and(|(before, _)| before.ends_with('T') && before.contains('%'));
        if made.has_tables() && touches {
            let path = pattern.display();
            return Err(SinkError::Target(format!(
                "{path}: something has to stand between %V and %T, as in run_%V_%06T.parquet"
            )));
        }
        Ok(made)
    }

    /// Whether a step may have files of several tables.
    pub(super) fn has_tables(&self) -> bool {
        self.name.contains(TABLE)
    }

    /// The files of one table.
    pub(super) fn of_table(&self, step: StepId, table: &str) -> Result<StepFiles, SinkError> {
        if self.has_tables() && table.contains('%') {
            let (variable, why) =
                (table.to_owned(), "its name has %, and stands in the name of a file".to_owned());
            return Err(SinkError::Variable { step, variable, why });
        }
        StepFiles::of(&self.folder.join(self.name.replacen(TABLE, table, 1)))
    }

    /// The last step that has files. What a kill left is finished, or removed.
    ///
    /// Files have their names one after another when all of a step are whole. So one that has no name is whole too if
    /// another table of its step has one.
    pub(super) fn open(&self, append: bool, durable: bool) -> Result<Option<StepId>, SinkError> {
        if !self.has_tables() {
            return self.of_table(StepId(0), "")?.open(append);
        }
        fs::create_dir_all(&self.folder).map_err(SinkError::file(&self.folder))?;
        let mut named: BTreeMap<StepId, String> = BTreeMap::new();
        let mut unfinished = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(SinkError::file(&self.folder))? {
            let entry = entry.map_err(SinkError::file(&self.folder))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let hidden = name.strip_prefix('.').and_then(|name| name.strip_suffix(".unfinished"));
            let Some((table, step)) = self.parsed(hidden.unwrap_or(&name)) else { continue };
            // A name that no table of ours has is somebody else's.
            let Ok(files) = self.of_table(step, &table) else { continue };
            let is_its = |path: PathBuf| path.file_name().is_some_and(|own| own == name.as_str());
            if is_its(files.unfinished(step)) {
                unfinished.push((step, files));
            } else if is_its(files.path(step)) {
                named.insert(step, name);
            }
        }
        if let Some((_, name)) = named.last_key_value().filter(|_| !append) {
            let path = self.folder.join(name);
            let path = path.display();
            return Err(SinkError::Target(format!(
                "{path} is there already: name other files, or say --append"
            )));
        }
        for (step, files) in unfinished {
            if named.contains_key(&step) {
                files.finish(step, durable)?;
            } else {
                fs::remove_file(files.unfinished(step)).map_err(SinkError::file(&files.unfinished(step)))?;
            }
        }
        Ok(named.last_key_value().map(|(step, _)| *step))
    }

    /// The table and the step whose file may have this name.
    fn parsed(&self, name: &str) -> Option<(String, StepId)> {
        let (before, rest) = self.name.split_once('%')?;
        let rest = rest.split_once(['V', 'T'])?.1;
        let (between, rest) = rest.split_once('%')?;
        let behind = rest.split_once(['V', 'T'])?.1;
        let inner = name.strip_prefix(before)?.strip_suffix(behind)?;
        let is_table_first = self.name.find(TABLE) == self.name.find('%');
        let (table, digits) = if is_table_first {
            let at = inner.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            (inner[..at].strip_suffix(between)?, &inner[at..])
        } else {
            let at = inner.find(|c: char| !c.is_ascii_digit())?;
            (inner[at..].strip_prefix(between)?, &inner[..at])
        };
        Some((table.to_owned(), StepId(digits.parse().ok()?))).filter(|(table, _)| !table.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pattern: &str, name: &str) -> Option<(String, u64)> {
        let files = TableFiles::of(Path::new(pattern)).unwrap();
        files.parsed(name).map(|(table, step)| (table, step.0))
    }

    #[test]
    fn a_name_says_which_table_and_step() {
        for (pattern, name, table) in [
            ("run_%V_%06T.parquet", "run_hits_000042.parquet", "hits"),
            ("run_%V_%06T.parquet", "run_hits_2_000042.parquet", "hits_2"),
            ("%T-%V", "42-7-hits", "7-hits"),
        ] {
            assert_eq!(parsed(pattern, name), Some((table.to_owned(), 42)), "{name}");
            let files = TableFiles::of(Path::new(pattern)).unwrap().of_table(StepId(42), table).unwrap();
            assert_eq!(files.path(StepId(42)), Path::new(".").join(name));
        }
        assert_eq!(parsed("run_%V_%T.parquet", "run_42.parquet"), None);
        assert_eq!(parsed("run_%V_%T.parquet", "run_é.parquet"), None);
        for wrong in ["%V%T", "%T%V", "%V_%V_%T", "%V", "%V_%06T%x"] {
            assert!(TableFiles::of(Path::new(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_step_that_was_whole_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let files = TableFiles::of(&folder.path().join("%V_%T.parquet")).unwrap();
        let of = |table| files.of_table(StepId(1), table).unwrap();
        fs::write(folder.path().join("50%_1.parquet"), "of somebody else").unwrap();
        for (table, step) in [("a", 1), ("b", 1), ("a", 2), ("b", 2)] {
            fs::write(of(table).unfinished(StepId(step)), "whole").unwrap();
        }
        of("a").finish(StepId(1), false).unwrap();
        assert!(files.open(false, false).unwrap_err().to_string().contains("a_1.parquet is there already"));
        assert_eq!(files.open(true, false).unwrap(), Some(StepId(1)));
        let mut there: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        there.sort();
        assert_eq!(there, ["50%_1.parquet", "a_1.parquet", "b_1.parquet"]);
    }
}
