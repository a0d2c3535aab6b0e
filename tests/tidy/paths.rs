//! Documents that name a Rust file name one that is here.

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
}
