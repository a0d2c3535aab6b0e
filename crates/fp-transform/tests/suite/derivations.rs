//! Every operation against what it is by definition, on arrays that are cut at random among ranks.

use crate::support::{Drawn, REALS, derive, drawn, number, numbers, points};
use fp_transform::{Array, ArrayType, Block, Derivation};
use fp_types::{Dtype, MemoryOrder, Region, Shape};
use proptest::prelude::*;

/// The coordinates of a thinned array, in row-major order.
fn thinned(shape: &Shape, steps: &[u64]) -> Vec<Vec<u64>> {
    let dims: Vec<u64> =
        shape.dims().iter().zip(steps).map(|(extent, step)| extent.div_ceil(*step)).collect();
    points(&Shape::new(fp_types::Dims::from_slice(&dims).unwrap()).unwrap())
}

/// Steps for that array, of a list that is long enough.
fn written(name: &str, steps: &[u64]) -> String {
    format!("T | {name}({})", steps.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

/// The values of a cell.
fn cell(of: &Drawn, cell: &[u64], steps: &[u64]) -> Vec<f64> {
    let inside =
        |point: &&Vec<u64>| point.iter().zip(cell).zip(steps).all(|((p, cell), step)| p / step == *cell);
    points(&of.shape).iter().filter(inside).map(|point| of.at(point)).collect()
}

fn shortened(dtype: Dtype, value: f64) -> f64 {
    let short = matches!(dtype, Dtype::F16 | Dtype::BF16 | Dtype::F32);
    if short { f64::from(value as f32) } else { value }
}

proptest! {
    #[test]
    fn elements_that_stay_where_they_are(of in drawn(), to in 0..REALS.len()) {
        let positive: Vec<f64> = of.values.iter().map(|value| value.abs()).collect();
        let mut absolute = of.clone();
        absolute.values = positive.clone();
        prop_assert_eq!(numbers(&absolute.derive(&format!("T | cast({})", REALS[to]))[0]), positive.clone());
        prop_assert_eq!(numbers(&absolute.derive("T | magnitude")[0]), positive);
        let scaled: Vec<f64> = of.values.iter().map(|value| value * 0.5 + 3.0).collect();
        prop_assert_eq!(numbers(&of.derive("T | scale(0.5, 3)")[0]), scaled);
        let computed: Vec<f64> = of.values.iter()
            .map(|&t| shortened(of.dtype, if t > 3.0 { t * t } else { (t / 3.0).sin() })).collect();
        prop_assert_eq!(numbers(&of.derive("T | compute(if(T > 3, T^2, sin(T/3)))")[0]), computed);
        let turned = &of.derive("T | order(column)")[0];
        prop_assert_eq!(numbers(turned), of.values);
        prop_assert!(turned.blocks().iter().all(|block| block.order() == MemoryOrder::ColumnMajor));
    }

    #[test]
    fn elements_that_are_taken_by_global_index(of in drawn(), steps in proptest::collection::vec(1u64..5, 3)) {
        let steps = &steps[..of.shape.ndims()];
        let kept: Vec<f64> = thinned(&of.shape, steps).iter()
            .map(|place| of.at(&place.iter().zip(steps).map(|(at, step)| at * step).collect::<Vec<_>>())).collect();
        prop_assert_eq!(numbers(&of.derive(&written("stride", steps))[0]), kept);
        let means: Vec<f64> = thinned(&of.shape, steps).iter().map(|place| {
            let values = cell(&of, place, steps);
            shortened(of.dtype, values.iter().sum::<f64>() / values.len() as f64)
        }).collect();
        prop_assert_eq!(numbers(&of.derive(&written("average", steps))[0]), means);
    }

    #[test]
    fn numbers_of_all_elements(of in drawn(), bins in 1u32..9) {
        let one = |text: &str| numbers(&of.derive(text)[0])[0];
        let (count, sum) = (of.values.len() as f64, of.values.iter().sum::<f64>());
        prop_assert_eq!(one("T | min"), of.values.iter().copied().fold(f64::INFINITY, f64::min));
        prop_assert_eq!(one("T | max"), of.values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        prop_assert_eq!(one("T | sum"), sum);
        prop_assert_eq!(one("T | mean"), sum / count);
        let squares: f64 = of.values.iter().map(|value| value * value).sum();
        let variance = (count * squares - sum * sum) / count / count;
        prop_assert!((one("T | variance") - variance).abs() <= variance * 1e-15);
        let mut counts = vec![0.0; bins as usize + 3];
        for &value in &of.values {
            let is_behind = |bin: &u32| value >= 50.0 * (f64::from(*bin) / f64::from(bins)) - 20.0;
            let place = (1..bins).filter(is_behind).count() as u32;
            let place = if value < -20.0 { bins } else if value > 30.0 { bins + 1 } else { place };
            counts[place as usize] += 1.0;
        }
        prop_assert_eq!(numbers(&of.derive(&format!("T | histogram(-20, 30, {bins})"))[0]), counts);
    }

    #[test]
    fn elements_past_a_threshold(of in drawn(), threshold in -60..110i32) {
        let found = of.derive(&format!("T | points(>= {threshold})"));
        let wanted: Vec<(f64, f64)> = of.values.iter().enumerate()
            .filter(|(_, value)| **value >= f64::from(threshold)).map(|(at, value)| (at as f64, *value)).collect();
        let got: Vec<(f64, f64)> = numbers(&found[0]).into_iter().zip(numbers(&found[1])).collect();
        prop_assert_eq!(got, wanted);
    }

    /// Numbers of all sizes, infinite and NaN: no cut may change a bit.
    #[test]
    fn cuts_change_no_bit(
        of in drawn(), wild in proptest::collection::vec(any::<f64>(), 1..40), double in any::<bool>(),
    ) {
        let mut of = of;
        of.dtype = if double { Dtype::F64 } else { Dtype::F32 };
        of.values.iter_mut().zip(wild.iter().cycle()).for_each(|(value, wild)| {
            *value = if double { *wild } else { f64::from(*wild as f32) };
        });
        let steps = vec!["3"; of.shape.ndims()].join(", ");
        let operations = [
            "sum", "mean", "variance", "min", "max", "histogram(-1e10, 1e10, 5)", &format!("average({steps})"),
        ];
        for operation in operations {
            let derivation: Derivation = format!("T | {operation}").parse().unwrap();
            let plan = derivation.plan(&[ArrayType { dtype: of.dtype, shape: of.shape }]).unwrap();
            let cut = |turn| {
                let ranks = of.ranks(turn).into_iter().map(|array| vec![array]).collect();
                derive(&plan, ranks)[0].assemble(MemoryOrder::RowMajor).unwrap()
            };
            let whole = cut(of.choices.len());
            for turn in 0..2 {
                let same = |(a, b): (&[u8], &[u8])| a == b || number(plan.outputs()[0].dtype, a).is_nan();
                let size = plan.outputs()[0].dtype.size_bytes().unwrap();
                prop_assert!(cut(turn).chunks(size).zip(whole.chunks(size)).all(same), "{}", operation);
            }
        }
    }

    #[test]
    fn several_variables_of_other_layouts(of in drawn(), double in any::<bool>()) {
        let mut other = of.clone();
        other.dtype = if double { Dtype::F64 } else { Dtype::I16 };
        other.values.iter_mut().for_each(|value| *value = *value * 2.0 + 1.0);
        let derivation: Derivation = "a, \"b c\" | compute(a * \"b c\" - a) | stride(2)".parse().unwrap();
        let types = [&of, &other].map(|of| ArrayType { dtype: of.dtype, shape: of.shape });
        let planned = derivation.plan(&types);
        prop_assert_eq!(planned.is_ok(), of.shape.ndims() == 1);
        let derivation: Derivation = "a, \"b c\" | compute(a * \"b c\" - a)".parse().unwrap();
        let plan = derivation.plan(&types).unwrap();
        // On one rank, so that both hold the same elements however they are cut.
        let on_one = |of: &Drawn, turn| {
            let blocks = of.ranks(turn).iter().flat_map(|array| array.blocks().to_vec()).collect();
            Array::new(of.dtype, of.shape, blocks).unwrap()
        };
        let arrays = derive(&plan, vec![vec![on_one(&of, 0), on_one(&other, 1)]]);
        let wanted: Vec<f64> = of.values.iter().zip(&other.values).map(|(a, b)| a * b - a).collect();
        prop_assert_eq!(numbers(&arrays[0]), wanted);
    }

    #[test]
    fn hostile_derivations_are_errors(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..200) {
        let _ = Derivation::from_bytes(&bytes);
        let derivation: Derivation = "a, b | compute(a*b) | average(2, 3) | bounded(0.1)".parse().unwrap();
        let mut encoded = derivation.to_bytes();
        let at = at % encoded.len();
        encoded[at] = encoded[at].wrapping_add(bytes.first().copied().unwrap_or(0));
        if let Ok(read) = Derivation::from_bytes(&encoded) {
            prop_assert_eq!(read.to_bytes(), encoded);
        }
        let plan = "T | average(2)".parse::<Derivation>().unwrap()
            .plan(&[ArrayType { dtype: Dtype::F64, shape: Shape::new([9]).unwrap() }]).unwrap();
        let partial = [plan.id().0.as_slice(), &bytes].concat();
        if let Ok(partial) = plan.partial_from_bytes(&partial) {
            let derived = fp_transform::Derived { arrays: Vec::new(), partial: Some(partial) };
            let _ = plan.finish(derived);
        }
    }
}

fn whole(dtype: Dtype, values: &[f64]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|value| crate::support::element(dtype, *value)).collect();
    Array::whole(dtype, Shape::new([values.len() as u64]).unwrap(), MemoryOrder::RowMajor, bytes).unwrap()
}

fn run(text: &str, inputs: &[Array]) -> Result<Vec<Array>, fp_transform::DeriveError> {
    let types: Vec<ArrayType> = inputs.iter().map(Array::array_type).collect();
    text.parse::<Derivation>().unwrap().plan(&types)?.run(inputs)
}

#[test]
fn what_does_not_fit_is_told() {
    use fp_transform::DeriveError::{Arity, DimensionCount, Elements, Empty, Shapes, SumTooLarge, Uncovered};
    let (line, short) = (whole(Dtype::F64, &[1.0, 2.0, 3.0]), whole(Dtype::F64, &[1.0]));
    let none = Array::new(Dtype::F64, Shape::new([0]).unwrap(), Vec::new()).unwrap();
    let texts =
        Block::new(Region::new([0], [1]).unwrap(), Dtype::String, MemoryOrder::RowMajor, vec![0]).unwrap();
    let texts = Array::new(Dtype::String, Shape::new([1]).unwrap(), vec![texts]).unwrap();
    let one = std::slice::from_ref(&line);
    assert!(matches!(run("a, b | compute(a+b)", &[line.clone(), short]), Err(Shapes { .. })));
    assert!(matches!(run("a, b | sum", &[line.clone(), line.clone()]), Err(Arity { .. })));
    assert!(matches!(run("a | stride(2, 2)", one), Err(DimensionCount { .. })));
    assert!(matches!(run("a | sum", &[texts]), Err(Elements { .. })));
    assert!(matches!(run("a | max", std::slice::from_ref(&none)), Err(Empty { .. })));
    assert!(matches!(run("a | mean", std::slice::from_ref(&none)), Err(Empty { .. })));
    assert_eq!(numbers(&run("a | sum", &[none]).unwrap()[0]), [0.0]);
    let large = whole(Dtype::U64, &[1.8e19, 1.8e19]);
    assert!(matches!(run("a | sum", &[large]), Err(SumTooLarge { .. })));
    let parts: Vec<Block> = line.blocks().to_vec();
    let half = Array::new(Dtype::F64, Shape::new([4]).unwrap(), parts).unwrap();
    let other = whole(Dtype::F64, &[0.0; 4]);
    assert!(matches!(run("a, b | compute(a+b)", &[other, half.clone()]), Err(Uncovered { .. })));
    let missing = run("a | average(4)", &[half]);
    assert!(matches!(missing, Err(Uncovered { .. })), "{missing:?}");
}

#[test]
fn complex_numbers_have_a_magnitude() {
    let parts: Vec<u8> = [3f32, 4.0, -5.0, 12.0].iter().flat_map(|part| part.to_ne_bytes()).collect();
    let shape = Shape::new([2]).unwrap();
    let array = Array::whole(Dtype::C32, shape, MemoryOrder::RowMajor, parts).unwrap();
    assert_eq!(numbers(&run("z | magnitude", &[array]).unwrap()[0]), [5.0, 13.0]);
}

#[test]
fn long_integers_are_not_rounded_on_the_way() {
    let bytes: Vec<u8> =
        [i64::MAX, i64::MAX, i64::MIN, i64::MIN, -3].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let array = Array::whole(Dtype::I64, Shape::new([5]).unwrap(), MemoryOrder::RowMajor, bytes).unwrap();
    let exact = |text: &str| {
        let bytes =
            run(text, std::slice::from_ref(&array)).unwrap()[0].assemble(MemoryOrder::RowMajor).unwrap();
        i64::from_ne_bytes(bytes.try_into().unwrap())
    };
    assert_eq!((exact("a | sum"), exact("a | max"), exact("a | min")), (-5, i64::MAX, i64::MIN));
}

#[test]
fn costs_are_known_before() {
    let types = [ArrayType { dtype: Dtype::F64, shape: Shape::new([100, 100]).unwrap() }; 3];
    let plan = |text: &str| text.parse::<Derivation>().unwrap().plan(&types).unwrap().len_bytes();
    assert_eq!(plan("x, y, z | magnitude"), (240_000, 80_000));
    assert_eq!(plan("x, y, z | magnitude | cast(f32) | stride(10, 10)"), (240_000, 400));
    assert_eq!(plan("x, y, z | magnitude | mean"), (240_000, 8));
}
