//! How a publisher opens its stream: its options, each with the method that sets it.

use crate::options::access::Access;
use crate::options::link::{LinkOptions, link_setters, setters};
use crate::rendezvous::Rendezvous;
use crate::value::cohort::Cohort;
use crate::value::collectives::{Collectives, SharedCollectives};
use crate::value::interrupt::Interrupt;
use crate::value::request_delegate::RequestDelegate;
use fp_proto::parameter::{Parameter, ParameterKind};
use fp_transform::{DeployLimits, DeployPolicy, Transforms};
use fp_transport::{Contact, TlsOptions, Token, TransportPolicy};
use fp_types::{Condition, ParseConditionError};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// How a publisher opens its stream.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::PublisherOptions;
/// use std::time::Duration;
///
/// let options = PublisherOptions::default()
///     .with_min_subscribers(1) // `open` waits for the first one
///     .with_limit_bytes(1 << 30)
///     .with_limit_wait(Duration::from_secs(5)); // the longest that a subscription may hold it up
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PublisherOptions {
    /// Cohort, rendezvous, transports, patience.
    pub link: LinkOptions,
    /// Subscriptions that `open` waits for. Default 0.
    pub min_subscribers: u32,
    /// Steps that this rank may be ahead of the slowest rank of its cohort. Default 4. The most of any rank is at most twice
    /// the least: a rank that is further ahead is taken for one that breaks the protocol.
    pub skew_steps: u32,
    /// Bytes of live steps on this rank. Default 1 GiB.
    pub limit_bytes: u64,
    /// Subscriptions at one time; the members of a work-sharing set are one. Default 64.
    pub limit_subscriptions: u32,
    /// How many of them one peer may have. Default: as many as there may be.
    pub limit_peer_subscriptions: u32,
    /// Bytes of memory that newcomers leave to this rank's own steps. Default 64 MiB.
    pub kept_bytes: u64,
    /// The longest that a subscription may hold `begin_step` up, whatever its policy says. Default 60 s.
    pub limit_wait: Duration,
    /// The last steps that are kept for newcomers. Default 0.
    pub reserve_steps: u32,
    /// Bytes that these steps may take over all ranks. Default: their number alone counts.
    pub reserve_bytes: u64,
    /// What a step of them is like. Default: any step.
    pub reserve_condition: Option<Condition>,
    /// Whether the first step is kept for every newcomer. Default no.
    pub precious_first: bool,
    /// Live steps that a subscription may have whose policy waits, whatever lower bound it asks for. Default: what it
    /// asks for.
    pub least_limit_steps: u32,
    /// The number of the first step, where numbers go on from run to run. Default: steps count from 0.
    pub first_step: Option<u64>,
    /// Whether a step of which a put failed cannot be ended, so that nobody gets it. Default no: a step has what was put.
    pub refuse_incomplete: bool,
    /// The longest wait for a slow rank of the own cohort. Default 60 s.
    pub skew_timeout: Duration,
    /// Bytes of a pool segment. Default 4 MiB.
    pub segment_len_bytes: usize,
    /// The longest that one derivation may take on this rank in one step. Default 10 s.
    pub derive_timeout: Duration,
    /// The longest that all that subscribers ask this rank to compute may hold up a step together. Default 100 ms.
    pub derive_budget: Duration,
    /// The same as a share of the time between steps, in percent. Default 100.
    pub derive_share_percent: u32,
    /// Whether anything is computed for subscribers. Default yes.
    pub derivations: bool,
    /// Transforms that subscribers may ask for by name, and derivations may call. Default: none.
    pub transforms: Option<Transforms>,
    /// Who may do what. Default: by `FLEXPATH_ACCESS_FILE`, else everybody who gets a link may do everything.
    pub access: Option<Access>,
    /// Whose deployed code is run. Default: nobody's.
    pub deployment: DeployPolicy,
    /// What deployed code may use.
    pub deploy_limits: DeployLimits,
    /// What subscribers may ask of the simulation. Rank 0 decides for the cohort. Default: nothing.
    pub parameters: Vec<Parameter>,
    /// How many requests reach the simulation within a second, at most. Those that have it go on are not counted. Rank 0's
    /// counts. Default 1,000.
    pub limit_requests_per_second: u32,
    /// Who answers requests in the place of this publisher. Rank 0's counts. Default: nobody.
    pub request_delegate: Option<RequestDelegate>,
}

impl Default for PublisherOptions {
    fn default() -> Self {
        Self {
            link: LinkOptions::default(),
            min_subscribers: 0,
            skew_steps: 4,
            limit_bytes: 1 << 30,
            limit_subscriptions: 64,
            limit_peer_subscriptions: u32::MAX,
            kept_bytes: 64 << 20,
            limit_wait: Duration::from_secs(60),
            reserve_steps: 0,
            reserve_bytes: u64::MAX,
            reserve_condition: None,
            precious_first: false,
            least_limit_steps: 0,
            first_step: None,
            refuse_incomplete: false,
            skew_timeout: Duration::from_secs(60),
            segment_len_bytes: 4 << 20,
            derive_timeout: Duration::from_secs(10),
            derive_budget: Duration::from_millis(100),
            derive_share_percent: 100,
            derivations: true,
            transforms: None,
            access: None,
            deployment: DeployPolicy::Nobody,
            deploy_limits: DeployLimits::default(),
            parameters: Vec::new(),
            limit_requests_per_second: 1000,
            request_delegate: None,
        }
    }
}

impl PublisherOptions {
    /// Keeps the last so many steps that are as the condition says, for who comes late: a queue of its last hits. A
    /// subscriber with an equal condition that starts at [`StartAt::OldestReserved`](crate::StartAt::OldestReserved) gets
    /// them with their numbers. All ranks say the same. What the condition remembers goes on for the reserve. For a
    /// subscriber it begins anew with its first step.
    ///
    /// # Errors
    /// A text that cannot be read, with the character, or one that calls a module: only subscribers hand modules over.
    pub fn with_reserved_hits<C>(mut self, steps: u32, condition: C) -> Result<Self, ParseConditionError>
    where
        C: TryInto<Condition>,
        ParseConditionError: From<C::Error>,
    {
        self.reserve_steps = steps;
        self.reserve_condition = Some(condition.try_into()?.with_modules(|_| None)?);
        Ok(self)
    }

    /// Lets subscribers ask for values of a parameter. [`StepWriter::requests`](crate::StepWriter::requests) has those that
    /// were asked for, on all ranks at the same step. Of two of one name the last counts.
    #[must_use]
    pub fn with_parameter(self, name: impl Into<String>, kind: ParameterKind) -> Self {
        self.with_described_parameter(name, kind, "")
    }

    /// As [`with_parameter`](Self::with_parameter), with what it is, for whoever looks at what can be asked for: its unit,
    /// and what it changes. At most 255 bytes.
    #[must_use]
    pub fn with_described_parameter(
        mut self,
        name: impl Into<String>,
        kind: ParameterKind,
        text: impl Into<String>,
    ) -> Self {
        let parameter = Parameter { name: name.into(), kind, text: text.into() };
        match self.parameters.iter_mut().find(|known| known.name == parameter.name) {
            Some(known) => *known = parameter,
            None => self.parameters.push(parameter),
        }
        self
    }

    /// Lets subscribers pause the simulation, for at most so long, and have it go on. It is paused in
    /// [`Publisher::begin_step`](crate::Publisher::begin_step), before the same step on all ranks. They ask for `pause`, with
    /// a number of seconds or `true`, and for `resume`. Unless this is said nobody may.
    #[must_use]
    pub fn with_pause(self, longest: Duration) -> Self {
        let pause = ParameterKind::Pause { longest };
        self.with_parameter("pause", pause).with_parameter("resume", ParameterKind::Resume)
    }

    setters! {
        /// Sets who may do what with the stream. What no rule allows is refused then, on every rank that is asked: give
        /// all ranks the same list. `FLEXPATH_ACCESS_FILE` then counts no more.
        with_access(rules: Access) => access = Some(rules);

        /// Sets whose deployed code this rank runs: unless it is told otherwise, nobody's. A subscriber is known to be
        /// of the same user only where both leads are on one machine and linked otherwise than by tcp. There the system
        /// itself says who it is. A list of hashes needs no such proof.
        ///
        /// Without the feature `wasm` no code is run, whatever is set here.
        with_deployment(policy: DeployPolicy) => deployment = policy;

        /// Sets what a call of deployed code may use on this rank. Three quarters of
        /// [`derive_timeout`](PublisherOptions::derive_timeout) are the longest that one may take.
        with_deploy_limits(limits: DeployLimits) => deploy_limits = limits;
    }

    link_setters!();

    setters! {
        /// Sets how many subscriptions `open` waits for.
        with_min_subscribers(subscribers: u32) => min_subscribers = subscribers;

        /// Sets how many steps this rank may be ahead.
        with_skew_steps(steps: u32) => skew_steps = steps;

        /// Sets the bound of live bytes on this rank.
        with_limit_bytes(limit_bytes: u64) => limit_bytes = limit_bytes;

        /// Sets how many subscriptions there may be at one time, from 1 to 1024. The members of a work-sharing set count as
        /// one. Rank 0 decides for the cohort.
        with_limit_subscriptions(subscriptions: u32) => limit_subscriptions = subscriptions;

        /// Sets how many of them one peer may have, at least 1: all that come from one user of this host over shared
        /// memory, or from one address over tcp and verbs. Each member of a work-sharing set counts. Whoever comes back
        /// after it lost the way may be counted twice, until its old link is given up.
        with_limit_peer_subscriptions(subscriptions: u32) => limit_peer_subscriptions = subscriptions;

        /// Sets how much memory newcomers leave to the steps of this rank, in bytes. While rank 0 can take less than that
        /// from the system, nobody new may subscribe: who tries comes again until its opening time is over. What counts
        /// is the machine, the control group and `RLIMIT_AS`, whichever leaves least. 0: everybody may.
        with_kept_bytes(bytes: u64) => kept_bytes = bytes;

        /// Sets how many requests reach the simulation within a second, at least 1. More are refused at once, and who asks is
        /// told so.
        with_limit_requests_per_second(requests: u32) => limit_requests_per_second = requests;

        /// Sets who answers requests in the place of this publisher: of a stream that comes from another one, which is asked
        /// there. Each request is handed on as it was sent, whatever parameters this publisher declares. It does not see it
        /// itself, and no step waits for it. At most 32 are under way. A list of parameters is a request of the empty name.
        /// Access is checked here before. All count to those within a second, also what has a simulation go on.
        with_request_delegate(delegate: RequestDelegate) => request_delegate = Some(delegate);

        /// Sets the longest that a subscription may hold `begin_step` up without a release, whatever its policy says. It
        /// is expelled then, or the new step is dropped for it. Several subscriptions that hold it up do so at the same
        /// time.
        with_limit_wait(longest: Duration) => limit_wait = longest;

        /// Sets how many of the last steps are kept for newcomers.
        with_reserve_steps(steps: u32) => reserve_steps = steps;

        /// Sets how many bytes the steps for newcomers may take over all ranks, in memory and elsewhere. If they take
        /// more, the oldest leave; the last one stays. A step counts 4 KiB at least. Without
        /// [`with_reserve_steps`](Self::with_reserve_steps) as many steps are kept as fit. Rank 0 decides for the cohort.
        with_reserve_bytes(bytes: u64) => reserve_bytes = bytes;

        /// Sets whether the first step is kept for every newcomer.
        with_precious_first(precious: bool) => precious_first = precious;

        /// Sets how many live steps a subscription may have at least whose policy waits, whatever it asks for by
        /// [`limit_steps`](crate::SubscriberOptions::limit_steps). Where steps take little memory
        /// ([`StepWriter::put_stored`](crate::StepWriter::put_stored)) a slow subscriber then lags behind and holds nobody
        /// up. Rank 0 decides for the cohort.
        with_least_limit_steps(steps: u32) => least_limit_steps = steps;

        /// Sets the number of the first step, at most `i64::MAX`. All ranks say the same. Who says it says that numbers
        /// outlive this opening: a run that is resumed says the number with which it goes on. Subscribers that awaited
        /// it ([`OnLoss::AwaitRestart`](crate::OnLoss::AwaitRestart)) go on after the last step that they took. They
        /// take none again, and `skipped` counts those that are nowhere any more.
        with_first_step(number: u64) => first_step = Some(number);

        /// Sets whether a step of which a put failed cannot be ended.
        with_refuse_incomplete(refuse: bool) => refuse_incomplete = refuse;

        /// Sets the longest that one derivation may take on this rank in one step. A derivation that takes longer fails
        /// for those who asked for it. After the second time it is not done any more.
        with_derive_timeout(timeout: Duration) => derive_timeout = timeout;

        /// Sets the longest that all that subscribers ask this rank to compute may hold up a step together: derivations,
        /// and transforms by name. What has begun by then goes on to the end of one block. What has not is not begun. It
        /// is left to subscribers that may derive it themselves, and refused by name to the others. It goes first in the
        /// next step.
        with_derive_budget(budget: Duration) => derive_budget = budget;

        /// Sets which share of the time between steps that may be in the long run, in percent. Time that steps do not use
        /// is kept, up to [`derive_budget`](PublisherOptions::derive_budget): the first step has all of it. A step brings
        /// a hundredth of that at least.
        with_derive_share_percent(percent: u32) => derive_share_percent = percent;

        /// Sets whether this rank computes anything for subscribers. If not, derivations and transforms are left to
        /// subscribers that may do them themselves, and refused by name to the others.
        with_derivations(allowed: bool) => derivations = allowed;

        /// Sets the longest wait for a slow rank of the own cohort.
        with_skew_timeout(timeout: Duration) => skew_timeout = timeout;

        /// Registers transforms: those that this registry has now, and those that it gets later. Subscribers may ask
        /// for them by name ([`with_transformed`]), or by the types that they lead to
        /// ([`Subscriber::of`](crate::Subscriber::of)). Derivations may call them ([`with_derivation`]).
        ///
        /// [`with_transformed`]: crate::SubscriberOptions::with_transformed
        /// [`with_derivation`]: crate::SubscriberOptions::with_derivation
        with_transforms(transforms: &Transforms) => transforms = Some(transforms.clone());
    }
}
