//! Records that have each field at the same place: read straight from there, and in the general way.

use std::fmt::Debug;

use fp_derive::Record;
use fp_types::Dtype;
use fp_types::record::{
    ElementTarget, ElementValue, EncodeError, FieldElement, PlainForm, Record, RecordReadError, Records,
    Value, decode_records, encode_records, plain_number,
};

use crate::{Corner, Mesh, Phase};

/// In memory as Rust likes it; in records in this order, with gaps.
#[derive(Record, Debug)]
#[record(crate = fp_types)]
struct Numbers {
    a: u8,
    b: i64,
    c: f32,
    d: u16,
    e: f64,
    f: i8,
}

#[derive(Record, Debug)]
#[record(crate = fp_types)]
#[repr(i8)]
enum Sign {
    Minus = -1,
    Zero,
    Plus,
}

#[derive(Record, Debug)]
#[record(crate = fp_types)]
#[repr(u64)]
enum Wide {
    Two = 2,
    Far = 0x0101_0101_0101_0101,
}

#[derive(Record, Debug)]
#[record(crate = fp_types)]
struct Names {
    phase: Phase,
    wide: Wide,
    is_on: bool,
    signs: [Sign; 3],
    are_on: [bool; 2],
}

/// The names of its fields are those that the code around them might have.
#[derive(Record, Debug)]
#[record(crate = fp_types)]
struct Nested {
    fields: u8,
    schema: Corner,
    record: [Corner; 3],
    is_sound: bool,
    places: [u16; 4],
    r#type: [Inner; 2],
    nothing: [u64; 0],
}

#[derive(Record, Debug)]
#[record(crate = fp_types)]
struct Inner {
    is_first: bool,
    numbers: Numbers,
    names: [Names; 1],
}

/// A complex number, which the library has no Rust type for.
#[derive(Debug)]
struct Complex(f32, f32);

impl ElementValue for Complex {
    fn element() -> FieldElement {
        FieldElement::Dtype(Dtype::C32)
    }

    fn put_elements(values: &[Self], to: &mut ElementTarget<'_>) -> Result<(), EncodeError> {
        let parts = values.iter().flat_map(|value| [value.0, value.1]);
        to.put_bytes(Dtype::C32, &parts.flat_map(f32::to_ne_bytes).collect::<Vec<_>>())
    }

    fn take_element(value: Value<'_>) -> Result<Self, RecordReadError> {
        let wrong = RecordReadError::Type { found: format!("{value:?}"), wanted: "complex" };
        if let Value::Complex(real, imaginary) = value {
            Ok(Self(real as f32, imaginary as f32))
        } else {
            Err(wrong)
        }
    }

    const PLAIN_ELEMENT: Option<PlainForm> = PlainForm::of(Dtype::C32);

    fn plain_element() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        Some(|bytes: &[u8], is_sound: &mut bool| {
            let [a, b, c, d, e, f, g, h] = plain_number(bytes, is_sound);
            Self(f32::from_ne_bytes([a, b, c, d]), f32::from_ne_bytes([e, f, g, h]))
        })
    }
}

#[derive(Record, Debug)]
#[record(crate = fp_types)]
struct Wave {
    is_there: bool,
    amplitude: Complex,
    harmonics: [Complex; 2],
}

/// Numbers below a limit, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// The bytes of some of the samples, and at most three of them changed.
fn changed_bytes(samples: &[u8], size: usize, count: usize, chance: &mut Chance) -> Vec<u8> {
    let sample = |at: usize| &samples[at * size..][..size];
    let mut bytes: Vec<u8> =
        (0..count).flat_map(|_| sample(chance.below(samples.len() / size)).to_vec()).collect();
    for _ in 0..chance.below(4).min(bytes.len()) {
        let at = chance.below(bytes.len());
        bytes[at] = chance.below(256) as u8 >> chance.below(8);
    }
    bytes
}

/// Both ways over the samples, and over much that is like them. Gives how often these were records, and how often not.
fn compare<T: Record + Debug>(samples: &[T]) -> [usize; 2] {
    assert!(T::plain_record().is_some(), "there is a straight way");
    let (schema, mut outcomes) = (T::schema().expect("a type"), [0; 2]);
    let samples = encode_records(samples).expect("written");
    for seed in 0..5000 {
        let (count, mut chance) = (seed as usize % 5, Chance(seed));
        let bytes = changed_bytes(&samples, schema.size_bytes(), count, &mut chance);
        let records = Records::new(&schema, &bytes, count).expect("the length is right");
        let general: Result<Vec<T>, _> = records.iter().map(|record| T::take_fields(&record)).collect();
        match (decode_records::<T>(&records), general) {
            (Ok(straight), Ok(general)) => {
                assert_eq!(straight.len(), count);
                // Written anew, as NaN is not equal to itself.
                let [straight, general] = [straight, general].map(|values| encode_records(&values));
                assert_eq!(straight.expect("written"), general.expect("written"), "seed {seed}");
                outcomes[0] += 1;
            }
            (straight, general) => {
                let errors = (straight.expect_err("it is none"), general.expect_err("it is none"));
                assert_eq!(errors.0, errors.1, "seed {seed}");
                outcomes[1] += 1;
            }
        }
    }
    outcomes
}

fn numbers() -> Numbers {
    Numbers { a: 1, b: -2, c: 3.5, d: 4, e: -5.5, f: -6 }
}

fn names() -> [Names; 2] {
    let (phase, signs) = (Phase::Gas, [Sign::Minus, Sign::Zero, Sign::Plus]);
    let first = Names { phase, wide: Wide::Two, is_on: true, signs, are_on: [true, false] };
    let (phase, signs) = (Phase::Solid, [Sign::Zero, Sign::Plus, Sign::Plus]);
    [first, Names { phase, wide: Wide::Far, is_on: false, signs, are_on: [false, true] }]
}

fn nested() -> Nested {
    let corner = |x| Corner { x, y: -x };
    let inner = |is_first, name| Inner { is_first, numbers: numbers(), names: [name] };
    let [first, second] = names();
    Nested {
        fields: 1,
        schema: corner(2.0),
        record: [corner(3.0), corner(4.0), corner(5.0)],
        is_sound: true,
        places: [6, 7, 8, 9],
        r#type: [inner(true, first), inner(false, second)],
        nothing: [],
    }
}

#[test]
fn the_straight_way_reads_what_the_general_way_reads() {
    assert_eq!(compare(&[Corner { x: 1.5, y: -2.5 }]), [5000, 0], "any bytes are numbers");
    assert_eq!(compare(&[numbers()]), [5000, 0], "any bytes are numbers");
    let wave = Wave {
        is_there: true,
        amplitude: Complex(1.5, 2.5),
        harmonics: [Complex(3.5, 4.5), Complex(0.0, -1.0)],
    };
    for outcomes in [compare(&[wave]), compare(&names()), compare(&[nested()])] {
        assert!(outcomes.iter().all(|&count| count > 100), "both happen: {outcomes:?}");
    }
}

#[test]
fn what_is_no_value_is_called_what_it_always_was() {
    let schema = Names::schema().expect("a type");
    let bytes = encode_records(&names()).expect("written");
    let why = |field: &str, byte| {
        let mut bytes = bytes.clone();
        bytes[schema.size_bytes() + schema.offset_of(field).expect("a field")] = byte;
        let records = Records::new(&schema, &bytes, 2).expect("the length is right");
        decode_records::<Names>(&records).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(why("is_on", 2), Err("a truth value of 2".into()));
    assert_eq!(why("phase", 3), Err("no name of \"Phase\" has the number 3".into()));
    assert_eq!(why("signs", 254), Err("no name of \"Sign\" has the number -2".into()));
    assert_eq!(why("phase", 7), Ok(()));
}

#[test]
fn what_has_no_place_of_its_own_goes_the_general_way() {
    #[derive(Record)]
    #[record(crate = fp_types)]
    struct Texts {
        id: u8,
        text: String,
    }
    #[derive(Record)]
    #[record(crate = fp_types)]
    struct Lists {
        id: u8,
        list: Vec<u8>,
    }
    #[derive(Record)]
    #[record(crate = fp_types)]
    struct Options {
        id: u8,
        option: Option<u8>,
    }
    #[derive(Record)]
    #[record(crate = fp_types)]
    struct Outer {
        id: u8,
        inner: [Lists; 2],
    }
    let none = [
        Mesh::plain_record().is_none(),
        Texts::plain_record().is_none(),
        Lists::plain_record().is_none(),
        Options::plain_record().is_none(),
        Outer::plain_record().is_none(),
    ];
    assert_eq!(none, [true; 5]);
}
