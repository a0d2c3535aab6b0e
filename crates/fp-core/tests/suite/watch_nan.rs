//! What every comparison makes of NaN: each quantity with each sign, and what remembers steps, beside rules written here.

use crate::watch_edges::{come_to, reals};
use fp_core::Judgement;

const STEPS: usize = 60;
/// Elements of a step.
const LEN: usize = 4;

/// Small whole numbers, of which one in nine is NaN.
fn steps() -> Vec<Vec<f64>> {
    let element = |at: usize| {
        let mixed = (at as u64 * 104_729 + 17).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        if mixed.is_multiple_of(9) { f64::NAN } else { (mixed / 9 % 10) as f64 }
    };
    (0..STEPS).map(|step| (0..LEN).map(|at| element(step * LEN + at)).collect()).collect()
}

/// NaN if any of them is.
fn folded(all: &[f64], fold: fn(f64, f64) -> f64) -> f64 {
    let is_nan = all.iter().any(|number| number.is_nan());
    let found = all.iter().copied().reduce(fold).expect("elements");
    if is_nan { f64::NAN } else { found }
}

fn max(all: &[f64]) -> f64 {
    folded(all, f64::max)
}

fn min(all: &[f64]) -> f64 {
    folded(all, f64::min)
}

fn sum(all: &[f64]) -> f64 {
    all.iter().sum()
}

fn mean(all: &[f64]) -> f64 {
    sum(all) / all.len() as f64
}

fn variance(all: &[f64]) -> f64 {
    all.iter().map(|one| (one - mean(all)).powi(2)).sum::<f64>() / all.len() as f64
}

/// The lower one of the two in the middle.
fn median(all: &[f64]) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sum(all).is_nan() { f64::NAN } else { sorted[LEN / 2 - 1] }
}

/// The first place of NaN, or of a number where there is none.
fn place(all: &[f64], number: f64) -> f64 {
    let is_it = |one: &f64| if number.is_nan() { one.is_nan() } else { *one == number };
    all.iter().position(is_it).expect("it is somewhere") as f64
}

/// What is made of two steps; before there are so many, what compares with nothing.
fn window(steps: &[Vec<f64>], made: fn(&[f64]) -> f64) -> f64 {
    let Some(first) = steps.len().checked_sub(2) else { return f64::NAN };
    made(&steps[first..].iter().map(|step| min(step)).collect::<Vec<_>>())
}

fn last(steps: &[Vec<f64>]) -> &[f64] {
    steps.last().expect("a step")
}

fn change(steps: &[Vec<f64>]) -> f64 {
    let before = steps.len().checked_sub(2).map(|at| max(&steps[at]));
    max(last(steps)) - before.unwrap_or(f64::NAN)
}

/// A number that is compared, and how it is found from all steps up to one; a threshold.
type Quantity = (&'static str, fn(&[Vec<f64>]) -> f64, f64);

const MEDIAN: &str = "quantile(T, 0.5, 0..16 / 16)";

const QUANTITIES: [Quantity; 14] = [
    ("max(T)", |steps| max(last(steps)), 7.0),
    ("min(T)", |steps| min(last(steps)), 1.0),
    ("sum(T)", |steps| sum(last(steps)), 18.0),
    ("mean(T)", |steps| mean(last(steps)), 4.5),
    ("variance(T)", |steps| variance(last(steps)), 8.0),
    (MEDIAN, |steps| median(last(steps)), 4.0),
    ("argmax(T)[0]", |steps| place(last(steps), max(last(steps))), 1.0),
    ("argmin(T)[0]", |steps| place(last(steps), min(last(steps))), 1.0),
    ("change(max(T))", change, 0.0),
    ("window(min(T), 2, min)", |steps| window(steps, min), 0.5),
    ("window(min(T), 2, max)", |steps| window(steps, max), 2.0),
    ("window(min(T), 2, sum)", |steps| window(steps, sum), 3.0),
    ("window(min(T), 2, mean)", |steps| window(steps, mean), 1.5),
    ("window(min(T), 2, range)", |steps| window(steps, |all| max(all) - min(all)), 1.0),
];

/// A sign, and whether a number compares so.
type Sign = (&'static str, fn(&f64, &f64) -> bool);

const SIGNS: [Sign; 4] = [(">", f64::gt), (">=", f64::ge), ("<", f64::lt), ("<=", f64::le)];

/// Conditions, each with the steps for which it holds.
type Known = Vec<(String, Vec<u64>)>;

/// The steps for which it is so, looked at with all that are before.
fn steps_where(all: &[Vec<f64>], is_so: impl Fn(&[Vec<f64>]) -> bool) -> Vec<u64> {
    (0..all.len()).filter(|at| is_so(&all[..=*at])).map(|at| at as u64).collect()
}

/// Every quantity with every sign, and what is `not` so.
fn comparisons(all: &[Vec<f64>]) -> Known {
    let mut known = Vec::new();
    for (text, of, threshold) in QUANTITIES {
        for (sign, holds) in SIGNS {
            let is_so = |steps: &[Vec<f64>]| {
                let least = of(steps);
                // Both ends of a quantile's bracket are compared.
                let most = if text == MEDIAN { least + 1.0 } else { least };
                holds(&least, &threshold) && holds(&most, &threshold)
            };
            let condition = format!("{text} {sign} {threshold}");
            known.push((format!("not {condition}"), steps_where(all, |steps| !is_so(steps))));
            known.push((condition, steps_where(all, is_so)));
        }
    }
    known
}

fn is_high(step: &[f64]) -> bool {
    max(step) > 7.0
}

/// What remembers whether a condition held: one that compares NaN did not.
fn memories(all: &[Vec<f64>]) -> Known {
    let rises = |steps: &[Vec<f64>], is_so: fn(&[f64]) -> bool| {
        is_so(last(steps)) && !steps.len().checked_sub(2).is_some_and(|at| is_so(&steps[at]))
    };
    let is_on = |steps: &[Vec<f64>]| {
        let is_off = |step: &[f64]| max(step) < 8.0;
        steps.iter().fold(false, |is_on, step| max(step) > 8.0 || (is_on && !is_off(step)))
    };
    let held = |steps: &[Vec<f64>], is_so: fn(&[f64]) -> bool| {
        steps.iter().rev().take(3).filter(|step| is_so(step)).count() >= 2
    };
    let known = |text: &str, steps: Vec<u64>| (text.to_owned(), steps);
    vec![
        known("rises(max(T) > 7)", steps_where(all, |steps| rises(steps, is_high))),
        known("rises(not max(T) > 7)", steps_where(all, |steps| rises(steps, |step| !is_high(step)))),
        known("hysteresis(max(T) > 8, max(T) < 8)", steps_where(all, is_on)),
        known("not hysteresis(max(T) > 8, max(T) < 8)", steps_where(all, |steps| !is_on(steps))),
        known("held(max(T) > 7, 2, 3)", steps_where(all, |steps| held(steps, is_high))),
        known("held(not max(T) > 7, 2, 3)", steps_where(all, |steps| held(steps, |step| !is_high(step)))),
    ]
}

/// What is told of a step: NaN is, and the place of the first one.
fn check_told(condition: &str, (step, judgement): (u64, &Judgement), all: &[Vec<f64>]) {
    assert_eq!(judgement.unjudged, None, "{condition}");
    let told = &judgement.measured[0];
    if told.measure == "max(T)" {
        let step = &all[step as usize];
        let number = told.number.expect("elements").as_f64();
        assert_eq!(number.to_bits(), max(step).to_bits(), "{condition}: {told:?}");
        assert_eq!(told.place, Some(vec![place(step, max(step)) as u64]), "{condition}: {told:?}");
    }
}

#[test]
fn what_every_comparison_makes_of_nan() {
    let all = steps();
    let is_nan = |step: &&Vec<f64>| max(step).is_nan();
    let nans = all.iter().filter(is_nan).count();
    assert!((10..STEPS - 10).contains(&nans), "{nans} steps have NaN");
    let known = [comparisons(&all), memories(&all)].concat();
    let conditions: Vec<&str> = known.iter().map(|(condition, _)| condition.as_str()).collect();
    for ((condition, expected), found) in known.iter().zip(come_to(&conditions, &reals(&all))) {
        let is_some = !expected.is_empty() && expected.len() < STEPS;
        assert!(is_some, "{condition} tells nothing: {expected:?}");
        let steps: Vec<u64> = found.iter().map(|(step, _)| *step).collect();
        assert_eq!(steps, *expected, "{condition}");
        found.iter().for_each(|(step, judgement)| check_told(condition, (*step, judgement), &all));
    }
}
