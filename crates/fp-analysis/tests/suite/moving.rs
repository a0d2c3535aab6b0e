//! A field of blobs that move by a script, and what becomes of them: known by the script, and the same for every cut.

use fp_analysis::{EventKind, Neighbours, Threshold, TrackedStep};

use crate::fields::Analysis;
use crate::oracle::Field;

const EXTENT: u64 = 32;
pub(crate) const STEPS: u64 = 60;

/// A blob: when it is there, where it begins, and how it moves in each step.
struct Blob {
    from: u64,
    to: u64,
    start: [f64; 3],
    moves: [f64; 3],
}

/// Two that are born and die, two that meet (one is taken in), one that parts in two, one that crosses the end of dimension
/// 0 again and again.
fn script() -> Vec<Blob> {
    let blob = |from, to, start, moves| Blob { from, to, start, moves };
    vec![
        blob(5, 30, [6.0, 6.0, 6.0], [0.1, 0.0, 0.1]),
        blob(12, 50, [6.0, 24.0, 6.0], [0.0, 0.1, 0.0]),
        blob(0, STEPS, [20.0, 8.0, 20.0], [0.0, 0.0, 0.1]),
        blob(0, STEPS, [20.0, 20.0, 20.0], [0.0, -0.2, 0.1]),
        blob(0, STEPS, [12.0, 16.0, 8.0], [0.08, 0.0, 0.0]),
        blob(0, STEPS, [12.5, 16.0, 8.0], [-0.08, 0.0, 0.0]),
        blob(0, STEPS, [28.0, 28.0, 28.0], [0.5, 0.0, 0.0]),
    ]
}

/// The field of a step: the greatest of all blobs, periodic in dimension 0.
pub(crate) fn field(step: u64) -> Field {
    let blobs: Vec<[f64; 3]> = script()
        .iter()
        .filter(|blob| (blob.from..blob.to).contains(&step))
        .map(|blob| std::array::from_fn(|dim| blob.start[dim] + blob.moves[dim] * step as f64))
        .collect();
    let element = |place: [u64; 3]| {
        let from = |centre: &[f64; 3]| {
            let mut apart: [f64; 3] = std::array::from_fn(|dim| place[dim] as f64 - centre[dim]);
            apart[0] -= (apart[0] / EXTENT as f64).round() * EXTENT as f64;
            (-apart.map(|by| by * by).iter().sum::<f64>() / 4.0).exp()
        };
        blobs.iter().map(from).fold(0.0, f64::max)
    };
    let places = (0..EXTENT).flat_map(|x| (0..EXTENT).flat_map(move |y| (0..EXTENT).map(move |z| [x, y, z])));
    Field {
        extents: vec![EXTENT; 3],
        periodic: vec![0],
        neighbours: Neighbours::Faces,
        elements: places.map(element).collect(),
    }
}

pub(crate) fn threshold() -> Threshold {
    "x > 0.5".parse().expect("a threshold")
}

/// What happens: kind, step, ids.
pub(crate) fn events(steps: &[TrackedStep]) -> Vec<(u64, EventKind, u64, u64)> {
    let of = |(at, step): (u64, &TrackedStep)| {
        let one = |event: &fp_analysis::FeatureEvent| (at, event.kind, event.id, event.other.unwrap_or(0));
        step.events.iter().map(one).collect::<Vec<_>>()
    };
    (0..).zip(steps).flat_map(of).collect()
}

#[test]
fn what_is_scripted_is_found_whatever_the_cut() {
    let fields: Vec<Field> = (0..STEPS).map(field).collect();
    let run = |ranks: u32| {
        let mut analysis = Analysis::new(&threshold(), ranks as usize);
        let planes = vec![u64::from(32 / ranks); ranks as usize];
        fields.iter().map(|field| analysis.take(field, &planes)).collect::<Vec<_>>()
    };
    let whole = run(1);
    let found = events(&whole);
    let count = |kind| found.iter().filter(|(_, found, ..)| *found == kind).count();
    // Four are there at first, as the last but two begin as one; two are born later.
    assert_eq!(found.iter().filter(|(step, ..)| *step == 0).count(), 4);
    let kinds = [EventKind::Birth, EventKind::Death, EventKind::Merge, EventKind::Split];
    assert_eq!(kinds.map(count), [6, 2, 1, 1], "{found:?}");
    let steps = |kind| {
        found.iter().filter(|(_, found, ..)| *found == kind).map(|(step, ..)| *step).collect::<Vec<_>>()
    };
    assert_eq!(steps(EventKind::Death), [30, 50]);
    assert_eq!(steps(EventKind::Birth), [0, 0, 0, 0, 5, 12]);
    for ranks in [2, 4, 8] {
        assert_eq!(format!("{:?}", run(ranks)), format!("{whole:?}"), "{ranks} ranks");
    }
}
