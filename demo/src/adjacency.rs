//! The graph of bonds: for each atom, the atoms it is bonded to, made from a list of pairs.

/// Why pairs make no graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AdjacencyError {
    /// An atom is listed twice.
    #[error("atom {id} is listed twice")]
    Twice {
        /// Its id.
        id: i64,
    },
    /// A pair names an atom that is not there.
    #[error("pair {pair:?} names atom {id}, which is not among the atoms")]
    UnknownAtom {
        /// The pair.
        pair: [i64; 2],
        /// The id that is missing.
        id: i64,
    },
    /// A pair of an atom with itself.
    #[error("atom {id} is paired with itself")]
    Loop {
        /// Its id.
        id: i64,
    },
    /// A pair is there twice (in either order).
    #[error("pair {pair:?} is there twice")]
    TwicePair {
        /// The pair.
        pair: [i64; 2],
    },
}

/// Who is bonded to whom. Atoms are numbered by rising id, from 0: "index" below is that number.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjacency {
    ids: Vec<i64>,
    starts: Vec<usize>,
    neighbours: Vec<usize>,
}

impl Adjacency {
    /// The graph over the atoms `ids` (in any order; unbonded ones count too) with the bonds `pairs`.
    ///
    /// # Errors
    /// An atom or pair that is there twice, a pair with an atom that is not there or with itself.
    pub fn from_pairs(ids: &[i64], pairs: &[[i64; 2]]) -> Result<Self, AdjacencyError> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        if let Some(same) = ids.windows(2).find(|two| two[0] == two[1]) {
            return Err(AdjacencyError::Twice { id: same[0] });
        }
        let edges = both_ways(&ids, pairs)?;
        if let Some(same) = edges.windows(2).find(|two| two[0] == two[1]) {
            return Err(AdjacencyError::TwicePair { pair: [ids[same[0].0], ids[same[0].1]] });
        }
        let mut starts = vec![0; ids.len() + 1];
        for (from, _) in &edges {
            starts[from + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        Ok(Adjacency { ids, starts, neighbours: edges.into_iter().map(|(_, to)| to).collect() })
    }

    /// How many atoms.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no atom.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The ids, rising: the atom of index k is `ids()[k]`.
    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// The index of an atom, if it is there.
    pub fn index_of(&self, id: i64) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// The indices of the atoms bonded to the atom of this index, rising.
    pub fn neighbours(&self, index: usize) -> &[usize] {
        &self.neighbours[self.starts[index]..self.starts[index + 1]]
    }

    /// Whether two atoms, given by index, are bonded.
    pub fn are_bonded(&self, one: usize, other: usize) -> bool {
        self.neighbours(one).binary_search(&other).is_ok()
    }
}

/// Every pair as two directed edges between indices, sorted.
fn both_ways(ids: &[i64], pairs: &[[i64; 2]]) -> Result<Vec<(usize, usize)>, AdjacencyError> {
    let mut edges = Vec::with_capacity(2 * pairs.len());
    for &pair in pairs {
        let index = |id: i64| ids.binary_search(&id).map_err(|_| AdjacencyError::UnknownAtom { pair, id });
        let (one, other) = (index(pair[0])?, index(pair[1])?);
        if one == other {
            return Err(AdjacencyError::Loop { id: pair[0] });
        }
        edges.extend([(one, other), (other, one)]);
    }
    edges.sort_unstable();
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_graph_says_what_the_pairs_say(
            ids in prop::collection::btree_set(-50i64..50, 2..30), picks in prop::collection::vec((0usize..30, 0usize..30), 0..60),
        ) {
            let ids: Vec<i64> = ids.into_iter().rev().collect();
            let pair = |&(a, b): &(usize, usize)| {
                let (a, b) = (ids[a % ids.len()], ids[b % ids.len()]);
                (a != b).then(|| [a.min(b), a.max(b)])
            };
            let pairs: BTreeSet<[i64; 2]> = picks.iter().filter_map(pair).collect();
            let listed: Vec<[i64; 2]> = pairs.iter().copied().collect();
            let graph = Adjacency::from_pairs(&ids, &listed).expect("good pairs");
            for &a in &ids {
                let index = graph.index_of(a).expect("there");
                let expected: Vec<i64> = graph.ids().iter().copied()
                    .filter(|&b| pairs.contains(&[a.min(b), a.max(b)])).collect();
                let found: Vec<i64> = graph.neighbours(index).iter().map(|&k| graph.ids()[k]).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn bad_pairs_are_refused() {
        let made = |ids: &[i64], pairs: &[[i64; 2]]| Adjacency::from_pairs(ids, pairs).expect_err("bad");
        assert_eq!(made(&[1, 1], &[]), AdjacencyError::Twice { id: 1 });
        assert_eq!(made(&[1, 2], &[[1, 3]]), AdjacencyError::UnknownAtom { pair: [1, 3], id: 3 });
        assert_eq!(made(&[1, 2], &[[2, 2]]), AdjacencyError::Loop { id: 2 });
        assert_eq!(made(&[1, 2], &[[1, 2], [2, 1]]), AdjacencyError::TwicePair { pair: [1, 2] });
    }

    #[test]
    fn atoms_without_bonds_are_there() {
        let graph = Adjacency::from_pairs(&[5, 3], &[]).expect("good");
        assert_eq!((graph.len(), graph.neighbours(0), graph.index_of(4)), (2, &[][..], None));
        assert!(!graph.are_bonded(0, 1) && !graph.is_empty());
    }
}
