//! Every rule of Blueprint, broken once.

use fp_types::{BlockId, Dtype, Rank};

use crate::check::{check, meshes, recognized};
use crate::convention::Convention;
use crate::finding::Severity;
use crate::mesh::Mesh;
use crate::rule::Rule;
use crate::samples::{array, each_break_is_found, integer, lists, real, text};
use crate::step::DescribedStep;

const T: &str = "topologies.t.elements.connectivity";

/// Two domains: 5 points with 2 tetrahedra, and 4 with one.
fn whole() -> DescribedStep {
    let variables = vec![
        text("coordsets.c.type", "explicit"),
        lists("coordsets.c.values.x", Dtype::F64, &[5, 4]),
        lists("coordsets.c.values.y", Dtype::F64, &[5, 4]),
        lists("coordsets.c.values.z", Dtype::F32, &[5, 4]),
        text("topologies.t.type", "unstructured"),
        text("topologies.t.coordset", "c"),
        text("topologies.t.elements.shape", "tet"),
        lists(T, Dtype::I32, &[8, 4]),
        text("fields.p.association", "vertex"),
        text("fields.p.topology", "t"),
        lists("fields.p.values", Dtype::F64, &[5, 4]),
        text("fields.v.association", "element"),
        text("fields.v.topology", "t"),
        lists("fields.v.values.x", Dtype::F32, &[2, 1]),
        lists("fields.v.values.y", Dtype::F32, &[2, 1]),
        integer("state.cycle", 7),
    ];
    DescribedStep { variables }
}

fn uniform() -> DescribedStep {
    let variables = vec![
        text("coordsets.c.type", "uniform"),
        integer("coordsets.c.dims.i", 5),
        integer("coordsets.c.dims.j", 3),
        real("coordsets.c.origin.x", -1.0),
        real("coordsets.c.spacing.dy", 0.5),
        text("topologies.t.type", "uniform"),
        text("topologies.t.coordset", "c"),
        text("fields.p.association", "vertex"),
        text("fields.p.topology", "t"),
        array("fields.p.values", [3, 5]),
        text("fields.q.association", "element"),
        text("fields.q.topology", "t"),
        array("fields.q.values", [2, 4]),
    ];
    DescribedStep { variables }
}

#[test]
fn coordinates_are_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::Blueprint,
        &[
            (|s| s.lose("coordsets.c.type"), Rule::BlueprintCoordsetType, "coordsets.c.type", ""),
            (
                |s| s.replace(text("coordsets.c.type", "curved")),
                Rule::BlueprintCoordsetType,
                "coordsets.c.type",
                "",
            ),
            (
                |s| s.replace(text("coordsets.c.type", "rectilinear")),
                Rule::BlueprintCoordsetType,
                "coordsets.c.type",
                "",
            ),
            (|s| s.lose("coordsets.c.values.x"), Rule::BlueprintCoordinates, "coordsets.c.values", ""),
            (
                |s| s.replace(array("coordsets.c.values.y", [9])),
                Rule::BlueprintCoordinates,
                "coordsets.c.values.y",
                "",
            ),
            (
                |s| s.replace(lists("coordsets.c.values.z", Dtype::F64, &[5, 3])),
                Rule::BlueprintCoordinateCount,
                "coordsets.c.values.z",
                "",
            ),
            (
                |s| s.replace(lists("coordsets.c.values.z", Dtype::F64, &[5, 4, 1])),
                Rule::BlueprintCoordinateCount,
                "coordsets.c.values.z",
                "",
            ),
        ],
    );
}

#[test]
fn topologies_are_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::Blueprint,
        &[
            (|s| s.lose("topologies.t.type"), Rule::BlueprintTopologyType, "topologies.t.type", ""),
            (
                |s| s.replace(text("topologies.t.type", "odd")),
                Rule::BlueprintTopologyType,
                "topologies.t.type",
                "",
            ),
            (
                |s| s.replace(text("topologies.t.type", "points")),
                Rule::BlueprintTopologyType,
                "topologies.t.type",
                "",
            ),
            (
                |s| s.replace(text("topologies.t.type", "uniform")),
                Rule::BlueprintTopologyCoordset,
                "topologies.t.coordset",
                "",
            ),
            (
                |s| s.replace(text("topologies.t.coordset", "d")),
                Rule::BlueprintTopologyCoordset,
                "topologies.t.coordset",
                "",
            ),
            (
                |s| s.replace(text("topologies.t.elements.shape", "cube")),
                Rule::BlueprintShape,
                "topologies.t.elements.shape",
                "",
            ),
            (
                |s| s.replace(text("topologies.t.elements.shape", "polyhedral")),
                Rule::BlueprintShape,
                "topologies.t.elements.shape",
                "",
            ),
            (|s| s.lose(T), Rule::BlueprintConnectivity, T, ""),
            (|s| s.of(T).def.dtype = Dtype::F64, Rule::BlueprintConnectivity, T, ""),
            (|s| s.replace(lists(T, Dtype::I32, &[8, 3])), Rule::BlueprintConnectivityCount, T, ""),
            (|s| s.replace(lists(T, Dtype::I32, &[8])), Rule::BlueprintConnectivityCount, T, ""),
            (|s| s.replace(lists(T, Dtype::I32, &[8, 4, 4])), Rule::BlueprintConnectivityCount, T, ""),
        ],
    );
}

#[test]
fn fields_are_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::Blueprint,
        &[
            (|s| s.lose("fields.p.association"), Rule::BlueprintAssociation, "fields.p.association", ""),
            (
                |s| s.replace(text("fields.p.association", "point")),
                Rule::BlueprintAssociation,
                "fields.p.association",
                "",
            ),
            (
                |s| s.replace(text("fields.p.topology", "u")),
                Rule::BlueprintFieldTopology,
                "fields.p.topology",
                "",
            ),
            (|s| s.lose("fields.p.values"), Rule::BlueprintValues, "fields.p.values", ""),
            (|s| s.replace(text("fields.p.values", "1")), Rule::BlueprintValues, "fields.p.values", ""),
            (|s| s.replace(array("fields.p.values", [9])), Rule::BlueprintValues, "fields.p.values", ""),
            (
                |s| s.replace(lists("fields.p.values", Dtype::F64, &[5, 1])),
                Rule::BlueprintValueCount,
                "fields.p.values",
                "",
            ),
            (
                |s| s.replace(lists("fields.v.values.y", Dtype::F64, &[2])),
                Rule::BlueprintValueCount,
                "fields.v.values.y",
                "",
            ),
        ],
    );
}

#[test]
fn uniform_meshes_are_looked_at() {
    each_break_is_found(
        &uniform(),
        Convention::Blueprint,
        &[
            (|s| s.lose("coordsets.c.dims.i"), Rule::BlueprintUniform, "coordsets.c.dims", ""),
            (
                |s| s.replace(integer("coordsets.c.dims.i", 0)),
                Rule::BlueprintUniform,
                "coordsets.c.dims.i",
                "",
            ),
            (
                |s| s.replace(text("coordsets.c.origin.x", "0")),
                Rule::BlueprintUniform,
                "coordsets.c.origin.x",
                "",
            ),
            (
                |s| s.replace(real("coordsets.c.spacing.dy", 0.0)),
                Rule::BlueprintUniform,
                "coordsets.c.spacing.dy",
                "",
            ),
            (
                |s| s.replace(array("fields.q.values", [3, 5])),
                Rule::BlueprintValueCount,
                "fields.q.values",
                "",
            ),
        ],
    );
    let found = meshes(&uniform()).unwrap();
    let [Mesh::Image(image)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (&image.grid.axes[..], &image.grid.shape[..]),
        (&["y", "x"].map(String::from)[..], &[3, 5][..])
    );
    assert_eq!((&image.grid.origin[..], &image.grid.spacing[..]), (&[0.0, -1.0][..], &[0.5, 1.0][..]));
}

#[test]
fn nothing_at_all_is_no_mesh() {
    assert_eq!(recognized(&whole()), [Convention::Blueprint]);
    let report = check(&DescribedStep::default(), Convention::Blueprint);
    let rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::BlueprintProtocol; 2]);
    let mut unseen = whole();
    unseen.replace(text("topologies.t.type", "structured"));
    assert_eq!(check(&unseen, Convention::Blueprint).findings[0].severity, Severity::Warning);
}

#[test]
fn an_index_beyond_the_points_is_named() {
    let found = meshes(&whole()).unwrap();
    let [Mesh::Unstructured(mesh)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(mesh.fields.iter().map(|field| field.variables.len()).collect::<Vec<_>>(), [1, 2]);
    let (first, second) = (BlockId::new(Rank(0), 0), BlockId::new(Rank(1), 0));
    assert_eq!(mesh.check_indices(first, &[0, 1, 2, 3, 1, 2, 3, 4]), None);
    let finding = mesh.check_indices(second, &[0, 1, 2, 4]).unwrap();
    assert_eq!((finding.rule, finding.block), (Rule::BlueprintIndex, Some(second)));
    assert_eq!(
        finding.to_string(),
        "variable \"topologies.t.elements.connectivity\", rank 1: element 0 has the index 4, but the domain has 4 \
         points; 1 of 4 indices are so. Count points from 0 within each rank's own coordinates"
    );
    assert!(
        mesh.check_indices(first, &[0, 1, 2, 3, 1, -1, 9, 4])
            .unwrap()
            .what
            .starts_with("element 1 has the index -1")
    );
}
