//! Options of both sides, from a dict whose words the package has checked as far as Python can.

use crate::error::{OrRaise, misuse};
use crate::interrupt::interrupt;
use crate::schema::Schema;
use crate::seconds::seconds;
use flexpath::{
    Access, Cohort, CohortSide, CollectiveFailure, Collectives, DerivedVariable, LinkOptions, OnLoss,
    ParameterKind, PublisherOptions, QueuePolicy, Real, Rendezvous, Share, ShareMode, StartAt, StepId,
    SubscriberOptions, TlsOptions, Token, TransportPolicy, WantedType,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::time::Duration;

/// Options by word; each is taken once, and none may be left.
struct Words<'py>(Bound<'py, PyDict>);

impl<'py> Words<'py> {
    fn of(given: &Bound<'py, PyDict>) -> PyResult<Self> {
        Ok(Self(given.copy()?))
    }

    /// The value of a word; `None` where it is not there or is None.
    fn any(&self, word: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(value) = self.0.get_item(word)? else { return Ok(None) };
        self.0.del_item(word)?;
        Ok((!value.is_none()).then_some(value))
    }

    fn take<T>(&self, word: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        let Some(value) = self.any(word)? else { return Ok(None) };
        let taken = value.extract::<T>().map_err(Into::<PyErr>::into);
        taken.map(Some).map_err(|error| misuse(format!("option {word}={value}: {error}")))
    }

    fn seconds(&self, word: &str) -> PyResult<Option<Duration>> {
        self.take::<f64>(word)?.map(seconds).transpose()
    }

    fn finish(self) -> PyResult<()> {
        match self.0.keys().iter().next() {
            Some(word) => Err(misuse(format!("there is no option {word}"))),
            None => Ok(()),
        }
    }
}

/// Sets what is given, and leaves what is not.
fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *place = given;
    }
}

/// Collectives that Python functions make: `allgather(bytes) -> bytes` and `barrier()`.
struct Launcher {
    allgather: Py<PyAny>,
    barrier: Py<PyAny>,
}

impl Collectives for Launcher {
    fn allgather(&self, own: &[u8]) -> Result<Vec<u8>, CollectiveFailure> {
        let all = Python::attach(|py| {
            let all = self.allgather.call1(py, (PyBytes::new(py, own),))?;
            Ok::<Vec<u8>, PyErr>(all.bind(py).cast::<PyBytes>()?.as_bytes().to_vec())
        });
        all.map_err(|error| error.to_string().into())
    }

    fn barrier(&self) -> Result<(), CollectiveFailure> {
        let done = Python::attach(|py| self.barrier.call0(py).map(drop));
        done.map_err(|error| error.to_string().into())
    }
}

fn link(words: &Words<'_>, link: &mut LinkOptions) -> PyResult<()> {
    link.interrupt = Some(interrupt());
    if let Some((rank, size)) = words.take::<(u32, u32)>("cohort")? {
        link.cohort = Cohort::of(rank, size).or_raise()?;
    }
    if let Some(functions) = words.any("collectives")? {
        let functions = functions.cast::<PyTuple>().map_err(PyErr::from)?;
        let (allgather, barrier) = (functions.get_item(0)?.unbind(), functions.get_item(1)?.unbind());
        link.collectives = Some(flexpath::SharedCollectives::new(Launcher { allgather, barrier }));
    }
    if let Some(place) = words.take::<String>("rendezvous")? {
        link.rendezvous = Some(Rendezvous::at(place).or_raise()?);
    }
    if let Some(list) = words.take::<String>("transports")? {
        link.transports = Some(list.parse::<TransportPolicy>().or_raise()?);
    }
    if words.take::<bool>("forbid_fallback")? == Some(true) {
        let policy = link.transports.take().unwrap_or_default();
        link.transports = Some(policy.with_forbid_fallback(true));
    }
    if let Some(address) = words.take::<String>("listen")? {
        link.tcp = Some(address.parse().map_err(misuse)?);
    }
    if let Some(address) = words.take::<String>("advertised")? {
        let parsed = address.parse();
        link.advertised =
            Some(parsed.map_err(|error| misuse(format!("option advertised={address:?}: {error}")))?);
    }
    if let Some(path) = words.take::<String>("token_file")? {
        link.token = Some(Token::from_file(path).or_raise()?);
    }
    if let Some((certificate, key, authority)) = words.take::<(String, String, String)>("tls")? {
        link.tls = Some(TlsOptions::new(certificate, key, authority));
    }
    if let Some(device) = words.take("verbs_device")? {
        link.verbs_device = Some(device);
    }
    set(&mut link.open_timeout, words.seconds("open_timeout")?);
    set(&mut link.close_timeout, words.seconds("close_timeout")?);
    set(&mut link.silence, words.seconds("silence")?);
    set(&mut link.busy_poll, words.seconds("busy_poll")?);
    Ok(())
}

pub(crate) fn publisher(given: &Bound<'_, PyDict>) -> PyResult<PublisherOptions> {
    let words = Words::of(given)?;
    let mut options = PublisherOptions::default();
    link(&words, &mut options.link)?;
    set(&mut options.min_subscribers, words.take("min_subscribers")?);
    set(&mut options.skew_steps, words.take("skew_steps")?);
    set(&mut options.limit_bytes, words.take("limit_bytes")?);
    set(&mut options.limit_subscriptions, words.take("limit_subscriptions")?);
    set(&mut options.limit_peer_subscriptions, words.take("limit_peer_subscriptions")?);
    set(&mut options.limit_requests_per_second, words.take("limit_requests_per_second")?);
    set(&mut options.kept_bytes, words.take("kept_bytes")?);
    set(&mut options.limit_wait, words.seconds("limit_wait")?);
    set(&mut options.reserve_steps, words.take("reserve_steps")?);
    set(&mut options.reserve_bytes, words.take("reserve_bytes")?);
    if let Some(condition) = words.take::<String>("reserve_when")? {
        options = options.clone().with_reserved_hits(options.reserve_steps, condition.as_str()).or_raise()?;
    }
    set(&mut options.least_limit_steps, words.take("least_limit_steps")?);
    set(&mut options.precious_first, words.take("precious_first")?);
    options.first_step = words.take("first_step")?;
    set(&mut options.refuse_incomplete, words.take("refuse_incomplete")?);
    set(&mut options.skew_timeout, words.seconds("skew_timeout")?);
    set(&mut options.derive_timeout, words.seconds("derive_timeout")?);
    set(&mut options.derive_budget, words.seconds("derive_budget")?);
    set(&mut options.derive_share_percent, words.take("derive_share_percent")?);
    set(&mut options.derivations, words.take("derivations")?);
    for parameter in words.take::<Vec<Bound<'_, PyTuple>>>("parameters")?.unwrap_or_default() {
        let name: String = parameter.get_item(0)?.extract()?;
        let text: String = parameter.get_item(parameter.len() - 1)?.extract()?;
        options = options.with_described_parameter(name, parameter_kind(&parameter)?, text);
    }
    if let Some(longest) = words.seconds("pause")? {
        options = options.with_pause(longest);
    }
    if let Some(path) = words.take::<String>("access_file")? {
        options.access = Some(Access::from_file(path).map_err(misuse)?);
    }
    words.finish()?;
    Ok(options)
}

/// What values a parameter takes: its name, a kind, and what belongs to that.
fn parameter_kind(given: &Bound<'_, PyTuple>) -> PyResult<ParameterKind> {
    let kind: String = given.get_item(1)?.extract()?;
    Ok(match kind.as_str() {
        "real" => ParameterKind::Real {
            least: Real(given.get_item(2)?.extract()?),
            greatest: Real(given.get_item(3)?.extract()?),
        },
        "integer" => ParameterKind::Integer {
            least: given.get_item(2)?.extract()?,
            greatest: given.get_item(3)?.extract()?,
        },
        "bool" => ParameterKind::Bool,
        "text" => ParameterKind::Text,
        "signal" => ParameterKind::Signal,
        other => return Err(misuse(format!("there is no kind of parameter {other:?}"))),
    })
}

/// A policy: its name, and what belongs to it.
fn policy(given: &Bound<'_, PyAny>) -> PyResult<QueuePolicy> {
    let given = given.cast::<PyTuple>().map_err(PyErr::from)?;
    let name: String = given.get_item(0)?.extract()?;
    let time = |at: usize| given.get_item(at)?.extract::<f64>().and_then(seconds);
    Ok(match name.as_str() {
        "every_step" => QueuePolicy::EveryStep { max_wait: time(1)? },
        "every_kth" => QueuePolicy::EveryKth { every: given.get_item(1)?.extract()?, max_wait: time(2)? },
        "drop_oldest" => QueuePolicy::DropOldest,
        "drop_newest" => QueuePolicy::DropNewest,
        "latest_only" => QueuePolicy::LatestOnly,
        "wait_at_most" => QueuePolicy::WaitAtMost { wait: time(1)? },
        other => return Err(misuse(format!("there is no policy {other:?}"))),
    })
}

fn start_at(given: &Bound<'_, PyAny>) -> PyResult<StartAt> {
    if let Ok(step) = given.extract::<u64>() {
        return Ok(StartAt::After(StepId(step)));
    }
    match given.extract::<String>()?.as_str() {
        "next" => Ok(StartAt::Next),
        "oldest" => Ok(StartAt::OldestReserved),
        other => Err(misuse(format!(
            "start_at={other:?}: give \"next\", \"oldest\", or a step's number to start after it"
        ))),
    }
}

pub(crate) fn side(given: &str) -> PyResult<CohortSide> {
    match given {
        "publisher" => Ok(CohortSide::Publisher),
        "subscriber" => Ok(CohortSide::Subscriber),
        "auto" => Ok(CohortSide::FewerBytes),
        other => {
            Err(misuse(format!("there is no side {other:?}: give \"publisher\", \"subscriber\" or \"auto\"")))
        }
    }
}

pub(crate) fn subscriber(given: &Bound<'_, PyDict>) -> PyResult<SubscriberOptions> {
    let words = Words::of(given)?;
    let mut options = SubscriberOptions::default();
    link(&words, &mut options.link)?;
    options.name = words.take("name")?;
    if let Some(contact) = words.take::<String>("contact")? {
        let parsed = contact.parse();
        options.publisher_contact =
            Some(parsed.map_err(|error| misuse(format!("option contact={contact:?}: {error}")))?);
    }
    if let Some(names) = words.take::<Vec<String>>("variables")? {
        options = options.with_variables(names);
    }
    for (name, module) in words.take::<Vec<(String, Vec<u8>)>>("modules")?.unwrap_or_default() {
        options = options.with_module(name, module).or_raise()?;
    }
    for (name, text, at) in words.take::<Vec<(String, String, String)>>("derive")?.unwrap_or_default() {
        let derived = DerivedVariable::new(name, text.as_str()).or_raise()?.with_placement(side(&at)?);
        options = options.with_request(derived).or_raise()?;
    }
    for (name, variable, transform) in
        words.take::<Vec<(String, String, String)>>("transformed")?.unwrap_or_default()
    {
        options = options.with_transformed(name, variable, transform).or_raise()?;
    }
    for (variable, schema) in words.take::<Vec<(String, Schema)>>("types")?.unwrap_or_default() {
        options = options.with_request(WantedType::new(&schema.0).with_variable(variable)).or_raise()?;
    }
    if let Some(condition) = words.take::<String>("when")? {
        options = options.with_condition(condition.as_str()).or_raise()?;
    }
    if let Some(given) = words.any("policy")? {
        options.policy = policy(&given)?;
    }
    set(&mut options.limit_steps, words.take("limit_steps")?);
    options.credit_steps = words.take("credit_steps")?;
    if let Some(given) = words.any("start_at")? {
        options.start_at = start_at(&given)?;
    }
    if let Some((name, on_demand, redeliver)) = words.take::<(String, bool, bool)>("share")? {
        let mode = if on_demand { ShareMode::OnDemand } else { ShareMode::RoundRobin };
        options.share = Some(Share { redeliver, ..Share::new(name).with_mode(mode) });
    }
    set(&mut options.explicit_done, words.take("explicit_done")?);
    if let Some(wait) = words.seconds("await_restart")? {
        options.on_loss = OnLoss::AwaitRestart(wait);
    }
    set(&mut options.fetch_timeout, words.seconds("fetch_timeout")?);
    words.finish()?;
    Ok(options)
}
