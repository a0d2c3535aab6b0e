//! Elements where they lie: owned by the view, so that it may outlive the reader.

use crate::value::step_hold::StepHold;
use bytemuck::Pod;
use fp_transport::{Landing, Payload};
use fp_types::Shape;
use std::marker::PhantomData;
use std::ops::Deref;

enum Memory<T> {
    Shared(Payload),
    Own(Vec<T>),
    Landing(Landing),
}

/// Elements of a step. The step is released when its reader and its last view are gone.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// # let temperature = Variable::global::<f64>("temperature", &[4])?;
/// # let mut writer = publisher.begin_step()?;
/// # writer.put(&temperature, &Region::new([0], [4])?, vec![300.0, 301.0, 302.0, 303.0])?;
/// # writer.end()?;
/// # let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(10))? else { panic!("no step") };
/// let view = step.view::<f64>("temperature", "[1:3]")?;
/// drop(step); // the view holds the step
/// assert_eq!(*view, [301.0, 302.0]);
/// assert_eq!(view.shape().to_string(), "[2]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct View<T: Pod> {
    memory: Memory<T>,
    shape: Shape,
    _held: StepHold,
    element: PhantomData<T>,
}

impl<T: Pod> View<T> {
    /// A view of shared bytes; `None` if they are no whole number of aligned elements.
    pub(crate) fn of_payload(payload: Payload, shape: Shape, held: StepHold) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(payload.as_slice()).ok()?;
        Some(Self { memory: Memory::Shared(payload), shape, _held: held, element: PhantomData })
    }

    pub(crate) fn of_vec(elements: Vec<T>, shape: Shape, held: StepHold) -> Self {
        Self { memory: Memory::Own(elements), shape, _held: held, element: PhantomData }
    }

    /// A view of memory that was read into; of nothing if it is no whole number of elements.
    pub(crate) fn of_landing(landing: Landing, shape: Shape, held: StepHold) -> Self {
        Self { memory: Memory::Landing(landing), shape, _held: held, element: PhantomData }
    }

    /// The shape of the array that the elements are, in the memory order that was asked for.
    pub fn shape(&self) -> &Shape {
        &self.shape
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
