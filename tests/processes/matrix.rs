//! Publisher cohorts of 1, 2 and 4 ranks, subscriber cohorts of 1, 2 and 3, over shared memory, tcp and both. Every
//! element of every kind of array and selection is checked.

use crate::cast::{Stage, number, publisher_options, setting, subscriber_options, take_every_step, tell};
use crate::grid::{self, Dice, FIELD, OVERLAP, STEPS, TABLE};
use flexpath::{
    BlockId, Dims, MemoryOrder, Publisher, Rank, Region, Selection, StepReader, StepWriter, StridedRegion,
    Subscriber, TransportKind, Variable,
};
use std::time::Duration;

/// The variables that a rank puts.
struct Variables {
    field: Variable,
    table: Variable,
    rows: Variable,
    local: Variable,
    overlap: Variable,
    count: Variable,
    winner: Variable,
    of_rank: Variable,
}

fn variables() -> Variables {
    Variables {
        field: Variable::global::<f64>("field", &FIELD).expect("a shape").with_unit("K"),
        table: Variable::global::<i32>("table", &TABLE)
            .expect("a shape")
            .with_order(MemoryOrder::ColumnMajor),
        rows: Variable::joined::<f32>("rows", &[3]).expect("a shape"),
        local: Variable::local::<u16>("local", 1).expect("a name"),
        overlap: Variable::global::<i64>("overlap", &[OVERLAP]).expect("a shape"),
        count: Variable::scalar::<u64>("count").expect("a name"),
        winner: Variable::scalar::<u32>("winner").expect("a name"),
        of_rank: Variable::local_scalar::<i64>("of_rank").expect("a name"),
    }
}

/// A publisher rank.
pub(crate) fn publish() {
    let (rank, ranks) = (number("rank") as u32, number("size") as u32);
    let options = publisher_options().with_min_subscribers(number("subscribers") as u32);
    let mut publisher = Publisher::open("grid", options).expect("the stream opens");
    let variables = variables();
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        assert_eq!(writer.step().0, step);
        put_field(&mut writer, &variables.field, step, ranks, rank);
        put_others(&mut writer, &variables, step, ranks, rank);
        writer.end().expect("the step ends");
    }
    publisher.close().expect("closed");
}

/// The blocks of the field, by each way to put one in turn.
fn put_field(writer: &mut StepWriter, field: &Variable, step: u64, ranks: u32, rank: u32) {
    for (at, region) in grid::field_blocks_of(step, ranks, rank).into_iter().enumerate() {
        let values = grid::field_values(step, &region, [1; 3]);
        match (at as u64 + step) % 3 {
            0 => writer.put(field, &region, values).expect("put"),
            1 => writer.put_copy(field, &region, &values).expect("put"),
            _ => {
                let mut loan = writer.loan::<f64>(field, &region).expect("a loan");
                loan.copy_from_slice(&values);
                writer.put_loan(loan).expect("put");
            }
        }
    }
}

fn put_others(writer: &mut StepWriter, variables: &Variables, step: u64, ranks: u32, rank: u32) {
    let columns = grid::table_columns(ranks, rank);
    let mut values = Vec::new();
    for column in columns.start()[1]..columns.end()[1] {
        values.extend((0..TABLE[0]).map(|row| grid::table_value(step, row, column)));
    }
    writer.put(&variables.table, &columns, values).expect("put");

    let first = grid::first_row(step, rank);
    let (middle, end) = (first + grid::rows_of(step, rank) / 3, first + grid::rows_of(step, rank));
    writer.put_joined(&variables.rows, grid::row_values(step, first..middle)).expect("put");
    writer.put_joined_copy(&variables.rows, &grid::row_values(step, middle..end)).expect("put");

    for (block, len) in grid::local_lens(step, rank).into_iter().enumerate() {
        let region = Region::new([0], [len]).expect("inside");
        writer
            .put(&variables.local, &region, grid::local_values(step, rank, block as u64, len))
            .expect("put");
    }
    let region = grid::overlap_region(ranks, rank);
    let values: Vec<i64> =
        (region.start()[0]..region.end()[0]).map(|index| grid::overlap_value(step, rank, index)).collect();
    writer.put_copy(&variables.overlap, &region, &values).expect("put");

    if rank == 0 {
        writer.put_scalar(&variables.count, step * 11).expect("put");
    }
    writer.put_scalar(&variables.winner, rank * 100 + step as u32).expect("put");
    writer.put_scalar(&variables.of_rank, i64::from(rank) - 1000 * step as i64).expect("put");
}

/// What a subscriber rank reads in every step.
fn own_slab() -> Region {
    let (rank, size) = (number("rank"), number("size"));
    let cut = |at: u64| FIELD[1] * at / size;
    Region::new([2, cut(rank), 0], [FIELD[0] - 3, cut(rank + 1) - cut(rank), FIELD[2]]).expect("inside")
}

/// A subscriber rank.
pub(crate) fn subscribe() {
    let mut options = subscriber_options();
    if setting("standing").is_some() {
        options = options
            .with_selection("field", Selection::Region(own_slab()))
            .with_selection("overlap", Selection::All)
            .with_selection("local", Selection::Rank(Rank(0)))
            .with_selection("table", Selection::All);
    }
    let mut subscriber = Subscriber::open("grid", options).expect("attached");
    let publishers = number("publishers") as u32;
    let taken =
        take_every_step(&mut subscriber, Duration::from_secs(15), |step, next| check(step, next, publishers));
    assert_eq!(taken, STEPS);
    let transports: Vec<String> = subscriber.transports().into_iter().map(|(_, text)| text).collect();
    subscriber.close().expect("closed");
    tell(format!("transports {}", transports.join(" | ")));
}

fn check(step: &StepReader, number_of_step: u64, ranks: u32) {
    let names: Vec<String> =
        step.variables().expect("a table").into_iter().map(|info| info.def.name).collect();
    let local = (0..ranks).any(|rank| !grid::local_lens(number_of_step, rank).is_empty());
    for name in ["count", "field", "of_rank", "overlap", "rows", "table", "winner"] {
        assert!(names.iter().any(|known| known == name), "{name} is missing of {names:?}");
    }
    check_field(step, number_of_step, ranks);
    check_blocks(step, number_of_step, ranks);
    check_table(step, number_of_step);
    check_rows(step, number_of_step, ranks);
    if local {
        check_local(step, number_of_step, ranks);
    }
    check_overlap(step, number_of_step, ranks);
    assert_eq!(step.scalar::<u64>("count").expect("it came"), number_of_step * 11);
    assert_eq!(step.scalar::<u32>("winner").expect("it came"), (ranks - 1) * 100 + number_of_step as u32);
    let of_ranks: Vec<i64> = (0..ranks).map(|rank| i64::from(rank) - 1000 * number_of_step as i64).collect();
    assert_eq!(step.get::<i64>("of_rank", &Selection::All).expect("got"), of_ranks);
}

fn check_field(step: &StepReader, number_of_step: u64, ranks: u32) {
    let mut dice = Dice::new(number_of_step * 1000 + number("rank") * 10 + u64::from(ranks));
    let slab = own_slab();
    let got = step.get::<f64>("field", &Selection::Region(slab)).expect("got");
    assert_eq!(got, grid::field_values(number_of_step, &slab, [1; 3]));

    let region = dice.region(FIELD);
    let array = step.get_array::<f64>("field", &Selection::Region(region)).expect("got");
    let extents: Vec<usize> = region.count().iter().map(|&extent| extent as usize).collect();
    assert_eq!(array.shape(), extents);
    assert!(array.iter().copied().eq(grid::field_values(number_of_step, &region, [1; 3])));

    let stride = [1 + dice.below(4), 1 + dice.below(4), 1 + dice.below(4)];
    let strided = StridedRegion::new(region, stride).expect("a stride");
    let got = step.get::<f64>("field", &Selection::Strided(strided)).expect("got");
    assert_eq!(got, grid::field_values(number_of_step, &region, stride));

    let points: Vec<[u64; 3]> =
        (0..9).map(|_| std::array::from_fn(|dim| dice.below(FIELD[dim]))).chain([[0; 3], [0; 3]]).collect();
    let selection = Selection::Points(points.iter().map(|point| Dims::from(*point)).collect());
    let expected: Vec<f64> =
        points.into_iter().map(|point| grid::field_value(number_of_step, point)).collect();
    assert_eq!(step.get::<f64>("field", &selection).expect("got"), expected);
}

/// Blocks and ranks as they were put; a view of one; the whole field and a part of it fetched together.
fn check_blocks(step: &StepReader, number_of_step: u64, ranks: u32) {
    for rank in 0..ranks {
        let blocks = grid::field_blocks_of(number_of_step, ranks, rank);
        let all: Vec<f64> =
            blocks.iter().flat_map(|region| grid::field_values(number_of_step, region, [1; 3])).collect();
        assert_eq!(step.get::<f64>("field", &Selection::Rank(Rank(rank))).expect("got"), all);
        if let Some(last) = blocks.last() {
            let block = BlockId { rank: Rank(rank), index: blocks.len() as u32 - 1 };
            let view = step.view::<f64>("field", &Selection::Block(block)).expect("a view");
            assert_eq!(*view, grid::field_values(number_of_step, last, [1; 3])[..]);
        }
    }
    let slab = own_slab();
    let mut whole = vec![0.0; FIELD.iter().product::<u64>() as usize];
    let mut part = vec![0.0; slab.element_count() as usize];
    step.fetch()
        .get("field", &Selection::All, &mut whole)
        .get("field", Selection::Region(slab), &mut part)
        .wait(Duration::from_secs(15))
        .expect("fetched");
    let everything = Region::new([0; 3], FIELD).expect("inside");
    assert_eq!(whole, grid::field_values(number_of_step, &everything, [1; 3]));
    assert_eq!(part, grid::field_values(number_of_step, &slab, [1; 3]));
}

fn check_table(step: &StepReader, number_of_step: u64) {
    let got = step.get::<i32>("table", &Selection::All).expect("got");
    let row = |row: u64| (0..TABLE[1]).map(move |column| grid::table_value(number_of_step, row, column));
    assert_eq!(got, (0..TABLE[0]).flat_map(row).collect::<Vec<_>>());
    let region = Dice::new(number_of_step + number("rank")).region(TABLE);
    let got = step.get::<i32>("table", &Selection::Region(region)).expect("got");
    let (start, end) = (*region.start(), region.end());
    let row = |row: u64| (start[1]..end[1]).map(move |column| grid::table_value(number_of_step, row, column));
    assert_eq!(got, (start[0]..end[0]).flat_map(row).collect::<Vec<_>>());
}

fn check_rows(step: &StepReader, number_of_step: u64, ranks: u32) {
    let all = grid::first_row(number_of_step, ranks);
    let got = step.get::<f32>("rows", &Selection::All).expect("got");
    assert_eq!(got, grid::row_values(number_of_step, 0..all));
    if all > 0 {
        let mut dice = Dice::new(number_of_step * 5 + number("rank"));
        let region = dice.region([all, 3]);
        let strided = StridedRegion::new(region, [2, 1]).expect("a stride");
        let got = step.get::<f32>("rows", &Selection::Strided(strided)).expect("got");
        let (start, end) = (*region.start(), region.end());
        let row = |row: u64| (start[1]..end[1]).map(move |k| grid::row_value(number_of_step, row, k));
        assert_eq!(got, (start[0]..end[0]).step_by(2).flat_map(row).collect::<Vec<_>>());
    }
    let last = ranks - 1;
    let of_last = grid::first_row(number_of_step, last)..grid::first_row(number_of_step, last + 1);
    let got = step.get::<f32>("rows", &Selection::Rank(Rank(last))).expect("got");
    assert_eq!(got, grid::row_values(number_of_step, of_last));
}

fn check_local(step: &StepReader, number_of_step: u64, ranks: u32) {
    let of_rank = |rank: u32| {
        let lens = grid::local_lens(number_of_step, rank).into_iter().enumerate();
        lens.flat_map(move |(block, len)| grid::local_values(number_of_step, rank, block as u64, len))
    };
    let got = step.get::<u16>("local", &Selection::All).expect("got");
    assert_eq!(got, (0..ranks).flat_map(of_rank).collect::<Vec<_>>());
    for rank in 0..ranks {
        let got = step.get::<u16>("local", &Selection::Rank(Rank(rank))).expect("got");
        assert_eq!(got, of_rank(rank).collect::<Vec<_>>());
    }
}

fn check_overlap(step: &StepReader, number_of_step: u64, ranks: u32) {
    let got = step.get::<i64>("overlap", &Selection::All).expect("got");
    let value = |index: u64| grid::overlap_value(number_of_step, grid::overlap_winner(ranks, index), index);
    assert_eq!(got, (0..OVERLAP).map(value).collect::<Vec<_>>());
}

/// Runs one combination: `cohorts` are the subscriber cohorts, each with the transports of its ranks in turn.
fn run(publishers: u32, subscribers: u32, cohorts: &[&[&str]]) {
    let stage = Stage::new();
    let mut readers = Vec::new();
    for (at, transports) in cohorts.iter().enumerate() {
        for rank in 0..subscribers {
            let mut settings = vec![
                ("rank", rank.to_string()),
                ("size", subscribers.to_string()),
                ("name", format!("cohort-{at}")),
                ("publishers", publishers.to_string()),
                ("transports", transports[rank as usize % transports.len()].to_owned()),
            ];
            if at % 2 == 0 {
                settings.push(("standing", "yes".to_owned()));
            }
            let expected = transports[rank as usize % transports.len()];
            readers.push((stage.start("grid-subscriber", &settings), expected));
        }
    }
    let settings = [("subscribers", cohorts.len().to_string())];
    let writers = stage.cohort("grid-publisher", publishers, &settings);
    for (reader, expected) in readers {
        let transports = reader.hear("transports ");
        assert!(
            transports.split(" | ").all(|text| text.starts_with(&format!("transport={expected}"))),
            "{transports}"
        );
        reader.finish();
    }
    writers.into_iter().for_each(crate::cast::Actor::finish);
    assert_eq!(stage.entries(), Vec::<String>::new(), "entries are withdrawn");
}

/// All transports at once: a cohort over each and one over both.
fn run_all(publishers: u32, subscribers: u32) {
    let (shm, tcp) = (TransportKind::Shm.name(), TransportKind::Tcp.name());
    run(publishers, subscribers, &[&[tcp], &[shm], &[shm, tcp]]);
}

macro_rules! combinations {
    ($($name:ident: $publishers:literal to $subscribers:literal,)*) => {
        $(#[test] fn $name() { run_all($publishers, $subscribers); })*
    };
}

combinations! {
    one_to_one: 1 to 1,
    one_to_two: 1 to 2,
    one_to_three: 1 to 3,
    two_to_one: 2 to 1,
    two_to_two: 2 to 2,
    two_to_three: 2 to 3,
    four_to_one: 4 to 1,
    four_to_two: 4 to 2,
    four_to_three: 4 to 3,
}
