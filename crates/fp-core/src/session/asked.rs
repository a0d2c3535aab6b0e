//! Which variables subscriptions want of a publisher: their own, and those of which something is made for them.

use crate::options::transformed_variable::TransformedVariable;
use crate::session::publisher::PublisherSession;
use fp_proto::config::{SubscriptionSpec, VariableSet};
use fp_proto::request::Request;
use fp_types::Condition;

impl PublisherSession {
    /// What all subscriptions want of the next step.
    pub(crate) fn wanted_variables(&self) -> VariableSet {
        let asked = self.endpoint.inspect(|state| state.machine.asked());
        let wanted = asked.into_iter().map(|spec| self.wanted_by(spec));
        wanted.fold(VariableSet::Named(Vec::new()), VariableSet::union)
    }

    fn wanted_by(&self, spec: SubscriptionSpec) -> VariableSet {
        let made_of = spec.requests.iter().map(|request| self.inputs_of(request));
        let wanted = made_of.fold(spec.variables, VariableSet::union);
        match spec.when.as_deref().map(Condition::decode) {
            None => wanted,
            Some(Ok(condition)) => {
                wanted.union(VariableSet::named(condition.variables().into_iter().map(str::to_owned)))
            }
            // What it is about is not known here.
            Some(Err(_)) => VariableSet::All,
        }
    }

    /// The variables of which that is made. Of what is not known here nothing is made.
    fn inputs_of(&self, request: &Request) -> VariableSet {
        if let Some(transformed) = TransformedVariable::read(request) {
            return VariableSet::named([transformed.variable]);
        }
        let derived = self.deriver.known(request);
        VariableSet::named(derived.iter().flat_map(|(known, _)| known.derivation.inputs().to_vec()))
    }
}
