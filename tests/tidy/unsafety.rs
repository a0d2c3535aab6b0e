//! Unsafe code: every use explains itself, every file's uses are counted, and most crates forbid it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::source::Source;

/// Complains about a use of `unsafe` without a comment that says why it is sound.
pub(crate) fn check_comments(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.content.lines().collect();
    let bare = uses(source).into_iter().filter(|line| !is_explained(&lines, *line));
    bare.map(|line| format!("{}:{line}: unsafe without a SAFETY comment", source.path)).collect()
}

/// Complains about a file whose number of uses is not the one on record; only fewer may be put on record.
pub(crate) fn check_count(source: &Source, recorded: &[(&str, usize)]) -> Option<String> {
    let count = uses(source).len();
    let known = recorded.iter().find(|(path, _)| *path == source.path).map_or(0, |(_, count)| *count);
    (count != known).then(|| {
        let advice = if count > known { "find a way without" } else { "lower the record" };
        format!("{}: {count} uses of unsafe, {known} on record: {advice}", source.path)
    })
}

/// Complains about a crate's root that does not forbid unsafe code.
pub(crate) fn check_forbidden(source: &Source) -> Option<String> {
    let forbids = source.content.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]");
    (!forbids).then(|| format!("{}: must say #![forbid(unsafe_code)]", source.path))
}

/// The lines, from 1, of unsafe blocks, implementations and functions with a body, inside macros too.
fn uses(source: &Source) -> Vec<usize> {
    let mut found = Vec::new();
    uses_in_tokens(source.content.parse().unwrap_or_else(|_| TokenStream::new()), &mut found);
    found
}

/// Walks tokens; the type of a function pointer, as in `unsafe extern "C" fn(i32)`, is no use.
fn uses_in_tokens(tokens: TokenStream, found: &mut Vec<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (position, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) if *ident == "unsafe" && is_use(&tokens[position + 1..]) => {
                found.push(ident.span().start().line);
            }
            TokenTree::Group(group) => uses_in_tokens(group.stream(), found),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Whether what follows `unsafe` is a block, an implementation, a block of foreign items or a named function.
fn is_use(rest: &[TokenTree]) -> bool {
    let word = |position: usize| match rest.get(position) {
        Some(TokenTree::Ident(ident)) => ident.to_string(),
        _ => String::new(),
    };
    let function = (0..rest.len().min(3)).find(|position| word(*position) == "fn");
    match (rest.first(), function) {
        (Some(TokenTree::Group(group)), _) => group.delimiter() == Delimiter::Brace,
        (_, Some(position)) => !word(position + 1).is_empty(),
        _ => matches!(word(0).as_str(), "impl" | "trait" | "extern"),
    }
}

/// Whether a comment on the line itself, or above the statement it belongs to, gives the reason.
fn is_explained(lines: &[&str], line: usize) -> bool {
    let explains = |text: &str| text.contains("SAFETY") || text.contains("# Safety");
    if lines.get(line - 1).is_some_and(|text| explains(text)) {
        return true;
    }
    let above = lines[..line - 1].iter().rev().map(|text| text.trim());
    above.take_while(|text| text.starts_with("//") || !ends_statement(text)).any(explains)
}

/// Whether a line of code ends what stands before it, so that a comment above it speaks of something else.
fn ends_statement(text: &str) -> bool {
    text.is_empty() || text.ends_with([';', '}', '{', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(content: &str) -> Source {
        Source::parse("src/a.rs", content).unwrap()
    }

    #[test]
    fn uses_are_counted_also_in_macros_but_not_in_types_and_comments() {
        let content = "type F = unsafe extern \"C\" fn(i32);\n// unsafe { }\nunsafe fn f() {}\n\
            unsafe impl Send for A {}\nfn g() { unsafe { f() }; assert!(unsafe { h() }, \"unsafe { }\"); }\n\
            unsafe extern \"C\" fn k(a: i32) {}\n";
        assert_eq!(uses(&source(content)), [3, 4, 5, 5, 6]);
    }

    #[test]
    fn a_use_without_a_reason_is_found() {
        let complaints = |content: &str| check_comments(&source(content)).len();
        assert_eq!(complaints("fn f() {\n    unsafe { g() }\n}"), 1);
        assert_eq!(complaints("fn f() {\n    // SAFETY: g is sound.\n    unsafe { g() }\n}"), 0);
        assert_eq!(complaints("fn f() {\n    // SAFETY: g is.\n    let a =\n        unsafe { g() };\n}"), 0);
        let second = "fn f() {\n    // SAFETY: g is.\n    unsafe { g() };\n    unsafe { g() };\n}";
        assert_eq!(complaints(second), 1);
        assert_eq!(complaints("/// Does.\n///\n/// # Safety\n///\n/// Never null.\nunsafe fn f() {}"), 0);
    }

    #[test]
    fn the_record_of_uses_is_a_ratchet() {
        let one = source("unsafe impl Send for A {}");
        assert!(check_count(&one, &[]).is_some());
        assert_eq!(check_count(&one, &[("src/a.rs", 1)]), None);
        assert!(check_count(&one, &[("src/a.rs", 2)]).is_some_and(|text| text.contains("lower")));
    }

    #[test]
    fn a_root_that_does_not_forbid_unsafe_code_is_found() {
        assert!(check_forbidden(&source("//! Docs.\n#![deny(unsafe_code)]")).is_some());
        assert_eq!(check_forbidden(&source("//! Docs.\n#![forbid(unsafe_code)]")), None);
    }
}
