//! An error's text is the whole sentence, so its source is nothing that the text has said: who prints a chain reads
//! each part once. It begins with where that was, from the outside in.

use crate::source::Source;
use syn::visit::{self, Visit};
use syn::{Attribute, Field, Fields, Ident, Member};

/// Complains about errors whose text says what they give as their source too.
pub(crate) fn check(source: &Source) -> Vec<String> {
    let mut found = Found { path: &source.path, complaints: Vec::new() };
    found.visit_file(&source.tree);
    found.complaints
}

struct Found<'a> {
    path: &'a str,
    complaints: Vec<String>,
}

impl Found<'_> {
    fn check(&mut self, attributes: &[Attribute], name: &Ident, fields: &Fields) {
        let Some(text) = text_of(attributes) else { return };
        if self.path.starts_with("crates/")
            && let Some(wrong) = front(&text, fields)
        {
            self.complaints.push(format!(
                "{}:{}: the text of {name} {wrong}",
                self.path,
                name.span().start().line
            ));
        }
        let source = fields.members().zip(fields).find(|(member, field)| is_source(member, field));
        if let Some((member, _)) = source.filter(|(member, _)| says(&text, member)) {
            let (line, member) = (name.span().start().line, member_name(&member));
            self.complaints.push(format!(
                "{}:{line}: the text of {name} says {member}, which is its source too: r#source, or no #[from]",
                self.path
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.check(&variant.attrs, &variant.ident, &variant.fields);
        visit::visit_variant(self, variant);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.check(&item.attrs, &item.ident, &item.fields);
        visit::visit_item_struct(self, item);
    }
}

/// The places of a text, from the outside in.
const PLACES: &[&str] = &["stream {stream:?}", "step {", "rank {rank}", "variable {"];

/// What is wrong with how a text begins: it names its places first, from the outside in, and a colon ends them.
fn front(text: &str, fields: &Fields) -> Option<String> {
    let mut rest = text.strip_prefix('"')?;
    if rest.starts_with("flexpath") {
        return Some("begins with our own name, which a program that prints it writes".to_owned());
    }
    let has_stream = fields.members().any(|member| member_name(&member) == "stream");
    if has_stream && !rest.starts_with(PLACES[0]) && !text.contains("within (stream") {
        return Some(format!("has a stream, and does not begin with {}", PLACES[0]));
    }
    let mut next = 0;
    while let Some(place) = PLACES.iter().position(|place| rest.starts_with(place)) {
        let after = &rest[rest.find('}')? + 1..];
        if place < next {
            return Some(format!("says {:?} behind what is further in", PLACES[place]));
        }
        if !after.starts_with([',', ':']) && !after.starts_with(" (") && place != RANK {
            return Some(format!("goes on behind {:?} without a colon", PLACES[place]));
        }
        let Some(inner) = after.strip_prefix(", ") else { break };
        (rest, next) = (inner, place + 1);
    }
    None
}

/// The place that may be what a sentence is about: `rank 3 of the own cohort is lost`.
const RANK: usize = 2;

/// The text of an error and what is written into it, as one list of tokens.
fn text_of(attributes: &[Attribute]) -> Option<String> {
    let error = attributes.iter().find(|attribute| attribute.path().is_ident("error"))?;
    Some(error.meta.require_list().ok()?.tokens.to_string())
}

fn is_source(member: &Member, field: &Field) -> bool {
    let is_marked = |mark: &str| field.attrs.iter().any(|attribute| attribute.path().is_ident(mark));
    is_marked("source") || is_marked("from") || member_name(member) == "source"
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether a text has this field: in braces, or among what is written into it.
fn says(text: &str, member: &Member) -> bool {
    let name = member_name(member);
    let in_braces = text.contains(&format!("{{{name}}}")) || text.contains(&format!("{{{name}:"));
    let behind = text.rsplit('"').next().unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    in_braces || behind.split(|c| !is_word(c)).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(code: &str) -> usize {
        check(&Source::parse("crates/x.rs", code).expect("it is Rust")).len()
    }

    #[test]
    fn what_a_text_says_is_no_source() {
        let said = [
            r#"enum E { #[error("no: {source}")] A { source: F } }"#,
            r#"enum E { #[error("no: {0}")] A(#[from] F) }"#,
            r#"enum E { #[error("no: {}", .0)] A(#[source] F) }"#,
            r#"#[error("no: {}", list(source))] struct E { source: F }"#,
        ];
        for code in said {
            assert_eq!(complaints(code), 1, "{code}");
        }
        let right = [
            r#"enum E { #[error("no: {source}")] A { r#source: F } }"#,
            r#"enum E { #[error("no")] A { source: F } }"#,
            r#"enum E { #[error(transparent)] A(#[from] F) }"#,
            r#"enum E { #[error("no: {0}")] A(F) }"#,
            r#"enum E { #[error("0 of {resource}")] A { resource: u8, source: F } }"#,
        ];
        for code in right {
            assert_eq!(complaints(code), 0, "{code}");
        }
    }

    #[test]
    fn a_text_says_first_where_that_was() {
        let said = [
            r#"enum E { #[error("flexpath: no")] A }"#,
            r#"enum E { #[error("nobody has stream {stream:?}")] A { stream: String } }"#,
            r#"enum E { #[error("stream {stream:?} is closed")] A { stream: String } }"#,
            r#"enum E { #[error("stream {stream:?}, variable {variable:?}, step {step}: no")] A { stream: u8 } }"#,
            r#"enum E { #[error("step {0} is open")] A(u8) }"#,
            r#"enum E { #[error("variable {variable:?} is none")] A { variable: u8 } }"#,
        ];
        for code in said {
            assert_eq!(complaints(code), 1, "{code}");
        }
        let right = [
            r#"enum E { #[error("stream {stream:?}, step {step}, rank {rank}, variable {variable:?}: no")] A { stream: u8 } }"#,
            r#"enum E { #[error("stream {stream:?}, variable {variable:?} ({path}): no")] A { stream: u8 } }"#,
            r#"enum E { #[error("stream {stream:?}: rank {rank} is lost")] A { stream: u8 } }"#,
            r#"enum E { #[error("rank {rank} is lost")] A { rank: u8 } }"#,
            r#"enum E { #[error("{}", within(stream, source))] A { stream: u8 } }"#,
        ];
        for code in right {
            assert_eq!(complaints(code), 0, "{code}");
        }
    }
}
