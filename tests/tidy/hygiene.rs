//! What no file says: unfinished work, the place it was written at, numbers of a tracker nobody can open.

use crate::source::{Source, Text};

/// Words of unfinished work. Put together here, so that this file does not hold them.
const UNFINISHED: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimplemented", "!"), concat!("todo", "!(")];
/// Where packages come from is the business of each machine's configuration.
const REGISTRIES: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("registry.npm", "js.org"),
];
/// A folder of the machine on which this was first written.
const PLACE: &str = concat!("/wo", "rk/");
/// A document that was there when this was first written, and is not here.
const ABSENT: &str = concat!("DES", "IGN");
/// How that work was cut up.
const OCCASION: &str = concat!("ses", "sion");
/// Where the word has another meaning: what calls on one handle share.
const OCCASION_ELSEWHERE: &[&str] =
    &["crates/fp-core/", "docs/", "ARCHITECTURE.md", "CHANGELOG.md", "tests/tidy/architecture.rs"];
/// Words that stand before it only where work is meant.
const OCCASIONAL: &[&str] = &["this", "next", "last", "previous", "earlier", "later", "former", "my", "our"];

/// Complains about everything in a file's text that does not belong into the repository.
pub(crate) fn check_text(text: &Text) -> Vec<String> {
    let numbered = text.content.lines().enumerate();
    numbered.flat_map(|(index, line)| line_complaints(&text.path, index + 1, line)).collect()
}

/// Complains about a Rust file that does not open with its module's documentation.
pub(crate) fn check_module_docs(source: &Source) -> Option<String> {
    let documented = source.content.starts_with("//! ");
    (!documented).then(|| format!("{}: does not open with //! documentation", source.path))
}

/// Complains about a test that is passed over, or that sleeps instead of waiting for something.
pub(crate) fn check_tests(source: &Source, may_sleep: &[&str]) -> Vec<String> {
    let passes_over = source.content.contains(concat!("#[ign", "ore"));
    let first_test = source.content.find("#[cfg(test)]").map_or("", |at| &source.content[at..]);
    let tests = if source.path.contains("tests") { source.content.as_str() } else { first_test };
    let sleeps = tests.contains(concat!("sle", "ep(")) && !may_sleep.contains(&source.path.as_str());
    let complaints =
        [(passes_over, "a test that is ignored tests nothing"), (sleeps, "a test that sleeps guesses")];
    let found = complaints.iter().filter(|(is_so, _)| *is_so);
    found.map(|(_, complaint)| format!("{}: {complaint}", source.path)).collect()
}

/// The complaints about one line.
fn line_complaints(path: &str, number: usize, line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let unfinished = UNFINISHED.iter().find(|word| line.contains(**word));
    found.extend(unfinished.map(|word| format!("{word} is unfinished work: finish it or say why not")));
    let registry = REGISTRIES.iter().find(|host| line.contains(**host) && !path.ends_with("Cargo.lock"));
    found.extend(registry.map(|host| format!("names the registry {host}")));
    found.extend(line.contains(PLACE).then(|| format!("names the folder {PLACE}")));
    found.extend(has_occasion(path, line).then(|| format!("speaks of a {OCCASION}")));
    found.extend(
        line.split(|c: char| !c.is_alphanumeric()).any(|word| word == ABSENT).then(|| {
            format!("refers to {ABSENT}, which is not here: say ARCHITECTURE.md or docs/protocol.md")
        }),
    );
    found.extend(issue_number(line).map(|number| format!("names the issue {number}")));
    found.into_iter().map(|complaint| format!("{path}:{number}: {complaint}")).collect()
}

/// Whether a line speaks of the occasion on which something was written.
fn has_occasion(path: &str, line: &str) -> bool {
    let lower = line.to_lowercase();
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric()).collect();
    let is_it = |word: &str| word.strip_suffix('s').unwrap_or(word) == OCCASION;
    let may_be = OCCASION_ELSEWHERE.iter().any(|place| path.starts_with(place));
    let is_meant = |pair: &[&str]| OCCASIONAL.contains(&pair[0]) && is_it(pair[1]);
    if may_be { words.windows(2).any(is_meant) } else { words.into_iter().any(is_it) }
}

/// A `#` at the start of a word, followed by digits alone.
fn issue_number(line: &str) -> Option<&str> {
    let words = line.split(|letter: char| letter.is_whitespace() || "(),.;:".contains(letter));
    words.into_iter().find(|word| {
        word.strip_prefix('#')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(line: &str) -> usize {
        check_text(&Text { path: "README.md".into(), content: format!("Fine.\n{line}\n") }).len()
    }

    #[test]
    fn each_kind_of_dirt_is_found() {
        for word in UNFINISHED.iter().chain(REGISTRIES) {
            assert_eq!(complaints(&format!("see {word}x")), 1, "{word}");
        }
        assert_eq!(complaints(&format!("cd {PLACE}main")), 1);
        assert_eq!(complaints(&format!("see {ABSENT}.md")), 1);
        assert_eq!(complaints(&format!("in this {OCCASION}.")), 1);
        assert_eq!(complaints(&format!("two {}S", OCCASION.to_uppercase())), 1);
        let numbers = [format!("see #{}", 12), format!("(#{})", 7)];
        assert_eq!(numbers.map(|line| complaints(&line)), [1, 1]);
    }

    #[test]
    fn a_word_of_the_code_is_none_of_how_it_was_written() {
        let occasion = |line: &str| has_occasion("crates/fp-core/src/lib.rs", line);
        assert!(!occasion(&format!("mod {OCCASION}; // Both handles of a {OCCASION}.")));
        assert!(occasion(&format!("Done in the last {OCCASION}.")));
    }

    #[test]
    fn what_looks_alike_is_let_pass() {
        assert_eq!(complaints("{:#010x} &#35; #[derive] # 1 #1a colour=\"#123456\" possession"), 0);
    }

    #[test]
    fn a_lock_file_may_name_where_packages_came_from() {
        let content = format!("source = \"{}\"", REGISTRIES[0]);
        assert!(check_text(&Text { path: "Cargo.lock".into(), content }).is_empty());
    }

    #[test]
    fn missing_module_docs_are_found() {
        let check = |content: &str| check_module_docs(&Source::parse("src/a.rs", content).unwrap());
        assert!(check("use std::fmt;\n").is_some());
        assert!(check("// Not documentation.\nuse std::fmt;\n").is_some());
        assert_eq!(check("//! Formats.\nuse std::fmt;\n"), None);
    }

    #[test]
    fn tests_that_sleep_or_are_passed_over_are_found() {
        let check = |path: &str, content: &str, may: &[&str]| {
            check_tests(&Source::parse(path, content).unwrap(), may).len()
        };
        let sleeping = concat!("fn f() { sle", "ep(a); }");
        assert_eq!(check("src/a.rs", sleeping, &[]), 0, "no test");
        assert_eq!(check("tests/a.rs", sleeping, &[]), 1);
        assert_eq!(check("tests/a.rs", sleeping, &["tests/a.rs"]), 0);
        assert_eq!(check("src/a.rs", &format!("#[cfg(test)]\nmod tests {{ {sleeping} }}"), &[]), 1);
        assert_eq!(check("src/a.rs", concat!("#[ign", "ore] fn f() {}"), &[]), 1);
    }
}
