//! The length of sentences, in documents and in the documentation of modules and public items.
//!
//! A sentence ends at a full stop, a question mark or an exclamation mark. Code is one word. An item of a list, a
//! heading and a cell of a table are sentences of their own. How many longer sentences are left is on record.
//!
//! `FLEXPATH_SENTENCES=docs cargo test --profile ci -p flexpath --test tidy sentences_are_short -- --nocapture`
//! prints the longer sentences of the files whose paths begin so; without it, how many are left in each folder.

mod comments;
mod markdown;
mod sentences;

use std::collections::BTreeMap;

use crate::length::package_of;
use crate::source::{Source, Text};
pub(crate) use markdown::split_row;
use sentences::{Paragraph, Sentence};

/// No sentence has more words.
const LIMIT_WORDS: usize = 25;

/// A sentence that is too long.
pub(crate) struct Long {
    /// The file.
    pub(crate) path: String,
    /// The folder or package that it is counted for.
    pub(crate) owner: String,
    /// The sentence.
    sentence: Sentence,
}

impl std::fmt::Display for Long {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Sentence { line, words, text } = &self.sentence;
        write!(f, "{}:{line}: {words} words: {text}", self.path)
    }
}

/// Every sentence that is too long, file by file.
pub(crate) fn long_sentences(texts: &[Text], sources: &[Source]) -> Vec<Long> {
    let documents = texts.iter().filter(|text| text.path.ends_with(".md")).flat_map(of_document);
    documents.chain(sources.iter().flat_map(of_source)).collect()
}

/// The long sentences of a document.
fn of_document(text: &Text) -> Vec<Long> {
    let lines = text.content.lines().enumerate().map(|(index, line)| (index + 1, line));
    long(&text.path, package_of(&text.path), &markdown::paragraphs(lines))
}

/// The long sentences of a Rust file; those of public items are counted apart.
fn of_source(source: &Source) -> Vec<Long> {
    let comments = comments::comments(source);
    let owner = package_of(&source.path);
    let mut found = long(&source.path, owner, &comments.modules);
    found.extend(long(&source.path, &format!("{owner}, public items"), &comments.public));
    found
}

/// The long sentences of paragraphs.
fn long(path: &str, owner: &str, paragraphs: &[Paragraph]) -> Vec<Long> {
    let sentences = paragraphs.iter().flat_map(sentences::sentences);
    let long = sentences.filter(|sentence| sentence.words > LIMIT_WORDS);
    long.map(|sentence| Long { path: path.to_owned(), owner: owner.to_owned(), sentence }).collect()
}

/// How many long sentences each folder has left.
pub(crate) fn left(long: &[Long]) -> BTreeMap<&str, usize> {
    let mut left = BTreeMap::new();
    long.iter().for_each(|long| *left.entry(long.owner.as_str()).or_default() += 1);
    left
}

/// Complains about folders whose number is not the one on record; only fewer may be put on record.
pub(crate) fn complaints(left: &BTreeMap<&str, usize>, recorded: &[(&str, usize)]) -> Vec<String> {
    let on_record =
        |owner: &str| recorded.iter().find(|(known, _)| *known == owner).map_or(0, |(_, count)| *count);
    let gone = recorded.iter().map(|(owner, _)| *owner).filter(|owner| !left.contains_key(owner));
    let counts = left.iter().map(|(owner, count)| (*owner, *count)).chain(gone.map(|owner| (owner, 0)));
    let wrong = counts.filter(|(owner, count)| *count != on_record(owner) || recorded.contains(&(*owner, 0)));
    wrong.map(|(owner, count)| complaint(owner, count, on_record(owner))).collect()
}

/// What to do about one folder.
fn complaint(owner: &str, count: usize, recorded: usize) -> String {
    let advice = if count > recorded { "shorten them" } else { "lower the record" };
    format!("{owner}: {count} sentences of more than {LIMIT_WORDS} words, {recorded} on record: {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, words: usize) -> Vec<String> {
        let content = format!("{}.\n\nShort.\n", vec!["word"; words].join(" "));
        let long = long_sentences(&[Text { path: path.into(), content }], &[]);
        long.iter().map(|long| format!("{} {}", long.owner, long.sentence.words)).collect()
    }

    #[test]
    fn a_long_sentence_is_found_and_counted_for_its_folder() {
        assert!(found("docs/a.md", 25).is_empty());
        assert_eq!(found("docs/a.md", 26), ["docs 26"]);
        assert_eq!(found("README.md", 26), ["README.md 26"]);
        assert!(found("docs/a.txt", 26).is_empty());
    }

    #[test]
    fn public_items_are_counted_apart() {
        let words = vec!["word"; 26].join(" ");
        let content = format!("//! {words}.\n\n/// {words}.\npub struct A;\n/// {words}.\nstruct B;\n");
        let long = long_sentences(&[], &[Source::parse("crates/a/src/lib.rs", &content).unwrap()]);
        let shown: Vec<String> = long.iter().map(ToString::to_string).collect();
        assert!(shown[0].starts_with("crates/a/src/lib.rs:1: 26 words: word") && shown[1].contains(":3: "));
        let left = left(&long);
        assert_eq!(left.into_iter().collect::<Vec<_>>(), [("crates/a", 1), ("crates/a, public items", 1)]);
    }

    #[test]
    fn the_record_is_a_ratchet() {
        let left = BTreeMap::from([("docs", 2)]);
        assert!(complaints(&left, &[("docs", 2)]).is_empty());
        assert!(complaints(&left, &[("docs", 1)])[0].contains("shorten"));
        assert!(complaints(&left, &[])[0].contains("shorten"));
        assert!(complaints(&left, &[("docs", 3)])[0].contains("lower"));
        assert_eq!(complaints(&left, &[("docs", 2), ("demo", 1)]).len(), 1);
    }
}
