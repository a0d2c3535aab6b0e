//! Numbers in JSON.

use serde_json::{Value, json};

/// JSON has no numbers for what is none, and for what is infinite: these texts stand for them, as Zarr has it.
pub(crate) fn real(number: f64) -> Value {
    if number.is_finite() {
        return json!(number);
    }
    let infinite = if number > 0.0 { "Infinity" } else { "-Infinity" };
    json!(if number.is_nan() { "NaN" } else { infinite })
}
