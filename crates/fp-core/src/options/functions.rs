//! Functions that derivations call by their names: those that are registered on the side that derives.

use crate::options::module::Code;
use crate::options::publisher::PublisherOptions;
use fp_transform::{
    CohortSide, Derivation, DerivationPlan, DeriveError, Modules, Native, RunModule, Transforms,
};
use std::sync::Arc;
use std::time::Duration;

/// The most names of transforms that a failure lists.
const LIMIT_NAMES: usize = 16;

/// Why a function is not called.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallProblem {
    #[error("this {side} has no transforms registered")]
    NoRegistry { side: &'static str },
    #[error("this {side} knows no transform {name:?}; of arrays it knows: {known}")]
    Unknown { side: &'static str, name: String, known: String },
    #[error("transform {name:?} takes records of type {takes}; of arrays this {side} knows: {known}")]
    Records { side: &'static str, name: String, takes: String, known: String },
    #[error("transform {name:?} is to run where its result is wanted")]
    Elsewhere { name: String },
}

/// What derivations call, by name.
pub(crate) type Functions = Vec<(String, Arc<dyn RunModule>)>;

/// The side that derives: what is registered there, and how long calls may take besides what that says itself.
pub(crate) struct Caller<'a> {
    transforms: Option<&'a Transforms>,
    side: &'static str,
    /// For a thread, and for the call.
    limits: (Duration, Duration),
}

impl<'a> Caller<'a> {
    /// A publisher rank. A call is to end before the derivation is given up that it is for.
    pub(crate) fn publisher(options: &'a PublisherOptions) -> Self {
        let eighth = options.derive_timeout / 8;
        Self { transforms: options.transforms.as_ref(), side: "publisher", limits: (eighth, eighth * 6) }
    }

    /// A subscriber. Who waits for a result may give up soon, which says nothing of the function: its own limits hold.
    pub(crate) fn subscriber(transforms: Option<&'a Transforms>) -> Self {
        Self { transforms, side: "subscriber", limits: (Duration::MAX, Duration::MAX) }
    }

    /// What a derivation calls, if all of it can be called here.
    pub(crate) fn functions(&self, derivation: &Derivation) -> Result<Functions, CallProblem> {
        derivation.functions().map(|call| Ok((call.name().to_owned(), self.function(call.name())?))).collect()
    }

    fn function(&self, name: &str) -> Result<Arc<dyn RunModule>, CallProblem> {
        let (side, name) = (self.side, name.to_owned());
        let transforms = self.transforms.ok_or(CallProblem::NoRegistry { side })?;
        let Some(native) = transforms.native(&name) else {
            return Err(CallProblem::Unknown { side, name, known: self.known(transforms) });
        };
        if let Some((takes, _)) = &native.schemas {
            let (takes, known) = (takes.record().name.clone(), self.known(transforms));
            return Err(CallProblem::Records { side, name, takes, known });
        }
        if !self.runs(&native) {
            return Err(CallProblem::Elsewhere { name });
        }
        let (waiting, running) = self.limits;
        Ok(transforms.function_within(name, waiting, running))
    }

    /// Whether a transform may run on this side.
    fn runs(&self, native: &Native) -> bool {
        self.side == "subscriber" || native.placement != CohortSide::Subscriber
    }

    /// The transforms that could have been called.
    fn known(&self, transforms: &Transforms) -> String {
        let of_arrays = |native: &Native| native.schemas.is_none() && self.runs(native);
        let known = transforms.registered().into_iter().filter(of_arrays).map(|native| native.name);
        let names: Vec<String> = known.take(LIMIT_NAMES).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

/// What a derivation needs that is not built in.
pub(crate) struct Foreign {
    pub(crate) modules: Arc<Modules>,
    pub(crate) code: Code,
    pub(crate) functions: Functions,
}

impl Foreign {
    /// Whether there is nothing to run.
    pub(crate) fn is_empty(&self) -> bool {
        self.code.is_empty() && self.functions.is_empty()
    }

    /// The plan with all of it. Waits for modules that are new to be compiled: on a thread of the pool.
    pub(crate) fn attach(self, mut plan: DerivationPlan) -> Result<DerivationPlan, DeriveError> {
        for (hash, bytes) in self.code {
            plan = plan.with_module(hash, self.modules.load(hash, &bytes)?);
        }
        Ok(self.functions.into_iter().fold(plan, |plan, (name, function)| plan.with_function(name, function)))
    }
}
