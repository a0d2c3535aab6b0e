//! How a subscriber attaches: its options, each with the method that sets it.

use crate::error::derivation::DerivationError;
use crate::error::record_block::RecordBlockError;
use crate::options::derived_variable::DerivedVariable;
use crate::options::link::{LinkOptions, link_setters, setters};
use crate::options::module::DeployedModule;
use crate::options::request::SubscriptionRequest;
use crate::options::transformed_variable::TransformedVariable;
use crate::options::wanted_type::WantedType;
use crate::rendezvous::Rendezvous;
use crate::value::cohort::Cohort;
use crate::value::collectives::{Collectives, SharedCollectives};
use crate::value::interrupt::Interrupt;
use fp_proto::bounds::{LIMIT_DERIVATIONS, LIMIT_DERIVATIONS_BYTES, LIMIT_MODULES, LIMIT_MODULES_BYTES};
use fp_proto::config::{OnLoss, QueuePolicy, Share, StartAt, SubscriptionSpec, VariableSet};
use fp_proto::request::Request;
use fp_transform::{CohortSide, Derivation, DeriveError, ModuleCall, ModuleHash, Transforms};
use fp_transport::{Contact, TlsOptions, Token, TransportPolicy};
use fp_types::record::Record;
use fp_types::{Condition, Epoch, ParseConditionError, Selection, StepId};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// How a subscriber attaches.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::{QueuePolicy, SubscriberOptions};
///
/// let options = SubscriberOptions::default()
///     .with_policy(QueuePolicy::LatestOnly)
///     .with_variables(["temperature"])
///     .with_derivation("hot", "temperature | count(> 1800)")?;
/// # let _ = options;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriberOptions {
    /// Cohort, rendezvous, transports, patience.
    pub link: LinkOptions,
    /// The name of the subscriber. The publisher shows it, and the ranks of a subscriber cohort find one another by it.
    /// Default: the name of the program and its process number.
    pub name: Option<String>,
    /// The publisher's lead, where no rendezvous directory is shared.
    pub publisher_contact: Option<Contact>,
    /// The variables. Default: all; where something is derived, none.
    pub variables: VariableSet,
    /// What it asks for besides: derived variables, records through transforms, types.
    pub requests: Vec<SubscriptionRequest>,
    /// Transforms by which records become other types, and that derivations call here. Default: none.
    pub transforms: Option<Transforms>,
    /// Modules that derivations name.
    pub modules: Vec<DeployedModule>,
    /// Standing selections: pushed without being asked where blocks cannot be shared.
    pub selections: Vec<(String, Selection)>,
    /// What a step must be like. Default: every step is wanted.
    pub condition: Option<Condition>,
    /// What happens at the bound (docs/policies.md). Default: every step, the publisher waits up to 60 s.
    pub policy: QueuePolicy,
    /// Live steps of the subscription. Default 4.
    pub limit_steps: u32,
    /// Steps taken ahead of what was released. Default: as many as `limit_steps`. It is 2 where steps are shared by a
    /// set, and where the policy gives up older steps for newer ones.
    pub credit_steps: Option<u32>,
    /// Where it starts. Default: the next step.
    pub start_at: StartAt,
    /// The work-sharing set it is a member of. Default: none.
    pub share: Option<Share>,
    /// Whether a step that is dropped without [`StepReader::done`](crate::StepReader::done) goes back to the set.
    pub explicit_done: bool,
    /// What it does when the publisher is lost. Default: the stream has ended.
    pub on_loss: OnLoss,
    /// Whether steps that are held as the publisher is lost come again.
    pub held_again: bool,
    /// The epoch that an earlier process was attached to, and the oldest step that it had not done.
    pub resumption: Option<(Epoch, StepId)>,
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
            requests: Vec::new(),
            transforms: None,
            modules: Vec::new(),
            selections: Vec::new(),
            condition: None,
            policy: QueuePolicy::EveryStep { max_wait: Duration::from_secs(60) },
            limit_steps: 4,
            credit_steps: None,
            start_at: StartAt::Next,
            share: None,
            explicit_done: false,
            on_loss: OnLoss::End,
            held_again: false,
            resumption: None,
            fetch_timeout: Duration::from_secs(60),
        }
    }
}

impl SubscriberOptions {
    /// Names a WebAssembly module that derivations run, as in `T | module(name)`, and conditions, as in
    /// `max(module(name, T)) > 9`. It goes to the publisher with the subscription. It is run there if the publisher's owner allows that
    /// ([`PublisherOptions::with_deployment`](crate::PublisherOptions::with_deployment)). docs/transforms.md says what
    /// a module exports; here nothing of it is looked at.
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
        let len_bytes = module.len() + self.modules.iter().map(|other| other.bytes.len()).sum::<usize>();
        if len_bytes > LIMIT_MODULES_BYTES {
            return Err(DerivationError::ModulesTooLong { len_bytes });
        }
        self.modules.push(DeployedModule { name, hash: ModuleHash::of(&module), bytes: module.into() });
        Ok(self)
    }

    /// The hash of a module that is handed over under that name.
    fn module_hash(&self, name: &str) -> Option<ModuleHash> {
        self.modules.iter().find(|module| module.name == name).map(|module| module.hash)
    }

    fn hands_over(&self, hash: Option<ModuleHash>) -> bool {
        self.modules.iter().any(|module| Some(module.hash) == hash)
    }

    /// The derivation with the hashes of the modules that it names.
    pub(crate) fn resolve_modules(&self, derivation: Derivation) -> Result<Derivation, DerivationError> {
        let derivation = derivation.with_modules(|name| self.module_hash(name));
        let derivation = derivation.map_err(DerivationError::NoModule)?;
        let is_there = |call: &&ModuleCall| self.hands_over(call.hash());
        let missing = derivation.modules().find(|call| !is_there(call)).map(|call| call.name().to_owned());
        missing.map_or(Ok(derivation), |name| Err(DerivationError::NoModule(DeriveError::NoModule { name })))
    }

    link_setters!();

    setters! {
        /// Sets the subscriber's name.
        with_name(name: impl Into<String>) => name = Some(name.into());

        /// Sets where the publisher's lead is.
        with_publisher_contact(contact: Contact) => publisher_contact = Some(contact);
    }

    /// Subscribes to these variables only.
    #[must_use]
    pub fn with_variables(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.variables = VariableSet::named(names);
        self
    }

    /// Has a variable derived where the data is: only the result is kept and sent. It is read by its name, as any
    /// variable of the stream; a variable of the stream that has the same name is hidden. A derivation that gives
    /// indices and values has them as `name.index` and `name.value`. Published variables are kept besides only if
    /// [`SubscriberOptions::with_variables`] names them.
    ///
    /// docs/transforms.md says what can be derived. A derivation that does not fit the published variables fails when
    /// the variable is read. [`DerivedVariable::with_placement`] has it derived on the other side.
    ///
    /// # Errors
    /// A text that cannot be read, with the position; a name that cannot be, or is there already; too many.
    pub fn with_derivation<D>(self, name: impl Into<String>, derivation: D) -> Result<Self, DerivationError>
    where
        D: TryInto<Derivation>,
        DerivationError: From<D::Error>,
    {
        self.with_request(DerivedVariable::new(name, derivation)?)
    }

    /// Asks for that besides what was asked for before: a [`DerivedVariable`], a [`TransformedVariable`] or a
    /// [`WantedType`]. Modules that a derivation names must be there already.
    ///
    /// # Errors
    /// A name that is there already; too many, or too long together; a module that is not there.
    pub fn with_request(mut self, request: impl Into<SubscriptionRequest>) -> Result<Self, DerivationError> {
        let request = match request.into() {
            SubscriptionRequest::Derived(of) => {
                let derivation = self.resolve_modules(of.derivation)?;
                SubscriptionRequest::Derived(DerivedVariable { derivation, ..of })
            }
            other @ (SubscriptionRequest::Transformed(_) | SubscriptionRequest::Type(_)) => other,
        };
        self.check_room(&request)?;
        self.requests.push(request);
        Ok(self)
    }

    /// Whether the members of its work-sharing set are given again what one of them did not finish.
    pub(crate) fn redelivers(&self) -> bool {
        self.share.as_ref().is_some_and(|share| share.redeliver)
    }

    /// The derived variables.
    pub(crate) fn derived(&self) -> impl Iterator<Item = &DerivedVariable> {
        self.requests
            .iter()
            .filter_map(|of| if let SubscriptionRequest::Derived(of) = of { Some(of) } else { None })
    }

    /// The records that go through transforms.
    pub(crate) fn transformed(&self) -> impl Iterator<Item = &TransformedVariable> {
        self.requests
            .iter()
            .filter_map(|of| if let SubscriptionRequest::Transformed(of) = of { Some(of) } else { None })
    }

    /// The types that must be there.
    pub(crate) fn types(&self) -> impl Iterator<Item = &WantedType> {
        self.requests
            .iter()
            .filter_map(|of| if let SubscriptionRequest::Type(of) = of { Some(of) } else { None })
    }

    /// The published variables that are kept for it.
    pub(crate) fn kept_variables(&self) -> VariableSet {
        let named = match &self.variables {
            VariableSet::All if self.requests.iter().all(|request| request.variable().is_none()) => {
                return VariableSet::All;
            }
            VariableSet::All => [].iter(),
            VariableSet::Named(names) => names.iter(),
        };
        let here = self.derived().filter(|of| of.placement == CohortSide::Subscriber);
        let left = self.transformed().filter(|of| of.is_here()).map(|of| &of.variable);
        VariableSet::named(named.chain(here.flat_map(|of| of.derivation.inputs())).chain(left))
    }

    /// Adds a standing selection: what of a variable will be read in every step.
    #[must_use]
    pub fn with_selection(mut self, variable: impl Into<String>, selection: Selection) -> Self {
        self.selections.push((variable.into(), selection));
        self
    }

    /// Wants only steps that are so, as `has(particles)` or `max(T[0:64, :]) > 9`: docs/watches.md has all conditions. Of
    /// other steps the subscriber hears nothing. It is not woken, they take no credit, and they are not counted as skipped.
    /// [`StepReader::judgement`](crate::StepReader::judgement) has the numbers of those that come.
    ///
    /// Names are those of published variables, which need not be subscribed to. No publisher knows what it will publish
    /// later: with a name that never comes, no step does.
    ///
    /// # Errors
    /// A text that cannot be read, with the character, or a module that is not there: that must be handed over before
    /// ([`SubscriberOptions::with_module`]). Whether the publisher knows the word is said when it is opened.
    pub fn with_condition<C>(mut self, condition: C) -> Result<Self, ParseConditionError>
    where
        C: TryInto<Condition>,
        ParseConditionError: From<C::Error>,
    {
        let hash_of = |name: &str| {
            let known = || name.parse().ok().filter(|hash| self.hands_over(Some(*hash)));
            self.module_hash(name).or_else(known).map(|hash| hash.to_string())
        };
        self.condition = Some(condition.try_into()?.with_modules(hash_of)?);
        Ok(self)
    }

    setters! {
        /// Sets what happens at the bound.
        with_policy(policy: QueuePolicy) => policy = policy;

        /// Sets the bound of live steps.
        with_limit_steps(steps: u32) => limit_steps = steps;

        /// Sets how many steps are taken ahead of what was released.
        with_credit_steps(steps: u32) => credit_steps = Some(steps);

        /// Sets where it starts: with the next step, in the reserve, or after the step of a number that it has. With a
        /// number the first step's [`skipped`](crate::StepReader::skipped) counts those that are gone already.
        with_start_at(start_at: StartAt) => start_at = start_at;

        /// Makes it a member of a work-sharing set.
        with_share(share: Share) => share = Some(share);

        /// Sets whether a step counts as done only when it was said to be
        /// ([`StepReader::done`](crate::StepReader::done)). What is dropped without that goes back to the work-sharing
        /// set, which must redeliver: so a `?` loses no step. So does what is held as the subscriber closes.
        with_explicit_done(explicit: bool) => explicit_done = explicit;

        /// Sets what it does when the publisher is lost. Where only the way to it was lost, one that awaits it comes back
        /// and goes on after the last step that it took. The publisher that comes may say with which step it begins
        /// ([`with_first_step`](crate::PublisherOptions::with_first_step)). Then one that awaited it goes on after the
        /// last step that it took. Otherwise steps count anew, and it starts
        /// as at first, but not at a number: with the next step.
        with_on_loss(on_loss: OnLoss) => on_loss = on_loss;

        /// Sets whether steps that are held as the publisher is lost come again. It has to await one that goes on with the
        /// numbers ([`with_on_loss`](Self::with_on_loss)). A step that is held can be read no more then, if it was
        /// not read before. Steps come again from the oldest on that this rank holds, also those behind it that it has
        /// let go of.
        with_held_again(again: bool) => held_again = again;

        /// Sets for which process before it goes on: which epoch that was attached to, and the oldest step that it had not
        /// done. If the publisher has that epoch, or goes on with its numbers
        /// ([`with_first_step`](crate::PublisherOptions::with_first_step)), it starts there. Otherwise it starts as
        /// [`with_start_at`](Self::with_start_at) says. [`Subscriber::continues`](crate::Subscriber::continues) tells.
        /// No member of a work-sharing set goes on for another.
        with_resumption(of: (Epoch, StepId)) => resumption = Some(of);

        /// Sets the longest that a fetch may take.
        with_fetch_timeout(timeout: Duration) => fetch_timeout = timeout;

        /// Gives transforms by which records become types that they have no conversion to.
        /// [`Subscriber::of`](crate::Subscriber::of) finds the cheapest path of them.
        /// [`StepReader::get_records`](crate::StepReader::get_records) and its like take that path, on the threads of
        /// the registry and within its limits. What is registered later counts from then on.
        with_transforms(transforms: &Transforms) => transforms = Some(transforms.clone());
    }

    /// The most steps that a program can hold at one time: the smaller of `limit_steps` and of the steps that are taken
    /// ahead. No other one is given until it lets go of one.
    pub fn held_steps(&self) -> u32 {
        self.credit().min(self.limit_steps)
    }

    /// Steps taken ahead. Nothing is gained by fewer than may live, but where a step that waits may still go to another
    /// member, or make room for a newer one.
    pub(crate) fn credit(&self) -> u32 {
        let few =
            self.share.is_some() || matches!(self.policy, QueuePolicy::DropOldest | QueuePolicy::LatestOnly);
        self.credit_steps.unwrap_or(if few { 2 } else { self.limit_steps })
    }

    /// What makes the variable of that name.
    fn request_of(&self, variable: &str) -> Option<&SubscriptionRequest> {
        self.requests.iter().find(|request| request.variable() == Some(variable))
    }

    pub(crate) fn place(&mut self, variable: &str, placement: CohortSide) {
        let request = self.requests.iter_mut().find(|request| request.variable() == Some(variable));
        request.into_iter().for_each(|request| request.place(placement));
    }

    pub(crate) fn asked_placement(&self, variable: &str) -> Option<CohortSide> {
        self.request_of(variable).and_then(SubscriptionRequest::placement)
    }

    /// Whether this process knows the transform that makes the variable, if one does.
    pub(crate) fn knows_transform_of(&self, variable: &str) -> bool {
        let Some(asked) = self.transformed_variable(variable) else { return true };
        self.transforms.as_ref().is_some_and(|known| known.native(&asked.transform).is_some())
    }

    /// Has the records of a variable go through a transform where they are put: only the result is kept and sent. The
    /// publisher registered the transform under that name
    /// ([`PublisherOptions::with_transforms`](crate::PublisherOptions::with_transforms)). The result is read
    /// by its own name, as any variable of records. The transform must work on one block at a time: see
    /// [`Native::per_block`](crate::Native::per_block).
    ///
    /// What cannot be, such as a name that the publisher does not know, is an error of
    /// [`Subscriber::of`](crate::Subscriber::of) and of reading the variable. Published variables are kept besides only
    /// if [`SubscriberOptions::with_variables`] names them.
    ///
    /// # Errors
    /// A name that cannot be, or is there already; too many.
    pub fn with_transformed(
        self,
        name: impl Into<String>,
        variable: impl Into<String>,
        transform: impl Into<String>,
    ) -> Result<Self, DerivationError> {
        self.with_request(TransformedVariable::new(name, variable, transform)?)
    }

    /// Whether there is room for one more, of that name.
    fn check_room(&self, request: &SubscriptionRequest) -> Result<(), DerivationError> {
        let Some(name) = request.variable() else { return Ok(()) };
        if self.request_of(name).is_some() {
            return Err(DerivationError::Twice { name: name.to_owned() });
        }
        if self.derived().count() + self.transformed().count() >= LIMIT_DERIVATIONS {
            return Err(DerivationError::TooMany);
        }
        let others = self.requests.iter().map(SubscriptionRequest::len_bytes).sum::<usize>();
        let len_bytes = others + request.len_bytes();
        if len_bytes > LIMIT_DERIVATIONS_BYTES {
            return Err(DerivationError::TooLong { len_bytes });
        }
        Ok(())
    }

    pub(crate) fn transformed_mut(&mut self, name: &str) -> Option<&mut TransformedVariable> {
        let mut all = self.requests.iter_mut().filter_map(|of| match of {
            SubscriptionRequest::Transformed(of) => Some(of),
            SubscriptionRequest::Derived(_) | SubscriptionRequest::Type(_) => None,
        });
        all.find(|of| of.name == name)
    }

    /// What the publisher was asked for under that name.
    pub(crate) fn transformed_variable(&self, name: &str) -> Option<&TransformedVariable> {
        self.transformed().find(|asked| asked.name == name)
    }

    /// Attaches only if this variable provides records of this Rust type: as they are, converted, or through transforms
    /// ([`SubscriberOptions::with_transforms`]), as [`Subscriber::of`](crate::Subscriber::of) finds it. Otherwise
    /// [`Subscriber::open`](crate::Subscriber::open) leaves the stream again and fails with
    /// [`OpenError::Types`](crate::OpenError::Types), which says field by field why not.
    ///
    /// Only a stream's steps say what types it has. So opening waits for the first step as well, within `open_timeout`;
    /// the step is still the next one. Do not ask for it where that step waits for this process.
    ///
    /// Ranks of a cohort see the same step. So they attach or fail alike where they want the same, unless one of them
    /// is not answered in time.
    ///
    /// [`SubscriberOptions::with_request`] takes a [`WantedType`] of any variable, or of a type that was made at run
    /// time. If several are named, all must be there.
    ///
    /// # Errors
    /// No record type.
    pub fn with_type<T: Record>(mut self, variable: impl Into<String>) -> Result<Self, RecordBlockError> {
        self.requests.push(WantedType::of::<T>()?.with_variable(variable).into());
        Ok(self)
    }
}

/// What publishers are asked for besides variables: sorted, each once.
pub(crate) fn requests(options: &SubscriberOptions) -> Vec<Request> {
    let asked = options.requests.iter().filter_map(SubscriptionRequest::of_publisher);
    let sent = options.derived().filter(|of| of.placement != CohortSide::Subscriber);
    let derived = sent.flat_map(|of| of.derivation.modules()).filter_map(|of| of.hash());
    let measures = options.condition.iter().flat_map(Condition::measures);
    let measured = measures.filter_map(|measure| measure.call()).filter_map(|call| call.name.parse().ok());
    let needed: Vec<ModuleHash> = derived.chain(measured).collect();
    let modules = options.modules.iter().filter(|module| needed.contains(&module.hash));
    let mut all: Vec<Request> = asked.chain(modules.map(DeployedModule::request)).collect();
    all.sort();
    all.dedup();
    all
}

pub(crate) fn spec(options: &SubscriberOptions) -> SubscriptionSpec {
    SubscriptionSpec {
        variables: options.kept_variables(),
        policy: options.policy,
        limit_steps: options.limit_steps,
        start_at: options.start_at,
        share: options.share.clone(),
        requests: requests(options),
        when: options.condition.as_ref().map(Condition::encode),
    }
}
