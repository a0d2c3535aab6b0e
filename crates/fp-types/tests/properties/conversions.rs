//! Conversions of elements and arrays against one number at a time.

use fp_types::MemoryOrder::{self, ColumnMajor, RowMajor};
use fp_types::record::{ArrayConversion, ByteOrder, ElementConversion, ElementForm, Loss};
use fp_types::{Dtype, Shape};
use half::{bf16, f16};
use proptest::prelude::*;

const NUMBERS: &[Dtype] = &[
    Dtype::I8,
    Dtype::I16,
    Dtype::I32,
    Dtype::I64,
    Dtype::U8,
    Dtype::U16,
    Dtype::U32,
    Dtype::U64,
    Dtype::F16,
    Dtype::BF16,
    Dtype::F32,
    Dtype::F64,
];
const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// A small number in any form.
fn bytes_of(number: i8, form: ElementForm) -> Vec<u8> {
    let real = f64::from(number);
    let mut bytes = match form.dtype {
        Dtype::I8 | Dtype::U8 => vec![number as u8],
        Dtype::I16 | Dtype::U16 => (i16::from(number) as u16).to_le_bytes().to_vec(),
        Dtype::I32 | Dtype::U32 => (i32::from(number) as u32).to_le_bytes().to_vec(),
        Dtype::I64 | Dtype::U64 => (i64::from(number) as u64).to_le_bytes().to_vec(),
        Dtype::F16 => f16::from_f64(real).to_le_bytes().to_vec(),
        Dtype::BF16 => bf16::from_f64(real).to_le_bytes().to_vec(),
        Dtype::F32 => (real as f32).to_le_bytes().to_vec(),
        Dtype::F64 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => {
            real.to_le_bytes().to_vec()
        }
    };
    if form.byte_order == ByteOrder::Big {
        bytes.reverse();
    }
    bytes
}

fn forms() -> impl Iterator<Item = ElementForm> {
    NUMBERS.iter().flat_map(|&dtype| ORDERS.map(|byte_order| ElementForm { dtype, byte_order }))
}

#[test]
fn every_form_becomes_every_other() {
    // More numbers than a tile has, so that its border is crossed.
    let numbers = || (0..1100).map(|number| (number % 128) as i8);
    for (from, to) in forms().flat_map(|from| forms().map(move |to| (from, to))) {
        let source: Vec<u8> = numbers().flat_map(|number| bytes_of(number, from)).collect();
        let wanted: Vec<u8> = numbers().flat_map(|number| bytes_of(number, to)).collect();
        let mut found = vec![0; wanted.len()];
        ElementConversion::new(from, to, Loss::Allowed).unwrap().run(&source, &mut found).unwrap();
        assert_eq!(found, wanted, "{from:?} to {to:?}");
    }
}

/// All values of a type of two bytes at most, as `f64`.
fn as_reals(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    let mut reals = vec![0; bytes.len() / dtype.size_bytes().unwrap() * 8];
    let (from, to) = (ElementForm::native(dtype), ElementForm::native(Dtype::F64));
    ElementConversion::new(from, to, Loss::Allowed).unwrap().run(bytes, &mut reals).unwrap();
    reals.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
}

#[test]
fn what_is_called_lossless_loses_nothing() {
    let shorts: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
    let short = |dtype: &&Dtype| dtype.size_bytes().unwrap() <= 2;
    let mut found = 0;
    for (&from, &to) in NUMBERS.iter().filter(short).flat_map(|from| NUMBERS.iter().map(move |to| (from, to)))
    {
        let forms = (ElementForm::native(from), ElementForm::native(to));
        let Ok(conversion) = ElementConversion::new(forms.0, forms.1, Loss::Refused) else { continue };
        found += 1;
        let count = shorts.len() / from.size_bytes().unwrap();
        let mut converted = vec![0; count * to.size_bytes().unwrap()];
        conversion.run(&shorts, &mut converted).unwrap();
        let (before, after) = (as_reals(from, &shorts), as_reals(to, &converted));
        let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
        assert!(before.iter().zip(&after).all(same), "{from} to {to}");
    }
    // i8: 4 integers and 4 reals; i16: 3 and 2; u8: 4, 3 and 4; u16: 3, 2 and 2; f16: 3; bf16: 3.
    assert_eq!(found, 8 + 5 + 11 + 7 + 3 + 3);
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let (from, to) = (ElementForm::native(Dtype::F64), ElementForm::native(Dtype::F32));
    let conversion = ElementConversion::new(from, to, Loss::Allowed).unwrap();
    for (source, destination) in [(7, 4), (8, 5), (16, 4), (0, 4)] {
        let refused = conversion.run(&vec![0; source], &mut vec![0; destination]);
        assert!(refused.is_err(), "{source} to {destination}");
    }
    assert!(ElementConversion::new(from, to, Loss::Refused).is_err());
    assert!(ElementConversion::new(from, ElementForm::native(Dtype::C64), Loss::Allowed).is_err());
    assert!(ElementConversion::new(from, ElementForm::native(Dtype::String), Loss::Allowed).is_err());
}

/// Where an element lies, counted in elements.
fn place(index: &[u64], shape: &[u64], order: MemoryOrder) -> usize {
    let along = |place: u64, dim: usize| place * shape[dim] + index[dim];
    let place = match order {
        RowMajor => (0..shape.len()).fold(0, along),
        ColumnMajor => (0..shape.len()).rev().fold(0, along),
    };
    place as usize
}

fn order() -> impl Strategy<Value = MemoryOrder> {
    prop_oneof![Just(RowMajor), Just(ColumnMajor)]
}

fn form() -> impl Strategy<Value = ElementForm> {
    let byte_order = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
    (prop::sample::select(NUMBERS), byte_order)
        .prop_map(|(dtype, byte_order)| ElementForm { dtype, byte_order })
}

proptest! {
    #[test]
    fn arrays_arrive_element_by_element(
        lens in prop::collection::vec(0u64..12, 0..4), from in form(), to in form(), a in order(), b in order(),
    ) {
        let shape = Shape::new(fp_types::Dims::from_slice(&lens).unwrap()).unwrap();
        let count = shape.element_count() as usize;
        let (from_size, to_size) = (from.dtype.size_bytes().unwrap(), to.dtype.size_bytes().unwrap());
        let (mut source, mut wanted) = (vec![0; count * from_size], vec![0; count * to_size]);
        for number in 0..count as u64 {
            let mut rest = number;
            let index: Vec<u64> = lens.iter().map(|len| { let at = rest % len; rest /= len; at }).collect();
            let (at, to_at, value) = (place(&index, &lens, a), place(&index, &lens, b), (number % 127) as i8);
            source[at * from_size..][..from_size].copy_from_slice(&bytes_of(value, from));
            wanted[to_at * to_size..][..to_size].copy_from_slice(&bytes_of(value, to));
        }
        let conversion = ArrayConversion::new((from, a), (to, b), Loss::Allowed).unwrap();
        let mut found = vec![0; count * to_size];
        conversion.run(&shape, &source, &mut found).unwrap();
        prop_assert_eq!(&found, &wanted);
        prop_assert!(!conversion.is_identity(&shape) || source == wanted);
        prop_assert!(conversion.run(&shape, &source, &mut vec![0; count * to_size + 1]).is_err());
    }
}
