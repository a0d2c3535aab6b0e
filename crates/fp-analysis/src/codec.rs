//! Parts as bytes. Numbers take seven bits a byte, as most are small. What is read is checked before it is believed.

use crate::extrema::Extrema;
use crate::forest::Winding;
use crate::grid::LIMIT_DIMENSIONS;
use crate::part::{ExactBytes, Overlap, Part, PartError, RegionPart};
use crate::plane::{Rows, Run};
use crate::spread::Spread;

/// What the bytes begin with: what they are, and which form.
const MARK: &[u8; 4] = b"FPA2";

fn write(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn write_signed(bytes: &mut Vec<u8>, number: i128) {
    write(bytes, ((number << 1) ^ (number >> 127)) as u128);
}

fn write_spread(bytes: &mut Vec<u8>, spread: &Spread) {
    write(bytes, spread.count.into());
    spread.sums.iter().chain(&spread.products).for_each(|&sum| write_signed(bytes, sum));
    spread.low.iter().chain(&spread.high).for_each(|&at| write_signed(bytes, at.into()));
}

fn write_region(bytes: &mut Vec<u8>, region: &RegionPart) {
    write_spread(bytes, &region.moved);
    // Where nothing was moved, one says it all.
    let is_moved = region.moved != region.placed;
    bytes.extend([region.wraps, u8::from(is_moved)]);
    if is_moved {
        write_spread(bytes, &region.placed);
    }
    write(bytes, region.first.into());
    let extrema = &region.extrema;
    for (number, at) in [(extrema.min, extrema.min_at), (extrema.max, extrema.max_at)] {
        write(bytes, at.into());
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(region.values.bytes());
}

fn write_rows(bytes: &mut Vec<u8>, rows: &Rows) {
    for row in 0..rows.len() {
        write(bytes, rows.row(row).len() as u128);
        let mut at = 0;
        for run in rows.row(row) {
            write(bytes, (run.start - at).into());
            write(bytes, (run.end - run.start).into());
            write(bytes, run.node.into());
            run.winding.0.iter().for_each(|&by| write_signed(bytes, by.into()));
            at = run.end;
        }
    }
}

impl Part {
    /// As bytes, which [`Part::decode`] reads.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        let head = [self.step, self.first, self.planes, self.before.map_or(0, |step| step + 1)];
        head.into_iter().for_each(|number| write(&mut bytes, number.into()));
        write(&mut bytes, self.extents.len() as u128);
        self.extents.iter().for_each(|&extent| write(&mut bytes, extent.into()));
        write(&mut bytes, self.regions.len() as u128);
        self.regions.iter().for_each(|region| write_region(&mut bytes, region));
        self.faces.iter().for_each(|rows| write_rows(&mut bytes, rows));
        write(&mut bytes, self.overlaps.len() as u128);
        for overlap in &self.overlaps {
            let numbers = [overlap.before.into(), overlap.now.into(), overlap.count];
            numbers.into_iter().for_each(|number| write(&mut bytes, number.into()));
        }
        bytes
    }

    /// The part that rank wrote by [`Part::encode`].
    ///
    /// # Errors
    /// Bytes that are none.
    pub fn decode(rank: usize, bytes: &[u8]) -> Result<Self, PartError> {
        let read = Reader { bytes }.part();
        read.map_err(|what| PartError::Bytes { rank, what })
    }
}

type Read<T> = Result<T, &'static str>;

struct Reader<'b> {
    bytes: &'b [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Read<u8> {
        let (&byte, rest) = self.bytes.split_first().ok_or("they are cut short")?;
        self.bytes = rest;
        Ok(byte)
    }

    fn wide(&mut self) -> Read<u128> {
        let mut number = 0u128;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number does not end")
    }

    fn number<T: TryFrom<u128>>(&mut self) -> Read<T> {
        T::try_from(self.wide()?).map_err(|_| "a number is too large")
    }

    fn signed<T: TryFrom<i128>>(&mut self) -> Read<T> {
        let wide = self.wide()?;
        let number = (wide >> 1) as i128 ^ -((wide & 1) as i128);
        T::try_from(number).map_err(|_| "a number is too large")
    }

    /// How many of something come, each of which takes a byte at least.
    fn count(&mut self) -> Read<usize> {
        let count: usize = self.number()?;
        if count <= self.bytes.len() { Ok(count) } else { Err("more is promised than there is") }
    }

    fn signed_all<T: TryFrom<i128> + Copy + Default, const N: usize>(&mut self) -> Read<[T; N]> {
        let mut all = [T::default(); N];
        for one in &mut all {
            *one = self.signed()?;
        }
        Ok(all)
    }

    fn spread(&mut self) -> Read<Spread> {
        let (count, sums) = (self.number()?, self.signed_all()?);
        let (products, low, high) = (self.signed_all()?, self.signed_all()?, self.signed_all()?);
        Ok(Spread { count, sums, products, low, high })
    }

    fn region(&mut self) -> Read<RegionPart> {
        let moved = self.spread()?;
        let wraps = self.byte()?;
        let placed = match self.byte()? {
            0 => moved,
            1 => self.spread()?,
            _ => return Err("a truth value is none"),
        };
        let first = self.number()?;
        let ((min, min_at), (max, max_at)) = (self.element()?, self.element()?);
        let (values, rest) = ExactBytes::read(self.bytes).ok_or("sums of a region are none")?;
        self.bytes = rest;
        let extrema = Extrema { min, min_at, max, max_at };
        Ok(RegionPart { moved, placed, wraps, first, extrema, values })
    }

    /// An element and its number.
    fn element(&mut self) -> Read<(f64, u64)> {
        let at = self.number()?;
        let (number, rest) = self.bytes.split_first_chunk::<8>().ok_or("they are cut short")?;
        self.bytes = rest;
        Ok((f64::from_le_bytes(*number), at))
    }

    fn rows(&mut self, count: usize, row_len: u64, regions: usize) -> Read<Rows> {
        let mut rows = Rows::new();
        for _ in 0..count {
            let mut at = 0;
            for _ in 0..self.count()? {
                let run = self.run(at, row_len)?;
                if run.node as usize >= regions {
                    return Err("a run is of a region that is not there");
                }
                at = run.end;
                rows.push(run);
            }
            rows.end_row();
        }
        Ok(rows)
    }

    fn run(&mut self, at: u32, row_len: u64) -> Read<Run> {
        let (before, len, node): (u32, u32, u32) = (self.number()?, self.number()?, self.number()?);
        let start = at.checked_add(before).ok_or("a run lies outside of its row")?;
        let end = start.checked_add(len).ok_or("a run lies outside of its row")?;
        if start == end || u64::from(end) > row_len {
            return Err("a run lies outside of its row");
        }
        Ok(Run { start, end, node, winding: Winding(self.signed_all()?) })
    }

    fn part(mut self) -> Read<Part> {
        self.bytes = self.bytes.strip_prefix(MARK.as_slice()).ok_or("they begin otherwise")?;
        let (step, first, planes) = (self.number()?, self.number()?, self.number()?);
        let before: u64 = self.number()?;
        let ndims = self.count()?;
        if !(2..=LIMIT_DIMENSIONS).contains(&ndims) {
            return Err("an array has 2 to 4 dimensions");
        }
        let extents = (0..ndims).map(|_| self.number()).collect::<Read<Vec<u64>>>()?;
        let regions = (0..self.count()?).map(|_| self.region()).collect::<Read<Vec<_>>>()?;
        let faces =
            if planes > 0 { self.faces(&extents, regions.len())? } else { [Rows::new(), Rows::new()] };
        let overlaps = (0..self.count()?).map(|_| self.overlap(regions.len())).collect::<Read<Vec<_>>>()?;
        if !self.bytes.is_empty() {
            return Err("more follows");
        }
        Ok(Part { step, extents, first, planes, regions, faces, before: before.checked_sub(1), overlaps })
    }

    fn faces(&mut self, extents: &[u64], regions: usize) -> Read<[Rows; 2]> {
        let (middle, row_len) = (&extents[1..extents.len() - 1], extents[extents.len() - 1]);
        let rows = middle.iter().try_fold(1u64, |rows, &extent| rows.checked_mul(extent));
        // A row takes a byte at least.
        let rows =
            rows.filter(|&rows| rows <= self.bytes.len() as u64).ok_or("more is promised than there is")?;
        Ok([self.rows(rows as usize, row_len, regions)?, self.rows(rows as usize, row_len, regions)?])
    }

    fn overlap(&mut self, regions: usize) -> Read<Overlap> {
        let overlap = Overlap { before: self.number()?, now: self.number()?, count: self.number()? };
        if (overlap.now as usize) < regions {
            Ok(overlap)
        } else {
            Err("a region is shared that is not there")
        }
    }
}
