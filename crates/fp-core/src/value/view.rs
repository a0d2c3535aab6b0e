//! Elements where they lie: owned by the view, so that it may outlive the reader.

use crate::value::step_hold::StepHold;
use bytemuck::Pod;
use fp_transport::{Landing, Payload};
use std::marker::PhantomData;
use std::ops::Deref;

enum Memory<T> {
    Shared(Payload),
    Own(Vec<T>),
    Landing(Landing),
}

/// Elements of a step. The step is released when its reader and its last view are gone.
pub struct View<T: Pod> {
    memory: Memory<T>,
    _held: StepHold,
    element: PhantomData<T>,
}

impl<T: Pod> View<T> {
    /// A view of shared bytes; `None` if they are no whole number of aligned elements.
    pub(crate) fn of_payload(payload: Payload, held: StepHold) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(payload.as_slice()).ok()?;
        Some(Self { memory: Memory::Shared(payload), _held: held, element: PhantomData })
    }

    pub(crate) fn of_vec(elements: Vec<T>, held: StepHold) -> Self {
        Self { memory: Memory::Own(elements), _held: held, element: PhantomData }
    }

    /// A view of memory that was read into; of nothing if it is no whole number of elements.
    pub(crate) fn of_landing(landing: Landing, held: StepHold) -> Self {
        Self { memory: Memory::Landing(landing), _held: held, element: PhantomData }
    }

    /// Whether the elements were not copied.
    pub fn is_zero_copy(&self) -> bool {
        matches!(self.memory, Memory::Shared(_))
    }
}

impl<T: Pod> Deref for View<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            // Length and alignment were checked when the view was made.
            Memory::Shared(payload) => bytemuck::try_cast_slice(payload.as_slice()).unwrap_or_default(),
            Memory::Landing(landing) => bytemuck::try_cast_slice(landing.as_ref()).unwrap_or_default(),
            Memory::Own(elements) => elements,
        }
    }
}
