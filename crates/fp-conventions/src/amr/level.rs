//! One level, and how it fits the one below.

use crate::amr::blocks;
use crate::attributes::{Attributes, texts};
use crate::finding::Finding;
use crate::mesh::amr::AmrLevel;
use crate::mesh::association::Association;
use crate::mesh::field::MeshField;
use crate::mesh::grid::Grid;
use crate::rule::Rule;
use crate::variable::DescribedVariable;

/// What the first dimension is called where it counts components and is no axis.
const COMPONENT: &str = "component";
/// How far spacing may be off, in proportion: what rounding makes.
const ROUNDING: f64 = 1e-9;

/// Looks at a level by itself.
pub(super) fn read(of: &DescribedVariable, name: &str, findings: &mut Vec<Finding>) -> Option<AmrLevel> {
    let is_array = of.is_global_array() && of.is_number();
    let Some(shape) = of.shape.filter(|_| is_array) else {
        let (what, advice) = (format!("is {}", of.kind_text()), "Make each level a global array of numbers");
        findings.push(Finding::violation(Rule::AmrSame, what, advice).of(of.name()));
        return None;
    };
    let has_components = of.def.dimensions.first().is_some_and(|name| name == COMPONENT);
    let skipped = usize::from(has_components);
    let shape = shape.dims()[skipped..].to_vec();
    let mut attributes = Attributes { of, findings };
    let spacing = attributes.sizes("gridSpacing", Rule::AmrGridSpacing, shape.len());
    let origin = attributes.reals("gridGlobalOffset", Rule::AmrGridOffset, shape.len());
    let ratio = ratio(&mut attributes, name, shape.len());
    let ghosts = ghosts(&mut attributes);
    let labels =
        of.def.attributes.get("axisLabels").and_then(texts).filter(|labels| labels.len() == shape.len());
    let axes = labels.unwrap_or_else(|| of.def.dimensions[skipped..].to_vec());
    let field = MeshField {
        name: name.to_owned(),
        association: Association::Element,
        variables: vec![of.name().to_owned()],
        has_component_dimension: has_components,
    };
    let grid = Grid { axes, origin: origin?, spacing: spacing?, shape };
    Some(AmrLevel { grid, ratio: ratio?, ghosts: ghosts?, field })
}

/// Level 0 has none; it is as if it were 1.
fn ratio(attributes: &mut Attributes<'_>, name: &str, ndims: usize) -> Option<Vec<u64>> {
    if attributes.of.name() == name {
        return Some(vec![1; ndims]);
    }
    attributes.counts("refinementRatio", Rule::AmrRatio, ndims)
}

/// Where it is not said there are none.
fn ghosts(attributes: &mut Attributes<'_>) -> Option<u64> {
    if attributes.has("ghosts") {
        return attributes.count("ghosts", Rule::AmrGhosts);
    }
    let advice = "Set it to the layers of ghost cells inside each block, or 0";
    let finding = Finding::warning(Rule::AmrGhosts, "is missing, and taken for 0", advice);
    attributes.findings.push(finding.of(attributes.of.name()).attribute("ghosts"));
    Some(0)
}

/// Looks at two levels, the coarser one first.
pub(super) fn compare(
    (below, coarse): (&DescribedVariable, &AmrLevel),
    (of, fine): (&DescribedVariable, &AmrLevel),
    findings: &mut Vec<Finding>,
) {
    let alike = |of: &DescribedVariable| (of.def.dtype, of.def.ndims(), of.def.order);
    let first = |of: &DescribedVariable, level: &AmrLevel| match level.field.has_component_dimension {
        true => of.shape.and_then(|shape| shape.dims().first().copied()),
        false => None,
    };
    if alike(of) != alike(below) || first(of, fine) != first(below, coarse) {
        let what = format!("has another type, order, or number of components than {:?}", below.name());
        let advice = "Give all levels the same";
        findings.push(Finding::violation(Rule::AmrSame, what, advice).of(of.name()));
        return;
    }
    spacing(below, coarse, of, fine, findings);
    if fine.grid.origin != coarse.grid.origin {
        let what =
            format!("is {:?}, but that of {:?} is {:?}", fine.grid.origin, below.name(), coarse.grid.origin);
        let advice = "Let all levels begin where level 0 does; blocks say what is refined";
        let finding = Finding::violation(Rule::AmrSameOffset, what, advice);
        findings.push(finding.of(of.name()).attribute("gridGlobalOffset"));
    }
    let expected: Option<Vec<u64>> =
        coarse.grid.shape.iter().zip(&fine.ratio).map(|(cells, ratio)| cells.checked_mul(*ratio)).collect();
    if expected.as_ref() != Some(&fine.grid.shape) {
        let what = format!(
            "has the shape {:?}, but {:?} has {:?}, and the ratio is {:?}",
            fine.grid.shape,
            below.name(),
            coarse.grid.shape,
            fine.ratio
        );
        let advice = "Give each level the extent of the whole domain in its own cells";
        findings.push(Finding::violation(Rule::AmrShapeRatio, what, advice).of(of.name()));
        return;
    }
    blocks::check((below, coarse), (of, fine), findings);
}

fn spacing(
    below: &DescribedVariable,
    coarse: &AmrLevel,
    of: &DescribedVariable,
    fine: &AmrLevel,
    findings: &mut Vec<Finding>,
) {
    let expected: Vec<f64> =
        coarse.grid.spacing.iter().zip(&fine.ratio).map(|(size, ratio)| size / *ratio as f64).collect();
    let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= ROUNDING * expected.abs();
    if !fine.grid.spacing.iter().zip(&expected).all(is_near) {
        let what = format!(
            "is {:?}, but that of {:?} and the ratio make {expected:?}",
            fine.grid.spacing,
            below.name()
        );
        let advice = "Divide the spacing of the level below by the ratio";
        let finding = Finding::violation(Rule::AmrSpacingRatio, what, advice);
        findings.push(finding.of(of.name()).attribute("gridSpacing"));
    }
}
