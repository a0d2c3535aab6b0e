//! Derived records: their types, and values there and back.

mod plain;

use fp_derive::Record;
use fp_types::record::{
    Conversion, EncodeError, Field, Loss, Record, RecordReadError, RecordType, Records, decode_records,
    encode_records,
};
use fp_types::{Dtype, Shape};

#[derive(Record, Clone, Copy, Debug, PartialEq)]
#[record(crate = fp_types)]
#[repr(u8)]
enum Phase {
    Solid = 1,
    Liquid,
    #[record(name = "vapour")]
    Gas = 7,
}

#[derive(Record, Clone, Debug, PartialEq)]
#[record(crate = fp_types)]
struct Corner {
    x: f32,
    y: f32,
}

#[derive(Record, Clone, Debug, PartialEq)]
#[record(crate = fp_types, name = "Grain", description = "a grain of metal")]
struct Mesh {
    phase: Phase,
    is_whole: bool,
    label: String,
    corners: Vec<Corner>,
    #[record(indexes = "corners")]
    edges: Vec<u32>,
    box_corners: [Corner; 2],
    count: u16,
    #[record(sized_by = "count", unit = "K")]
    temperatures: Vec<f64>,
    #[record(default = -1)]
    rank: Option<i32>,
    notes: Option<Vec<String>>,
}

fn mesh() -> Mesh {
    let corner = |x, y| Corner { x, y };
    Mesh {
        phase: Phase::Gas,
        is_whole: true,
        label: "größer".into(),
        corners: vec![corner(1.0, 2.0), corner(3.0, 4.0), corner(5.0, 6.0)],
        edges: vec![0, 1, 1, 2],
        box_corners: [corner(1.0, 2.0), corner(5.0, 6.0)],
        count: 2,
        temperatures: vec![300.0, 301.5],
        rank: None,
        notes: Some(vec!["a".into(), String::new()]),
    }
}

#[test]
fn values_go_there_and_back() {
    let other = Mesh { notes: None, rank: Some(4), corners: vec![], phase: Phase::Solid, ..mesh() };
    let meshes = [mesh(), other.clone()];
    let bytes = encode_records(&meshes).unwrap();
    let schema = Mesh::schema().unwrap();
    let records = Records::new(&schema, &bytes, 2).unwrap();
    let read: Vec<Mesh> = decode_records(&records).unwrap();
    // What is absent and has a default is read as that.
    assert_eq!(read, [Mesh { rank: Some(-1), ..mesh() }, other]);
}

#[test]
fn nobody_needs_the_rust_type() {
    let bytes = encode_records(&[mesh()]).unwrap();
    let schema = Mesh::schema().unwrap();
    let record = Records::new(&schema, &bytes, 1).unwrap().record(0).unwrap();
    assert_eq!(record.value("phase").unwrap().as_text(), Some("vapour"));
    assert_eq!(record.value("corners[2].y").unwrap().as_f64(), Some(6.0));
    assert_eq!(record.value("notes[0]").unwrap().as_text(), Some("a"));
    assert_eq!(record.value("temperatures").unwrap().as_array().unwrap().count(), 2);
    assert_eq!(record.value("corners[3].y").unwrap_err(), RecordReadError::OutOfRange { index: 3, count: 3 });
    assert!(matches!(record.value("corners..y"), Err(RecordReadError::Path { at: 8, .. })));
    assert!(matches!(record.value("colour"), Err(RecordReadError::NoField { .. })));
}

#[test]
fn a_list_is_as_long_as_its_field_says() {
    let wrong = encode_records(&[Mesh { count: 3, ..mesh() }]).unwrap_err();
    assert_eq!(wrong, EncodeError::Length { index: 7, count: 2, said: 3 });
}

#[derive(Record, Debug, PartialEq)]
#[record(crate = fp_types)]
struct Old {
    id: u32,
    position: [f32; 3],
}

#[derive(Record, Debug, PartialEq)]
#[record(crate = fp_types)]
struct New {
    #[record(default = 0.5)]
    charge: f64,
    position: [f64; 3],
    id: u64,
    colour: Option<String>,
}

#[test]
fn an_older_type_is_read_as_a_newer_one() {
    let old = [Old { id: 1, position: [1.0, 2.0, 3.0] }, Old { id: 2, position: [4.0, 5.0, 6.0] }];
    let bytes = encode_records(&old).unwrap();
    let (from, to) = (Old::schema().unwrap(), New::schema().unwrap());
    let conversion = Conversion::new(&from, &to, Loss::Refused).unwrap();
    let converted = conversion.convert(&Records::new(&from, &bytes, 2).unwrap()).unwrap();
    let new: Vec<New> = decode_records(&Records::new(&to, &converted, 2).unwrap()).unwrap();
    assert_eq!(new[1], New { charge: 0.5, position: [4.0, 5.0, 6.0], id: 2, colour: None });
    let back = Conversion::new(&to, &from, Loss::Refused).unwrap_err().to_string();
    assert!(back.contains("Old.id: is u64, wanted as u32, which does not hold every value"), "{back}");
}

#[test]
fn a_derived_type_is_the_one_that_was_written_down() {
    let by_hand = RecordType::new("Old")
        .field(Field::new("id", Dtype::U32))
        .field(Field::new("position", Dtype::F32).fixed(Shape::new([3]).unwrap()));
    assert_eq!(Old::schema().unwrap(), by_hand.build().unwrap());
}
