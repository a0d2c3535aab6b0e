//! `flexpath watch`: each kind of condition fires at exactly the steps that are found here, and tells their numbers.

use crate::watched_field::{Known, Measure, SHAPE, Told, all_ages, check, field};

fn sum(all: &[f64]) -> f64 {
    all.iter().sum()
}

fn mean(all: &[f64]) -> f64 {
    sum(all) / all.len() as f64
}

fn variance(all: &[f64]) -> f64 {
    all.iter().map(|x| (x - mean(all)).powi(2)).sum::<f64>() / all.len() as f64
}

/// The index of the greatest, or of the least, of which there is none before.
fn first(all: &[f64], is_beyond: fn(&f64, &f64) -> bool) -> usize {
    (1..all.len()).fold(0, |found, at| if is_beyond(&all[at], &all[found]) { at } else { found })
}

fn greatest(all: &[f64]) -> f64 {
    all[first(all, f64::gt)]
}

fn least(all: &[f64]) -> f64 {
    all[first(all, f64::lt)]
}

/// The least element that nine tenths of all are no more than.
fn quantile(all: &[f64]) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[43]
}

/// The greatest of the atoms, which weigh as much as the first elements of rows.
fn heaviest(all: &[f64]) -> f64 {
    greatest(&all.iter().copied().step_by(SHAPE[1] as usize).collect::<Vec<_>>())
}

/// The index of the greatest of rows 2 to 5, of every second column: both ranks have a part of it.
fn inner(all: &[f64]) -> usize {
    let columns = SHAPE[1] as usize;
    let within = (2 * columns..6 * columns).filter(|at| (at % columns).is_multiple_of(2));
    within.reduce(|found, at| if all[at] > all[found] { at } else { found }).expect("rows")
}

/// What was made of three steps is above a number: of what each has, by which statistic.
fn window(step: u64, of: fn(&[f64]) -> f64, made: fn([f64; 3]) -> f64, threshold: f64) -> bool {
    step >= 2 && made([step - 2, step - 1, step].map(|step| of(&field(step)))) > threshold
}

fn highest(numbers: [f64; 3]) -> f64 {
    numbers.into_iter().fold(f64::MIN, f64::max)
}

fn lowest(numbers: [f64; 3]) -> f64 {
    numbers.into_iter().fold(f64::MAX, f64::min)
}

fn count(all: &[f64], is_counted: fn(f64) -> bool) -> usize {
    all.iter().filter(|x| is_counted(**x)).count()
}

fn at(all: &[f64], index: usize) -> Told {
    (vec![all[index]], Some([index as u64 / SHAPE[1], index as u64 % SHAPE[1]]))
}

fn alone(number: f64) -> Told {
    (vec![number], None)
}

const MAX: Measure = ("max(T)", |all| at(all, first(all, f64::gt)));
const MIN: Measure = ("min(T)", |all| at(all, first(all, f64::lt)));
const SUM: Measure = ("sum(T)", |all| alone(sum(all)));
const MEAN: Measure = ("mean(T)", |all| alone(mean(all)));

fn is_hot(step: u64) -> bool {
    greatest(&field(step)) > 48.0
}

fn is_positive(step: u64) -> bool {
    sum(&field(step)) > 0.0
}

fn is_on(step: u64) -> bool {
    let sums = (0..=step).map(|step| sum(&field(step)));
    sums.fold(false, |on, sum| sum > 100.0 || (on && sum >= -100.0))
}

fn known(condition: &'static str, is_met: fn(u64) -> bool, told: &[Measure]) -> Known {
    Known { condition, is_met, told: told.to_vec() }
}

/// What is measured in one step alone.
fn of_one_step() -> Vec<Known> {
    vec![
        known("has(particles)", |step| step % 3 == 0, &[]),
        known("max(T) > 48", is_hot, &[MAX]),
        known("min(T) < -48", |step| least(&field(step)) < -48.0, &[MIN]),
        known("sum(T) > 0", is_positive, &[SUM]),
        known("mean(T) <= 1", |step| mean(&field(step)) <= 1.0, &[MEAN]),
        known(
            "variance(T) >= 850",
            |step| variance(&field(step)) >= 850.0,
            &[("variance(T)", |all| alone(variance(all)))],
        ),
        known(
            "count(T > 30) >= 10",
            |step| count(&field(step), |x| x > 30.0) >= 10,
            &[("count(T > 30.0)", |all| alone(count(all, |x| x > 30.0) as f64))],
        ),
        known(
            "any(T > 49)",
            |step| greatest(&field(step)) > 49.0,
            &[("any(T > 49.0)", |all| alone(count(all, |x| x > 49.0).min(1) as f64))],
        ),
        known(
            "all(T > -49)",
            |step| least(&field(step)) > -49.0,
            &[("all(T > -49.0)", |all| alone(f64::from(u8::from(least(all) > -49.0))))],
        ),
        known("argmax(T)[0] < 4", |step| first(&field(step), f64::gt) < 4 * 6, &[MAX]),
        known("argmin(T)[1] >= 3", |step| first(&field(step), f64::lt) % 6 >= 3, &[MIN]),
        known(
            "quantile(T, 0.9, -64..64 / 128) > 40",
            |step| quantile(&field(step)) > 40.0,
            &[("quantile(T, 0.9, -64.0..64.0 / 128)", |all| {
                (vec![quantile(all), quantile(all) + 1.0], None)
            })],
        ),
        known(
            "max(atoms.mass) > 30",
            |step| heaviest(&field(step)) > 30.0,
            &[("max(atoms.mass)", |all| alone(heaviest(all)))],
        ),
        known(
            "max(T[2:6, ::2]) > 45",
            |step| field(step)[inner(&field(step))] > 45.0,
            &[("max(T[2:6, ::2])", |all| at(all, inner(all)))],
        ),
        known(
            "sum(ages) > 0",
            |step| sum(&all_ages(&field(step))) > 0.0,
            &[("sum(ages)", |all| alone(sum(&all_ages(all))))],
        ),
        known(
            "sum(call(doubled, T)) > 50",
            |step| 2.0 * sum(&field(step)) > 50.0,
            &[("sum(call(doubled, T))", |all| alone(2.0 * sum(all)))],
        ),
    ]
}

/// What looks at steps before, and what is made of other conditions.
fn of_several() -> Vec<Known> {
    vec![
        known(
            "change(max(T)) > 0",
            |step| step > 0 && greatest(&field(step)) > greatest(&field(step - 1)),
            &[MAX],
        ),
        known(
            "max(T) > 48 and min(T) < -47",
            |step| is_hot(step) && least(&field(step)) < -47.0,
            &[MAX, MIN],
        ),
        known(
            "max(T) > 49 or sum(T) < -150",
            |step| greatest(&field(step)) > 49.0 || sum(&field(step)) < -150.0,
            &[MAX, SUM],
        ),
        known("not sum(T) > 0", |step| !is_positive(step), &[SUM]),
        known("rises(max(T) > 48)", |step| is_hot(step) && (step == 0 || !is_hot(step - 1)), &[MAX]),
        known("hysteresis(sum(T) > 100, sum(T) < -100)", is_on, &[SUM]),
        known(
            "held(sum(T) > 0, 2, 3)",
            |step| (step.saturating_sub(2)..=step).filter(|step| is_positive(*step)).count() >= 2,
            &[SUM],
        ),
        known("every(7)", |step| step % 7 == 0, &[]),
    ]
}

/// Each statistic of a window.
fn of_windows() -> Vec<Known> {
    vec![
        known("window(mean(T), 3, max) > 2", |step| window(step, mean, highest, 2.0), &[MEAN]),
        known("window(mean(T), 3, min) > -2", |step| window(step, mean, lowest, -2.0), &[MEAN]),
        known("window(sum(T), 3, sum) > 0", |step| window(step, sum, |of| of.iter().sum(), 0.0), &[SUM]),
        known(
            "window(mean(T), 3, mean) > 0",
            |step| window(step, mean, |of| of.iter().sum::<f64>() / 3.0, 0.0),
            &[MEAN],
        ),
        known(
            "window(max(T), 3, range) > 1",
            |step| window(step, greatest, |of| highest(of) - lowest(of), 1.0),
            &[MAX],
        ),
    ]
}

/// Each as a process of its own, all at one time.
#[test]
fn every_condition_fires() {
    let cases: Vec<Known> = of_one_step().into_iter().chain(of_several()).chain(of_windows()).collect();
    check(&cases, &[], str::to_owned);
}
