//! Finds what a path stands for: from any module, through imports and globs, to the file that defines it.

use super::tree::{Import, Tree};

/// What a path stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// An item, or something inside of one.
    Item {
        /// The file that defines it.
        file: usize,
        /// Its name there.
        name: String,
    },
    /// A module.
    Module(usize),
    /// Something of another crate.
    Foreign,
}

impl Tree {
    /// Everything that a path may stand for, seen from a module.
    pub(crate) fn resolve(&self, module: usize, path: &[String]) -> Vec<Target> {
        Search { tree: self, passed: Vec::new() }.path(module, path)
    }

    /// What an import brings in scope.
    pub(crate) fn imported(&self, module: usize, number: usize) -> Vec<Target> {
        Search { tree: self, passed: Vec::new() }.import(module, number)
    }

    /// The macro of a bare name: imported, of the module, or defined in a module around it.
    pub(crate) fn called(&self, module: usize, name: &str) -> Vec<Target> {
        let here = self.resolve(module, &[name.to_owned()]);
        let textual = self.outward(module).map(|around| self.own(around, name));
        std::iter::once(here).chain(textual).find(|targets| !targets.is_empty()).unwrap_or_default()
    }

    /// What a module itself defines or declares by a name.
    pub(crate) fn own(&self, module: usize, name: &str) -> Vec<Target> {
        let items = self.modules[module].items.get(name).into_iter().flatten();
        let items = items.map(|item| Target::Item { file: item.file, name: name.to_owned() });
        let child = self.modules[module].children.get(name).map(|child| Target::Module(*child));
        items.chain(child).collect()
    }

    /// The module from which a path's names are looked up, and how many of its segments lead there.
    pub(crate) fn start(&self, module: usize, path: &[String]) -> Option<(usize, usize)> {
        let root = self.modules[module].root;
        match path.first()?.as_str() {
            "crate" => Some((root, 1)),
            "self" => Some(self.upwards(module, path, 1)),
            "super" => Some(self.upwards(module, path, 0)),
            name => {
                let (library, lib_root) = self.library.as_ref()?;
                (name == library && root != *lib_root).then_some((*lib_root, 1))
            }
        }
    }

    /// Follows each `super` of a path.
    fn upwards(&self, mut module: usize, path: &[String], skipped: usize) -> (usize, usize) {
        let mut read = skipped;
        while path.get(read).is_some_and(|segment| segment == "super") {
            module = self.modules[module].parent.unwrap_or(module);
            read += 1;
        }
        (module, read)
    }
}

/// One search. Imports that it is following already lead nowhere new.
struct Search<'a> {
    tree: &'a Tree,
    passed: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// Everything that a path may stand for.
    fn path(&mut self, module: usize, path: &[String]) -> Vec<Target> {
        let Some(first) = path.first() else { return Vec::new() };
        let (mut targets, read) = match self.tree.start(module, path) {
            Some((start, read)) => (vec![Target::Module(start)], read),
            None => (self.name(module, first), 1),
        };
        for segment in &path[read..] {
            targets = targets.into_iter().flat_map(|target| self.inside(target, segment)).collect();
        }
        targets
    }

    /// What a name stands for inside a target. A module's macro may have made what nothing else explains.
    fn inside(&mut self, target: Target, name: &str) -> Vec<Target> {
        let Target::Module(module) = target else { return vec![target] };
        let found = self.name(module, name);
        if !found.is_empty() {
            return found;
        }
        vec![Target::Item { file: self.tree.modules[module].file, name: name.to_owned() }]
    }

    /// What a name stands for in a module: its own, imported, by a glob, made by a macro.
    fn name(&mut self, module: usize, name: &str) -> Vec<Target> {
        let mut found = self.tree.own(module, name);
        found.extend(self.through(module, |import| import.name == name));
        if found.is_empty() {
            found = self.through_globs(module, name);
        }
        if found.iter().all(|target| *target == Target::Foreign)
            && self.tree.modules[module].made.contains(name)
        {
            return vec![Target::Item { file: self.tree.modules[module].file, name: name.to_owned() }];
        }
        found
    }

    /// What the imports of a module that are asked for stand for.
    fn through(&mut self, module: usize, asked: impl Fn(&Import) -> bool) -> Vec<Target> {
        let imports = self.tree.modules[module].imports.iter().enumerate();
        let numbers: Vec<usize> =
            imports.filter(|(_, import)| asked(import)).map(|(number, _)| number).collect();
        numbers.into_iter().flat_map(|number| self.import(module, number)).collect()
    }

    /// What one import stands for; nothing if the search came through it.
    fn import(&mut self, module: usize, number: usize) -> Vec<Target> {
        if self.passed.contains(&(module, number)) {
            return Vec::new();
        }
        self.passed.push((module, number));
        let found = self.path(module, &self.tree.modules[module].imports[number].path);
        self.passed.pop();
        if found.is_empty() { vec![Target::Foreign] } else { found }
    }

    /// What a name stands for in the modules that a module imports whole.
    fn through_globs(&mut self, module: usize, name: &str) -> Vec<Target> {
        let opened = self.through(module, Import::is_glob);
        opened
            .into_iter()
            .flat_map(|target| match target {
                Target::Module(opened) if opened != module => self.name_once(opened, name),
                Target::Module(_) | Target::Item { .. } => Vec::new(),
                Target::Foreign => vec![Target::Foreign],
            })
            .collect()
    }

    /// What a name stands for in a module behind a glob; globs that lead back to it are no way.
    fn name_once(&mut self, module: usize, name: &str) -> Vec<Target> {
        let mark = (module, usize::MAX);
        if self.passed.contains(&mark) {
            return Vec::new();
        }
        self.passed.push(mark);
        let found = self.name(module, name);
        self.passed.pop();
        found
    }
}
