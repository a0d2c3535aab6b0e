//! The import graph of a package's files, and the rules that it keeps.
//!
//! An arrow goes from the file that imports something to the file that defines it, also where a face in between
//! shows it. Three rules: circles stay in one room, layers run one way, nobody imports through the root's own face.
//!
//! `FLEXPATH_IMPORTS=crates/fp-core cargo test --profile ci -p flexpath --test tidy imports_are_shown -- --nocapture`
//! shows the graph of one package (`all` for each of them, a path to a root file for what stands elsewhere).
//! `FLEXPATH_TIDY_ROOT=folder` reads another checkout.

mod arrows;
mod circles;
mod collect;
#[cfg(test)]
mod fixtures;
mod implementations;
pub(crate) mod layers;
mod references;
mod resolve;
mod show;
mod tokens;
mod tree;

use std::sync::OnceLock;

use crate::source::{Source, Text, sources, texts};
pub(crate) use arrows::Graph;

/// A package and the graph of its files.
pub(crate) struct Package {
    /// Its folder, from the repository's root; empty for the root package.
    pub(crate) folder: String,
    /// The graph.
    pub(crate) graph: Graph,
}

/// Every package of the repository. They are read once for all tests.
pub(crate) fn packages() -> &'static [Package] {
    static PACKAGES: OnceLock<Vec<Package>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let sources = sources();
        let texts = texts();
        let manifests = texts.iter().filter(|text| text.path.ends_with("Cargo.toml"));
        manifests.map(|manifest| package(manifest, &sources)).collect()
    })
}

/// The package of a manifest.
fn package(manifest: &Text, sources: &[Source]) -> Package {
    let folder = manifest.path.trim_end_matches("Cargo.toml").trim_end_matches('/').to_owned();
    let graph = Graph::of(tree::Tree::of_package(&folder, Some(manifest), sources));
    Package { folder, graph }
}

/// The graphs that somebody asks to see: of one package, of one root file or of all packages.
pub(crate) fn shown(asked: &str, tables: &[layers::Layers]) -> String {
    if asked.ends_with(".rs") {
        return Graph::of(tree::Tree::of_package(asked, None, &sources())).text(asked, None);
    }
    let is_asked = |package: &&Package| asked == "all" || package.folder == asked.trim_end_matches('/');
    let asked = packages().iter().filter(is_asked).filter(|package| !package.graph.files.is_empty());
    let layers = |folder: &str| tables.iter().find(|table| table.package == folder);
    asked.map(|package| package.graph.text(&package.folder, layers(&package.folder))).collect()
}

/// Complains about circles of imports.
pub(crate) fn circle_complaints() -> Vec<String> {
    packages().iter().flat_map(|package| package.graph.circle_complaints()).collect()
}

/// Complains about imports through a root's own face.
pub(crate) fn face_complaints() -> Vec<String> {
    packages().iter().flat_map(|package| package.graph.face_complaints()).collect()
}

/// Complains about public types whose inherent implementations stand in too many files.
pub(crate) fn implementation_complaints(limit: usize) -> Vec<String> {
    packages().iter().flat_map(|package| package.graph.implementation_complaints(limit)).collect()
}
