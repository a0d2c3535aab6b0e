//! Deployed code of the command: conditions on what a module makes, that `flexpath watch` hands over.
//!
//! A binary of its own: it needs the feature `wasm`, and the shard of that name builds nothing else of this crate's tests.

#[allow(dead_code)] // each test binary uses its part
#[path = "suite/support.rs"]
mod support;
#[allow(dead_code)] // each test binary uses its part
#[path = "suite/watched_field.rs"]
mod watched_field;

use fp_core::ModuleHash;
use watched_field::{Known, Measure, SHAPE, Told, check, field};

fn twice(step: u64) -> Vec<f64> {
    field(step).into_iter().map(|x| 2.0 * x).collect()
}

/// The greatest of the rows 2 to 6, which both ranks have parts of, and where it is first.
fn greatest(all: &[f64]) -> Told {
    let rows = 2 * SHAPE[1] as usize..6 * SHAPE[1] as usize;
    let found = rows.fold(12, |found, at| if all[at] > all[found] { at } else { found });
    at(all, found)
}

fn least(all: &[f64]) -> Told {
    at(all, (1..all.len()).fold(0, |found, at| if all[at] < all[found] { at } else { found }))
}

fn at(all: &[f64], index: usize) -> Told {
    (vec![2.0 * all[index]], Some([index as u64 / SHAPE[1], index as u64 % SHAPE[1]]))
}

fn is_hot(step: u64) -> bool {
    greatest(&field(step)).0[0] > 94.0
}

/// Conditions on what a module makes of each element hold at exactly the steps that are found here.
#[test]
fn conditions_on_modules_fire() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, code) = (folder.path().join("twice.wasm"), include_str!("../../fp-transform/guest/twice.wat"));
    let code = wat::parse_str(code).expect("WebAssembly text");
    std::fs::write(&file, &code).expect("written");
    let hot: Vec<Measure> = vec![("max(module(twice, T[2:6, :]))", greatest)];
    let cases = [
        Known {
            condition: "sum(module(twice, T)) > 50",
            is_met: |step| twice(step).iter().sum::<f64>() > 50.0,
            told: vec![("sum(module(twice, T))", |all| (vec![2.0 * all.iter().sum::<f64>()], None))],
        },
        Known { condition: "max(module(twice, T[2:6, :])) > 94", is_met: is_hot, told: hot.clone() },
        Known {
            condition: "rises(max(module(twice, T[2:6, :])) > 94)",
            is_met: |step| is_hot(step) && (step == 0 || !is_hot(step - 1)),
            told: hot,
        },
        Known {
            condition: "argmin(module(twice, T))[1] >= 3",
            is_met: |step| least(&field(step)).1.is_some_and(|place| place[1] >= 3),
            told: vec![("min(module(twice, T))", least)],
        },
    ];
    let named = format!("twice={}", file.display());
    // A name that is told has the module's hash in place of what the command calls it.
    let hash = ModuleHash::of(&code).to_string();
    check(&cases, &["--module", &named], |measure| measure.replace(&hash, "twice"));
}
