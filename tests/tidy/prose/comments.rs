//! The documentation in Rust files: of modules, and of public items.

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Visibility};

use super::markdown;
use super::sentences::Paragraph;
use crate::source::Source;

/// The documentation of a file.
#[derive(Default)]
pub(crate) struct Comments {
    /// That of modules, which `//!` begins.
    pub(crate) modules: Vec<Paragraph>,
    /// That of public items, fields, variants and methods.
    pub(crate) public: Vec<Paragraph>,
}

/// Reads the documentation of a file.
pub(crate) fn comments(source: &Source) -> Comments {
    let mut comments = Comments { modules: documented(&source.tree.attrs), public: Vec::new() };
    comments.visit_file(&source.tree);
    comments
}

/// The paragraphs that doc attributes say.
fn documented(attributes: &[Attribute]) -> Vec<Paragraph> {
    let lines: Vec<(usize, String)> = attributes.iter().filter_map(line).collect();
    markdown::paragraphs(lines.iter().map(|(number, text)| (*number, text.as_str())))
}

/// The line of one `///` or `//!`.
fn line(attribute: &Attribute) -> Option<(usize, String)> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
    let text = text.value();
    let text = text.strip_prefix(' ').unwrap_or(&text).to_owned();
    pair.path.is_ident("doc").then(|| (attribute.pound_token.span.start().line, text))
}

impl Comments {
    /// Keeps the documentation of something public.
    fn keep(&mut self, visibility: &Visibility, attributes: &[Attribute]) {
        if matches!(visibility, Visibility::Public(_)) {
            self.public.extend(documented(attributes));
        }
    }
}

/// Visits to syntax with a visibility.
macro_rules! keep_public {
    ($($method:ident: $syntax:ident),*) => {
        $(fn $method(&mut self, syntax: &'ast syn::$syntax) {
            self.keep(&syntax.vis, &syntax.attrs);
            visit::$method(self, syntax);
        })*
    };
}

impl<'ast> Visit<'ast> for Comments {
    keep_public!(visit_item_struct: ItemStruct, visit_item_union: ItemUnion, visit_item_fn: ItemFn,
        visit_item_type: ItemType, visit_item_const: ItemConst, visit_item_static: ItemStatic, visit_item_mod: ItemMod,
        visit_item_use: ItemUse, visit_impl_item_fn: ImplItemFn, visit_impl_item_const: ImplItemConst,
        visit_field: Field);

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.keep(&item.vis, &item.attrs);
        for variant in &item.variants {
            self.keep(&item.vis, &variant.attrs);
            variant.fields.iter().for_each(|field| self.keep(&item.vis, &field.attrs));
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is that of syn, and grows")]
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.keep(&item.vis, &item.attrs);
        for member in &item.items {
            match member {
                syn::TraitItem::Fn(function) => self.keep(&item.vis, &function.attrs),
                syn::TraitItem::Type(named) => self.keep(&item.vis, &named.attrs),
                syn::TraitItem::Const(named) => self.keep(&item.vis, &named.attrs),
                _ => {}
            }
        }
    }
}

#[test]
fn documentation_of_modules_and_of_public_items_is_told_apart() {
    let content = "//! Of the\n//! module.\n\n/// Of a struct.\npub struct A {\n    /// Of a field.\n    pub b: u8,\n    \
        /// Hidden.\n    c: u8,\n}\n/// Hidden.\npub(crate) fn d() {}\n/// Of an enum.\npub enum E {\n    /// Of a variant.\n    \
        F,\n}\n/// Of a trait.\npub trait G {\n    /// Of a method.\n    fn h();\n}\n";
    let comments = comments(&Source::parse("a.rs", content).unwrap());
    assert_eq!(comments.modules, [[(1, "Of the".to_owned()), (2, "module.".to_owned())]]);
    let public: Vec<&str> = comments.public.iter().map(|paragraph| paragraph[0].1.as_str()).collect();
    let expected =
        ["Of a struct.", "Of a field.", "Of an enum.", "Of a variant.", "Of a trait.", "Of a method."];
    assert_eq!(public, expected);
}
