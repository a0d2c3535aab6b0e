//! The blocks of a page, as they stand there: what tests run, so that no page shows what does not work.

use std::collections::BTreeSet;
use std::path::Path;

/// The pages whose every block some test runs.
pub(crate) const PAGES: [&str; 2] = ["watches.md", "steering.md"];

/// A block: its language, and what stands between the fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) text: String,
}

/// All blocks of a page of `docs`, where `root` is the repository's.
pub(crate) fn blocks(root: &Path, page: &str) -> Vec<Block> {
    let path = root.join("docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    read(&text)
}

/// Those in one language.
pub(crate) fn blocks_in(root: &Path, page: &str, language: &str) -> Vec<String> {
    let all = blocks(root, page).into_iter().filter(|block| block.language == language);
    all.map(|block| block.text).collect()
}

fn read(page: &str) -> Vec<Block> {
    let (mut found, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(language), None) => {
                open = Some(Block { language: language.trim().to_owned(), text: String::new() });
            }
            (Some(_), Some(block)) => found.push(block),
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a block does not end");
    found
}

/// The languages of a page's blocks.
pub(crate) fn languages(root: &Path, page: &str) -> BTreeSet<String> {
    blocks(root, page).into_iter().map(|block| block.language).collect()
}

#[test]
fn blocks_are_found_as_they_stand() {
    let block = |language: &str, text: &str| Block { language: language.into(), text: text.into() };
    let page = "Words.\n\n```sh\na b\n```\n\n```\nplain\n```\n  ```rust\nfn f() {}\n\nfn g() {}\n  ```\n";
    let wanted = [block("sh", "a b\n"), block("", "plain\n"), block("rust", "fn f() {}\n\nfn g() {}\n")];
    assert_eq!(read(page), wanted);
}
