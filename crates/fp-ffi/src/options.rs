//! Options of publishers and subscribers. They are set by name and not in a struct, so that a new one breaks no
//! program.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::{Handle, find, hold, take};
use crate::keys::{KEYS, Key, Role, Settings};
use crate::raw::{as_len, check_place, give, text, values};
use crate::schema::{SchemaHandle, built};
use crate::selection::{SelectionStruct, selection};
use fp_core::{
    Cohort, CohortSide, DerivationError, DerivedVariable, LinkOptions, Parameter, PublisherOptions,
    SubscriberOptions, TransformedVariable, Transforms, TransportPolicy, WantedType,
};
use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

/// How a stream is opened.
pub struct OptionsHandle {
    state: Mutex<State>,
}

#[derive(Clone, Default)]
pub(crate) struct State {
    settings: Settings,
    set: Vec<(&'static str, Role)>,
}

impl State {
    pub(crate) fn links(&mut self, set: impl Fn(&mut LinkOptions)) {
        self.settings.links(set);
    }

    /// Transforms for either end.
    pub(crate) fn transforms(&mut self, transforms: &Transforms) {
        self.settings.subscriber.transforms = Some(transforms.clone());
        self.settings.publisher.transforms = Some(transforms.clone());
    }

    /// An option of publishers that has no key.
    pub(crate) fn publisher(
        &mut self,
        what: &'static str,
        set: impl FnOnce(PublisherOptions) -> PublisherOptions,
    ) {
        self.settings.publisher = set(self.settings.publisher.clone());
        self.set.push((what, Role::Publisher));
    }

    /// The parameters that were added by now.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.settings.publisher.parameters
    }

    /// A cohort that finds its lead by the rendezvous.
    fn searched(&mut self, cohort: Cohort) {
        self.links(|link| {
            link.cohort = cohort;
            link.collectives = None;
        });
    }
}

impl Handle for OptionsHandle {
    const NAME: &'static str = "set of options";
}

/// The settings for one role; null options are the defaults. An option of the other role is refused.
pub(crate) fn settings(options: *const OptionsHandle, role: Role) -> Result<Settings, Failure> {
    if options.is_null() {
        return Ok(Settings::default());
    }
    let options = find(options)?;
    let state = options.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(missing) = state.settings.missing() {
        return Err(Failure::new(Status::BadOption, format!("TLS needs {missing} as well")));
    }
    let stranger = state.set.iter().find(|(_, of)| *of != Role::Both && *of != role);
    match stranger {
        Some((name, of)) => {
            let text =
                format!("{name} is an option of a {of:?}, not of a {role:?}; queues belong to subscriptions");
            Err(Failure::new(Status::BadOption, text))
        }
        None => complete(state.settings),
    }
}

/// The settings, with what several options make together.
fn complete(mut settings: Settings) -> Result<Settings, Failure> {
    if settings.forbid_fallback {
        let allowed = match settings.publisher.link.transports.take() {
            Some(allowed) => allowed,
            None => TransportPolicy::from_environment()
                .map_err(|error| Failure::new(Status::BadOption, format!("FLEXPATH_TRANSPORTS: {error}")))?,
        };
        let allowed = allowed.with_forbid_fallback(true);
        settings.links(|link| link.transports = Some(allowed.clone()));
    }
    Ok(settings)
}

/// What both kinds of handle have in common, as it is set.
pub(crate) fn links(options: *const OptionsHandle) -> Result<LinkOptions, Failure> {
    let options = find(options)?;
    let state = options.state.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(state.settings.publisher.link.clone())
}

pub(crate) fn change(
    options: *const OptionsHandle,
    run: impl FnOnce(&mut State) -> Result<(), Failure>,
) -> Outcome {
    let options = find(options)?;
    run(&mut options.state.lock().unwrap_or_else(PoisonError::into_inner))?;
    Ok(Status::Ok)
}

fn key(name: &str) -> Result<&'static Key, Failure> {
    let names = || KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", ");
    let unknown =
        || Failure::new(Status::BadOption, format!("{name:?} is no option; there are: {}", names()));
    KEYS.iter().find(|key| key.name == name).ok_or_else(unknown)
}

/// Makes a set of options, all at their defaults, to be freed by `flexpath_options_free`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_create(options: *mut *mut OptionsHandle) -> Status {
    guard(|| {
        check_place(options, "options")?;
        give(options, hold(OptionsHandle { state: Mutex::default() }), "options")
    })
}

/// Sets an option by name and value. An unknown name fails, and the text lists all names. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_set(
    options: *mut OptionsHandle,
    name: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| {
        let key = key(text(name, "name")?)?;
        let value = text(value, "value")?;
        change(options, |state| {
            let set = (key.set)(&mut state.settings, value);
            set.map_err(|why| Failure::new(Status::BadOption, format!("{}={value:?}: {why}", key.name)))?;
            state.set.push((key.name, key.role));
            Ok(())
        })
    })
}

/// Says that this process is `rank` of the `size` ranks that open the stream together. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_set_cohort(options: *mut OptionsHandle, rank: u32, size: u32) -> Status {
    guard(|| {
        let cohort = Cohort::of(rank, size).map_err(Failure::misused)?;
        change(options, |state| Ok(state.searched(cohort)))
    })
}

/// Takes rank and size from the launcher: `FLEXPATH_RANK` and `FLEXPATH_SIZE`, Open MPI, MPICH, Slurm; a lone process
/// where none of them is set. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_set_cohort_from_environment(options: *mut OptionsHandle) -> Status {
    guard(|| {
        let cohort = Cohort::from_environment().map_err(Failure::misused)?;
        change(options, |state| Ok(state.searched(cohort)))
    })
}

/// Adds a standing selection of a subscriber: the part of a variable that it will read in every step. Each get says in
/// which order. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_add_selection(
    options: *mut OptionsHandle,
    variable: *const c_char,
    selected: *const SelectionStruct,
) -> Status {
    guard(|| {
        let (variable, selected) = (text(variable, "variable")?.to_owned(), selection(selected)?);
        change(options, |state| {
            state.settings.subscriber.selections.push((variable, selected));
            Ok(state.set.push(("a standing selection", Role::Subscriber)))
        })
    })
}

/// On which side a variable is derived.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum PlacementCode {
    /// where the data is: only the result crosses the wire
    Publisher = 0,
    /// by the subscriber, of the published variables, which it fetches whole
    Subscriber = 1,
    /// where fewer bytes have to travel, as that is in each step
    FewerBytes = 2,
}

pub(crate) fn placed(code: i32) -> Result<CohortSide, Failure> {
    match code {
        0 => Ok(CohortSide::Publisher),
        1 => Ok(CohortSide::Subscriber),
        2 => Ok(CohortSide::FewerBytes),
        _ => {
            Err(Failure::misuse(format!("{code} is no placement: 0 publisher, 1 subscriber, 2 fewer bytes")))
        }
    }
}

/// Has a variable derived for a subscriber, which reads it by `name` as any variable of the stream. `derivation` says
/// from what and how, as `vx, vy | magnitude` (docs/transforms.md). One that cannot be read fails with
/// `FLEXPATH_STATUS_BAD_OPTION`, and the text says at which place. `placement` is one of `flexpath_placement`.
/// Published variables are then sent besides only if the option `Variables` names them. A derivation that does not fit
/// the published variables fails as it is read, with `FLEXPATH_STATUS_NOT_DERIVED`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_add_derivation(
    options: *mut OptionsHandle,
    name: *const c_char,
    derivation: *const c_char,
    placement: i32,
) -> Status {
    guard(|| {
        let (name, derivation) = (text(name, "name")?, text(derivation, "derivation")?);
        let placement = placed(placement)?;
        asked(options, (name, "a derived variable"), |chosen| {
            chosen.with_request(DerivedVariable::new(name, derivation)?.with_placement(placement))
        })
    })
}

/// What a subscriber asks for besides, by that name.
fn asked(
    options: *mut OptionsHandle,
    (name, what): (&str, &'static str),
    ask: impl FnOnce(SubscriberOptions) -> Result<SubscriberOptions, DerivationError>,
) -> Result<Status, Failure> {
    change(options, |state| {
        let refused = |error: DerivationError| Failure::new(Status::BadOption, format!("{name:?}: {error}"));
        state.settings.subscriber = ask(state.settings.subscriber.clone()).map_err(refused)?;
        Ok(state.set.push((what, Role::Subscriber)))
    })
}

/// Has the records of `variable` go through a transform before a subscriber reads them by `name`, as any variable of
/// records. `placement` is one of `flexpath_placement`. The publisher does it if it has a transform of that name, so
/// that only the result crosses the wire. The subscriber does it if `flexpath_options_set_transforms` gave it one of
/// that name. Where both have it, the publisher does it at first. After that it is done where fewer bytes cross, by
/// what rank 0 of the subscriber measures. Results are the same. Published variables are then sent besides only if the
/// option `Variables` names them. Records that cannot be transformed fail as they are read, with
/// `FLEXPATH_STATUS_NOT_DERIVED`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_add_transformed(
    options: *mut OptionsHandle,
    name: *const c_char,
    variable: *const c_char,
    transform: *const c_char,
    placement: i32,
) -> Status {
    guard(|| {
        let (name, variable) = (text(name, "name")?, text(variable, "variable")?);
        let (transform, placement) = (text(transform, "transform")?, placed(placement)?);
        asked(options, (name, "a transformed variable"), |chosen| {
            let transformed = TransformedVariable::new(name, variable, transform)?;
            chosen.with_request(transformed.with_placement(placement))
        })
    })
}

/// Names a WebAssembly module of `len` bytes, which are copied, for derivations that are added after it and run it, as
/// `vx | module(name)` (docs/transforms.md). A `Condition` that is set after it may call it too: `max(module(name, vx)) > 9`.
/// It goes to the publisher with the subscription. It is run there if the
/// publisher was built with the feature `wasm` and allows it by its option `DeployPolicy`. Otherwise what is derived by
/// it fails as it is read, with `FLEXPATH_STATUS_NOT_DERIVED` and the reason. With `FLEXPATH_PLACEMENT_SUBSCRIBER` this
/// library runs it, if it was built with that feature. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_add_module(
    options: *mut OptionsHandle,
    name: *const c_char,
    module: *const u8,
    len: u64,
) -> Status {
    guard(|| {
        let name = text(name, "name")?;
        let module = values(module, as_len(len), "module")?;
        asked(options, (name, "a module"), |chosen| chosen.with_module(name, module))
    })
}

/// Has a subscriber attach only if a variable of the stream provides records of a type: as they are, converted, or
/// through transforms (`flexpath_options_set_transforms`). `variable` is the one that is to provide it, by the name that
/// it is read by; null: any. If several types are added, all must be there. The schema counts as it is now. Otherwise
/// `flexpath_subscriber_open` fails with `FLEXPATH_STATUS_INCOMPATIBLE`, and the text says field by field why. Only a
/// step says what types a stream has. So opening waits for the first one, within `OpenTimeoutSecs`; it is still the next
/// one. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_add_type(
    options: *mut OptionsHandle,
    variable: *const c_char,
    schema: *const SchemaHandle,
) -> Status {
    guard(|| {
        let wanted = WantedType::new(&built(schema)?.schema);
        let (name, wanted) = match variable.is_null() {
            true => ("any variable", wanted),
            false => {
                let name = text(variable, "variable")?;
                (name, wanted.with_variable(name))
            }
        };
        asked(options, (name, "a wanted type"), |chosen| chosen.with_request(wanted))
    })
}

/// Frees a set of options. What was opened with it stays. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_free(options: *mut OptionsHandle) -> Status {
    guard(|| take(options).map(|_| Status::Ok))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fallback_is_forbidden_in_whatever_order_it_is_said() {
        let set = |settings: &mut Settings, name, value| {
            let key = key(name).expect("there is one");
            (key.set)(settings, value).expect("it is taken");
        };
        for names in [["ForbidFallback", "Transports"], ["Transports", "ForbidFallback"]] {
            let mut settings = Settings::default();
            for name in names {
                set(&mut settings, name, if name == "Transports" { "shm,tcp" } else { "true" });
            }
            let expected = "shm,tcp".parse::<TransportPolicy>().expect("a list").with_forbid_fallback(true);
            let made = complete(settings).expect("complete");
            assert_eq!(made.publisher.link.transports.as_ref(), Some(&expected), "{names:?}");
            assert_eq!(made.subscriber.link.transports, Some(expected), "{names:?}");
        }
        let made = complete(Settings::default()).expect("complete");
        assert_eq!(made.subscriber.link.transports, None, "the environment says it");
        let mut alone = Settings::default();
        set(&mut alone, "ForbidFallback", "true");
        let made = complete(alone).expect("complete");
        assert!(made.subscriber.link.transports.is_some_and(|policy| policy.forbid_fallback));
    }
}
