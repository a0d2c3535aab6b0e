//! Transforms as one process tells another of them: enough to find a way over them, and to ask for it by their names.

use super::path::{Leg, cheapest};
use super::transforms::{check_cost, check_pair};
use super::{
    CohortSide, Cost, DataType, MAX_TRANSFORMS, Native, PathError, RegisterError, TransformPath, Transforms,
};

/// A transform of records that another process may be asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Its name there.
    pub name: String,
    /// The type that it leads from.
    pub from: DataType,
    /// The type that it leads to.
    pub to: DataType,
    /// What it cost there, or is expected to.
    pub cost: Cost,
    /// Whether each record is made of one alone.
    pub is_one_by_one: bool,
    /// Whether it is to run there, whoever else knows it.
    pub is_for_publisher: bool,
}

/// The transforms that another process offers: no two between the same types, and no cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offers(Vec<Offer>);

impl Offers {
    /// What somebody said that it offers.
    ///
    /// # Errors
    /// As of registering them: names, costs, pairs of types and ways around that cannot be.
    pub fn new(offers: Vec<Offer>) -> Result<Self, RegisterError> {
        if offers.len() > MAX_TRANSFORMS {
            return Err(RegisterError::TooMany);
        }
        for (at, offer) in offers.iter().enumerate() {
            let (before, name) = (&offers[..at], &offer.name);
            fp_types::validate_name(name)?;
            check_cost(name, offer.cost)?;
            if before.iter().any(|known| known.name == *name) {
                return Err(RegisterError::NameTaken { name: name.clone() });
            }
            check_pair(&legs(before), name, &offer.from, &offer.to)?;
        }
        Ok(Self(offers))
    }

    /// All of them.
    pub fn all(&self) -> &[Offer] {
        &self.0
    }

    /// The cheapest way from one type to another for so many bytes.
    ///
    /// # Errors
    /// A type that nothing is known of, or no way.
    pub fn path(&self, from: &DataType, to: &DataType, input_bytes: u64) -> Result<TransformPath, PathError> {
        cheapest(&legs(&self.0), from, to, input_bytes)
    }

    /// Those on a way.
    pub fn on<'o>(&'o self, path: &'o TransformPath) -> impl Iterator<Item = &'o Offer> {
        path.steps.iter().filter_map(|(name, ..)| self.0.iter().find(|offer| offer.name == *name))
    }
}

fn legs(offers: &[Offer]) -> Vec<Leg<'_>> {
    offers
        .iter()
        .map(|offer| Leg { name: &offer.name, from: &offer.from, to: &offer.to, cost: offer.cost })
        .collect()
}

impl Transforms {
    /// What this process can do for others, with the costs that were measured, or else declared.
    pub fn offers(&self) -> Vec<Offer> {
        let offered = self.registered().into_iter().filter(Native::is_offered);
        let offer = |native: Native| {
            let (from, to) = native.types?;
            let cost = self.measured(&native.name).unwrap_or_default().cost(native.cost);
            let is_for_publisher = native.placement == CohortSide::Publisher;
            let is_one_by_one = native.is_one_by_one;
            Some(Offer { name: native.name, from, to, cost, is_one_by_one, is_for_publisher })
        };
        offered.filter_map(offer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::Dtype;

    fn offer(name: &str, from: Dtype, to: Dtype) -> Offer {
        let cost = Cost { nanos_per_byte: 1.0, output_ratio: 0.5 };
        let (name, from, to) = (name.to_owned(), from.into(), to.into());
        Offer { name, from, to, cost, is_one_by_one: false, is_for_publisher: false }
    }

    #[test]
    fn a_way_is_found_over_several() {
        let all = vec![offer("a", Dtype::F64, Dtype::F32), offer("b", Dtype::F32, Dtype::U8)];
        let offers = Offers::new(all).expect("sound");
        let path = offers.path(&Dtype::F64.into(), &Dtype::U8.into(), 1000).expect("a way");
        assert_eq!(path.steps.iter().map(|(name, ..)| &**name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(path.expected().1, 250.0);
        assert!(offers.on(&path).eq(offers.all()));
        assert!(offers.path(&Dtype::U8.into(), &Dtype::F64.into(), 1000).is_err());
    }

    #[test]
    fn what_cannot_be_registered_cannot_be_offered() {
        let (there, back) = (offer("a", Dtype::F64, Dtype::F32), offer("b", Dtype::F32, Dtype::F64));
        let refused = |offers| Offers::new(offers).unwrap_err();
        assert!(matches!(refused(vec![there.clone(), back]), RegisterError::Cycle { .. }));
        assert!(matches!(refused(vec![offer("a", Dtype::U8, Dtype::U8)]), RegisterError::Cycle { .. }));
        let twice = offer("b", Dtype::F64, Dtype::F32);
        assert!(matches!(refused(vec![there.clone(), twice]), RegisterError::PairTaken { .. }));
        let same = offer("a", Dtype::U8, Dtype::U16);
        assert!(matches!(refused(vec![there.clone(), same]), RegisterError::NameTaken { .. }));
        assert!(matches!(refused(vec![offer("", Dtype::U8, Dtype::U16)]), RegisterError::Name(_)));
        let mut dear = there.clone();
        dear.cost.nanos_per_byte = f64::NAN;
        assert!(matches!(refused(vec![dear]), RegisterError::Cost { .. }));
        let many = (0..=MAX_TRANSFORMS).map(|_| there.clone()).collect();
        assert!(matches!(refused(many), RegisterError::TooMany));
    }
}
