//! Slices, places of extremes, comparisons and relations of two variables, against what they are by definition. Single
//! numbers among arrays. The bytes of every operation.

use crate::support::{Drawn, derive, drawn, numbers, points};
use fp_transform::{Array, ArrayType, Derivation, DeriveError};
use fp_types::{Dtype, MemoryOrder, Shape};
use proptest::prelude::*;

fn type_of(of: &Drawn) -> ArrayType {
    ArrayType { dtype: of.dtype, shape: of.shape }
}

/// Derives from two arrays that every rank has cut alike; and on one rank, from blocks that are cut otherwise.
fn of_two(text: &str, a: &Drawn, b: &Drawn) -> [Array; 2] {
    let plan = text.parse::<Derivation>().unwrap().plan(&[type_of(a), type_of(b)]).unwrap();
    let ranks = a.ranks(0).into_iter().zip(b.ranks(0)).map(|(a, b)| vec![a, b]).collect();
    let on_one = |of: &Drawn, turn| {
        let blocks = of.ranks(turn).iter().flat_map(|array| array.blocks().to_vec()).collect();
        Array::new(of.dtype, of.shape, blocks).unwrap()
    };
    let of_ranks = derive(&plan, ranks).remove(0);
    let of_one = derive(&plan, vec![vec![on_one(a, 1), on_one(b, 0)]]).remove(0);
    [of_ranks, of_one]
}

/// Another variable of that shape, in another type.
fn other(of: &Drawn, dtype: Dtype, factor: u64) -> Drawn {
    let values = (0..of.values.len() as u64).map(|at| (at * factor % 83) as f64).collect();
    Drawn { dtype, values, ..of.clone() }
}

fn bytes(array: &Array) -> Vec<u8> {
    array.assemble(MemoryOrder::RowMajor).unwrap()
}

/// Covariance by integers, which no order changes: values are small and whole.
fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let sum = |of: &[f64]| of.iter().map(|x| *x as i128).sum::<i128>();
    let products: i128 = a.iter().zip(b).map(|(a, b)| *a as i128 * *b as i128).sum();
    let count = a.len() as i128;
    (count * products - sum(a) * sum(b)) as f64 / count as f64 / count as f64
}

proptest! {
    #[test]
    fn slices_have_what_selections_have(
        of in drawn(), choices in proptest::collection::vec((0u64..10, 0u64..10, 1u64..4), 3),
    ) {
        let dims = of.shape.dims();
        let limits: Vec<(u64, u64, u64)> = dims.iter().zip(&choices).map(|(extent, (a, b, step))| {
            let (a, b) = (a % (extent + 1), b % (extent + 1));
            (a.min(b), a.max(b), *step)
        }).collect();
        let text: Vec<String> = limits.iter().zip(dims.iter()).map(|((start, end, step), extent)| match step {
            1 if end == extent => format!("{start}:"),
            _ => format!("{start}:{end}:{step}"),
        }).collect();
        let taken = |at: u64, (start, end, step): (u64, u64, u64)| at >= start && at < end && (at - start).is_multiple_of(step);
        let wanted: Vec<f64> = points(&of.shape).iter()
            .filter(|point| point.iter().zip(&limits).all(|(at, limits)| taken(*at, *limits)))
            .map(|point| of.at(point)).collect();
        let got = of.derive(&format!("T | slice({})", text.join(", "))).remove(0);
        let extents: Vec<u64> = limits.iter().map(|(start, end, step)| (end - start).div_ceil(*step)).collect();
        prop_assert_eq!(got.shape().dims().as_slice(), &extents[..]);
        prop_assert_eq!(numbers(&got), wanted.clone());
        // What follows counts from the slice's own first element.
        if !wanted.is_empty() {
            let greatest = wanted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let place = wanted.iter().position(|value| *value == greatest).unwrap();
            let found = of.derive(&format!("T | slice({}) | argmax", text.join(", ")));
            prop_assert_eq!((numbers(&found[0])[0], numbers(&found[1])[0]), (place as f64, greatest));
        }
    }

    #[test]
    fn the_last_elements_are_counted_from_the_end(of in drawn()) {
        let single = vec!["-1"; of.shape.ndims()].join(", ");
        let got = of.derive(&format!("T | slice({single})")).remove(0);
        prop_assert_eq!(got.shape().dims().as_slice(), &vec![1; of.shape.ndims()][..]);
        prop_assert_eq!(numbers(&got), vec![*of.values.last().unwrap()]);
    }

    /// Few different values: most extremes are there several times.
    #[test]
    fn extremes_are_found_where_they_are_first(of in drawn(), few in 1u64..4) {
        let mut of = of;
        of.values.iter_mut().for_each(|value| *value = (*value).abs() % few as f64);
        let by = |text: &str| {
            let found = of.derive(text);
            (numbers(&found[0])[0] as usize, numbers(&found[1])[0])
        };
        let first = |wanted: f64| (of.values.iter().position(|value| *value == wanted).unwrap(), wanted);
        prop_assert_eq!(by("T | argmin"), first(of.values.iter().copied().fold(f64::INFINITY, f64::min)));
        prop_assert_eq!(by("T | argmax"), first(of.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
    }

    #[test]
    fn comparisons_count_what_they_find(of in drawn(), threshold in -60..110i32) {
        let limit = f64::from(threshold);
        type Compares = fn(&f64, &f64) -> bool;
        let signs: [(&str, Compares); 4] =
            [(">", |a, b| a > b), (">=", |a, b| a >= b), ("<", |a, b| a < b), ("<=", |a, b| a <= b)];
        for (sign, compares) in signs {
            let one = |name: &str| {
                let array = of.derive(&format!("T | {name}({sign} {threshold})")).remove(0);
                (array.dtype(), bytes(&array))
            };
            let holds = of.values.iter().filter(|value| compares(value, &limit)).count();
            prop_assert_eq!(one("count"), (Dtype::U64, (holds as u64).to_ne_bytes().to_vec()));
            prop_assert_eq!(one("any"), (Dtype::Bool, vec![u8::from(holds > 0)]));
            prop_assert_eq!(one("all"), (Dtype::Bool, vec![u8::from(holds == of.values.len())]));
        }
    }

    #[test]
    fn two_variables_are_brought_together(of in drawn(), factor in 1u64..90, bins in (1u32..7, 1u32..7)) {
        let with = other(&of, Dtype::I16, factor);
        for array in of_two("a, b | covariance", &of, &with) {
            prop_assert_eq!(numbers(&array), vec![covariance(&of.values, &with.values)]);
        }
        for array in of_two("a, b | covariance", &of, &of) {
            prop_assert_eq!(bytes(&array), bytes(&of.derive("T | variance")[0]), "with itself it is the variance");
        }
        let place = |value: f64, low: f64, high: f64, bins: u32| match value {
            _ if value < low => bins as usize,
            _ if value > high => bins as usize + 1,
            _ => {
                let end = |bin: &u32| low + (high - low) * (f64::from(*bin) / f64::from(bins));
                (1..bins).filter(|bin| value >= end(bin)).count()
            }
        };
        let width = bins.1 as usize + 3;
        let mut counts = vec![0.0; (bins.0 as usize + 3) * width];
        for (a, b) in of.values.iter().zip(&with.values) {
            counts[place(*a, -20.0, 30.0, bins.0) * width + place(*b, 10.0, 60.0, bins.1)] += 1.0;
        }
        let text = format!("a, b | histogram2d(-20, 30, {}, 10, 60, {})", bins.0, bins.1);
        for array in of_two(&text, &of, &with) {
            prop_assert_eq!(array.shape().dims().as_slice(), &[u64::from(bins.0) + 3, width as u64]);
            prop_assert_eq!(numbers(&array), counts.clone());
        }
    }

    /// Numbers of all sizes, infinite, NaN and either zero: no cut may change a bit.
    #[test]
    fn no_cut_changes_a_bit(
        of in drawn(), wild in proptest::collection::vec(any_number(), 1..40), double in any::<bool>(),
    ) {
        let mut of = of;
        of.dtype = if double { Dtype::F64 } else { Dtype::F32 };
        of.values.iter_mut().zip(wild.iter().cycle()).for_each(|(value, wild)| {
            *value = if double { *wild } else { f64::from(*wild as f32) };
        });
        for operation in ["argmin", "argmax", "count(> 0)", "any(< 0)", "all(<= 1e300)"] {
            let plan = format!("T | {operation}").parse::<Derivation>().unwrap().plan(&[type_of(&of)]).unwrap();
            let cut = |turn| {
                let ranks = of.ranks(turn).into_iter().map(|array| vec![array]).collect();
                derive(&plan, ranks).iter().map(bytes).collect::<Vec<_>>()
            };
            let whole = cut(of.choices.len());
            prop_assert!((0..2).all(|turn| cut(turn) == whole), "{}", operation);
        }
        let mut with = of.clone();
        with.values.rotate_left(1);
        for text in ["a, b | covariance", "a, b | histogram2d(-1e10, 1e10, 3, -1, 1, 4)"] {
            let [one, other] = of_two(text, &of, &with).map(|array| bytes(&array));
            let (whole, is_nan) = (Drawn { choices: Vec::new(), ranks: 1, ..of.clone() }, |of: &[u8]| {
                text.ends_with("covariance") && f64::from_ne_bytes(of.try_into().unwrap()).is_nan()
            });
            let [uncut, _] = of_two(text, &whole, &Drawn { choices: Vec::new(), ranks: 1, ..with.clone() }).map(|of| bytes(&of));
            prop_assert!(one == other && other == uncut || [&one, &other, &uncut].iter().all(|of| is_nan(of)), "{}", text);
        }
    }

    /// The place of a NaN is found, as the extreme with one is NaN; -0 lies before 0.
    #[test]
    fn extremes_agree_with_min_and_max(of in drawn(), wild in proptest::collection::vec(any_number(), 1..9)) {
        let mut of = Drawn { dtype: Dtype::F64, ..of };
        of.values.iter_mut().zip(wild.iter().cycle()).for_each(|(value, wild)| *value = *wild);
        for (locate, extreme) in [("T | argmin", "T | min"), ("T | argmax", "T | max")] {
            let found = of.derive(locate);
            let (place, value) = (numbers(&found[0])[0] as usize, numbers(&found[1])[0]);
            let greatest = numbers(&of.derive(extreme)[0])[0];
            let is_it = |other: &f64| other.to_bits() == greatest.to_bits() || other.is_nan() && greatest.is_nan();
            prop_assert!(value.to_bits() == greatest.to_bits() || value.is_nan() && greatest.is_nan());
            prop_assert_eq!(of.values.iter().position(is_it), Some(place));
        }
    }

    /// A number of its own beside arrays, and before them.
    #[test]
    fn single_numbers_go_with_every_element(of in drawn(), number in -40i32..40) {
        let number = f64::from(number);
        let scalar = Drawn {
            dtype: Dtype::F32, shape: Shape::scalar(), values: vec![number], choices: Vec::new(), ranks: 1,
        };
        let value = || Array::whole(Dtype::F32, Shape::scalar(), MemoryOrder::RowMajor, (number as f32).to_ne_bytes()).unwrap();
        let run = |text: &str, is_first: bool| {
            let types = [type_of(&scalar), type_of(&of)];
            let types = if is_first { types } else { [types[1], types[0]] };
            let plan = text.parse::<Derivation>().unwrap().plan(&types).unwrap();
            let pair = |array| if is_first { vec![value(), array] } else { vec![array, value()] };
            numbers(&derive(&plan, of.ranks(0).into_iter().map(pair).collect())[0])
        };
        let wanted: Vec<f64> = of.values.iter().map(|value| value * 2.0 - number).collect();
        prop_assert_eq!(run("t, T | compute(T * 2 - t)", true), wanted.clone());
        prop_assert_eq!(run("T, t | compute(T * 2 - t)", false), wanted.clone());
        let greatest = wanted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert_eq!(run("t, T | compute(T * 2 - t) | max", true), vec![greatest]);
    }
}

fn any_number() -> impl Strategy<Value = f64> {
    let special = prop::sample::select(&[0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0][..]);
    prop_oneof![any::<f64>(), special.clone(), special]
}

fn line(dtype: Dtype, values: &[f64]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|value| crate::support::element(dtype, *value)).collect();
    Array::whole(dtype, Shape::new([values.len() as u64]).unwrap(), MemoryOrder::RowMajor, bytes).unwrap()
}

fn run(text: &str, inputs: &[Array]) -> Result<Vec<Array>, DeriveError> {
    let types: Vec<ArrayType> = inputs.iter().map(Array::array_type).collect();
    text.parse::<Derivation>().unwrap().plan(&types)?.run(inputs)
}

#[test]
fn nothing_has_no_extreme_and_compares_as_nothing_does() {
    let none = [line(Dtype::F64, &[]), line(Dtype::F64, &[])];
    for text in ["T | argmin", "T | argmax"] {
        assert!(matches!(run(text, &none[..1]), Err(DeriveError::Empty { .. })), "{text}");
    }
    assert!(matches!(run("a, b | covariance", &none), Err(DeriveError::Empty { .. })));
    let one = |text: &str| bytes(&run(text, &none[..1]).unwrap()[0]);
    assert_eq!(
        (one("T | count(> 0)"), one("T | any(> 0)"), one("T | all(> 0)")),
        (vec![0; 8], vec![0], vec![1])
    );
    assert_eq!(numbers(&run("a, b | histogram2d(0, 1, 1, 0, 1, 1)", &none).unwrap()[0]), [0.0; 16]);
    assert_eq!(numbers(&run("T | slice(0:0)", &none[..1]).unwrap()[0]), [0.0; 0]);
}

#[test]
fn nan_compares_with_nothing_and_is_counted_apart() {
    let array = line(Dtype::F32, &[f64::NAN, 3.0]);
    let one = |text: &str| bytes(&run(text, std::slice::from_ref(&array)).unwrap()[0]);
    assert_eq!(one("T | count(<= 3)"), 1u64.to_ne_bytes());
    assert_eq!((one("T | any(> 3)"), one("T | all(<= 3)")), (vec![0], vec![0]));
    let both = run("a, b | histogram2d(0, 4, 1, 0, 4, 1)", &[array.clone(), array.clone()]).unwrap();
    let counts = numbers(&both[0]);
    assert_eq!((counts[0], counts[15], counts.iter().sum::<f64>()), (1.0, 1.0, 2.0));
    assert!(numbers(&run("a, b | covariance", &[array.clone(), array]).unwrap()[0])[0].is_nan());
}

#[test]
fn long_integers_are_not_rounded_in_products() {
    let long = |values: &[i64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        Array::whole(Dtype::I64, Shape::new([values.len() as u64]).unwrap(), MemoryOrder::RowMajor, bytes)
            .unwrap()
    };
    let (a, b) = (long(&[i64::MAX, i64::MAX - 4]), long(&[i64::MIN, i64::MIN + 2]));
    assert_eq!(numbers(&run("a, b | covariance", &[a.clone(), b.clone()]).unwrap()[0]), [-2.0]);
    let found = run("a | argmin", std::slice::from_ref(&a)).unwrap();
    assert_eq!(bytes(&found[1]), (i64::MAX - 4).to_ne_bytes());
}

#[test]
fn what_does_not_fit_is_told_with_values() {
    let (four, three) = (line(Dtype::F64, &[1.0; 4]), line(Dtype::F64, &[1.0; 3]));
    let told = |text: &str, inputs: &[Array]| run(text, inputs).expect_err(text).to_string();
    for text in ["a, b | covariance", "a, b | histogram2d(0.0, 1.0, 2, 0.0, 1.0, 2)"] {
        let shapes = told(text, &[four.clone(), three.clone()]);
        let wanted = "arrays of shapes [4] and [3] are not brought together element by element; `slice` takes parts of one shape";
        assert_eq!(shapes, format!("{}: {wanted}", &text[7..]));
        let alone = told(&text.replace(", b", ""), std::slice::from_ref(&four));
        assert_eq!(alone, format!("{} takes two, not 1 arrays", &text[7..]));
    }
    assert_eq!(
        told("a | slice(2:9)", std::slice::from_ref(&four)),
        "slice(2:9) of an array of shape [4]: dimension 0: 2:9 (start 2, count 7) reaches past the extent 4; `:` is all of a dimension, and -1 its last element"
    );
    let dims = told("a | slice(:, 1)", std::slice::from_ref(&four));
    assert!(dims.contains("the selection has 2 dimensions, but the array is of shape [4]"), "{dims}");
}

/// A peer of another version reads the same: what stands here never changes.
#[test]
fn operations_have_their_bytes_for_good() {
    let golden = [
        ("a | cast(f32)", "010101006101010b00"),
        ("a | slice(0:10, ::2, -1)", "0101010061010b0f005b303a31302c203a3a322c202d315d00"),
        ("a | argmin", "0101010061010c0000"),
        ("a | argmax", "0101010061010c0100"),
        ("a | count(> 1.0)", "010101006101080600000000000000f03f00"),
        ("a | any(>= 1.0)", "010101006101080701000000000000f03f00"),
        ("a | all(< 1.0)", "010101006101080802000000000000f03f00"),
        ("a | points(<= 1.0)", "0101010061010903000000000000f03f00"),
        ("a | histogram(0.0, 1.0, 3)", "01010100610108050000000000000000000000000000f03f0300000000"),
        ("a, b | covariance", "0102010061010062010d0000"),
        (
            "a, b | histogram2d(0.0, 1.0, 3, 1.0, 2.0, 4)",
            "0102010061010062010d010000000000000000000000000000f03f03000000000000000000f03f00000000000000400400000000",
        ),
        (
            "a | stride(2, 3) | average(4, 5)",
            "01010100610204020200000000000000030000000000000005020400000000000000050000000000000000",
        ),
        (
            "a, b | compute(a+b) | scale(2.0, 1.0) | order(column) | magnitude | variance | lz4",
            "010201006101006205070300612b62020000000000000040000000000000f03f030106080401",
        ),
        ("a | module(m, f64, 3) | pco", "0101010061010a0001006d0c0101030000000000000002"),
        ("a | call(f) | bounded(0.5)", "0101010061010a02010066000003000000000000e03f"),
    ];
    let hex = |of: &Derivation| of.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let read = |text: &str| text.parse::<Derivation>().unwrap();
    let now: Vec<(&str, String)> = golden.iter().map(|(text, _)| (*text, hex(&read(text)))).collect();
    let wanted: Vec<(&str, String)> = golden.iter().map(|(text, hex)| (*text, (*hex).to_owned())).collect();
    assert_eq!(now, wanted);
    for (text, _) in golden {
        assert_eq!(Derivation::from_bytes(&read(text).to_bytes()), Ok(read(text)));
    }
}
