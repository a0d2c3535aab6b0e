//! Documents that name a Rust file name one that is here, and the list of decisions names all of them.

use crate::source::Text;

/// What stands for a folder in ARCHITECTURE.md.
const SHORT: &[(&str, &str)] = &[("core/", "crates/fp-core/src/"), ("proto/", "crates/fp-proto/src/")];

/// Complains about Rust files in backquotes that none of `files` ends with. What was is for the changelog to say.
pub(crate) fn check(document: &Text, files: &[&str]) -> Vec<String> {
    let is_document = document.path.ends_with(".md") && document.path != "CHANGELOG.md";
    let quoted = document.content.split('`').skip(1).step_by(2);
    let named = quoted.filter(|word| is_document && word.ends_with(".rs") && !word.contains([' ', '*', '<']));
    let missing = named.filter(|word| !files.iter().any(|file| is_it(file, word)));
    missing.map(|word| format!("{}: there is no {word}", document.path)).collect()
}

/// Where decisions are, and the list of them.
const DECISIONS: (&str, &str) = ("docs/decisions/", "docs/decisions/README.md");

/// Complains about decisions that their list does not name, or names twice.
pub(crate) fn check_decisions(texts: &[Text]) -> Vec<String> {
    let (folder, list) = DECISIONS;
    let Some(list) = texts.iter().find(|text| text.path == list) else { return vec![format!("no {list}")] };
    let names = texts.iter().filter_map(|text| text.path.strip_prefix(folder));
    let decisions = names.filter(|name| name.starts_with(|first: char| first.is_ascii_digit()));
    let lost = decisions.filter(|name| list.content.matches(&format!("]({name})")).count() != 1);
    lost.map(|name| format!("{}: does not name {name} once", list.path)).collect()
}

fn is_it(file: &str, word: &str) -> bool {
    let ends = |word: &str| file == word || file.strip_suffix(word).is_some_and(|rest| rest.ends_with('/'));
    let long =
        |(short, folder): &(&str, &str)| word.strip_prefix(short).map(|rest| format!("{folder}{rest}"));
    ends(word) || SHORT.iter().filter_map(long).any(|word| ends(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_here_are_found() {
        let files = ["crates/fp-core/src/step/mod.rs", "crates/fp-proto/src/data.rs"];
        let found = |path: &str, content: &str| {
            check(&Text { path: path.to_owned(), content: content.to_owned() }, &files)
        };
        let content =
            "Read `core/step/mod.rs`, `step/mod.rs`, `fp-proto/src/data.rs`, any `*.rs`, not mod.rs.";
        assert_eq!(found("a.md", content), Vec::<String>::new());
        assert_eq!(
            found("a.md", "`core/mod.rs`, `ta.rs`"),
            ["a.md: there is no core/mod.rs", "a.md: there is no ta.rs"]
        );
        assert_eq!(found("CHANGELOG.md", "`ta.rs`"), Vec::<String>::new());
    }

    #[test]
    fn decisions_that_are_not_listed_are_found() {
        let text = |path: &str, content: &str| Text { path: path.to_owned(), content: content.to_owned() };
        let list =
            text("docs/decisions/README.md", "[0001](0001-a.md), [0002](0002-b.md), [0002](0002-b.md)");
        let decision = |name: &str| text(&format!("docs/decisions/{name}"), "");
        let found =
            check_decisions(&[list, decision("0001-a.md"), decision("0002-b.md"), decision("0003-c.md")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("0002-b.md") && found[1].contains("0003-c.md"), "{found:?}");
    }
}
