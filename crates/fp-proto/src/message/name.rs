//! What people call a message.

use crate::message::Message;

impl Message {
    /// The name of the variant, for messages to people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Heartbeat => "Heartbeat",
            Self::Probe { .. } => "Probe",
            Self::ProbeReply { .. } => "ProbeReply",
            Self::Join { .. } => "Join",
            Self::Welcome { .. } => "Welcome",
            Self::Refused { .. } => "Refused",
            Self::TreeHello { .. } => "TreeHello",
            Self::SubtreeOpen => "SubtreeOpen",
            Self::CohortOpen => "CohortOpen",
            Self::RankLost { .. } => "RankLost",
            Self::Ready { .. } => "Ready",
            Self::Prepared { .. } => "Prepared",
            Self::Expire { .. } => "Expire",
            Self::Closing { .. } => "Closing",
            Self::Late { .. } => "Late",
            Self::TableRequest { .. } => "TableRequest",
            Self::TableReply { .. } => "TableReply",
            Self::Log { .. } => "Log",
            Self::Subscribe { .. } => "Subscribe",
            Self::Subscribed { .. } => "Subscribed",
            Self::Assign(_) => "Assign",
            Self::Release { .. } => "Release",
            Self::Reselect { .. } => "Reselect",
            Self::Reselected { .. } => "Reselected",
            Self::Unsubscribe => "Unsubscribe",
            Self::StreamEnd { .. } => "StreamEnd",
            Self::Leaving => "Leaving",
            Self::Attached { .. } => "Attached",
            Self::AwaitingRestart { .. } => "AwaitingRestart",
            Self::Left => "Left",
            Self::Resolve { .. } => "Resolve",
            Self::Resolved { .. } => "Resolved",
            Self::Fragment { .. } => "Fragment",
            Self::TableRefused { .. } => "TableRefused",
            Self::Unresolved { .. } => "Unresolved",
            Self::RestartHeard => "RestartHeard",
            Self::AskContacts { .. } => "AskContacts",
            Self::Contacts { .. } => "Contacts",
            Self::AskStatus { .. } => "AskStatus",
            Self::Status { .. } => "Status",
            Self::StatusRefused { .. } => "StatusRefused",
            Self::ReadyMeasured { .. } => "ReadyMeasured",
            Self::AssignJudged { .. } => "AssignJudged",
            Self::Steer { .. } => "Steer",
            Self::Steered { .. } => "Steered",
            Self::SteeringAnswer { .. } => "SteeringAnswer",
        }
    }
}
