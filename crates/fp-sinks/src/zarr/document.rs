//! What `zarr.json` says of arrays and groups.

use fp_core::{AttributeValue, Dtype, VariableDef};
use serde_json::{Map, Value, json};

use super::grid::Grid;
use crate::arguments::Compression;
use crate::json::real;

/// The dimension of steps, and the array of their numbers.
pub(crate) const STEP: &str = "step";

/// An array that is to be made.
pub(crate) struct NewArray {
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: Dtype,
    pub(crate) dimensions: Vec<String>,
    pub(crate) attributes: Map<String, Value>,
    pub(crate) cut: Cut,
}

/// How an array is cut.
pub(crate) enum Cut {
    /// Each step into shards.
    Shards(Grid),
    /// Each step into chunks of these extents.
    Chunks(Vec<u64>),
    /// Into chunks of so many steps, of one value each.
    Steps(u64),
}

impl NewArray {
    /// What its `zarr.json` says; none if Zarr has no such element type that others read.
    pub(crate) fn document(self, compression: Compression) -> Option<Value> {
        let codecs = codecs(self.dtype, compression);
        let of_one_step = |extents: Vec<u64>| [vec![1], extents].concat();
        let (chunk, codecs) = match self.cut {
            Cut::Shards(Grid { shard, chunk }) => {
                let sharding = json!({"name": "sharding_indexed", "configuration": {
                    "chunk_shape": of_one_step(chunk),
                    "codecs": codecs,
                    "index_codecs": [bytes(8), {"name": "crc32c"}],
                    "index_location": "end",
                }});
                (of_one_step(shard), vec![sharding])
            }
            Cut::Chunks(extents) => (of_one_step(extents), codecs),
            Cut::Steps(steps) => (vec![steps], codecs),
        };
        let (data_type, fill_value) = data_type(self.dtype)?;
        Some(json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.shape,
            "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill_value,
            "codecs": codecs,
            "dimension_names": self.dimensions,
            "attributes": self.attributes,
        }))
    }
}

/// The name of an element type, and what stands where nothing was written; none if readers do not know it.
pub(crate) fn data_type(dtype: Dtype) -> Option<(&'static str, Value)> {
    Some(match dtype {
        Dtype::I8 => ("int8", json!(0)),
        Dtype::I16 => ("int16", json!(0)),
        Dtype::I32 => ("int32", json!(0)),
        Dtype::I64 => ("int64", json!(0)),
        Dtype::U8 => ("uint8", json!(0)),
        Dtype::U16 => ("uint16", json!(0)),
        Dtype::U32 => ("uint32", json!(0)),
        Dtype::U64 => ("uint64", json!(0)),
        Dtype::F16 => ("float16", json!("NaN")),
        Dtype::F32 => ("float32", json!("NaN")),
        Dtype::F64 => ("float64", json!("NaN")),
        Dtype::C32 => ("complex64", json!([0.0, 0.0])),
        Dtype::C64 => ("complex128", json!([0.0, 0.0])),
        Dtype::Bool => ("bool", json!(false)),
        Dtype::String => ("string", json!("")),
        Dtype::BF16 | Dtype::Bytes => return None,
    })
}

fn codecs(dtype: Dtype, compression: Compression) -> Vec<Value> {
    let elements = dtype.size_bytes().map_or_else(|| json!({"name": "vlen-utf8"}), bytes);
    let compressed = match compression {
        // The last is refused where targets are opened.
        Compression::None | Compression::Gzip => None,
        Compression::Zstd => Some(json!({"name": "zstd", "configuration": {"level": 3, "checksum": false}})),
    };
    [Some(elements), compressed, Some(json!({"name": "crc32c"}))].into_iter().flatten().collect()
}

fn bytes(size: usize) -> Value {
    if size == 1 {
        return json!({"name": "bytes"});
    }
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

/// What the array says of itself that has the numbers of rows of a joined array.
pub(crate) fn rows_of(joined: &str) -> String {
    format!("rows of {joined} in the step")
}

/// A group inside the store.
pub(crate) fn group() -> Value {
    json!({"zarr_format": 3, "node_type": "group", "attributes": {}})
}

/// The facts about a variable, its unit and its description as the CF conventions call them.
pub(crate) fn attributes(def: &VariableDef) -> Map<String, Value> {
    let own = def.attributes.iter().map(|(name, value)| (name.clone(), attribute(value)));
    let unit = def.unit.iter().map(|unit| ("units".to_owned(), json!(unit)));
    let description = def.description.iter().map(|text| ("long_name".to_owned(), json!(text)));
    own.chain(unit).chain(description).collect()
}

fn attribute(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::Bool(is_true) => json!(is_true),
        AttributeValue::Integer(number) => json!(number),
        AttributeValue::Unsigned(number) => json!(number),
        AttributeValue::Real(number) => real(number.0),
        AttributeValue::Text(text) => json!(text),
        AttributeValue::Bytes(bytes) => json!(bytes),
        AttributeValue::Integers(numbers) => json!(numbers),
        AttributeValue::Reals(numbers) => numbers.iter().map(|number| real(number.0)).collect(),
        AttributeValue::Texts(texts) => json!(texts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_keep_their_type() {
        let def = VariableDef::scalar("t", Dtype::F64)
            .with_unit("s")
            .with_description("time")
            .with_attribute("units", "m")
            .with_attribute("limit", f64::NEG_INFINITY)
            .with_attribute("ids", vec![1_i64, 2]);
        let expected = json!({"units": "s", "long_name": "time", "limit": "-Infinity", "ids": [1, 2]});
        assert_eq!(Value::Object(attributes(&def)), expected);
    }
}
