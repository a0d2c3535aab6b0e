//! Memory that somebody else owns, as payload: nothing is copied.

use bytemuck::NoUninit;
use fp_transform::SharedBytes;
use fp_transport::Payload;
use std::marker::PhantomData;

/// An owner of elements as an owner of bytes.
struct Elements<O, T>(O, PhantomData<fn() -> T>);

impl<O: AsRef<[T]>, T: NoUninit> AsRef<[u8]> for Elements<O, T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(self.0.as_ref())
    }
}

/// What a transform or a derivation gave as an owner of bytes.
struct Given(SharedBytes);

impl AsRef<[u8]> for Given {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// An owner of elements as an owner of their bytes.
pub(crate) fn as_bytes<T: NoUninit>(
    owner: impl AsRef<[T]> + Send + Sync + 'static,
) -> impl AsRef<[u8]> + Send + Sync + 'static {
    Elements(owner, PhantomData)
}

/// The bytes of elements.
pub(crate) fn of_elements<T: NoUninit>(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Payload {
    Payload::from_owner(as_bytes(owner))
}

/// The bytes that a transform or a derivation gave.
pub(crate) fn of_given(bytes: &SharedBytes) -> Payload {
    Payload::from_owner(Given(bytes.clone()))
}
