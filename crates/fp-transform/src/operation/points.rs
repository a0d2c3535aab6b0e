//! Elements that compare with a threshold, as a sparse array: global index and value.

use fp_types::{Comparison, MemoryOrder, Region, Shape};

use crate::block::Array;
use crate::error::DeriveError;
use crate::memory::Memory;
use crate::numbers::{STRIP, read_reals};
use crate::placing::Placing;
use crate::walk::for_each_row;

/// Elements that were found: where, in row-major order of the whole array, and their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    places: Vec<u64>,
    values: Vec<u8>,
}

/// The elements of an array that compare so.
pub(crate) fn find(
    input: &Array,
    comparison: Comparison,
    threshold: f64,
    memory: &Memory,
) -> Result<Found, DeriveError> {
    let (mut found, whole) = (Found::default(), Region::whole(input.shape()));
    for (at, block) in input.blocks().iter().enumerate() {
        memory.check_stop_after(at)?;
        let block = block.native(memory)?.reordered(MemoryOrder::RowMajor, memory)?;
        let (dtype, size) = (block.dtype(), block.element_bytes()?);
        let (mut strip, mut room) = ([0.0; STRIP], Ok(()));
        for_each_row(&block, block.region(), |start, row| {
            let Some(mut place) = whole.linear_offset(start, MemoryOrder::RowMajor) else {
                return;
            };
            for bytes in row.chunks(STRIP * size) {
                let before = found.places.len();
                let numbers = &mut strip[..bytes.len() / size];
                read_reals(dtype, bytes, numbers);
                for (number, element) in numbers.iter().zip(bytes.chunks_exact(size)) {
                    if comparison.holds(*number, threshold) {
                        found.places.push(place);
                        found.values.extend_from_slice(element);
                    }
                    place += 1;
                }
                let more = (found.places.len() - before) as u64;
                room = room.clone().and_then(|()| memory.charge(more * (8 + size as u64)));
                if room.is_err() {
                    return;
                }
            }
        });
        room?;
    }
    Ok(found)
}

impl Found {
    /// One more.
    pub(crate) fn push(&mut self, place: u64, value: &[u8]) {
        self.places.push(place);
        self.values.extend_from_slice(value);
    }

    /// The same of a rank's rows, where they lie in the whole array.
    pub(crate) fn placed(&mut self, placing: &Placing) -> Option<()> {
        self.places.iter_mut().try_for_each(|place| {
            *place = placing.element(*place)?;
            Some(())
        })
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.places.extend_from_slice(&other.places);
        self.values.extend_from_slice(&other.values);
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.places.len() as u64).to_le_bytes());
        self.places.iter().for_each(|place| bytes.extend(place.to_le_bytes()));
        bytes.extend_from_slice(&self.values);
    }

    /// Reads what [`write`](Self::write) wrote: elements of that size, of an array of that shape.
    pub(crate) fn read(bytes: &[u8], size: usize, shape: &Shape) -> Option<Self> {
        let (count, rest) = bytes.split_first_chunk::<8>()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let (places, values) = rest.split_at_checked(count.checked_mul(8)?)?;
        if count.checked_mul(size)? != values.len() {
            return None;
        }
        let (places, _) = places.as_chunks::<8>();
        let places: Vec<u64> = places.iter().map(|place| u64::from_le_bytes(*place)).collect();
        let inside = places.iter().all(|place| *place < shape.element_count());
        inside.then(|| Self { places, values: values.to_vec() })
    }

    /// Indices and values in rising order of the index, of elements of that size.
    pub(crate) fn finish(&self, size: usize) -> (Vec<u8>, Vec<u8>) {
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_unstable_by_key(|&at| self.places[at]);
        let places = order.iter().flat_map(|&at| self.places[at].to_ne_bytes()).collect();
        let values = order.iter().flat_map(|&at| &self.values[at * size..][..size]).copied().collect();
        (places, values)
    }
}
