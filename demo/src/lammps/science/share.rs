//! Helper: takes atoms as the simulation's ranks happen to hold them, and keeps the kinds asked for. It shares them out
//! by place, each share with the ghosts that surround it.

use crate::lammps::science::atoms::AtomError;
use crate::lammps::science::bonds::Atoms;
use crate::lammps::science::geometry::Domain;

/// Why atoms could not be shared out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShareError {
    /// No share at all, or an axis that does not exist.
    #[error("cannot cut axis {axis} into {shares} shares")]
    BadPlan {
        /// The axis asked for.
        axis: usize,
        /// The number of shares asked for.
        shares: usize,
    },
    /// The reach of the ghosts is negative or no number.
    #[error("the reach {reach} is not a length")]
    BadReach {
        /// The reach asked for.
        reach: f64,
    },
    /// The lists of atoms disagree.
    #[error(transparent)]
    Atoms(#[from] AtomError),
}

/// Space cut into equal shares along one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct SharePlan {
    axis: usize,
    low: f64,
    width: f64,
    shares: usize,
}

impl SharePlan {
    /// Cut `domain` into `shares` equal parts along `axis` (0, 1 or 2). On a free axis the outer shares reach on without end.
    ///
    /// # Errors
    /// No share, or no such axis.
    pub fn even(domain: &Domain, axis: usize, shares: usize) -> Result<Self, ShareError> {
        if axis > 2 || shares == 0 {
            return Err(ShareError::BadPlan { axis, shares });
        }
        Ok(SharePlan { axis, low: domain.low[axis], width: domain.extent(axis) / shares as f64, shares })
    }

    /// How many shares.
    pub fn shares(&self) -> usize {
        self.shares
    }

    /// Which share a (wrapped) position belongs to.
    pub fn owner(&self, position: [f64; 3]) -> usize {
        let place = ((position[self.axis] - self.low) / self.width).floor();
        if place > 0.0 { (place as usize).min(self.shares - 1) } else { 0 }
    }

    /// Whether a (wrapped) position is within `reach` of share `share`, directly or around the domain.
    fn is_within_reach(&self, share: usize, position: [f64; 3], domain: &Domain, reach: f64) -> bool {
        let low = if share == 0 { f64::NEG_INFINITY } else { self.low + self.width * share as f64 };
        let last = share + 1 == self.shares;
        let high = if last { f64::INFINITY } else { self.low + self.width * (share + 1) as f64 };
        // An atom on a share's edge may be owned by either side, as rounding has it: the slack covers that.
        let reach = reach + 1e-9 * self.width.abs();
        let near = |place: f64, low: f64, high: f64| place >= low - reach && place <= high + reach;
        let place = position[self.axis];
        if !domain.periodic[self.axis] {
            return near(place, low, high);
        }
        let (low, high) = (low.max(domain.low[self.axis]), high.min(domain.high[self.axis]));
        let extent = domain.extent(self.axis);
        [-extent, 0.0, extent].iter().any(|shift| near(place + shift, low, high))
    }
}

/// The atoms of one share, and those around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// Ids of the atoms in this share.
    pub own_ids: Vec<i64>,
    /// Their positions, wrapped into the domain.
    pub own_positions: Vec<[f64; 3]>,
    /// Ids of atoms of other shares within reach of this one.
    pub ghost_ids: Vec<i64>,
    /// Their positions, wrapped into the domain.
    pub ghost_positions: Vec<[f64; 3]>,
}

impl Share {
    /// The share's own atoms.
    pub fn own(&self) -> Atoms<'_> {
        Atoms { ids: &self.own_ids, positions: &self.own_positions }
    }

    /// The atoms around them.
    pub fn ghosts(&self) -> Atoms<'_> {
        Atoms { ids: &self.ghost_ids, positions: &self.ghost_positions }
    }
}

/// Share atoms out by place: every atom is owned by one share, and is a ghost of each other share within `reach`.
/// Several callers may each divide a part of one step. Their results, joined share by share, are what one caller would
/// get.
///
/// # Errors
/// Lists of different lengths; a reach that is no length.
pub fn divide(
    ids: &[i64],
    positions: &[[f64; 3]],
    domain: &Domain,
    plan: &SharePlan,
    reach: f64,
) -> Result<Vec<Share>, ShareError> {
    if !(reach.is_finite() && reach >= 0.0) {
        return Err(ShareError::BadReach { reach });
    }
    if ids.len() != positions.len() {
        let (ids, rows) = (ids.len(), positions.len());
        return Err(AtomError::UnequalLengths { ids, rows, what: "positions" }.into());
    }
    let mut shares = vec![Share::default(); plan.shares()];
    for (&id, &position) in ids.iter().zip(positions) {
        place(&mut shares, id, domain.wrap(position), domain, plan, reach);
    }
    Ok(shares)
}

fn place(shares: &mut [Share], id: i64, position: [f64; 3], domain: &Domain, plan: &SharePlan, reach: f64) {
    let owner = plan.owner(position);
    for (index, share) in shares.iter_mut().enumerate() {
        if index == owner {
            share.own_ids.push(id);
            share.own_positions.push(position);
        } else if plan.is_within_reach(index, position, domain, reach) {
            share.ghost_ids.push(id);
            share.ghost_positions.push(position);
        }
    }
}

/// The rows of those atoms whose type is one of `kinds`; `None` keeps all.
///
/// # Errors
/// Lists of different lengths.
pub fn keep_kinds<T: Copy>(types: &[i32], values: &[T], kinds: Option<&[i32]>) -> Result<Vec<T>, AtomError> {
    if types.len() != values.len() {
        return Err(AtomError::UnequalLengths { ids: types.len(), rows: values.len(), what: "values" });
    }
    let kept = |kind: &i32| kinds.is_none_or(|kinds| kinds.contains(kind));
    Ok(types.iter().zip(values).filter(|(kind, _)| kept(kind)).map(|(_, value)| *value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::science::geometry::squared;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_atom_has_one_owner_and_all_its_near_ghosts(
            positions in prop::collection::vec(proptest::array::uniform3(-3.0..9.0f64), 0..80),
            periodic in proptest::array::uniform3(any::<bool>()),
            shares in 1usize..6, axis in 0usize..3, reach in 0.0..1.5f64,
        ) {
            let domain = Domain { low: [0.0; 3], high: [6.0, 5.0, 4.0], periodic };
            let ids: Vec<i64> = (1..=positions.len() as i64).collect();
            let plan = SharePlan::even(&domain, axis, shares).expect("good plan");
            let parts = divide(&ids, &positions, &domain, &plan, reach).expect("good input");
            let mut owned: Vec<i64> = parts.iter().flat_map(|part| part.own_ids.clone()).collect();
            owned.sort_unstable();
            prop_assert_eq!(&owned, &ids);
            for part in &parts {
                let near = |a: [f64; 3], b: [f64; 3]| squared(domain.displacement(a, b)).sqrt() <= reach;
                for (id, position) in ids.iter().zip(&positions) {
                    let around = part.own_positions.iter().any(|own| near(*own, domain.wrap(*position)));
                    let here = part.own_ids.contains(id);
                    prop_assert!(!around || here || part.ghost_ids.contains(id));
                    prop_assert!(!(here && part.ghost_ids.contains(id)));
                }
            }
        }

        #[test]
        fn two_callers_make_what_one_makes(
            positions in prop::collection::vec(proptest::array::uniform3(-3.0..9.0f64), 0..60), at in 0usize..60,
        ) {
            let domain = Domain { low: [0.0; 3], high: [6.0, 5.0, 4.0], periodic: [true, false, true] };
            let ids: Vec<i64> = (0..positions.len() as i64).collect();
            let at = at.min(ids.len());
            let plan = SharePlan::even(&domain, 0, 3).expect("good plan");
            let whole = divide(&ids, &positions, &domain, &plan, 1.0).expect("good");
            let front = divide(&ids[..at], &positions[..at], &domain, &plan, 1.0).expect("good");
            let back = divide(&ids[at..], &positions[at..], &domain, &plan, 1.0).expect("good");
            for (share, (front, back)) in whole.iter().zip(front.iter().zip(&back)) {
                prop_assert_eq!(&share.own_ids, &[front.own_ids.clone(), back.own_ids.clone()].concat());
                prop_assert_eq!(&share.ghost_ids, &[front.ghost_ids.clone(), back.ghost_ids.clone()].concat());
            }
        }
    }

    #[test]
    fn kinds_are_kept_by_row() {
        assert_eq!(keep_kinds(&[1, 2, 1], &["a", "b", "c"], Some(&[1])), Ok(vec!["a", "c"]));
        assert_eq!(keep_kinds(&[1, 2], &["a", "b"], None), Ok(vec!["a", "b"]));
        assert!(keep_kinds(&[1], &["a", "b"], None).is_err());
    }

    #[test]
    fn bad_plans_are_refused() {
        let domain = Domain { low: [0.0; 3], high: [1.0; 3], periodic: [false; 3] };
        assert_eq!(SharePlan::even(&domain, 3, 1), Err(ShareError::BadPlan { axis: 3, shares: 1 }));
        assert_eq!(SharePlan::even(&domain, 0, 0), Err(ShareError::BadPlan { axis: 0, shares: 0 }));
        let plan = SharePlan::even(&domain, 0, 1).expect("good");
        assert!(matches!(divide(&[], &[], &domain, &plan, f64::NAN), Err(ShareError::BadReach { .. })));
    }
}
