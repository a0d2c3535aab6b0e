//! A condition that was asked for, and what the publisher says of it.

use fp_proto::event::Event;
use fp_proto::outcome::RefusalReason;
use fp_types::StepId;

/// Until it is answered, or nobody waits for it any more.
pub(crate) struct AskedCondition {
    bytes: Option<Vec<u8>>,
    /// The first step that it holds for, or why it holds for none.
    pub(crate) answer: Option<Result<StepId, RefusalReason>>,
}

impl AskedCondition {
    pub(crate) fn new(bytes: Option<Vec<u8>>) -> Self {
        Self { bytes, answer: None }
    }

    /// Takes an answer from what the machine tells.
    pub(crate) fn hear(&mut self, event: &Event) {
        if let Event::Specified { first, spec } = event
            && spec.when == self.bytes
        {
            self.answer = Some(Ok(*first));
        }
        if let Event::ConditionRefused { reason } = event {
            self.answer = Some(Err(reason.clone()));
        }
    }
}
