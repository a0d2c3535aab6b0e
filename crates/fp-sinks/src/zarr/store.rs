//! What a store has: its arrays, and how many steps of which stream.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use fp_core::{Dtype, Region, StepId};
use serde_json::{Map, Value, json};

use super::document::{Cut, NewArray, STEP, group};
use super::folder::{DOCUMENT, Folder};
use super::node::{Node, write_document};
use crate::arguments::Compression;
use crate::error::SinkError;

/// So many values of a scalar are in a chunk: it is written anew with every step.
pub(crate) const VALUES: u64 = 1024;

/// What a store has.
pub(crate) struct Store {
    pub(crate) folder: Arc<Folder>,
    pub(crate) compression: Compression,
    /// So many threads encode the chunks of one shard.
    threads: usize,
    /// The stream whose steps it has; none before the first.
    pub(crate) stream: Option<String>,
    pub(crate) last_step: Option<StepId>,
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
    pub(crate) fn new(folder: Folder, compression: Compression, threads: usize) -> Self {
        Self {
            folder: Arc::new(folder),
            compression,
            threads,
            stream: None,
            last_step: None,
            steps: 0,
            nodes: BTreeMap::new(),
            others: BTreeMap::new(),
            new_groups: Vec::new(),
        }
    }

    /// Takes what the root says for the truth, and cuts off what a kill left of a step that it does not have.
    pub(crate) fn reopen(&mut self) -> Result<(), SinkError> {
        let place = self.folder.place(DOCUMENT);
        let text = fs::read(&place).map_err(SinkError::file(&place))?;
        let mut root: Value = serde_json::from_slice(&text).map_err(SinkError::format(&place))?;
        let own = &root["attributes"]["flexpath"];
        let (stream, steps) = (own["stream"].as_str(), own["steps"].as_u64());
        let (Some(stream), Some(steps)) = (stream, steps) else {
            let place = place.display();
            return Err(SinkError::Target(format!(
                "{place}: no store of flexpath tee, which says there how many steps it has: name another folder"
            )));
        };
        self.stream = Some(stream.to_owned());
        self.steps = steps;
        self.last_step = own["last_step"].as_u64().map(StepId);
        let Value::Object(documents) = root["consolidated_metadata"]["metadata"].take() else {
            return Err(SinkError::Target(format!("{}: it has no consolidated metadata", place.display())));
        };
        for (path, document) in documents {
            if Node::is_ours(&document, steps) {
                let mut node = Node::of(&self.folder, &path, document, self.threads)?;
                node.cut(steps)?;
                node.tell()?;
                self.nodes.insert(path, node);
            } else {
                self.others.insert(path, document);
            }
        }
        self.folder.settle()
    }

    /// Makes the store where there is none: it has no steps.
    pub(crate) fn begin(&mut self, stream: &str) -> Result<(), SinkError> {
        if self.stream.is_some() {
            return Ok(());
        }
        self.folder.claim()?;
        self.stream = Some(stream.to_owned());
        let attributes = Map::from_iter([("long_name".to_owned(), json!("number of the step"))]);
        self.make(
            STEP,
            NewArray {
                shape: vec![0],
                dtype: Dtype::U64,
                dimensions: vec![STEP.to_owned()],
                attributes,
                cut: Cut::Steps(VALUES),
            },
        )?;
        self.tell()
    }

    /// Makes an array. What a kill left there is removed. False if Zarr does not have its element type.
    pub(crate) fn make(&mut self, path: &str, array: NewArray) -> Result<bool, SinkError> {
        let Some(document) = array.document(self.compression) else { return Ok(false) };
        self.folder.remove(path)?;
        let node = Node::of(&self.folder, path, document, self.threads)?;
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
            Region::new([0], [node.shape()[0]]).map_err(SinkError::format(&self.folder.place(path)))?;
        node.store(self.steps, &whole, bytes)
    }

    /// Lets others see the step: all arrays first, and the root when the step is whole.
    pub(crate) fn tell(&mut self) -> Result<(), SinkError> {
        self.folder.settle()?;
        for path in std::mem::take(&mut self.new_groups) {
            write_document(&self.folder, &path, &self.others[&path])?;
        }
        let mut documents: Map<String, Value> = self.others.clone().into_iter().collect();
        for (path, node) in &self.nodes {
            node.tell()?;
            documents.insert(path.clone(), node.document().clone());
        }
        self.folder.settle()?;
        let root = json!({
            "zarr_format": 3,
            "node_type": "group",
            "attributes": {"flexpath": {
                "stream": self.stream,
                "steps": self.steps,
                "last_step": self.last_step.map(|step| step.0),
            }},
            "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": documents},
        });
        write_document(&self.folder, "", &root)?;
        self.folder.settle()
    }
}
