//! Registered functions that derivations call. What they give is the same however an array is cut. They get nothing but
//! copies, and what goes wrong is told.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{derive, drawn, element, numbers, points};
use fp_transform::{
    Array, ArrayType, Block, CallError, Derivation, DerivationDecodeError, DerivationPlan, DeriveError,
    ModuleCall, ModuleHash, Native, PoolError, Transforms,
};
use fp_types::record::ElementForm;
use fp_types::{Dtype, MemoryOrder, Region, Shape};
use proptest::prelude::*;

fn parsed(text: &str) -> Derivation {
    text.parse().unwrap()
}

/// The plan for one array of that type, or two, with all functions that the derivation calls.
fn planned(transforms: &Transforms, text: &str, of: ArrayType) -> DerivationPlan {
    let derivation = parsed(text);
    let plan = derivation.plan(&vec![of; derivation.inputs().len()]).unwrap();
    let called = derivation.functions().map(|call| call.name().to_owned());
    called.fold(plan, |plan, name| plan.with_function(&name, transforms.function(&name)))
}

fn registered(natives: impl IntoIterator<Item = Native>) -> Transforms {
    let transforms = Transforms::default();
    natives.into_iter().for_each(|native| transforms.register(native).unwrap());
    transforms
}

/// What a block says of itself: how many elements, the first, and their sum.
fn summary(inputs: &[&[f64]]) -> Vec<f64> {
    vec![inputs[0].len() as f64, inputs[0][0], inputs[0].iter().sum()]
}

fn functions() -> Transforms {
    registered([
        Native::elements("square", |inputs: &[&[f64]]| Ok(inputs[0].iter().map(|x| x * x).collect())),
        Native::elements("minus twice", |inputs: &[&[f64]]| {
            Ok(inputs[0].iter().zip(inputs[1]).map(|(a, b)| (a - 2.0 * b) as f32).collect())
        }),
        Native::elements("summary", |inputs: &[&[f64]]| Ok(summary(inputs))),
        // As an array: what it gets begins at 0. It gives two blocks, or what a scalar is if there is no room for two.
        Native::new("halves", |inputs: &[Array]| {
            let [array] = inputs else { return Err("several".into()) };
            let [block] = array.blocks() else { return Err("in parts".into()) };
            assert_eq!(block.region(), &Region::whole(array.shape()));
            let row_major = block.in_order(MemoryOrder::RowMajor)?;
            let (start, mut upper) = (*block.region().start(), *block.region().count());
            let (mut middle, mut lower) = (start, upper);
            (upper[0], middle[0]) = (upper[0] / 2, upper[0] / 2);
            lower[0] -= upper[0];
            let cut = row_major.bytes().len() / block.region().count()[0] as usize * upper[0] as usize;
            let (above, below) = row_major.bytes().split_at(cut);
            let part = |region: Region, bytes: &[u8]| {
                Block::new(region, array.dtype(), MemoryOrder::RowMajor, bytes.to_vec())
            };
            let parts =
                vec![part(Region::new(middle, lower)?, below)?, part(Region::new(start, upper)?, above)?];
            Ok(vec![Array::new(array.dtype(), *array.shape(), parts)?])
        }),
    ])
}

proptest! {
    #[test]
    fn any_cut_gives_what_the_definition_says(of in drawn(), other in drawn()) {
        let mut other = other;
        (other.dtype, other.shape) = (of.dtype, of.shape);
        other.values = of.values.iter().rev().copied().collect();
        let (transforms, input) = (functions(), ArrayType { dtype: of.dtype, shape: of.shape });
        let one = |text: &str| {
            let ranks = of.ranks(0).into_iter().map(|array| vec![array]).collect();
            numbers(&derive(&planned(&transforms, text, input), ranks)[0])
        };
        let squares: Vec<f64> = of.values.iter().map(|x| x * x).collect();
        prop_assert_eq!(one("a | cast(f64) | call(square) | scale(1, 0)"), squares);
        prop_assert_eq!(one("a | call(halves)"), of.values.clone());
        // Two arrays that are cut otherwise, in other orders: on one rank, as each holds all of both.
        let whole = |of: &crate::support::Drawn, turn| {
            let blocks = of.ranks(turn).iter().flat_map(|rank| rank.blocks().to_vec()).collect();
            let array = Array::new(of.dtype, of.shape, blocks).unwrap();
            let plan = parsed("a | cast(f64)").plan(&[input]).unwrap();
            plan.run(&[array]).unwrap().remove(0)
        };
        let doubles = ArrayType { dtype: Dtype::F64, shape: of.shape };
        let plan = planned(&transforms, "a, b | call(\"minus twice\", f32)", doubles);
        let wanted: Vec<f64> = of.values.iter().zip(&other.values).map(|(a, b)| a - 2.0 * b).collect();
        prop_assert_eq!(numbers(&derive(&plan, vec![vec![whole(&of, 0), whole(&other, 1)]])[0]), wanted);
    }

    #[test]
    fn rows_come_in_the_order_of_their_blocks(of in drawn()) {
        let input = ArrayType { dtype: of.dtype, shape: of.shape };
        let plan = planned(&functions(), "a | cast(f64) | call(summary, f64, 3)", input);
        let ranks = of.ranks(0);
        let mut blocks: Vec<&Block> = ranks.iter().flat_map(|rank| rank.blocks()).collect();
        let whole = Region::whole(&of.shape);
        blocks.sort_by_key(|block| whole.linear_offset(block.region().start(), MemoryOrder::RowMajor));
        let values = |block: &Block| {
            let inside = points(&Shape::new(*block.region().count()).unwrap());
            let place = |point: &Vec<u64>| -> Vec<u64> {
                point.iter().zip(block.region().start().iter()).map(|(p, start)| p + start).collect()
            };
            inside.iter().map(|point| of.at(&place(point))).collect::<Vec<f64>>()
        };
        let rows: Vec<f64> = blocks.iter().flat_map(|block| summary(&[&values(block)])).collect();
        let found = derive(&plan, ranks.iter().map(|array| vec![array.clone()]).collect());
        prop_assert_eq!(found[0].shape(), &Shape::new([blocks.len() as u64, 3]).unwrap());
        prop_assert_eq!(numbers(&found[0]), rows);
    }

    #[test]
    fn hostile_calls_are_errors(bytes in proptest::collection::vec(any::<u8>(), 0..80), at in any::<prop::sample::Index>()) {
        let mut encoded = parsed("a | call(\"f (x)\", f32) | call(g, f64, 2, 3) | lz4").to_bytes();
        let at = at.index(encoded.len());
        encoded[at] = encoded[at].wrapping_add(bytes.first().copied().unwrap_or(0));
        for bytes in [&encoded[..], &encoded[..at], &[&encoded[..at], &bytes[..]].concat()] {
            if let Ok(read) = Derivation::from_bytes(bytes) {
                prop_assert_eq!(read.to_bytes(), bytes);
                let written = read.to_string().parse::<Derivation>();
                let is_writable = read.inputs().iter().all(|name| !name.contains('"'));
                prop_assert!(!is_writable || written == Ok(read));
            }
        }
    }
}

#[test]
fn calls_are_told_from_modules_and_by_all_that_is_said_of_them() {
    let built = |call| Derivation::of(["a"]).unwrap().module(call).unwrap();
    let call = built(ModuleCall::registered("drift").with_dtype(Dtype::F64).with_rows([2]));
    let same = parsed(" a|call( drift,f64 , 2)");
    assert_eq!((same.id(), same.to_bytes()), (call.id(), call.to_bytes()));
    assert_eq!(Derivation::from_bytes(&call.to_bytes()), Ok(call.clone()));
    assert_eq!(parsed("a | call(\"drift\", f64, 2)").id(), call.id(), "quotes are no part of a name");
    let others = ["a | module(drift, f64, 2)", "a | call(drift, f64)", "a | call(drif, f64, 2)"];
    assert!(others.iter().all(|text| parsed(text).id() != call.id()));
    // What is registered needs no module, whatever it is called.
    let named = parsed(&format!("a | call({}) | call(m) | module(m)", "0".repeat(64)));
    let hash = ModuleHash::of(b"code");
    let known = named.with_modules(|name| (name == "m").then_some(hash)).unwrap();
    assert_eq!(known.modules().map(ModuleCall::hash).collect::<Vec<_>>(), [Some(hash)]);
    assert_eq!(
        known.functions().map(|call| (call.name().len(), call.hash())).collect::<Vec<_>>(),
        [(64, None), (1, None)]
    );
    assert_eq!(Derivation::from_bytes(&known.to_bytes()).unwrap().to_bytes(), known.to_bytes());
}

#[test]
fn names_that_nobody_can_register_are_refused_in_every_form() {
    for name in ["", "a/b", " a", "a\"b", "a\nb", &"n".repeat(256)] {
        let refused = Derivation::of(["a"]).unwrap().module(ModuleCall::registered(name));
        assert!(matches!(refused, Err(DeriveError::Setting { .. })), "{name:?}");
        let mut bytes = vec![1, 1, 1, 0, b'a', 1, 10, 2];
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend([0, 0, 0]);
        let read = Derivation::from_bytes(&bytes);
        assert!(matches!(read, Err(DerivationDecodeError::Refused(DeriveError::Setting { .. }))), "{name:?}");
    }
    let strings =
        Derivation::of(["a"]).unwrap().module(ModuleCall::registered("f").with_dtype(Dtype::String));
    assert!(matches!(strings, Err(DeriveError::Setting { .. })));
}

const SHAPE: [u64; 2] = [2, 3];

/// One block by columns of two rows, of six from 1 on.
fn array() -> Array {
    let bytes: Vec<u8> =
        [1.0, 4.0, 2.0, 5.0, 3.0, 6.0].iter().flat_map(|&x| element(Dtype::F64, x)).collect();
    Array::whole(Dtype::F64, Shape::new(SHAPE).unwrap(), MemoryOrder::ColumnMajor, bytes).unwrap()
}

fn run(transforms: &Transforms, text: &str) -> Result<Vec<Array>, DeriveError> {
    planned(transforms, text, array().array_type()).run(&[array()])
}

#[test]
fn a_row_lies_as_it_was_given_whatever_the_block_does() {
    let given = |inputs: &[&[f64]]| Ok(inputs[0].to_vec());
    let transforms = registered([Native::elements("given", given)]);
    let rows = run(&transforms, "a | call(given, f64, 2, 3)").unwrap();
    assert_eq!(rows[0].shape(), &Shape::new([1, 2, 3]).unwrap());
    assert_eq!(numbers(&rows[0]), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0], "in the order of the block, by rows");
    assert_eq!(numbers(&run(&transforms, "a | call(given)").unwrap()[0]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn what_goes_wrong_is_told() {
    let transforms = registered([
        Native::elements("short", |_: &[&[f64]]| Ok(vec![1.0])),
        Native::elements("floats", |inputs: &[&[f64]]| Ok(inputs[0].iter().map(|&x| x as f32).collect())),
        Native::elements("of floats", |inputs: &[&[f32]]| Ok(inputs[0].to_vec())),
        Native::elements("fails", |_: &[&[f64]]| -> Result<Vec<f64>, _> { Err("no good numbers".into()) }),
        Native::elements("panics", |_: &[&[f64]]| -> Result<Vec<f64>, _> { panic!("at six") }),
        Native::new("two", |inputs| Ok(vec![inputs[0].clone(), inputs[0].clone()])),
        Native::new("none", |_| Ok(Vec::new())),
        Native::new("holes", |inputs| Ok(vec![Array::new(Dtype::F64, *inputs[0].shape(), Vec::new())?])),
    ]);
    let told = |text: &str| run(&transforms, text).expect_err(text).to_string();
    let gave = |name: &str, what: &str| format!("transform {name:?} gave {what} was asked for");
    assert_eq!(told("a | call(short)"), gave("short", "f64 [0:1], 8 bytes, where f64 [0:2, 0:3]"));
    assert_eq!(told("a | call(short, f64, 2)"), gave("short", "f64 [0:1], 8 bytes, where 2 of f64"));
    assert_eq!(told("a | call(floats)"), gave("floats", "f32 [0:2, 0:3], 24 bytes, where f64 [0:2, 0:3]"));
    assert!(run(&transforms, "a | call(floats, f32)").is_ok());
    assert_eq!(
        told("a | call(\"of floats\")"),
        "transform \"of floats\": it takes elements of type f32, and these are f64"
    );
    assert_eq!(told("a | call(fails)"), "transform \"fails\": no good numbers");
    assert_eq!(told("a | call(panics)"), "transform \"panics\": it panicked: at six");
    assert_eq!(told("a | call(two)"), gave("two", "2 arrays, where one"));
    assert_eq!(told("a | call(none)"), gave("none", "0 arrays, where one"));
    assert!(told("a | call(holes)").contains("not all elements"));
    assert_eq!(told("a | call(nobody)"), "no transform is called \"nobody\"");
    let without = parsed("a | call(short)").plan(&[array().array_type()]).unwrap().run(&[array()]);
    assert_eq!(without, Err(DeriveError::NoFunction { name: "short".into() }));
    assert_eq!(transforms.measured("panics").map(|measured| measured.failed), Some(1));
}

#[test]
fn a_call_ends_when_the_shorter_limit_does() {
    let (hold, held) = channel::<()>();
    let held = Mutex::new(held);
    let stuck = move |inputs: &[&[f64]]| {
        let _ = held.lock().map(|held| held.recv());
        Ok(inputs[0].to_vec())
    };
    let transforms = registered([Native::elements("stuck", stuck)]);
    let limit = Duration::from_millis(30);
    let patience = Duration::from_secs(20);
    let derivation = parsed("a | call(stuck)");
    let call = || {
        let plan = derivation.plan(&[array().array_type()]).unwrap();
        let function = transforms.function_within("stuck", patience, limit);
        plan.with_function("stuck", function).run(&[array()]).unwrap_err()
    };
    let overrun = CallError::Pool { name: "stuck".into(), source: PoolError::Overrun { limit } };
    assert_eq!(call(), overrun.clone().into());
    assert_eq!(call(), overrun.into());
    assert_eq!(call(), CallError::Refused { name: "stuck".into(), overruns: 2 }.into());
    drop(hold);
}

#[test]
fn who_finds_no_thread_says_so_after_the_time_for_that() {
    let ((hold, held), (begun, begins)) = (channel::<()>(), channel::<()>());
    let held = Mutex::new((held, begun));
    let busy = move |inputs: &[&[f64]]| {
        if let Ok(held) = held.lock() {
            let _ = held.1.send(());
            let _ = held.0.recv();
        }
        Ok(inputs[0].to_vec())
    };
    let transforms = Transforms::new(&fp_transform::TransformOptions::default().with_threads(1));
    transforms.register(Native::elements("busy", busy)).unwrap();
    transforms.register(Native::elements("idle", |inputs: &[&[f64]]| Ok(inputs[0].to_vec()))).unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| run(&transforms, "a | call(busy)"));
        begins.recv().unwrap();
        let (waited, limit) = (Duration::from_millis(20), Duration::from_secs(20));
        let plan = parsed("a | call(idle)").plan(&[array().array_type()]).unwrap();
        let plan = plan.with_function("idle", transforms.function_within("idle", waited, limit));
        let refused = CallError::Pool { name: "idle".into(), source: PoolError::Busy { waited } };
        assert_eq!(plan.run(&[array()]), Err(refused.into()));
        drop(hold);
        assert!(first.join().unwrap().is_ok());
    });
}

#[test]
fn what_a_function_keeps_is_its_own() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeper = kept.clone();
    let keeps = move |inputs: &[Array]| {
        keeper.lock().unwrap().push(inputs[0].clone());
        Ok(inputs.to_vec())
    };
    let transforms = registered([Native::new("keeps", keeps)]);
    let (region, form) = (Region::new([0], [3]).unwrap(), ElementForm::native(Dtype::U8));
    let bytes = Arc::new(vec![1u8, 2, 3]);
    let block = Block::shared(region, form, MemoryOrder::RowMajor, bytes.clone()).unwrap();
    let input = Array::new(Dtype::U8, Shape::new([3]).unwrap(), vec![block]).unwrap();
    let plan = planned(&transforms, "a | call(keeps)", input.array_type());
    let given = plan.run(&[input]).unwrap();
    assert_eq!(numbers(&given[0]), [1.0, 2.0, 3.0]);
    assert_eq!((kept.lock().unwrap().len(), Arc::strong_count(&bytes)), (1, 1));
}
