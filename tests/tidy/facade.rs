//! Whoever imports the façade alone can name every type that it hands out.

use crate::source::Source;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{FnArg, ImplItem, Item, ReturnType, Type, UseTree, Visibility};

/// The façade, and what it passes on.
const FACADE: &str = "src/lib.rs";
/// Modules that the façade passes on as a whole, by the file that lists what is in them.
const MODULES: &[&str] = &[
    "crates/fp-types/src/record/mod.rs",
    "crates/fp-core/src/connection/mod.rs",
    "crates/fp-core/src/diagnosis/mod.rs",
    "crates/fp-core/src/diagnosis/status.rs",
    "crates/fp-core/src/rendezvous/mod.rs",
    "crates/fp-core/src/rendezvous/place.rs",
    "crates/fp-flow/src/lib.rs",
];
/// The crates whose types a user may meet.
const CRATES: &[&str] = &[
    "crates/fp-types/src/",
    "crates/fp-proto/src/",
    "crates/fp-transport/src/",
    "crates/fp-transform/src/",
    "crates/fp-core/src/",
    "crates/fp-flow/src/",
];

/// What our own crates hand each other in public functions, and no user gets or gives: the machine's own events, what
/// runs a derivation, what a listener takes TLS from.
const AMONG_US: &[&str] = &[
    "Deployed",
    "DerivationPlan",
    "MeasureParts",
    "MeasuredCalls",
    "MemberId",
    "Memory",
    "NativeFunction",
    "Offer",
    "ResolveOutcome",
    "RunModule",
    "SharedBytes",
    "SideDecision",
    "SubscriptionSpec",
    "TlsIdentity",
];

/// Complains about types in the signatures and fields of what can be named, which cannot be named themselves.
pub(crate) fn check(sources: &[Source]) -> Vec<String> {
    let named = named(sources);
    let ours = sources.iter().filter(|source| CRATES.iter().any(|folder| source.path.starts_with(folder)));
    let ours: Vec<&Source> = ours.collect();
    let known: BTreeSet<String> =
        ours.iter().flat_map(|source| source.tree.items.iter().filter_map(defined)).collect();
    let (mut complaints, mut unused) = (BTreeSet::new(), AMONG_US.iter().collect::<BTreeSet<_>>());
    for source in ours {
        for item in &source.tree.items {
            let handed_out = handed_out(item, &named).into_iter();
            for name in handed_out.filter(|name| known.contains(name) && !named.contains(name)) {
                if !AMONG_US.contains(&name.as_str()) {
                    complaints.insert(format!(
                        "{}: it hands out {name}, which {FACADE} does not name",
                        source.path
                    ));
                }
                unused.retain(|left| **left != name);
            }
        }
    }
    let is_whole = named.contains("Publisher");
    complaints
        .extend(unused.iter().filter(|_| is_whole).map(|name| format!("{name}: nothing hands it out now")));
    complaints.into_iter().collect()
}

/// Where the types of handles, options, values and errors are.
const GROWING: &str = "crates/fp-core/src/";
/// What a user matches as a whole (a step, none yet, or the end), and what a user makes: where a stream is said to be.
const WHOLE: &[&str] = &["NextStep", "Entry"];

/// Complains about types of the handles' crate that users meet and that could get no field or variant more.
pub(crate) fn check_growth(sources: &[Source]) -> Vec<String> {
    let named = named(sources);
    let growing = sources.iter().filter(|source| source.path.starts_with(GROWING));
    let items = growing.flat_map(|source| source.tree.items.iter().map(move |item| (source, item)));
    let closed = items.filter_map(|(source, item)| Some((source, closed(item)?)));
    let met = closed.filter(|(_, name)| named.contains(name) && !WHOLE.contains(&name.as_str()));
    met.map(|(source, name)| format!("{}: {name} may grow: #[non_exhaustive]", source.path)).collect()
}

/// The name of a type that others may take apart or build as a whole.
fn closed(item: &Item) -> Option<String> {
    let (attributes, fields) = if let Item::Struct(item) = item {
        (&item.attrs, Some(&item.fields))
    } else if let Item::Enum(item) = item {
        (&item.attrs, None)
    } else {
        return None;
    };
    let is_open = attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
    let is_hidden =
        fields.is_some_and(|fields| fields.is_empty() || fields.iter().any(|field| !is_public(&field.vis)));
    defined(item).filter(|_| !is_open && !is_hidden)
}

/// What the façade names, and what is in the modules that it passes on.
fn named(sources: &[Source]) -> BTreeSet<String> {
    let listed =
        sources.iter().filter(|source| source.path == FACADE || MODULES.contains(&source.path.as_str()));
    let mut named = BTreeSet::new();
    for item in listed.flat_map(|source| &source.tree.items) {
        named.extend(defined(item));
        if let Item::Use(uses) = item
            && matches!(uses.vis, Visibility::Public(_))
        {
            leaves(&uses.tree, &mut named);
        }
    }
    named
}

/// The name of a public type or trait that is defined here.
fn defined(item: &Item) -> Option<String> {
    let (visibility, name) = if let Item::Struct(item) = item {
        (&item.vis, &item.ident)
    } else if let Item::Enum(item) = item {
        (&item.vis, &item.ident)
    } else if let Item::Trait(item) = item {
        (&item.vis, &item.ident)
    } else if let Item::Type(item) = item {
        (&item.vis, &item.ident)
    } else {
        return None;
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.to_string())
}

/// The names that a `use` brings.
fn leaves(tree: &UseTree, into: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, into),
        UseTree::Name(name) => drop(into.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(into.insert(rename.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, into)),
        UseTree::Glob(_) => {}
    }
}

/// The types in what an item shows of itself, if it can be named.
fn handed_out(item: &Item, named: &BTreeSet<String>) -> BTreeSet<String> {
    let mut types = Types(BTreeSet::new());
    let is_named = |name: &syn::Ident| named.contains(&name.to_string());
    if let Item::Struct(item) = item
        && is_named(&item.ident)
    {
        let shown = item.fields.iter().filter(|field| is_public(&field.vis));
        shown.for_each(|field| types.visit_type(&field.ty));
    }
    if let Item::Enum(item) = item
        && is_named(&item.ident)
    {
        item.variants
            .iter()
            .flat_map(|variant| &variant.fields)
            .for_each(|field| types.visit_type(&field.ty));
    }
    if let Item::Impl(item) = item
        && item.trait_.is_none()
        && owner(&item.self_ty).is_some_and(|name| is_named(&name))
    {
        item.items.iter().for_each(|item| types.of_function(item));
    }
    types.0
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The name of the type that an `impl` is of.
fn owner(kind: &Type) -> Option<syn::Ident> {
    let Type::Path(path) = kind else { return None };
    path.path.segments.last().map(|segment| segment.ident.clone())
}

/// The last names of all paths in types.
struct Types(BTreeSet<String>);

impl Types {
    fn of_function(&mut self, item: &ImplItem) {
        let ImplItem::Fn(function) = item else { return };
        if !is_public(&function.vis)
            || function.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"))
        {
            return;
        }
        for input in &function.sig.inputs {
            if let FnArg::Typed(typed) = input {
                self.visit_type(&typed.ty);
            }
        }
        if let ReturnType::Type(_, kind) = &function.sig.output {
            self.visit_type(kind);
        }
        self.visit_generics(&function.sig.generics);
    }
}

impl<'ast> Visit<'ast> for Types {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.extend(path.segments.last().map(|segment| segment.ident.to_string()));
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(facade: &str) -> usize {
        let file = "pub struct A { pub b: B, c: C } pub struct B; pub struct C; pub enum D { E(C) } impl B { pub fn d(&self) -> Vec<D> { vec![] } fn c(&self) -> C { C } }";
        let sources = [(FACADE, facade), ("crates/fp-core/src/a.rs", file)];
        let sources: Vec<Source> =
            sources.iter().map(|(path, code)| Source::parse(path, code).expect("it is Rust")).collect();
        check(&sources).len()
    }

    #[test]
    fn what_is_handed_out_and_not_named_is_found() {
        assert_eq!(complaints("pub use fp_core::A;"), 1, "the field");
        assert_eq!(complaints("pub use fp_core::{A, B};"), 1, "what its function returns");
        assert_eq!(complaints("pub use fp_core::{A, B, D};"), 1, "what its variant has");
        assert_eq!(complaints("pub use fp_core::{A, B, C, D};"), 0);
    }

    #[test]
    fn what_cannot_grow_is_found() {
        let file = "pub struct A { pub b: u8 } #[non_exhaustive] pub struct B { pub b: u8 } pub struct C { b: u8 } pub enum D { E } pub enum NextStep { F }";
        let facade = "pub use fp_core::{A, B, C, D, NextStep};";
        let sources = [(FACADE, facade), ("crates/fp-core/src/a.rs", file)];
        let sources: Vec<Source> =
            sources.iter().map(|(path, code)| Source::parse(path, code).expect("it is Rust")).collect();
        let found = check_growth(&sources).join("\n");
        assert_eq!(
            (found.lines().count(), found.contains("A may"), found.contains("D may")),
            (2, true, true),
            "{found}"
        );
    }
}
