//! `flexpath check`: steps that keep a convention, and the same broken in one place.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Ended, Live, Run};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Publisher, PublisherOptions, Region, StepWriter, Variable};
use serde_json::Value;

/// The stream's pace.
const PACE: Duration = Duration::from_millis(20);

/// Puts the text of a scalar.
fn text(writer: &mut StepWriter, name: &str, value: &str) {
    writer.put_text(&Variable::text(name).unwrap(), value).unwrap();
}

/// Two tetrahedra between five points, with these indices.
fn tetrahedra(writer: &mut StepWriter, indices: [u32; 8]) {
    for (name, value) in [
        ("coordsets.coords.type", "explicit"),
        ("topologies.mesh.type", "unstructured"),
        ("topologies.mesh.coordset", "coords"),
        ("topologies.mesh.elements.shape", "tet"),
        ("fields.p.association", "vertex"),
        ("fields.p.topology", "mesh"),
    ] {
        text(writer, name, value);
    }
    for name in [
        "coordsets.coords.values.x",
        "coordsets.coords.values.y",
        "coordsets.coords.values.z",
        "fields.p.values",
    ] {
        let list = Variable::local::<f64>(name, 1).unwrap();
        writer.put(&list, &Region::new([0], [5]).unwrap(), vec![0.5; 5]).unwrap();
    }
    let connectivity = Variable::local::<u32>("topologies.mesh.elements.connectivity", 1).unwrap();
    writer.put(&connectivity, &Region::new([0], [8]).unwrap(), indices.to_vec()).unwrap();
}

/// An array of a level with so many cells along its side.
fn level(writer: &mut StepWriter, name: &str, cells: u64, spacing: f64) {
    let array = Variable::global::<f64>(name, &[cells]).unwrap();
    let array = array.with_attribute("gridSpacing", vec![spacing]).with_attribute("ghosts", 0u32);
    let array =
        array.with_attribute("gridGlobalOffset", vec![0.0]).with_attribute("refinementRatio", vec![2i64]);
    let whole = Region::new([0], [cells]).unwrap();
    writer.put(&array, &whole, vec![0.0; cells as usize]).unwrap();
}

/// Runs the command beside a stream `run` that publishes the same step again and again.
fn beside(put: impl Fn(&mut StepWriter) + Send + Sync, arguments: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(folder.path()).unwrap());
    let (mut publisher, over) = (Publisher::open("run", options).unwrap(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let mut writer = publisher.begin_step().unwrap();
                put(&mut writer);
                writer.end().unwrap();
                std::thread::park_timeout(PACE);
            }
        });
        let ended = Run::at(folder.path(), &[&["check", "run"], arguments].concat()).finish();
        over.store(true, Ordering::Relaxed);
        ended
    })
}

const WHOLE: [u32; 8] = [0, 1, 2, 3, 1, 2, 3, 4];

#[test]
fn a_step_that_keeps_conventions_is_told_so() {
    let put = |writer: &mut StepWriter| {
        tetrahedra(writer, WHOLE);
        level(writer, "rho", 8, 1.0);
        level(writer, "rho_lvl1", 16, 0.5);
    };
    let run = beside(put, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    let lines: Vec<&str> = run.stdout.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "  blueprint: nothing is wrong",
            "    mesh \"mesh\": 2 tet in 1 domains, 1 fields",
            "  amr: nothing is wrong",
            "    refined \"rho\", 2 levels",
        ]
    );
}

#[test]
fn an_index_out_of_range_is_named_with_rank_and_element() {
    let run = beside(|writer| tetrahedra(writer, [0, 1, 2, 3, 1, 2, 3, 5]), &["--convention", "blueprint"]);
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
    let expected = "    violation: variable \"topologies.mesh.elements.connectivity\", rank 0: element 1 has the index 5, \
                    but the domain has 5 points; 1 of 8 indices are so. ";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    assert!(run.stdout.contains("[blueprint-index: Conduit Mesh Blueprint, Topologies]"), "{}", run.stdout);
    assert!(
        run.stderr.contains("stream \"run\": the step breaks a convention in 1 places"),
        "{}",
        run.stderr
    );
}

/// What is recommended and missing does not fail.
#[test]
fn programs_read_json() {
    let good = |writer: &mut StepWriter| {
        level(writer, "rho", 8, 1.0);
        level(writer, "rho_lvl1", 16, 0.5);
    };
    let json = |run: &Ended| serde_json::from_str::<Value>(&run.stdout).unwrap();
    let run = beside(good, &["--convention", "amr", "--json"]);
    let found = json(&run);
    assert_eq!((run.code, &found["violations"], &found["warnings"]), (Some(0), &0.into(), &0.into()));
    assert_eq!((&found["stream"], &found["conventions"][0]["convention"]), (&"run".into(), &"amr".into()));
    assert!(found["epoch"].is_string() && found["step"].is_u64());

    let bad = |writer: &mut StepWriter| {
        level(writer, "rho", 8, 1.0);
        level(writer, "rho_lvl1", 16, 0.25);
    };
    let run = beside(bad, &["--convention", "amr", "--json"]);
    let found = json(&run);
    assert_eq!((run.code, &found["violations"]), (Some(3), &1.into()));
    let finding = &found["conventions"][0]["findings"][0];
    assert_eq!(
        (
            &finding["severity"],
            &finding["rule"],
            &finding["variable"],
            &finding["attribute"],
            &finding["rank"]
        ),
        (
            &"violation".into(),
            &"amr-spacing-ratio".into(),
            &"rho_lvl1".into(),
            &"gridSpacing".into(),
            &Value::Null
        )
    );
    assert!(["what", "advice", "origin"].iter().all(|key| finding[key].is_string()));
}

#[test]
fn openpmd_is_looked_at_by_its_scalars() {
    let put = |writer: &mut StepWriter| {
        for (name, value) in [("openPMD", "1.1.0"), ("meshesPath", "meshes/"), ("software", "test")] {
            text(writer, name, value);
        }
        writer.put_scalar(&Variable::scalar::<u32>("openPMDextension").unwrap(), 0u32).unwrap();
        for name in ["time", "dt", "timeUnitSI"] {
            writer.put_scalar(&Variable::scalar::<f64>(name).unwrap(), 1.0).unwrap();
        }
        let rho = Variable::global::<f32>("meshes.rho", &[4]).unwrap();
        let rho = rho.with_attribute("unitDimension", vec![0.0; 7]).with_attribute("timeOffset", 0.0);
        let rho =
            rho.with_attribute("geometry", "cartesian").with_attribute("axisLabels", vec!["x".to_owned()]);
        let rho = rho.with_attribute("gridSpacing", vec![1.0]).with_attribute("gridGlobalOffset", vec![0.0]);
        let rho = rho.with_attribute("gridUnitSI", 1.0).with_attribute("position", vec![0.5]);
        writer.put(&rho, &Region::new([0], [4]).unwrap(), vec![0.0f32; 4]).unwrap();
    };
    let run = beside(put, &[]);
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("  openpmd: violations: 1, warnings: 2\n"), "{}", run.stdout);
    let expected =
        "violation: variable \"meshes.rho\", attribute \"unitSI\": is missing. Set it to a real number";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

#[test]
fn what_cannot_be_looked_at_is_told_apart() {
    let live = Live::start("heat");
    let run = Run::of(&live, &["check", "heat"]).finish();
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stderr.contains("the marks of no convention") && run.stderr.contains("--convention"));
    let run = Run::of(&live, &["check", "heat", "--convention", "amr"]).finish();
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    let run = Run::of(&live, &["check", "heat", "--convention", "vtk"]).finish();
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("openpmd, blueprint and amr are"), "{}", run.stderr);
    let run = Run::of(&live, &["check", "cold", "--timeout", "0.2"]).finish();
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stderr.contains("cold") && run.stderr.contains("heat"), "{}", run.stderr);
    let help = Run::of(&live, &["--help"]).finish().stdout;
    assert!(help.contains("\n  check ") && help.contains("3 `check` found"), "{help}");
    live.stop();
}
