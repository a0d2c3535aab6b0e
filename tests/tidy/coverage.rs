//! Tables that say which test covers what: no cell is empty, and each names tests that are here.

use syn::Item;

use crate::prose::split_row;
use crate::source::{Source, Text};

/// A table of a document: its columns after the first, and where the tests are that each of them names.
pub(crate) struct Table<'t> {
    /// The document.
    pub(crate) path: &'t str,
    /// The head of the first column.
    pub(crate) rows: &'t str,
    /// The heads of the others, each with the folder of its tests.
    pub(crate) columns: &'t [(&'t str, &'t str)],
}

/// Complains about a table that is not there, about cells that are empty, and about tests that are not there.
pub(crate) fn check(table: &Table<'_>, texts: &[Text], sources: &[Source]) -> Vec<String> {
    let heads: Vec<&str> =
        std::iter::once(table.rows).chain(table.columns.iter().map(|(head, _)| *head)).collect();
    let document = texts.iter().find(|text| text.path == table.path);
    let lines: Vec<&str> = document.iter().flat_map(|text| text.content.lines()).collect();
    let Some(head) = lines.iter().position(|line| cells(line) == heads) else {
        return vec![format!("{}: there is no table of {}", table.path, heads.join(", "))];
    };
    // After the head comes its line.
    let rows: Vec<_> =
        lines[head + 2..].iter().take_while(|line| line.starts_with('|')).map(|line| cells(line)).collect();
    if rows.is_empty() {
        return vec![format!("{}: the table of {} has no row", table.path, heads.join(", "))];
    }
    rows.iter().flat_map(|row| check_row(table, row, sources)).collect()
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    let cells = inner.map(split_row).unwrap_or_default();
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn check_row(table: &Table<'_>, row: &[String], sources: &[Source]) -> Vec<String> {
    let (path, what) = (table.path, row.first().map(String::as_str).unwrap_or_default());
    if row.len() != table.columns.len() + 1 || what.is_empty() {
        return vec![format!("{path}: {row:?} are other cells than the table has columns")];
    }
    let mut complaints = Vec::new();
    for (cell, (column, folder)) in row[1..].iter().zip(table.columns) {
        let tests: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            complaints.push(format!("{path}: {what} in {column} names no test"));
        }
        let lost = tests.iter().filter(|test| !sources.iter().any(|source| is_in(source, folder, test)));
        complaints.extend(
            lost.map(|test| format!("{path}: {what} in {column}: there is no test {test} in {folder}")),
        );
    }
    complaints
}

/// Whether a file of that folder has the test `file::function`.
fn is_in(source: &Source, folder: &str, test: &str) -> bool {
    let Some((file, function)) = test.rsplit_once("::") else { return false };
    let within = source.path.strip_prefix(folder);
    within.is_some_and(|path| path == format!("{file}.rs") || path.ends_with(&format!("/{file}.rs")))
        && has_test(&source.tree.items, function)
}

/// Also in a module of the file, as what needs a feature stands in one.
fn has_test(items: &[Item], name: &str) -> bool {
    items.iter().any(|item| {
        if let Item::Mod(module) = item {
            return module.content.as_ref().is_some_and(|(_, items)| has_test(items, name));
        }
        let Item::Fn(function) = item else { return false };
        let is_test = function.attrs.iter().any(|attribute| attribute.path().is_ident("test"));
        is_test && function.sig.ident == name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table<'_> =
        Table { path: "a.md", rows: "what", columns: &[("Rust", "one/"), ("C", "two/")] };

    fn complaints(rows: &str) -> Vec<String> {
        let content = format!("Words.\n\n| what | Rust | C |\n|---|---|---|\n{rows}\nWords.\n");
        let text = Text { path: "a.md".to_owned(), content };
        let file = |path: &str| {
            Source::parse(
                path,
                "#[test]\nfn holds() {}\nfn helps() {}\nmod wasm {\n#[test]\nfn runs() {}\n}\n",
            )
            .expect("Rust")
        };
        check(&TABLE, &[text], &[file("one/suite/fire.rs"), file("two/fire.rs")])
    }

    #[test]
    fn cells_that_name_tests_are_well() {
        let full = "| `max` | `fire::holds` | alike: `fire::holds`, `fire::runs` |";
        assert_eq!(complaints(full), Vec::<String>::new());
    }

    #[test]
    fn empty_cells_and_lost_tests_are_found() {
        let max = |rust: &str, c: &str| complaints(&format!("| `max` | {rust} | {c} |"));
        let is_here = "`fire::holds`";
        for empty in ["", "none", "—", "``"] {
            assert_eq!(max(is_here, empty).len(), 1, "{empty}");
        }
        assert_eq!(max(is_here, ""), ["a.md: `max` in C names no test"]);
        for lost in ["`fire::helps`", "`fire::held`", "`ire::holds`", "`suite::holds`", "`holds`"] {
            assert!(max(is_here, lost)[0].contains("there is no test"), "{lost}");
        }
        assert_eq!(max("`gone::holds`", "`fire::gone`").len(), 2);
    }

    #[test]
    fn tables_of_another_form_are_found() {
        assert_eq!(complaints("| `max` | `fire::holds` |").len(), 1);
        assert_eq!(complaints("").len(), 1, "no row");
        assert_eq!(check(&TABLE, &[], &[]), ["a.md: there is no table of what, Rust, C"]);
    }
}
