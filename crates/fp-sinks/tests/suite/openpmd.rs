//! Steps of openPMD as HDF5 files, which openpmd-api reads.

use fp_core::{AttributeValue, MemoryOrder, StepWriter, Variable};

use crate::hdf5::region;
use crate::support::{Stage, python};

/// What the root and the iteration have.
pub(crate) fn put_root(writer: &mut StepWriter) {
    let texts = [
        ("openPMD", "1.1.0"),
        ("meshesPath", "meshes/"),
        ("particlesPath", "particles/"),
        ("author", "nobody"),
        ("software", "tests"),
        ("date", "2026-11-26 07:00:00 +0000"),
    ];
    for (name, text) in texts {
        writer.put_text(&Variable::text(name).unwrap(), text).unwrap();
    }
    writer.put_scalar(&Variable::scalar::<u32>("openPMDextension").unwrap(), 0_u32).unwrap();
    let time = writer.step().0 as f64 / 2.0;
    for (name, number) in [("time", time), ("dt", 0.5), ("timeUnitSI", 1e-15)] {
        writer.put_scalar(&Variable::scalar::<f64>(name).unwrap(), number).unwrap();
    }
}

fn record(of: Variable) -> Variable {
    let dimension = vec![1.0, 1.0, -3.0, -1.0, 0.0, 0.0, 0.0];
    of.with_attribute("unitDimension", dimension)
        .with_attribute("timeOffset", 0.25)
        .with_attribute("unitSI", 2.5)
}

/// A component of a record on a mesh of cells, or such a record.
pub(crate) fn mesh_record(name: &str, shape: &[u64]) -> Variable {
    let labels = ["z", "y", "x"].map(str::to_owned).to_vec();
    record(Variable::global::<f64>(name, shape).unwrap())
        .with_attribute("geometry", "cartesian")
        .with_attribute("dataOrder", "C")
        .with_attribute("axisLabels", AttributeValue::Texts(labels))
        .with_attribute("gridSpacing", vec![3.0, 2.0, 1.0])
        .with_attribute("gridGlobalOffset", vec![30.0, 20.0, 10.0])
        .with_attribute("gridUnitSI", 1e-6)
        .with_attribute("position", vec![0.5, 0.5, 0.5])
}

/// Fields of two ranks, and particles of which each rank has its own number.
fn put(rank: u32, writer: &mut StepWriter) {
    put_root(writer);
    let (step, rank) = (writer.step().0, u64::from(rank));
    for (axis, component) in ["x", "y"].into_iter().enumerate() {
        let of = mesh_record(&format!("meshes.E.{component}"), &[4, 2, 3]);
        let number = |n: u64| (n + step * 100) as f64 + axis as f64 / 2.0;
        writer
            .put(
                &of,
                &region(&[2 * rank, 0, 0], &[2, 2, 3]),
                (0..12).map(|n| number(n + 12 * rank)).collect(),
            )
            .unwrap();
    }
    // In the order of Fortran: the first dimension runs fastest.
    let rho = mesh_record("meshes.rho", &[4, 2, 3])
        .with_order(MemoryOrder::ColumnMajor)
        .with_attribute("dataOrder", "F");
    let mut elements = Vec::new();
    for (column, row, plane) in (0..3).flat_map(|c| (0..2).flat_map(move |r| (0..2).map(move |p| (c, r, p))))
    {
        elements.push(((plane + 2 * rank) * 6 + row * 3 + column) as f64);
    }
    writer.put(&rho, &region(&[2 * rank, 0, 0], &[2, 2, 3]), elements).unwrap();
    let count = 3 + rank;
    let x = record(Variable::joined::<f64>("particles.e.position.x", &[]).unwrap());
    writer.put_joined(&x, (0..count).map(|n| (rank * 10 + n) as f64).collect()).unwrap();
    let offset = record(Variable::scalar::<f64>("particles.e.positionOffset.x").unwrap());
    let offset = offset.with_attribute("shape", AttributeValue::Integers(vec![7]));
    writer.put_scalar(&offset, 4.0).unwrap();
    let weighting = record(Variable::joined::<f32>("particles.e.weighting", &[]).unwrap());
    let weighting = weighting.with_attribute("macroWeighted", 1_u64).with_attribute("weightingPower", 1.0);
    writer.put_joined(&weighting, vec![rank as f32 + 0.5; count as usize]).unwrap();
}

#[test]
fn a_series_of_files_is_opened_by_openpmd_api() {
    for ranks in ["1", "3"] {
        let stage = Stage::new();
        let to = format!("hdf5:{}", stage.path("run_%06T.h5"));
        stage.run((2, 3), put, &["--to", &to, "--ranks", ranks]).well();
        let said = python("openpmd.py", &[&stage.path("run_%06T.h5")]);
        assert!(said.contains("3 iterations are right"), "{said}");
    }
}
