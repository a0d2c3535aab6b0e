//! What the tests share: steps as files, and the whole pipeline run in one process on one step.
#![allow(dead_code)] // Each test uses a part of it.

use std::fs;
use std::path::Path;

use flexpath_demo::lammps::Lammps;
use flexpath_demo::lammps::problem::Problem;
use flexpath_demo::lammps::science::adjacency::Adjacency;
use flexpath_demo::lammps::science::atoms::{AtomBlock, AtomTable};
use flexpath_demo::lammps::science::bonds::{closer_than, pairs_within};
use flexpath_demo::lammps::science::cna::{Structure, classify};
use flexpath_demo::lammps::science::csym::centro_symmetry;
use flexpath_demo::lammps::science::geometry::{DOMAIN_NUMBERS, Domain};
use flexpath_demo::lammps::science::share::{Share, SharePlan, divide};
use flexpath_demo::lammps::source::StepView;

/// The sheet that cracks, small enough for a test, in LAMMPS in this process.
pub(crate) fn small_sheet() -> Lammps {
    let words = "-screen none -log none -nocite -var columns 20 -var rows 10 -var speed 0.3";
    let arguments: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let mut lammps = Lammps::open(&arguments).expect("LAMMPS starts");
    lammps.file(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/inputs/crack.lmp"))).expect("a good input");
    lammps
}

/// One step of all ranks.
pub(crate) struct Step {
    pub(crate) step: i64,
    pub(crate) domain: Domain,
    pub(crate) atoms: AtomBlock,
    pub(crate) reference: Option<Vec<f64>>,
    /// Atoms of each rank.
    pub(crate) counts: Vec<usize>,
}

/// Numbers of one atom in a file: id, type, position, velocity, reference.
const ROW: usize = 9;

/// One rank's part of a step as `<step>.<rank>`: domain, whether there are reference values, then a row for each atom.
pub(crate) fn write_step(folder: &Path, rank: usize, view: &StepView) {
    let mut numbers = view.domain.to_numbers().to_vec();
    numbers.push(f64::from(u8::from(view.reference.is_some())));
    for row in 0..view.atoms.len() {
        numbers.extend([view.atoms.ids[row] as f64, f64::from(view.atoms.types[row])]);
        numbers.extend(view.atoms.positions[row]);
        numbers.extend(view.atoms.velocities[row]);
        numbers.push(view.reference.as_ref().map_or(0.0, |reference| reference[row]));
    }
    let bytes: Vec<u8> = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
    fs::write(folder.join(format!("{}.{rank}", view.step)), bytes).expect("a writable folder");
}

/// All steps that ranks wrote, by rising number.
pub(crate) fn read_steps(folder: &Path, ranks: usize) -> Vec<Step> {
    let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let number = |name: std::ffi::OsString| name.to_str()?.strip_suffix(".0")?.parse::<i64>().ok();
    let mut steps: Vec<i64> = names.filter_map(number).collect();
    steps.sort_unstable();
    steps.into_iter().map(|step| read_step(folder, step, ranks)).collect()
}

fn read_step(folder: &Path, step: i64, ranks: usize) -> Step {
    let views = (0..ranks).map(|rank| {
        let bytes = fs::read(folder.join(format!("{step}.{rank}"))).expect("every rank wrote every step");
        read_view(step, &bytes)
    });
    join(views.collect())
}

fn read_view(step: i64, bytes: &[u8]) -> StepView {
    let (numbers, _) = bytes.as_chunks::<8>();
    let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let (head, rows) = numbers.split_at(DOMAIN_NUMBERS + 1);
    let (rows, rest) = rows.as_chunks::<ROW>();
    assert!(rest.is_empty());
    let atoms = AtomBlock {
        ids: rows.iter().map(|row| row[0] as i64).collect(),
        types: rows.iter().map(|row| row[1] as i32).collect(),
        positions: rows.iter().map(|row| [row[2], row[3], row[4]]).collect(),
        velocities: rows.iter().map(|row| [row[5], row[6], row[7]]).collect(),
    };
    let reference = (head[DOMAIN_NUMBERS] == 1.0).then(|| rows.iter().map(|row| row[8]).collect());
    let domain = Domain::from_numbers(head[..DOMAIN_NUMBERS].try_into().expect("nine numbers"));
    StepView { step, domain, atoms, reference }
}

/// The steps of all ranks, given as each rank had them.
pub(crate) fn join_ranks(ranks: Vec<Vec<StepView>>) -> Vec<Step> {
    let mut ranks: Vec<_> = ranks.into_iter().map(Vec::into_iter).collect();
    let mut steps = Vec::new();
    loop {
        let views: Vec<StepView> = ranks.iter_mut().filter_map(Iterator::next).collect();
        if views.is_empty() {
            return steps;
        }
        assert_eq!(views.len(), ranks.len(), "all ranks have all steps");
        steps.push(join(views));
    }
}

fn join(views: Vec<StepView>) -> Step {
    let (step, domain) = (views[0].step, views[0].domain);
    let counts = views.iter().map(|view| view.atoms.len()).collect();
    let mut joined = Step { step, domain, atoms: AtomBlock::default(), reference: None, counts };
    for view in views {
        assert_eq!((view.step, view.domain), (step, domain), "all ranks are of one step and domain");
        joined.atoms.ids.extend(view.atoms.ids);
        joined.atoms.types.extend(view.atoms.types);
        joined.atoms.positions.extend(view.atoms.positions);
        joined.atoms.velocities.extend(view.atoms.velocities);
        joined.reference =
            view.reference.map(|values| [joined.reference.unwrap_or_default(), values].concat());
    }
    joined
}

/// What the pipeline makes of a step. All lists are by rising id.
pub(crate) struct Analysed {
    pub(crate) ids: Vec<i64>,
    pub(crate) positions: Vec<[f64; 3]>,
    pub(crate) bonds: Vec<[i64; 2]>,
    pub(crate) graph: Adjacency,
    pub(crate) symmetry: Vec<f64>,
    pub(crate) classes: Vec<Structure>,
}

/// Helper on two ranks (each takes half of the simulation's ranks), Bonds on two, then CSym and CNA.
pub(crate) fn analyse(problem: Problem, step: &Step, ranks: usize) -> Analysed {
    let analysis = problem.analysis();
    let (mut bonds, mut reachable) = (Vec::new(), Vec::new());
    for share in shares(step, ranks, analysis.reach) {
        let pairs =
            pairs_within(share.own(), share.ghosts(), &step.domain, analysis.reach).expect("good atoms");
        bonds.extend(closer_than(&pairs, analysis.bond_cutoff));
        reachable.extend(closer_than(&pairs, analysis.reach));
    }
    let table = AtomTable::new(&step.atoms.ids, &step.atoms.positions).expect("good atoms");
    let graph = Adjacency::from_pairs(table.ids(), &bonds).expect("good bonds");
    let reach = Adjacency::from_pairs(table.ids(), &reachable).expect("good pairs");
    let symmetry = centro_symmetry(&table, &reach, &step.domain, analysis.neighbours).expect("good atoms");
    let classes = classify(&graph);
    let (ids, positions) = (table.ids().to_vec(), table.positions().to_vec());
    Analysed { ids, positions, bonds, graph, symmetry, classes }
}

fn shares(step: &Step, ranks: usize, reach: f64) -> Vec<Share> {
    let plan = SharePlan::even(&step.domain, 0, 2).expect("a plan");
    let half = step.counts[..ranks / 2].iter().sum();
    let (front, back) = step.atoms.ids.split_at(half);
    let (front_at, back_at) = step.atoms.positions.split_at(half);
    let mut shares = divide(front, front_at, &step.domain, &plan, reach).expect("good atoms");
    let others = divide(back, back_at, &step.domain, &plan, reach).expect("good atoms");
    for (share, other) in shares.iter_mut().zip(others) {
        share.own_ids.extend(other.own_ids);
        share.own_positions.extend(other.own_positions);
        share.ghost_ids.extend(other.ghost_ids);
        share.ghost_positions.extend(other.ghost_positions);
    }
    shares
}
