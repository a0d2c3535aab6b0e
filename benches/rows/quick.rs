//! Whether a bench is only to show that it works.

/// Whether `FLEXPATH_BENCH_QUICK` is set: few rounds of few bytes, whose figures mean nothing.
pub(crate) fn is_quick() -> bool {
    std::env::var_os("FLEXPATH_BENCH_QUICK").is_some_and(|set| !set.is_empty())
}

/// So many, or as few as that where it is quick.
pub(crate) fn or_quick<T>(many: T, few: T) -> T {
    if is_quick() { few } else { many }
}
