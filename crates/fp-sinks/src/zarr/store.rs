//! What a store has: its arrays, and how many steps of which stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use fp_core::{Dtype, Region, StepId};
use serde_json::{Map, Value, json};

use super::document::{Cut, NewArray, STEP, group, rows_of};
use super::files::{DOCUMENT, Files};
use super::node::{Node, write_document};
use crate::arguments::Compression;
use crate::error::SinkError;

/// So many values of a scalar are in a chunk: it is written anew with every step.
pub(crate) const VALUES: u64 = 1024;

/// What a store has.
pub(crate) struct Store {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) compression: Compression,
    /// So many threads encode the chunks of one shard.
    threads: usize,
    /// The stream whose steps it has; none before the first.
    pub(crate) stream: Option<String>,
    pub(crate) last_step: Option<StepId>,
    /// The root that was found, until the store is taken over.
    found: Option<Value>,
    /// How many steps are committed.
    pub(crate) steps: u64,
    /// Arrays by path.
    pub(crate) nodes: BTreeMap<String, Node>,
    /// Groups by path, and what others have put into the store: they are left as they are.
    others: BTreeMap<String, Value>,
    /// Groups that were made in this step.
    new_groups: Vec<String>,
}

impl Store {
    /// One that is still to be made.
    pub(crate) fn new(files: Arc<dyn Files>, compression: Compression, threads: usize) -> Self {
        Self {
            files,
            compression,
            threads,
            stream: None,
            last_step: None,
            found: None,
            steps: 0,
            nodes: BTreeMap::new(),
            others: BTreeMap::new(),
            new_groups: Vec::new(),
        }
    }

    /// Takes what the root says for the truth, and changes nothing.
    pub(crate) fn look(&mut self) -> Result<(), SinkError> {
        let place = self.files.place(DOCUMENT);
        let Some(text) = self.files.read(DOCUMENT)? else {
            let place = place.display();
            return Err(SinkError::Target(format!(
                "{place} is not there: no Zarr store of flexpath tee is here, but something else: name another folder"
            )));
        };
        let root: Value = serde_json::from_slice(&text).map_err(SinkError::format(&place))?;
        let own = &root["attributes"]["flexpath"];
        let (stream, steps) = (own["stream"].as_str(), own["steps"].as_u64());
        let (Some(stream), Some(steps)) = (stream, steps) else {
            let place = place.display();
            return Err(SinkError::Target(format!(
                "{place}: no store of flexpath tee, which says there how many steps it has: name another folder"
            )));
        };
        if !root["consolidated_metadata"]["metadata"].is_object() {
            return Err(SinkError::Target(format!("{}: it has no consolidated metadata", place.display())));
        }
        self.stream = Some(stream.to_owned());
        self.steps = steps;
        self.last_step = own["last_step"].as_u64().map(StepId);
        self.found = Some(root);
        Ok(())
    }

    /// Goes on with what was found, and cuts off what a kill left of a step that the root does not have.
    pub(crate) fn take_over(&mut self) -> Result<(), SinkError> {
        let Some(mut root) = self.found.take() else { return Ok(()) };
        // From now on whoever wrote here before commits no step, so what is cut off is none.
        if let Some(writer) = self.files.writer() {
            root["attributes"]["flexpath"]["writer"] = json!(writer);
            self.put_root(&root)?;
        }
        let documents = match root["consolidated_metadata"]["metadata"].take() {
            Value::Object(documents) => documents,
            _ => Map::new(),
        };
        for (path, document) in documents {
            if Node::is_ours(&document, self.steps) {
                let mut node = Node::of(&self.files, &path, document, self.threads)?;
                node.cut(self.steps)?;
                node.tell()?;
                self.nodes.insert(path, node);
            } else {
                self.others.insert(path, document);
            }
        }
        self.files.settle()
    }

    /// Makes the store where there is none: it has no steps.
    pub(crate) fn begin(&mut self, stream: &str) -> Result<(), SinkError> {
        if self.stream.is_some() {
            return Ok(());
        }
        self.files.claim()?;
        // Another one may have made it while this one waited for its first step.
        if !self.files.is_vacant()? {
            return Err(self.is_taken());
        }
        self.stream = Some(stream.to_owned());
        let attributes = Map::from_iter([("long_name".to_owned(), json!("number of the step"))]);
        let numbers = NewArray {
            shape: vec![0],
            dtype: Dtype::U64,
            dimensions: vec![STEP.to_owned()],
            attributes,
            cut: Cut::Steps(VALUES),
        };
        if let Some(document) = numbers.document(self.compression) {
            let node = Node::of(&self.files, STEP, document, self.threads)?;
            self.nodes.insert(STEP.to_owned(), node);
        }
        // The root comes first: where there is one meanwhile, nothing of that store is touched.
        self.tell_root()?;
        self.files.remove(STEP)?;
        self.nodes.values().try_for_each(Node::tell)?;
        self.files.settle()
    }

    /// For a store that is there though it should not be.
    pub(crate) fn is_taken(&self) -> SinkError {
        let path = self.files.place("");
        let path = path.display();
        SinkError::Target(format!("{path} is there already: name another folder, or say --append"))
    }

    /// Makes an array. What a kill left there is removed. False if Zarr does not have its element type.
    pub(crate) fn make(&mut self, path: &str, array: NewArray) -> Result<bool, SinkError> {
        let Some(document) = array.document(self.compression) else { return Ok(false) };
        self.files.remove(path)?;
        let node = Node::of(&self.files, path, document, self.threads)?;
        self.nodes.insert(path.to_owned(), node);
        Ok(true)
    }

    /// Makes a group, if it is not there.
    pub(crate) fn make_group(&mut self, path: &str) {
        if !self.others.contains_key(path) {
            self.others.insert(path.to_owned(), group());
            self.new_groups.push(path.to_owned());
        }
    }

    /// Whether the array of that path has the numbers of rows of that joined array.
    pub(crate) fn counts_rows(&self, path: &str, joined: &str) -> bool {
        let node = self.nodes.get(path);
        node.is_some_and(|node| node.document()["attributes"]["long_name"] == rows_of(joined))
    }

    /// Whether something else than an array of ours has that path.
    pub(crate) fn has_other(&self, path: &str) -> bool {
        self.others.contains_key(path)
    }

    /// Names for the dimensions of a new array. Those that others of its group have are of the same extent there.
    pub(crate) fn dimensions(&self, path: &str, wanted: &[String], shape: &[u64]) -> Vec<String> {
        let (group, name) = path.rsplit_once('/').map_or(("", path), |(group, name)| (group, name));
        let in_group = |other: &&str| other.rsplit_once('/').map_or("", |(group, _)| group) == group;
        let others: Vec<&Node> =
            self.nodes.iter().filter(|(path, _)| in_group(&path.as_str())).map(|(_, node)| node).collect();
        let is_free = |wanted: &str, extent: u64| {
            let mut known = others.iter().flat_map(|node| node.dimensions());
            wanted != STEP && known.all(|(dimension, other)| dimension != wanted || other == extent)
        };
        let mut names = vec![STEP.to_owned()];
        for (dim, (wanted_name, extent)) in wanted.iter().zip(shape).enumerate() {
            let mut chosen = wanted_name.clone();
            if chosen.is_empty() || !is_free(&chosen, *extent) || names.contains(&chosen) {
                chosen = format!("{name}_{dim}");
            }
            while !is_free(&chosen, *extent) || names.contains(&chosen) || wanted[dim + 1..].contains(&chosen)
            {
                chosen.push('_');
            }
            names.push(chosen);
        }
        names
    }

    /// Stores all that an array of one dimension has in the step that is written.
    pub(crate) fn store_all(&self, path: &str, bytes: &[u8]) -> Result<(), SinkError> {
        let Some(node) = self.nodes.get(path) else { return Ok(()) };
        let whole =
            Region::new([0], [node.shape()[0]]).map_err(SinkError::format(&self.files.place(path)))?;
        node.store(self.steps, &whole, bytes)
    }

    /// Lets others see the step: all arrays first, and the root when the step is whole.
    pub(crate) fn tell(&mut self) -> Result<(), SinkError> {
        self.files.settle()?;
        for path in std::mem::take(&mut self.new_groups) {
            write_document(&*self.files, &path, &self.others[&path])?;
        }
        self.nodes.values().try_for_each(Node::tell)?;
        self.files.settle()?;
        self.tell_root()
    }

    fn tell_root(&self) -> Result<(), SinkError> {
        let mut documents: Map<String, Value> = self.others.clone().into_iter().collect();
        documents.extend(self.nodes.iter().map(|(path, node)| (path.clone(), node.document().clone())));
        let mut own = json!({
            "stream": self.stream,
            "steps": self.steps,
            "last_step": self.last_step.map(|step| step.0),
        });
        if let Some(writer) = self.files.writer() {
            own["writer"] = json!(writer);
        }
        let root = json!({
            "zarr_format": 3,
            "node_type": "group",
            "attributes": {"flexpath": own},
            "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": documents},
        });
        self.put_root(&root)
    }

    fn put_root(&self, root: &Value) -> Result<(), SinkError> {
        let text = serde_json::to_vec_pretty(root).map_err(SinkError::format(&self.files.place(DOCUMENT)))?;
        self.files.write_root(text.into())?;
        self.files.settle()
    }
}
