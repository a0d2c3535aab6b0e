//! Memory of the pool that is lent for one block.

use crate::value::element::Element;
use crate::value::variable::Variable;
use fp_transport::{Payload, PoolMemory};
use fp_types::{Region, StepId};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Memory of the pool, lent to be filled with the bytes of one block: its elements, densely in the variable's memory
/// order. It is aligned to 64 bytes. [`StepWriter::put_loan`](crate::StepWriter::put_loan) puts it without a copy.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// let letters = Variable::global::<u8>("letters", &[4])?;
/// let mut writer = publisher.begin_step()?;
/// let mut loan = writer.loan_bytes(&letters, &Region::new([0], [4])?)?;
/// loan.copy_from_slice(b"heat");
/// writer.put_loan(loan)?;
/// writer.end()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LoanBytes {
    pub(crate) memory: PoolMemory,
    pub(crate) variable: Variable,
    pub(crate) region: Region,
    pub(crate) step: StepId,
}

impl Deref for LoanBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory
    }
}

impl DerefMut for LoanBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }
}

/// Keeps the memory of a loan that was put, by [`StepWriter::put_loan_kept`](crate::StepWriter::put_loan_kept).
pub struct KeptBytes(#[expect(dead_code, reason = "it is there to be dropped")] pub(crate) Payload);

/// Memory of the pool, lent to be filled with the elements of one block;
/// [`StepWriter::put_loan`](crate::StepWriter::put_loan) puts it without a copy.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// let cells = Variable::global::<f64>("cells", &[4])?;
/// let mut writer = publisher.begin_step()?;
/// let mut loan = writer.loan::<f64>(&cells, &Region::new([0], [4])?)?;
/// loan.fill(1.5);
/// writer.put_loan(loan)?;
/// writer.end()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Loan<T: Element> {
    pub(crate) bytes: LoanBytes,
    pub(crate) element: PhantomData<T>,
}

impl<T: Element> Deref for Loan<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // The length is a multiple of the element's and loans are aligned to 64 bytes.
        bytemuck::try_cast_slice(&self.bytes).unwrap_or_default()
    }
}

impl<T: Element> DerefMut for Loan<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::try_cast_slice_mut(&mut self.bytes).unwrap_or_default()
    }
}

impl<T: Element> From<Loan<T>> for LoanBytes {
    fn from(loan: Loan<T>) -> Self {
        loan.bytes
    }
}
