//! An error's text is the whole sentence, so its source is nothing that the text has said: who prints a chain reads
//! each part once.

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
        check(&Source::parse("x.rs", code).expect("it is Rust")).len()
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
}
