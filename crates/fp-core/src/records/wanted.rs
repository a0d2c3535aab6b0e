//! Types that a subscriber must find when it attaches: the opening itself is refused where the stream has other ones.

use super::RecordBlockError;
use crate::error::ReadError;
use crate::options::SubscriberOptions;
use crate::patience::Limit;
use crate::step::StepReader;
use fp_types::record::{Record, RecordSchema};

/// A type of records that a subscriber must be provided with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WantedType {
    /// The variable that is to provide it, by the name that it is read by; `None`: any.
    pub variable: Option<String>,
    /// The type.
    pub schema: RecordSchema,
}

impl WantedType {
    /// A type that was made at run time, of any variable.
    pub fn new(schema: &RecordSchema) -> Self {
        Self { variable: None, schema: schema.clone() }
    }

    /// The type of a Rust type's records, of any variable.
    ///
    /// # Errors
    /// No record type.
    pub fn of<T: Record>() -> Result<Self, RecordBlockError> {
        Ok(Self::new(&T::schema()?))
    }

    /// The same of this variable alone.
    #[must_use]
    pub fn with_variable(mut self, variable: impl Into<String>) -> Self {
        self.variable = Some(variable.into());
        self
    }
}

impl SubscriberOptions {
    /// Attaches only if this variable provides records of this Rust type: as they are, converted, or through transforms
    /// ([`SubscriberOptions::with_transforms`]), as [`Subscriber::of`](crate::Subscriber::of) finds it. Otherwise
    /// [`Subscriber::open`](crate::Subscriber::open) leaves the stream again and fails with
    /// [`OpenError::Types`](crate::OpenError::Types), which says field by field why not.
    ///
    /// What types a stream has its steps say. So opening waits for the first step as well, within `open_timeout`; the
    /// step is still the next one. Do not ask for it where that step waits for this process.
    ///
    /// Ranks of a cohort see the same step, and so attach or fail alike where they want the same, unless one of them is
    /// not answered in time.
    ///
    /// # Errors
    /// No record type.
    pub fn with_type<T: Record>(self, variable: impl Into<String>) -> Result<Self, RecordBlockError> {
        Ok(self.with_wanted_type(WantedType::of::<T>()?.with_variable(variable)))
    }

    /// The same of whatever variable: [`Subscriber::of`](crate::Subscriber::of) says which.
    ///
    /// # Errors
    /// No record type.
    pub fn with_type_anywhere<T: Record>(self) -> Result<Self, RecordBlockError> {
        Ok(self.with_wanted_type(WantedType::of::<T>()?))
    }

    /// As [`SubscriberOptions::with_type`], also for types that were made at run time. Of several all must be there.
    #[must_use]
    pub fn with_wanted_type(mut self, wanted: WantedType) -> Self {
        self.types.push(wanted);
        self
    }
}

impl StepReader {
    /// Whether the step provides all types that were asked for; the error is that of the first which it does not.
    pub(crate) fn check_types(&self, limit: Limit<'_>) -> Result<(), ReadError> {
        let mut wanted = self.shared().options.types.iter();
        wanted.try_for_each(|one| self.provided(&one.schema, one.variable.as_deref(), limit).map(drop))
    }
}
