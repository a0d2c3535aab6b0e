//! How long files and functions are.

use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::source::Source;

/// No file is longer, its unit tests included.
pub(crate) const FILE_LIMIT_LINES: usize = 500;
/// No function is longer, from `fn` to its closing brace.
pub(crate) const FUNCTION_LIMIT_LINES: usize = 60;
/// Nine of ten functions of a package are shorter.
pub(crate) const FUNCTION_TENTH_LINES: usize = 30;

/// A function and its length.
pub(crate) struct Function {
    /// The file and the function's name: `src/lib.rs:name`.
    pub(crate) place: String,
    /// From `fn` to the closing brace.
    pub(crate) lines: usize,
}

/// Every function of a file that has a body.
pub(crate) fn functions(source: &Source) -> Vec<Function> {
    let mut found = Functions { path: &source.path, found: Vec::new() };
    found.visit_file(&source.tree);
    found.found
}

/// Complains about a file that is too long, or shorter than the entry that excuses it.
pub(crate) fn check_file(source: &Source, excused: &[(&str, usize)]) -> Option<String> {
    let place = source.path.as_str();
    ratchet(place, source.content.lines().count(), FILE_LIMIT_LINES, excused)
}

/// Complains about a function that is too long, or shorter than the entry that excuses it.
pub(crate) fn check_function(function: &Function, excused: &[(&str, usize)]) -> Option<String> {
    ratchet(&function.place, function.lines, FUNCTION_LIMIT_LINES, excused)
}

/// Complains about packages in which too many functions are long.
pub(crate) fn check_tenth(functions: &[Function]) -> Vec<String> {
    let mut packages: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for function in functions {
        packages.entry(package_of(&function.place)).or_default().push(function.lines);
    }
    packages.into_iter().filter_map(|(package, lines)| tenth_complaint(package, lines)).collect()
}

/// Complains about entries that excuse nothing any more.
pub(crate) fn check_excuses(places: &[String], excused: &[(&str, usize)]) -> Vec<String> {
    let gone = excused.iter().filter(|(place, _)| !places.iter().any(|known| known == place));
    gone.map(|(place, _)| format!("{place} is excused, but there is no such thing: remove the entry"))
        .collect()
}

/// A limit, and for the places that are past it already their own limit, which may only sink.
fn ratchet(place: &str, lines: usize, limit: usize, excused: &[(&str, usize)]) -> Option<String> {
    let excuse = excused.iter().find(|(known, _)| *known == place).map(|(_, lines)| *lines);
    match excuse {
        Some(_) if lines <= limit => {
            Some(format!("{place}: {lines} lines, within the limit now: remove its entry"))
        }
        Some(excuse) if lines > excuse => {
            Some(format!("{place}: {lines} lines; it had {excuse}, and may only shrink"))
        }
        None if lines > limit => Some(format!("{place}: {lines} lines; the limit is {limit}")),
        Some(_) | None => None,
    }
}

/// Complains if a tenth of these functions or more is long.
fn tenth_complaint(package: &str, mut lines: Vec<usize>) -> Option<String> {
    lines.sort_unstable();
    let tenth = lines[(lines.len() * 9 / 10).min(lines.len() - 1)];
    (tenth >= FUNCTION_TENTH_LINES).then(|| {
        format!("{package}: a tenth of its functions has {tenth} lines or more; {FUNCTION_TENTH_LINES} is the limit")
    })
}

/// The package's folder: `crates/fp-types`, `demo`, or the root's own `src`, `tests` and so on.
pub(crate) fn package_of(place: &str) -> &str {
    let depth = if place.starts_with("crates/") { 2 } else { 1 };
    let end = place.match_indices('/').nth(depth - 1).map_or(place.len(), |(at, _)| at);
    &place[..end]
}

/// Collects functions.
struct Functions<'a> {
    path: &'a str,
    found: Vec<Function>,
}

impl Functions<'_> {
    fn keep(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span().start().line;
        let last = block.brace_token.span.close().end().line;
        let place = format!("{}:{}", self.path, signature.ident);
        self.found.push(Function { place, lines: last + 1 - first });
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.keep(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.keep(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.keep(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(lines: usize) -> Source {
        let body = "    1;\n".repeat(lines - 2);
        Source::parse("src/a.rs", &format!("/// Documented.\nfn f() {{\n{body}}}\n")).unwrap()
    }

    #[test]
    fn a_long_function_is_found_and_an_excuse_is_a_ratchet() {
        let check = |lines, excused: &[(&str, usize)]| check_function(&functions(&long(lines))[0], excused);
        assert_eq!(functions(&long(60))[0].lines, 60);
        assert_eq!(check(60, &[]), None);
        assert!(check(61, &[]).is_some());
        assert_eq!(check(61, &[("src/a.rs:f", 61)]), None);
        assert!(check(62, &[("src/a.rs:f", 61)]).is_some(), "it grew");
        assert!(check(60, &[("src/a.rs:f", 61)]).is_some(), "the entry is stale");
        assert_eq!(check_excuses(&["src/a.rs:f".into()], &[("src/a.rs:g", 61)]).len(), 1);
    }

    #[test]
    fn methods_and_default_methods_are_functions() {
        let content = "struct A; impl A { fn f() {} } trait B { fn g() { fn h() {} } fn i(); }";
        let found = functions(&Source::parse("src/a.rs", content).unwrap());
        let names: Vec<&str> = found.iter().map(|function| function.place.as_str()).collect();
        assert_eq!(names, ["src/a.rs:f", "src/a.rs:g", "src/a.rs:h"]);
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(check_file(&long(499), &[]), None);
        assert!(check_file(&long(500), &[]).is_some(), "501 lines with the comment");
    }

    #[test]
    fn too_many_long_functions_in_a_package_are_found() {
        let package = |long: usize, path: &str| {
            let lines = std::iter::repeat_n(30, long).chain(std::iter::repeat_n(5, 10 - long));
            lines.map(|lines| Function { place: format!("{path}:f"), lines }).collect::<Vec<_>>()
        };
        assert_eq!(check_tenth(&package(1, "crates/a/src/x.rs")).len(), 1);
        let mut mixed = package(0, "crates/a/src/x.rs");
        assert!(check_tenth(&mixed).is_empty());
        mixed.extend(package(1, "crates/b/src/x.rs"));
        assert!(check_tenth(&mixed)[0].starts_with("crates/b:"));
    }
}
