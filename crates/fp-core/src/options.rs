//! Options of the handles: bounds, policies, deadlines, transports.

use crate::cohort::Cohort;
use crate::collectives::{Collectives, SharedCollectives};
use crate::derived::{DeployedModule, DerivationError, DerivedVariable};
use crate::gathering;
use crate::records::{TransformedVariable, WantedType};
use crate::rendezvous::Rendezvous;
use fp_proto::config::{OnLoss, QueuePolicy, Share, StartAt, VariableSet};
use fp_transform::{DeployLimits, DeployPolicy, Derivation, Placement, Transforms};
use fp_transport::{Contact, TlsOptions, Token, TransportPolicy};
use fp_types::Selection;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What publisher and subscriber have in common: cohort, rendezvous, transports, patience.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkOptions {
    /// Rank and size. Default: alone.
    pub cohort: Cohort,
    /// Collectives of the launcher over the ranks of this cohort. Default none: the ranks find their lead by the
    /// rendezvous.
    pub collectives: Option<SharedCollectives>,
    /// The rendezvous directory. Default: by the environment.
    pub rendezvous: Option<Rendezvous>,
    /// The lead of the own cohort, where the launcher knows it.
    pub lead_contact: Option<Contact>,
    /// Which transports may be used, and whether falling back is forbidden. Default: by `FLEXPATH_TRANSPORTS`,
    /// else all.
    pub transports: Option<TransportPolicy>,
    /// Where to listen for tcp. Default: loopback, a port of the system's choice.
    pub tcp: Option<SocketAddr>,
    /// The address that others dial, where `tcp` is the unspecified address.
    pub advertised: Option<IpAddr>,
    /// Shown to, and demanded of, every peer. Needed to listen off loopback without TLS.
    pub token: Option<Token>,
    /// TLS on every tcp link: control, data, and the own cohort's. Default: by `FLEXPATH_TLS_CERTIFICATE`,
    /// `FLEXPATH_TLS_KEY` and `FLEXPATH_TLS_AUTHORITY`, else none.
    pub tls: Option<TlsOptions>,
    /// The RDMA device to use, and no other. Default: by `FLEXPATH_VERBS_DEVICE`, else whichever leads to a peer.
    pub verbs_device: Option<String>,
    /// The longest that opening may take. Default 60 s.
    pub open_timeout: Duration,
    /// The longest that closing may take. Default 30 s.
    pub close_timeout: Duration,
    /// A peer that is silent for this long is lost. Default 10 s.
    pub silence: Duration,
    /// How long a waiting call looks again and again before it sleeps. Default zero: it sleeps at once.
    pub busy_poll: Duration,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self {
            cohort: Cohort::alone(),
            collectives: None,
            rendezvous: None,
            lead_contact: None,
            transports: None,
            tcp: Some((std::net::Ipv4Addr::LOCALHOST, 0).into()),
            advertised: None,
            token: None,
            tls: None,
            verbs_device: None,
            open_timeout: Duration::from_secs(60),
            close_timeout: Duration::from_secs(30),
            silence: Duration::from_secs(10),
            busy_poll: Duration::ZERO,
        }
    }
}

impl LinkOptions {
    /// Takes part in the collectives of an opening that this rank cannot do, and tells the other ranks why: they would
    /// wait for it there. Does nothing where there are no collectives.
    pub fn decline(&self, why: &str) {
        gathering::decline(self, why);
    }
}

/// Setters that both kinds of options share.
macro_rules! link_setters {
    () => {
        /// Sets rank and size; the ranks find their lead by the rendezvous.
        #[must_use]
        pub fn with_cohort(mut self, cohort: Cohort) -> Self {
            self.link.cohort = cohort;
            self.link.collectives = None;
            self
        }

        /// Sets rank and size, and the launcher's collectives over just these ranks: the ranks then find one another by
        /// them alone, and need no rendezvous directory in common.
        #[must_use]
        pub fn with_collectives(mut self, cohort: Cohort, collectives: impl Collectives + 'static) -> Self {
            self.link.cohort = cohort;
            self.link.collectives = Some(SharedCollectives::new(collectives));
            self
        }

        /// Sets the rendezvous directory.
        #[must_use]
        pub fn with_rendezvous(mut self, rendezvous: Rendezvous) -> Self {
            self.link.rendezvous = Some(rendezvous);
            self
        }

        /// Sets the contact of the own cohort's lead.
        #[must_use]
        pub fn with_lead_contact(mut self, contact: Contact) -> Self {
            self.link.lead_contact = Some(contact);
            self
        }

        /// Sets which transports may be used.
        #[must_use]
        pub fn with_transports(mut self, policy: TransportPolicy) -> Self {
            self.link.transports = Some(policy);
            self
        }

        /// Sets where to listen for tcp; `None`: not at all.
        #[must_use]
        pub fn with_tcp(mut self, address: Option<SocketAddr>) -> Self {
            self.link.tcp = address;
            self
        }

        /// Sets the address that others dial.
        #[must_use]
        pub fn with_advertised(mut self, address: IpAddr) -> Self {
            self.link.advertised = Some(address);
            self
        }

        /// Sets the token that every peer must show.
        #[must_use]
        pub fn with_token(mut self, token: Token) -> Self {
            self.link.token = Some(token);
            self
        }

        /// Sets TLS for every tcp link: then no peer without it is spoken to over tcp.
        #[must_use]
        pub fn with_tls(mut self, tls: TlsOptions) -> Self {
            self.link.tls = Some(tls);
            self
        }

        /// Sets the RDMA device to use, such as `mlx5_0`; `rdma link` lists them.
        #[must_use]
        pub fn with_verbs_device(mut self, device: &str) -> Self {
            self.link.verbs_device = Some(device.to_owned());
            self
        }

        /// Sets the longest that opening may take.
        #[must_use]
        pub fn with_open_timeout(mut self, timeout: Duration) -> Self {
            self.link.open_timeout = timeout;
            self
        }

        /// Sets the longest that closing may take.
        #[must_use]
        pub fn with_close_timeout(mut self, timeout: Duration) -> Self {
            self.link.close_timeout = timeout;
            self
        }

        /// Sets after which silence a peer is lost.
        #[must_use]
        pub fn with_silence(mut self, silence: Duration) -> Self {
            self.link.silence = silence;
            self
        }

        /// Sets how long a waiting call looks again and again before it sleeps. What comes meanwhile is had without
        /// the wake of a sleeping core, tens of microseconds; the price is a core that is busy while it waits.
        #[must_use]
        pub fn with_busy_poll(mut self, at_most: Duration) -> Self {
            self.link.busy_poll = at_most;
            self
        }
    };
}

/// How a publisher opens its stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PublisherOptions {
    /// Cohort, rendezvous, transports, patience.
    pub link: LinkOptions,
    /// Subscriptions that `open` waits for. Default 0.
    pub min_subscribers: u32,
    /// Steps that this rank may be ahead of the slowest rank of its cohort. Default 4.
    pub skew_steps: u32,
    /// Bytes of live steps on this rank. Default 1 GiB.
    pub limit_bytes: u64,
    /// The last steps that are kept for newcomers. Default 0.
    pub reserve_steps: u32,
    /// Whether the first step is kept for every newcomer. Default no.
    pub precious_first: bool,
    /// The longest wait for a slow rank of the own cohort. Default 60 s.
    pub skew_timeout: Duration,
    /// Bytes of a pool segment. Default 4 MiB.
    pub segment_len_bytes: usize,
    /// The longest that one derivation may take on this rank in one step. Default 10 s.
    pub derive_timeout: Duration,
    /// Transforms that subscribers may ask for by name, and derivations may call. Default: none.
    pub transforms: Option<Transforms>,
    /// Whose deployed code is run. Default: nobody's.
    pub deployment: DeployPolicy,
    /// What deployed code may use.
    pub deploy_limits: DeployLimits,
}

impl Default for PublisherOptions {
    fn default() -> Self {
        Self {
            link: LinkOptions::default(),
            min_subscribers: 0,
            skew_steps: 4,
            limit_bytes: 1 << 30,
            reserve_steps: 0,
            precious_first: false,
            skew_timeout: Duration::from_secs(60),
            segment_len_bytes: 4 << 20,
            derive_timeout: Duration::from_secs(10),
            transforms: None,
            deployment: DeployPolicy::Nobody,
            deploy_limits: DeployLimits::default(),
        }
    }
}

impl PublisherOptions {
    link_setters!();

    /// Sets how many subscriptions `open` waits for.
    #[must_use]
    pub fn with_min_subscribers(mut self, subscribers: u32) -> Self {
        self.min_subscribers = subscribers;
        self
    }

    /// Sets how many steps this rank may be ahead.
    #[must_use]
    pub fn with_skew_steps(mut self, steps: u32) -> Self {
        self.skew_steps = steps;
        self
    }

    /// Sets the bound of live bytes on this rank.
    #[must_use]
    pub fn with_limit_bytes(mut self, limit_bytes: u64) -> Self {
        self.limit_bytes = limit_bytes;
        self
    }

    /// Sets how many of the last steps are kept for newcomers.
    #[must_use]
    pub fn with_reserve_steps(mut self, steps: u32) -> Self {
        self.reserve_steps = steps;
        self
    }

    /// Sets whether the first step is kept for every newcomer.
    #[must_use]
    pub fn with_precious_first(mut self, precious: bool) -> Self {
        self.precious_first = precious;
        self
    }

    /// Sets the longest that one derivation may take on this rank in one step: what takes longer fails for those who
    /// asked for it, and after the second time it is not done any more.
    #[must_use]
    pub fn with_derive_timeout(mut self, timeout: Duration) -> Self {
        self.derive_timeout = timeout;
        self
    }

    /// Sets the longest wait for a slow rank of the own cohort.
    #[must_use]
    pub fn with_skew_timeout(mut self, timeout: Duration) -> Self {
        self.skew_timeout = timeout;
        self
    }
}

/// How a subscriber attaches.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriberOptions {
    /// Cohort, rendezvous, transports, patience.
    pub link: LinkOptions,
    /// The name of the subscriber: shown at the publisher, and by which the ranks of a subscriber cohort find one
    /// another. Default: the name of the program and its process number.
    pub name: Option<String>,
    /// The publisher's lead, where no rendezvous directory is shared.
    pub publisher_contact: Option<Contact>,
    /// The variables. Default: all; where something is derived, none.
    pub variables: VariableSet,
    /// Derived variables.
    pub derivations: Vec<DerivedVariable>,
    /// Transforms by which records become other types, and that derivations call here. Default: none.
    pub transforms: Option<Transforms>,
    /// Records that the publisher sends through transforms of its own.
    pub transformed: Vec<TransformedVariable>,
    /// Types that the stream must have for it to attach.
    pub types: Vec<WantedType>,
    /// Modules that derivations name.
    pub modules: Vec<DeployedModule>,
    /// Standing selections: pushed without being asked where blocks cannot be shared.
    pub selections: Vec<(String, Selection)>,
    /// What happens at the bound. Default: every step, the publisher waits up to 60 s.
    pub policy: QueuePolicy,
    /// Live steps of the subscription. Default 4.
    pub limit_steps: u32,
    /// Steps taken ahead of what was released. Default 2.
    pub credit_steps: u32,
    /// Where it starts. Default: the next step.
    pub start_at: StartAt,
    /// The work-sharing set it is a member of. Default: none.
    pub share: Option<Share>,
    /// What it does when the publisher is lost. Default: the stream has ended.
    pub on_loss: OnLoss,
    /// The longest that a fetch may take. Default 60 s.
    pub fetch_timeout: Duration,
}

impl Default for SubscriberOptions {
    fn default() -> Self {
        Self {
            link: LinkOptions::default(),
            name: None,
            publisher_contact: None,
            variables: VariableSet::All,
            derivations: Vec::new(),
            transforms: None,
            transformed: Vec::new(),
            types: Vec::new(),
            modules: Vec::new(),
            selections: Vec::new(),
            policy: QueuePolicy::EveryStep { max_wait_ms: 60_000 },
            limit_steps: 4,
            credit_steps: 2,
            start_at: StartAt::Next,
            share: None,
            on_loss: OnLoss::End,
            fetch_timeout: Duration::from_secs(60),
        }
    }
}

impl SubscriberOptions {
    link_setters!();

    /// Sets the subscriber's name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets where the publisher's lead is.
    #[must_use]
    pub fn with_publisher_contact(mut self, contact: Contact) -> Self {
        self.publisher_contact = Some(contact);
        self
    }

    /// Subscribes to these variables only.
    #[must_use]
    pub fn with_variables(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.variables = VariableSet::named(names);
        self
    }

    /// Has a variable derived where the data is: only the result is kept and sent. It is read by its name as any
    /// variable of the stream, which it hides if that has one of that name. A derivation that gives indices and values has
    /// them as `name.index` and `name.value`. Published variables are kept besides only if
    /// [`SubscriberOptions::with_variables`] names them.
    ///
    /// docs/transforms.md says what can be derived. What does not fit the variables as they are published is told when
    /// the variable is read.
    ///
    /// # Errors
    /// A text that cannot be read, with the position; a name that cannot be, or is there already; too many.
    pub fn with_derivation<D>(self, name: impl Into<String>, derivation: D) -> Result<Self, DerivationError>
    where
        D: TryInto<Derivation>,
        DerivationError: From<D::Error>,
    {
        self.with_derivation_at(name, derivation, Placement::Publisher)
    }

    /// The same on a side of one's choice: by the subscriber, of the published variables, which it fetches whole; or,
    /// by [`Placement::FewerBytes`], there if in that step the variables have fewer bytes than what is derived of them,
    /// else by the publisher. `Statistics` of either side says how often it derived, the publisher's also how often it
    /// left that to subscribers.
    ///
    /// # Errors
    /// As [`SubscriberOptions::with_derivation`].
    pub fn with_derivation_at<D>(
        mut self,
        name: impl Into<String>,
        derivation: D,
        placement: Placement,
    ) -> Result<Self, DerivationError>
    where
        D: TryInto<Derivation>,
        DerivationError: From<D::Error>,
    {
        let (name, derivation) = (name.into(), self.resolve_modules(derivation.try_into()?)?);
        self.check_free(&name)?;
        DerivationError::check(&self.derivations, &name, &derivation)?;
        self.derivations.push(DerivedVariable { name, derivation, placement });
        Ok(self)
    }

    /// The published variables that are kept for it.
    pub(crate) fn kept_variables(&self) -> VariableSet {
        let named = match &self.variables {
            VariableSet::All if self.derivations.is_empty() && self.transformed.is_empty() => {
                return VariableSet::All;
            }
            VariableSet::All => [].iter(),
            VariableSet::Named(names) => names.iter(),
        };
        let here = self.derivations.iter().filter(|of| of.placement == Placement::Subscriber);
        let left = self.transformed.iter().filter(|of| of.is_here()).map(|of| &of.variable);
        VariableSet::named(named.chain(here.flat_map(|of| of.derivation.inputs())).chain(left))
    }

    /// Adds a standing selection: what of a variable will be read in every step.
    #[must_use]
    pub fn with_selection(mut self, variable: impl Into<String>, selection: Selection) -> Self {
        self.selections.push((variable.into(), selection));
        self
    }

    /// Sets what happens at the bound.
    #[must_use]
    pub fn with_policy(mut self, policy: QueuePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the bound of live steps.
    #[must_use]
    pub fn with_limit_steps(mut self, steps: u32) -> Self {
        self.limit_steps = steps;
        self
    }

    /// Sets how many steps are taken ahead of what was released.
    #[must_use]
    pub fn with_credit_steps(mut self, steps: u32) -> Self {
        self.credit_steps = steps;
        self
    }

    /// Sets where it starts.
    #[must_use]
    pub fn with_start_at(mut self, start_at: StartAt) -> Self {
        self.start_at = start_at;
        self
    }

    /// Makes it a member of a work-sharing set.
    #[must_use]
    pub fn with_share(mut self, share: Share) -> Self {
        self.share = Some(share);
        self
    }

    /// Sets what it does when the publisher is lost.
    #[must_use]
    pub fn with_on_loss(mut self, on_loss: OnLoss) -> Self {
        self.on_loss = on_loss;
        self
    }

    /// Sets the longest that a fetch may take.
    #[must_use]
    pub fn with_fetch_timeout(mut self, timeout: Duration) -> Self {
        self.fetch_timeout = timeout;
        self
    }
}
