//! The modules of a package: which file holds each, what it defines, imports and names.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, Text};

/// All modules of a package, from each of its roots.
#[derive(Default)]
pub(crate) struct Tree {
    /// Files that a root reaches.
    pub(crate) files: Vec<File>,
    /// Modules; several may stand in one file.
    pub(crate) modules: Vec<Module>,
    /// The name of the library and its root module: programs of the package import it by name.
    pub(crate) library: Option<(String, usize)>,
}

/// A file of the package.
pub(crate) struct File {
    /// Where it is, from the repository's root.
    pub(crate) path: String,
    /// The file that declares it; none for a root.
    pub(crate) parent: Option<usize>,
}

/// A module: a file, or a part of one between braces.
#[derive(Default)]
pub(crate) struct Module {
    /// The file that it stands in.
    pub(crate) file: usize,
    /// The module that declares it.
    pub(crate) parent: Option<usize>,
    /// The root module of its crate.
    pub(crate) root: usize,
    /// What it defines.
    pub(crate) items: BTreeMap<String, Vec<Item>>,
    /// The modules that it declares.
    pub(crate) children: BTreeMap<String, usize>,
    /// The names that it imports.
    pub(crate) imports: Vec<Import>,
    /// Names that stand in a macro's call at the level of items: the macro may define them.
    pub(crate) made: BTreeSet<String>,
    /// Every path that it names outside of imports.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// Macros that it calls by a bare name.
    pub(crate) calls: BTreeSet<String>,
    /// The types of its inherent implementations.
    pub(crate) implemented: BTreeSet<Vec<String>>,
}

/// Something that a module defines.
#[derive(Clone)]
pub(crate) struct Item {
    /// The file that defines it.
    pub(crate) file: usize,
    /// Whether it is a struct, an enum or a union that says `pub`.
    pub(crate) public_type: bool,
}

/// One name that a `use` brings in scope.
pub(crate) struct Import {
    /// The name in scope; `*` for a glob.
    pub(crate) name: String,
    /// What it stands for; a glob's path names the module.
    pub(crate) path: Vec<String>,
    /// Whether others can import it from here.
    pub(crate) shown: bool,
}

impl Import {
    /// Whether everything of a module is imported.
    pub(crate) fn is_glob(&self) -> bool {
        self.name == "*"
    }
}

impl Tree {
    /// The modules below a package's folder (`src/lib.rs`, `src/main.rs`, `src/bin/*.rs`), or below one root file.
    pub(crate) fn of_package(folder: &str, manifest: Option<&Text>, sources: &[Source]) -> Self {
        let mut tree = Self::default();
        let library = format!("{folder}/src/lib.rs");
        for root in sources.iter().filter(|source| is_root(folder, &source.path)) {
            let module = super::collect::load_root(&mut tree, root, sources);
            if root.path == library.trim_start_matches('/') {
                tree.library = manifest.and_then(library_name).map(|name| (name, module));
            }
        }
        tree
    }

    /// Adds a file, or finds it where another root knows it already.
    pub(crate) fn file(&mut self, path: &str, parent: Option<usize>) -> usize {
        self.files.iter().position(|file| file.path == path).unwrap_or_else(|| {
            self.files.push(File { path: path.to_owned(), parent });
            self.files.len() - 1
        })
    }

    /// Adds an empty module.
    pub(crate) fn module(&mut self, file: usize, parent: Option<usize>) -> usize {
        let number = self.modules.len();
        let root = parent.map_or(number, |parent| self.modules[parent].root);
        self.modules.push(Module { file, parent, root, ..Module::default() });
        number
    }

    /// A module and all those around it, from the inside.
    pub(crate) fn outward(&self, module: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(module), |inner| self.modules[*inner].parent)
    }
}

/// Whether a file is the root of a crate of the package; a path to a file is a root itself.
fn is_root(folder: &str, path: &str) -> bool {
    let inside = path.strip_prefix(folder).map(|rest| rest.trim_start_matches('/'));
    let Some(inside) =
        inside.filter(|_| folder.is_empty() || path == folder || path[folder.len()..].starts_with('/'))
    else {
        return false;
    };
    let is_program =
        inside.strip_prefix("src/bin/").is_some_and(|name| !name.contains('/') || name.ends_with("/main.rs"));
    matches!(inside, "" | "src/lib.rs" | "src/main.rs") || is_program
}

/// The name by which others import a package's library.
fn library_name(manifest: &Text) -> Option<String> {
    let named = |section: &str| {
        let lines = manifest.content.lines().skip_while(|line| line.trim() != section).skip(1);
        let mut lines = lines.take_while(|line| !line.starts_with('['));
        lines
            .find_map(|line| line.strip_prefix("name = \""))
            .map(|name| name.trim_end_matches('"').to_owned())
    };
    named("[lib]").or_else(|| named("[package]")).map(|name| name.replace('-', "_"))
}

#[test]
fn roots_are_found_and_the_library_has_a_name() {
    let is_program = |path: &str| is_root("demo", path);
    assert!(
        is_program("demo/src/lib.rs") && is_program("demo/src/bin/gts.rs") && is_program("demo/src/main.rs")
    );
    assert!(
        !is_program("demo/src/md.rs") && !is_program("demo/tests/a.rs") && !is_program("demo2/src/lib.rs")
    );
    assert!(is_root("", "src/lib.rs") && !is_root("", "demo/src/lib.rs") && is_root("a/b.rs", "a/b.rs"));
    let name = |content: &str| library_name(&Text { path: String::new(), content: content.into() });
    assert_eq!(name("[package]\nname = \"fp-a\"\n[lib]\nname = \"fp_b\"\n").as_deref(), Some("fp_b"));
    assert_eq!(name("[package]\nname = \"fp-a\"\n[lib]\nbench = false\n").as_deref(), Some("fp_a"));
}
