//! Which axis of space each dimension of an array is.

/// For each dimension, the first being the slowest, its axis of space: 0 is x.
///
/// Where not all names are x, y or z, the last dimension is x.
pub(super) fn of(names: &[String]) -> Vec<usize> {
    let known = |name: &String| ["x", "y", "z"].iter().position(|axis| axis.eq_ignore_ascii_case(name));
    let found: Option<Vec<usize>> = names.iter().map(known).collect();
    let is_one_each = |found: &Vec<usize>| (0..found.len()).all(|one| !found[..one].contains(&found[one]));
    found.filter(is_one_each).unwrap_or_else(|| (0..names.len()).rev().collect())
}

#[test]
fn names_say_which_axis_a_dimension_is() {
    let of = |names: &[&str]| of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    assert_eq!(of(&["z", "y", "x"]), [2, 1, 0]);
    assert_eq!(of(&["x", "y"]), [0, 1]);
    assert_eq!(of(&["x", "z"]), [0, 2]);
    assert_eq!((of(&["", ""]), of(&["x", "x"]), of(&["r", "z"])), (vec![1, 0], vec![1, 0], vec![1, 0]));
}
