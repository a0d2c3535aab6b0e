//! What a subscriber asks to be derived, and under which names it reads it.

use super::deploying::{Code, DeployedModule, shipped};
use super::{derived_name, failed_name, is_packed};
use crate::options::SubscriberOptions;
use crate::records::TransformedVariable;
use crate::selected::Wants;
use fp_proto::bounds::{LIMIT_DERIVATIONS, LIMIT_DERIVATIONS_BYTES, LIMIT_MODULES, LIMIT_MODULES_BYTES};
use fp_transform::{Derivation, DeriveError, Modules, ParseDerivationError, Placement};
use fp_types::{BlockId, Epoch, NameError, TableId, validate_name};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

/// Lists of parts that are remembered.
const LIMIT_LISTS: usize = 64;

/// Why a derivation cannot be subscribed to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivationError {
    /// The text cannot be read; it says where.
    #[error(transparent)]
    Text(#[from] ParseDerivationError),
    /// No variable can have that name.
    #[error("the name of a derived variable: {0}")]
    Name(#[from] NameError),
    /// Something else is called so already.
    #[error("two derived variables are called {name:?}")]
    Twice {
        /// The name.
        name: String,
    },
    /// Several arrays with nothing that makes one of them.
    #[error("{derivation:?} gives {count} arrays, which are variables already")]
    Several {
        /// The derivation.
        derivation: String,
        /// How many.
        count: usize,
    },
    /// More than a subscription may ask for.
    #[error("a subscription asks for {LIMIT_DERIVATIONS} derivations at most")]
    TooMany,
    /// Longer than what a subscription may ask for.
    #[error(
        "the derivations of a subscription take {len_bytes} bytes, and {LIMIT_DERIVATIONS_BYTES} at most are sent"
    )]
    TooLong {
        /// What they take.
        len_bytes: usize,
    },
    /// It needs a module that [`SubscriberOptions::with_module`](crate::SubscriberOptions::with_module) has not named.
    #[error("{0}: with_module names it, before a derivation does")]
    NoModule(DeriveError),
    /// A module's name is no word, or is that of another one.
    #[error("a module cannot be called {name:?}: {what}")]
    ModuleName {
        /// The name.
        name: String,
        /// Why.
        what: &'static str,
    },
    /// More than a subscription may hand over.
    #[error("a subscription hands over {LIMIT_MODULES} modules at most")]
    TooManyModules,
    /// Longer than what a subscription may hand over.
    #[error(
        "the modules of a subscription take {len_bytes} bytes, and {LIMIT_MODULES_BYTES} at most are sent"
    )]
    ModulesTooLong {
        /// What they take.
        len_bytes: usize,
    },
}

impl From<Infallible> for DerivationError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// A variable that a subscriber has derived.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DerivedVariable {
    /// What it is read by.
    pub name: String,
    /// What it is derived by.
    pub derivation: Derivation,
    /// On which side.
    pub placement: Placement,
}

/// Marks a derivation that is done by the publisher.
pub(crate) const ALWAYS: u8 = 0;
/// Marks one that is done by the publisher unless its inputs have fewer bytes.
pub(crate) const FEWER_BYTES: u8 = 1;
/// Marks a module that derivations name.
pub(super) const MODULE: u8 = 2;
/// Marks records that go through a transform of the publisher's, before the lengths of two names and the names.
pub(crate) const THROUGH: u8 = 3;
/// Marks the same where the subscriber does it, of the variable that is kept for it.
pub(crate) const LEFT: u8 = 4;

/// What travels to have that derived.
pub(crate) fn with_mark(mark: u8, derivation: &Derivation) -> Vec<u8> {
    [&[mark], &derivation.to_bytes()[..]].concat()
}

/// Whether that is a module, and nothing that is derived.
pub(crate) fn is_module(marked: &[u8]) -> bool {
    marked.first() == Some(&MODULE)
}

/// What travels, each with a mark before its encoding: sorted, each once.
pub(crate) fn canonical(options: &SubscriberOptions) -> Vec<Vec<u8>> {
    let marked = |of: &DerivedVariable| {
        let mark = match of.placement {
            Placement::Publisher => ALWAYS,
            Placement::FewerBytes => FEWER_BYTES,
            Placement::Subscriber => return None,
        };
        Some(with_mark(mark, &of.derivation))
    };
    let through = options.transformed.iter().map(TransformedVariable::to_bytes);
    let mut all: Vec<Vec<u8>> = options.derivations.iter().filter_map(marked).chain(through).collect();
    let sent = options.derivations.iter().filter(|of| of.placement != Placement::Subscriber);
    let needed: Vec<_> = sent.flat_map(|of| of.derivation.modules()).filter_map(|of| of.hash()).collect();
    all.extend(options.modules.iter().filter(|module| needed.contains(&module.hash)).map(shipped));
    all.sort();
    all.dedup();
    all
}

impl DerivationError {
    /// Whether one more goes with those that are asked for.
    pub(crate) fn check(known: &[DerivedVariable], name: &str, derivation: &Derivation) -> Result<(), Self> {
        validate_name(name)?;
        let count = derivation.inputs().len();
        if known.iter().any(|other| other.name == name) {
            return Err(Self::Twice { name: name.to_owned() });
        }
        if derivation.operations().is_empty() && count > 1 {
            return Err(Self::Several { derivation: derivation.to_string(), count });
        }
        if known.len() >= LIMIT_DERIVATIONS {
            return Err(Self::TooMany);
        }
        let len = |derivation: &Derivation| 1 + derivation.to_bytes().len();
        let len_bytes = len(derivation) + known.iter().map(|of| len(&of.derivation)).sum::<usize>();
        if len_bytes > LIMIT_DERIVATIONS_BYTES {
            return Err(Self::TooLong { len_bytes });
        }
        Ok(())
    }
}

/// A derived variable as its subscriber knows it.
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) derivation: Derivation,
    /// What the result is called in steps.
    pub(crate) variable: String,
    /// What the texts are called that say why there is none.
    pub(crate) failed: String,
    pub(crate) is_packed: bool,
    /// What travels to have it done by the publisher, and by whom fewer bytes travel.
    always: Vec<u8>,
    fewer_bytes: Vec<u8>,
}

impl Asked {
    /// On which side it is derived where that is asked for. Where two names stand for the same derivation on several
    /// sides, any of them is as good.
    pub(crate) fn placement(&self, wants: &Wants) -> Placement {
        match () {
            () if wants.asks(&self.always) => Placement::Publisher,
            () if wants.asks(&self.fewer_bytes) => Placement::FewerBytes,
            () => Placement::Subscriber,
        }
    }
}

/// Where the parts of one variable are: in one table of one epoch they are always the same.
type PartsKey = (Option<Epoch>, TableId, String);

/// All that a subscriber has derived for it.
pub(crate) struct Derived {
    asked: Vec<Asked>,
    /// What it handed over, and runs itself where it derives.
    modules: Vec<DeployedModule>,
    pub(super) code: Arc<Modules>,
    parts: Mutex<HashMap<PartsKey, Vec<BlockId>>>,
}

impl Derived {
    pub(crate) fn new(derivations: &[DerivedVariable], modules: &[DeployedModule]) -> Self {
        let asked = |of: &DerivedVariable| Asked {
            name: of.name.clone(),
            variable: derived_name(of.derivation.id()),
            failed: failed_name(of.derivation.id()),
            is_packed: is_packed(&of.derivation),
            always: with_mark(ALWAYS, &of.derivation),
            fewer_bytes: with_mark(FEWER_BYTES, &of.derivation),
            derivation: of.derivation.clone(),
        };
        let (asked, parts) = (derivations.iter().map(asked).collect(), Mutex::new(HashMap::new()));
        Self { asked, modules: modules.to_vec(), code: Arc::default(), parts }
    }

    /// The modules that a derivation needs, each with its bytes.
    pub(super) fn modules_of(&self, derivation: &Derivation) -> Code {
        let hashes: Vec<_> = derivation.modules().filter_map(|call| call.hash()).collect();
        let needed = self.modules.iter().filter(|module| hashes.contains(&module.hash));
        needed.map(|module| (module.hash, module.bytes.clone())).collect()
    }

    /// All of them.
    pub(crate) fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// The derived variable of that name, and which of its arrays: behind a dot, where it gives several.
    pub(crate) fn find<'n>(&self, variable: &'n str) -> Option<(&Asked, &'n str)> {
        self.asked.iter().find_map(|asked| match variable.strip_prefix(asked.name.as_str())? {
            "" => Some((asked, "")),
            rest => rest
                .strip_prefix('.')
                .filter(|part| matches!(*part, "index" | "value"))
                .map(|part| (asked, part)),
        })
    }

    pub(super) fn known_parts(&self, key: &PartsKey) -> Option<Vec<BlockId>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(super) fn keep_parts(&self, key: PartsKey, blocks: Vec<BlockId>) {
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

    fn derivation(text: &str) -> Derivation {
        text.parse().expect("a derivation")
    }

    fn variable(name: &str, text: &str) -> DerivedVariable {
        DerivedVariable {
            name: name.to_owned(),
            derivation: derivation(text),
            placement: Placement::Publisher,
        }
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused_at_once() {
        let known = [variable("speed", "a, b | magnitude")];
        let check = |name: &str, text: &str| DerivationError::check(&known, name, &derivation(text));
        assert_eq!(check("max", "a | max"), Ok(()));
        assert_eq!(check("speed", "a | max"), Err(DerivationError::Twice { name: "speed".to_owned() }));
        assert!(matches!(check("a/b", "a | max"), Err(DerivationError::Name(_))));
        assert!(matches!(check("both", "a, b"), Err(DerivationError::Several { count: 2, .. })));
        let many: Vec<_> = (0..LIMIT_DERIVATIONS).map(|at| variable(&at.to_string(), "a | max")).collect();
        let more = DerivationError::check(&many, "more", &derivation("a | max"));
        assert_eq!(more, Err(DerivationError::TooMany));
    }

    #[test]
    fn equal_ones_travel_once() {
        let options = SubscriberOptions::default().with_derivation("a", "T | max");
        let twice = options.and_then(|options| options.with_derivation("b", " T|max ")).expect("derivations");
        assert_eq!(canonical(&twice).len(), 1);
    }

    #[test]
    fn names_of_several_arrays_have_a_dot() {
        let derived = Derived::new(&[variable("hot", "T | points(> 5)")], &[]);
        let part = |name: &str| derived.find(name).map(|(_, part)| part.to_owned());
        assert_eq!(part("hot.index").as_deref(), Some("index"));
        assert_eq!((part("hot").as_deref(), part("hot.other"), part("hotter")), (Some(""), None, None));
    }
}
