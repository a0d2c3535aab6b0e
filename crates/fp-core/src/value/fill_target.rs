//! Memory that gets fill: the caller's own as it is, or under a guard. RDMA devices may write to it as long as the
//! guard lives.
//!
//! The guard borrows the array. A cache by address would have to guess when memory was freed. Registering for each
//! fetch would cost system calls and a walk of all pages.

use crate::value::element::Element;
use fp_transport::{Keys, ReadTarget};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// What a get fills: elements, and by what devices write there.
pub struct Filled<'a, T> {
    pub(crate) elements: &'a mut [T],
    pub(crate) keys: Option<&'a Keys>,
}

/// How the crate looks at what it fills; nobody else can.
pub trait FillTarget<T> {
    /// The memory.
    fn filled(&mut self) -> Filled<'_, T>;

    /// Makes it as long as what will be filled in, if it can change its length.
    fn fit(&mut self, _len: usize) {}
}

/// Memory that a get can fill: slices, vectors, arrays, and what [`Subscriber::register`](crate::Subscriber::register)
/// gave. A vector is made as long as the selection. All others must be so long.
pub trait Fillable<T>: FillTarget<T> {}

impl<T, P: FillTarget<T> + ?Sized> Fillable<T> for P {}

impl<T: Element> FillTarget<T> for [T] {
    fn filled(&mut self) -> Filled<'_, T> {
        Filled { elements: self, keys: None }
    }
}

impl<T: Element> FillTarget<T> for Vec<T> {
    fn filled(&mut self) -> Filled<'_, T> {
        self.as_mut_slice().filled()
    }

    fn fit(&mut self, len: usize) {
        self.resize(len, T::zeroed());
    }
}

impl<T: Element> FillTarget<T> for Box<[T]> {
    fn filled(&mut self) -> Filled<'_, T> {
        (**self).filled()
    }
}

impl<T: Element, const COUNT: usize> FillTarget<T> for [T; COUNT] {
    fn filled(&mut self) -> Filled<'_, T> {
        self.as_mut_slice().filled()
    }
}

/// Memory of the caller's that RDMA devices may write to, for as long as this guard lives. It is registered with a
/// device by the first read over it, and by no later one.
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
/// let mut cells = vec![0.0; 4];
/// let mut registered = subscriber.register(&mut cells);
/// step.get_into::<f64>("temperature", "[...]", &mut registered)?;
/// # assert_eq!(registered[3], 303.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Registered<'a, T> {
    memory: ReadTarget<'a>,
    element: PhantomData<&'a mut [T]>,
}

impl<T: Element> FillTarget<T> for Registered<'_, T> {
    fn filled(&mut self) -> Filled<'_, T> {
        let (memory, keys) = self.memory.parts();
        Filled { elements: bytemuck::cast_slice_mut(memory), keys: Some(keys) }
    }
}

impl<'a, T: Element> Registered<'a, T> {
    pub(crate) fn new(memory: &'a mut [T]) -> Self {
        Self { memory: ReadTarget::new(bytemuck::cast_slice_mut(memory)), element: PhantomData }
    }

    /// A part of it, to be filled by a get of fewer elements; `None` if the range is not within.
    pub fn part(&mut self, range: std::ops::Range<usize>) -> Option<RegisteredPart<'_, T>> {
        let Filled { elements, keys } = self.filled();
        elements.get_mut(range).map(|elements| RegisteredPart { filled: Filled { elements, keys } })
    }
}

impl<T: Element> Deref for Registered<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.memory.as_slice())
    }
}

impl<T: Element> DerefMut for Registered<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.memory.parts().0)
    }
}

/// A part of registered memory.
pub struct RegisteredPart<'a, T> {
    filled: Filled<'a, T>,
}

impl<T: Element> FillTarget<T> for RegisteredPart<'_, T> {
    fn filled(&mut self) -> Filled<'_, T> {
        Filled { elements: self.filled.elements, keys: self.filled.keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count<T>(place: &mut (impl Fillable<T> + ?Sized)) -> (usize, bool) {
        let Filled { elements, keys } = place.filled();
        (elements.len(), keys.is_some())
    }

    #[test]
    fn whatever_is_filled_says_how_long_it_is_and_whether_devices_may_write_there() {
        let mut memory = vec![0f64; 6];
        assert_eq!(count::<f64>(&mut memory), (6, false));
        assert_eq!(count::<f64>(&mut memory[1..3]), (2, false));
        assert_eq!(count(&mut [1u8; 3]), (3, false));
        let memory = ReadTarget::new(bytemuck::cast_slice_mut(&mut memory));
        let mut guard = Registered::<f64> { memory, element: PhantomData };
        guard[4] = 2.5;
        assert_eq!(count(&mut guard), (6, true));
        assert_eq!(guard.part(3..5).map(|mut part| count(&mut part)), Some((2, true)));
        assert!(guard.part(3..7).is_none());
        assert_eq!(guard[4], 2.5);
    }
}
