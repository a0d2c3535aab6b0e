//! The least of many numbers, by a plain loop.

/// Four at a time, so that no comparison waits for the one before.
pub(crate) fn least_of(numbers: &[f64]) -> f64 {
    let lesser = |one: f64, other: f64| if other < one { other } else { one };
    let (fours, rest) = numbers.as_chunks::<4>();
    let mut least = [f64::INFINITY; 4];
    for four in fours {
        for (least, number) in least.iter_mut().zip(four) {
            *least = lesser(*least, *number);
        }
    }
    least.into_iter().chain(rest.iter().copied()).fold(f64::INFINITY, lesser)
}
