//! Every rule of openPMD, broken once.

use fp_types::{Dtype, MemoryOrder};

use crate::check::{check, meshes, recognized};
use crate::convention::Convention;
use crate::finding::Severity;
use crate::mesh::Mesh;
use crate::mesh::association::Association;
use crate::rule::Rule;
use crate::samples::{array, each_break_is_found, integer, real, scalar, set, text};
use crate::step::DescribedStep;
use crate::value::ScalarValue;
use crate::variable::DescribedVariable;

fn units(mut of: DescribedVariable) -> DescribedVariable {
    set(&mut of, "unitSI", 1.0);
    set(&mut of, "unitDimension", vec![0.0; 7]);
    set(&mut of, "timeOffset", 0.0);
    of
}

fn component(name: &str) -> DescribedVariable {
    let mut of = units(array(name, [4, 8]));
    set(&mut of, "geometry", "cartesian");
    set(&mut of, "dataOrder", "C");
    set(&mut of, "axisLabels", vec!["y".to_owned(), "x".to_owned()]);
    set(&mut of, "gridSpacing", vec![0.5, 0.25]);
    set(&mut of, "gridGlobalOffset", vec![0.0, 1.0]);
    set(&mut of, "gridUnitSI", 1e-6);
    set(&mut of, "position", vec![0.5, 0.5]);
    of
}

fn particles(mut of: DescribedVariable) -> DescribedVariable {
    set(&mut of, "weightingPower", 1.0);
    set(&mut of, "macroWeighted", 0u32);
    units(of)
}

fn constant(name: &str) -> DescribedVariable {
    let mut of = particles(real(name, 0.0));
    set(&mut of, "shape", vec![100i64]);
    of
}

fn whole() -> DescribedStep {
    let mut id = particles(array("particles.e.id", [100]));
    id.def.dtype = Dtype::U64;
    let variables = vec![
        text("openPMD", "1.1.0"),
        integer("openPMDextension", 1),
        text("meshesPath", "meshes/"),
        text("particlesPath", "particles/"),
        text("author", "somebody"),
        text("software", "something"),
        text("date", "2015-12-02 17:48:42 +0100"),
        real("time", 0.5),
        real("dt", 0.5),
        real("timeUnitSI", 1.0),
        component("meshes.E.x"),
        component("meshes.E.y"),
        component("meshes.rho"),
        particles(array("particles.e.position.x", [100])),
        constant("particles.e.positionOffset.x"),
        id,
        array("particles.e.particlePatches.offset.x", [1]),
    ];
    DescribedStep { variables }
}

#[test]
fn what_is_for_all_records_is_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::OpenPmd,
        &[
            (|s| s.lose("openPMD"), Rule::OpenPmdVersion, "openPMD", ""),
            (|s| s.replace(text("openPMD", "2.0.0")), Rule::OpenPmdVersion, "openPMD", ""),
            (|s| s.lose("openPMDextension"), Rule::OpenPmdExtension, "openPMDextension", ""),
            (|s| s.replace(integer("openPMDextension", -1)), Rule::OpenPmdExtension, "openPMDextension", ""),
            (|s| s.replace(text("meshesPath", "meshes")), Rule::OpenPmdPath, "meshesPath", ""),
            (|s| s.replace(text("meshesPath", "fields/")), Rule::OpenPmdPath, "meshesPath", ""),
            (|s| [s.lose("meshesPath"), s.lose("particlesPath")][0], Rule::OpenPmdPath, "", ""),
            (|s| s.lose("author"), Rule::OpenPmdAuthor, "author", ""),
            (|s| s.lose("dt"), Rule::OpenPmdTime, "dt", ""),
            (|s| s.replace(integer("time", 1)), Rule::OpenPmdTime, "time", ""),
        ],
    );
    let mut step = whole();
    step.lose("author");
    assert_eq!(check(&step, Convention::OpenPmd).findings[0].severity, Severity::Warning);
}

#[test]
fn records_on_meshes_are_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::OpenPmd,
        &[
            (|s| s.of("meshes.rho").forget("geometry"), Rule::OpenPmdGeometry, "meshes.rho", "geometry"),
            (|s| set(s.of("meshes.rho"), "geometry", "box"), Rule::OpenPmdGeometry, "meshes.rho", "geometry"),
            (
                |s| set(s.of("meshes.rho"), "dataOrder", "F"),
                Rule::OpenPmdDataOrder,
                "meshes.rho",
                "dataOrder",
            ),
            (
                |s| s.of("meshes.rho").def.order = MemoryOrder::ColumnMajor,
                Rule::OpenPmdDataOrder,
                "meshes.rho",
                "dataOrder",
            ),
            (
                |s| set(s.of("meshes.rho"), "axisLabels", "x"),
                Rule::OpenPmdAxisLabels,
                "meshes.rho",
                "axisLabels",
            ),
            (
                |s| set(s.of("meshes.rho"), "gridSpacing", vec![0.0, 1.0]),
                Rule::OpenPmdGridSpacing,
                "meshes.rho",
                "gridSpacing",
            ),
            (
                |s| set(s.of("meshes.rho"), "gridGlobalOffset", vec![0i64, 1]),
                Rule::OpenPmdGridOffset,
                "meshes.rho",
                "gridGlobalOffset",
            ),
            (|s| s.of("meshes.rho").forget("gridUnitSI"), Rule::OpenPmdGridUnit, "meshes.rho", "gridUnitSI"),
            (
                |s| set(s.of("meshes.E.y"), "position", vec![0.5, 1.0]),
                Rule::OpenPmdPosition,
                "meshes.E.y",
                "position",
            ),
            (|s| s.of("meshes.E.y").forget("position"), Rule::OpenPmdPosition, "meshes.E.y", "position"),
        ],
    );
}

#[test]
fn what_all_records_have_is_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::OpenPmd,
        &[
            (|s| s.of("meshes.E.y").forget("unitSI"), Rule::OpenPmdUnitSi, "meshes.E.y", "unitSI"),
            (
                |s| set(s.of("meshes.rho"), "unitDimension", vec![0.0; 6]),
                Rule::OpenPmdUnitDimension,
                "meshes.rho",
                "unitDimension",
            ),
            (
                |s| set(s.of("meshes.rho"), "timeOffset", 0i64),
                Rule::OpenPmdTimeOffset,
                "meshes.rho",
                "timeOffset",
            ),
            (|s| s.of("meshes.E.y").forget("gridUnitSI"), Rule::OpenPmdSame, "meshes.E.y", "gridUnitSI"),
            (|s| set(s.of("meshes.E.y"), "timeOffset", 1.0), Rule::OpenPmdSame, "meshes.E.y", "timeOffset"),
            (|s| s.of("meshes.E.y").shape = array("a", [4, 9]).shape, Rule::OpenPmdSame, "meshes.E.y", ""),
            (|s| s.of("meshes.rho").def.dtype = Dtype::String, Rule::OpenPmdComponent, "meshes.rho", ""),
            (|s| s.variables.push(array("meshes.a-b", [1])), Rule::OpenPmdName, "meshes.a-b", ""),
            (|s| s.variables.push(array("meshes.a.b.c", [1])), Rule::OpenPmdName, "meshes.a.b.c", ""),
            (|s| s.variables.push(array("meshes.a.", [1])), Rule::OpenPmdName, "meshes.a.", ""),
        ],
    );
}

#[test]
fn records_of_particles_are_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::OpenPmd,
        &[
            (
                |s| s.of("particles.e.positionOffset.x").forget("shape"),
                Rule::OpenPmdConstant,
                "particles.e.positionOffset.x",
                "shape",
            ),
            (
                |s| s.lose("particles.e.positionOffset.x"),
                Rule::OpenPmdSpecies,
                "particles.e.positionOffset",
                "",
            ),
            (
                |s| s.of("particles.e.positionOffset.x").def.name = "particles.e.positionOffset.y".into(),
                Rule::OpenPmdSpecies,
                "particles.e.positionOffset",
                "",
            ),
            (
                |s| s.of("particles.e.id").shape = array("a", [99]).shape,
                Rule::OpenPmdParticleCount,
                "particles.e.id",
                "",
            ),
            (
                |s| s.of("particles.e.id").def.dtype = Dtype::I32,
                Rule::OpenPmdParticleId,
                "particles.e.id",
                "",
            ),
            (
                |s| s.of("particles.e.id").forget("macroWeighted"),
                Rule::OpenPmdWeighting,
                "particles.e.id",
                "macroWeighted",
            ),
            (
                |s| set(s.of("particles.e.id"), "macroWeighted", 2u32),
                Rule::OpenPmdWeighting,
                "particles.e.id",
                "macroWeighted",
            ),
            (
                |s| set(s.of("particles.e.id"), "weightingPower", "one"),
                Rule::OpenPmdWeighting,
                "particles.e.id",
                "weightingPower",
            ),
        ],
    );
}

/// The extension says that they must be there. Without it nobody asks.
#[test]
fn without_the_extension_there_need_be_no_weighting() {
    let mut step = whole();
    step.replace(integer("openPMDextension", 0));
    step.of("particles.e.id").forget("weightingPower");
    let report = check(&step, Convention::OpenPmd);
    assert_eq!((report.violation_count(), report.warning_count()), (0, 0));
}

#[test]
fn modes_are_no_axis_and_want_parameters() {
    let mut step = whole();
    let mut rho = component("meshes.rho");
    rho.shape = array("a", [3, 4, 8]).shape;
    rho.def.dimensions.push(String::new());
    set(&mut rho, "geometry", "thetaMode");
    step.replace(rho);
    let report = check(&step, Convention::OpenPmd);
    assert_eq!(report.findings[0].attribute.as_deref(), Some("geometryParameters"));
    set(step.of("meshes.rho"), "geometryParameters", "m=2;imag=+");
    assert_eq!(check(&step, Convention::OpenPmd).findings, []);
}

#[test]
fn records_of_one_grid_make_one_image() {
    assert_eq!(recognized(&whole()), [Convention::OpenPmd]);
    let mut step = whole();
    set(step.of("meshes.rho"), "position", vec![0.0, 0.0]);
    let found = meshes(&step).unwrap();
    let [Mesh::Image(image), Mesh::Image(other)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&image.grid.shape[..], &image.grid.origin[..]), (&[4, 8][..], &[0.0, 1.0][..]));
    assert_eq!(
        (image.name.as_str(), image.counted, image.fields[0].variables.len()),
        ("E", Association::Element, 2)
    );
    assert_eq!((other.name.as_str(), other.counted), ("rho", Association::Vertex));
    set(step.of("meshes.rho"), "position", vec![0.5, 0.5]);
    let found = meshes(&step).unwrap();
    let [Mesh::Image(image)] = &found[..] else { panic!("{found:?}") };
    let names: Vec<_> = image.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["E", "rho"]);
    step.lose("time");
    assert_eq!(meshes(&step).unwrap_err().len(), 1);
    let mut step = whole();
    step.replace(scalar("openPMD", Dtype::I64, ScalarValue::Integer(1)));
    assert!(meshes(&step).is_err());
}
