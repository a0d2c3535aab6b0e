//! The text of queries, and what TARs are like.

use fp_core::{ArrayKind, Dtype, Region, Shape, StepId};

use crate::taken_step::TakenVariable;

/// The dimension of steps.
const STEP: &str = "step";

/// A table of cells by step and dimensions, each with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tar {
    pub(super) name: String,
    /// The name of the value.
    pub(super) attribute: String,
    /// Its type, as SAVIME has it.
    dtype: &'static str,
    /// The dimensions behind that of steps, with their extents.
    dimensions: Vec<(String, u64)>,
}

impl Tar {
    /// That of the steps that are whole.
    pub(super) fn of_steps(stream: &str) -> Self {
        let (name, attribute) = (format!("{stream}_steps"), "number".to_owned());
        Self { name, attribute, dtype: "long", dimensions: Vec::new() }
    }

    /// That of a variable, or why there can be none.
    pub(super) fn of_variable(stream: &str, variable: &TakenVariable) -> Result<Self, String> {
        let def = &variable.def;
        match def.kind {
            ArrayKind::GlobalArray | ArrayKind::Scalar if variable.records.is_none() => {}
            ArrayKind::GlobalArray
            | ArrayKind::Scalar
            | ArrayKind::LocalScalar
            | ArrayKind::LocalArray
            | ArrayKind::JoinedArray { .. } => {
                let what =
                    if variable.records.is_some() { "records".to_owned() } else { format!("a {}", def.kind) };
                return Err(format!(
                    "SAVIME has global arrays and scalars of numbers, and this is {what}: leave it out with --variables"
                ));
            }
        }
        let dtype = type_of(variable.dtype)?;
        let extents = variable.shape.iter().flat_map(|shape| shape.dims().iter().copied());
        let mut dimensions: Vec<(String, u64)> = Vec::new();
        for (at, extent) in extents.enumerate() {
            let named = def.dimensions.get(at).filter(|name| !name.is_empty()).map(|name| identifier(name));
            let is_free = |name: &String| name != STEP && dimensions.iter().all(|(known, _)| known != name);
            let numbered = || (at..).map(|at| format!("d{at}")).find(|name| is_free(name));
            let name = named.filter(&is_free).or_else(numbered).unwrap_or_default();
            dimensions.push((name, extent));
        }
        let attribute = identifier(&def.name);
        let is_free = attribute != STEP && dimensions.iter().all(|(known, _)| *known != attribute);
        let name = format!("{stream}_{attribute}");
        let attribute = if is_free { attribute } else { format!("{attribute}_value") };
        Ok(Self { name, attribute, dtype, dimensions })
    }

    /// Whether cells of the other one have a place in this.
    pub(super) fn holds(&self, other: &Self) -> Result<(), String> {
        let names = |tar: &Self| tar.dimensions.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        if (self.dtype, names(self)) != (other.dtype, names(other)) {
            return Err(format!("TAR {} has other dimensions or another type: leave it out", self.name));
        }
        let beyond =
            self.dimensions.iter().zip(&other.dimensions).find(|((_, own), (_, wanted))| wanted > own);
        match beyond {
            None => Ok(()),
            Some(((name, own), (_, wanted))) => Err(format!(
                "dimension {name} has {wanted} elements, and TAR {} was made for {own}: drop the TAR, and start with \
                 the largest step",
                self.name
            )),
        }
    }

    /// Makes it. SAVIME has no dimensions of one index, so such a one may have two.
    pub(super) fn create(&self) -> String {
        let dimension = |(name, extent): &(String, u64)| {
            format!(" | implicit, {name}, long, 0, {}, 1", (extent - 1).max(1))
        };
        let dimensions: String = self.dimensions.iter().map(dimension).collect();
        let Self { name, attribute, dtype, .. } = self;
        format!(
            "create_tar(\"{name}\", \"*\", \"implicit, {STEP}, int, 0, *, 1{dimensions}\", \"{attribute}, {dtype}\");"
        )
    }

    /// Makes a dataset of it, whose bytes go along as a parameter.
    pub(super) fn create_dataset(&self, dataset: &str) -> String {
        format!("create_dataset(\"{dataset}:{}\", \"@{dataset}\");", self.dtype)
    }

    /// Loads a dataset as the cells of a region.
    pub(super) fn load(&self, step: StepId, region: &Region, dataset: &str) -> String {
        let bounds = region.start().iter().zip(region.count().iter());
        let ordered = |((name, _), (start, count)): (&(String, u64), (&u64, &u64))| {
            format!(" | ordered, {name}, {start}, {}", start + count - 1)
        };
        let dimensions: String = self.dimensions.iter().zip(bounds).map(ordered).collect();
        let Self { name, attribute, .. } = self;
        format!(
            "load_subtar(\"{name}\", \"ordered, {STEP}, {step}, {step}{dimensions}\", \"{attribute}, {dataset}\");"
        )
    }

    /// Asks for all its cells.
    pub(super) fn scan(&self) -> String {
        format!("scan({});", self.name)
    }
}

/// A type as SAVIME has it.
fn type_of(dtype: Dtype) -> Result<&'static str, String> {
    let hint = match dtype {
        Dtype::I32 => return Ok("int"),
        Dtype::I64 => return Ok("long"),
        Dtype::F32 => return Ok("float"),
        Dtype::F64 => return Ok("double"),
        Dtype::F16 | Dtype::BF16 => {
            "write an array of it with --cast f32, and leave a scalar out with --variables"
        }
        Dtype::I8
        | Dtype::I16
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => "leave it out with --variables, as --cast is for real numbers alone",
    };
    Err(format!("SAVIME has i32, i64, f32 and f64, and {dtype} is none: {hint}"))
}

/// A name as the database takes it.
pub(super) fn identifier(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(fits).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("v{name}") }
}

/// An array in at most so many parts of whole rows, about as long each.
pub(super) fn slabs(shape: &Shape, ranks: u32) -> Vec<Region> {
    let whole = Region::whole(shape);
    let Some(rows) = shape.dims().iter().next().copied() else { return vec![whole] };
    let ranks = u64::from(ranks).min(rows);
    let bound = |rank: u64| (u128::from(rows) * u128::from(rank) / u128::from(ranks)) as u64;
    let slab = |rank: u64| {
        let (mut start, mut count) = (*whole.start(), *whole.count());
        (start[0], count[0]) = (bound(rank), bound(rank + 1) - bound(rank));
        Region::new(start, count).ok()
    };
    (0..ranks).filter_map(slab).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_have_the_database_s_syntax() {
        let dimensions = vec![("y".to_owned(), 12), ("d1".to_owned(), 1)];
        let tar = Tar { name: "sim_rho".into(), attribute: "rho".into(), dtype: "double", dimensions };
        assert_eq!(
            tar.create(),
            "create_tar(\"sim_rho\", \"*\", \"implicit, step, int, 0, *, 1 | implicit, y, long, 0, 11, 1 | \
             implicit, d1, long, 0, 1, 1\", \"rho, double\");"
        );
        assert_eq!(tar.create_dataset("a_1"), "create_dataset(\"a_1:double\", \"@a_1\");");
        let region = Region::new([4, 0], [4, 1]).unwrap();
        assert_eq!(
            tar.load(StepId(7), &region, "a_1"),
            "load_subtar(\"sim_rho\", \"ordered, step, 7, 7 | ordered, y, 4, 7 | ordered, d1, 0, 0\", \"rho, a_1\");"
        );
    }

    #[test]
    fn slabs_are_all_of_an_array_and_no_element_twice() {
        for (rows, ranks, count) in [(10, 3, 3), (2, 4, 2), (7, 1, 1)] {
            let slabs = slabs(&Shape::new([rows, 5]).unwrap(), ranks);
            assert_eq!(slabs.len(), count);
            assert_eq!(slabs.iter().map(Region::element_count).sum::<u64>(), rows * 5);
            assert!(slabs.windows(2).all(|two| two[0].end()[0] == two[1].start()[0]));
        }
    }

    #[test]
    fn names_are_those_of_the_database() {
        assert_eq!(identifier("ρ/2 x"), "v__2_x");
        assert_eq!(identifier("vel_x"), "vel_x");
    }
}
