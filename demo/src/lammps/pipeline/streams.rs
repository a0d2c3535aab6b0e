//! Names of the streams, and what the parts need to make sense of lists.

use flexpath::{Variable, VariableError};

use super::error::PartError;
use super::part_step::InStep;
use crate::lammps::science::geometry::{DOMAIN_NUMBERS, Domain};

/// Atoms as the simulation's ranks hold them.
pub const ATOMS: &str = "atoms";
/// Atoms shared out by place, with ghosts.
pub const SHARES: &str = "shares";
/// Near pairs.
pub const BONDS: &str = "bonds";
/// Central symmetry and the verdict.
pub const SYMMETRY: &str = "symmetry";
/// Potential energy.
pub const ENERGY: &str = "energy";
/// Structure classes.
pub const STRUCTURE: &str = "structure";

/// The parameter of [`ATOMS`]: how fast each held edge moves, in sigma/tau.
pub const SPEED: &str = "speed";

/// The scalar that says which steps of several streams belong together.
pub const TIME_STEP: &str = "time_step";
/// The simulated space, as [`Domain::to_numbers`] has it.
pub const DOMAIN: &str = "domain";

/// The variable of [`TIME_STEP`].
///
/// # Errors
/// None: the name is fixed.
pub fn time_step() -> Result<Variable, VariableError> {
    Variable::scalar::<i64>(TIME_STEP)
}

/// The variable of [`DOMAIN`].
///
/// # Errors
/// None: the shape is fixed.
pub fn domain() -> Result<Variable, VariableError> {
    Ok(Variable::global::<f64>(DOMAIN, &[DOMAIN_NUMBERS as u64])?.with_unit("sigma"))
}

/// The simulated space of a step.
///
/// # Errors
/// As [`InStep::list`]; not nine numbers.
pub fn domain_of(step: &InStep) -> Result<Domain, PartError> {
    let numbers = step.list::<f64>(DOMAIN)?;
    let numbers = numbers.as_array::<DOMAIN_NUMBERS>().ok_or_else(|| PartError::NoRows {
        variable: DOMAIN.to_owned(),
        found: numbers.len(),
        width: DOMAIN_NUMBERS,
    })?;
    Ok(Domain::from_numbers(numbers))
}

/// A list of numbers as rows of `N`.
///
/// # Errors
/// Numbers that are no whole rows.
pub fn rows<T: Copy, const N: usize>(variable: &str, numbers: &[T]) -> Result<Vec<[T; N]>, PartError> {
    let (rows, rest) = numbers.as_chunks::<N>();
    if rest.is_empty() {
        return Ok(rows.to_vec());
    }
    Err(PartError::NoRows { variable: variable.to_owned(), found: numbers.len(), width: N })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_or_refused() {
        assert_eq!(rows::<i64, 2>("bond", &[1, 2, 3, 4]).expect("whole"), [[1, 2], [3, 4]]);
        let refused = rows::<f64, 3>("position", &[1.0; 4]);
        assert!(matches!(refused, Err(PartError::NoRows { found: 4, width: 3, .. })));
    }
}
