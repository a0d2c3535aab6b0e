//! What a subscription asks of publishers besides variables. The machines carry and compare it.

use crate::bounds::{
    LIMIT_DERIVATIONS, LIMIT_DERIVATIONS_BYTES, LIMIT_MODULES, LIMIT_MODULES_BYTES, LIMIT_NAME_BYTES,
};
use serde::{Deserialize, Serialize};

/// One thing that a subscription asks for in every step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Request {
    /// A variable that is derived of published ones.
    Derivation {
        /// The derivation's canonical bytes: not looked into here.
        #[serde(with = "serde_bytes")]
        derivation: Vec<u8>,
        /// Whether the subscriber derives it in steps in which the inputs have fewer bytes.
        may_be_left: bool,
    },
    /// A module that derivations run.
    Module {
        /// WebAssembly: not looked into here.
        #[serde(with = "serde_bytes")]
        code: Vec<u8>,
        /// Who hands it over, if that is known. The publisher's lead writes what its link proves.
        user: Option<u32>,
    },
    /// Records that go through a transform which the publisher, or the subscriber, knows by its name.
    Transform {
        /// The published variable.
        variable: String,
        /// The transform.
        transform: String,
        /// Whether the subscriber does it, and the publisher just counts it.
        is_left: bool,
    },
}

impl Request {
    /// Bytes of what is asked for, without what says that it is asked for.
    pub fn len_bytes(&self) -> usize {
        match self {
            Self::Derivation { derivation, .. } => derivation.len(),
            Self::Module { code, .. } => code.len(),
            Self::Transform { variable, transform, .. } => variable.len() + transform.len(),
        }
    }

    /// Whether it is a module, which is nothing that is read.
    pub fn is_module(&self) -> bool {
        matches!(self, Self::Module { .. })
    }

    fn names_fit(&self) -> bool {
        match self {
            Self::Derivation { .. } | Self::Module { .. } => true,
            Self::Transform { variable, transform, .. } => {
                variable.len().max(transform.len()) <= LIMIT_NAME_BYTES
            }
        }
    }
}

/// Writes who handed modules over, whatever stood there.
pub fn vouch(requests: &mut [Request], uid: Option<u32>) {
    for request in requests {
        if let Request::Module { user, .. } = request {
            *user = uid;
        }
    }
}

/// Whether there are no more of them, and no longer ones, than a subscription may have.
pub(crate) fn are_within_bounds(requests: &[Request]) -> bool {
    let within = |of_modules: bool, limit: usize, limit_bytes: usize| {
        let some = || requests.iter().filter(|request| request.is_module() == of_modules);
        some().count() <= limit && some().map(Request::len_bytes).sum::<usize>() <= limit_bytes
    };
    within(false, LIMIT_DERIVATIONS, LIMIT_DERIVATIONS_BYTES)
        && within(true, LIMIT_MODULES, LIMIT_MODULES_BYTES)
        && requests.iter().all(Request::names_fit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::LIMIT_DERIVATION_BYTES;

    fn module(len_bytes: usize) -> Request {
        Request::Module { code: vec![0; len_bytes], user: None }
    }

    fn derivation(len_bytes: usize) -> Request {
        Request::Derivation { derivation: vec![0; len_bytes], may_be_left: false }
    }

    #[test]
    fn each_kind_has_its_bounds() {
        let within = |requests: &[Request]| are_within_bounds(requests);
        assert!(within(&vec![derivation(1); LIMIT_DERIVATIONS]));
        assert!(!within(&vec![derivation(1); LIMIT_DERIVATIONS + 1]));
        let longest =
            [vec![derivation(LIMIT_DERIVATION_BYTES)], vec![derivation(1024); LIMIT_DERIVATIONS - 1]];
        assert!(
            within(&longest.concat()),
            "the longest that there is, and a kilobyte for each of the others"
        );
        assert!(within(&[derivation(LIMIT_DERIVATIONS_BYTES), module(LIMIT_MODULES_BYTES)]));
        assert!(!within(&[derivation(LIMIT_DERIVATIONS_BYTES + 1)]));
        assert!(!within(&vec![module(1); LIMIT_MODULES + 1]) && !within(&[module(LIMIT_MODULES_BYTES + 1)]));
        let transform = |len: usize| Request::Transform {
            variable: "bonds".to_owned(),
            transform: "t".repeat(len),
            is_left: true,
        };
        assert!(within(&[transform(LIMIT_NAME_BYTES)]) && !within(&[transform(LIMIT_NAME_BYTES + 1)]));
    }

    #[test]
    fn who_hands_over_is_what_the_link_says() {
        let root = Request::Module { code: b"code".to_vec(), user: Some(0) };
        let mut requests = [derivation(3), root];
        let users = |requests: &[Request]| {
            let of =
                |request: &Request| if let Request::Module { user, .. } = request { *user } else { None };
            requests.iter().map(of).collect::<Vec<_>>()
        };
        vouch(&mut requests, None);
        assert_eq!(users(&requests), [None, None], "nobody is root because he says so");
        vouch(&mut requests, Some(1000));
        assert_eq!(users(&requests), [None, Some(1000)]);
        assert_eq!(requests[0], derivation(3));
    }
}
