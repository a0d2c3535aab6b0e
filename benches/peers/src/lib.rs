//! What the peers' programs share: words of the command line, the clock, content, quantiles.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

/// No wait is longer.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The value of `key=value` among the words of the command line, or what is said.
pub fn word(key: &str, otherwise: &str) -> String {
    let found =
        std::env::args().find_map(|word| Some(word.split_once('=').filter(|(k, _)| *k == key)?.1.to_owned()));
    found.unwrap_or_else(|| otherwise.to_owned())
}

/// The same as a number.
pub fn number(key: &str, otherwise: usize) -> usize {
    let text = word(key, &otherwise.to_string());
    text.parse().unwrap_or_else(|_| panic!("{key}={text} is no number"))
}

/// The role: the first word.
pub fn role() -> String {
    std::env::args().nth(1).expect("a role")
}

/// An element: another value in every step and place.
pub fn element(step: usize, at: usize) -> i64 {
    (step as i64).wrapping_mul(1_000_003).wrapping_add(at as i64)
}

/// Looks at elements from end to end.
pub fn check(elements: &[i64], step: usize) {
    let last = elements.len() - 1;
    for at in (0..=64).map(|sample| last * sample / 64) {
        assert_eq!(elements[at], element(step, at), "WRONG DATA: element {at} of step {step}");
    }
}

/// That part of the values lies below this one. In microseconds.
pub fn quantile_us(times_ns: &mut [u64], part: f64) -> f64 {
    times_ns.sort_unstable();
    times_ns[((times_ns.len() - 1) as f64 * part).round() as usize] as f64 / 1e3
}

/// Waits, looking again and again, until it is so.
pub fn await_that(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what} did not come about within {PATIENCE:?}");
        std::thread::yield_now();
    }
}

/// Makes round trips and prints the halves of their times.
pub fn half_trips(version: &str, mut trip: impl FnMut(usize)) {
    let (steps, warm) = (number("steps", 2000), 100);
    let mut times_ns = Vec::new();
    for step in 0..warm + steps {
        let started = Instant::now();
        trip(step);
        if step >= warm {
            times_ns.push(started.elapsed().as_nanos() as u64 / 2);
        }
    }
    let (p50, p99) = (quantile_us(&mut times_ns, 0.5), quantile_us(&mut times_ns, 0.99));
    println!("{{\"p50_us\": {p50}, \"p99_us\": {p99}, \"version\": \"{version}\"}}");
}

/// Takes steps into an array and prints how fast they came.
pub fn timed(version: &str, mut take: impl FnMut(&mut [i64])) {
    let (steps, warm, bytes) = (number("steps", 50), 8, number("bytes", 1 << 20));
    let mut own = vec![-1i64; bytes / 8];
    let mut started = Instant::now();
    for step in 0..warm + steps {
        if step == warm {
            started = Instant::now();
        }
        take(&mut own);
        check(&own, step);
    }
    let rate = (bytes * steps) as f64 / started.elapsed().as_secs_f64() / 1e9;
    println!("{{\"gb_per_s\": {rate}, \"version\": \"{version}\"}}");
}
