//! Who may do what with the streams of a publisher: a list of rules, of which the first that matches decides.

use fp_proto::access::Action;
use fp_transform::ModuleHash;
use fp_transport::{PeerProof, ShownToken, TokenHash};
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// Whom a rule is for. What a link cannot prove matches no rule but one for anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Who {
    /// Whoever gets through token and TLS, as far as there are any.
    Anybody,
    /// Processes of this user: known over inproc and shm, and never over tcp or verbs.
    Uid(u32),
    /// Holders of a certificate with this DNS name: known over tcp with TLS alone. Wildcards mean nothing.
    Certificate(String),
    /// Who shows the token with this hash.
    Token(TokenHash),
}

impl Who {
    fn is(&self, proof: &PeerProof) -> bool {
        match self {
            Self::Anybody => true,
            Self::Uid(uid) => proof.uid() == Some(*uid),
            Self::Certificate(name) => {
                proof.certificate_names.iter().any(|known| known.eq_ignore_ascii_case(name))
            }
            Self::Token(hash) => match proof.token {
                ShownToken::Run(shown) | ShownToken::Listed(shown) => shown == *hash,
                ShownToken::None => false,
            },
        }
    }
}

/// One rule: in which streams, whom, what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRule {
    pub(crate) name: Option<String>,
    stream: String,
    who: Who,
    may: BTreeSet<Action>,
    modules: Option<BTreeSet<ModuleHash>>,
    pub(crate) line: Option<usize>,
}

impl AccessRule {
    /// A rule for streams whose name fits this pattern, in which `*` is any text and `?` any one letter. It allows
    /// nothing until [`AccessRule::with_actions`] says what.
    pub fn new(stream: &str, who: Who) -> Self {
        Self { name: None, stream: stream.to_owned(), who, may: BTreeSet::new(), modules: None, line: None }
    }

    /// Sets what it is called in refusals.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// Sets what it allows.
    #[must_use]
    pub fn with_actions(self, may: impl IntoIterator<Item = Action>) -> Self {
        Self { may: may.into_iter().collect(), ..self }
    }

    /// Sets the modules that may be deployed, by the hash of their bytes. Without it, all may where `Deploy` is
    /// allowed.
    #[must_use]
    pub fn with_modules(self, modules: impl IntoIterator<Item = ModuleHash>) -> Self {
        Self { modules: Some(modules.into_iter().collect()), ..self }
    }

    pub(crate) fn allows(&self, action: Action) -> bool {
        self.may.contains(&action)
    }

    pub(crate) fn allows_module(&self, hash: ModuleHash) -> bool {
        self.modules.as_ref().is_none_or(|listed| listed.contains(&hash))
    }
}

/// Who may do what with the streams of a publisher. The first rule whose pattern and whose *who* fit decides alone.
/// What it does not allow, and what no rule is for, is refused.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::{Access, AccessRule, Action, PublisherOptions, Who};
///
/// let anyone = AccessRule::new("*", Who::Anybody).with_actions([Action::Subscribe]);
/// let options = PublisherOptions::default().with_access(Access::new().with_rule(anyone));
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub(crate) rules: Vec<AccessRule>,
    /// The file that it was read from.
    pub(crate) file: Option<PathBuf>,
}

/// A rule in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    index: usize,
    pub(crate) rule: &'a AccessRule,
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.index + 1)?;
        self.rule.name.as_ref().map_or(Ok(()), |name| write!(f, " ({name})"))
    }
}

impl Access {
    /// A list without a rule, which allows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule behind the others.
    #[must_use]
    pub fn with_rule(mut self, rule: AccessRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// The rule that decides for a peer.
    pub(crate) fn rule_for(&self, stream: &str, proof: &PeerProof) -> Option<Found<'_>> {
        let fits = |rule: &AccessRule| stream_name_fits(&rule.stream, stream) && rule.who.is(proof);
        let mut rules = self.rules.iter().enumerate();
        rules.find(|(_, rule)| fits(rule)).map(|(index, rule)| Found { index, rule })
    }

    /// The tokens that rules name.
    pub(crate) fn tokens(&self) -> Vec<TokenHash> {
        let token = |rule: &AccessRule| if let Who::Token(hash) = rule.who { Some(hash) } else { None };
        self.rules.iter().filter_map(token).collect()
    }
}

/// Whether the name of a stream fits a pattern, in which `*` is any text and `?` any one letter: as in an access list.
// Goes back to the last `*` alone, so it takes at most the product of both lengths.
pub fn stream_name_fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, of));
                at += 1;
            }
            Some(letter) if *letter == '?' || name.get(of) == Some(letter) => (at, of) = (at + 1, of + 1),
            _ => {
                let Some((back, begun)) = star else { return false };
                star = Some((back, begun + 1));
                (at, of) = (back + 1, begun + 1);
            }
        }
    }
    pattern.get(at..).is_none_or(|rest| rest.iter().all(|letter| *letter == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_names() {
        for (pattern, name, fits) in [
            ("heat", "heat", true),
            ("heat", "heater", false),
            ("*", "", true),
            ("he*t", "heart of heat", true),
            ("he*t", "heart", true),
            ("he*t", "hear", false),
            ("h?at", "heat", true),
            ("h?at", "hat", false),
            ("*.temp.*", "a.temp.temp.b", true),
            ("*a*b", "aaab", true),
            ("*a*b", "aaac", false),
            ("é?", "éa", true),
        ] {
            assert_eq!(stream_name_fits(pattern, name), fits, "{pattern:?} and {name:?}");
        }
    }
}
