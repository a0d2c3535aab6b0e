//! Features over time: by hand, and against the rule as it is written.

use std::collections::BTreeMap;

use fp_analysis::{EventKind, FeatureEvent, Neighbours, Threshold, TrackedStep};
use proptest::prelude::*;

use crate::fields::{Analysis, field};
use crate::oracle::Field;

fn event(kind: EventKind, id: u64, other: u64) -> FeatureEvent {
    FeatureEvent { kind, id, other: (other > 0).then_some(other) }
}

/// A row of letters is a field of one row; anything but a dot counts.
fn line(text: &str) -> Field {
    let elements = text.chars().map(|letter| f64::from(u8::from(letter != '.'))).collect();
    let extents = vec![1, text.len() as u64];
    Field { extents, periodic: Vec::new(), neighbours: Neighbours::Faces, elements }
}

fn ids(step: &TrackedStep) -> Vec<u64> {
    step.features.iter().map(|of| of.id).collect()
}

#[test]
fn the_largest_overlap_keeps_the_id() {
    let mut analysis = Analysis::new(&"x > 0".parse().expect("a threshold"), 1);
    let mut take = |text: &str| {
        let step = analysis.take(&line(text), &[]);
        (ids(&step), step.events.clone(), step)
    };
    let (first, events, _) = take("####.##.#...");
    assert_eq!((first, events.len()), (vec![1, 2, 3], 3));
    assert!(take("####.##.#...").1.is_empty(), "nothing happens");
    // 1 splits, and its second part is as large as its first: the one that comes first keeps the id.
    let (split, events, step) = take("#.##.##.#...");
    assert_eq!(split, [4, 1, 2, 3]);
    assert_eq!(events, [event(EventKind::Split, 1, 4)]);
    assert_eq!(step.features.iter().map(|of| of.growth).collect::<Vec<_>>(), [1, -2, 0, 0]);
    assert_eq!(step.features.iter().map(|of| of.age).collect::<Vec<_>>(), [0, 2, 2, 2]);
    // 1 and 2 share as much with what they became: the lower id stays. 3 dies, and another is born.
    let (merged, events, step) = take("#.#####....#");
    assert_eq!(merged, [4, 1, 5]);
    assert_eq!(
        events,
        [event(EventKind::Death, 3, 0), event(EventKind::Merge, 1, 2), event(EventKind::Birth, 5, 0)]
    );
    assert_eq!(step.died, [(3, 1)]);
    // All merge into one that shares more with 1 than with 4 or 5.
    let (one, events, _) = take("############");
    assert_eq!(one, [1]);
    assert_eq!(events, [event(EventKind::Merge, 1, 4), event(EventKind::Merge, 1, 5)]);
    // What splits from it gets new ids, none of which anybody had.
    let (parts, events, _) = take("##.##.######");
    assert_eq!(parts, [6, 7, 1]);
    assert_eq!(events, [event(EventKind::Split, 1, 6), event(EventKind::Split, 1, 7)]);
}

#[test]
fn another_shape_has_other_features() {
    let mut analysis = Analysis::new(&"x > 0".parse().expect("a threshold"), 1);
    assert_eq!(ids(&analysis.take(&line("##.#"), &[])), [1, 2]);
    let step = analysis.take(&line("##.##"), &[]);
    assert_eq!(ids(&step), [3, 4]);
    let kinds: Vec<EventKind> = step.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Death, EventKind::Death, EventKind::Birth, EventKind::Birth]);
}

#[test]
fn columns_correlate_over_a_life() {
    let mut analysis = Analysis::new(&"x > 0".parse().expect("a threshold"), 1);
    let mut last = 0.0;
    for (text, peak) in [("##...", 2.0), ("###..", 3.0), ("####.", 4.0), ("#####", 4.0)] {
        let mut field = line(text);
        field.elements.iter_mut().for_each(|element| *element *= peak);
        last = analysis.take(&field, &[]).features[0].correlation;
    }
    let (volumes, peaks) = ([2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 4.0]);
    let wanted = fp_analysis::correlation(volumes.into_iter().zip(peaks));
    assert!((last - wanted).abs() < 1e-12 && last > 0.9 && last < 1.0, "{last} {wanted}");
}

/// The rule, one pair after another, over sets of elements.
struct Rule {
    before: Vec<(u64, Vec<usize>)>,
    next: u64,
}

impl Rule {
    fn take(&mut self, field: &Field, threshold: &Threshold) -> (Vec<u64>, Vec<FeatureEvent>) {
        let (filled, of) = field.flood(threshold);
        let mut now: Vec<Vec<usize>> = vec![Vec::new(); filled.len()];
        of.into_iter().for_each(|(number, feature)| now[feature].push(number));
        let shared = |one: &[usize], other: &[usize]| one.iter().filter(|at| other.contains(at)).count();
        let mut pairs = Vec::new();
        for (before, (id, old)) in self.before.iter().enumerate() {
            for (new, elements) in now.iter().enumerate() {
                pairs.push((shared(old, elements), *id, before, new));
            }
        }
        pairs.retain(|pair| pair.0 > 0);
        pairs.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)).then(one.3.cmp(&other.3)));
        let (mut ids, mut taken) = (BTreeMap::new(), Vec::new());
        for &(_, id, _, new) in &pairs {
            if !ids.contains_key(&new) && !taken.contains(&id) {
                ids.insert(new, id);
                taken.push(id);
            }
        }
        let mut events = Vec::new();
        for new in 0..now.len() {
            if ids.contains_key(&new) {
                continue;
            }
            // Pairs are sorted: the first one is the largest.
            events.push(match pairs.iter().find(|pair| pair.3 == new) {
                Some(pair) => event(EventKind::Split, pair.1, self.next),
                None => event(EventKind::Birth, self.next, 0),
            });
            ids.insert(new, self.next);
            self.next += 1;
        }
        for (before, (id, _)) in self.before.iter().enumerate().filter(|(_, (id, _))| !taken.contains(id)) {
            let of = pairs.iter().filter(|pair| pair.2 == before);
            let into = of.min_by_key(|pair| (std::cmp::Reverse(pair.0), ids[&pair.3]));
            events.push(match into {
                Some(pair) => event(EventKind::Merge, ids[&pair.3], *id),
                None => event(EventKind::Death, *id, 0),
            });
        }
        events.sort();
        let ids: Vec<u64> = ids.into_values().collect();
        self.before = ids.iter().copied().zip(now).collect();
        (ids, events)
    }
}

proptest! {
    #[test]
    fn tracking_follows_the_rule_whatever_the_cut(
        field in field(), changes in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..12), 1..6),
        ranks in 1usize..9, planes in prop::collection::vec(0u64..4, 8),
    ) {
        let threshold: Threshold = "x > 0".parse().expect("a threshold");
        let (mut whole, mut cut) = (Analysis::new(&threshold, 1), Analysis::new(&threshold, ranks));
        let mut rule = Rule { before: Vec::new(), next: 1 };
        let mut field = field;
        for change in changes {
            for at in change {
                let at = at.index(field.elements.len());
                field.elements[at] = if field.elements[at] > 0.0 { -1.0 } else { 2.0 };
            }
            let (one, other) = (whole.take(&field, &[]), cut.take(&field, &planes));
            let (wanted, events) = rule.take(&field, &threshold);
            prop_assert_eq!(ids(&one), wanted);
            prop_assert_eq!(&one.events, &events);
            // NaN is the same as NaN here: what is written is compared.
            prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
    }
}
