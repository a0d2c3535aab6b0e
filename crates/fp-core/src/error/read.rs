//! Errors of reading as they are told to one who knows a variable by another name.

use crate::error::ReadError;

impl ReadError {
    /// The same of a variable that its user knows by another name.
    pub(crate) fn renamed(mut self, name: &str) -> Self {
        match &mut self {
            Self::Misuse { source, .. } => source.rename(name),
            Self::Plan { variable, .. }
            | Self::Records { variable, .. }
            | Self::Incompatible { variable, .. } => name.clone_into(variable),
            Self::Lost { .. }
            | Self::NoLayout { .. }
            | Self::Gone { .. }
            | Self::Denied { .. }
            | Self::TimedOut { .. }
            | Self::PeerMisbehaved { .. }
            | Self::NotTransformed { .. }
            | Self::NotDerived { .. }
            | Self::NoStep { .. }
            | Self::NotProvided { .. }
            | Self::Coordinator { .. } => {}
        }
        self
    }
}
