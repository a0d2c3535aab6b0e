//! The words of public names: one word, one meaning (the glossary holds the table).

use std::collections::BTreeSet;

use syn::Visibility;
use syn::visit::{self, Visit};

use crate::length::package_of;
use crate::source::Source;

/// A banned word that is right in one package.
pub(crate) struct Allowed {
    /// The word.
    pub(crate) word: &'static str,
    /// The package's folder, from the repository's root.
    pub(crate) package: &'static str,
    /// The public names that hold it; none stands for any name of the package.
    pub(crate) names: &'static [&'static str],
}

impl Allowed {
    /// Whether a word may stand in a name of a package.
    fn fits(&self, word: &str, package: &str, name: &str) -> bool {
        self.word == word && self.package == package && (self.names.is_empty() || self.names.contains(&name))
    }

    /// Complains about what is allowed here though nobody says it.
    pub(crate) fn idle(&self, used: &BTreeSet<Use>) -> Vec<String> {
        let said = |name: &str| {
            used.iter().any(|(word, package, said)| {
                (*word == self.word && *package == self.package) && (name.is_empty() || said == name)
            })
        };
        let any = if self.names.is_empty() { &[""][..] } else { self.names };
        let idle = any.iter().filter(|name| !said(name));
        idle.map(|name| format!("{} {name:?} is allowed in {}, but nobody says it", self.word, self.package))
            .collect()
    }
}

/// An allowance that was needed: the word, the package and the name.
pub(crate) type Use = (&'static str, &'static str, String);

/// Complains about banned words in the public names of a file, and keeps which of the allowances were used.
pub(crate) fn check(
    source: &Source,
    banned: &[(&str, &str)],
    allowed: &[Allowed],
    used: &mut BTreeSet<Use>,
) -> Vec<String> {
    let package = package_of(&source.path);
    let mut complaints = Vec::new();
    for name in public_names(source) {
        for word in words(&name) {
            let Some((_, instead)) = banned.iter().find(|(bad, _)| *bad == word) else { continue };
            match allowed.iter().find(|allowed| allowed.fits(&word, package, &name)) {
                Some(allowed) => drop(used.insert((allowed.word, allowed.package, name.clone()))),
                None => complaints.push(format!("{}: {name}: not {word}, but {instead}", source.path)),
            }
        }
    }
    complaints
}

/// The lower-case words of a name in any case, plurals made singular.
fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        let starts = letter == '_' || (letter.is_uppercase() && !before.is_uppercase());
        if starts {
            found.push(String::new());
        }
        if let (true, Some(word)) = (letter != '_', found.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    found.into_iter().filter(|word| !word.is_empty()).map(singular).collect()
}

/// Strips a plural's ending; `class` and `dims` stay as they are.
fn singular(word: String) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if word.ends_with("ss") || word == "dims" => word,
        None => word.strip_suffix('s').map(str::to_owned).unwrap_or(word),
    }
}

/// Everything that a file makes public: items, methods of public traits, variants and public fields.
fn public_names(source: &Source) -> Vec<String> {
    let mut names = Names(Vec::new());
    names.visit_file(&source.tree);
    names.0
}

/// Collects public names.
struct Names(Vec<String>);

impl Names {
    fn keep(&mut self, visibility: &Visibility, name: &syn::Ident) {
        if matches!(visibility, Visibility::Public(_)) {
            self.0.push(name.to_string());
        }
    }
}

/// A visit to an item with a name and nothing public inside that the default visit would not find.
macro_rules! keep_items {
    ($($method:ident: $item:ident),*) => {
        $(fn $method(&mut self, item: &'ast syn::$item) {
            self.keep(&item.vis, &item.ident);
            visit::$method(self, item);
        })*
    };
}

impl<'ast> Visit<'ast> for Names {
    keep_items!(visit_item_struct: ItemStruct, visit_item_mod: ItemMod, visit_item_type: ItemType,
        visit_item_const: ItemConst, visit_item_static: ItemStatic, visit_impl_item_const: ImplItemConst);

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.keep(&item.vis, &item.sig.ident);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.keep(&item.vis, &item.sig.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.keep(&item.vis, &item.ident);
        for member in &item.items {
            if let syn::TraitItem::Fn(function) = member {
                self.keep(&item.vis, &function.sig.ident);
            }
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.keep(&item.vis, &item.ident);
        for variant in &item.variants {
            self.keep(&item.vis, &variant.ident);
            let fields = variant.fields.iter().filter_map(|field| field.ident.as_ref());
            fields.for_each(|field| self.keep(&item.vis, field));
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.keep(&field.vis, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(words("StepWriter"), ["step", "writer"]);
        assert_eq!(words("MAX_CHUNKS"), ["max", "chunk"]);
        assert_eq!(words("query_registries"), ["query", "registry"]);
        assert_eq!(words("ndims"), ["ndim"]);
        assert_eq!(words("classDims"), ["class", "dims"]);
    }

    #[test]
    fn banned_words_are_found_in_public_names_alone() {
        let content = "pub struct Topic { pub channels: u8, chunk: u8 } pub enum E { Query { job: u8 } }\n\
            pub trait T { fn callback(&self); } impl T for E { fn callback(&self) {} }\n\
            struct Hidden; impl Hidden { pub fn frame() {} fn node() {} } pub(crate) fn group() {}\n\
            mod inside { pub mod master {} }";
        let words =
            ["topic", "channel", "chunk", "query", "job", "callback", "frame", "node", "group", "master"];
        let banned: Vec<(&str, &str)> = words.map(|word| (word, "another word")).to_vec();
        let source = Source::parse("src/a.rs", content).unwrap();
        let complaints = check(&source, &banned, &[], &mut BTreeSet::new());
        let found =
            |word: &str| complaints.iter().filter(|text| text.contains(&format!("not {word},"))).count();
        assert_eq!(words.map(found), [1, 1, 0, 1, 1, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn an_allowance_holds_in_its_package_alone_and_must_be_used() {
        let allowed = [
            Allowed { word: "frame", package: "crates/link", names: &["Frame", "FrameHead"] },
            Allowed { word: "frame", package: "crates/any", names: &[] },
        ];
        let mut used = BTreeSet::new();
        let mut check = |path: &str, content: &str| {
            let source = Source::parse(path, content).unwrap();
            check(&source, &[("frame", "step")], &allowed, &mut used).len()
        };
        assert_eq!(check("crates/core/src/a.rs", "pub struct Frame;"), 1);
        assert_eq!(check("crates/link/src/a.rs", "pub struct FrameCount;"), 1);
        assert_eq!(check("crates/link/src/a/b.rs", "pub struct Frame;"), 0);
        assert_eq!(allowed[0].idle(&used).len(), 1, "nobody says FrameHead");
        assert_eq!(allowed[1].idle(&used).len(), 1);
        used.insert(("frame", "crates/any", "AnyFrame".into()));
        assert!(allowed[1].idle(&used).is_empty());
    }
}
