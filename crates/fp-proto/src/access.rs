//! Who may do what with a stream, as it travels: the actions of an access list, and a refusal by one.

use crate::bounds::LIMIT_NAME_BYTES;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What somebody may do with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Action {
    /// To subscribe: to take steps, layouts and types.
    Subscribe,
    /// To have the publisher derive something, or transform records.
    Derive,
    /// To hand over code that the publisher runs.
    Deploy,
    /// To have the publisher measure what a condition asks for.
    Watch,
    /// To ask something of the simulation.
    Request,
    /// To ask for the status of its ranks.
    Status,
    /// To be a rank of the publisher's own cohort: for whoever has the run's token, and in no list.
    Join,
}

impl Action {
    /// Those that an access list can name.
    pub const LISTED: [Action; 6] =
        [Self::Subscribe, Self::Derive, Self::Deploy, Self::Watch, Self::Request, Self::Status];

    /// The word for it in an access list.
    pub fn word(self) -> &'static str {
        match self {
            Self::Subscribe => "subscribe",
            Self::Derive => "derive",
            Self::Deploy => "deploy",
            Self::Watch => "watch",
            Self::Request => "request",
            Self::Status => "status",
            Self::Join => "join",
        }
    }

    /// What it is in a sentence.
    fn in_words(self) -> &'static str {
        match self {
            Self::Subscribe => "subscribe",
            Self::Derive => "have something derived",
            Self::Deploy => "deploy code",
            Self::Watch => "watch",
            Self::Request => "ask something of the simulation",
            Self::Status => "ask for the status",
            Self::Join => "join the publisher's ranks",
        }
    }
}

/// A refusal by an access list.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Denial {
    /// What was asked for.
    pub action: Action,
    /// The rule that decided; `None`: none is for this stream and peer.
    pub rule: Option<String>,
    /// Who asked, as the publisher knows it.
    pub peer: String,
    /// The hash of the module that the rule does not name, if that is the reason.
    pub module: Option<String>,
}

impl Denial {
    /// A refusal; texts that are too long to travel are cut.
    pub fn new(action: Action, rule: Option<String>, peer: String, module: Option<String>) -> Self {
        let (rule, module) = (rule.map(cut), module.map(cut));
        Self { action, rule, peer: cut(peer), module }
    }

    pub(crate) fn is_within_bounds(&self) -> bool {
        let texts = [Some(&self.peer), self.rule.as_ref(), self.module.as_ref()];
        texts.into_iter().flatten().all(|text| text.len() <= LIMIT_NAME_BYTES)
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (peer, action) = (&self.peer, self.action.in_words());
        match (&self.rule, &self.module) {
            (_, None) if self.action == Action::Join => {
                write!(f, "the publisher does not let {peer} {action}: that needs the run's own token")
            }
            (Some(rule), Some(module)) => {
                write!(f, "{rule} of the publisher's access list does not name the module {module} of {peer}")
            }
            (Some(rule), None) => {
                write!(f, "{rule} of the publisher's access list does not let {peer} {action}")
            }
            (None, _) => {
                write!(f, "no rule of the publisher's access list is for {peer}, so it may not {action}")
            }
        }
    }
}

/// The text, or as much of it as a name may be long.
fn cut(mut text: String) -> String {
    let end = (0..=LIMIT_NAME_BYTES.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    text.truncate(end.unwrap_or(0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_rule_and_peer_and_always_fits() {
        let denial = Denial::new(Action::Derive, Some("rule 2".to_owned()), "10.0.0.7:4000".to_owned(), None);
        assert_eq!(
            denial.to_string(),
            "rule 2 of the publisher's access list does not let 10.0.0.7:4000 have something derived"
        );
        let none = Denial { rule: None, ..denial.clone() };
        assert!(none.to_string().starts_with("no rule of the publisher's access list is for 10.0.0.7:4000"));
        let long = Denial::new(Action::Status, Some("é".repeat(200)), "x".repeat(300), None);
        assert!(long.is_within_bounds());
        assert_eq!(long.rule.map(|rule| rule.len()), Some(254), "no letter is cut in two");
        assert!(!Denial { peer: "x".repeat(256), ..denial }.is_within_bounds());
    }
}
