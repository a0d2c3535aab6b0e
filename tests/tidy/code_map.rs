//! The code map of ARCHITECTURE.md: every file, with the first sentence of its documentation.

use crate::length::package_of;
use crate::source::Source;

/// Where the map begins and ends in ARCHITECTURE.md.
const MARKS: (&str, &str) = ("<!-- code map: begin -->\n", "<!-- code map: end -->\n");

/// The document with the map that belongs to the sources; none if the marks are missing.
pub(crate) fn updated(document: &str, sources: &[Source]) -> Option<String> {
    let (before, rest) = document.split_once(MARKS.0)?;
    let (_, after) = rest.split_once(MARKS.1)?;
    Some(format!("{before}{}{}{}{after}", MARKS.0, map(sources), MARKS.1))
}

/// One table for each package.
fn map(sources: &[Source]) -> String {
    let mut text = String::new();
    let mut package = None;
    for source in sources {
        let (here, file) = split(&source.path);
        if package != Some(here) {
            text.push_str(&format!("\n**{here}**\n\n| file | what it is |\n|---|---|\n"));
            package = Some(here);
        }
        text.push_str(&format!("| `{file}` | {} |\n", first_sentence(&source.content)));
    }
    text
}

/// The package of a file (`crates/fp-types`, `demo`, or a folder of the root's own) and the rest of its path.
fn split(path: &str) -> (&str, &str) {
    let package = package_of(path);
    (package, path[package.len()..].trim_start_matches('/'))
}

/// The first sentence of a file's documentation, or its first paragraph if that is shorter.
fn first_sentence(content: &str) -> String {
    let lines = content.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ").replace('|', "\\|");
    let end = paragraph.match_indices(". ").map(|(at, _)| at).next();
    paragraph[..end.unwrap_or(paragraph.len())].trim_end_matches('.').to_owned()
}

#[test]
fn a_file_that_is_not_in_the_map_changes_it() {
    let source = |path: &str, docs: &str| Source::parse(path, docs).unwrap();
    let mut sources = vec![
        source("crates/a/src/lib.rs", "//! What it is. And more.\nfn f() {}"),
        source("crates/b/src/lib.rs", "//! Two\n//! lines\n//!\n//! Apart.\n"),
    ];
    let empty = format!("# Title\n{}{}After.\n", MARKS.0, MARKS.1);
    let full = updated(&empty, &sources).unwrap();
    assert!(
        full.contains("**crates/a**\n\n| file | what it is |\n|---|---|\n| `src/lib.rs` | What it is |\n")
    );
    assert!(full.contains("| `src/lib.rs` | Two lines |\n") && full.ends_with("After.\n"));
    assert_eq!(updated(&full, &sources).as_ref(), Some(&full), "writing it again changes nothing");
    sources.push(source("c.rs", "//! New.\n"));
    assert_ne!(updated(&full, &sources), Some(full));
    assert_eq!(updated("no marks", &sources), None);
}
