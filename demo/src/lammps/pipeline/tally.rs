//! Tally's part: in a measured run it takes all results as they come out of the streams, or files, and adds them up. Two
//! runs of the same simulation must agree in every number, however they are coupled.

use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::part::Part;
use super::part_step::InStep;
use super::report::{Report, Tallied, say};
use super::settings::Settings;
use super::streams::{STRUCTURE, SYMMETRY, TIME_STEP};

/// Add up until CSym and CNA end.
///
/// # Errors
/// A stream that fails, or two that do not go together; a number that is no class.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    let wanted = [TIME_STEP, "torn", "torn_atoms", "atoms", "bonds", "id", "symmetry"];
    let mut symmetry = Inlet::open(Part::Tally, settings, SYMMETRY, Every::Step, &wanted)?;
    let wanted = [TIME_STEP, "id", "class"];
    let mut structure = Inlet::open(Part::Tally, settings, STRUCTURE, Every::Step, &wanted)?;
    let mut tallied = Tallied { digest: DIGEST_START, ..Tallied::default() };
    while let Some((time_step, step)) = symmetry.step()? {
        let torn = tallied.add_symmetry(time_step, &step)?;
        symmetry.release(time_step, step);
        if torn && tallied.classified_steps < settings.cna_steps() {
            let step = structure.step_of(time_step)?;
            tallied.add_classes(&step)?;
            structure.release(time_step, step);
        }
    }
    if let Some((time_step, _)) = structure.step()? {
        return Err(PartError::OutOfStep { stream: SYMMETRY, expected: time_step, found: None });
    }
    symmetry.close()?;
    structure.close()?;
    say(Part::Tally, 0, Report::Tallied(tallied));
    Ok(())
}

/// The digest is FNV-1a over words of 64 bits: it need not keep anybody from cheating.
const DIGEST_START: u64 = 0xcbf2_9ce4_8422_2325;
const DIGEST_FACTOR: u64 = 0x0100_0000_01b3;

impl Tallied {
    fn digest(&mut self, words: impl IntoIterator<Item = u64>) {
        for word in words {
            self.digest = (self.digest ^ word).wrapping_mul(DIGEST_FACTOR);
        }
    }

    /// Take in a step of CSym; gives its verdict.
    fn add_symmetry(&mut self, time_step: i64, step: &InStep) -> Result<bool, PartError> {
        let torn = step.scalar::<u8>("torn")? != 0;
        self.steps += 1;
        self.atoms = step.scalar("atoms")?;
        self.bonds += step.scalar::<i64>("bonds")?;
        self.torn_atoms += step.scalar::<i64>("torn_atoms")?;
        if torn && self.torn_at.is_none() {
            self.torn_at = Some(time_step);
        }
        let (ids, values) = (step.list::<i64>("id")?, step.list::<f64>("symmetry")?);
        self.symmetry_sum += values.iter().sum::<f64>();
        self.digest(
            ids.iter().map(|id| id.cast_unsigned()).chain(values.iter().map(|value| value.to_bits())),
        );
        Ok(torn)
    }

    /// Take in a step of CNA.
    fn add_classes(&mut self, step: &InStep) -> Result<(), PartError> {
        let (ids, classes) = (step.list::<i64>("id")?, step.list::<u8>("class")?);
        self.classified_steps += 1;
        for &number in &classes {
            let place = usize::from(number).checked_sub(1).and_then(|class| self.census.get_mut(class));
            *place.ok_or(PartError::NoClass { number })? += 1;
        }
        self.digest(
            ids.iter().map(|id| id.cast_unsigned()).chain(classes.iter().map(|&class| u64::from(class))),
        );
        Ok(())
    }
}
