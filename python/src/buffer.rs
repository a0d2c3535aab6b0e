//! Memory through the buffer protocol: ours shown to Python, and Python's taken.

#![allow(unsafe_code, reason = "the buffer protocol hands out addresses")]

use crate::error::{Guilt, misuse, raise};
use flexpath::{KeptBytes, LoanBytes, View};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::os::raw::c_int;
use std::ptr::NonNull;

/// Bytes that stay where they are as long as their owner lives.
pub(crate) trait Bytes: Send + Sync {
    fn bytes(&self) -> &[u8];
    fn is_zero_copy(&self) -> bool;
    /// Where they may be written to: only memory that nobody else has.
    fn writable(&self) -> Option<NonNull<u8>> {
        None
    }
}

/// Elements that nobody else has: Python may write to them.
struct Elements<T>(NonNull<[T]>);

// SAFETY: it has the elements for itself, as a box has.
unsafe impl<T: Send> Send for Elements<T> {}
// SAFETY: as above. Whoever writes through the buffer protocol keeps others from looking meanwhile, as for any memory of
// the interpreter's.
unsafe impl<T: Sync> Sync for Elements<T> {}

impl<T> Drop for Elements<T> {
    fn drop(&mut self) {
        // SAFETY: the address came of a box, which is made again once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<T: bytemuck::Pod + Send + Sync> Bytes for Elements<T> {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the address is that of a box that lives as long as this.
        bytemuck::cast_slice(unsafe { self.0.as_ref() })
    }

    fn is_zero_copy(&self) -> bool {
        false
    }

    fn writable(&self) -> Option<NonNull<u8>> {
        Some(self.0.cast())
    }
}

impl<T: bytemuck::Pod + Send + Sync> Bytes for View<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    fn is_zero_copy(&self) -> bool {
        View::is_zero_copy(self)
    }
}

impl Bytes for flexpath::RecordSet {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn is_zero_copy(&self) -> bool {
        flexpath::RecordSet::is_zero_copy(self)
    }
}

/// Bytes of a step. A view holds the step.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Memory(Box<dyn Bytes>);

impl Memory {
    /// Bytes that others have too.
    pub(crate) fn shared(bytes: impl Bytes + 'static) -> Self {
        Self(Box::new(bytes))
    }

    /// Elements that nobody else has.
    pub(crate) fn of<T: bytemuck::Pod + Send + Sync>(elements: Vec<T>) -> Self {
        let elements = Box::leak(elements.into_boxed_slice());
        Self(Box::new(Elements(NonNull::from(elements))))
    }
}

#[pymethods]
impl Memory {
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes().len()
    }

    #[getter]
    fn is_zero_copy(&self) -> bool {
        self.0.is_zero_copy()
    }

    /// # Safety
    /// `view` is what the interpreter gives to fill.
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let memory = &slf.get().0;
        let (bytes, writable) = (memory.bytes(), memory.writable());
        let at = match writable {
            Some(at) => at.as_ptr(),
            // What is empty may have no address, and consumers want one.
            None if bytes.is_empty() => NonNull::<u64>::dangling().as_ptr().cast(),
            None => bytes.as_ptr().cast_mut(),
        };
        let (len, readonly) = (bytes.len() as ffi::Py_ssize_t, c_int::from(writable.is_none()));
        // SAFETY: the bytes stay where they are as long as the object, which the view holds. Only memory that nobody else
        // has is shown as writable.
        let status = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), at.cast(), len, readonly, flags) };
        if status == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

/// Memory of the pool, lent to be filled.
#[pyclass(module = "flexpath._native")]
pub(crate) struct Loan {
    memory: Lent,
    /// Views of it that are alive.
    views: usize,
}

enum Lent {
    Writable(LoanBytes),
    /// It was put, and views of it are alive: they stay valid.
    Put {
        _kept: KeptBytes,
    },
    Gone,
}

impl Loan {
    pub(crate) fn new(memory: LoanBytes) -> Self {
        Self { memory: Lent::Writable(memory), views: 0 }
    }

    /// Puts the memory, which the call takes out of its place. What Python still has of it stays valid.
    pub(crate) fn put(
        &mut self,
        put: impl FnOnce(&mut Option<LoanBytes>) -> PyResult<(PyResult<()>, KeptBytes)>,
    ) -> PyResult<()> {
        let memory = match std::mem::replace(&mut self.memory, Lent::Gone) {
            Lent::Writable(memory) => memory,
            other @ (Lent::Put { .. } | Lent::Gone) => {
                self.memory = other;
                return Err(misuse("a loan is put twice: ask for a new one for each block"));
            }
        };
        let mut place = Some(memory);
        let put = put(&mut place);
        if let Some(memory) = place {
            self.memory = Lent::Writable(memory);
        }
        let (outcome, kept) = put?;
        if self.views > 0 {
            self.memory = Lent::Put { _kept: kept };
        }
        outcome
    }
}

#[pymethods]
impl Loan {
    #[getter]
    fn nbytes(&self) -> usize {
        match &self.memory {
            Lent::Writable(memory) => memory.len(),
            Lent::Put { .. } | Lent::Gone => 0,
        }
    }

    /// # Safety
    /// `view` is what the interpreter gives to fill.
    unsafe fn __getbuffer__(
        mut slf: PyRefMut<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let py = slf.py();
        let Lent::Writable(memory) = &mut slf.memory else {
            return Err(misuse("a loan is used after it was put: ask for a new one"));
        };
        let (at, len) = (memory.as_mut_ptr(), memory.len() as ffi::Py_ssize_t);
        // SAFETY: the memory stays where it is while the object has it, and afterwards as long as a view is alive.
        let status = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), at.cast(), len, 0, flags) };
        if status != 0 {
            return Err(PyErr::fetch(py));
        }
        slf.views += 1;
        Ok(())
    }

    /// # Safety
    /// `_view` is one that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&mut self, _view: *mut ffi::Py_buffer) {
        self.views = self.views.saturating_sub(1);
        if self.views == 0
            && let Lent::Put { .. } = self.memory
        {
            self.memory = Lent::Gone;
        }
    }
}

/// The bytes of a Python object, which stay where they are as long as this lives.
pub(crate) struct Exported {
    at: NonNull<u8>,
    len: usize,
    /// Holds the bytes. Dropped without the interpreter's lock, it is let go of by whoever has the lock next.
    _view: Py<PyMemoryView>,
}

// SAFETY: the address is of memory that the view holds, whichever thread looks at it.
unsafe impl Send for Exported {}
// SAFETY: as above; it is only read.
unsafe impl Sync for Exported {}

impl Exported {
    /// The bytes of an object that lie densely, one after the other.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let view = PyMemoryView::from(object)?;
        let (at, len) = address(view.as_any(), false)?;
        Ok(Self { at, len, _view: view.unbind() })
    }
}

impl AsRef<[u8]> for Exported {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the view holds that many bytes there. A program that writes to them before they are released changes
        // what subscribers read, as the contract of a put without a copy says; bytes have no invalid values.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

/// Memory of a Python object to be filled while a call lasts.
pub(crate) struct Filled {
    at: NonNull<u8>,
    len: usize,
    _buffer: PyUntypedBuffer,
}

// SAFETY: the buffer holds the memory, whichever thread fills it.
unsafe impl Send for Filled {}

impl Filled {
    /// The memory of an object that lies densely and may be written to.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (at, len) = address(object, true)?;
        Ok(Self { at, len, _buffer: PyUntypedBuffer::get(object)? })
    }

    /// The elements; none if the memory is not aligned to them or is no whole number of them.
    pub(crate) fn elements<T: bytemuck::Pod>(&mut self) -> PyResult<&mut [T]> {
        // SAFETY: the buffer holds that many bytes, this call has the only reference made of them, and whatever they are
        // they are valid bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) };
        bytemuck::try_cast_slice_mut(bytes).map_err(|why| {
            misuse(format!("the memory to be filled does not lie as its element type wants it: {why}"))
        })
    }
}

/// Where the bytes of an object are, and how many.
fn address(object: &Bound<'_, PyAny>, writable: bool) -> PyResult<(NonNull<u8>, usize)> {
    let buffer = PyUntypedBuffer::get(object)?;
    if !(buffer.is_c_contiguous() || buffer.is_fortran_contiguous()) {
        return Err(misuse(
            "the memory has gaps: give a contiguous array, such as numpy.ascontiguousarray makes",
        ));
    }
    if writable && buffer.readonly() {
        return Err(misuse("the array to be filled is read-only: give one that may be written to"));
    }
    let len = buffer.len_bytes();
    let at = NonNull::new(buffer.buf_ptr().cast::<u8>());
    match (at, len) {
        (Some(at), _) => Ok((at, len)),
        (None, 0) => Ok((NonNull::<u64>::dangling().cast(), 0)),
        (None, _) => Err(raise(Guilt::Io, "an object gives memory without an address")),
    }
}
