//! Whether a peer may have what it asks this publisher rank for, by the access list.

use crate::options::access::Access;
use fp_proto::access::{Action, Denial};
use fp_proto::message::Message;
use fp_proto::request::Request;
use fp_proto::steering::{SteeringOutcome, SteeringRequest};
use fp_transform::ModuleHash;
use fp_transport::{PeerProof, ShownToken};
use fp_types::Condition;

/// Whether a condition has the publisher measure something.
fn is_measured(condition: &[u8]) -> bool {
    Condition::decode(condition).is_ok_and(|condition| !condition.measures().is_empty())
}

/// What one publisher rank lets others do with its stream.
pub(crate) struct Admission {
    /// `None`: whatever they like.
    access: Option<Access>,
    stream: String,
    has_run_token: bool,
}

impl Admission {
    pub(crate) fn new(access: Option<Access>, stream: &str, has_run_token: bool) -> Self {
        Self { access, stream: stream.to_owned(), has_run_token }
    }

    /// Whether what somebody who is no rank of the own cohort asks for is allowed.
    pub(crate) fn check(&self, message: &Message, proof: &PeerProof) -> Result<(), Denial> {
        if let Message::Subscribe { spec, .. } | Message::Reselect { spec } = message {
            if spec.when.as_deref().is_some_and(is_measured) {
                self.check_action(Action::Watch, proof)?;
            }
            return self.check_subscription(&spec.requests, proof);
        }
        if let Message::Join { .. } | Message::TreeHello { .. } = message {
            return self.check_rank(proof);
        }
        if let Message::Resolve { .. } | Message::AskContacts { .. } = message {
            return self.check_action(Action::Subscribe, proof);
        }
        if let Message::Steer { .. } = message {
            return self.check_action(Action::Request, proof);
        }
        if let Message::AskStatus { .. } = message {
            return self.check_action(Action::Status, proof);
        }
        // Signs of life and ends. What only ranks of the cohort may say is refused by the machine.
        Ok(())
    }

    /// Whether a peer may open a data link.
    pub(crate) fn check_action(&self, action: Action, proof: &PeerProof) -> Result<(), Denial> {
        let Some(access) = &self.access else { return Ok(()) };
        let found = access.rule_for(&self.stream, proof);
        if found.is_some_and(|found| found.rule.allows(action)) {
            return Ok(());
        }
        Err(self.denial(access, action, proof, None))
    }

    fn check_subscription(&self, requests: &[Request], proof: &PeerProof) -> Result<(), Denial> {
        self.check_action(Action::Subscribe, proof)?;
        for request in requests {
            match request {
                Request::Derivation { .. } | Request::Transform { is_left: false, .. } => {
                    self.check_action(Action::Derive, proof)?;
                }
                Request::Module { code, .. } => {
                    self.check_action(Action::Deploy, proof)?;
                    self.check_module(code, proof)?;
                }
                Request::Transform { is_left: true, .. } => {}
            }
        }
        Ok(())
    }

    fn check_module(&self, code: &[u8], proof: &PeerProof) -> Result<(), Denial> {
        let Some(access) = &self.access else { return Ok(()) };
        let hash = ModuleHash::of(code);
        match access.rule_for(&self.stream, proof) {
            Some(found) if !found.rule.allows_module(hash) => {
                Err(self.denial(access, Action::Deploy, proof, Some(hash)))
            }
            _ => Ok(()),
        }
    }

    /// Tokens of the list let nobody in among the publisher's own ranks.
    fn check_rank(&self, proof: &PeerProof) -> Result<(), Denial> {
        let is_own = !self.has_run_token || matches!(proof.token, ShownToken::Run(_));
        match &self.access {
            Some(access) if !is_own => Err(self.denial(access, Action::Join, proof, None)),
            _ => Ok(()),
        }
    }

    /// The refusal, which the log has with file and line.
    fn denial(
        &self,
        access: &Access,
        action: Action,
        proof: &PeerProof,
        module: Option<ModuleHash>,
    ) -> Denial {
        let found = access.rule_for(&self.stream, proof);
        let (rule, peer) = (found.map(|found| found.to_string()), proof.describe());
        let denial = Denial::new(action, rule, peer, module.map(|hash| hash.to_string()));
        let file = access.file.as_ref().map(|file| file.display().to_string());
        let line = found.and_then(|found| found.rule.line);
        tracing::warn!(stream = self.stream, %denial, file, line, "a peer was refused");
        denial
    }

    /// What a subscriber asked of the simulation, and what became of it.
    /// `by` is what it calls itself, `peer` what its link proves of it.
    pub(crate) fn log_request(
        &self,
        (request, outcome): (&SteeringRequest, &SteeringOutcome),
        proof: Option<&PeerProof>,
    ) {
        let (stream, SteeringRequest { name: parameter, value, by, .. }) = (&self.stream, request);
        let peer = proof.map_or_else(|| "it has left".to_owned(), PeerProof::describe);
        // A request that is refused costs who asks nothing: it does not fill the log.
        if matches!(outcome, SteeringOutcome::Refused(_)) {
            tracing::debug!(stream, parameter, %value, by, peer, %outcome, "a subscriber asked the simulation");
        } else {
            tracing::info!(stream, parameter, %value, by, peer, %outcome, "a subscriber asked the simulation");
        }
    }
}
