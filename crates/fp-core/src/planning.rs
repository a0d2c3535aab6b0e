//! From what is asked of a variable in a step to the plan that gets it.

use crate::error::{Misuse, ReadError};
use crate::planned::{Asked, NoPlan, PlanKey, Planned, names};
use crate::select::{NoSelection, Select};
use crate::step::StepReader;
use crate::truth::goes_with;
use fp_proto::message::ResolveQuery;
use fp_types::{BlockId, Dtype, MemoryOrder, Shape, StepTable, TableEntry, VariableDef};
use std::sync::Arc;
use std::time::Instant;

impl StepReader {
    /// The plan, asking the publisher for what is not known of the layout.
    pub(crate) fn planned(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        fill: bool,
        dtype: Option<Dtype>,
        deadline: Instant,
    ) -> Result<Arc<Planned>, ReadError> {
        let select = selection.into();
        if let Some(entry) = self.held.there.find(variable) {
            let planned = self.planned_there(&entry, &select, fill)?;
            self.check_dtype(&planned, dtype)?;
            return Ok(planned);
        }
        if let Some(asked) = self.shared().derived.find(variable) {
            return self.planned_derived(asked, &select, fill, dtype, deadline);
        }
        if let Some(asked) = self.shared().options.transformed_variable(variable) {
            return self.planned_received(asked, &select, fill, dtype, deadline);
        }
        self.admit(variable)?;
        self.planned_as_put(variable, &select, fill, dtype, deadline)
    }

    /// The plan for what a publisher made of the step when it was asked for: of this step alone, so it is not kept.
    fn planned_there(
        &self,
        entry: &TableEntry,
        select: &Select,
        fill: bool,
    ) -> Result<Arc<Planned>, ReadError> {
        let key = self.key(&entry.def.name, select, entry.layout.shape(), fill)?;
        let planned = Planned::of_layout(entry.def.clone(), &entry.layout, &key);
        planned.map(Arc::new).map_err(|no_plan| self.no_plan(key, no_plan))
    }

    /// The plan for a variable of the step.
    pub(crate) fn planned_as_put(
        &self,
        variable: &str,
        select: &Select,
        fill: bool,
        dtype: Option<Dtype>,
        deadline: Instant,
    ) -> Result<Arc<Planned>, ReadError> {
        let planned = match self.recent_plan(variable, select, fill) {
            Some(planned) => planned,
            None => self.found_plan(variable, select, fill, deadline)?,
        };
        self.check_dtype(&planned, dtype)?;
        Ok(planned)
    }

    fn recent_plan(&self, variable: &str, select: &Select, fill: bool) -> Option<Arc<Planned>> {
        let (table, selection, order) = (self.held.assignment.table, select.exact()?, select.order());
        let asked = Asked { epoch: self.epoch(), table, variable, selection, fill, order };
        self.shared().plans.find_recent(&asked)
    }

    fn found_plan(
        &self,
        variable: &str,
        select: &Select,
        fill: bool,
        deadline: Instant,
    ) -> Result<Arc<Planned>, ReadError> {
        let shape = match select.needs_shape() {
            true => self.shape(variable, deadline)?,
            false => None,
        };
        let key = self.key(variable, select, shape.as_ref(), fill)?;
        match self.shared().plans.find(&key) {
            Some(planned) => Ok(planned),
            None => self.plan(key, deadline),
        }
    }

    /// The plan, if it was made before.
    pub(crate) fn known_plan(
        &self,
        variable: &str,
        select: &Select,
        dtype: Dtype,
    ) -> Result<Option<Arc<Planned>>, ReadError> {
        if let Some((asked, _)) = self.shared().derived.find(variable) {
            return self.known_plan_derived(asked, select, dtype);
        }
        if self.shared().options.transformed_variable(variable).is_some() {
            return Ok(None);
        }
        self.admit(variable)?;
        self.known_plan_as_put(variable, select, dtype)
    }

    /// The plan for a variable of the step, if it was made before.
    pub(crate) fn known_plan_as_put(
        &self,
        variable: &str,
        select: &Select,
        dtype: Dtype,
    ) -> Result<Option<Arc<Planned>>, ReadError> {
        let shape = match select.needs_shape() {
            true => {
                let Some(table) = self.known_table() else { return Ok(None) };
                self.shape_in(&table, variable)?
            }
            false => None,
        };
        let key = self.key(variable, select, shape.as_ref(), false)?;
        let Some(planned) = self.shared().plans.find(&key) else { return Ok(None) };
        self.check_dtype(&planned, Some(dtype))?;
        Ok(Some(planned))
    }

    /// Whether the variable may be read.
    pub(crate) fn admit(&self, variable: &str) -> Result<(), ReadError> {
        self.shared().check_fork().map_err(|source| self.misuse(source))?;
        let step = self.step();
        match self.held.wants.contains(VariableDef::base_name(variable)) {
            true => Ok(()),
            false => Err(self.misuse(Misuse::NotSubscribed { step, variable: variable.to_owned() })),
        }
    }

    /// The variable's shape in this step; none of a local array.
    fn shape(&self, variable: &str, deadline: Instant) -> Result<Option<Shape>, ReadError> {
        self.shape_in(&*self.table(deadline)?, variable)
    }

    fn shape_in(&self, table: &StepTable, variable: &str) -> Result<Option<Shape>, ReadError> {
        match table.entry(variable) {
            Some(entry) => Ok(entry.layout.shape().copied()),
            None => Err(self.misuse(self.unknown(table, variable))),
        }
    }

    /// The table has no such variable.
    pub(crate) fn unknown(&self, table: &StepTable, variable: &str) -> Misuse {
        let known = names(table);
        Misuse::UnknownVariable { step: self.step(), variable: variable.to_owned(), known }
    }

    /// What a plan is known by.
    pub(crate) fn key(
        &self,
        variable: &str,
        select: &Select,
        shape: Option<&Shape>,
        fill: bool,
    ) -> Result<PlanKey, ReadError> {
        let (step, epoch) = self.identity();
        let (table, variable, order) = (self.held.assignment.table, variable.to_owned(), select.order());
        match select.resolve(shape) {
            Ok(selection) => Ok(PlanKey { epoch, table, variable, selection, fill, order }),
            Err(NoSelection::Shape(source)) => {
                Err(self.misuse(Misuse::Selection { step, variable, source: Box::new(source) }))
            }
            Err(NoSelection::Text(source)) => {
                Err(self.misuse(Misuse::SelectionText { variable, source: Box::new(source) }))
            }
        }
    }

    pub(crate) fn check_dtype(&self, planned: &Planned, dtype: Option<Dtype>) -> Result<(), ReadError> {
        let (step, expected) = (self.step(), planned.def.dtype);
        match dtype.filter(|&found| !goes_with(expected, found)) {
            None => Ok(()),
            Some(found) => {
                let variable = planned.def.name.clone();
                Err(self.misuse(Misuse::WrongDtype { step, variable, expected, found }))
            }
        }
    }

    fn plan(&self, key: PlanKey, deadline: Instant) -> Result<Arc<Planned>, ReadError> {
        let query = ResolveQuery { variable: key.variable.clone(), selection: key.selection.clone() };
        let table = self.shared().resolve(self.identity(), key.table, vec![query], deadline)?;
        self.make_plan(&table, key)
    }

    /// The plans for whole blocks of variables: one question for all that are not known.
    pub(crate) fn planned_blocks(
        &self,
        wanted: &[(&str, BlockId)],
        deadline: Instant,
    ) -> Result<Vec<Arc<Planned>>, ReadError> {
        self.planned_blocks_in(wanted, MemoryOrder::RowMajor, deadline)
    }

    /// The same, with elements in that order.
    pub(crate) fn planned_blocks_in(
        &self,
        wanted: &[(&str, BlockId)],
        order: MemoryOrder,
        deadline: Instant,
    ) -> Result<Vec<Arc<Planned>>, ReadError> {
        let there = |&(variable, _): &(&str, BlockId)| self.held.there.find(variable);
        if let Some(entries) = wanted.iter().map(there).collect::<Option<Vec<_>>>() {
            let select = |&(_, block): &(&str, BlockId)| Select::from(block).with_order(order);
            let plan = |(one, entry): (_, Arc<TableEntry>)| self.planned_there(&entry, &select(one), false);
            return wanted.iter().zip(entries).map(plan).collect();
        }
        let key = |&(variable, block): &(&str, BlockId)| {
            self.key(variable, &Select::from(block).with_order(order), None, false)
        };
        let keys: Vec<PlanKey> = wanted.iter().map(key).collect::<Result<_, _>>()?;
        let query =
            |key: &PlanKey| ResolveQuery { variable: key.variable.clone(), selection: key.selection.clone() };
        let unknown = keys.iter().filter(|key| self.shared().plans.find(key).is_none()).map(query);
        let unknown: Vec<ResolveQuery> = unknown.collect();
        let id = self.held.assignment.table;
        let table = match unknown.is_empty() {
            true => None,
            false => Some(self.shared().resolve(self.identity(), id, unknown, deadline)?),
        };
        let plan = |key: PlanKey| match (self.shared().plans.find(&key), &table) {
            (Some(planned), _) => Ok(planned),
            (None, Some(table)) => self.make_plan(table, key),
            (None, None) => self.plan(key, deadline),
        };
        keys.into_iter().map(plan).collect()
    }

    fn make_plan(&self, table: &StepTable, key: PlanKey) -> Result<Arc<Planned>, ReadError> {
        let planned = Planned::new(table, &key).map_err(|no_plan| self.no_plan(key.clone(), no_plan))?;
        let planned = Arc::new(planned);
        self.shared().plans.keep(key, planned.clone());
        Ok(planned)
    }

    /// Why there is no plan.
    pub(crate) fn no_plan(&self, key: PlanKey, no_plan: NoPlan) -> ReadError {
        let (step, variable) = (self.step(), key.variable);
        match no_plan {
            NoPlan::UnknownVariable(known) => self.misuse(Misuse::UnknownVariable { step, variable, known }),
            NoPlan::Plan(fp_types::PlanError::Selection(source)) => {
                self.misuse(Misuse::Selection { step, variable, source: Box::new(source) })
            }
            NoPlan::Plan(source) => {
                let stream = self.shared().stream.clone();
                ReadError::Plan { stream, step, variable, source }
            }
        }
    }
}
