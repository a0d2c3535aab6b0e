//! Reads the repository: every text file, and every Rust file with its syntax tree.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours. In a second work tree of git, `.git` is a file.
#[rustfmt::skip]
const PASSED_OVER: &[&str] = &[
    ".git", "target", ".demo", "corpus", "artifacts", "__pycache__", ".pytest_cache", ".mypy_cache", ".hypothesis",
    ".ipynb_checkpoints",
];
/// The mark that the flatbuffers compiler leaves in the first line of what it writes.
const GENERATED_MARK: &str = "automatically generated";
/// The only folder where generated code may stand.
const GENERATED_FOLDER: &str = "crates/fp-wire/";

/// A text file of the repository.
pub(crate) struct Text {
    /// Where it is, from the repository's root.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) content: String,
}

/// A Rust file that somebody wrote (generated ones are left out).
pub(crate) struct Source {
    /// Where it is, from the repository's root.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) content: String,
    /// Its syntax tree.
    pub(crate) tree: syn::File,
}

impl Source {
    /// Parses a file; the error says which.
    pub(crate) fn parse(path: &str, content: &str) -> Result<Self, String> {
        let tree = syn::parse_file(content).map_err(|error| format!("{path}: no Rust: {error}"))?;
        Ok(Self { path: path.to_owned(), content: content.to_owned(), tree })
    }
}

/// Every text file of the repository, by path.
pub(crate) fn texts() -> Vec<Text> {
    let root = root();
    let mut paths = Vec::new();
    collect_files(&root, &mut paths);
    paths.sort();
    paths.iter().filter_map(|path| read_text(&root, path)).collect()
}

/// The repository's root: of this checkout, unless `FLEXPATH_TIDY_ROOT` names another.
fn root() -> PathBuf {
    let told = std::env::var_os("FLEXPATH_TIDY_ROOT").map(PathBuf::from);
    told.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")))
}

/// Every Rust file of the repository that is not generated.
pub(crate) fn sources() -> Vec<Source> {
    let written = |text: &Text| text.path.ends_with(".rs") && !is_generated(text);
    let parsed = texts().into_iter().filter(written).map(|text| Source::parse(&text.path, &text.content));
    parsed.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a file was written by the flatbuffers compiler.
pub(crate) fn is_generated(text: &Text) -> bool {
    let first = text.content.lines().next().unwrap_or_default();
    text.path.starts_with(GENERATED_FOLDER) && first.contains(GENERATED_MARK)
}

/// Walks a folder.
fn collect_files(folder: &Path, into: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("a folder can be listed").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if PASSED_OVER.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect_files(&path, into);
        } else if path.is_file() && !name.ends_with(".log") {
            into.push(path);
        }
    }
}

/// Reads one file; none if it is no text, or was removed while we walked.
fn read_text(root: &Path, path: &Path) -> Option<Text> {
    let content = fs::read_to_string(path).ok()?;
    let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    Some(Text { path, content })
}

#[test]
fn generated_code_is_known_by_its_mark_and_its_folder() {
    let text = |path: &str| Text { path: path.into(), content: format!("// {GENERATED_MARK} by a tool\n") };
    assert!(is_generated(&text("crates/fp-wire/src/layout.rs")));
    assert!(!is_generated(&text("crates/fp-core/src/layout.rs")));
}
