//! The built-in molecular dynamics tells the same story as LAMMPS. It is whole at the start, torn at the end, and on
//! the fcc body many atoms change their class.

use std::thread;

use crate::common::{Step, analyse, join_ranks};
use flexpath_demo::lammps::launch::Place;
use flexpath_demo::lammps::md::MolecularDynamics;
use flexpath_demo::lammps::problem::Problem;
use flexpath_demo::lammps::science::cna::{Structure, census};
use flexpath_demo::lammps::science::tear::{TearWatch, Verdict};
use flexpath_demo::lammps::source::{Control, RunConfig, Source, StepView};

const RANKS: usize = 2;

fn run(config: &RunConfig) -> Vec<Step> {
    let rank = |rank: usize| {
        let config = config.clone();
        thread::spawn(move || {
            let mut views: Vec<StepView> = Vec::new();
            let mut source = MolecularDynamics::at(Place { rank, size: RANKS });
            source.run(&config, &mut |view| {
                views.push(view);
                Control::Continue
            })?;
            Ok::<_, flexpath_demo::lammps::source::SourceError>(views)
        })
    };
    let ranks: Vec<_> = (0..RANKS).map(rank).collect();
    let ranks = ranks.into_iter().map(|rank| rank.join().expect("no panic").expect("runs")).collect();
    join_ranks(ranks)
}

fn verdicts(problem: Problem, steps: &[Step]) -> Vec<Verdict> {
    let first = analyse(problem, &steps[0], RANKS);
    let watch =
        TearWatch::new(&steps[0].atoms.ids, &first.bonds, problem.analysis().tear).expect("good bonds");
    let judged = steps.iter().map(|step| analyse(problem, step, RANKS));
    judged.map(|found| watch.judge(&found.graph, &found.symmetry)).collect()
}

#[test]
fn the_sheet_tears_on_the_way() {
    let mut config = RunConfig::new(Problem::Crack);
    (config.steps, config.publish_every, config.compare_every) = (4_000, 400, 400);
    (config.scale.columns, config.scale.rows, config.scale.speed) = (Some(60), Some(24), Some(0.23));
    let steps = run(&config);
    let verdicts = verdicts(Problem::Crack, &steps);
    assert!(!verdicts[0].torn && verdicts[verdicts.len() - 1].torn, "{verdicts:?}");
    assert!(steps.iter().any(|step| step.counts != steps[0].counts), "atoms migrate");
}

#[test]
fn the_body_tears_and_its_atoms_change_class() {
    let mut config = RunConfig::new(Problem::Notch);
    (config.steps, config.publish_every, config.compare_every) = (1_200, 400, 400);
    (config.scale.columns, config.scale.rows, config.scale.speed) = (Some(16), Some(16), Some(0.38));
    let steps = run(&config);
    let verdicts = verdicts(Problem::Notch, &steps);
    assert!(!verdicts[0].torn && verdicts[verdicts.len() - 1].torn, "{verdicts:?}");
    let first = analyse(Problem::Notch, &steps[0], RANKS).classes;
    let last = analyse(Problem::Notch, &steps[steps.len() - 1], RANKS).classes;
    let changed = first.iter().zip(&last).filter(|(then, now)| then != now).count();
    assert!(changed * 100 >= first.len(), "{changed} of {}", first.len());
    let found = census(&last);
    let is_large = |wanted: Structure| found[wanted as usize - 1] * 50 >= last.len();
    assert!(is_large(Structure::FaceCentredCubic) && is_large(Structure::Other), "{found:?}");
}
