//! A step as a part has it. A part puts lists into an [`OutStep`] and takes them out of an [`InStep`]. It does not know
//! whether they go through streams, or through files, to be measured beside them. What that costs is timed here, alike for
//! both.

use std::cell::Cell;
use std::time::{Duration, Instant};

use flexpath::bytemuck::NoUninit;
use flexpath::{
    Element, ParameterRequest, Rank, Record, RecordBlock, Region, Selection, StepReader, StepWriter, Variable,
};

use super::error::PartError;
#[cfg(feature = "files")]
use super::files;

/// How parts are coupled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Coupling {
    /// Through streams.
    #[default]
    Streams,
    /// Through HDF5 files on disk. Needs the feature `files`.
    Files,
}

/// A number that can travel either way.
#[cfg(feature = "files")]
pub trait Number: Element + hdf5_metno::H5Type {}
/// A number that can travel either way.
#[cfg(not(feature = "files"))]
pub trait Number: Element {}

impl Number for u8 {}
impl Number for i32 {}
impl Number for i64 {}
impl Number for f64 {}

/// A step that a part takes.
pub struct InStep {
    content: Content,
    spent: Cell<Duration>,
}

/// Where a taken step is.
pub(super) enum Content {
    Stream(StepReader),
    #[cfg(feature = "files")]
    Files(files::Stored),
}

impl InStep {
    pub(super) fn new(content: Content) -> Self {
        InStep { content, spent: Cell::default() }
    }

    /// The time that was spent so far to take lists out.
    pub fn spent(&self) -> Duration {
        self.spent.get()
    }

    fn timed<T>(&self, take: impl FnOnce() -> Result<T, PartError>) -> Result<T, PartError> {
        let began = Instant::now();
        let taken = take();
        self.spent.set(self.spent.get() + began.elapsed());
        taken
    }

    /// One number.
    ///
    /// # Errors
    /// As [`StepReader::scalar`]; a file that cannot be read or lacks it.
    pub fn scalar<T: Number>(&self, variable: &str) -> Result<T, PartError> {
        self.timed(|| match &self.content {
            Content::Stream(step) => Ok(step.scalar(variable)?),
            #[cfg(feature = "files")]
            Content::Files(step) => Ok(step.scalar(variable)?),
        })
    }

    /// All of a list, over all ranks of its publisher.
    ///
    /// # Errors
    /// As [`StepReader::get`]; a file that cannot be read or lacks it.
    pub fn list<T: Number>(&self, variable: &str) -> Result<Vec<T>, PartError> {
        self.timed(|| match &self.content {
            Content::Stream(step) => Ok(step.get(variable, &Selection::All)?),
            #[cfg(feature = "files")]
            Content::Files(step) => Ok(step.list(variable)?),
        })
    }

    /// All records of this type that a variable has, or that its records become. Not through files.
    ///
    /// # Errors
    /// As [`StepReader::get_records`]; files.
    pub fn records<T: Record>(&self, variable: &str) -> Result<Vec<T>, PartError> {
        self.timed(|| match &self.content {
            Content::Stream(step) => Ok(step.get_records(variable, Selection::All)?),
            #[cfg(feature = "files")]
            Content::Files(_) => Err(PartError::NoRecords { variable: variable.to_owned() }),
        })
    }

    /// What some ranks of the publisher put of a list, one after another.
    ///
    /// # Errors
    /// As [`InStep::list`].
    pub fn list_of<T: Number>(
        &self,
        variable: &str,
        ranks: std::ops::Range<u32>,
    ) -> Result<Vec<T>, PartError> {
        let mut all = Vec::new();
        for rank in ranks {
            all.extend(self.timed(|| match &self.content {
                Content::Stream(step) => Ok(step.get::<T>(variable, &Selection::Rank(Rank(rank)))?),
                #[cfg(feature = "files")]
                Content::Files(step) => Ok(step.list_of_rank::<T>(variable, rank)?),
            })?);
        }
        Ok(all)
    }

    /// Bytes that were read from files. A stream's step has none here, as the library counts them.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        match &self.content {
            Content::Stream(_) => None,
            #[cfg(feature = "files")]
            Content::Files(step) => Some(step.bytes()),
        }
    }
}

/// A step that a part publishes.
pub struct OutStep<'a> {
    target: Target<'a>,
    put_bytes: u64,
}

/// Where a published step goes.
pub(super) enum Target<'a> {
    Stream(&'a mut StepWriter),
    #[cfg(feature = "files")]
    Files(&'a mut files::Storing),
}

impl<'a> OutStep<'a> {
    pub(super) fn new(target: Target<'a>) -> Self {
        OutStep { target, put_bytes: 0 }
    }

    /// Bytes of everything put, whether anybody wants it or not.
    pub fn put_bytes(&self) -> u64 {
        self.put_bytes
    }

    /// Whether anybody wants a variable. Of a file this is not known, so it is always wanted.
    pub fn wanted(&self, variable: &str) -> bool {
        match &self.target {
            Target::Stream(step) => step.wanted(variable),
            #[cfg(feature = "files")]
            Target::Files(_) => true,
        }
    }

    /// What is asked of a parameter at this step, if anything is. Of several requests the last counts.
    pub fn asked(&self, parameter: &str) -> Option<f64> {
        match &self.target {
            Target::Stream(step) => {
                let of = step.requests().iter().filter(|request| request.parameter() == parameter);
                of.filter_map(ParameterRequest::as_f64).next_back()
            }
            #[cfg(feature = "files")]
            Target::Files(_) => None,
        }
    }

    /// Put one number.
    ///
    /// # Errors
    /// As [`StepWriter::put_scalar`]; a file that cannot be written.
    pub fn put_scalar<T: Number>(&mut self, variable: &Variable, number: T) -> Result<(), PartError> {
        self.put_bytes += size_of::<T>() as u64;
        match &mut self.target {
            Target::Stream(step) => Ok(step.put_scalar(variable, number)?),
            #[cfg(feature = "files")]
            Target::Files(step) => Ok(step.put(variable, &[number])?),
        }
    }

    /// Put rows of a joined array.
    ///
    /// # Errors
    /// As [`StepWriter::put_joined`]; a file that cannot be written.
    pub fn put_joined<T: Number>(&mut self, variable: &Variable, elements: Vec<T>) -> Result<(), PartError> {
        self.put_bytes += size_of_val(elements.as_slice()) as u64;
        match &mut self.target {
            Target::Stream(step) => Ok(step.put_joined(variable, elements)?),
            #[cfg(feature = "files")]
            Target::Files(step) => Ok(step.put(variable, &elements)?),
        }
    }

    /// Put records of a joined array. Not through files.
    ///
    /// # Errors
    /// As [`StepWriter::put_joined_records`]; files.
    pub fn put_records<T: Record + NoUninit + Send + Sync>(
        &mut self,
        variable: &Variable,
        records: Vec<T>,
    ) -> Result<(), PartError> {
        self.put_bytes += size_of_val(records.as_slice()) as u64;
        match &mut self.target {
            Target::Stream(step) => Ok(step.put_joined_records(variable, RecordBlock::plain(records)?)?),
            #[cfg(feature = "files")]
            Target::Files(_) => Err(PartError::NoRecords { variable: variable.name().to_owned() }),
        }
    }

    /// Put the whole of a one-dimensional global array.
    ///
    /// # Errors
    /// As [`StepWriter::put`]; a file that cannot be written.
    pub fn put_whole<T: Number>(&mut self, variable: &Variable, elements: Vec<T>) -> Result<(), PartError> {
        self.put_bytes += size_of_val(elements.as_slice()) as u64;
        match &mut self.target {
            Target::Stream(step) => Ok(step.put(variable, &Region::whole(variable.shape()), elements)?),
            #[cfg(feature = "files")]
            Target::Files(step) => Ok(step.put(variable, &elements)?),
        }
    }
}
