//! Paths in tokens: what macros are called with or made of is no syntax tree.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// What a stream of tokens names.
#[derive(Default)]
pub(crate) struct Named {
    /// Paths, also those of one segment.
    pub(crate) paths: Vec<Vec<String>>,
    /// Names of called macros that stand without a path.
    pub(crate) calls: Vec<String>,
}

/// Everything that tokens name.
pub(crate) fn named(tokens: TokenStream) -> Named {
    let mut named = Named::default();
    named.scan(tokens, &[]);
    named
}

impl Named {
    /// Scans tokens; paths at their start, and after each comma between braces of a `use`, begin with the prefix.
    fn scan(&mut self, tokens: TokenStream, prefix: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Ident(_) if !is_member(&tokens, at) => at = self.path(&tokens, at, prefix),
                TokenTree::Group(group) => {
                    self.scan(group.stream(), &[]);
                    at += 1;
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => at += 1,
            }
        }
    }

    /// Reads one path and what its last `::` opens; returns where it ends.
    fn path(&mut self, tokens: &[TokenTree], start: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        let mut at = start;
        loop {
            match tokens.get(at) {
                Some(TokenTree::Ident(ident)) => path.push(ident.to_string()),
                Some(TokenTree::Group(group)) if is_tree(group) => {
                    self.scan(group.stream(), &path);
                    return at + 1;
                }
                Some(_) | None => break,
            }
            at += 1;
            if !is_joint(tokens, at) {
                break;
            }
            at += 2;
        }
        self.keep(path, tokens.get(at), tokens.get(at + 1));
        at
    }

    /// Keeps a path, or the macro that it calls.
    fn keep(&mut self, mut path: Vec<String>, next: Option<&TokenTree>, after: Option<&TokenTree>) {
        let is_call = is_punct(next, '!') && matches!(after, Some(TokenTree::Group(_)));
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        match path.as_slice() {
            [name] if is_call => self.calls.push(name.clone()),
            _ => self.paths.push(path),
        }
    }
}

/// Names that stand alone in tokens, at any depth: a macro that is called with them may define them.
pub(crate) fn bare_names(tokens: TokenStream) -> Vec<String> {
    let paths = named(tokens).paths.into_iter();
    paths.filter(|path| path.len() == 1).flatten().collect()
}

/// Whether the tokens of a `cfg` hold only where tests are built.
pub(crate) fn demands_test(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(group)] if name == "all" => {
            let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
            let mut parts = tokens.split(|token| is_punct(Some(token), ','));
            parts.any(|part| demands_test(part.iter().cloned().collect()))
        }
        _ => false,
    }
}

/// Whether a `.` stands before a name: it is a field or a method. The end of a range (`..name`) is none.
fn is_member(tokens: &[TokenTree], at: usize) -> bool {
    let dot = |back: usize| at >= back && is_punct(tokens.get(at - back), '.');
    dot(1) && !dot(2)
}

/// Whether braces close a path, as in `use a::{b, c}`.
fn is_tree(group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
}

/// Whether `::` stands here, before more of a path.
fn is_joint(tokens: &[TokenTree], at: usize) -> bool {
    let more = match tokens.get(at + 2) {
        Some(TokenTree::Ident(_)) => true,
        Some(TokenTree::Group(group)) => is_tree(group),
        Some(TokenTree::Punct(_) | TokenTree::Literal(_)) | None => false,
    };
    more && is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')
}

/// Whether a token is this sign.
fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

#[test]
fn paths_are_found_in_any_tokens() {
    let paths = |code: &str| -> Vec<String> {
        named(code.parse().unwrap()).paths.into_iter().map(|path| path.join("::")).collect()
    };
    assert_eq!(paths("a::b(crate::c::d::<E>(), x.f)"), ["a::b", "crate::c::d", "E", "x"]);
    assert_eq!(paths("$crate::a::b!(c)"), ["crate::a::b", "c"]);
    assert_eq!(paths("0..end"), ["end"]);
    assert_eq!(paths("use a::{b, c::{self, D}};"), ["use", "a::b", "a::c", "a::c::D"]);
    assert_eq!(named("f!(g![h!{}])".parse().unwrap()).calls, ["f", "g", "h"]);
    assert_eq!(bare_names("pub Name: a::b".parse().unwrap()), ["pub", "Name"]);
}
