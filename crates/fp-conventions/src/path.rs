//! Paths of other tools as names of variables: a dot stands where they have a slash.

/// The path as a beginning of names: `meshes/` is `meshes`, and `a/b/` is `a.b`.
pub(crate) fn from_slashes(path: &str) -> String {
    path.trim_matches('/').replace('/', ".")
}

/// Whether a name has letters, digits and underscores alone.
pub(crate) fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[test]
fn slashes_become_dots() {
    assert_eq!((from_slashes("meshes/"), from_slashes("/a/b/")), ("meshes".into(), "a.b".into()));
    assert!(is_word("E_lvl1") && !is_word("E-1") && !is_word(""));
}
