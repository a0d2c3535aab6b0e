//! Atoms as they travel: what a rank of the simulation publishes, and the smaller table that the analytics pass on.

/// One rank's own atoms of one step; row k of every list is the same atom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtomBlock {
    /// The atom's number, unique in the simulation, from 1.
    pub ids: Vec<i64>,
    /// 1: free to move; 2: held by the grips.
    pub types: Vec<i32>,
    /// Position, as the simulation has it: along a periodic axis it may lie a little outside the domain.
    pub positions: Vec<[f64; 3]>,
    /// Velocity, half a time step before the positions, but at step 0, where both are of the same time. Velocity Verlet
    /// moves the positions with the velocities of the middle of the step.
    pub velocities: Vec<[f64; 3]>,
}

impl AtomBlock {
    /// How many atoms.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no atom.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// Why two lists cannot describe the same atoms.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AtomError {
    /// The lists have different lengths.
    #[error("{ids} ids, but {rows} rows of {what}")]
    UnequalLengths {
        /// How many ids.
        ids: usize,
        /// How many rows of the other list.
        rows: usize,
        /// Which list.
        what: &'static str,
    },
    /// An atom is listed twice.
    #[error("atom {id} is listed twice")]
    Twice {
        /// Its id.
        id: i64,
    },
}

/// Ids and positions, by rising id: the order in which all per-atom results of this package are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtomTable {
    ids: Vec<i64>,
    positions: Vec<[f64; 3]>,
}

impl AtomTable {
    /// Sort atoms by id.
    ///
    /// # Errors
    /// Lists of different lengths; an id that is there twice.
    pub fn new(ids: &[i64], positions: &[[f64; 3]]) -> Result<Self, AtomError> {
        let (ids, positions) = sorted_by_id(ids, positions, "positions")?;
        Ok(AtomTable { ids, positions })
    }

    /// The ids, rising.
    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// The positions, in the order of the ids.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }
}

/// Sort per-atom values by the atoms' ids; `what` names the values in an error.
///
/// # Errors
/// Lists of different lengths; an id that is there twice.
pub fn sorted_by_id<T: Copy>(
    ids: &[i64],
    values: &[T],
    what: &'static str,
) -> Result<(Vec<i64>, Vec<T>), AtomError> {
    if ids.len() != values.len() {
        return Err(AtomError::UnequalLengths { ids: ids.len(), rows: values.len(), what });
    }
    let mut order: Vec<(i64, T)> = ids.iter().copied().zip(values.iter().copied()).collect();
    order.sort_unstable_by_key(|(id, _)| *id);
    let (ids, values): (Vec<i64>, Vec<T>) = order.into_iter().unzip();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(AtomError::Twice { id: pair[0] }),
        None => Ok((ids, values)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_come_out_by_rising_id() {
        let table = AtomTable::new(&[7, -1, 3], &[[7.0; 3], [-1.0; 3], [3.0; 3]]).expect("good");
        assert_eq!(table.ids(), [-1, 3, 7]);
        assert_eq!(table.positions()[0], [-1.0; 3]);
    }

    #[test]
    fn lists_that_disagree_are_refused() {
        let unequal = AtomTable::new(&[1, 2], &[[0.0; 3]]).expect_err("unequal");
        assert_eq!(unequal, AtomError::UnequalLengths { ids: 2, rows: 1, what: "positions" });
        assert_eq!(AtomTable::new(&[4, 4], &[[0.0; 3]; 2]), Err(AtomError::Twice { id: 4 }));
    }
}
