//! What was found to belong together, and how often the way between two of them goes around a periodic dimension.
//!
//! It is the usual union-find with a number for each link (a weighted one). That number says by how many extents the one's
//! coordinates are moved to lie beside the other's. Where two ways between the same two disagree, a way goes around.

use std::ops::{Add, Neg, Sub};

/// By how many extents coordinates are moved, in each dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Winding(pub(crate) [i32; 4]);

impl Add for Winding {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|dim| self.0[dim].wrapping_add(other.0[dim])))
    }
}

impl Neg for Winding {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.map(i32::wrapping_neg))
    }
}

impl Sub for Winding {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Winding {
    /// The dimensions in which it is not nothing, as bits.
    pub(crate) fn dims(self) -> u8 {
        self.0.iter().enumerate().fold(0, |dims, (dim, by)| dims | u8::from(*by != 0) << dim)
    }
}

/// Nodes that are joined to trees. The root of a tree is the lowest of its nodes.
#[derive(Debug)]
pub(crate) struct Forest {
    parents: Vec<u32>,
    /// By what a node is moved to lie beside its parent.
    shifts: Vec<Winding>,
    /// Of roots: the dimensions in which a way around leads back, as bits.
    wraps: Vec<u8>,
}

impl Forest {
    /// So many nodes, of which none is joined.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            parents: (0..nodes as u32).collect(),
            shifts: vec![Winding::default(); nodes],
            wraps: vec![0; nodes],
        }
    }

    /// The root of a node's tree, and by what the node is moved to lie beside it.
    pub(crate) fn find(&mut self, node: u32) -> (u32, Winding) {
        let (mut root, mut shift) = (node, Winding::default());
        while self.parents[root as usize] != root {
            shift = shift + self.shifts[root as usize];
            root = self.parents[root as usize];
        }
        // All on the way hang from the root from now on.
        let (mut at, mut left) = (node, shift);
        while self.parents[at as usize] != root {
            let (next, by) = (self.parents[at as usize], self.shifts[at as usize]);
            (self.parents[at as usize], self.shifts[at as usize]) = (root, left);
            left = left - by;
            at = next;
        }
        (root, shift)
    }

    /// Joins two nodes: `other`, moved by `by`, lies beside `one`.
    pub(crate) fn join(&mut self, one: u32, other: u32, by: Winding) {
        let ((one, to_one), (other, to_other)) = (self.find(one), self.find(other));
        let by = to_one + by - to_other;
        if one == other {
            self.wraps[one as usize] |= by.dims();
            return;
        }
        let (root, child, by) = if one < other { (one, other, by) } else { (other, one, -by) };
        (self.parents[child as usize], self.shifts[child as usize]) = (root, by);
        self.wraps[root as usize] |= self.wraps[child as usize];
    }

    /// The dimensions in which the tree of this root leads around.
    pub(crate) fn wraps(&self, root: u32) -> u8 {
        self.wraps[root as usize]
    }

    /// More of them, as they are known of a node already.
    pub(crate) fn note_wraps(&mut self, node: u32, wraps: u8) {
        let (root, _) = self.find(node);
        self.wraps[root as usize] |= wraps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(first: i32) -> Winding {
        Winding([first, 0, 0, 0])
    }

    #[test]
    fn moves_add_up_along_the_way() {
        let mut forest = Forest::new(4);
        forest.join(3, 2, by(1));
        forest.join(1, 0, by(-1));
        forest.join(2, 1, by(5));
        assert_eq!(forest.find(0), (0, by(0)));
        // 3 is moved by 1 less than 2, which is moved by 5 less than 1, which is moved by 1 more than 0.
        assert_eq!([1, 2, 3].map(|node| forest.find(node)), [(0, by(1)), (0, by(-4)), (0, by(-5))]);
        assert_eq!(forest.wraps(0), 0);
        forest.join(0, 3, by(-5));
        assert_eq!(forest.wraps(0), 0, "the same way once more");
        forest.join(0, 3, by(-4));
        assert_eq!(forest.wraps(0), 1, "another way around");
    }
}
