//! Every rule of refined meshes, broken once.

use fp_types::{BlockId, Dtype, Rank, Region};

use crate::check::{check, meshes, recognized};
use crate::convention::Convention;
use crate::finding::Severity;
use crate::mesh::Mesh;
use crate::rule::Rule;
use crate::samples::{array, each_break_is_found, set};
use crate::step::DescribedStep;
use crate::variable::DescribedVariable;

fn blocks<const N: usize>(of: &mut DescribedVariable, regions: &[([u64; N], [u64; N])]) {
    let block = |(rank, (start, count)): (usize, &([u64; N], [u64; N]))| {
        (BlockId::new(Rank(rank as u32), 0), Region::new(*start, *count).unwrap())
    };
    of.blocks = regions.iter().enumerate().map(block).collect();
}

fn level(name: &str, cells: u64, spacing: f64) -> DescribedVariable {
    let mut of = array(name, [cells, 2 * cells]);
    of.def.dimensions = vec!["y".to_owned(), "x".to_owned()];
    set(&mut of, "gridSpacing", vec![spacing, spacing]);
    set(&mut of, "gridGlobalOffset", vec![0.0, 0.0]);
    set(&mut of, "ghosts", 0i64);
    of
}

fn fine(name: &str, cells: u64, spacing: f64) -> DescribedVariable {
    let mut of = level(name, cells, spacing);
    set(&mut of, "refinementRatio", vec![2i64, 2]);
    of
}

fn whole() -> DescribedStep {
    let mut first = fine("v_lvl1.x", 8, 0.5);
    blocks(&mut first, &[([0, 0], [4, 8]), ([4, 8], [4, 8])]);
    let mut second = fine("v_lvl2.x", 16, 0.25);
    blocks(&mut second, &[([2, 4], [4, 8])]);
    let mut other = [level("v.y", 4, 1.0), fine("v_lvl1.y", 8, 0.5), fine("v_lvl2.y", 16, 0.25)];
    blocks(&mut other[0], &[([0, 0], [4, 4]), ([0, 4], [4, 4])]);
    let variables = [vec![level("v.x", 4, 1.0), first, second], other.to_vec()].concat();
    DescribedStep { variables }
}

#[test]
fn each_level_is_looked_at() {
    each_break_is_found(
        &whole(),
        Convention::Amr,
        &[
            (|s| s.of("v.x").def.dtype = Dtype::String, Rule::AmrSame, "v.x", ""),
            (|s| s.of("v_lvl2.x").def.dtype = Dtype::F32, Rule::AmrSame, "v_lvl2.x", ""),
            (|s| s.of("v_lvl2.x").forget("gridSpacing"), Rule::AmrGridSpacing, "v_lvl2.x", "gridSpacing"),
            (
                |s| set(s.of("v_lvl2.x"), "gridSpacing", vec![0.25, -0.25]),
                Rule::AmrGridSpacing,
                "v_lvl2.x",
                "gridSpacing",
            ),
            (
                |s| set(s.of("v_lvl2.x"), "gridGlobalOffset", vec![0.0]),
                Rule::AmrGridOffset,
                "v_lvl2.x",
                "gridGlobalOffset",
            ),
            (|s| s.of("v_lvl2.x").forget("refinementRatio"), Rule::AmrRatio, "v_lvl2.x", "refinementRatio"),
            (
                |s| set(s.of("v_lvl2.x"), "refinementRatio", vec![2i64, 0]),
                Rule::AmrRatio,
                "v_lvl2.x",
                "refinementRatio",
            ),
            (|s| set(s.of("v.x"), "ghosts", -1i64), Rule::AmrGhosts, "v.x", "ghosts"),
            (|s| s.of("v.x").forget("ghosts"), Rule::AmrGhosts, "v.x", "ghosts"),
        ],
    );
}

#[test]
fn levels_are_held_against_each_other() {
    each_break_is_found(
        &whole(),
        Convention::Amr,
        &[
            (
                |s| s.variables.retain(|of| of.name() == "v.x" || of.name() == "v_lvl2.x"),
                Rule::AmrLevels,
                "v_lvl2.x",
                "",
            ),
            (|s| s.lose("v_lvl2.y"), Rule::AmrComponents, "v.y", ""),
            (
                |s| set(s.of("v_lvl2.x"), "gridSpacing", vec![0.25, 0.3]),
                Rule::AmrSpacingRatio,
                "v_lvl2.x",
                "gridSpacing",
            ),
            (
                |s| set(s.of("v_lvl2.x"), "gridGlobalOffset", vec![1.0, 0.0]),
                Rule::AmrSameOffset,
                "v_lvl2.x",
                "gridGlobalOffset",
            ),
            (|s| s.of("v_lvl2.x").shape = array("a", [16, 30]).shape, Rule::AmrShapeRatio, "v_lvl2.x", ""),
            (|s| blocks(s.of("v_lvl2.x"), &[([1, 4], [4, 8])]), Rule::AmrWholeCells, "v_lvl2.x", ""),
            (|s| blocks(s.of("v_lvl2.x"), &[([2, 4], [4, 7])]), Rule::AmrWholeCells, "v_lvl2.x", ""),
            (|s| blocks(s.of("v_lvl2.x"), &[([2, 4], [4, 20])]), Rule::AmrNesting, "v_lvl2.x", ""),
        ],
    );
}

/// Two scalar records under one path are no components of a record.
#[test]
fn records_of_one_path_may_have_different_levels() {
    let mut step = whole();
    step.variables.retain(|of| of.name().ends_with(".x"));
    for (level, name) in ["m.v", "m.v_lvl1", "m.v_lvl2"].into_iter().enumerate() {
        step.variables[level].def.name = name.to_owned();
    }
    step.variables.push(level("m.rho", 4, 1.0));
    assert_eq!(check(&step, Convention::Amr).findings, []);
}

#[test]
fn a_step_without_levels_is_no_refined_mesh() {
    let none = DescribedStep { variables: vec![level("rho", 4, 1.0)] };
    assert_eq!(recognized(&none), []);
    let report = check(&none, Convention::Amr);
    assert_eq!(report.findings.iter().map(|found| found.rule).collect::<Vec<_>>(), [Rule::AmrLevels]);
    let mut loose = whole();
    blocks(loose.of("v_lvl2.x"), &[([2, 4], [4, 20])]);
    assert_eq!(check(&loose, Convention::Amr).findings[0].severity, Severity::Warning);
}

/// A layer at each side of a block is no cell of it, but at the edge of the array.
#[test]
fn ghosts_are_cut_off() {
    let mut step = whole();
    set(step.of("v_lvl1.x"), "ghosts", 1i64);
    blocks(step.of("v_lvl1.x"), &[([0, 0], [5, 9]), ([3, 7], [5, 9])]);
    assert_eq!(check(&step, Convention::Amr).findings, []);
    set(step.of("v_lvl1.x"), "ghosts", 0i64);
    assert_eq!(check(&step, Convention::Amr).findings[0].rule, Rule::AmrWholeCells);
}

#[test]
fn a_first_dimension_of_components_is_no_axis() {
    let with = |mut of: DescribedVariable, cells: u64| {
        let shape = [3, cells, 2 * cells];
        of.def.dimensions.insert(0, "component".to_owned());
        of.shape = array("a", shape).shape;
        blocks(&mut of, &[([0, 0, 0], shape)]);
        of
    };
    let mut step =
        DescribedStep { variables: vec![with(level("u", 4, 1.0), 4), with(fine("u_lvl1", 8, 0.5), 8)] };
    let found = meshes(&step).unwrap();
    let [Mesh::OverlappingAmr(amr)] = &found[..] else { panic!("{found:?}") };
    assert!(amr.levels[1].field.has_component_dimension);
    let level = &amr.levels[1];
    assert_eq!((&level.grid.axes[..], &level.ratio[..]), (&["y", "x"].map(String::from)[..], &[2, 2][..]));
    step.of("u_lvl1").shape = array("a", [4, 8, 16]).shape;
    assert_eq!(meshes(&step).unwrap_err()[0].rule, Rule::AmrSame);
}
