//! LAMMPS as a library, driven by the C example `examples/c/lammps_driver.c` on four ranks.
//!
//! Where LAMMPS's library or an `mpirun` is not installed it says so and passes, unless `FLEXPATH_REQUIRE_LAMMPS` is set.

use fp_core::{NextStep, Rendezvous, Selection, StepReader, Subscriber, SubscriberOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
/// Atoms of the example: 6 x 6 x 6 cells of a face-centred cubic lattice.
const ATOMS: usize = 4 * 6 * 6 * 6;
/// Cells of 4 atoms, 0.8442 atoms a sigma^3.
const DENSITY: f64 = 0.8442;

/// Debian's LAMMPS is for Open MPI, which is not `mpirun` where MPICH was chosen for that name.
fn launcher() -> Option<&'static str> {
    let runs = |name: &&&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    ["mpirun.openmpi", "mpirun"].iter().find(runs).copied()
}

/// Asks the loader, without starting anything.
fn has_lammps() -> bool {
    let listed =
        ["ldconfig", "/sbin/ldconfig"].iter().find_map(|name| Command::new(name).arg("-p").output().ok());
    listed.is_some_and(|listed| String::from_utf8_lossy(&listed.stdout).contains("liblammps.so.0"))
}

fn compiled(folder: &Path) -> PathBuf {
    let (prefix, program) = (folder.join("staged"), folder.join("lammps_driver"));
    let test = std::env::current_exe().expect("this test knows where it is");
    let mut install = Command::new(Path::new(FOLDER).join("../../scripts/install-library.sh"));
    install.arg(test.parent().expect("tests lie in deps")).arg(&prefix);
    assert!(install.status().expect("the script runs").success());
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]).arg("-o").arg(&program);
    cc.arg(Path::new(FOLDER).join("../../examples/c/lammps_driver.c"));
    cc.arg(format!("-I{}", prefix.join("include").display()));
    cc.arg(format!("-L{}", prefix.join("lib").display())).args(["-lflexpath", "-ldl"]);
    cc.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    assert!(cc.status().expect("the compiler runs").success(), "the example does not compile");
    program
}

fn skipped(why: &str) {
    assert!(std::env::var_os("FLEXPATH_REQUIRE_LAMMPS").is_none(), "{why}");
    println!("skipped: {why}");
}

/// The place of an atom in the perfect lattice, in halves of a cell.
fn site(position: &[f64]) -> [i64; 3] {
    let half_cell = (4.0 / DENSITY).cbrt() / 2.0;
    let halves: Vec<f64> = position.iter().map(|place| place / half_cell).collect();
    halves
        .iter()
        .for_each(|half| assert!((half - half.round()).abs() < 1e-9, "{position:?} is no lattice site"));
    [0, 1, 2].map(|axis| (halves[axis].round() as i64).rem_euclid(12))
}

/// Every atom is there once, whichever rank it is on; at the start each is alone on its lattice site.
fn check(step: &StepReader) {
    let mut ids = step.get::<i32>("id", &Selection::All).expect("the ids");
    ids.sort_unstable();
    assert!(ids.into_iter().eq(1..=ATOMS as i32), "step {}: ids are not 1 to {ATOMS}", step.step());
    let positions = step.get::<f64>("x", &Selection::All).expect("the positions");
    let velocities = step.get::<f64>("v", &Selection::All).expect("the velocities");
    assert_eq!((positions.len(), velocities.len()), (3 * ATOMS, 3 * ATOMS));
    if step.scalar::<i64>("timestep").expect("the time step") == 0 {
        let sites: BTreeSet<[i64; 3]> = positions.chunks(3).map(site).collect();
        assert_eq!(sites.len(), ATOMS);
    }
}

#[test]
fn the_driver_publishes_every_atom_once() {
    let Some(launcher) = launcher() else { return skipped("there is no mpirun") };
    if !has_lammps() {
        return skipped("there is no liblammps.so.0");
    }
    let folder = tempfile::tempdir().expect("a directory can be made");
    let place = folder.path().join("rendezvous");
    let mut run = Command::new(launcher);
    run.args(["--allow-run-as-root", "--oversubscribe", "-n", "4"])
        .arg(compiled(folder.path()))
        .args(["60", "20"]);
    run.env("FLEXPATH_RENDEZVOUS", &place).env("MIN_SUBSCRIBERS", "1").env("OMP_NUM_THREADS", "1");
    run.env("OMPI_MCA_mpi_yield_when_idle", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = run.spawn().expect("mpirun starts");
    let options = SubscriberOptions::default().with_rendezvous(Rendezvous::at(&place).expect("a place"));
    let mut subscriber = Subscriber::open("melt", options).expect("attached");
    let mut timesteps = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(60)).expect("a step") {
        check(&step);
        timesteps.push(step.scalar::<i64>("timestep").expect("the time step"));
    }
    let output = run.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "published 4 steps\n");
    assert_eq!(timesteps, [0, 20, 40, 60]);
}
