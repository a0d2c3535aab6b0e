//! Elements as text and as JSON, whatever their type.

use std::fmt;

use fp_core::Element;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use serde::Serialize;

/// An element that can be shown.
pub(crate) trait Shown: Element + fmt::Debug {
    /// What stands for it in JSON.
    type Json: Serialize;

    /// What stands for it in JSON; a number that is not finite becomes null there.
    fn to_json(&self) -> Self::Json;

    /// Its size on the number line, for the smallest, the largest and the mean; none where there is no order.
    fn magnitude(&self) -> Option<f64>;

    /// The shortest text that means exactly this value.
    fn to_text(&self) -> String {
        format!("{self:?}")
    }
}

/// Types that are numbers in JSON as they are.
macro_rules! shown_numbers {
    ($($number:ty),*) => {
        $(impl Shown for $number {
            type Json = Self;

            fn to_json(&self) -> Self {
                *self
            }

            fn magnitude(&self) -> Option<f64> {
                Some(*self as f64)
            }
        })*
    };
}

shown_numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

/// Half-precision types, shown as the `f32` of the same value.
macro_rules! shown_halves {
    ($($half:ty),*) => {
        $(impl Shown for $half {
            type Json = f32;

            fn to_json(&self) -> f32 {
                self.to_f32()
            }

            fn magnitude(&self) -> Option<f64> {
                Some(self.to_f64())
            }

            fn to_text(&self) -> String {
                format!("{:?}", self.to_f32())
            }
        })*
    };
}

shown_halves!(f16, bf16);

/// Complex types: a pair in JSON, `1.0+2.0i` as text.
macro_rules! shown_complex {
    ($($complex:ty: $part:ty),*) => {
        $(impl Shown for $complex {
            type Json = [$part; 2];

            fn to_json(&self) -> [$part; 2] {
                [self.re, self.im]
            }

            fn magnitude(&self) -> Option<f64> {
                None
            }

            fn to_text(&self) -> String {
                format!("{:?}{:+?}i", self.re, self.im)
            }
        })*
    };
}

shown_complex!(Complex32: f32, Complex64: f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn both<T: Shown>(value: T) -> (String, String) {
        (value.to_text(), serde_json::to_string(&value.to_json()).unwrap())
    }

    #[test]
    fn every_type_has_an_exact_short_text() {
        let pair = |text: &str, json: &str| (text.to_owned(), json.to_owned());
        assert_eq!(both(u64::MAX), pair("18446744073709551615", "18446744073709551615"));
        assert_eq!(both(0.1f32), pair("0.1", "0.1"));
        assert_eq!(both(1e300), pair("1e300", "1e+300"));
        assert_eq!(both(f64::NAN), pair("NaN", "null"));
        assert_eq!(both(f16::from_f32(0.5)), pair("0.5", "0.5"));
        assert_eq!(both(Complex64::new(1.0, -2.5)), pair("1.0-2.5i", "[1.0,-2.5]"));
    }
}
