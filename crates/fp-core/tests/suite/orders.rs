//! Memory orders: whatever the order in which blocks are put, elements arrive in the order that the subscriber asks
//! for, over every transport. The oracle goes through the array element by element.

use crate::support::{Place, STREAM, take};
use fp_core::{
    BlockId, Dims, MemoryOrder, Publisher, Rank, Region, Select, StepReader, StridedRegion, Subscriber,
    TransportKind, Variable,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;

const ORDERS: [MemoryOrder; 2] = [MemoryOrder::RowMajor, MemoryOrder::ColumnMajor];

/// An array, where it is cut into two blocks, and a strided part of it.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<u64>,
    cut: (usize, u64),
    start: Vec<u64>,
    count: Vec<u64>,
    stride: Vec<u64>,
}

/// One long dimension, so that some runs are long, and up to three short ones.
fn cases() -> impl Strategy<Value = Case> {
    let extents = (prop::collection::vec(1..6u64, 0..4), 60..140u64, 0..4usize);
    let shapes = extents.prop_map(|(mut extents, long, at)| {
        extents.insert(at.min(extents.len()), long);
        extents
    });
    let sized = |shape: Vec<u64>| {
        let each = shape.iter().map(|&extent| (0..extent, 0..=extent, 1..4u64)).collect::<Vec<_>>();
        let cut = (0..shape.len(), 0.0..1.0f64);
        (Just(shape), each, cut)
    };
    shapes.prop_flat_map(sized).prop_map(|(shape, each, (dim, place))| {
        let cut = (dim, (shape[dim] as f64 * place) as u64);
        let start: Vec<u64> = each.iter().map(|(start, _, _)| *start).collect();
        let count = each.iter().zip(&shape).map(|((start, count, _), extent)| *count.min(&(extent - start)));
        let count = count.collect();
        Case { shape, cut, start, count, stride: each.iter().map(|(_, _, stride)| *stride).collect() }
    })
}

fn dims(numbers: &[u64]) -> Dims {
    Dims::from_slice(numbers).expect("few dimensions")
}

/// Every point of a strided region, in that order.
fn points(start: &[u64], count: &[u64], stride: &[u64], order: MemoryOrder) -> Vec<Vec<u64>> {
    let mut points = vec![Vec::new()];
    let dims: Vec<usize> = match order {
        MemoryOrder::RowMajor => (0..count.len()).collect(),
        MemoryOrder::ColumnMajor => (0..count.len()).rev().collect(),
    };
    for &dim in &dims {
        let of = |point: &Vec<u64>| {
            let longer = |at| point.iter().copied().chain([start[dim] + at]).collect();
            (0..count[dim]).step_by(stride[dim] as usize).map(longer).collect::<Vec<Vec<u64>>>()
        };
        points = points.iter().flat_map(of).collect();
    }
    if order == MemoryOrder::ColumnMajor {
        points.iter_mut().for_each(|point| point.reverse());
    }
    points
}

/// What lies at a point: a function of step and global index.
fn value(step: u64, shape: &[u64], point: &[u64]) -> u64 {
    (step << 32) | point.iter().zip(shape).fold(0, |index, (at, extent)| index * extent + at)
}

impl Case {
    fn blocks(&self) -> [(Vec<u64>, Vec<u64>); 2] {
        let (dim, at) = self.cut;
        let (mut below, mut above, mut start) =
            (self.shape.clone(), self.shape.clone(), vec![0; self.shape.len()]);
        (below[dim], above[dim]) = (at, self.shape[dim] - at);
        let zeros = start.clone();
        start[dim] = at;
        [(zeros, below), (start, above)]
    }

    fn elements(
        &self,
        step: u64,
        start: &[u64],
        count: &[u64],
        stride: &[u64],
        order: MemoryOrder,
    ) -> Vec<u64> {
        let points = points(start, count, stride, order);
        points.iter().map(|point| value(step, &self.shape, point)).collect()
    }

    fn publish(&self, publisher: &mut Publisher) {
        let ones = vec![1; self.shape.len()];
        let mut writer = publisher.begin_step().expect("a step");
        let step = writer.step().0;
        for order in ORDERS {
            let variable = Variable::global::<u64>(order.to_string(), &self.shape).expect("a shape");
            let variable = variable.with_order(order);
            for (start, count) in self.blocks() {
                let region = Region::new(dims(&start), dims(&count)).expect("a region");
                let elements = self.elements(step, &start, &count, &ones, order);
                writer.put(&variable, &region, elements).expect("put");
            }
        }
        writer.end().expect("ended");
    }

    /// Everything, a strided part, and the two blocks one after another: in both orders.
    fn check(&self, reader: &StepReader) -> Result<(), TestCaseError> {
        let (zeros, ones) = (vec![0; self.shape.len()], vec![1; self.shape.len()]);
        let region = Region::new(dims(&self.start), dims(&self.count)).expect("a region");
        let part = StridedRegion::new(region, dims(&self.stride)).expect("strides");
        let step = reader.step().0;
        for (put, order) in ORDERS.into_iter().flat_map(|put| ORDERS.map(|order| (put.to_string(), order))) {
            let get = |select: Select| reader.get::<u64>(&put, select.with_order(order)).expect("got");
            let all = self.elements(step, &zeros, &self.shape, &ones, order);
            prop_assert_eq!(&get("[...]".into()), &all);
            let expected = self.elements(step, &self.start, &self.count, &self.stride, order);
            prop_assert_eq!(&get(Select::from(part)), &expected);
            let view = reader.view::<u64>(&put, Select::from(part).with_order(order)).expect("viewed");
            prop_assert_eq!(&view[..], &expected);
            let [first, second] =
                self.blocks().map(|(start, count)| self.elements(step, &start, &count, &ones, order));
            prop_assert_eq!(get(BlockId::new(Rank(0), 1).into()), &second[..]);
            prop_assert_eq!(get(Rank(0).into()), [first, second].concat());
            let array = reader.get_array::<u64>(&put, Select::from("[...]").with_order(order)).expect("got");
            let is_right = array.indexed_iter().all(|(at, found)| {
                let point: Vec<u64> = (0..self.shape.len()).map(|dim| at[dim] as u64).collect();
                *found == value(step, &self.shape, &point)
            });
            prop_assert!(is_right, "an array of shape {:?}", array.shape());
        }
        Ok(())
    }
}

impl Case {
    /// Asynchronous gets plan by themselves.
    fn check_async(&self, reader: &StepReader) -> Result<(), TestCaseError> {
        let (zeros, ones) = (vec![0; self.shape.len()], vec![1; self.shape.len()]);
        for order in ORDERS {
            let select = Select::from("[...]").with_order(order);
            let got = crate::support::executor::block_on(reader.get_async::<u64>("row-major", select))
                .expect("got");
            prop_assert_eq!(got, self.elements(reader.step().0, &zeros, &self.shape, &ones, order));
        }
        Ok(())
    }
}

fn orders_over(kind: TransportKind) {
    let place = Place::new();
    let publisher = RefCell::new(place.publisher());
    let subscriber = RefCell::new(place.subscriber_over(kind));
    let outcome = TestRunner::new(ProptestConfig::with_cases(48)).run(&cases(), |case| {
        case.publish(&mut publisher.borrow_mut());
        let reader = take(&mut subscriber.borrow_mut());
        case.check(&reader)?;
        case.check_async(&reader)
    });
    outcome.expect("every element is where it was asked for");
    subscriber.into_inner().close().expect("left");
    publisher.into_inner().close().expect("closed");
}

#[test]
fn elements_arrive_in_the_order_asked_for_in_process() {
    orders_over(TransportKind::Inproc);
}

#[test]
fn elements_arrive_in_the_order_asked_for_over_shared_memory() {
    orders_over(TransportKind::Shm);
}

#[test]
fn elements_arrive_in_the_order_asked_for_over_tcp() {
    orders_over(TransportKind::Tcp);
}

#[test]
fn a_view_in_the_blocks_order_is_never_copied() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Shm)).expect("attached");
    let variable = Variable::global::<u64>("array", &[30, 40]).expect("a shape");
    let mut writer = publisher.begin_step().expect("a step");
    let region = Region::new([0, 0], [30, 40]).expect("a region");
    writer
        .put(&variable.with_order(MemoryOrder::ColumnMajor), &region, (0..1200).collect::<Vec<u64>>())
        .expect("put");
    writer.end().expect("ended");
    let reader = take(&mut subscriber);
    for (order, is_zero_copy) in [(MemoryOrder::ColumnMajor, true), (MemoryOrder::RowMajor, false)] {
        // Whole columns.
        let select = Select::from("[:, 3:7]").with_order(order);
        let view = reader.view::<u64>("array", select).expect("viewed");
        assert_eq!(view.is_zero_copy(), is_zero_copy);
        assert_eq!((view[0], view[1]), if is_zero_copy { (90, 91) } else { (90, 120) });
    }
    drop(reader);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

/// Unsorted, repeated, of two blocks that are each of another order: each point has its place in the selection.
#[test]
fn points_arrive_in_the_order_of_the_selection() {
    for kind in [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp] {
        let place = Place::new();
        let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber_over(kind));
        let grid = Variable::global::<u64>("grid", &[4, 6]).expect("a shape");
        let mut writer = publisher.begin_step().expect("a step");
        for half in [0u64, 1] {
            let region = Region::new([0, 3 * half], [4, 3]).expect("inside");
            let cells = (0..12).map(|cell| 6 * (cell / 3) + 3 * half + cell % 3).collect::<Vec<u64>>();
            writer.put(&grid, &region, cells).expect("put");
        }
        writer.end().expect("ended");
        let reader = take(&mut subscriber);
        let wanted = [(3, 5), (0, 0), (2, 1), (2, 4), (0, 0), (1, 3)];
        let points = wanted.map(|(row, column)| Dims::from([row, column])).to_vec();
        let expected = wanted.map(|(row, column)| 6 * row + column);
        let got = reader.get::<u64>("grid", fp_core::Selection::Points(points)).expect("got");
        assert_eq!(got, expected, "{kind}");
        drop(reader);
        subscriber.close().expect("left");
        publisher.close().expect("closed");
    }
}
