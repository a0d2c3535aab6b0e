//! What a crate must never import: the boundaries that keep the machines pure and the transports ignorant of steps.

use proc_macro2::{TokenStream, TokenTree};
use syn::UseTree;
use syn::visit::Visit;

use crate::source::{Source, Text};

/// Items that may not be named below a folder.
pub(crate) struct Boundary {
    /// The folder, from the repository's root.
    pub(crate) folder: &'static str,
    /// Paths of crates, modules or items.
    pub(crate) banned: &'static [&'static str],
    /// Files that may name them all the same.
    pub(crate) except: &'static [&'static str],
}

/// Which of our own crates a package may depend on.
pub(crate) struct Arrows {
    /// The manifest, from the repository's root.
    pub(crate) manifest: &'static str,
    /// Keys of `[dependencies]`.
    pub(crate) allowed: &'static [&'static str],
}

/// Complains about every banned path that a source names, by an import or in full.
pub(crate) fn check(source: &Source, boundaries: &[Boundary]) -> Vec<String> {
    let of_file: Vec<&Boundary> = boundaries
        .iter()
        .filter(|b| source.path.starts_with(b.folder) && !b.except.contains(&source.path.as_str()))
        .collect();
    if of_file.is_empty() {
        return Vec::new();
    }
    let named = named_paths(source);
    let banned =
        of_file.iter().flat_map(|boundary| boundary.banned.iter().map(|path| (boundary.folder, path)));
    let mut complaints: Vec<String> = banned
        .filter_map(|(folder, path)| {
            let found = named.iter().find(|named| reaches(named, path))?;
            Some(format!("{}: names {found}, but {folder} must not use {path}", source.path))
        })
        .collect();
    complaints.dedup();
    complaints
}

/// Complains about dependencies between our own packages that are not in the plan of the house.
pub(crate) fn check_arrows(manifest: &Text, arrows: &Arrows) -> Vec<String> {
    let ours = |key: &&str| key.starts_with("fp-") || key.starts_with("flexpath");
    let keys = dependencies(&manifest.content).map(|(key, _)| key);
    let beyond = keys.filter(ours).filter(|key| !arrows.allowed.contains(key));
    beyond
        .map(|key| format!("{}: depends on {key}; only {:?} are allowed", manifest.path, arrows.allowed))
        .collect()
}

/// Whether a named path is the banned one, lies inside it, or (by a glob or a module's import) gives access to it.
fn reaches(named: &Named, banned: &str) -> bool {
    let inside = |outer: &str, inner: &str| inner == outer || inner.starts_with(&format!("{outer}::"));
    let path = named.path.strip_suffix("::*").unwrap_or(&named.path);
    let opens = named.imported && path.contains("::") && inside(path, banned);
    opens || inside(banned, path)
}

/// A path that a source names.
struct Named {
    /// Its segments, with `::` between them; a glob ends in `::*`.
    path: String,
    /// Whether a `use` brings it into scope.
    imported: bool,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)
    }
}

/// All paths of a file: those of `use` items spelt out, and those in expressions, types and macros.
fn named_paths(source: &Source) -> Vec<Named> {
    let mut imports = Imports(Vec::new());
    imports.visit_file(&source.tree);
    let mut full = Vec::new();
    let tokens = source.content.parse().unwrap_or_else(|_| TokenStream::new());
    paths_in_tokens(tokens, &mut full);
    let imported = imports.0.into_iter().map(|path| Named { path, imported: true });
    imported.chain(full.into_iter().map(|path| Named { path, imported: false })).collect()
}

/// Collects the paths of `use` items.
struct Imports(Vec<String>);

impl Visit<'_> for Imports {
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        expand(String::new(), &item.tree, &mut self.0);
    }
}

/// Spells out a tree of imports.
fn expand(prefix: String, tree: &UseTree, into: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => expand(format!("{prefix}{}::", path.ident), &path.tree, into),
        UseTree::Name(name) => into.push(format!("{prefix}{}", name.ident)),
        UseTree::Rename(rename) => into.push(format!("{prefix}{}", rename.ident)),
        UseTree::Glob(_) => into.push(format!("{prefix}*")),
        UseTree::Group(group) => group.items.iter().for_each(|item| expand(prefix.clone(), item, into)),
    }
}

/// Collects `a::b::c` wherever it stands, inside macros too.
fn paths_in_tokens(tokens: TokenStream, into: &mut Vec<String>) {
    let mut path = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if path.ends_with("::") => path.push_str(&ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => path.push(':'),
            other @ (TokenTree::Ident(_)
            | TokenTree::Punct(_)
            | TokenTree::Group(_)
            | TokenTree::Literal(_)) => {
                keep_path(std::mem::take(&mut path), into);
                match other {
                    TokenTree::Ident(ident) => path = ident.to_string(),
                    TokenTree::Group(group) => paths_in_tokens(group.stream(), into),
                    TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
        }
    }
    keep_path(path, into);
}

/// Keeps what has more than one segment.
fn keep_path(path: String, into: &mut Vec<String>) {
    let path = path.trim_end_matches(':');
    if path.contains("::") {
        into.push(path.to_owned());
    }
}

/// The keys of a manifest's `[dependencies]`, and what they are told.
pub(crate) fn dependencies(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut inside = false;
    let lines = manifest.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(move |line| {
        if line.starts_with('[') {
            inside = line == "[dependencies]";
        }
        let (key, value) = line.split_once(['=', '.']).filter(|_| inside)?;
        Some((key.trim(), value))
    })
}

#[test]
fn banned_paths_are_found_however_they_are_named() {
    const PURE: &[Boundary] =
        &[Boundary { folder: "pure/", banned: &["std::time::Instant", "tokio"], except: &[] }];
    let complaints = |content: &str| check(&Source::parse("pure/a.rs", content).unwrap(), PURE).len();
    assert_eq!(complaints("use std::{fmt, time::{Duration, Instant}};"), 1);
    assert_eq!(complaints("use std::time;"), 1, "a module that holds a banned item");
    assert_eq!(complaints("use std::time::*;"), 1);
    assert_eq!(complaints("use std::time::Instant as Clock;"), 1);
    assert_eq!(complaints("fn f() { println!(\"{:?}\", std::time::Instant::now()); }"), 1);
    assert_eq!(complaints("use tokio::net::TcpStream; fn f() { tokio::spawn(g()); }"), 1);
    assert_eq!(complaints("use tokio;"), 1);
    assert_eq!(complaints("use std::{fmt, time::Duration}; // std::time::Instant"), 0);
    assert!(check(&Source::parse("other/a.rs", "use tokio;").unwrap(), PURE).is_empty());
}

#[test]
fn a_new_arrow_between_our_packages_is_found() {
    let content = "[dependencies]\nserde = \"1\"\n# Version 1.2 = the last.\nfp-core.workspace = true\nfp-types = { workspace = true }\n\
                   [dev-dependencies]\nfp-wire = \"0\"\n";
    let manifest = Text { path: "Cargo.toml".into(), content: content.into() };
    let complaints = check_arrows(&manifest, &Arrows { manifest: "Cargo.toml", allowed: &["fp-types"] });
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("fp-core"));
}
