//! Fills the tree of modules from syntax trees: follows `mod`, keeps what each module defines, leaves tests out.

use syn::visit::Visit;
use syn::{Attribute, Item as Syntax, Meta};

use super::references::References;
use super::tokens;
use super::tree::{Import, Item, Tree};
use crate::source::Source;

/// Where the modules that a module declares have their files.
#[derive(Clone)]
struct Place {
    /// The folder of `mod name;`.
    folder: String,
    /// The folder that a `#[path]` starts from.
    beside: String,
}

/// Loads a crate from its root file.
pub(crate) fn load_root(tree: &mut Tree, root: &Source, sources: &[Source]) -> usize {
    let file = tree.file(&root.path, None);
    let module = tree.module(file, None);
    let folder = folder_of(&root.path);
    let place = Place { beside: folder.clone(), folder };
    Collector { tree, sources }.items(module, &place, &root.tree.items);
    module
}

/// Walks the items of modules.
struct Collector<'a> {
    tree: &'a mut Tree,
    sources: &'a [Source],
}

impl<'a> Collector<'a> {
    /// Keeps all items of a module but tests.
    fn items(&mut self, module: usize, place: &Place, items: &[Syntax]) {
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            if let Syntax::Mod(child) = item {
                self.child(module, place, child);
            } else {
                self.item(module, item);
            }
        }
    }

    /// Keeps what an item defines and names.
    fn item(&mut self, module: usize, item: &Syntax) {
        if let Some((name, public_type)) = definition(item) {
            self.define(module, name, public_type);
        }
        if let Syntax::Macro(definition) = item {
            self.macro_item(module, definition);
        }
        if let Syntax::ExternCrate(alias) = item {
            let name = alias.rename.as_ref().map_or(&alias.ident, |(_, name)| name).to_string();
            let path = if alias.ident == "self" { "crate".to_owned() } else { alias.ident.to_string() };
            self.tree.modules[module].imports.push(Import { name, path: vec![path], shown: false });
        }
        References { module: &mut self.tree.modules[module] }.visit_item(item);
    }

    /// Keeps one definition.
    fn define(&mut self, module: usize, name: String, public_type: bool) {
        let file = self.tree.modules[module].file;
        let known = self.tree.modules[module].items.entry(name).or_default();
        known.push(Item { file, public_type });
    }

    /// Keeps a macro, which the root shows if it is exported, or the names that a call may define.
    fn macro_item(&mut self, module: usize, item: &syn::ItemMacro) {
        let Some(name) = item.ident.as_ref().map(ToString::to_string) else {
            let bare = tokens::bare_names(item.mac.tokens.clone());
            return self.tree.modules[module].made.extend(bare);
        };
        let root = self.tree.modules[module].root;
        if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) && root != module {
            let file = self.tree.modules[module].file;
            let shown = self.tree.modules[root].items.entry(name.clone()).or_default();
            shown.push(Item { file, public_type: false });
        }
        self.define(module, name, false);
    }

    /// Follows the declaration of a module, into its braces or into its file. Generated files are unknown here.
    fn child(&mut self, parent: usize, place: &Place, item: &syn::ItemMod) {
        let name = item.ident.to_string();
        let file = self.tree.modules[parent].file;
        if let Some((_, items)) = &item.content {
            let folder = join(&place.folder, &name);
            let module = self.declare(file, parent, name);
            return self.items(module, &Place { beside: folder.clone(), folder }, items);
        }
        let Some((source, place)) = self.file_of(place, item) else { return };
        let child_file = self.tree.file(&source.path, Some(file));
        let module = self.declare(child_file, parent, name);
        self.items(module, &place, &source.tree.items);
    }

    /// Adds a module to the one that declares it.
    fn declare(&mut self, file: usize, parent: usize, name: String) -> usize {
        let module = self.tree.module(file, Some(parent));
        self.tree.modules[parent].children.insert(name, module);
        module
    }

    /// The file of a declared module, and where its own modules are.
    fn file_of(&self, place: &Place, item: &syn::ItemMod) -> Option<(&'a Source, Place)> {
        let name = item.ident.to_string();
        let own = join(&place.folder, &name);
        let told = item.attrs.iter().find_map(told_path).map(|path| join(&place.beside, &path));
        let whole = told.unwrap_or_else(|| join(&own, "mod.rs"));
        let file = |path: &str| self.sources.iter().find(|source| source.path == path);
        if let Some(source) = file(&whole) {
            let folder = folder_of(&whole);
            return Some((source, Place { beside: folder.clone(), folder }));
        }
        let source = file(&format!("{own}.rs"))?;
        Some((source, Place { beside: place.folder.clone(), folder: own }))
    }
}

/// What a `#[path = "..."]` says.
fn told_path(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value else { return None };
    pair.path.is_ident("path").then(|| path.value())
}

/// The name of an item other than a module or a macro, and whether it is a public struct, enum or union.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is that of syn, and grows")]
fn definition(item: &Syntax) -> Option<(String, bool)> {
    let public = |visibility: &syn::Visibility| matches!(visibility, syn::Visibility::Public(_));
    let (name, public_type) = match item {
        Syntax::Struct(item) => (&item.ident, public(&item.vis)),
        Syntax::Enum(item) => (&item.ident, public(&item.vis)),
        Syntax::Union(item) => (&item.ident, public(&item.vis)),
        Syntax::Fn(item) => (&item.sig.ident, false),
        Syntax::Trait(item) => (&item.ident, false),
        Syntax::TraitAlias(item) => (&item.ident, false),
        Syntax::Type(item) => (&item.ident, false),
        Syntax::Const(item) => (&item.ident, false),
        Syntax::Static(item) => (&item.ident, false),
        _ => return None,
    };
    Some((name.to_string(), public_type))
}

/// The attributes of an item that may be left out of a build.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is that of syn, and grows")]
pub(crate) fn attributes(item: &Syntax) -> &[Attribute] {
    match item {
        Syntax::Const(item) => &item.attrs,
        Syntax::Enum(item) => &item.attrs,
        Syntax::ExternCrate(item) => &item.attrs,
        Syntax::Fn(item) => &item.attrs,
        Syntax::ForeignMod(item) => &item.attrs,
        Syntax::Impl(item) => &item.attrs,
        Syntax::Macro(item) => &item.attrs,
        Syntax::Mod(item) => &item.attrs,
        Syntax::Static(item) => &item.attrs,
        Syntax::Struct(item) => &item.attrs,
        Syntax::Trait(item) => &item.attrs,
        Syntax::TraitAlias(item) => &item.attrs,
        Syntax::Type(item) => &item.attrs,
        Syntax::Union(item) => &item.attrs,
        Syntax::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether something is built for tests alone: `cfg(test)`, also inside `all(...)`, or a `#[test]`.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => tokens::demands_test(list.tokens.clone()),
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(_) | Meta::NameValue(_) => false,
    })
}

/// The folder of a file.
fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned())
}

/// A path below a folder, with `..` taken away.
fn join(folder: &str, below: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in below.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[test]
fn paths_are_joined_as_the_compiler_does() {
    assert_eq!(join("a/b", "../c.rs"), "a/c.rs");
    assert_eq!(join("", "c/./d.rs"), "c/d.rs");
    assert_eq!(folder_of("a/b/c.rs"), "a/b");
}

#[test]
fn only_what_demands_tests_is_left_out() {
    let left_out = |code: &str| is_test(attributes(&syn::parse_str(code).unwrap()));
    assert!(left_out("#[cfg(test)] mod a;") && left_out("#[cfg(all(unix, test))] use b::C;"));
    assert!(left_out("#[test] fn f() {}"));
    assert!(!left_out("#[cfg(not(test))] mod a;") && !left_out("#[cfg(any(test, unix))] fn f() {}"));
    assert!(!left_out("#[cfg(feature = \"test\")] mod a;"));
}
