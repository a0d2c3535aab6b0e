//! Cuts Markdown into paragraphs: code is passed over, each item, heading and cell stands by itself.

use super::sentences::Paragraph;

/// The paragraphs of numbered lines of Markdown.
pub(crate) fn paragraphs<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Paragraph> {
    let mut reader = Reader::default();
    lines.for_each(|(number, line)| reader.line(number, line));
    reader.close();
    reader.found
}

/// Reads line by line.
#[derive(Default)]
struct Reader {
    /// The sign of the fence that code stands behind.
    fence: Option<char>,
    /// Whether a comment of HTML is open.
    comment: bool,
    /// Whether the lines belong to a list, so that an indent is no code.
    list: bool,
    /// Whether the line before was empty.
    after_gap: bool,
    open: Paragraph,
    found: Vec<Paragraph>,
}

impl Reader {
    /// Reads one line.
    fn line(&mut self, number: usize, line: &str) {
        let text = line.trim().trim_start_matches("> ");
        if self.passes_over(text) {
            return self.close();
        }
        let after_gap = std::mem::replace(&mut self.after_gap, text.is_empty());
        if text.is_empty() || is_rule(text) || is_definition(text) {
            return self.close();
        }
        let indented = line.starts_with("    ");
        if indented && after_gap && !self.list {
            self.after_gap = true;
            return;
        }
        self.text(number, text, indented || line.starts_with("  "));
    }

    /// Reads a line that holds text.
    fn text(&mut self, number: usize, text: &str, indented: bool) {
        if text.starts_with('|') {
            self.close();
            return self.found.extend(cells(text).map(|cell| vec![(number, cell)]));
        }
        if text.starts_with('#') && text.trim_start_matches('#').starts_with(' ') {
            self.close();
            self.list = false;
            return self.found.push(vec![(number, text.trim_start_matches(['#', ' ']).to_owned())]);
        }
        match item(text) {
            Some(rest) => {
                self.close();
                self.list = true;
                self.open.push((number, rest.to_owned()));
            }
            None => {
                self.list &= indented || !self.open.is_empty();
                self.open.push((number, text.to_owned()));
            }
        }
    }

    /// Whether a line belongs to code behind a fence or to a comment.
    fn passes_over(&mut self, text: &str) -> bool {
        let fence = text
            .chars()
            .next()
            .filter(|sign| "`~".contains(*sign) && text.len() - text.trim_start_matches(*sign).len() >= 3);
        if self.fence.is_some() {
            self.fence = self.fence.filter(|open| fence != Some(*open));
            return true;
        }
        self.fence = fence.filter(|sign| !text.trim_start_matches(*sign).contains(*sign));
        let is_comment = self.comment || text.starts_with("<!--");
        self.comment = is_comment && !text.contains("-->");
        self.fence.is_some() || is_comment
    }

    /// Ends a paragraph.
    fn close(&mut self) {
        if !self.open.is_empty() {
            self.found.push(std::mem::take(&mut self.open));
        }
    }
}

/// Whether a line draws a rule, or underlines a heading.
fn is_rule(text: &str) -> bool {
    text.chars().all(|sign| "-=*_".contains(sign)) && text.len() >= 3
}

/// Whether a line says where links lead: `[name]: address`.
fn is_definition(text: &str) -> bool {
    text.starts_with('[') && text.contains("]: ") && text.split_whitespace().count() <= 2
}

/// What follows the mark of a list's item.
fn item(text: &str) -> Option<&str> {
    let marked = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark));
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") "));
    marked.or_else(|| numbered.filter(|_| digits.len() < text.len()))
}

/// The texts in the cells of a table's row.
fn cells(row: &str) -> impl Iterator<Item = String> {
    let is_text = |cell: &String| cell.chars().any(char::is_alphanumeric);
    split_row(row).into_iter().filter(is_text)
}

/// What stands between the strokes of a table's row, and before the first and behind the last.
pub(crate) fn split_row(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut in_code = false;
    let mut before = ' ';
    for letter in row.chars() {
        in_code ^= letter == '`';
        match letter {
            '|' if !in_code && before != '\\' => cells.push(String::new()),
            other => cells.last_mut().into_iter().for_each(|cell| cell.push(other)),
        }
        before = letter;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(content: &str) -> Vec<String> {
        let lines = content.lines().enumerate().map(|(index, line)| (index + 1, line));
        let joined = |paragraph: Paragraph| {
            let lines: Vec<String> = paragraph.into_iter().map(|(_, line)| line).collect();
            lines.join(" ")
        };
        paragraphs(lines).into_iter().map(joined).collect()
    }

    #[test]
    fn paragraphs_items_headings_and_cells_stand_by_themselves() {
        assert_eq!(texts("# Title\nOne\ntwo.\n\nThree.\n"), ["Title", "One two.", "Three."]);
        assert_eq!(texts("Lead:\n- one\n  more\n- two\n1. three\n"), ["Lead:", "one more", "two", "three"]);
        assert_eq!(texts("| a | `b|c` |\n|---|---|\n| d | e |\n"), [" a ", " `b|c` ", " d ", " e "]);
        assert_eq!(texts("> Said\n> so.\n\n---\nEnd\n===\n"), ["Said so.", "End"]);
    }

    #[test]
    fn code_comments_and_definitions_are_passed_over() {
        assert_eq!(texts("a\n```rust\nlet b;\n```\nc\n\n    code\n\nd\n"), ["a", "c", "d"]);
        assert_eq!(texts("- item\n\n    more of it\n"), ["item", "more of it"]);
        assert_eq!(texts("<!-- a\nb -->\nc\n[d]: http://e\n"), ["c"]);
        assert_eq!(texts("~~~\n```\n~~~\nafter\n"), ["after"]);
    }
}
