//! Cuts paragraphs into sentences and counts their words.

/// Short forms that end in a full stop but end no sentence.
const SHORT_FORMS: &[&str] = &["e.g.", "i.e.", "cf.", "vs.", "etc.", "al."];

/// Lines of text that belong together, each with its number: a paragraph, an item of a list, a cell, a heading.
pub(crate) type Paragraph = Vec<(usize, String)>;

/// A sentence of a paragraph.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// The line on which it begins.
    pub(crate) line: usize,
    /// How many words it has.
    pub(crate) words: usize,
    /// The sentence, with each piece of code as one word.
    pub(crate) text: String,
}

/// The sentences of a paragraph. Only a full stop, a question mark or an exclamation mark ends one.
pub(crate) fn sentences(paragraph: &Paragraph) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    for word in words(paragraph) {
        let ends = ends_sentence(&word.1);
        open.push(word);
        if ends {
            found.extend(sentence(std::mem::take(&mut open)));
        }
    }
    found.extend(sentence(open));
    found
}

/// A sentence of these words; none of nothing.
fn sentence(words: Vec<(usize, String)>) -> Option<Sentence> {
    let line = words.first()?.0;
    let counted = words.iter().filter(|(_, word)| word.chars().any(char::is_alphanumeric)).count();
    let text: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
    Some(Sentence { line, words: counted, text: text.join(" ") })
}

/// Whether a word is the last of its sentence.
fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches([')', '"', '\'', '*', '_', '”', '’']);
    bare.ends_with(['.', '!', '?']) && !SHORT_FORMS.contains(&bare.trim_start_matches('('))
}

/// The words of a paragraph with their lines. Code is one word, of a link only the text counts.
fn words(paragraph: &Paragraph) -> Vec<(usize, String)> {
    let text: Vec<&str> = paragraph.iter().map(|(_, line)| line.trim()).collect();
    let plain = plain(&text.join("\n"));
    let first = paragraph.first().map_or(0, |(line, _)| *line);
    let mut found = Vec::new();
    for (index, line) in plain.split('\n').enumerate() {
        let number = paragraph.get(index).map_or(first, |(number, _)| *number);
        found.extend(line.split_whitespace().map(|word| (number, word.replace(HIDDEN_SPACE, " "))));
    }
    found
}

/// Stands for a space inside of code, which parts no words.
const HIDDEN_SPACE: char = '\u{1}';

/// A text without its marks: code in one piece, links without their targets, no tags of HTML. Lines stay lines.
fn plain(text: &str) -> String {
    let mut into = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let read = match letter {
            '`' => code(rest, &mut into),
            ']' => target(rest, &mut into),
            '<' => tag(rest, &mut into),
            '[' => 1,
            other => {
                into.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[read..];
    }
    into
}

/// Reads code between backticks as a part of a word; returns its length. Full stops inside end nothing.
fn code(rest: &str, into: &mut String) -> usize {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let fence = &rest[..ticks];
    let Some(length) = rest[ticks..].find(fence) else { return ticks };
    let inside = &rest[ticks..ticks + length];
    into.push('`');
    let hidden = |letter: char| if letter == ' ' { HIDDEN_SPACE } else { letter };
    into.extend(inside.chars().map(hidden));
    into.push('`');
    ticks + length + ticks
}

/// Passes over what a link leads to, after its text; keeps the ends of lines.
fn target(rest: &str, into: &mut String) -> usize {
    let closing = match rest.as_bytes().get(1) {
        Some(b'(') => ')',
        Some(b'[') => ']',
        _ => return 1,
    };
    pass_over(rest, closing, into)
}

/// Passes over a tag of HTML; keeps an address as a word, and the sign where it only compares.
fn tag(rest: &str, into: &mut String) -> usize {
    let begins_tag =
        rest[1..].starts_with(|letter: char| letter.is_ascii_alphabetic() || "/!".contains(letter));
    match rest.find('>') {
        Some(end) if begins_tag && rest[..end].contains("://") => {
            into.push_str("address");
            end + 1
        }
        Some(_) if begins_tag => pass_over(rest, '>', into),
        Some(_) | None => {
            into.push('<');
            1
        }
    }
}

/// Passes over everything up to a sign, but for ends of lines; over one letter if there is no such sign.
fn pass_over(rest: &str, closing: char, into: &mut String) -> usize {
    let Some(end) = rest[1..].find(closing) else { return 1 };
    let passed = &rest[..end + 1];
    into.extend(passed.chars().filter(|letter| *letter == '\n'));
    passed.len() + closing.len_utf8()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Vec<usize> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.to_owned()));
        sentences(&lines.collect()).into_iter().map(|sentence| sentence.words).collect()
    }

    #[test]
    fn sentences_end_at_full_stops_and_their_like_alone() {
        assert_eq!(counts("One two three. Four!  Five six? Seven"), [3, 1, 2, 1]);
        assert_eq!(counts("One: two; three, four - five."), [5]);
        assert_eq!(counts("Version 1.2 of a.b is e.g. new (i.e. young). Yes."), [9, 1]);
        assert_eq!(counts("He said \"no.\" **Then.** (So.) End."), [3, 1, 1, 1]);
    }

    #[test]
    fn code_is_one_word_and_of_links_the_text_counts() {
        assert_eq!(counts("Call `a b. c` twice."), [3]);
        assert_eq!(counts("Call ``a ` b``'s `c`."), [3]);
        assert_eq!(
            counts("See [the two words](http://a.b/c. d) or [`Name`][link. x], or <https://a. b>."),
            [8]
        );
        assert_eq!(counts("A <br> b < c <b>d</b>."), [4]);
    }

    #[test]
    fn a_sentence_begins_on_its_line() {
        let paragraph =
            vec![(7, "One [two".to_owned()), (8, "three](a b). Four".to_owned()), (9, "five.".to_owned())];
        let lines: Vec<_> = sentences(&paragraph).iter().map(|s| (s.line, s.words)).collect();
        assert_eq!(lines, [(7, 3), (8, 2)]);
    }
}
