//! The numbers that conditions of subscriptions are judged by: measured on each rank, merged without rounding, finished
//! where a step is decided.
//!
//! A part is bytes that say all that is needed to merge them: who merges may have no block of the variable. The bytes of a
//! part are equal for equal elements, however the array is cut.

use fp_types::{
    Dims, Dtype, Found, FunctionOrigin, MAX_DIMS, Measure, MeasureParts, Measured, MeasuredCall,
    MeasuredNumber, Real, Selection, SelectionExpression, Shape, Statistic as Made, Unmeasured,
};

use crate::block::Array;
use crate::derivation::{Content, Derivation, DerivationPlan, Partial};
use crate::error::DeriveError;
use crate::memory::Memory;
use crate::numbers::{Kind, Scalar, is_real, kind};
use crate::operation::{Counts, Extreme, Located, ModuleCall, Reduction, Statistic};

/// More than what a part of any measure takes: a sum of squares in all its chunks, with the sum and the type.
const LIMIT_PART_BYTES: usize = 1024;
/// What a part of a least or greatest element takes at most: type and shape, place and number.
const LIMIT_EXTREME_BYTES: usize = 2 + 8 * MAX_DIMS + 17;
/// Stands for the number of dimensions where a part says no shape.
const NO_SHAPE: u8 = u8::MAX;
/// Turned over in the number of dimensions where elements are a field of records.
const FIELD: u8 = 0x40;

/// What a measure is made by, as a derivation: of a global array with the place of an extreme.
///
/// # Errors
/// A region that makes no sense.
pub fn measuring(measure: &Measure, is_placed: bool) -> Result<Derivation, DeriveError> {
    let of = Derivation::of([measure.variable()])?;
    let of = match measure.region() {
        Some(region) => of.slice(region)?,
        None => of,
    };
    let of = match measure.call() {
        Some(MeasuredCall { origin, name, dtype }) => {
            let call = match origin {
                FunctionOrigin::Registered => ModuleCall::registered(name.as_str()),
                FunctionOrigin::HandedOver => ModuleCall::new(name.as_str()),
            };
            of.module(dtype.map_or(call.clone(), |dtype| call.with_dtype(dtype)))?
        }
        None => of,
    };
    match extreme(measure).filter(|_| is_placed) {
        Some(extreme) => of.locate(extreme),
        None => of.reduce(reduction(measure.statistic())),
    }
}

/// A rank's part of a measure, from its blocks of the variable. `is_placed` says whether these lie in one array with those
/// of other ranks.
///
/// # Errors
/// Elements that are no numbers, a region outside of the array, no memory, or that it was told to stop.
pub fn measure(
    measure: &Measure,
    input: &Array,
    is_placed: bool,
    memory: &Memory,
) -> Result<Vec<u8>, DeriveError> {
    let plan = measuring(measure, is_placed)?.plan(&[input.array_type()])?.with_memory(memory);
    measure_planned(&plan, input, is_placed)
}

/// The same by a plan that was made of [`measuring`], with the function that it calls.
///
/// # Errors
/// Those of [`measure`], and what the function says.
pub fn measure_planned(
    plan: &DerivationPlan,
    input: &Array,
    is_placed: bool,
) -> Result<Vec<u8>, DeriveError> {
    let derived = plan.apply(std::slice::from_ref(input))?;
    let dtype = plan.last_input().map_or(input.dtype(), |of| of.dtype);
    part_of(derived.partial, (dtype, is_placed.then(|| *input.shape()), Origin::Variable))
}

/// A rank's part as bytes: of elements of that type, in an array of that shape where they lie in one.
pub(crate) fn part_of(
    found: Option<Partial>,
    (dtype, shape, origin): (Dtype, Option<Shape>, Origin),
) -> Result<Vec<u8>, DeriveError> {
    let Some(Partial { content, .. }) = found else { return Err(DeriveError::Unlike) };
    let found = match content {
        Content::Statistic(statistic) => Gathered::Statistic(*statistic),
        Content::Located(located) => Gathered::Located(located),
        Content::Cells(_) | Content::Found(_) | Content::Related(_) => return Err(DeriveError::Unlike),
    };
    Ok(Part { dtype, shape, origin, found }.to_bytes())
}

fn reduction(made: Made) -> Reduction {
    match made {
        Made::Minimum => Reduction::Minimum,
        Made::Maximum => Reduction::Maximum,
        Made::Sum => Reduction::Sum,
        Made::Mean => Reduction::Mean,
        Made::Variance => Reduction::Variance,
        Made::Quantile { low: Real(low), high: Real(high), bins, .. } => {
            Reduction::Histogram { low, high, bins: bins.into() }
        }
        Made::Count(comparison, Real(threshold)) => Reduction::Count { comparison, threshold },
        Made::Any(comparison, Real(threshold)) => Reduction::Any { comparison, threshold },
        Made::All(comparison, Real(threshold)) => Reduction::All { comparison, threshold },
    }
}

/// The extreme that it is, if it is one.
fn extreme(measure: &Measure) -> Option<Extreme> {
    match measure.statistic() {
        Made::Minimum => Some(Extreme::Least),
        Made::Maximum => Some(Extreme::Greatest),
        #[rustfmt::skip]
        Made::Sum | Made::Mean | Made::Variance | Made::Quantile { .. } | Made::Count(..) | Made::Any(..)
        | Made::All(..) => None,
    }
}

/// What elements were measured: those of the variable of that name, or a field of records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Variable,
    Field,
}

/// What a rank found.
enum Gathered {
    Statistic(Statistic),
    Located(Located),
}

/// What is known of a measure while other ranks have a part of it.
struct Part {
    dtype: Dtype,
    /// Of the whole array, where there is one and it matters.
    shape: Option<Shape>,
    /// Ranks that measured other things have no part of one number.
    origin: Origin,
    found: Gathered,
}

impl Part {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.dtype.as_u8()];
        match (&self.shape, &self.found) {
            (Some(shape), Gathered::Located(located)) => {
                bytes.push(self.marked(shape.ndims() as u8));
                shape.dims().iter().for_each(|extent| bytes.extend(extent.to_le_bytes()));
                located.write(&mut bytes);
            }
            (_, Gathered::Statistic(statistic)) => {
                bytes.push(self.marked(NO_SHAPE));
                statistic.write(&mut bytes);
            }
            (None, Gathered::Located(located)) => {
                // Nobody reads it: a place without a shape says nothing.
                bytes.push(self.marked(NO_SHAPE));
                located.write(&mut bytes);
            }
        }
        bytes
    }

    /// The number of dimensions, with a mark if it is of a field.
    fn marked(&self, ndims: u8) -> u8 {
        if self.origin == Origin::Field { ndims ^ FIELD } else { ndims }
    }

    fn read(measure: &Measure, bytes: &[u8]) -> Option<Self> {
        let (&[dtype, ndims], body) = bytes.split_first_chunk::<2>()?;
        let dtype = Dtype::try_from(dtype).ok().filter(|dtype| is_real(*dtype))?;
        let made = reduction(measure.statistic());
        let is_field = (ndims & FIELD == 0) == (ndims & 0x80 != 0);
        let (origin, ndims) =
            if is_field { (Origin::Field, ndims ^ FIELD) } else { (Origin::Variable, ndims) };
        if ndims == NO_SHAPE {
            let found = Gathered::Statistic(Statistic::read(made, dtype, body)?);
            return Some(Self { dtype, shape: None, origin, found });
        }
        let ndims = usize::from(ndims);
        let (dims, body) = body.split_at_checked(8 * ndims).filter(|_| ndims <= MAX_DIMS)?;
        let (dims, _) = dims.as_chunks::<8>();
        let dims: Vec<u64> = dims.iter().map(|extent| u64::from_le_bytes(*extent)).collect();
        let shape = Shape::new(Dims::try_from(&dims[..]).ok()?).ok()?;
        let within = within(measure, &shape)?;
        let found = Gathered::Located(Located::read(extreme(measure)?, dtype, &within.0, body)?);
        Some(Self { dtype, shape: Some(shape), origin, found })
    }

    /// Whether the other is of the same array; then it is brought in.
    fn merge(&mut self, other: &Self) -> bool {
        self.dtype == other.dtype
            && self.origin == other.origin
            && self.shape == other.shape
            && match (&mut self.found, &other.found) {
                (Gathered::Statistic(ours), Gathered::Statistic(theirs)) => ours.merge(theirs),
                (Gathered::Located(ours), Gathered::Located(theirs)) => ours.merge(theirs),
                _ => false,
            }
    }

    /// The number, and its place; no number of no element.
    fn finish(&self, measure: &Measure) -> Result<(Option<MeasuredNumber>, Option<Vec<u64>>), DeriveError> {
        match &self.found {
            Gathered::Located(located) => {
                let Some((number, place)) = located.found() else { return Ok((None, None)) };
                let shape = self.shape.unwrap_or_default();
                Ok((Some(exact(number)), placed(measure, &shape, place)))
            }
            Gathered::Statistic(Statistic::Histogram(counts)) => Ok((bracket(measure, counts), None)),
            Gathered::Statistic(statistic) if statistic.is_empty() => Ok((None, None)),
            Gathered::Statistic(statistic) => {
                match statistic.finish(reduction(measure.statistic()), self.dtype) {
                    Ok(number) => Ok((Some(number_of(number, measure, self.dtype)), None)),
                    Err(DeriveError::Empty { .. }) => Ok((None, None)),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

/// What is certain of a quantile.
fn bracket(measure: &Measure, counts: &Counts) -> Option<MeasuredNumber> {
    let Made::Quantile { share: Real(share), .. } = measure.statistic() else { return None };
    let (low, high) = counts.bracket(share)?;
    Some(MeasuredNumber::Bracket { low: Real(low), high: Real(high) })
}

/// The bytes of a finished statistic as a number.
fn number_of(bytes: Vec<u8>, measure: &Measure, of: Dtype) -> MeasuredNumber {
    let of = match measure.statistic() {
        Made::Any(..) | Made::All(..) => {
            return MeasuredNumber::Unsigned(u64::from(bytes.first() == Some(&1)));
        }
        Made::Count(..) | Made::Quantile { .. } => Dtype::U64,
        Made::Mean | Made::Variance => Dtype::F64,
        Made::Sum => match kind(of) {
            Kind::Signed => Dtype::I64,
            Kind::Unsigned => Dtype::U64,
            Kind::Real => Dtype::F64,
        },
        Made::Minimum | Made::Maximum => of,
    };
    let mut found = MeasuredNumber::Real(Real(f64::NAN));
    crate::numbers::for_each_strip(of, &bytes, |strip| {
        if strip.len() > 0 {
            found = exact(strip.scalar(0));
        }
    });
    found
}

fn exact(number: Scalar) -> MeasuredNumber {
    match number {
        Scalar::Signed(number) => MeasuredNumber::Signed(number),
        Scalar::Unsigned(number) => MeasuredNumber::Unsigned(number),
        Scalar::Real(number) => MeasuredNumber::Real(Real(number)),
    }
}

/// Start and stride of what a measure takes.
type Taken = (Dims, Dims);

/// The shape of what a measure takes of an array of that shape, and where that lies.
fn within(measure: &Measure, shape: &Shape) -> Option<(Shape, Taken)> {
    let resolved = measure.region().unwrap_or(SelectionExpression::All).resolve(shape).ok()?;
    let zeros = shape.dims().zeros_like();
    match resolved {
        Selection::All => Some((*shape, (zeros, zeros.ones_like()))),
        Selection::Region(region) => {
            Some((Shape::new(*region.count()).ok()?, (*region.start(), zeros.ones_like())))
        }
        Selection::Strided(strided) => {
            Some((Shape::new(strided.counts()).ok()?, (*strided.region().start(), *strided.stride())))
        }
        Selection::Points(_) | Selection::Block(_) | Selection::Rank(_) => None,
    }
}

/// The place of an element of what is measured, in the whole array.
fn placed(measure: &Measure, shape: &Shape, place: u64) -> Option<Vec<u64>> {
    let (taken, (start, stride)) = within(measure, shape)?;
    let corner = crate::placing::corner(place, taken.dims());
    Some((0..shape.ndims()).map(|dim| start[dim] + corner[dim] * stride[dim]).collect())
}

/// Brings together what ranks [`measure`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactMeasures;

impl MeasureParts for ExactMeasures {
    fn knows(&self, measure: &Measure) -> bool {
        measuring(measure, true).is_ok()
    }

    fn limit_part_bytes(&self, measure: &Measure) -> usize {
        match measure.statistic() {
            Made::Minimum | Made::Maximum => LIMIT_EXTREME_BYTES,
            Made::Quantile { bins, .. } => 2 + 8 * (usize::from(bins) + 3),
            Made::Count(..) | Made::Any(..) | Made::All(..) => 2 + 16,
            Made::Sum | Made::Mean => 2 + 8 + 3 + 4 * crate::exact::SUM_CHUNKS,
            Made::Variance => LIMIT_PART_BYTES,
        }
    }

    fn merge(&self, measure: &str, one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
        let measure: Measure = measure.parse().ok()?;
        let mut merged = Part::read(&measure, one)?;
        merged.merge(&Part::read(&measure, other)?).then(|| merged.to_bytes())
    }

    fn finish(&self, name: &str, part: &[u8]) -> Found {
        let unmeasured = |reason| Unmeasured::new(fp_types::Rank::LEAD, reason);
        let read = name.parse::<Measure>().ok();
        let read = read.and_then(|measure| Part::read(&measure, part).map(|part| (measure, part)));
        let (measure, part) =
            read.ok_or_else(|| unmeasured(format!("the parts of {name} cannot be read")))?;
        match part.finish(&measure) {
            Ok((number, place)) => Ok(Measured { measure: name.to_owned(), number, place }),
            Err(error) => Err(unmeasured(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block;
    use fp_types::{MemoryOrder, Region};
    use proptest::prelude::*;

    const ROWS: u64 = 6;
    const COLUMNS: u64 = 5;

    fn read(text: &str) -> Measure {
        text.parse().expect(text)
    }

    /// Rows of an array, as one block.
    fn rows(numbers: &[f64], first: u64, count: u64) -> Array {
        let shape = Shape::new([ROWS, COLUMNS]).unwrap();
        let region = Region::new([first, 0], [count, COLUMNS]).unwrap();
        let of = &numbers[(first * COLUMNS) as usize..((first + count) * COLUMNS) as usize];
        let bytes: Vec<u8> = of.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let block = Block::new(region, Dtype::F64, MemoryOrder::RowMajor, bytes).unwrap();
        Array::new(Dtype::F64, shape, vec![block]).unwrap()
    }

    fn part(text: &str, numbers: &[f64], (first, count): (u64, u64)) -> Vec<u8> {
        measure(&read(text), &rows(numbers, first, count), true, &Memory::default()).expect(text)
    }

    fn finished(text: &str, part: &[u8]) -> (Option<f64>, Option<Vec<u64>>) {
        let measure = read(text);
        let (number, place) = Part::read(&measure, part).expect(text).finish(&measure).expect(text);
        (number.map(MeasuredNumber::as_f64), place)
    }

    const TEXTS: [&str; 10] = [
        "max(T)",
        "min(T[1:5:2, 1:4])",
        "max(T[2:, ::3])",
        "sum(T)",
        "mean(T[:, 2])",
        "variance(T)",
        "count(T > 1.0)",
        "any(T[0:2, :] < -3.0)",
        "all(T <= 4.0)",
        "quantile(T[:, 1:], 0.7, -3.5..4.5 / 8)",
    ];

    /// What each of [`TEXTS`] is, element by element.
    fn expected(at: usize, numbers: &[f64]) -> (Option<f64>, Option<Vec<u64>>) {
        let all = || (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
        let of = |(row, column): (u64, u64)| numbers[(row * COLUMNS + column) as usize];
        let greatest = |places: Vec<(u64, u64)>, sign: f64| {
            let best = places.iter().map(|&place| sign * of(place)).fold(f64::NEG_INFINITY, f64::max);
            let first = places.into_iter().find(|&place| sign * of(place) == best).unwrap();
            (Some(sign * best), Some(vec![first.0, first.1]))
        };
        let truth = |truth: bool| (Some(f64::from(u8::from(truth))), None);
        match at {
            0 => greatest(all().collect(), 1.0),
            1 => greatest(all().filter(|(r, c)| [1, 3].contains(r) && (1..4).contains(c)).collect(), -1.0),
            2 => greatest(all().filter(|(r, c)| *r >= 2 && c % 3 == 0).collect(), 1.0),
            3 => (Some(numbers.iter().sum()), None),
            4 => (Some((0..ROWS).map(|row| of((row, 2))).sum::<f64>() / ROWS as f64), None),
            5 => {
                let (count, sum) = (numbers.len() as f64, numbers.iter().sum::<f64>());
                let squares = numbers.iter().map(|number| number * number).sum::<f64>();
                (Some((squares * count - sum * sum) / (count * count)), None)
            }
            6 => (Some(numbers.iter().filter(|number| **number > 1.0).count() as f64), None),
            7 => truth(numbers[..10].iter().any(|number| *number < -3.0)),
            8 => truth(numbers.iter().all(|number| *number <= 4.0)),
            _ => {
                let mut sorted: Vec<f64> = all().filter(|(_, column)| *column > 0).map(of).collect();
                sorted.sort_by(f64::total_cmp);
                // Each whole number has a bin of its own, and it is the middle of it. 17 of 24 are the first 0.7 of all.
                let low = sorted[16] - 0.5;
                (Some(if low < -3.5 { f64::NEG_INFINITY } else { low }), None)
            }
        }
    }

    proptest! {
        /// Small whole numbers: each sum is exact, and many elements are equal.
        #[test]
        fn parts_of_any_cut_in_any_order_give_the_same_bytes(
            whole in proptest::collection::vec(-5i8..6, (ROWS * COLUMNS) as usize), cut in 1..ROWS, turned: bool,
        ) {
            let numbers: Vec<f64> = whole.iter().map(|number| f64::from(*number)).collect();
            for (at, text) in TEXTS.iter().enumerate() {
                let (one, other) = (part(text, &numbers, (0, cut)), part(text, &numbers, (cut, ROWS - cut)));
                let (one, other) = if turned { (other, one) } else { (one, other) };
                let merged = ExactMeasures.merge(text, &one, &other).expect(text);
                prop_assert_eq!(&merged, &part(text, &numbers, (0, ROWS)), "{}", text);
                let ((number, place), (wanted, wanted_place)) = (finished(text, &merged), expected(at, &numbers));
                let (number, wanted) = (number.expect("elements"), wanted.expect("elements"));
                let is_same = number == wanted || (number - wanted).abs() < 1e-12;
                prop_assert!(is_same && place == wanted_place, "{}: {} {}", text, number, wanted);
                prop_assert!(merged.len() <= ExactMeasures.limit_part_bytes(&read(text)));
            }
        }

        #[test]
        fn no_bytes_break_anything(
            at in 0..TEXTS.len(), bytes in proptest::collection::vec(any::<u8>(), 0..80), flip: prop::sample::Index,
        ) {
            let measure = read(TEXTS[at]);
            let mut damaged = part(TEXTS[at], &[1.0; 30], (0, 3));
            let place = flip.index(damaged.len());
            damaged[place] ^= 1 << (place % 8);
            for bytes in [bytes, damaged] {
                let is_read = Part::read(&measure, &bytes).is_some();
                prop_assert!(is_read || ExactMeasures.finish(TEXTS[at], &bytes).is_err());
                prop_assert_eq!(ExactMeasures.merge(TEXTS[at], &bytes, &bytes).is_some(), is_read);
            }
        }
    }

    #[test]
    fn no_part_is_longer_than_it_may_be() {
        let numbers: Vec<f64> =
            (0..30).map(|at| if at % 2 == 0 { f64::MAX } else { f64::from_bits(at) }).collect();
        for text in TEXTS {
            let len = part(text, &numbers, (0, ROWS)).len();
            assert!(len <= ExactMeasures.limit_part_bytes(&read(text)), "{text}: {len}");
        }
    }

    /// Elements that are no numbers have no statistics, whatever a peer says.
    #[test]
    fn a_part_of_what_is_no_number_is_none() {
        for dtype in [Dtype::C32, Dtype::C64, Dtype::String, Dtype::Bytes] {
            let bytes = [&[dtype.as_u8(), NO_SHAPE, 1][..], &[0; 8]].concat();
            assert!(ExactMeasures.finish("max(T)", &bytes).is_err(), "{dtype}");
        }
    }

    #[test]
    fn of_no_element_there_is_no_number() {
        let shape = Shape::new([0]).unwrap();
        let nothing = Array::new(Dtype::F64, shape, Vec::new()).unwrap();
        for text in ["max(T)", "sum(T)", "mean(T)", "count(T > 1.0)", "any(T > 1.0)", "all(T > 1.0)"] {
            for is_placed in [true, false] {
                let part = measure(&read(text), &nothing, is_placed, &Memory::default()).expect(text);
                assert_eq!(finished(text, &part), (None, None), "{text}");
            }
        }
    }

    #[test]
    fn a_region_outside_of_the_array_is_an_error() {
        let outside = measure(&read("max(T[0:7, :])"), &rows(&[0.0; 30], 0, 6), true, &Memory::default());
        assert!(matches!(outside, Err(DeriveError::Slice { .. })));
    }
}
