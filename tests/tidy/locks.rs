//! A lock beside the workspace's own: that of a crate outside it, which nobody notices to be stale before it is built.

use crate::imports::dependencies;
use crate::source::Text;

/// Complains about what our packages depend on and the lock does not know of. `lock` holds some of our packages; `manifests`
/// are theirs, among others.
pub(crate) fn check(lock: &Text, manifests: &[&Text]) -> Vec<String> {
    manifests.iter().flat_map(|manifest| missing(lock, manifest)).collect()
}

fn missing(lock: &Text, manifest: &Text) -> Vec<String> {
    let name = manifest.content.lines().find_map(|line| line.strip_prefix("name = "));
    let Some(locked) = name.and_then(|name| locked(&lock.content, name)) else { return Vec::new() };
    let is_locked = |key: &str| {
        let package =
            key.strip_prefix("fp-").map_or_else(|| key.to_owned(), |rest| format!("flexpath-{rest}"));
        let is_it = |line: &&str| line.trim_matches([' ', '"', ',']).split(' ').next() == Some(&*package);
        locked.lines().any(|line| is_it(&line))
    };
    let required = dependencies(&manifest.content).filter(|(_, value)| !value.contains("optional = true"));
    let unknown = required.map(|(key, _)| key).filter(|key| !is_locked(key));
    unknown
        .map(|key| {
            format!("{}: {} depends on {key}: `cargo update --workspace` there", lock.path, manifest.path)
        })
        .collect()
}

/// What a lock says of the package with that name, in quotes.
fn locked<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    lock.split("[[package]]")
        .find(|package| package.lines().any(|line| line.strip_prefix("name = ") == Some(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lock_does_not_know_is_named() {
        let text = |path: &str, content: &str| Text { path: path.to_owned(), content: content.to_owned() };
        let lock = text(
            "a/Cargo.lock",
            "[[package]]\nname = \"flexpath-core\"\ndependencies = [\n \"flexpath-types\",\n \"half 2.7.0\",\n]\n",
        );
        let known = "[package]\nname = \"flexpath-core\"\n[dependencies]\nfp-types = { workspace = true }\n\
                     half = \"2\"\nwasm = { version = \"1\", optional = true }\n";
        let manifest = text("b/Cargo.toml", known);
        assert!(check(&lock, &[&manifest]).is_empty());
        let manifest = text("b/Cargo.toml", &format!("{known}fp-proto.workspace = true\n"));
        assert!(check(&lock, &[&manifest])[0].contains("fp-proto"));
        let other = text("b/Cargo.toml", "[package]\nname = \"other\"\n[dependencies]\nhidden = \"1\"\n");
        assert!(check(&lock, &[&other]).is_empty(), "it is not in that lock");
    }
}
