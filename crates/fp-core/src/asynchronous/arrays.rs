//! The arrays of several gets that are fetched together: a tuple of `Vec`s, one longer with each get.

use crate::value::element::Element;
use sealed::ArrayBytes;

mod sealed {
    pub trait ArrayBytes {
        /// The arrays as bytes, each with as many elements as its get takes.
        fn fit(&mut self, lens: &[usize]) -> Vec<&mut [u8]>;
    }
}

/// The arrays of an [`AsyncFetch`](crate::AsyncFetch): a tuple of `Vec`s, one for each get, in their order.
pub trait Arrays: ArrayBytes + Default + Send + 'static {}

/// A tuple that can have one array more; the longest has eight.
pub trait Append<T: Element>: Arrays {
    /// The tuple with it.
    type Longer: Arrays;

    /// Appends it.
    fn append(self, array: Vec<T>) -> Self::Longer;
}

/// An array of `len` elements as bytes.
fn fitted<'a, T: Element>(array: &'a mut Vec<T>, len: Option<&usize>) -> &'a mut [u8] {
    array.resize(len.copied().unwrap_or_default(), T::zeroed());
    bytemuck::cast_slice_mut(array)
}

macro_rules! tuples {
    ($(($($element:ident $array:ident),*))*) => {
        $(
            impl<$($element: Element),*> ArrayBytes for ($(Vec<$element>,)*) {
                fn fit(&mut self, lens: &[usize]) -> Vec<&mut [u8]> {
                    let ($($array,)*) = self;
                    let mut lens = lens.iter();
                    vec![$(fitted($array, lens.next())),*]
                }
            }

            impl<$($element: Element),*> Arrays for ($(Vec<$element>,)*) {}
        )*
    };
}

macro_rules! appends {
    ($(($($element:ident $array:ident),*))*) => {
        $(
            impl<New: Element, $($element: Element),*> Append<New> for ($(Vec<$element>,)*) {
                type Longer = ($(Vec<$element>,)* Vec<New>,);

                fn append(self, array: Vec<New>) -> Self::Longer {
                    let ($($array,)*) = self;
                    ($($array,)* array,)
                }
            }
        )*
    };
}

impl ArrayBytes for () {
    fn fit(&mut self, _lens: &[usize]) -> Vec<&mut [u8]> {
        Vec::new()
    }
}

impl Arrays for () {}

tuples! {
    (A a) (A a, B b) (A a, B b, C c) (A a, B b, C c, D d) (A a, B b, C c, D d, E e) (A a, B b, C c, D d, E e, F f)
    (A a, B b, C c, D d, E e, F f, G g) (A a, B b, C c, D d, E e, F f, G g, H h)
}

appends! {
    () (A a) (A a, B b) (A a, B b, C c) (A a, B b, C c, D d) (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, F f) (A a, B b, C c, D d, E e, F f, G g)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_array_has_the_elements_of_its_get() {
        let mut arrays = ().append(vec![7u16; 9]).append(Vec::<f64>::with_capacity(4)).append(vec![1u8]);
        let place = arrays.1.as_ptr();
        let lens: Vec<usize> = arrays.fit(&[2, 4, 0]).iter().map(|bytes| bytes.len()).collect();
        assert_eq!(lens, [4, 32, 0]);
        assert_eq!((arrays.0.len(), arrays.1.len(), arrays.2.len()), (2, 4, 0));
        assert_eq!(arrays.1.as_ptr(), place, "memory that is large enough is used again");
    }
}
