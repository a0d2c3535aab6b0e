//! Truth values: bytes that are 0 or 1. They travel, and are put and taken, as `u8`; puts and gets check them.

use crate::error::misuse::Misuse;
use fp_types::{Dtype, VariableDef};

/// Whether elements of the second type are those of a variable of the first.
pub(crate) fn goes_with(variable: Dtype, elements: Dtype) -> bool {
    variable == elements || (variable == Dtype::Bool && elements == Dtype::U8)
}

/// Whether these bytes of a variable are truth values, if it is one of those.
pub(crate) fn check(def: &VariableDef, bytes: &[u8]) -> Result<(), Misuse> {
    if def.dtype != Dtype::Bool {
        return Ok(());
    }
    match bytes.iter().find(|&&byte| byte > 1) {
        None => Ok(()),
        Some(&value) => Err(Misuse::NoTruthValue { variable: def.name.clone(), value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_than_0_and_1_are_found() {
        let mask = VariableDef::local_array("mask", Dtype::Bool, 1);
        assert_eq!(check(&mask, &[0, 1, 1]), Ok(()));
        let found = check(&mask, &[0, 2, 1]);
        assert_eq!(found, Err(Misuse::NoTruthValue { variable: "mask".into(), value: 2 }));
        assert_eq!(check(&VariableDef::local_array("bytes", Dtype::U8, 1), &[7]), Ok(()));
        assert!(goes_with(Dtype::Bool, Dtype::U8) && !goes_with(Dtype::U8, Dtype::Bool));
    }
}
