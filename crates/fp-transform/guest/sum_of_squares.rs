//! The sum of the squares of a block of f64, as a block of one element: what `sum_of_squares.c` does, in Rust.
//!
//! rustc --edition 2024 --target wasm32-unknown-unknown --crate-type cdylib -O -C panic=abort -o sum_of_squares.wasm
//! sum_of_squares.rs
#![no_std]

use core::arch::wasm32::{memory_grow, memory_size};
use core::sync::atomic::{AtomicU64, Ordering};

/// The number of f64 in `flexpath_guest.h`.
const F64: u32 = 12;
const PAGE_BYTES: usize = 65536;

/// A block, as `flexpath_guest.h` has it: 152 bytes.
#[repr(C)]
pub struct Block {
    data: u32,
    len_bytes: u32,
    dtype: u32,
    order: u32,
    ndims: u32,
    reserved: u32,
    start: [u64; 8],
    count: [u64; 8],
}

// SAFETY: the linker defines it, as a byte whose address alone is asked for.
unsafe extern "C" {
    /// The first address behind the program's own data: the linker knows it.
    static __heap_base: u8;
}

/// Where the result lies.
static SUM: AtomicU64 = AtomicU64::new(0);

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// Room for so many bytes, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_reserve_1(len_bytes: usize) -> usize {
    let start = (&raw const __heap_base as usize).next_multiple_of(16);
    let end = start.saturating_add(len_bytes);
    let missing = end.div_ceil(PAGE_BYTES).saturating_sub(memory_size::<0>());
    if missing > 0 && memory_grow::<0>(missing) == usize::MAX { 0 } else { start }
}

/// From one block to its sum.
///
/// # Safety
/// `inputs` are so many blocks, and `output` is one, in this memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flexpath_transform_1(inputs: *const Block, count: usize, output: *mut Block) -> u32 {
    // SAFETY: whoever calls says so; descriptions are aligned to 64 bytes and do not overlap.
    let (inputs, output) = unsafe { (core::slice::from_raw_parts(inputs, count), &mut *output) };
    let [input] = inputs else { return 1 };
    if input.dtype != F64 {
        return 1;
    }
    let len = input.len_bytes as usize / size_of::<f64>();
    // SAFETY: a block's elements lie where its description says, on 64 bytes.
    let elements = unsafe { core::slice::from_raw_parts(input.data as *const f64, len) };
    let (lines, rest) = elements.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for line in lines {
        sums.iter_mut().zip(line).for_each(|(sum, element)| *sum += element * element);
    }
    let sum = sums.iter().sum::<f64>() + rest.iter().map(|element| element * element).sum::<f64>();
    SUM.store(sum.to_bits(), Ordering::Relaxed);
    output.data = &raw const SUM as u32;
    output.len_bytes = size_of::<f64>() as u32;
    output.dtype = F64;
    0
}
