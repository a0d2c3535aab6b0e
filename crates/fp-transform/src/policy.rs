//! Whose code a publisher runs: nobody's, unless its owner says otherwise; and what it may use.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The uid that the system shows where it cannot show the real one: it is nobody's in particular.
const OVERFLOW_UID: u32 = 65534;

/// The hash of a module's bytes (BLAKE3, 256 bits). Printed, and parsed, as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleHash(pub [u8; 32]);

impl ModuleHash {
    /// Of a module.
    pub fn of(module: &[u8]) -> Self {
        Self(*blake3::hash(module).as_bytes())
    }
}

impl fmt::Display for ModuleHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ModuleHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModuleHash({self})")
    }
}

/// A text that is no hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no hash of a module: 64 hex digits are")]
pub struct ParseModuleHashError {
    /// What was given, or its beginning.
    pub text: String,
}

impl FromStr for ModuleHash {
    type Err = ParseModuleHashError;

    fn from_str(text: &str) -> Result<Self, ParseModuleHashError> {
        let fail = || ParseModuleHashError { text: text.chars().take(80).collect() };
        let digits = text.chars().map(|c| c.to_digit(16)).collect::<Option<Vec<u32>>>().ok_or_else(fail)?;
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect();
        let whole = digits.len() == 64;
        bytes.try_into().ok().filter(|_| whole).map(Self).ok_or_else(fail)
    }
}

/// Whose deployed code is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeployPolicy {
    /// Nobody's.
    #[default]
    Nobody,
    /// That of processes of the same user, where the system tells who they are.
    SameUid,
    /// Modules with these hashes, whoever sends them.
    Listed(BTreeSet<ModuleHash>),
}

/// Why a module is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyRefusal {
    /// Nobody's is.
    #[error("this publisher runs no code that others hand over")]
    Nobody,
    /// The peer's user is unknown: over tcp nobody tells.
    #[error("only code of the user {own_uid} is run, and who sent this is not known")]
    UnknownUid {
        /// The publisher's user.
        own_uid: u32,
    },
    /// Of another user.
    #[error("only code of the user {own_uid} is run, not of {uid}")]
    OtherUid {
        /// The publisher's user.
        own_uid: u32,
        /// The sender's.
        uid: u32,
    },
    /// Not on the list.
    #[error("the module {hash} is not on the list of those that are run")]
    NotListed {
        /// The module.
        hash: ModuleHash,
    },
}

impl DeployPolicy {
    /// Whether a module may run that a process of that user sent.
    ///
    /// # Errors
    /// It may not, and why.
    pub fn admit(&self, hash: ModuleHash, uid: Option<u32>, own_uid: u32) -> Result<(), PolicyRefusal> {
        match (self, uid) {
            (Self::Nobody, _) => Err(PolicyRefusal::Nobody),
            (Self::SameUid, None | Some(OVERFLOW_UID)) => Err(PolicyRefusal::UnknownUid { own_uid }),
            (Self::SameUid, Some(uid)) if uid != own_uid => Err(PolicyRefusal::OtherUid { own_uid, uid }),
            (Self::SameUid, Some(_)) => Ok(()),
            (Self::Listed(hashes), _) if hashes.contains(&hash) => Ok(()),
            (Self::Listed(_), _) => Err(PolicyRefusal::NotListed { hash }),
        }
    }
}

/// What deployed code may use, for each call, and what it may leave resident.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeployLimits {
    /// The size of a module: 1 MiB.
    pub module_bytes: usize,
    /// Functions of a module: 10000.
    pub functions: usize,
    /// The size of one function: 64 KiB. How many locals and branches it may have is bounded too.
    pub function_bytes: usize,
    /// How long a call waits for its module to be compiled: 5 s. The module is compiled to its end all the same, and is
    /// there for later calls.
    pub compile_time: Duration,
    /// Modules that are kept: 64.
    pub modules: usize,
    /// The memory of a call: 256 MiB. What it is given and gives is in it.
    pub memory_bytes: usize,
    /// How much of a call's memory stays resident, set to zero, for the calls to come: 32 MiB. It is kept once for each
    /// call that ran at the same time as others, four times at most. What a call uses beyond it goes back to the system
    /// when the call ends. 0: each call has its memory from the system, and nothing is kept or reserved.
    pub kept_bytes: usize,
    /// The work of a call, of about an instruction each: 10^10.
    pub fuel: u64,
    /// The time of a call: 10 s.
    pub time: Duration,
}

impl Default for DeployLimits {
    fn default() -> Self {
        Self {
            module_bytes: 1 << 20,
            functions: 10_000,
            function_bytes: 64 << 10,
            compile_time: Duration::from_secs(5),
            modules: 64,
            memory_bytes: 256 << 20,
            kept_bytes: 32 << 20,
            fuel: 10_000_000_000,
            time: Duration::from_secs(10),
        }
    }
}

impl DeployLimits {
    /// With modules of at most that size.
    pub fn with_module_bytes(mut self, module_bytes: usize) -> Self {
        self.module_bytes = module_bytes;
        self
    }

    /// With modules of at most that many functions.
    pub fn with_functions(mut self, functions: usize) -> Self {
        self.functions = functions;
        self
    }

    /// With functions of at most that size.
    pub fn with_function_bytes(mut self, function_bytes: usize) -> Self {
        self.function_bytes = function_bytes;
        self
    }

    /// With calls that wait so long for a module to be compiled.
    pub fn with_compile_time(mut self, compile_time: Duration) -> Self {
        self.compile_time = compile_time;
        self
    }

    /// With that many modules.
    pub fn with_modules(mut self, modules: usize) -> Self {
        self.modules = modules;
        self
    }

    /// With that much memory for a call.
    pub fn with_memory_bytes(mut self, memory_bytes: usize) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// With that much memory kept of each that a call had.
    pub fn with_kept_bytes(mut self, kept_bytes: usize) -> Self {
        self.kept_bytes = kept_bytes;
        self
    }

    /// With that much work for a call.
    pub fn with_fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }

    /// With that much time for a call.
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_the_default_and_lists_are_exact() {
        let (ours, theirs) = (ModuleHash::of(b"ours"), ModuleHash::of(b"theirs"));
        assert_eq!(DeployPolicy::default().admit(ours, Some(1), 1), Err(PolicyRefusal::Nobody));
        let same = DeployPolicy::SameUid;
        assert_eq!(same.admit(ours, Some(1), 1), Ok(()));
        assert_eq!(same.admit(ours, Some(2), 1), Err(PolicyRefusal::OtherUid { own_uid: 1, uid: 2 }));
        assert_eq!(same.admit(ours, None, 1), Err(PolicyRefusal::UnknownUid { own_uid: 1 }));
        let nobody = same.admit(ours, Some(OVERFLOW_UID), OVERFLOW_UID);
        assert_eq!(nobody, Err(PolicyRefusal::UnknownUid { own_uid: OVERFLOW_UID }));
        let listed = DeployPolicy::Listed([ours.to_string().parse().unwrap()].into());
        assert_eq!(listed.admit(ours, None, 1), Ok(()));
        assert_eq!(listed.admit(theirs, Some(1), 1), Err(PolicyRefusal::NotListed { hash: theirs }));
        assert!("ab".parse::<ModuleHash>().is_err() && "ä".repeat(64).parse::<ModuleHash>().is_err());
    }
}
