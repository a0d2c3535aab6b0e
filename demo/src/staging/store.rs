//! The Zarr store that `flexpath tee` writes outside, opened with xarray.

use std::path::Path;
use std::process::Command;

use super::field::{COLUMNS, ROWS, temperature};
use super::settings::Settings;
use crate::shared::check_result::CheckResult;

/// Opens the store as an analyst would. It says the steps, the unit, and a sum over each step that knows every bit of
/// every number and its place.
const LOOK: &str = "
import json, sys, numpy, xarray
store = xarray.open_zarr(sys.argv[1])
found = store['temperature']
places = 2 * numpy.arange(found[0].size, dtype='u8') + 1
sums = [int((step.values.view('u8').ravel() * places).sum(dtype='u8')) for step in found]
print(json.dumps({'steps': store['step'].values.tolist(), 'sums': sums, 'unit': found.attrs['units']}))
";

/// What xarray found.
#[derive(serde::Deserialize)]
struct Found {
    steps: Vec<u64>,
    sums: Vec<u64>,
    unit: String,
}

/// Whether the store has every step, to the last bit.
pub(super) fn check(settings: &Settings, python: &Path) -> CheckResult {
    let name = "a Zarr store of it opens in xarray, whole";
    let found = match look(&settings.store(), python) {
        Ok(found) => found,
        Err(why) => return CheckResult::of(false, name, why),
    };
    let expected: Vec<u64> = (0..settings.steps).collect();
    let sums: Vec<u64> = expected.iter().map(|step| sum(*step)).collect();
    let is_whole = found.steps == expected && found.sums == sums && found.unit == "K";
    let (steps, store) = (found.steps.len(), settings.store());
    CheckResult::of(is_whole, name, format!("{steps} steps, every bit and the unit; {}", store.display()))
}

fn look(store: &Path, python: &Path) -> Result<Found, String> {
    let looked = Command::new(python).args(["-c", LOOK]).arg(store).output();
    let looked = looked.map_err(|error| format!("{}: {error}", python.display()))?;
    if !looked.status.success() {
        let said = String::from_utf8_lossy(&looked.stderr);
        return Err(said.lines().last().unwrap_or("xarray failed without a word").to_owned());
    }
    serde_json::from_slice(&looked.stdout).map_err(|error| error.to_string())
}

/// A sum over a step that knows every bit of every number, and its place.
fn sum(step: u64) -> u64 {
    let places = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
    let bits = places.map(|(row, column)| temperature(step, row, column).to_bits());
    bits.zip((1..).step_by(2)).fold(0, |sum: u64, (bits, place)| sum.wrapping_add(bits.wrapping_mul(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_sums_of_their_own() {
        assert_eq!(sum(7), sum(7));
        assert_ne!(sum(7), sum(8));
    }
}
