//! What happens alike to every record of a conversion: places of so many bytes that are copied, converted or filled.
//!
//! Records are converted in batches that stay in the first cache, and in a batch place by place. So what is to be done
//! is found once for all records. Bytes move by loops of fixed size, and numbers are converted where they lie densely.

use crate::record::element::{ElementConversion, ElementConversionError};

/// How many bytes of records pass at a time, on the side that has more of them.
const BATCH_BYTES: usize = 8 << 10;

/// Longer places of a record are worth a call of their own.
const LONG_BYTES: usize = 128;

/// How many places of a nested record are taken apart.
const LIMIT_NESTED: usize = 32;

/// What happens to a place.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Copy,
    Convert(ElementConversion),
    /// It becomes these bytes.
    Fill(Vec<u8>),
}

/// A place of every record.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Where it is at the source, and how many bytes.
    pub(super) from: (usize, usize),
    /// The same at the destination.
    pub(super) to: (usize, usize),
    pub(super) work: Work,
}

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    from_size: usize,
    to_size: usize,
    columns: Vec<Column>,
}

/// Room for numbers between their records.
#[derive(Default)]
pub(super) struct Tiles(Vec<u8>, Vec<u8>);

impl Columns {
    pub(super) fn new(from_size: usize, to_size: usize) -> Self {
        Self { from_size, to_size, columns: Vec::new() }
    }

    /// Adds a place, or makes the one before it longer where both sides continue it and the same happens to it.
    pub(super) fn add(&mut self, next: Column) {
        if next.to.1 == 0 {
            return;
        }
        let last = self.columns.last_mut();
        match last.filter(|last| (end(last.from), end(last.to)) == (next.from.0, next.to.0)) {
            Some(last) if last.work.is_like(&next.work) => {
                (last.from.1, last.to.1) = (last.from.1 + next.from.1, last.to.1 + next.to.1);
            }
            Some(_) | None => self.columns.push(next),
        }
    }

    /// Adds the places of so many nested records, unless they are too many.
    pub(super) fn add_nested(&mut self, nested: &Self, (from, to): (usize, usize), count: usize) -> bool {
        if let Some(whole) = nested.whole() {
            let from = (from, count * nested.from_size);
            self.add(Column { from, to: (to, count * nested.to_size), work: whole.work.clone() });
            return true;
        }
        let fits = nested.columns.len().saturating_mul(count) <= LIMIT_NESTED;
        for index in 0..if fits { count } else { 0 } {
            let (from, to) = (from + index * nested.from_size, to + index * nested.to_size);
            for column in &nested.columns {
                let places = ((from + column.from.0, column.from.1), (to + column.to.0, column.to.1));
                self.add(Column { from: places.0, to: places.1, work: column.work.clone() });
            }
        }
        fits
    }

    /// The one place that is all of a record, on both sides.
    fn whole(&self) -> Option<&Column> {
        let [column] = self.columns.as_slice() else { return None };
        ((column.from, column.to) == ((0, self.from_size), (0, self.to_size))).then_some(column)
    }

    /// Whether every byte of a record is written.
    pub(super) fn cover(&self) -> bool {
        self.columns.iter().map(|column| column.to.1).sum::<usize>() == self.to_size
    }

    /// How many records pass at a time.
    pub(super) fn batch(&self) -> usize {
        (BATCH_BYTES / self.from_size.max(self.to_size)).max(1)
    }

    /// Converts the places of all records, which lie densely on both sides.
    pub(super) fn run(
        &self,
        source: &[u8],
        destination: &mut [u8],
        tiles: &mut Tiles,
    ) -> Result<(), ElementConversionError> {
        if let Some(Column { work, .. }) = self.whole() {
            match work {
                Work::Convert(conversion) => return conversion.run(source, destination),
                Work::Copy => return Ok(destination.copy_from_slice(source)),
                Work::Fill(_) => {}
            }
        }
        let batch = self.batch();
        let batches = source.chunks(batch * self.from_size).zip(destination.chunks_mut(batch * self.to_size));
        for (source, destination) in batches {
            for column in &self.columns {
                let sides = (Side(source, self.from_size), SideMut(destination, self.to_size));
                column.run(sides.0, sides.1, tiles)?;
            }
        }
        Ok(())
    }
}

fn end((at, len): (usize, usize)) -> usize {
    at + len
}

impl Work {
    /// Whether two places are one if they are neighbours.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Copy, Self::Copy) => true,
            (Self::Convert(a), Self::Convert(b)) => a.is_like(b),
            (Self::Copy | Self::Convert(_) | Self::Fill(_), _) => false,
        }
    }
}

/// Records of one size.
struct Side<'a>(&'a [u8], usize);

/// The same, to be written.
struct SideMut<'a>(&'a mut [u8], usize);

impl Column {
    fn run(
        &self,
        source: Side<'_>,
        destination: SideMut<'_>,
        tiles: &mut Tiles,
    ) -> Result<(), ElementConversionError> {
        let (from_len, to_len) = (self.from.1, self.to.1);
        match &self.work {
            Work::Copy => copy_places(source, self.from.0, destination, self.to.0, to_len),
            Work::Fill(bytes) => {
                let places = destination.0.chunks_exact_mut(destination.1);
                places.for_each(|record| record[self.to.0..end(self.to)].copy_from_slice(bytes));
            }
            Work::Convert(conversion) => {
                let count = source.0.len() / source.1;
                if count == 1 || from_len.max(to_len) > LONG_BYTES {
                    return self.convert_each(conversion, source, destination);
                }
                let Tiles(before, after) = tiles.with_room();
                let (before, after) = (&mut before[..count * from_len], &mut after[..count * to_len]);
                copy_places(source, self.from.0, SideMut(before, from_len), 0, from_len);
                conversion.run(before, after)?;
                copy_places(Side(after, to_len), 0, destination, self.to.0, to_len);
            }
        }
        Ok(())
    }

    /// Converts a place of each record by itself.
    fn convert_each(
        &self,
        conversion: &ElementConversion,
        source: Side<'_>,
        destination: SideMut<'_>,
    ) -> Result<(), ElementConversionError> {
        let records = source.0.chunks_exact(source.1).zip(destination.0.chunks_exact_mut(destination.1));
        for (from, to) in records {
            conversion.run(&from[self.from.0..end(self.from)], &mut to[self.to.0..end(self.to)])?;
        }
        Ok(())
    }
}

impl Tiles {
    fn with_room(&mut self) -> &mut Self {
        if self.0.is_empty() {
            (self.0, self.1) = (vec![0; BATCH_BYTES], vec![0; BATCH_BYTES]);
        }
        self
    }
}

/// Copies `len` bytes of each record: long places each by itself, short ones in pieces that have a loop.
fn copy_places(source: Side<'_>, from: usize, destination: SideMut<'_>, to: usize, len: usize) {
    let (Side(source, from_size), SideMut(destination, to_size)) = (source, destination);
    if len > LONG_BYTES {
        let records = source.chunks_exact(from_size).zip(destination.chunks_exact_mut(to_size));
        records.for_each(|(source, destination)| {
            destination[to..to + len].copy_from_slice(&source[from..from + len])
        });
        return;
    }
    let mut done = 0;
    while done < len {
        let (from, to) = ((from + done, from_size), (to + done, to_size));
        done += match len - done {
            32.. => copy_pieces::<32>(source, from, destination, to),
            24.. => copy_pieces::<24>(source, from, destination, to),
            16.. => copy_pieces::<16>(source, from, destination, to),
            12.. => copy_pieces::<12>(source, from, destination, to),
            8.. => copy_pieces::<8>(source, from, destination, to),
            6.. => copy_pieces::<6>(source, from, destination, to),
            4.. => copy_pieces::<4>(source, from, destination, to),
            3 => copy_pieces::<3>(source, from, destination, to),
            2 => copy_pieces::<2>(source, from, destination, to),
            _ => copy_pieces::<1>(source, from, destination, to),
        };
    }
}

/// Copies `N` bytes of each record: a load and a store each. Says how many.
fn copy_pieces<const N: usize>(
    source: &[u8],
    (from, from_size): (usize, usize),
    destination: &mut [u8],
    (to, to_size): (usize, usize),
) -> usize {
    let records = source.chunks_exact(from_size).zip(destination.chunks_exact_mut(to_size));
    for (source, destination) in records {
        destination[to..to + N].copy_from_slice(&source[from..from + N]);
    }
    N
}
