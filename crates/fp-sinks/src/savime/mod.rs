//! Steps in SAVIME, an array database in memory, by its own messages over tcp.
//!
//! A global array of a stream is a TAR: a table of cells by `step` and then by the array's dimensions. A scalar is one
//! by `step` alone. A TAR is made before its first data, with the extents that the array has then. Its name is that of
//! the stream and of the variable: `sim_rho`. What is no letter, digit or `_` in a name is `_` there.
//!
//! Each part that a rank takes is a dataset. Ranks send theirs side by side, each over a connection of its own. When all
//! parts of a step are there, it is committed: each dataset is loaded into its TAR as a subtar. So nothing of a step can
//! be queried before all of it has been sent.
//!
//! The last that is loaded is the step's cell in the TAR `sim_steps`: a step that has none there is not whole. A kill
//! between two loads can leave some subtars of a step without that cell, as the database has no transactions. Datasets
//! of a step that was not committed stay in the database until somebody drops them.
//!
//! Users may have queries passed through: before all else, and after each step. A failed one ends the program.
//!
//! SAVIME has the types `int`, `long`, `float` and `double`. It has no place for units, descriptions and attributes.
//!
//! This was tested against a double of the documented messages, and not against a server.

mod connection;
mod header;
mod proxied;
mod query;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use fp_core::{ArrayKind, Region, StepId};

use self::connection::{Answer, Connection};
use self::proxied::Proxied;
use self::query::Tar;
use crate::arguments::Arguments;
use crate::error::SinkError;
use crate::part::Part;
use crate::sink::Sink;
use crate::taken_step::{TakenStep, TakenVariable};

/// What the database says of what it did.
const DONE: &str = "Query executed successfully";

/// Its words where a TAR of that name is there.
const EXISTS: &str = "already exists";

/// No answer to what the sink itself asks is longer.
const MAX_ANSWER_BYTES: u64 = 1 << 28;

/// The highest step: SAVIME's `int` counts them, as cells of a TAR have to be counted too.
const MAX_STEP: u64 = i32::MAX as u64 - 2;

/// A database of SAVIME.
pub(crate) struct SavimeSink {
    place: String,
    patience: Duration,
    append: bool,
    /// The name of the stream, as a name of the database.
    stream: String,
    /// What tells the datasets of this run from those of others.
    run: String,
    last_step: Option<StepId>,
    /// What users ask.
    proxied: Proxied,
    /// Connections that nobody uses now.
    idle: Mutex<Vec<Connection>>,
    state: Mutex<State>,
}

/// What is known of the database.
#[derive(Default)]
struct State {
    /// The TARs that are there, by variable.
    tars: BTreeMap<String, Tar>,
    /// The datasets of the step that is not committed yet: how each is loaded.
    loads: Vec<String>,
    datasets: u64,
}

impl SavimeSink {
    /// Connects, and makes the TAR that says which steps are whole, or learns which are.
    pub(crate) fn open(place: &str, arguments: &Arguments) -> Result<Self, SinkError> {
        if arguments.durable {
            let why = "SAVIME keeps what it has in memory, and no step is on a device: leave --durable out";
            return Err(SinkError::Target(format!("{place}: {why}")));
        }
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut made = Self {
            place: place.to_owned(),
            patience: arguments.timeout,
            append: arguments.append,
            stream: query::identifier(&arguments.stream),
            run: format!("{:x}", started.as_nanos()),
            last_step: None,
            proxied: Proxied::of(arguments),
            idle: Mutex::default(),
            state: Mutex::default(),
        };
        made.ask_before()?;
        let steps = made.steps();
        if !made.is_new(&steps)? {
            made.last_step = made.last_whole_step()?;
            // One without steps may be of a run that found no stream.
            if made.last_step.is_some() && !made.append {
                return Err(made.is_there(&steps));
            }
        }
        Ok(made)
    }

    /// The TAR of steps that are whole.
    fn steps(&self) -> Tar {
        Tar::of_steps(&self.stream)
    }

    /// Makes a TAR, unless it is there already, and may be.
    fn create(&self, tar: &Tar) -> Result<(), SinkError> {
        if self.is_new(tar)? || self.append { Ok(()) } else { Err(self.is_there(tar)) }
    }

    /// Makes a TAR; false if it was there already.
    fn is_new(&self, tar: &Tar) -> Result<bool, SinkError> {
        let text = tar.create();
        let answer = self.ask(&text, None)?;
        if answer.text == DONE {
            return Ok(true);
        }
        if answer.text.contains(EXISTS) { Ok(false) } else { Err(self.refused(&text, &answer)) }
    }

    fn is_there(&self, tar: &Tar) -> SinkError {
        let (place, name) = (&self.place, &tar.name);
        SinkError::Target(format!(
            "{place}: TAR {name} is there already: drop it with drop_tar(\"{name}\"), or say --append"
        ))
    }

    fn last_whole_step(&self) -> Result<Option<StepId>, SinkError> {
        let (steps, text) = (self.steps(), self.steps().scan());
        let answer = self.ask(&text, None)?;
        // What has no cells yet has no block of them.
        let numbers = answer.blocks.get(&steps.attribute).map(Vec::as_slice).unwrap_or_default();
        if !answer.text.starts_with('#') {
            return Err(self.refused(&text, &answer));
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        Ok(numbers.iter().map(|bytes| StepId(u64::from_le_bytes(*bytes))).max())
    }

    /// Sends a query over a connection that nobody uses, and gets its answer.
    fn ask(&self, query: &str, parameter: Option<(&str, &[u8])>) -> Result<Answer, SinkError> {
        self.ask_within(query, parameter, MAX_ANSWER_BYTES)
    }

    /// Asks for an answer that is no longer than that.
    fn ask_within(
        &self,
        query: &str,
        parameter: Option<(&str, &[u8])>,
        max_bytes: u64,
    ) -> Result<Answer, SinkError> {
        let wrong =
            |why: String| SinkError::Database { place: self.place.clone(), query: query.to_owned(), why };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => Connection::open(&self.place, self.patience).map_err(wrong)?,
        };
        // One that failed in the midst of a message is of no use any more, and is dropped.
        let answer = connection.ask(query, parameter, max_bytes).map_err(wrong)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(answer)
    }

    fn demand(&self, query: &str, parameter: Option<(&str, &[u8])>) -> Result<(), SinkError> {
        let answer = self.ask(query, parameter)?;
        if answer.text == DONE { Ok(()) } else { Err(self.refused(query, &answer)) }
    }

    fn refused(&self, query: &str, answer: &Answer) -> SinkError {
        let why = format!("the database says {:?}", answer.text);
        SinkError::Database { place: self.place.clone(), query: query.to_owned(), why }
    }

    /// Sends a dataset, and keeps how it is loaded.
    fn send(&self, tar: &Tar, step: StepId, region: &Region, bytes: &[u8]) -> Result<(), SinkError> {
        let number = {
            let mut state = self.state();
            state.datasets += 1;
            state.datasets
        };
        let dataset = format!("{}_{step}_{number}_{}", tar.name, self.run);
        self.demand(&tar.create_dataset(&dataset), Some((&format!("@{dataset}"), bytes)))?;
        self.state().loads.push(tar.load(step, region, &dataset));
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The TAR of a variable, which is made if it is not there.
    fn tar(&self, step: &TakenStep, variable: &TakenVariable) -> Result<(), SinkError> {
        let refused = |why: String| step.refusal(variable, why);
        let wanted = Tar::of_variable(&self.stream, variable).map_err(refused)?;
        let name = &variable.def.name;
        let state = self.state();
        if let Some(known) = state.tars.get(name) {
            return known.holds(&wanted).map_err(refused);
        }
        let same =
            state.tars.iter().find(|(_, known)| known.name == wanted.name).map(|(name, _)| name.clone());
        drop(state);
        if let Some(other) = same {
            return Err(refused(format!(
                "its TAR would be {}, which is that of {other:?}: leave one out with --variables",
                wanted.name
            )));
        }
        if wanted.name == self.steps().name {
            return Err(refused(
                "its TAR would be that of whole steps: leave it out with --variables".to_owned(),
            ));
        }
        self.create(&wanted)?;
        self.state().tars.insert(name.clone(), wanted);
        Ok(())
    }

    fn known(&self, variable: &TakenVariable) -> Option<Tar> {
        self.state().tars.get(&variable.def.name).cloned()
    }
}

impl Sink for SavimeSink {
    fn last_step(&self) -> Option<StepId> {
        self.last_step
    }

    fn begin(&self, step: &TakenStep, ranks: u32) -> Result<Vec<Vec<Part>>, SinkError> {
        if step.step.0 > MAX_STEP {
            return Err(SinkError::Target(format!(
                "step {} is too high: SAVIME counts to {MAX_STEP}",
                step.step
            )));
        }
        self.state().loads.clear();
        let mut parts = vec![Vec::new(); ranks as usize];
        for (at, variable) in step.variables.iter().enumerate().filter(|(_, one)| !self.proxied.is_query(one))
        {
            let Some(shape) = variable.shape.as_ref().filter(|shape| shape.element_count() > 0) else {
                // What has no shape is refused, and what has no element is nowhere in this step.
                Tar::of_variable(&self.stream, variable).map_err(|why| step.refusal(variable, why))?;
                continue;
            };
            self.tar(step, variable)?;
            if variable.def.kind == ArrayKind::Scalar {
                continue;
            }
            for (rank, slab) in query::slabs(shape, ranks).into_iter().enumerate() {
                parts[rank].push(Part::region(at, slab));
            }
        }
        Ok(parts)
    }

    fn write(&self, step: &TakenStep, part: &Part, bytes: &[u8]) -> Result<(), SinkError> {
        match self.known(&step.variables[part.variable]) {
            Some(tar) => self.send(&tar, step.step, &part.region, bytes),
            None => Ok(()),
        }
    }

    fn commit(&self, step: &TakenStep) -> Result<(), SinkError> {
        let point = Region::whole(&fp_core::Shape::scalar());
        for variable in &step.variables {
            if let (Some(value), Some(tar)) = (&variable.value, self.known(variable)) {
                self.send(&tar, step.step, &point, value)?;
            }
        }
        // The cell that says that the step is whole is the last.
        self.send(&self.steps(), step.step, &point, &step.step.0.to_le_bytes())?;
        let loads = std::mem::take(&mut self.state().loads);
        loads.iter().try_for_each(|load| self.demand(load, None))?;
        self.ask_after(step)
    }
}
