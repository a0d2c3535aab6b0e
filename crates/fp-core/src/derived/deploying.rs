//! Deployed code of a stream: modules that travel with the derivations that need them, and whether a publisher rank runs
//! them.
//!
//! A module goes to the publisher's lead with the subscription, and from there with it down the tree: it is on every rank
//! before the subscription's first step. Who handed it over is what the lead's own link proves; what the message says of
//! it is overwritten there.

use super::asked::{DerivationError, MODULE};
use super::computing::Failure;
use crate::options::{PublisherOptions, SubscriberOptions};
use fp_proto::bounds::{LIMIT_MODULES, LIMIT_MODULES_BYTES};
use fp_transform::{
    DeployLimits, DeployPolicy, Derivation, DeriveError, ModuleCall, ModuleHash, Modules, PolicyRefusal,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// After the mark: whether a user is known, and who that is.
const STAMP_BYTES: usize = 5;

/// A module that a subscriber hands over.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeployedModule {
    /// What derivations call it.
    pub name: String,
    /// Its hash: what a publisher's list of allowed modules has.
    pub hash: ModuleHash,
    /// WebAssembly.
    pub bytes: Arc<[u8]>,
}

/// Modules by their hash, each with its bytes.
pub(crate) type Code = Vec<(ModuleHash, Arc<[u8]>)>;

/// A module as it travels, without a user.
pub(super) fn shipped(module: &DeployedModule) -> Vec<u8> {
    [&[MODULE], &[0; STAMP_BYTES][..], &module.bytes].concat()
}

/// Writes who handed modules over, whatever stood there.
pub(crate) fn vouch(derivations: &mut [Vec<u8>], uid: Option<u32>) {
    let mut stamp = [0; STAMP_BYTES];
    if let Some(uid) = uid {
        stamp[0] = 1;
        stamp[1..].copy_from_slice(&uid.to_le_bytes());
    }
    for bytes in derivations.iter_mut().filter(|bytes| bytes.first() == Some(&MODULE)) {
        if let Some(place) = bytes.get_mut(1..=STAMP_BYTES) {
            place.copy_from_slice(&stamp);
        }
    }
}

/// The user and the module.
fn opened(bytes: &[u8]) -> Option<(Option<u32>, &[u8])> {
    let (&mark, rest) = bytes.split_first()?;
    let (&[known, uid @ ..], module) = rest.split_first_chunk::<STAMP_BYTES>()?;
    (mark == MODULE).then(|| ((known == 1).then(|| u32::from_le_bytes(uid)), module))
}

/// A module as it came.
#[derive(Clone)]
struct Offer {
    /// What came, to know it again.
    came: Arc<[u8]>,
    hash: ModuleHash,
    uid: Option<u32>,
    bytes: Arc<[u8]>,
}

/// The modules that go with one step's derivations: several may be the same one, from several users.
#[derive(Default)]
pub(crate) struct Offers(BTreeMap<ModuleHash, Vec<Offer>>);

/// Whose modules one rank runs, and those that it knows.
pub(crate) struct Deployer {
    policy: DeployPolicy,
    own_uid: u32,
    modules: Arc<Modules>,
    /// What went with the last step: a module is hashed once, not in every step.
    last: Mutex<Vec<Offer>>,
}

impl Deployer {
    pub(super) fn new(options: &PublisherOptions) -> Self {
        let mut limits = options.deploy_limits.clone();
        // A guest is to be stopped before the thread that runs it is given up.
        limits.time = limits.time.min(options.derive_timeout / 4 * 3);
        let own_uid = rustix::process::geteuid().as_raw();
        let (policy, modules) = (options.deployment.clone(), Arc::new(Modules::new(limits)));
        Self { policy, own_uid, modules, last: Mutex::default() }
    }

    pub(crate) fn modules(&self) -> Arc<Modules> {
        self.modules.clone()
    }

    /// The modules among what is to be derived of a step.
    pub(crate) fn offers(&self, derivations: &[(Arc<[u8]>, u32)]) -> Offers {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |came: &Arc<[u8]>| last.iter().find(|offer| Arc::ptr_eq(&offer.came, came)).cloned();
        let offer = |(came, _): &(Arc<[u8]>, u32)| {
            (came.first() == Some(&MODULE)).then(|| known(came).or_else(|| Offer::of(came))).flatten()
        };
        let offers: Vec<Offer> = derivations.iter().filter_map(offer).collect();
        let mut by_hash: BTreeMap<ModuleHash, Vec<Offer>> = BTreeMap::new();
        offers.iter().for_each(|offer| by_hash.entry(offer.hash).or_default().push(offer.clone()));
        *last = offers;
        Offers(by_hash)
    }

    /// The module of a derivation, if it came from somebody whose modules are run.
    pub(super) fn admitted(
        &self,
        call: &ModuleCall,
        offers: &Offers,
    ) -> Result<(ModuleHash, Arc<[u8]>), Failure> {
        let no_module = || DeriveError::NoModule { name: call.name().to_owned() };
        let hash = call.hash().ok_or_else(no_module)?;
        let mut refused: Option<PolicyRefusal> = None;
        for offer in offers.0.get(&hash).into_iter().flatten() {
            match self.policy.admit(hash, offer.uid, self.own_uid) {
                Ok(()) => return Ok((hash, offer.bytes.clone())),
                Err(refusal) => refused = Some(refusal),
            }
        }
        Err(refused.map_or(Failure::NotHandedOver(hash), Failure::from))
    }
}

impl Offer {
    fn of(came: &Arc<[u8]>) -> Option<Self> {
        let (uid, module) = opened(came)?;
        Some(Self { came: came.clone(), hash: ModuleHash::of(module), uid, bytes: module.into() })
    }
}

impl SubscriberOptions {
    /// Names a module that derivations run, as in `T | module(name)`: a WebAssembly module, which goes to the publisher
    /// with the subscription, and is run there if its owner allows that
    /// ([`PublisherOptions::with_deployment`](crate::PublisherOptions::with_deployment)). docs/transforms.md says what a
    /// module exports; here nothing of it is looked at.
    ///
    /// # Errors
    /// A name that is no word or is there already, too many modules, more bytes than a subscription may hand over.
    pub fn with_module(
        mut self,
        name: impl Into<String>,
        module: impl Into<Vec<u8>>,
    ) -> Result<Self, DerivationError> {
        let (name, module): (String, Vec<u8>) = (name.into(), module.into());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let refused = |what| DerivationError::ModuleName { name: name.clone(), what };
        if name.is_empty() || !name.chars().all(is_word) || name.parse::<ModuleHash>().is_ok() {
            return Err(refused("a word is wanted, of letters, digits and underscores"));
        }
        if self.modules.iter().any(|other| other.name == name) {
            return Err(refused("another one is called so"));
        }
        if self.modules.len() >= LIMIT_MODULES {
            return Err(DerivationError::TooManyModules);
        }
        let travels = |len: usize| len + 1 + STAMP_BYTES;
        let others: usize = self.modules.iter().map(|other| travels(other.bytes.len())).sum();
        let len_bytes = others + travels(module.len());
        if len_bytes > LIMIT_MODULES_BYTES {
            return Err(DerivationError::ModulesTooLong { len_bytes });
        }
        self.modules.push(DeployedModule { name, hash: ModuleHash::of(&module), bytes: module.into() });
        Ok(self)
    }

    /// The derivation with the hashes of the modules that it names.
    pub(crate) fn resolve_modules(&self, derivation: Derivation) -> Result<Derivation, DerivationError> {
        let named = |name: &str| self.modules.iter().find(|module| module.name == name);
        let derivation = derivation.with_modules(|name| named(name).map(|module| module.hash));
        let derivation = derivation.map_err(DerivationError::NoModule)?;
        let is_there =
            |call: &&ModuleCall| self.modules.iter().any(|module| Some(module.hash) == call.hash());
        let missing = derivation.modules().find(|call| !is_there(call)).map(|call| call.name().to_owned());
        missing.map_or(Ok(derivation), |name| Err(DerivationError::NoModule(DeriveError::NoModule { name })))
    }
}

impl PublisherOptions {
    /// Sets whose deployed code this rank runs: unless it is told otherwise, nobody's. Of the same user is a subscriber
    /// whose lead is on the machine of the publisher's lead, and linked to it otherwise than by tcp: there the system
    /// itself says who it is. A list of hashes needs no such proof.
    ///
    /// Without the feature `wasm` no code is run, whatever is set here.
    #[must_use]
    pub fn with_deployment(mut self, policy: DeployPolicy) -> Self {
        self.deployment = policy;
        self
    }

    /// Sets what a call of deployed code may use on this rank. Three quarters of
    /// [`derive_timeout`](PublisherOptions::derive_timeout) are the longest that one may take.
    #[must_use]
    pub fn with_deploy_limits(mut self, limits: DeployLimits) -> Self {
        self.deploy_limits = limits;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, bytes: &[u8]) -> DeployedModule {
        DeployedModule { name: name.to_owned(), hash: ModuleHash::of(bytes), bytes: bytes.into() }
    }

    #[test]
    fn who_hands_over_is_what_the_link_says() {
        let mut travelling =
            vec![vec![0, 1, 2, 3, 4, 5, 6, 7], shipped(&module("m", b"code")), vec![MODULE, 1]];
        travelling[1][1..6].copy_from_slice(&[1, 0, 0, 0, 0]);
        let (derivation, short) = (travelling[0].clone(), travelling[2].clone());
        vouch(&mut travelling, None);
        assert_eq!(opened(&travelling[1]), Some((None, &b"code"[..])), "nobody is root because he says so");
        vouch(&mut travelling, Some(1000));
        assert_eq!(opened(&travelling[1]), Some((Some(1000), &b"code"[..])));
        assert_eq!((&travelling[0], &travelling[2]), (&derivation, &short));
        assert_eq!((opened(&short), opened(&derivation), opened(&[])), (None, None, None));
    }

    #[test]
    fn one_who_may_is_enough_and_who_handed_nothing_over_is_told() {
        let mut options = PublisherOptions::default();
        let own_uid = rustix::process::geteuid().as_raw();
        let entry = |uid: Option<u32>| {
            let mut travelling = [shipped(&module("m", b"code"))];
            vouch(&mut travelling, uid);
            let [bytes] = travelling;
            (Arc::<[u8]>::from(bytes), 1)
        };
        let call = ModuleCall::new(ModuleHash::of(b"code").to_string());
        options.deployment = DeployPolicy::SameUid;
        let deployer = Deployer::new(&options);
        let admitted = |entries: &[(Arc<[u8]>, u32)]| deployer.admitted(&call, &deployer.offers(entries));
        assert!(matches!(admitted(&[]), Err(Failure::NotHandedOver(_))));
        let unknown = admitted(&[entry(None)]);
        assert!(matches!(unknown, Err(Failure::NotAdmitted(PolicyRefusal::UnknownUid { .. }))));
        let other = admitted(&[entry(Some(own_uid + 1))]);
        assert!(matches!(other, Err(Failure::NotAdmitted(PolicyRefusal::OtherUid { .. }))));
        let both = admitted(&[entry(None), entry(Some(own_uid))]).map(|(_, bytes)| bytes);
        assert_eq!(both.ok().as_deref(), Some(&b"code"[..]));
    }

    #[test]
    fn modules_are_hashed_once() {
        let deployer = Deployer::new(&PublisherOptions::default());
        let entry = (Arc::<[u8]>::from(shipped(&module("m", b"code"))), 1);
        let bytes = |offers: &Offers| offers.0.values().flatten().next().map(|offer| offer.bytes.clone());
        let first = bytes(&deployer.offers(std::slice::from_ref(&entry))).expect("an offer");
        let again = bytes(&deployer.offers(&[entry])).expect("an offer");
        assert!(Arc::ptr_eq(&first, &again));
    }

    #[test]
    fn what_cannot_be_handed_over_is_refused_at_once() {
        let options = SubscriberOptions::default();
        let refused = |name: &str| options.clone().with_module(name, *b"code").expect_err("refused");
        assert!(matches!(refused("a b"), DerivationError::ModuleName { .. }));
        assert!(matches!(refused(&"0".repeat(64)), DerivationError::ModuleName { .. }));
        let long = options.clone().with_module("long", vec![0; LIMIT_MODULES_BYTES]);
        assert!(matches!(long, Err(DerivationError::ModulesTooLong { .. })));
        let named = options.with_module("m", *b"code").expect("a module");
        assert!(matches!(named.clone().with_module("m", *b"more"), Err(DerivationError::ModuleName { .. })));
        let other = named.clone().with_derivation("x", "T | module(n)").expect_err("unknown").to_string();
        assert_eq!(other, "no module is called \"n\": with_module names it, before a derivation does");
        assert!(named.with_derivation("x", "T | module(m)").is_ok());
    }
}
