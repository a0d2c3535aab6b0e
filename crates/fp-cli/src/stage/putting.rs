//! Where the blocks of a step go: to disk, to memory, and from there into the staged stream.

use std::sync::Arc;
use std::time::Duration;

use fp_core::{Rank, StepReader, StepWriter, StoredBytes, VariableInfo};

use super::own_block::OwnBlock;
use super::relay::Relay;
use super::shelf::{Shelf, ShelvedStep};
use crate::failure::Failure;
use crate::recorded_step;

/// How soon a disk that failed is tried again where steps have to be on it.
const RETRY: Duration = Duration::from_secs(1);

/// What is not read, as nobody asked for it.
struct Unwanted(u64);

impl StoredBytes for Unwanted {
    fn len_bytes(&self) -> u64 {
        self.0
    }

    fn read(&self) -> std::io::Result<Vec<u8>> {
        Ok(vec![0; usize::try_from(self.0).unwrap_or(usize::MAX)])
    }
}

/// Writes the step to disk; `None` if that cannot be, which is told. Where steps have to be there, it tries again.
pub(super) fn shelve(
    (relay, rank): (&Relay, Rank),
    shelf: &Shelf,
    step: &StepReader,
    (variables, blocks): (&[VariableInfo], &[OwnBlock<'_>]),
) -> Result<Option<ShelvedStep>, Failure> {
    let head = recorded_step::head(step, variables)?;
    loop {
        let written = shelf.write(&head, rank.0, |record| {
            for own in blocks {
                let (_, bytes) = step.view_bytes(&own.info.def.name, own.select.clone())?;
                record.block(&own.head, &bytes)?;
            }
            Ok(())
        });
        if let Err(Failure::Read(error)) = written {
            return Err(Failure::Read(error));
        }
        relay.note_disk(written.as_ref().map(drop));
        let goes_on = relay.options.durable && !relay.course.is_over();
        match written {
            Ok(shelved) => return Ok(Some(shelved)),
            Err(_) if goes_on => std::thread::sleep(RETRY),
            Err(_) => return Ok(None),
        }
    }
}

/// Puts what is on disk.
pub(super) fn put_shelved(writer: &mut StepWriter, shelved: &ShelvedStep) -> Result<(), Failure> {
    writer.keep(shelved.hold());
    for block in &shelved.blocks {
        let of = shelved.head.variables.get(block.head.variable as usize);
        let Some(of) = of else { continue };
        let variable = recorded_step::variable(&shelved.head, of).map_err(Failure::publishing)?;
        let region = recorded_step::placed(&variable, &block.head.region).map_err(Failure::Publish)?;
        writer.put_stored(&variable, &region, shelved.stored(block)).map_err(Failure::publishing)?;
    }
    Ok(())
}

/// Puts a block into memory; what nobody wants is not fetched.
pub(super) fn put(writer: &mut StepWriter, step: &StepReader, own: &OwnBlock<'_>) -> Result<(), Failure> {
    let name = own.info.def.name.as_str();
    let variable = step.variable(name)?;
    let is_scalar = own.head.region.ndims() == 0;
    let is_plain = own.info.def.dtype.size_bytes().is_some() && !is_scalar;
    if !is_plain {
        let (_, _, bytes) = step.get_bytes(name, own.select.clone())?;
        return recorded_step::put(writer, &variable, &own.head, &bytes).map_err(Failure::Publish);
    }
    let region = recorded_step::placed(&variable, &own.head.region).map_err(Failure::Publish)?;
    if !writer.wanted(name) {
        let unwanted = Arc::new(Unwanted(own.len_bytes()));
        return writer.put_stored(&variable, &region, unwanted).map_err(Failure::publishing);
    }
    let mut loan = writer.loan_bytes(&variable, &region).map_err(Failure::publishing)?;
    step.get_bytes_into(name, own.select.clone(), &mut loan)?;
    writer.put_loan(loan).map_err(Failure::publishing)
}
