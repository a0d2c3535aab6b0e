//! An array of a store: each step is one more along its first dimension.

use std::sync::Arc;

use fp_core::Region;
use serde_json::{Value, json};
use zarrs::array::{Array, ArrayBytes, ArrayMetadata, CodecOptions};
use zarrs::storage::WritableStorageTraits as _;
use zarrs::storage::store::MemoryStore;

use super::document::STEP;
use super::files::{Chunks, DOCUMENT, Files};
use super::grid::shards;
use crate::dense::Dense;
use crate::error::SinkError;

/// An array of a store.
pub(crate) struct Node {
    array: Array<Chunks>,
    /// What `zarr.json` says, written out as zarr-python wants it: the array itself would shorten it.
    document: Value,
    files: Arc<dyn Files>,
    path: String,
    /// The extents of the pieces that are stored whole: shards, or chunks. That of steps comes first.
    extents: Vec<u64>,
    /// Of an array of one value a step: those of the last chunk.
    values: Vec<u8>,
    options: CodecOptions,
}

impl Node {
    /// The array that a document tells of. With `threads` so many encode chunks of a shard.
    pub(crate) fn of(
        files: &Arc<dyn Files>,
        path: &str,
        document: Value,
        threads: usize,
    ) -> Result<Self, SinkError> {
        let place = files.place(path);
        let extents = document["chunk_grid"]["configuration"]["chunk_shape"].clone();
        let extents: Vec<u64> = serde_json::from_value(extents).map_err(SinkError::format(&place))?;
        let metadata: ArrayMetadata =
            serde_json::from_value(document.clone()).map_err(SinkError::format(&place))?;
        let array =
            Array::new_with_metadata(Arc::new(Chunks(Arc::clone(files))), &format!("/{path}"), metadata);
        let array = array.map_err(SinkError::format(&place))?;
        let options = CodecOptions::default().with_concurrent_target(threads);
        let (files, path) = (Arc::clone(files), path.to_owned());
        Ok(Self { array, document, files, path, extents, values: Vec::new(), options })
    }

    /// Whether a document tells of an array of ours, which has so many steps.
    pub(crate) fn is_ours(document: &Value, steps: u64) -> bool {
        document["node_type"] == "array"
            && document["dimension_names"][0] == STEP
            && document["shape"][0] == steps
    }

    /// What `zarr.json` is to say.
    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    /// Its dimensions and their extents, without that of steps.
    pub(crate) fn dimensions(&self) -> impl Iterator<Item = (&str, u64)> {
        let names =
            self.array.dimension_names().iter().flatten().map(|name| name.as_deref().unwrap_or_default());
        names.zip(self.array.shape().iter().copied()).skip(1)
    }

    /// The extents of what it has in a step.
    pub(crate) fn shape(&self) -> &[u64] {
        self.array.shape().get(1..).unwrap_or_default()
    }

    /// The name of its element type.
    pub(crate) fn data_type(&self) -> &str {
        self.document["data_type"].as_str().unwrap_or_default()
    }

    /// The extents of the pieces of a step that are stored whole.
    pub(crate) fn extents(&self) -> &[u64] {
        self.extents.get(1..).unwrap_or_default()
    }

    /// Whether it has one value a step.
    pub(crate) fn has_values(&self) -> bool {
        self.extents.len() == 1
    }

    /// What stands where nothing was written.
    pub(crate) fn fill_value(&self) -> &[u8] {
        self.array.fill_value().as_ne_bytes()
    }

    /// Has so many steps from now on, and these extents in each.
    pub(crate) fn resize(&mut self, steps: u64, shape: &[u64]) -> Result<(), SinkError> {
        let shape = [&[steps], shape].concat();
        self.document["shape"] = json!(shape);
        let place = self.files.place(&self.path);
        self.array.set_shape(shape).map(|_| ()).map_err(SinkError::format(&place))
    }

    /// Stores a region of a step: shards that it has in part are those at the array's end.
    pub(crate) fn store(&self, step: u64, region: &Region, bytes: &[u8]) -> Result<(), SinkError> {
        let place = self.files.place(&self.path);
        let extents = self.extents();
        let len: u64 = extents.iter().product();
        let size = self.fill_value().len();
        for (shard, part) in shards(region, extents).map_err(SinkError::format(&place))? {
            let index = [vec![step], shard.clone()].concat();
            if part == *region && part.element_count() == len {
                self.store_whole(&index, ArrayBytes::new_flen(bytes))?;
                continue;
            }
            let (mut start, mut count) = (*region.start(), *region.start());
            for dim in 0..extents.len() {
                (start[dim], count[dim]) = (shard[dim] * extents[dim], extents[dim]);
            }
            let mut padded = vec![0; len as usize * size];
            let whole = Region::new(start, count).map_err(SinkError::format(&place))?;
            let mut dense = Dense { region: whole, bytes: &mut padded };
            if part.element_count() < len {
                dense.fill(self.fill_value());
            }
            dense.copy_from(region, bytes, size).map_err(SinkError::format(&place))?;
            self.store_whole(&index, ArrayBytes::new_flen(padded))?;
        }
        Ok(())
    }

    /// Has one value more, or none in a step; `step` is that of the step from 0.
    pub(crate) fn append(&mut self, step: u64, value: Option<&[u8]>) -> Result<(), SinkError> {
        let place = self.files.place(&self.path);
        let steps = self.extents[0];
        if step.is_multiple_of(steps) {
            self.values.clear();
        }
        let fill_value = self.array.fill_value().as_ne_bytes();
        // An array that a later step has first has nothing in those before.
        let before = (step % steps) as usize * fill_value.len();
        while self.values.len() < before {
            self.values.extend_from_slice(fill_value);
        }
        self.values.extend_from_slice(value.unwrap_or(fill_value));
        if value.is_none() {
            return Ok(());
        }
        if fill_value.is_empty() {
            let text = String::from_utf8(self.values.clone()).map_err(SinkError::format(&place))?;
            let stored = self.array.store_chunk(&[step / steps], &[text]);
            return stored.map_err(SinkError::format(&place));
        }
        self.store_values(step / steps)
    }

    fn store_values(&self, chunk: u64) -> Result<(), SinkError> {
        let fill_value = self.fill_value();
        let mut bytes = fill_value.repeat(self.extents[0] as usize);
        bytes[..self.values.len()].copy_from_slice(&self.values);
        self.store_whole(&[chunk], ArrayBytes::new_flen(bytes))
    }

    fn store_whole(&self, index: &[u64], bytes: ArrayBytes<'_>) -> Result<(), SinkError> {
        let stored = self.array.store_chunk_opt(index, bytes, &self.options);
        stored.map_err(SinkError::format(&self.files.place(&self.path)))
    }

    /// Forgets what a step left that was never committed: `steps` were.
    pub(crate) fn cut(&mut self, steps: u64) -> Result<(), SinkError> {
        let (chunk, kept) = (steps / self.extents[0], steps % self.extents[0]);
        if kept == 0 {
            return self.files.remove(&format!("{}/c/{chunk}", self.path));
        }
        let place = self.files.place(&self.path);
        let (key, store) = (self.array.chunk_key(&[chunk]), MemoryStore::new());
        if let Some(stored) = self.files.read(key.as_str())? {
            store.set(&key, stored.into()).map_err(SinkError::format(&place))?;
        }
        let found: ArrayBytes<'_> = self
            .array
            .with_storage(Arc::new(store))
            .retrieve_chunk(&[chunk])
            .map_err(SinkError::format(&place))?;
        let found = found.into_fixed().map_err(SinkError::format(&place))?;
        self.values = found[..kept as usize * self.fill_value().len()].to_vec();
        self.store_values(chunk)
    }

    /// Writes its `zarr.json`.
    pub(crate) fn tell(&self) -> Result<(), SinkError> {
        write_document(&*self.files, &self.path, self.document())
    }
}

/// Writes the `zarr.json` of a node.
pub(crate) fn write_document(files: &dyn Files, path: &str, document: &Value) -> Result<(), SinkError> {
    let name = format!("{path}/{DOCUMENT}");
    let text = serde_json::to_vec_pretty(document).map_err(SinkError::format(&files.place(&name)))?;
    files.write(&name, text.into())
}
