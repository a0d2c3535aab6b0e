//! Deployed code of a stream: modules that travel with the derivations that need them. Each publisher rank decides
//! whether it runs them.
//!
//! A module goes to the publisher's lead with the subscription, and from there with it down the tree. So it is on every
//! rank before the subscription's first step. Data links would not do: they exist only once a subscriber fetches, and
//! some ranks alone would derive the first steps. Who handed a module over is what the lead's own link proves. What the
//! message says of that is overwritten there.

use crate::options::publisher::PublisherOptions;
use crate::session::derive_failure::Failure;
use fp_proto::request::Request;
use fp_transform::{DeployPolicy, DeriveError, ModuleCall, ModuleHash, Modules, PolicyRefusal};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A module as it came.
#[derive(Clone)]
struct Offer {
    /// What came, to know it again.
    came: Arc<Request>,
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
    pub(crate) fn new(options: &PublisherOptions) -> Self {
        let mut limits = options.deploy_limits.clone();
        // A guest is to be stopped before the thread that runs it is given up.
        let time = options.derive_timeout / 4 * 3;
        limits.time = limits.time.min(time);
        // Who waits for a module that is compiled is to say so before it is given up.
        limits.compile_time = limits.compile_time.min(options.derive_timeout / 2);
        let own_uid = rustix::process::geteuid().as_raw();
        let (policy, modules) = (options.deployment.clone(), Arc::new(Modules::within(limits, time)));
        Self { policy, own_uid, modules, last: Mutex::default() }
    }

    pub(crate) fn modules(&self) -> Arc<Modules> {
        self.modules.clone()
    }

    /// The modules among what is asked for of a step.
    pub(crate) fn offers(&self, requests: &[(Arc<Request>, u32)]) -> Offers {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |came: &Arc<Request>| last.iter().find(|offer| Arc::ptr_eq(&offer.came, came)).cloned();
        let offer = |(came, _): &(Arc<Request>, u32)| known(came).or_else(|| Offer::of(came));
        let offers: Vec<Offer> = requests.iter().filter_map(offer).collect();
        let mut by_hash: BTreeMap<ModuleHash, Vec<Offer>> = BTreeMap::new();
        offers.iter().for_each(|offer| by_hash.entry(offer.hash).or_default().push(offer.clone()));
        *last = offers;
        Offers(by_hash)
    }

    /// The module of a derivation, if it came from somebody whose modules are run.
    pub(crate) fn admitted(
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
    fn of(came: &Arc<Request>) -> Option<Self> {
        let Request::Module { code, user } = &**came else { return None };
        let (hash, bytes) = (ModuleHash::of(code), code.as_slice().into());
        Some(Self { came: came.clone(), hash, uid: *user, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::derivation::DerivationError;
    use crate::options::subscriber::SubscriberOptions;
    use fp_proto::bounds::LIMIT_MODULES_BYTES;

    #[test]
    fn one_who_may_is_enough_and_who_handed_nothing_over_is_told() {
        let mut options = PublisherOptions::default();
        let own_uid = rustix::process::geteuid().as_raw();
        let entry = |user: Option<u32>| (Arc::new(Request::Module { code: b"code".to_vec(), user }), 1);
        let call = ModuleCall::new(ModuleHash::of(b"code").to_string());
        options.deployment = DeployPolicy::SameUid;
        let deployer = Deployer::new(&options);
        let admitted = |entries: &[(Arc<Request>, u32)]| deployer.admitted(&call, &deployer.offers(entries));
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
        let entry = (Arc::new(Request::Module { code: b"code".to_vec(), user: None }), 1);
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
        let long = options.clone().with_module("long", vec![0; LIMIT_MODULES_BYTES + 1]);
        assert!(matches!(long, Err(DerivationError::ModulesTooLong { .. })));
        let named = options.with_module("m", *b"code").expect("a module");
        assert!(matches!(named.clone().with_module("m", *b"more"), Err(DerivationError::ModuleName { .. })));
        let other = named.clone().with_derivation("x", "T | module(n)").expect_err("unknown").to_string();
        assert_eq!(other, "no module is called \"n\": with_module names it, before a derivation does");
        assert!(named.with_derivation("x", "T | module(m)").is_ok());
    }
}
