//! The potential energy of each atom, on average, against LAMMPS's log.
//!
//! **Tolerance.** Both add up the same pairs in double precision. But LAMMPS writes eight digits into its log, so a
//! number below ten is known to 5e-8. [`ALLOWED`] is twenty times that. What tears a body changes its energy by a
//! hundred thousand times as much.

use std::collections::BTreeMap;

/// The column of the time step, and that of the energy.
const COLUMNS: [&str; 2] = ["Step", "PotEng"];
/// What LAMMPS writes after the last row of a run.
const END: &str = "Loop time";

/// Difference allowed, in epsilon.
pub const ALLOWED: f64 = 1e-6;

/// What the comparison found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyReport {
    /// Steps of LAMMPS's log.
    pub steps: usize,
    /// Those of them for which we have no energy.
    pub missing: usize,
    /// The largest difference of the others.
    pub worst_difference: f64,
}

impl EnergyReport {
    /// Whether every single step is right.
    pub fn holds(&self) -> bool {
        self.steps > 0 && self.missing == 0 && self.worst_difference <= ALLOWED
    }
}

/// Time steps and energies of the rows that LAMMPS wrote into its log.
pub fn logged_energies(log: &str) -> BTreeMap<i64, f64> {
    let mut places: Option<[usize; 2]> = None;
    let mut found = BTreeMap::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with(END) {
            places = None;
        } else if let Some([step, energy]) = places {
            let number = |at: usize| words.get(at).copied().unwrap_or_default();
            if let (Ok(step), Ok(energy)) = (number(step).parse(), number(energy).parse()) {
                found.insert(step, energy);
            }
        } else {
            let place = |column: &str| words.iter().position(|word| *word == column);
            places = place(COLUMNS[0]).zip(place(COLUMNS[1])).map(|(step, energy)| [step, energy]);
        }
    }
    found
}

/// Compare our energies with LAMMPS's, both by time step. Steps that LAMMPS did not log are not compared.
pub fn compare_energies(ours: &BTreeMap<i64, f64>, theirs: &BTreeMap<i64, f64>) -> EnergyReport {
    let mut report = EnergyReport { steps: theirs.len(), missing: 0, worst_difference: 0.0 };
    for (step, energy) in theirs {
        match ours.get(step) {
            // What is no number is larger than any bound.
            Some(found) if found.is_nan() => report.worst_difference = f64::INFINITY,
            Some(found) => report.worst_difference = report.worst_difference.max((found - energy).abs()),
            None => report.missing += 1,
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "run 1000\nPer MPI rank memory allocation (min/avg/max) = 3.1 | 3.1 | 3.1 Mbytes\n\
        Step Temp PotEng Press Pyy Ly Atoms \n\
        \u{20}      0   0.0499 -3.2665482      0.1     0.2   27.2  8065 \n\
        \u{20}   1000   0.0301   -3.25      0.1     0.2   27.9  8065 \n\
        Loop time of 1.5 on 4 procs for 1000 steps with 8065 atoms\n\n2000 1 -9 0 0 0 0\n";

    fn energies<const N: usize>(of: [(i64, f64); N]) -> BTreeMap<i64, f64> {
        of.into_iter().collect()
    }

    #[test]
    fn rows_of_a_log_are_found() {
        assert_eq!(logged_energies(LOG), energies([(0, -3.266_548_2), (1000, -3.25)]));
        assert_eq!(logged_energies("no rows"), BTreeMap::new());
    }

    #[test]
    fn a_step_that_is_wrong_or_missing_does_not_hold() {
        let theirs = logged_energies(LOG);
        let report = |ours| compare_energies(&ours, &theirs);
        assert!(report(energies([(0, -3.266_548_24), (500, 7.0), (1000, -3.250_000_04)])).holds());
        assert!(!report(energies([(0, -3.266_548_2), (1000, -3.249)])).holds());
        assert!(!report(energies([(0, -3.266_548_2), (1000, f64::NAN)])).holds());
        assert_eq!(report(energies([(0, -3.266_548_2)])).missing, 1);
        assert!(!compare_energies(&theirs, &BTreeMap::new()).holds(), "nothing was compared");
    }
}
