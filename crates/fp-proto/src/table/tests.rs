//! There and back, and bytes that nobody sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use fp_types::{
    AttributeValue, BlockId, Dims, Dtype, Fingerprint, Layout, MemoryOrder, Rank, RecordId, Region, Schema,
    Shape, StepTable, TableEntry, VariableDef, VariableOrigin,
};
use proptest::prelude::*;

use super::*;

/// What the sample takes: no variable says in it that it was put.
const SAMPLE_BYTES: usize = 1040;

/// A table with one layout of every form. Two variables share one.
fn sample() -> StepTable {
    let rows = (0..3u32).map(|rank| {
        let region = Region::new([u64::from(rank) * 2, 0], [2, 4]).unwrap();
        (BlockId::new(Rank(rank), 0), region)
    });
    let rows = Arc::new(Layout::global(Shape::new([6, 4]).unwrap(), rows).unwrap());
    let atoms =
        [(0, 5u64), (1, 0), (3, 7)].map(|(rank, count)| (BlockId::new(Rank(rank), 0), [count, 3].into()));
    let atoms = Arc::new(Layout::joined(2, 0, atoms).unwrap());
    let overlapping = [(2, 1, 0), (2, 0, 3)]
        .map(|(rank, index, start)| (BlockId::new(Rank(rank), index), Region::new([start], [4]).unwrap()));
    let overlapping = Arc::new(Layout::global(Shape::new([1 << 40]).unwrap(), overlapping).unwrap());
    let scalars = (0..2u32).map(|rank| (BlockId::new(Rank(rank), 0), Dims::default()));
    let scalars = Arc::new(Layout::local(0, scalars).unwrap());
    let entry = |def: VariableDef, layout: &Arc<Layout>| TableEntry {
        def: Arc::new(def),
        layout: Arc::clone(layout),
    };
    let fingerprint = Fingerprint(std::array::from_fn(|at| at as u8));
    let bond = RecordId { name: "Bond".into(), fingerprint, size_bytes: 24 };
    StepTable::new(vec![
        entry(
            VariableDef::global_array("T", Dtype::F64, 2).with_unit("K").with_attribute("valid", true),
            &rows,
        ),
        entry(VariableDef::global_array("P", Dtype::F32, 2).with_order(MemoryOrder::ColumnMajor), &rows),
        entry(VariableDef::joined_array("x", Dtype::F64, 2, 0).with_dimensions(["atom", ""]), &atoms),
        entry(VariableDef::global_array("sparse", Dtype::U8, 1), &overlapping),
        entry(VariableDef::local_scalar("seconds", Dtype::F64), &scalars),
        entry(VariableDef::joined_array("bonds", Dtype::Bytes, 2, 0).with_record(bond), &atoms),
    ])
    .unwrap()
}

fn sample_schema() -> Schema {
    let mut schema = Schema::new("atoms");
    schema.variables = sample().entries().iter().map(|entry| (*entry.def).clone()).collect();
    let values: [AttributeValue; 9] = [
        true.into(),
        (-5i64).into(),
        u64::MAX.into(),
        f64::NAN.into(),
        "text".into(),
        vec![0u8, 255].into(),
        vec![i64::MIN, 3].into(),
        vec![0.5, -0.0].into(),
        vec![String::new(), "two".into()].into(),
    ];
    schema.attributes = (0..).map(|number: u32| format!("a{number}")).zip(values).collect();
    schema
}

#[test]
fn tables_and_schemas_come_back() {
    let table = sample();
    let decoded = decode(&encode(&table)).unwrap();
    assert_eq!((&decoded, decoded.id()), (&table, table.id()));
    let layout = |name| &decoded.entry(name).unwrap().layout;
    assert!(Arc::ptr_eq(layout("T"), layout("P")), "a layout travels once");
    let schema = sample_schema();
    assert_eq!(schema.validate(), Ok(()));
    let decoded = decode_schema(&encode_schema(&schema)).unwrap();
    assert_eq!((&decoded, decoded.fingerprint()), (&schema, schema.fingerprint()));
}

/// Too low, and what is too long is sent; far too high, and what is short enough is not.
#[test]
fn what_an_encoding_takes_is_known_before() {
    let close = |len_bytes: usize, known: u64| {
        let len_bytes = len_bytes as u64;
        assert!(
            len_bytes <= known && known <= 2 * len_bytes + 4096,
            "{known} are known of {len_bytes} bytes"
        );
    };
    let texts = || vec!["x".repeat(500); 40];
    let def = VariableDef::local_array("v".repeat(200), Dtype::F64, 1);
    let mut def = def.with_dimensions(["d".repeat(200).as_str()]).with_unit("u".repeat(9000));
    def.description = Some("w".repeat(9000));
    let blocks =
        |count: u32| (0..count).map(|rank| (BlockId::new(Rank(rank), 1), [u64::from(rank) + 1].into()));
    let of = |def: VariableDef, count: u32| {
        let layout = Arc::new(Layout::local(1, blocks(count)).unwrap());
        StepTable::new(vec![TableEntry { def: Arc::new(def), layout }]).unwrap()
    };
    let long = [texts().into(), vec![7u8; 9000].into(), vec![1i64; 2000].into(), vec![0.5; 2000].into()];
    let attributes = |def: VariableDef, values: &[AttributeValue]| {
        let named = |(at, value): (usize, &AttributeValue)| (format!("a{at}"), value.clone());
        VariableDef { attributes: values.iter().enumerate().map(named).collect(), ..def }
    };
    let record = RecordId { name: "r".repeat(200), fingerprint: Fingerprint([1; 16]), size_bytes: 8 };
    let with_record = VariableDef::local_array("v", Dtype::F64, 1).with_record(record);
    let tables = [of(def.clone(), 1), of(attributes(def, &long), 1), of(with_record, 20_000)];
    for table in tables {
        close(encode(&table).len(), size::of_table(&table));
        let mut schema = Schema::new("s".repeat(200));
        schema.variables = table.entries().iter().map(|entry| (*entry.def).clone()).collect();
        schema.attributes = [("a".to_owned(), texts().into())].into();
        close(encode_schema(&schema).len(), size::of_schema(&schema));
    }
}

#[test]
fn blocks_one_after_another_are_a_number_each() {
    let joined = |ranks: u32| {
        let blocks = (0..ranks).map(|rank| (BlockId::new(Rank(rank), 0), [u64::from(rank), 3].into()));
        encode_layout(&Layout::joined(2, 0, blocks).unwrap()).len()
    };
    assert_eq!(joined(10_000) - joined(5_000), 5_000 * 8);
    let scattered = |ranks: u32| {
        let block = |rank: u32| Region::new([u64::from(rank % 7), 0], [1, 1]).unwrap();
        let blocks = (0..ranks).map(|rank| (BlockId::new(Rank(rank), 1), block(rank)));
        encode_layout(&Layout::global(Shape::new([7, 7]).unwrap(), blocks).unwrap()).len()
    };
    assert_eq!(scattered(10_000) - scattered(5_000), 5_000 * (8 + 4 * 8));
}

#[test]
fn what_was_encoded_once_decodes_for_ever() {
    let scalar =
        Layout::global(Shape::scalar(), [(BlockId::new(Rank(3), 1), Region::new([], []).unwrap())]).unwrap();
    #[rustfmt::skip]
    let golden = [
        24, 0, 0, 0, 70, 76, 88, 80, 0, 0, 0, 0, 0, 0, 10, 0,
        12, 0, 6, 0, 5, 0, 8, 0, 10, 0, 0, 0, 0, 2, 1, 0,
        20, 0, 0, 0, 16, 0, 16, 0, 0, 0, 0, 0, 0, 0, 4, 0,
        8, 0, 12, 0, 16, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0,
        20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0,
        1, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(decode_layout(&golden).as_ref(), Ok(&scalar));
    assert_eq!(encode_layout(&scalar), golden);
}

/// Whatever stands where a byte was: what is believed can be said again and means the same.
#[test]
fn every_byte_of_a_layout_may_be_another() {
    let sample = sample();
    let layouts: BTreeSet<Vec<u8>> =
        sample.entries().iter().map(|entry| encode_layout(&entry.layout)).collect();
    assert_eq!(layouts.len(), 4);
    for bytes in layouts {
        // Miri has not the time for all of them.
        let places = (0..bytes.len()).step_by(if cfg!(miri) { 5 } else { 1 });
        for (at, other) in places.flat_map(|at| [(at, 1), (at, 0xff)]) {
            let mut changed = bytes.clone();
            changed[at] = other;
            if let Ok(decoded) = decode_layout(&changed) {
                assert_eq!(decode_layout(&encode_layout(&decoded)), Ok(decoded), "byte {at} is {other}");
            }
        }
    }
}

/// The sample, all of one origin.
fn sample_of(origin: VariableOrigin) -> StepTable {
    let of = |entry: &TableEntry| {
        let def = Arc::new((*entry.def).clone().with_origin(origin));
        TableEntry { def, layout: Arc::clone(&entry.layout) }
    };
    StepTable::new(sample().entries().iter().map(of).collect()).unwrap()
}

#[test]
fn origins_come_back_and_what_was_put_takes_no_byte_for_it() {
    use VariableOrigin::{Derived, Failed, Made, Put};
    for origin in [Put, Derived, Failed, Made] {
        let table = sample_of(origin);
        assert_eq!(decode(&encode(&table)).as_ref(), Ok(&table));
        assert!(encode(&table).len() as u64 <= size::of_table(&table));
    }
    assert_eq!(encode(&sample()).len(), SAMPLE_BYTES);
    assert!(encode(&sample_of(Derived)).len() > SAMPLE_BYTES);
}

#[test]
fn an_origin_that_is_none_is_named() {
    let build = |builder: &mut Builder<'_>| {
        let name = Some(builder.create_string("T"));
        let (dtype, origin) = (Dtype::U8.as_u8(), wire::VariableOrigin(4));
        let args = wire::VariableArgs { name, dtype, origin, ..Default::default() };
        let variable = wire::Variable::create(builder, &args);
        let (stream, variables) =
            (Some(builder.create_string("s")), Some(builder.create_vector(&[variable])));
        let args = wire::SchemaArgs { stream, variables, attributes: None };
        wire::Schema::create(builder, &args).as_union_value()
    };
    let refused = decode_schema(&seal(0, Content::Schema, build)).unwrap_err().to_string();
    assert_eq!(refused, "no origin of a variable has the number 4");
}

#[test]
fn other_content_and_other_versions_are_named() {
    let table = encode(&sample());
    let wanted = Content::Layout.0;
    assert_eq!(
        decode_layout(&table),
        Err(TableDecodeError::OtherContent { found: Content::StepTable.0, wanted })
    );
    assert_eq!(decode(&[]), Err(TableDecodeError::Unmarked));
    assert_eq!(decode(&[0; 64]), Err(TableDecodeError::Unmarked));
    let mut builder = FlatBufferBuilder::new();
    let note = wire::TooLarge::create(&mut builder, &wire::TooLargeArgs { len_bytes: 5 }).as_union_value();
    let args = wire::EnvelopeArgs { version: 7, content_type: Content::TooLarge, content: Some(note) };
    let envelope = wire::Envelope::create(&mut builder, &args);
    wire::finish_envelope_buffer(&mut builder, envelope);
    assert_eq!(decode(builder.finished_data()), Err(TableDecodeError::Version { found: 7 }));
}

#[test]
fn what_is_too_large_is_said_to_the_receiver() {
    let note = seal(MAX_ENCODED_BYTES as u64 + 1, Content::StepTable, |_| unreachable!("nothing is built"));
    assert_eq!(decode(&note), Err(TableDecodeError::TooLarge { len_bytes: MAX_ENCODED_BYTES as u64 + 1 }));
    let long = vec![0; MAX_ENCODED_BYTES + 1];
    assert_eq!(decode(&long), Err(TableDecodeError::TooLong { len_bytes: MAX_ENCODED_BYTES + 1 }));
}

#[test]
fn estimates_are_never_too_low() {
    assert!(encode(&sample()).len() as u64 <= size::of_table(&sample()));
    assert!(encode_schema(&sample_schema()).len() as u64 <= size::of_schema(&sample_schema()));
}

/// One table, referred to a hundred thousand times: the bytes would unfold to many times their length.
#[test]
fn bytes_that_unfold_are_refused() {
    let mut builder = FlatBufferBuilder::new();
    let numbers = builder.create_vector(&vec![1u64; 100_000]);
    let shape = builder.create_vector(&[100_000u64]);
    let args =
        wire::LayoutArgs { ndims: 1, shape: Some(shape), numbers: Some(numbers), ..Default::default() };
    let layout = wire::Layout::create(&mut builder, &args);
    let layouts = builder.create_vector(&vec![layout; 50_000]);
    let args = wire::StepTableArgs { layouts: Some(layouts), entries: None };
    let table = wire::StepTable::create(&mut builder, &args).as_union_value();
    let args =
        wire::EnvelopeArgs { version: VERSION, content_type: Content::StepTable, content: Some(table) };
    let envelope = wire::Envelope::create(&mut builder, &args);
    wire::finish_envelope_buffer(&mut builder, envelope);
    assert!(matches!(decode(builder.finished_data()), Err(TableDecodeError::Malformed(_))));
}

/// Builds a layout's bytes from parts that need not go together.
fn forged(
    form: u8,
    ndims: u8,
    joined_dim: u8,
    shape: &[u64],
    blocks: Option<&[(u32, u32)]>,
    numbers: &[u64],
) -> Vec<u8> {
    let build = |builder: &mut Builder<'_>| {
        let blocks = blocks.map(|blocks| {
            let names: Vec<_> =
                blocks.iter().map(|&(rank, index)| wire::BlockName::new(rank, index)).collect();
            builder.create_vector(&names)
        });
        let (shape, numbers) = (Some(builder.create_vector(shape)), Some(builder.create_vector(numbers)));
        let form = wire::LayoutForm(form);
        let args = wire::LayoutArgs { form, ndims, joined_dim, shape, blocks, numbers };
        wire::Layout::create(builder, &args).as_union_value()
    };
    seal(0, Content::Layout, build)
}

#[test]
fn parts_that_do_not_go_together_are_named() {
    let refused = |bytes: Vec<u8>| decode_layout(&bytes).unwrap_err().to_string();
    assert!(decode_layout(&forged(0, 1, 0, &[5], None, &[0, 5])).is_ok());
    assert_eq!(
        refused(forged(0, 1, 0, &[5], None, &[0, 6])),
        "block 0 of rank 0, [0:6], lies outside shape [5]"
    );
    assert_eq!(refused(forged(0, 1, 0, &[5], None, &[0])), "numbers of a layout: 1 where 0 belong");
    assert_eq!(refused(forged(0, 1, 0, &[5], Some(&[(0, 0)]), &[])), "numbers of a layout: 0 where 2 belong");
    assert_eq!(refused(forged(0, 2, 0, &[5], None, &[])), "dimensions of a layout's shape: 1 where 2 belong");
    assert_eq!(refused(forged(9, 1, 0, &[5], None, &[])), "no form of a layout has the number 9");
    assert_eq!(refused(forged(0, 9, 0, &[5], None, &[])), "9 dimensions, but arrays have at most 8");
    assert_eq!(refused(forged(0, 9, 0, &[1; 9], None, &[])), "9 dimensions, but arrays have at most 8");
    let twice = refused(forged(0, 1, 0, &[5], Some(&[(1, 0), (1, 0)]), &[0, 1, 1, 1]));
    assert_eq!(twice, "rank 1 put block 0 twice");
    let sum = refused(forged(2, 1, 0, &[5], None, &[2, 2]));
    assert_eq!(sum, "joined blocks make up Some(Shape([4])), not Some(Shape([5]))");
    let dim = refused(forged(2, 1, 3, &[5], None, &[5]));
    assert_eq!(dim, "dimension 3 cannot be joined: the array has 1 dimensions");
    let large = refused(forged(0, 1, 0, &[5], None, &[u64::MAX, 2]));
    assert_eq!(
        large,
        "dimension 0 cannot start at 18446744073709551615 and count 2: out of the range of coordinates"
    );
}

/// Any layout of up to three dimensions and thirty blocks, of every form.
fn layout() -> impl Strategy<Value = Layout> {
    let blocks = prop::collection::vec((0u32..8, prop::collection::vec((0u64..9, 0u64..9), 3)), 0..30);
    (0usize..=3, 0u8..3, blocks).prop_map(|(ndims, form, blocks)| {
        let id = |(index, (rank, _)): (usize, &(u32, Vec<_>))| BlockId::new(Rank(*rank), index as u32);
        let ids: Vec<BlockId> = blocks.iter().enumerate().map(id).collect();
        let corners = blocks.iter().map(|(_, corners)| {
            let (start, count): (Vec<u64>, Vec<u64>) = corners[..ndims].iter().copied().unzip();
            (Dims::from_slice(&start).unwrap(), Dims::from_slice(&count).unwrap())
        });
        let counts = corners.clone().map(|(_, count)| count);
        match form {
            0 => Layout::local(ndims, ids.into_iter().zip(counts)).unwrap(),
            1 if ndims > 0 => {
                let fixed = |mut count: Dims| {
                    count[1..].fill(4);
                    count
                };
                Layout::joined(ndims, 0, ids.into_iter().zip(counts.map(fixed))).unwrap()
            }
            _ => {
                let shape = Shape::new(Dims::filled(ndims, 20).unwrap()).unwrap();
                let regions = corners.map(|(start, count)| Region::new(start, count).unwrap());
                Layout::global(shape, ids.into_iter().zip(regions)).unwrap()
            }
        }
    })
}

/// Changes bytes, drops some, adds some.
fn mutate(
    mut bytes: Vec<u8>,
    changes: &[(prop::sample::Index, u8)],
    cut: Option<prop::sample::Index>,
) -> Vec<u8> {
    for (place, byte) in changes {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    cut.into_iter().for_each(|cut| bytes.truncate(cut.index(bytes.len())));
    bytes
}

fn mutations() -> impl Strategy<Value = (Vec<(prop::sample::Index, u8)>, Option<prop::sample::Index>)> {
    let byte = prop_oneof![any::<u8>(), Just(0), Just(255), Just(1), Just(127)];
    let cut = prop_oneof![9 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)];
    (prop::collection::vec((any::<prop::sample::Index>(), byte), 0..12), cut)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn layouts_come_back(layout in layout()) {
        let bytes = encode_layout(&layout);
        prop_assert!(bytes.len() as u64 <= size::of_layout(&layout));
        let decoded = decode_layout(&bytes);
        prop_assert_eq!(decoded.as_ref().map(Layout::id), Ok(layout.id()));
        prop_assert_eq!(decoded, Ok(layout));
    }

    #[test]
    fn changed_layouts_never_panic(layout in layout(), (changes, cut) in mutations()) {
        let bytes = mutate(encode_layout(&layout), &changes, cut);
        if let Ok(decoded) = decode_layout(&bytes) {
            prop_assert_eq!(decode_layout(&encode_layout(&decoded)), Ok(decoded));
        }
    }

    #[test]
    fn changed_tables_never_panic((changes, cut) in mutations()) {
        let bytes = mutate(encode(&sample()), &changes, cut);
        if let Ok(decoded) = decode(&bytes) {
            prop_assert_eq!(decode(&encode(&decoded)), Ok(decoded));
        }
    }

    #[test]
    fn changed_schemas_never_panic((changes, cut) in mutations()) {
        let bytes = mutate(encode_schema(&sample_schema()), &changes, cut);
        if let Ok(decoded) = decode_schema(&bytes) {
            prop_assert_eq!(decode_schema(&encode_schema(&decoded)), Ok(decoded));
        }
    }

    #[test]
    fn noise_never_panics(mut noise in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(mark) = noise.get_mut(4..8) {
            mark.copy_from_slice(b"FLXP");
        }
        prop_assert!(decode(&noise).is_err() && decode_layout(&noise).is_err() && decode_schema(&noise).is_err());
    }
}
