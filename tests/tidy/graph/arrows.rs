//! The arrows between the files of a package: who imports what from where.

use std::collections::{BTreeMap, BTreeSet};

use super::resolve::Target;
use super::tree::{File, Tree};

/// The files of a package and what each imports from which.
pub(crate) struct Graph {
    /// The files.
    pub(crate) files: Vec<File>,
    /// The names that each arrow carries, from the importing file to the defining one.
    pub(crate) arrows: BTreeMap<(usize, usize), BTreeSet<String>>,
    /// Imports through the root's face: the importing file and the path.
    pub(crate) faces: BTreeSet<(usize, String)>,
    /// The files with inherent implementations of each public type, which its defining file and name tell.
    pub(crate) implementations: BTreeMap<(usize, String), BTreeSet<usize>>,
}

impl Graph {
    /// Resolves everything that a package's modules name.
    pub(crate) fn of(tree: Tree) -> Self {
        let mut graph = Self {
            files: Vec::new(),
            arrows: BTreeMap::new(),
            faces: BTreeSet::new(),
            implementations: BTreeMap::new(),
        };
        for module in 0..tree.modules.len() {
            graph.imports(&tree, module);
            graph.paths(&tree, module);
            graph.implemented(&tree, module);
        }
        graph.files = tree.files;
        graph
    }

    /// Keeps the arrows of a module's imports.
    fn imports(&mut self, tree: &Tree, module: usize) {
        for (number, import) in tree.modules[module].imports.iter().enumerate() {
            let targets = tree.imported(module, number);
            self.face(tree, module, &import.path);
            if import.is_glob() && (import.shown || !is_used(tree, module, &targets)) {
                self.whole(tree, module, &targets);
            }
            self.keep(tree, module, targets);
        }
    }

    /// Keeps the arrows of what a module names outside of imports.
    fn paths(&mut self, tree: &Tree, module: usize) {
        for path in &tree.modules[module].paths {
            self.face(tree, module, path);
            self.keep(tree, module, tree.resolve(module, path));
        }
        for name in &tree.modules[module].calls {
            self.keep(tree, module, tree.called(module, name));
        }
    }

    /// Keeps an arrow to each item; a module by itself is none, as what is named inside of it tells more.
    fn keep(&mut self, tree: &Tree, module: usize, targets: Vec<Target>) {
        let from = tree.modules[module].file;
        for target in targets {
            if let Target::Item { file, name } = target {
                self.arrow(from, file, name);
            }
        }
    }

    /// Keeps an arrow to modules that are imported whole.
    fn whole(&mut self, tree: &Tree, module: usize, targets: &[Target]) {
        let from = tree.modules[module].file;
        for target in targets {
            if let Target::Module(opened) = target {
                self.arrow(from, tree.modules[*opened].file, "*".into());
            }
        }
    }

    /// Keeps one arrow.
    fn arrow(&mut self, from: usize, to: usize, name: String) {
        if from != to {
            self.arrows.entry((from, to)).or_default().insert(name);
        }
    }

    /// Keeps a path that goes through what the root merely shows.
    fn face(&mut self, tree: &Tree, module: usize, path: &[String]) {
        let root = tree.modules[module].root;
        let Some((start, read)) = tree.start(module, path) else { return };
        let Some(name) = path.get(read).filter(|_| start == root && module != root) else { return };
        let is_shown = tree.own(root, name).is_empty() && !tree.modules[root].made.contains(name);
        let found = tree.resolve(module, &path[..=read]);
        let elsewhere = |target: &Target| !is_item_of(target, tree.modules[root].file);
        if is_shown && found.iter().any(elsewhere) && tree.modules[module].file != tree.modules[root].file {
            self.faces.insert((tree.modules[module].file, path.join("::")));
        }
    }

    /// Keeps which public types a module implements.
    fn implemented(&mut self, tree: &Tree, module: usize) {
        for path in &tree.modules[module].implemented {
            for target in tree.resolve(module, path) {
                let Target::Item { file, name } = target else { continue };
                if is_public_type(tree, file, &name) {
                    let files = self.implementations.entry((file, name)).or_default();
                    files.insert(tree.modules[module].file);
                }
            }
        }
    }
}

/// Whether a module names something that it has from one of the modules that a glob opens.
fn is_used(tree: &Tree, module: usize, opened: &[Target]) -> bool {
    let known = |name: &str| {
        !tree.own(module, name).is_empty()
            || tree.modules[module].imports.iter().any(|import| import.name == name)
    };
    let named = tree.modules[module].paths.iter().filter_map(|path| path.first());
    let called = tree.modules[module].calls.iter();
    named.chain(called).filter(|name| !known(name)).any(|name| {
        opened.iter().any(|target| match target {
            Target::Module(opened) => !tree.resolve(*opened, std::slice::from_ref(name)).is_empty(),
            Target::Item { .. } | Target::Foreign => false,
        })
    })
}

/// Whether a target is an item of this file.
fn is_item_of(target: &Target, root: usize) -> bool {
    matches!(target, Target::Item { file, .. } if *file == root)
}

/// Whether a file defines a public struct, enum or union of this name.
fn is_public_type(tree: &Tree, file: usize, name: &str) -> bool {
    let items =
        tree.modules.iter().filter(|module| module.file == file).filter_map(|module| module.items.get(name));
    items.flatten().any(|item| item.public_type)
}
