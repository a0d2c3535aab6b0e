//! Steps as VTKHDF files, which VTK's own reader reads.

use fp_core::{AttributeValue, Element, MemoryOrder, StepWriter, Variable};

use crate::hdf5::region;
use crate::openpmd::{mesh_record, put_root};
use crate::support::{Stage, python};

fn text(writer: &mut StepWriter, name: &str, text: &str) {
    writer.put_text(&Variable::text(name).unwrap(), text).unwrap();
}

/// Puts half of an array of two ranks, cut along the first dimension: its elements are numbered in row-major order.
fn put_half<T: Element>(writer: &mut StepWriter, rank: u32, variable: &Variable, of: impl Fn(u64) -> T) {
    let shape = variable.shape().dims().to_vec();
    let (half, row) = (shape[0] / 2, shape[1..].iter().product::<u64>());
    let (mut start, mut count) = (vec![0; shape.len()], shape);
    (start[0], count[0]) = (u64::from(rank) * half, half);
    let mut numbers: Vec<u64> = (start[0] * row..(start[0] + half) * row).collect();
    if variable.definition().order == MemoryOrder::ColumnMajor {
        // Two dimensions are enough to see which runs faster.
        let rows = numbers.chunks(row as usize).map(<[u64]>::to_vec).collect::<Vec<_>>();
        numbers = (0..row as usize).flat_map(|column| rows.iter().map(move |row| row[column])).collect();
    }
    writer.put(variable, &region(&start, &count), numbers.into_iter().map(of).collect()).unwrap();
}

/// Runs a stream of two ranks into files, and has VTK look at them.
fn checked(put: impl Fn(u32, &mut StepWriter) + Sync, what: &str) {
    for ranks in ["1", "3"] {
        let stage = Stage::new();
        let to = format!("vtkhdf:{}", stage.path("run_%06T.vtkhdf"));
        stage.run((2, 2), &put, &["--to", &to, "--ranks", ranks]).well();
        let said = python("vtkhdf.py", &[what, &stage.path(".")]);
        assert!(said.contains("2 files are right"), "{said}");
    }
}

#[test]
fn arrays_of_one_shape_are_an_image() {
    let put = |rank, writer: &mut StepWriter| {
        let a = Variable::global::<f32>("a", &[4, 3, 50_000]).unwrap();
        let a = a.with_attribute("gridSpacing", vec![3.0, 2.0, 1.0]);
        put_half(writer, rank, &a.with_attribute("gridGlobalOffset", vec![30.0, 20.0, 10.0]), |n| {
            n as f32 / 4.0
        });
        put_half(writer, rank, &Variable::global::<i64>("b", &[4, 3, 50_000]).unwrap(), |n| n as i64 - 5);
        writer.put_scalar(&Variable::scalar::<f64>("time").unwrap(), writer.step().0 as f64 / 2.0).unwrap();
    };
    checked(put, "image");
}

#[test]
fn flat_images_lie_along_the_axes_of_their_names() {
    let put = |rank, writer: &mut StepWriter| {
        let labels = AttributeValue::Texts(vec!["x".to_owned(), "y".to_owned()]);
        let a = Variable::global::<f64>("a", &[4, 3]).unwrap().with_attribute("axisLabels", labels);
        let a = a.with_order(MemoryOrder::ColumnMajor).with_attribute("gridSpacing", vec![0.5, 2.0]);
        put_half(writer, rank, &a.with_attribute("gridGlobalOffset", vec![10.0, 20.0]), |n| n as f64);
    };
    checked(put, "flat");
}

#[test]
fn records_of_openpmd_are_vectors_of_cells() {
    let put = |rank, writer: &mut StepWriter| {
        put_root(writer);
        for (axis, component) in ["x", "y", "z"].into_iter().enumerate() {
            let of = mesh_record(&format!("meshes.E.{component}"), &[4, 3, 2_000]);
            put_half(writer, rank, &of, |n| n as f64 + axis as f64 / 10.0);
        }
        put_half(writer, rank, &mesh_record("meshes.rho", &[4, 3, 2_000]), |n| n as f64);
    };
    checked(put, "openpmd");
}

/// The points and elements of a rank: tetrahedra around one edge.
fn put_tetrahedra(rank: u32, writer: &mut StepWriter) {
    let (step, count) = (writer.step().0, 2 + u64::from(rank));
    let points = count + 3;
    text(writer, "coordsets.c.type", "explicit");
    text(writer, "topologies.t.type", "unstructured");
    text(writer, "topologies.t.coordset", "c");
    text(writer, "topologies.t.elements.shape", "tet");
    let mut list = |name: &str, numbers: Vec<f64>| {
        let len = numbers.len() as u64;
        writer.put(&Variable::local::<f64>(name, 1).unwrap(), &region(&[0], &[len]), numbers).unwrap();
    };
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let of = |point: u64| (rank as u64 * 100 + point * 10 + axis as u64 + step) as f64;
        list(&format!("coordsets.c.values.{name}"), (0..points).map(of).collect());
        list(&format!("fields.v.values.{name}"), (0..points).map(|point| of(point) + 0.5).collect());
    }
    list("fields.p.values", (0..count).map(|cell| (rank as u64 * 1000 + cell) as f64).collect());
    let indices: Vec<i32> = (0..count as i32).flat_map(|cell| [0, 1, cell + 2, cell + 3]).collect();
    let connectivity = Variable::local::<i32>("topologies.t.elements.connectivity", 1).unwrap();
    writer.put(&connectivity, &region(&[0], &[4 * count]), indices).unwrap();
    for (field, association) in [("v", "vertex"), ("p", "element")] {
        text(writer, &format!("fields.{field}.association"), association);
        text(writer, &format!("fields.{field}.topology"), "t");
    }
}

#[test]
fn tetrahedra_of_two_ranks_are_one_mesh() {
    checked(put_tetrahedra, "tetrahedra");
}

#[test]
fn levels_are_boxes_without_their_ghosts() {
    let put = |rank: u32, writer: &mut StepWriter| {
        let level = |name: &str, shape: &[u64], spacing: f64| {
            let of = Variable::global::<f64>(name, shape).unwrap().with_dimensions(&["y", "x"]);
            let of = of.with_attribute("gridSpacing", vec![spacing; 2]).with_attribute("ghosts", 1_i64);
            of.with_attribute("gridGlobalOffset", vec![5.0, 7.0])
        };
        let rank = u64::from(rank);
        let mut put = |of: &Variable, width: u64, start: [u64; 2], count: [u64; 2]| {
            let cell = |row: u64, column: u64| (row * width + column) as f64;
            let rows = start[0]..start[0] + count[0];
            let cells =
                rows.flat_map(|row| (start[1]..start[1] + count[1]).map(move |column| cell(row, column)));
            writer.put(of, &region(&start, &count), cells.collect()).unwrap();
        };
        // Each half has a layer of the other: rows 0 to 5, and 3 to 8.
        put(&level("rho", &[8, 6], 1.0), 6, [3 * rank, 0], [5, 6]);
        let fine = level("rho_lvl1", &[16, 12], 0.5).with_attribute("refinementRatio", vec![2_i64, 2]);
        put(&fine, 12, [3 + 6 * rank, 1], [6, 6]);
    };
    checked(put, "levels");
}

#[test]
fn what_is_no_mesh_is_refused() {
    let refused = |put: &(dyn Fn(u32, &mut StepWriter) + Sync), words: &[&str]| {
        let stage = Stage::new();
        let to = format!("vtkhdf:{}", stage.path("run_%T.vtkhdf"));
        stage.run((1, 1), put, &["--to", &to]).refused(1, words);
        assert_eq!(
            std::fs::read_dir(stage.folder.path()).unwrap().count(),
            1,
            "nothing but the streams is left"
        );
    };
    let put = |writer: &mut StepWriter, name: &str, shape: &[u64]| {
        let of = Variable::global::<u8>(name, shape).unwrap();
        let elements = vec![0_u8; shape.iter().product::<u64>() as usize];
        writer.put(&of, &region(&vec![0; shape.len()], shape), elements).unwrap();
    };
    let shapes = move |_: u32, writer: &mut StepWriter| {
        put(writer, "a", &[2, 2]);
        put(writer, "b", &[2, 3]);
    };
    let line = move |_: u32, writer: &mut StepWriter| put(writer, "a", &[2]);
    let nothing = |_: u32, writer: &mut StepWriter| text(writer, "title", "no array");
    let broken = |_: u32, writer: &mut StepWriter| text(writer, "openPMD", "7");
    refused(&shapes, &["step 0", "\"a\" and \"b\" have different shapes", "--variables"]);
    refused(&line, &["2 or 3 dimensions", "--variables"]);
    refused(&nothing, &["there is no array"]);
    refused(&broken, &["it breaks a convention", "\"openPMD\"", "flexpath check sim"]);
}
