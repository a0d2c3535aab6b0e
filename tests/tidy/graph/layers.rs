//! Layers of a package: folders in an order, each of which knows only itself and those below.

use super::Package;
use super::arrows::Graph;

/// The order of a package's folders and files below `src/`.
pub(crate) struct Layers {
    /// The package, from the repository's root.
    pub(crate) package: &'static str,
    /// The lowest first. What stands side by side in one layer does not know each other. A file belongs to the
    /// longest name that fits: `data/owner` before `data`. A name is a folder or a file without its ending.
    pub(crate) layers: &'static [&'static [&'static str]],
}

impl Layers {
    /// The layer and the name in it that a file belongs to.
    fn place(&self, path: &str) -> Option<(usize, &'static str)> {
        let inside = path.strip_prefix(self.package)?.strip_prefix("/src/")?;
        let fits = |name: &str| {
            let rest = inside.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
        };
        let layers = self.layers.iter().enumerate();
        let names = layers.flat_map(|(level, names)| names.iter().map(move |name| (level, *name)));
        names.filter(|(_, name)| fits(name)).max_by_key(|(_, name)| name.len())
    }

    /// Complains about arrows that go up or aside, and about files that stand in no layer.
    pub(crate) fn complaints(&self, graph: &Graph) -> Vec<String> {
        let homeless =
            graph.files.iter().filter(|file| file.parent.is_some() && self.place(&file.path).is_none());
        let mut complaints: Vec<String> =
            homeless.map(|file| format!("{}: stands in no layer of its package", file.path)).collect();
        complaints.extend(self.upward(graph));
        complaints
    }

    /// The arrows that go up or aside. A module's file may show what its own children define.
    pub(crate) fn upward(&self, graph: &Graph) -> Vec<String> {
        let places: Vec<_> = graph.files.iter().map(|file| self.place(&file.path)).collect();
        let is_wrong = |from: usize, to: usize| match (places[from], places[to]) {
            (Some((above, name)), Some((below, other))) => {
                (below > above || (below == above && name != other)) && graph.files[to].parent != Some(from)
            }
            (None, _) | (_, None) => false,
        };
        let arrows = graph.arrows.iter().filter(|((from, to), _)| is_wrong(*from, *to));
        arrows.map(|((from, to), names)| format!("up: {}", graph.arrow_text(*from, *to, names))).collect()
    }
}

/// Complains about every package whose layers do not run one way.
pub(crate) fn complaints(tables: &[Layers], packages: &[Package]) -> Vec<String> {
    let of_table = |table: &Layers| match packages.iter().find(|package| package.folder == table.package) {
        Some(package) => table.complaints(&package.graph),
        None => vec![format!("{} is gone: its layers can go", table.package)],
    };
    tables.iter().flat_map(of_table).collect()
}
