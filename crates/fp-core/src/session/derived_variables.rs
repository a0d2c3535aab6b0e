//! What a subscriber asks to be derived, and under which names it reads it.

use crate::options::derived_variable::DerivedVariable;
use crate::options::module::{Code, DeployedModule};
use crate::session::sides::SideRequests;
use crate::value::derived_names::{derived_name, failed_name, is_packed};
use fp_proto::subscriber::AttachmentId;
use fp_transform::{Derivation, Modules};
use fp_types::{BlockId, Region, TableId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Lists of parts that are remembered.
const LIMIT_LISTS: usize = 64;

/// A derived variable as its subscriber knows it.
pub(crate) struct DerivedRequest {
    pub(crate) name: String,
    pub(crate) derivation: Derivation,
    /// What the result is called in steps.
    pub(crate) variable: String,
    /// The name of the texts that say why there is none.
    pub(crate) failed: String,
    pub(crate) is_packed: bool,
    pub(crate) requests: SideRequests,
}

/// Where the blocks of one variable are: in one table of one epoch they are always the same.
pub(crate) type PartsKey = (Option<AttachmentId>, TableId, String);

/// All that a subscriber has derived for it.
pub(crate) struct Derived {
    asked: Vec<DerivedRequest>,
    /// What it handed over, and runs itself where it derives.
    modules: Vec<DeployedModule>,
    pub(crate) code: Arc<Modules>,
    parts: Mutex<HashMap<PartsKey, Vec<(BlockId, Region)>>>,
}

impl Derived {
    pub(crate) fn new<'a>(
        derivations: impl Iterator<Item = &'a DerivedVariable>,
        modules: &[DeployedModule],
    ) -> Self {
        let asked = |of: &DerivedVariable| DerivedRequest {
            name: of.name.clone(),
            variable: derived_name(of.derivation.id()),
            failed: failed_name(of.derivation.id()),
            is_packed: is_packed(&of.derivation),
            requests: SideRequests::of(&of.derivation),
            derivation: of.derivation.clone(),
        };
        let (asked, parts) = (derivations.map(asked).collect(), Mutex::new(HashMap::new()));
        Self { asked, modules: modules.to_vec(), code: Arc::default(), parts }
    }

    /// The modules that a derivation needs, each with its bytes.
    pub(crate) fn modules_of(&self, derivation: &Derivation) -> Code {
        let hashes: Vec<_> = derivation.modules().filter_map(|call| call.hash()).collect();
        let needed = self.modules.iter().filter(|module| hashes.contains(&module.hash));
        needed.map(|module| (module.hash, module.bytes.clone())).collect()
    }

    /// All of them.
    pub(crate) fn asked(&self) -> &[DerivedRequest] {
        &self.asked
    }

    /// The derived variable of that name, and which of its arrays: behind a dot, where it gives several.
    pub(crate) fn find<'n>(&self, variable: &'n str) -> Option<(&DerivedRequest, &'n str)> {
        self.asked.iter().find_map(|asked| match variable.strip_prefix(asked.name.as_str())? {
            "" => Some((asked, "")),
            rest => rest
                .strip_prefix('.')
                .filter(|part| matches!(*part, "index" | "value"))
                .map(|part| (asked, part)),
        })
    }

    pub(crate) fn known_parts(&self, key: &PartsKey) -> Option<Vec<(BlockId, Region)>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn keep_parts(&self, key: PartsKey, blocks: Vec<(BlockId, Region)>) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.len() >= LIMIT_LISTS {
            parts.clear();
        }
        parts.insert(key, blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::derivation::DerivationError;
    use crate::options::subscriber::SubscriberOptions;
    use crate::options::subscriber::requests;
    use crate::options::wanted_type::WantedType;
    use fp_proto::bounds::LIMIT_DERIVATIONS;

    fn variable(name: &str, text: &str) -> DerivedVariable {
        DerivedVariable::new(name, text).expect("a derivation")
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused_at_once() {
        let known = SubscriberOptions::default().with_request(variable("speed", "a, b | magnitude"));
        let known = known.expect("a derivation");
        let check = |name: &str, text: &str| known.clone().with_derivation(name, text).map(drop);
        assert_eq!(check("max", "a | max"), Ok(()));
        assert_eq!(check("speed", "a | max"), Err(DerivationError::Twice { name: "speed".to_owned() }));
        assert!(matches!(check("a/b", "a | max"), Err(DerivationError::Name(_))));
        assert!(matches!(check("both", "a, b"), Err(DerivationError::Several { count: 2, .. })));
        let add = |options: SubscriberOptions, at: usize| {
            options.with_derivation(at.to_string(), "a | max").expect("there is room")
        };
        let many = (1..LIMIT_DERIVATIONS).fold(known.clone(), add);
        assert_eq!(many.clone().with_derivation("more", "a | max").map(drop), Err(DerivationError::TooMany));
        let transformed = many.clone().with_transformed("more", "bonds", "adjacency").map(drop);
        assert_eq!(transformed, Err(DerivationError::TooMany));
        let schema = fp_types::record::RecordType::new("A")
            .field(fp_types::record::Field::new("a", fp_types::Dtype::U8));
        let wanted = WantedType::new(&schema.build().expect("a type"));
        assert!(many.with_request(wanted).is_ok(), "types do not travel");
    }

    #[test]
    fn equal_ones_travel_once() {
        let options = SubscriberOptions::default().with_derivation("a", "T | max");
        let twice = options.and_then(|options| options.with_derivation("b", " T|max ")).expect("derivations");
        assert_eq!(requests(&twice).len(), 1);
    }

    #[test]
    fn names_of_several_arrays_have_a_dot() {
        let derived = Derived::new([variable("hot", "T | points(> 5)")].iter(), &[]);
        let part = |name: &str| derived.find(name).map(|(_, part)| part.to_owned());
        assert_eq!(part("hot.index").as_deref(), Some("index"));
        assert_eq!((part("hot").as_deref(), part("hot.other"), part("hotter")), (Some(""), None, None));
    }
}
