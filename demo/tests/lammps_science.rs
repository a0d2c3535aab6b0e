//! The real thing: LAMMPS on four ranks under `mpirun`, and our analytics on what its ranks hand over. Both checks run,
//! atom by atom, on every compared step.
//!
//! A binary of its own, as it keeps four cores busy, and starts itself, test harness and all, as ranks of MPI.
//!
//! The test starts itself under `mpirun` (as `one_rank_of_lammps`, told by a variable of the environment); each rank
//! writes what it is handed to a file. Where LAMMPS is not installed the test says so and passes, unless
//! `FLEXPATH_REQUIRE_LAMMPS` is set.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Step, analyse, read_steps, write_step};
use flexpath_demo::lammps::atom_picture::{colour, draw};
use flexpath_demo::lammps::problem::Problem;
use flexpath_demo::lammps::science::check::{SymmetryStep, compare_classes, compare_symmetry};
use flexpath_demo::lammps::science::cna::{Structure, census};
use flexpath_demo::lammps::science::tear::TearWatch;
use flexpath_demo::lammps::source::{Control, RunConfig, Source};
use flexpath_demo::lammps::{LammpsSource, check_installed};

const RANKS: usize = 4;
const FOLDER: &str = "FLEXPATH_DEMO_TEST_FOLDER";
const PROBLEM: &str = "FLEXPATH_DEMO_TEST_PROBLEM";
const REQUIRE: &str = "FLEXPATH_REQUIRE_LAMMPS";
/// Set for the problems in the demonstration's own size, every published step compared: a minute or two.
const FULL: &str = "FLEXPATH_DEMO_TEST_FULL";

/// What the ranks answer: `stop` (all of them, at step 400) or `quiet` (rank 1, at once); else they go on.
const ANSWER: &str = "FLEXPATH_DEMO_TEST_ANSWER";
/// A file to which a picture of the last step of the fcc body goes.
const PICTURE: &str = "FLEXPATH_DEMO_TEST_PICTURE";

/// Smaller and pulled faster than in the demonstration, so that the test stays short.
fn config(problem: Problem) -> RunConfig {
    let mut config = RunConfig::new(problem);
    if std::env::var_os(FULL).is_some() {
        config.compare_every = config.publish_every;
        return config;
    }
    match problem {
        Problem::Crack => {
            (config.steps, config.publish_every, config.compare_every) = (4_000, 200, 1_000);
            (config.scale.columns, config.scale.rows, config.scale.speed) = (Some(60), Some(24), Some(0.23));
        }
        Problem::Notch => {
            (config.steps, config.publish_every, config.compare_every) = (1_500, 50, 250);
            (config.scale.columns, config.scale.rows, config.scale.speed) = (Some(16), Some(16), Some(0.38));
        }
    }
    config
}

/// What each process under `mpirun` does. Started by hand it does nothing.
#[test]
fn one_rank_of_lammps() {
    let (Ok(folder), Ok(problem)) = (std::env::var(FOLDER), std::env::var(PROBLEM)) else { return };
    let mut config = config(Problem::from_name(&problem).expect("a problem's name"));
    config.log = Some(Path::new(&folder).join("log.lammps"));
    let mut source = LammpsSource::new().expect("LAMMPS starts");
    let place = source.place();
    assert_eq!(place.size, RANKS);
    let answer = std::env::var(ANSWER).unwrap_or_default();
    let ending = source.run(&config, &mut |view| {
        write_step(Path::new(&folder), place.rank, &view);
        match answer.as_str() {
            "stop" if view.step >= 400 => Control::Stop,
            "quiet" if place.rank == 1 => Control::Quiet,
            _ => Control::Continue,
        }
    });
    let published = match answer.as_str() {
        "stop" => 400 / config.publish_every + 1,
        "quiet" if place.rank == 1 => 1,
        _ => config.steps / config.publish_every + 1,
    };
    assert_eq!(ending.expect("LAMMPS runs").published, published);
    source.finish();
}

/// Run on four ranks, with what they write going to `folder`; false where LAMMPS is not installed.
fn run_ranks(problem: Problem, answer: &str, folder: &Path) -> bool {
    let missing = match (check_installed(), Command::new("mpirun").arg("--version").output()) {
        (Err(error), _) => error.to_string(),
        (_, Err(error)) => format!("mpirun: {error}"),
        (Ok(()), Ok(_)) => {
            let mut mpirun = Command::new("mpirun");
            // Two runs of Open MPI that begin at one moment make the same folder there, and one of them fails.
            let own = tempfile::tempdir().expect("a folder");
            mpirun.env("TMPDIR", own.path());
            mpirun.args(["--oversubscribe", "--timeout", "240", "-np", &RANKS.to_string()]);
            mpirun.arg(std::env::current_exe().expect("own path")).args(["--exact", "one_rank_of_lammps"]);
            mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            mpirun.env(FOLDER, folder).env(PROBLEM, problem.name()).env(ANSWER, answer);
            let output = mpirun.output().expect("mpirun starts");
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat())
            );
            return true;
        }
    };
    assert!(std::env::var_os(REQUIRE).is_none(), "{missing}");
    eprintln!("not run: {missing}");
    false
}

/// All steps of a run on four ranks, or `None` where LAMMPS is not installed.
fn run(problem: Problem) -> Option<Vec<Step>> {
    let folder = tempfile::tempdir().expect("a folder");
    run_ranks(problem, "", folder.path()).then(|| read_steps(folder.path(), RANKS))
}

#[test]
fn all_ranks_may_stop_and_one_may_fall_silent() {
    for answer in ["stop", "quiet"] {
        let folder = tempfile::tempdir().expect("a folder");
        run_ranks(Problem::Crack, answer, folder.path());
    }
}

fn assert_ranks_and_atoms(steps: &[Step], config: &RunConfig) {
    assert_eq!(steps.len() as u64, config.steps / config.publish_every + 1);
    let mut ids = steps[0].atoms.ids.clone();
    ids.sort_unstable();
    assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>(), "every atom once");
    for step in steps {
        let mut now = step.atoms.ids.clone();
        now.sort_unstable();
        assert_eq!(now, ids, "no atom is lost by step {}", step.step);
        assert_eq!(step.reference.is_some(), config.is_compared(step.step));
    }
    assert!(
        steps[0].counts.iter().any(|count| *count != steps[0].counts[0]),
        "counts differ from rank to rank"
    );
    assert!(steps.iter().any(|step| step.counts != steps[0].counts), "and from step to step");
}

#[test]
fn central_symmetry_is_that_of_lammps_on_every_atom() {
    let problem = Problem::Crack;
    let Some(steps) = run(problem) else { return };
    assert_ranks_and_atoms(&steps, &config(problem));
    let analysis = problem.analysis();
    let first = analyse(problem, &steps[0], RANKS);
    let watch = TearWatch::new(&steps[0].atoms.ids, &first.bonds, analysis.tear).expect("good bonds");
    for step in steps.iter().filter(|step| step.reference.is_some()) {
        let found = analyse(problem, step, RANKS);
        let reference = step.reference.as_ref().expect("filtered");
        let against = SymmetryStep {
            ids: &step.atoms.ids,
            positions: &step.atoms.positions,
            domain: &step.domain,
            reach: analysis.reach,
            neighbours: analysis.neighbours,
        };
        let theirs = (step.atoms.ids.as_slice(), reference.as_slice());
        let report = compare_symmetry(&against, (&found.ids, &found.symmetry), theirs).expect("same atoms");
        println!("step {}: {report:?}, {:?}", step.step, watch.judge(&found.graph, &found.symmetry));
        assert!(report.holds(), "step {}: {report:?}", step.step);
        for constant in [0.0, found.symmetry.iter().sum::<f64>() / found.symmetry.len() as f64, reference[0]]
        {
            let answer = vec![constant; found.ids.len()];
            let report = compare_symmetry(&against, (&found.ids, &answer), theirs).expect("same atoms");
            assert!(!report.holds(), "step {}: {constant} passed: {report:?}", step.step);
        }
    }
    let last = analyse(problem, &steps[steps.len() - 1], RANKS);
    assert!(!watch.judge(&first.graph, &first.symmetry).torn, "whole at the start");
    assert!(watch.judge(&last.graph, &last.symmetry).torn, "torn at the end");
}

#[test]
fn structure_classes_are_those_of_lammps_on_every_atom() {
    let problem = Problem::Notch;
    let Some(steps) = run(problem) else { return };
    assert_ranks_and_atoms(&steps, &config(problem));
    let analysis = problem.analysis();
    let first = analyse(problem, &steps[0], RANKS);
    let watch = TearWatch::new(&steps[0].atoms.ids, &first.bonds, analysis.tear).expect("good bonds");
    let start = (steps[0].atoms.ids.as_slice(), steps[0].reference.as_deref().expect("compared"));
    let mut telling = 0;
    for step in steps.iter().filter(|step| step.reference.is_some()) {
        let found = analyse(problem, step, RANKS);
        let theirs = (step.atoms.ids.as_slice(), step.reference.as_deref().expect("filtered"));
        let compare = |classes: &[Structure]| {
            let (positions, ours) = (&step.atoms.positions, (found.ids.as_slice(), classes));
            compare_classes(ours, theirs, positions, start, &step.domain, analysis.bond_cutoff)
                .expect("same atoms")
        };
        let report = compare(&found.classes);
        println!("step {}: {report:?}, {:?}", step.step, watch.judge(&found.graph, &found.symmetry));
        assert_eq!((report.wrong, report.tied), (0, 0), "step {}: {report:?}", step.step);
        assert_eq!(report.census, census(&found.classes));
        telling += usize::from(report.holds());
        for constant in Structure::ALL {
            assert!(!compare(&vec![constant; found.ids.len()]).holds(), "all {}", constant.name());
        }
    }
    assert!(telling > 0, "some step had two classes of 2 % and 1 % of the atoms changed");
    let last = analyse(problem, &steps[steps.len() - 1], RANKS);
    assert!(!watch.judge(&first.graph, &first.symmetry).torn, "whole at the start");
    assert!(watch.judge(&last.graph, &last.symmetry).torn, "torn at the end");
    if let Some(path) = std::env::var_os(PICTURE) {
        let colours: Vec<[u8; 3]> = last.classes.iter().map(|class| colour(*class)).collect();
        let picture =
            draw(&last.positions, &colours, &steps[steps.len() - 1].domain, 0.5, 900).expect("atoms");
        picture.write_png(Path::new(&path)).expect("writable");
    }
}
