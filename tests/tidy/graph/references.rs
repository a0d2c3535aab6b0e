//! What an item names: imports, paths in expressions, types, patterns and macros, and macros that it calls.

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::{Meta, UseTree};

use super::collect::{attributes, is_test};
use super::tokens;
use super::tree::{Import, Module};

/// Keeps what syntax names in the module where it stands.
pub(crate) struct References<'a> {
    /// The module.
    pub(crate) module: &'a mut Module,
}

impl References<'_> {
    /// Keeps what tokens name.
    fn tokens(&mut self, tokens: TokenStream) {
        let named = tokens::named(tokens);
        self.module.paths.extend(named.paths);
        self.module.calls.extend(named.calls);
    }
}

/// A visit to syntax that is passed over if it is built for tests alone.
macro_rules! pass_over_tests {
    ($($method:ident: $syntax:ident),*) => {
        $(fn $method(&mut self, syntax: &'ast syn::$syntax) {
            if !is_test(&syntax.attrs) {
                visit::$method(self, syntax);
            }
        })*
    };
}

impl<'ast> Visit<'ast> for References<'_> {
    pass_over_tests!(visit_local: Local, visit_field: Field, visit_field_value: FieldValue, visit_variant: Variant,
        visit_arm: Arm, visit_impl_item_fn: ImplItemFn, visit_impl_item_const: ImplItemConst,
        visit_impl_item_type: ImplItemType, visit_trait_item_fn: TraitItemFn, visit_stmt_macro: StmtMacro,
        visit_expr_block: ExprBlock);

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let shown = !matches!(item.vis, syn::Visibility::Inherited);
        if item.leading_colon.is_none() {
            expand(&[], &item.tree, shown, &mut self.module.imports);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let (None, syn::Type::Path(implemented)) = (&item.trait_, item.self_ty.as_ref()) {
            self.module.implemented.insert(segments(&implemented.path));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.module.paths.insert(segments(path));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        match call.path.get_ident() {
            Some(name) => drop(self.module.calls.insert(name.to_string())),
            None => self.visit_path(&call.path),
        }
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let Meta::List(list) = &attribute.meta {
            let said = tokens::named(list.tokens.clone()).paths.into_iter().filter(|path| path.len() > 1);
            self.module.paths.extend(said.chain(quoted_paths(list)));
        }
    }

    /// `pub(in crate::a)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// The segments of a path, without what stands between angle brackets.
fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// Paths that an attribute quotes, as in `#[serde(with = "crate::codec")]`.
fn quoted_paths(list: &syn::MetaList) -> Vec<Vec<String>> {
    let text = list.tokens.to_string();
    let quoted = text.split('"').skip(1).step_by(2).filter(|quoted| quoted.starts_with("crate::"));
    quoted.map(|quoted| quoted.split("::").map(str::to_owned).collect()).collect()
}

/// Spells out a tree of imports.
fn expand(prefix: &[String], tree: &UseTree, shown: bool, into: &mut Vec<Import>) {
    let longer = |name: &syn::Ident| match name.to_string() {
        name if name == "self" && !prefix.is_empty() => prefix.to_vec(),
        name => prefix.iter().cloned().chain([name]).collect(),
    };
    let import = |name: String, path: Vec<String>| Import { name, path, shown };
    match tree {
        UseTree::Path(path) => expand(&longer(&path.ident), &path.tree, shown, into),
        UseTree::Name(name) => {
            let path = longer(&name.ident);
            into.push(import(path.last().cloned().unwrap_or_default(), path));
        }
        UseTree::Rename(rename) => into.push(import(rename.rename.to_string(), longer(&rename.ident))),
        UseTree::Glob(_) => into.push(import("*".into(), prefix.to_vec())),
        UseTree::Group(group) => group.items.iter().for_each(|item| expand(prefix, item, shown, into)),
    }
}

#[test]
fn imports_are_spelt_out() {
    let item: syn::ItemUse = syn::parse_str("pub use a::{self, b::{C as D, e::*}, super::f};").unwrap();
    let mut imports = Vec::new();
    expand(&[], &item.tree, true, &mut imports);
    let shown: Vec<String> = imports.iter().map(|i| format!("{}={}", i.name, i.path.join("::"))).collect();
    assert_eq!(shown, ["a=a", "D=a::b::C", "*=a::b::e", "f=a::super::f"]);
}
