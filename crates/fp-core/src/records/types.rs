//! Types of records that were put here or heard of, and the conversions between them.

use fp_types::Fingerprint;
use fp_types::record::{Conversion, Incompatible, Loss, RecordSchema};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Types that are known at one time, and conversions between them. A subscriber forgets all when there are more, and
/// asks again; a publisher must answer for what it put, and refuses to put more.
pub(crate) const LIMIT_TYPES: usize = 4096;

type Pair = (Fingerprint, Fingerprint, Loss);

/// What is known of types.
#[derive(Default)]
pub(crate) struct Types {
    schemas: Mutex<HashMap<Fingerprint, RecordSchema>>,
    conversions: Mutex<HashMap<Pair, Arc<Conversion>>>,
}

impl Types {
    pub(crate) fn find(&self, fingerprint: Fingerprint) -> Option<RecordSchema> {
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner).get(&fingerprint).cloned()
    }

    /// Remembers a type; `false` if there are too many.
    pub(crate) fn learn(&self, schema: &RecordSchema) -> bool {
        let mut schemas = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = schemas.len() < LIMIT_TYPES || schemas.contains_key(&schema.fingerprint());
        if has_room {
            schemas.entry(schema.fingerprint()).or_insert_with(|| schema.clone());
        }
        has_room
    }

    /// Remembers a type, and forgets all others if there are too many.
    pub(crate) fn learn_anyway(&self, schema: &RecordSchema) {
        if !self.learn(schema) {
            self.schemas.lock().unwrap_or_else(PoisonError::into_inner).clear();
            self.learn(schema);
        }
    }

    /// The conversion from one type to the other, and whether it had to be worked out.
    pub(crate) fn conversion(
        &self,
        from: &RecordSchema,
        to: &RecordSchema,
        loss: Loss,
    ) -> Result<(Arc<Conversion>, bool), Incompatible> {
        let pair = (from.fingerprint(), to.fingerprint(), loss);
        let mut conversions = self.conversions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = conversions.get(&pair) {
            return Ok((known.clone(), false));
        }
        let made = Arc::new(Conversion::new(from, to, loss)?);
        if conversions.len() >= LIMIT_TYPES {
            conversions.clear();
        }
        conversions.insert(pair, made.clone());
        Ok((made, true))
    }
}
