//! Deployed code of a stream: modules that travel with the derivations that need them. Each publisher rank decides
//! whether it runs them.
//!
//! A module goes to the publisher's lead with the subscription, and from there with it down the tree. So it is on every
//! rank before the subscription's first step. Data links would not do: they exist only once a subscriber fetches, and
//! some ranks alone would derive the first steps. Who handed a module over is what the lead's own link proves. What the
//! message says of that is overwritten there.

use crate::options::derived_variable::MODULE;
use crate::options::module::opened;
use crate::options::publisher::PublisherOptions;
use crate::session::derive_failure::Failure;
use fp_transform::{DeployPolicy, DeriveError, ModuleCall, ModuleHash, Modules, PolicyRefusal};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    pub(crate) fn new(options: &PublisherOptions) -> Self {
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
    fn of(came: &Arc<[u8]>) -> Option<Self> {
        let (uid, module) = opened(came)?;
        Some(Self { came: came.clone(), hash: ModuleHash::of(module), uid, bytes: module.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::derivation::DerivationError;
    use crate::options::module::DeployedModule;
    use crate::options::module::shipped;
    use crate::options::module::vouch;
    use crate::options::subscriber::SubscriberOptions;
    use fp_proto::bounds::LIMIT_MODULES_BYTES;

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
