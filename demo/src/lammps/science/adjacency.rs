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
    /// An atom is on another's list, but not the other way round.
    #[error("atom {} is on the list of atom {}, which is not on its list", edge[1], edge[0])]
    OneWay {
        /// Whose list it is, and who is on it.
        edge: [i64; 2],
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
        let ids = sorted(ids)?;
        let edges = both_ways(&ids, pairs)?;
        Adjacency::from_edges(ids, &edges)
    }

    /// The same from a list for each atom that has bonds: whom it is bonded to.
    ///
    /// # Errors
    /// As [`Adjacency::from_pairs`]; a bond that only one of its atoms lists.
    pub fn from_lists<'a>(
        ids: &[i64],
        lists: impl IntoIterator<Item = (i64, &'a [i64])>,
    ) -> Result<Self, AdjacencyError> {
        let ids = sorted(ids)?;
        let mut edges = Vec::new();
        for (atom, neighbours) in lists {
            for &neighbour in neighbours {
                edges.push(edge(&ids, [atom, neighbour])?);
            }
        }
        let graph = Adjacency::from_edges(ids, &edges)?;
        match graph.one_way() {
            Some((from, to)) => Err(AdjacencyError::OneWay { edge: [graph.ids[from], graph.ids[to]] }),
            None => Ok(graph),
        }
    }

    /// An edge without the one back. Edges are gone through by where they begin. So those to an atom come in the order
    /// that its own list has: if all are there, each is the next of that list.
    fn one_way(&self) -> Option<(usize, usize)> {
        let mut next = self.starts.clone();
        let mut back = |from: usize, to: usize| {
            let found = self.neighbours(to).get(next[to] - self.starts[to]) == Some(&from);
            next[to] += usize::from(found);
            found
        };
        let edges =
            || (0..self.len()).flat_map(|from| self.neighbours(from).iter().map(move |&to| (from, to)));
        let all_back = edges().all(|(from, to)| back(from, to));
        let lacks = |&(from, to): &(usize, usize)| !self.are_bonded(to, from);
        if all_back { None } else { edges().find(lacks) }
    }

    /// From every bond as two edges.
    fn from_edges(ids: Vec<i64>, edges: &[(usize, usize)]) -> Result<Self, AdjacencyError> {
        let (starts, neighbours) = grouped(ids.len(), edges);
        let graph = Adjacency { ids, starts, neighbours };
        let twice = |index: usize| graph.neighbours(index).windows(2).find(|two| two[0] == two[1]);
        let twice = (0..graph.len()).find_map(|index| twice(index).map(|two| [index, two[0]]));
        match twice.map(|pair| pair.map(|index| graph.ids[index])) {
            Some(pair) => Err(AdjacencyError::TwicePair { pair }),
            None => Ok(graph),
        }
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
        index_of(&self.ids, id)
    }

    /// The indices of the atoms bonded to the atom of this index, rising.
    pub fn neighbours(&self, index: usize) -> &[usize] {
        &self.neighbours[self.starts[index]..self.starts[index + 1]]
    }

    /// How many bonds.
    pub fn bonds(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Whether two atoms, given by index, are bonded.
    pub fn are_bonded(&self, one: usize, other: usize) -> bool {
        self.neighbours(one).binary_search(&other).is_ok()
    }
}

/// The ids, rising.
fn sorted(ids: &[i64]) -> Result<Vec<i64>, AdjacencyError> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    match ids.windows(2).find(|two| two[0] == two[1]) {
        Some(same) => Err(AdjacencyError::Twice { id: same[0] }),
        None => Ok(ids),
    }
}

/// The indices of two atoms that are bonded.
fn edge(ids: &[i64], pair: [i64; 2]) -> Result<(usize, usize), AdjacencyError> {
    let index = |id: i64| index_of(ids, id).ok_or(AdjacencyError::UnknownAtom { pair, id });
    let (one, other) = (index(pair[0])?, index(pair[1])?);
    if one == other { Err(AdjacencyError::Loop { id: pair[0] }) } else { Ok((one, other)) }
}

/// Where an id is among rising ids. Mostly none is missing, so its place is known at once.
pub(crate) fn index_of(ids: &[i64], id: i64) -> Option<usize> {
    let guess = ids.first().and_then(|first| usize::try_from(id.checked_sub(*first)?).ok());
    guess.filter(|&guess| ids.get(guess) == Some(&id)).or_else(|| ids.binary_search(&id).ok())
}

/// Every pair as two directed edges between indices.
fn both_ways(ids: &[i64], pairs: &[[i64; 2]]) -> Result<Vec<(usize, usize)>, AdjacencyError> {
    let mut edges = Vec::with_capacity(2 * pairs.len());
    for &pair in pairs {
        let (one, other) = edge(ids, pair)?;
        edges.extend([(one, other), (other, one)]);
    }
    Ok(edges)
}

/// Edges between so many atoms by the one that they begin at: where those of each start, and where each ends, rising for
/// every atom. Many short sorts take a fraction of what one long sort does.
pub(crate) fn grouped(len: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; len + 1];
    for (from, _) in edges {
        starts[from + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let (mut next, mut ends) = (starts.clone(), vec![0; edges.len()]);
    for &(from, to) in edges {
        ends[next[from]] = to;
        next[from] += 1;
    }
    starts.windows(2).for_each(|two| ends[two[0]..two[1]].sort_unstable());
    (starts, ends)
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
    fn bad_lists_are_refused() {
        let made = |lists: &[(i64, &[i64])]| Adjacency::from_lists(&[1, 2], lists.iter().copied());
        assert!(made(&[(1, &[2]), (2, &[1])]).is_ok());
        assert_eq!(made(&[(1, &[2])]), Err(AdjacencyError::OneWay { edge: [1, 2] }));
        assert_eq!(made(&[(2, &[1])]), Err(AdjacencyError::OneWay { edge: [2, 1] }));
        assert_eq!(made(&[(1, &[2, 2]), (2, &[1, 1])]), Err(AdjacencyError::TwicePair { pair: [1, 2] }));
        assert_eq!(made(&[(2, &[2])]), Err(AdjacencyError::Loop { id: 2 }));
        assert_eq!(made(&[(3, &[1])]), Err(AdjacencyError::UnknownAtom { pair: [3, 1], id: 3 }));
    }

    #[test]
    fn atoms_without_bonds_are_there() {
        let graph = Adjacency::from_pairs(&[5, 3], &[]).expect("good");
        assert_eq!((graph.len(), graph.neighbours(0), graph.index_of(4)), (2, &[][..], None));
        assert!(!graph.are_bonded(0, 1) && !graph.is_empty());
    }
}
