//! A rank's place in its cohort, given by hand or by the launcher's environment.

use crate::error::cohort::CohortError;
use fp_types::Rank;

/// Rank and size of the process in its cohort.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::{Cohort, SubscriberOptions};
///
/// let options = SubscriberOptions::default().with_cohort(Cohort::of(1, 4)?); // the second of four ranks
/// # let _ = options;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cohort {
    rank: Rank,
    size: u32,
}

/// What launchers set: rank and size, in the order in which they are believed.
const LAUNCHERS: [(&str, &str); 5] = [
    ("FLEXPATH_RANK", "FLEXPATH_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
];

impl Cohort {
    /// A lone process.
    pub fn alone() -> Self {
        Self { rank: Rank(0), size: 1 }
    }

    /// Rank `rank` of `size`.
    ///
    /// # Errors
    /// If the rank is not below the size.
    pub fn of(rank: u32, size: u32) -> Result<Self, CohortError> {
        if rank >= size {
            return Err(CohortError::OutOfRange { rank, size });
        }
        Ok(Self { rank: Rank(rank), size })
    }

    /// Rank and size from the launcher: `FLEXPATH_RANK`/`_SIZE`, Open MPI, MPICH (PMI), Slurm; a lone process
    /// where none of them is set.
    ///
    /// # Errors
    /// If a variable that is set makes no sense.
    pub fn from_environment() -> Result<Self, CohortError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, CohortError> {
        for (rank_name, size_name) in LAUNCHERS {
            let (Some(rank), size) = (variable(rank_name), variable(size_name)) else { continue };
            let Some(size) = size else {
                if rank_name == "PMIX_RANK" {
                    // Open MPI 5 sets the rank alone; its size is in its own variables.
                    continue;
                }
                return Err(CohortError::Incomplete { present: rank_name, missing: size_name });
            };
            return Self::of(number(rank_name, &rank)?, number(size_name, &size)?);
        }
        Ok(Self::alone())
    }

    /// The rank.
    pub fn rank(self) -> Rank {
        self.rank
    }

    /// The number of ranks.
    pub fn size(self) -> u32 {
        self.size
    }
}

impl Default for Cohort {
    fn default() -> Self {
        Self::alone()
    }
}

fn number(variable: &'static str, value: &str) -> Result<u32, CohortError> {
    value.trim().parse().map_err(|_| CohortError::NotANumber { variable, value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &'static [(&'static str, &'static str)]) -> Result<Cohort, CohortError> {
        Cohort::from_variables(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn every_launcher_is_understood() {
        for (rank, size) in LAUNCHERS {
            let set = [(rank, "2"), (size, "5")];
            let found = Cohort::from_variables(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            });
            assert_eq!(found, Cohort::of(2, 5));
        }
        assert_eq!(with(&[]), Ok(Cohort::alone()));
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(
            with(&[("PMI_RANK", "3"), ("PMI_SIZE", "3")]),
            Err(CohortError::OutOfRange { rank: 3, size: 3 })
        );
        assert!(matches!(with(&[("PMI_RANK", "x"), ("PMI_SIZE", "3")]), Err(CohortError::NotANumber { .. })));
        assert!(matches!(with(&[("SLURM_PROCID", "0")]), Err(CohortError::Incomplete { .. })));
    }
}
