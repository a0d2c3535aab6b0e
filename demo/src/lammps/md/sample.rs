//! The two problems' atoms at the start: lattice, notch, held edges, velocities. The geometry is that of the LAMMPS input
//! files.

use super::error::MdError;
use crate::lammps::problem::Problem;
use crate::lammps::science::geometry::Domain;
use crate::lammps::source::Scale;

/// Type of an atom that is free to move.
pub(super) const FREE: i32 = 1;
/// Type of an atom that is held.
pub(super) const HELD: i32 = 2;
/// Atoms at most.
const MOST_ATOMS: f64 = 1e7;
/// Always the same, so that all ranks make the same start.
const SEED: u64 = 70_411;

/// Atoms, where and how fast they are, and what moves them from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// 1: free; 2: held, moving steadily. The atom in row k has the id k + 1.
    pub types: Vec<i32>,
    /// Positions.
    pub positions: Vec<[f64; 3]>,
    /// Velocities.
    pub velocities: Vec<[f64; 3]>,
    /// The space they are in; free along x and y.
    pub domain: Domain,
    /// Time step, in tau.
    pub time_step: f64,
}

/// A problem's lattice and numbers.
struct Recipe {
    cell: [f64; 3],
    basis: &'static [[f64; 3]],
    cells: [u32; 3],
    /// Half the height of the notch, in cells.
    notch: f64,
    temperature: f64,
    speed: f64,
    time_step: f64,
    flat: bool,
}

impl Sample {
    /// Set a problem up; sizes that `scale` does not give are those of the problem.
    ///
    /// # Errors
    /// A size of zero, more than ten million atoms, or a speed that is no number.
    pub fn new(problem: Problem, scale: &Scale) -> Result<Self, MdError> {
        let recipe = recipe(problem, scale);
        let [columns, rows, layers] = recipe.cells;
        let atoms =
            recipe.cells.iter().map(|cells| f64::from(*cells)).product::<f64>() * recipe.basis.len() as f64;
        if !(1.0..=MOST_ATOMS).contains(&atoms) {
            return Err(MdError::BadScale { columns, rows, layers });
        }
        if !recipe.speed.is_finite() {
            return Err(MdError::BadSpeed { speed: recipe.speed });
        }
        Ok(recipe.sample())
    }
}

fn recipe(problem: Problem, scale: &Scale) -> Recipe {
    match problem {
        Problem::Crack => {
            let spacing = (2.0 / (3f64.sqrt() * 0.93)).sqrt();
            Recipe {
                cell: [spacing, spacing * 3f64.sqrt(), 1.0],
                basis: &[[0.0, 0.0, 0.0], [0.5, 0.5, 0.0]],
                cells: [scale.columns.unwrap_or(100), scale.rows.unwrap_or(40), 1],
                notch: 0.6,
                temperature: 0.02,
                speed: scale.speed.unwrap_or(problem.speed()),
                time_step: problem.time_step(),
                flat: true,
            }
        }
        Problem::Notch => Recipe {
            cell: [(4.0f64 / 1.09).cbrt(); 3],
            basis: &[[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]],
            cells: [scale.columns.unwrap_or(30), scale.rows.unwrap_or(30), scale.layers.unwrap_or(4)],
            notch: 1.1,
            temperature: 0.05,
            speed: scale.speed.unwrap_or(problem.speed()),
            time_step: problem.time_step(),
            flat: false,
        },
    }
}

impl Recipe {
    fn sample(&self) -> Sample {
        let sites = self.sites();
        let rows = f64::from(self.cells[1]);
        let kind = |site: &[f64; 3]| if site[1] < 1.25 || site[1] > rows - 1.25 { HELD } else { FREE };
        let scaled =
            |cells: [f64; 3]| -> [f64; 3] { std::array::from_fn(|axis| cells[axis] * self.cell[axis]) };
        let types: Vec<i32> = sites.iter().map(kind).collect();
        Sample {
            velocities: self.velocities(&sites, &types),
            positions: sites.iter().map(|site| scaled(*site)).collect(),
            types,
            domain: Domain {
                low: [0.0; 3],
                high: scaled(self.cells.map(f64::from)),
                periodic: [false, false, !self.flat],
            },
            time_step: self.time_step,
        }
    }

    /// Lattice sites in units of cells, both ends of the free axes included, without those in the notch.
    fn sites(&self) -> Vec<[f64; 3]> {
        let [columns, rows, layers] = self.cells;
        let inside = |site: &[f64; 3]| site[0] <= f64::from(columns) && site[1] <= f64::from(rows);
        let notched = |site: &[f64; 3]| {
            site[0] <= f64::from(columns) / 4.0 && (site[1] - f64::from(rows) / 2.0).abs() <= self.notch
        };
        let mut sites = Vec::new();
        for layer in 0..layers {
            for row in 0..=rows {
                for column in 0..=columns {
                    let corner = [column, row, layer].map(f64::from);
                    sites.extend(
                        self.basis.iter().map(|site| std::array::from_fn(|axis| corner[axis] + site[axis])),
                    );
                }
            }
        }
        sites.retain(|site| inside(site) && !notched(site));
        sites
    }

    /// Random, without drift, on top of an even stretch; held atoms move with the stretch alone.
    fn velocities(&self, sites: &[[f64; 3]], types: &[i32]) -> Vec<[f64; 3]> {
        let mut random = Random(SEED);
        // Evenly distributed over -w..w, of variance w^2 / 3 = temperature.
        let width = (3.0 * self.temperature).sqrt();
        let axes = if self.flat { 2 } else { 3 };
        let mut draw = || -> [f64; 3] {
            std::array::from_fn(|axis| if axis < axes { width * (2.0 * random.next() - 1.0) } else { 0.0 })
        };
        let mut velocities: Vec<[f64; 3]> =
            types.iter().map(|kind| if *kind == FREE { draw() } else { [0.0; 3] }).collect();
        let movable = types.iter().filter(|kind| **kind == FREE).count().max(1) as f64;
        let mean: [f64; 3] = std::array::from_fn(|axis| {
            velocities.iter().map(|velocity| velocity[axis]).sum::<f64>() / movable
        });
        for ((velocity, site), kind) in velocities.iter_mut().zip(sites).zip(types) {
            let stretch = self.speed * (2.0 * site[1] / f64::from(self.cells[1]) - 1.0);
            *velocity = match *kind {
                FREE => [velocity[0] - mean[0], velocity[1] - mean[1] + stretch, velocity[2] - mean[2]],
                _ => [0.0, self.speed.copysign(stretch), 0.0],
            };
        }
        velocities
    }
}

/// The splitmix64 sequence (Steele, Lea and Flood, 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    /// The next number in 0..1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_problems_have_the_sizes_of_the_inputs() {
        let crack = Sample::new(Problem::Crack, &Scale::default()).expect("good");
        assert_eq!(crack.positions.len(), 8_065);
        let notch = Sample::new(Problem::Notch, &Scale::default()).expect("good");
        assert_eq!(notch.positions.len(), 14_564);
        assert_eq!((crack.domain.periodic[2], notch.domain.periodic[2]), (false, true));
    }

    #[test]
    fn free_atoms_have_the_temperature_and_held_ones_the_speed() {
        let sample =
            Sample::new(Problem::Notch, &Scale { speed: Some(0.5), ..Scale::default() }).expect("good");
        let (mut heat, mut free) = (0.0, 0.0);
        for (velocity, kind) in sample.velocities.iter().zip(&sample.types) {
            if *kind == HELD {
                assert!((velocity[1].abs() - 0.5).abs() < 1e-12 && velocity[0] == 0.0);
            } else {
                heat += velocity[0] * velocity[0];
                free += 1.0;
            }
        }
        assert!((heat / free - 0.05).abs() < 0.002, "{}", heat / free);
    }

    #[test]
    fn bad_sizes_are_refused() {
        let scaled =
            |columns| Sample::new(Problem::Crack, &Scale { columns: Some(columns), ..Scale::default() });
        assert!(matches!(scaled(0), Err(MdError::BadScale { columns: 0, .. })));
        assert!(matches!(scaled(u32::MAX), Err(MdError::BadScale { .. })));
        let fast = Scale { speed: Some(f64::INFINITY), ..Scale::default() };
        assert!(matches!(Sample::new(Problem::Crack, &fast), Err(MdError::BadSpeed { .. })));
    }
}
