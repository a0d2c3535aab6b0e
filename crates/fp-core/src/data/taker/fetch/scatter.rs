//! Where the bytes of a fetch go: into the runs of the caller's array, straight where these are long.

use crate::data::taker::fetch::job::{Get, Missing};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_link::Sink;
use crate::data::taker::owner_wait::Patience;
use crate::data::taker::piece_copies::SCATTER_BYTES;
use crate::value::counters::Counters;
use fp_proto::data::BlockPart;
use fp_transport::{Link, LinkError};
use fp_types::{DenseArray, Part, Runs};
use std::collections::{BTreeSet, HashMap};
use std::io::IoSliceMut;

/// Runs of the destination that are received into at one time.
const LIMIT_SLICES: usize = 1024;

/// Bytes of small blocks that are received aside at one time.
const LIMIT_ASIDE_BYTES: usize = 128 << 10;

pub(crate) fn count_copied(counters: &Counters, len: usize) {
    Counters::add(&counters.get_copied_bytes, len);
    Counters::add(&counters.payload_bytes, len);
}

/// Copies a piece that came packed by itself to its place.
pub(crate) fn unpack(get: &mut Get<'_>, piece: usize, bytes: &[u8]) -> Result<(), String> {
    let planned = get.planned.clone();
    let size = planned.element_size;
    let Some(of_plan) = planned.plan.pieces.get(piece) else { return Ok(()) };
    if let Part::Points(points) = &of_plan.part {
        for (point, element) in points.iter().zip(bytes.chunks_exact(size)) {
            let start = point.position as usize * size;
            let place = get.destination.get_mut(start..start + size);
            place.ok_or("a point outside the array")?.copy_from_slice(element);
        }
        return Ok(());
    }
    let (runs, offset) = piece_runs(&planned, piece).ok_or("a part that does not fit")?;
    let place = get.destination.get_mut(offset..).ok_or("a piece outside the array")?;
    fp_types::copy_runs(bytes, place, size, &runs).map_err(|error| error.to_string())
}

/// The runs from a piece packed by itself to the subscriber's array, and where in it the piece's memory begins.
fn piece_runs(planned: &FetchPlan, piece: usize) -> Option<(Runs, usize)> {
    let of_plan = planned.plan.pieces.get(piece)?;
    let elements = of_plan.part.as_strided()?;
    let source = DenseArray::new(elements, planned.order());
    let destination: DenseArray = match planned.plan.destination {
        fp_types::Destination::Elements(selected) => DenseArray::new(selected, planned.destination_order),
        fp_types::Destination::Points(_) | fp_types::Destination::Blocks(_) => {
            DenseArray::new(of_plan.block_region, planned.destination_order)
        }
    };
    let offset = usize::try_from(of_plan.destination_offset).ok()?.checked_mul(planned.element_size)?;
    Some((Runs::between(&source, &destination, &elements).ok()?, offset))
}

/// Where the bodies of frames go.
pub(crate) struct Destination<'j, 'd> {
    pub(crate) gets: &'j mut [Get<'d>],
    /// What is missing, rising.
    pub(crate) missing: &'j [Missing],
    /// The same by the numbers of blocks, once a piece came unasked.
    pub(crate) by_block: Option<HashMap<u32, Vec<Missing>>>,
    /// What of that one message brought.
    pub(crate) arrived: &'j mut BTreeSet<Missing>,
    pub(crate) asked: &'j [Missing],
    /// Blocks that were received aside, and how many bytes of them are in their places.
    pub(crate) aside: Vec<u8>,
    pub(crate) used_bytes: usize,
    /// Whether what was asked for is received with what others were asked for.
    pub(crate) takes_turns: bool,
    pub(crate) counters: &'j Counters,
}

impl Sink for Destination<'_, '_> {
    fn requested(&mut self, link: &mut Link, at: usize, patience: &Patience<'_>) -> Result<(), LinkError> {
        let asked = self.asked;
        match asked.get(at..) {
            Some(pieces @ [first, ..]) if self.whole_bytes(*first).is_some() => {
                self.receive_whole(link, pieces, patience)
            }
            Some([first, ..]) => self.receive(link, *first, patience),
            Some([]) | None => Ok(()),
        }
    }

    fn pushed(
        &mut self,
        link: &mut Link,
        piece: &BlockPart,
        patience: &Patience<'_>,
    ) -> Result<bool, LinkError> {
        let Some(found) = self.missing_as(piece) else { return Ok(false) };
        self.receive(link, found, patience)?;
        Ok(true)
    }

    fn takes_later(&self) -> bool {
        self.takes_turns
    }
}

impl Destination<'_, '_> {
    /// What is missing and is that piece. A step may have very many: they are found by their block's number.
    fn missing_as(&mut self, piece: &BlockPart) -> Option<Missing> {
        let gets = &self.gets;
        let wanted = |missing: &Missing| gets.get(missing.get)?.planned.wanted.get(missing.piece);
        let by_block = self.by_block.get_or_insert_with(|| {
            let mut by_block: HashMap<u32, Vec<Missing>> = HashMap::new();
            for missing in self.missing {
                if let Some(wanted) = wanted(missing) {
                    by_block.entry(wanted.block).or_default().push(*missing);
                }
            }
            by_block
        });
        by_block.get(&piece.block)?.iter().find(|missing| wanted(missing) == Some(piece)).copied()
    }

    /// Receives one piece to its place: straight where its runs are long, aside where they are not. A piece that has to
    /// be transposed comes aside too, as its elements go one by one to places far apart. Only what has arrived whole is
    /// missing no more: the rest is asked for again on another link.
    fn receive(&mut self, link: &mut Link, which: Missing, patience: &Patience<'_>) -> Result<(), LinkError> {
        let Some(get) = self.gets.get_mut(which.get) else { return Ok(()) };
        let size = get.planned.element_size;
        let Some(of_plan) = get.planned.plan.pieces.get(which.piece) else { return Ok(()) };
        let len = of_plan.element_count() as usize * size;
        let planned = get.planned.clone();
        if self.whole_bytes(which).is_some() {
            return self.receive_whole(link, &[which], patience);
        }
        let Some(get) = self.gets.get_mut(which.get) else { return Ok(()) };
        let straight = piece_runs(&planned, which.piece).filter(|(runs, _)| {
            // What comes lies in the block's order: several runs follow one another so only if the array does too.
            let is_long = runs.run_len() * size as u64 >= SCATTER_BYTES;
            runs.run_count() == 1 || (is_long && planned.order() == planned.destination_order)
        });
        match straight {
            Some((runs, offset)) => {
                receive_runs(link, &runs, offset, size, get.destination, patience)?;
                self.counters.count_received(link, len);
            }
            None => {
                let mut aside = vec![0; len];
                patience.receive(link, &mut [IoSliceMut::new(&mut aside)])?;
                self.counters.count_staged(link, len);
                Counters::add(&self.counters.get_copied_bytes, len);
                let malformed = |_| LinkError::Malformed { what: "piece", value: 0, limit: 0 };
                unpack(get, which.piece, &aside).map_err(malformed)?;
            }
        }
        self.arrive(which, len);
        Ok(())
    }

    /// What was asked for may have come unasked meanwhile: the caller has it once.
    fn arrive(&mut self, which: Missing, len: usize) {
        if self.missing.binary_search(&which).is_ok() && self.arrived.insert(which) {
            Counters::add(&self.counters.payload_bytes, len);
        }
    }

    /// How many bytes a piece has, if it is a block whose rows are short.
    fn whole_bytes(&self, which: Missing) -> Option<usize> {
        let planned = &self.gets.get(which.get)?.planned;
        planned.is_short_and_whole(which.piece).then_some(())?;
        let of_plan = planned.plan.pieces.get(which.piece)?;
        (of_plan.element_count() as usize).checked_mul(planned.element_size)
    }

    /// Receives the first of these, a block whose rows are short: aside, as it lies in its owner's memory. Those that
    /// follow it and are such blocks too come with it, as each by itself would take a call.
    fn receive_whole(
        &mut self,
        link: &mut Link,
        pieces: &[Missing],
        patience: &Patience<'_>,
    ) -> Result<(), LinkError> {
        let Some((&which, len)) = pieces.first().and_then(|which| Some((which, self.whole_bytes(*which)?)))
        else {
            return Ok(());
        };
        if self.aside.len() == self.used_bytes {
            let more = pieces.iter().map_while(|which| self.whole_bytes(*which));
            let batch = more.scan(0, |sum: &mut usize, len| {
                *sum = sum.saturating_add(len);
                Some(*sum)
            });
            let batch = batch.take_while(|sum| *sum <= LIMIT_ASIDE_BYTES.max(len)).last().unwrap_or(len);
            self.used_bytes = 0;
            self.aside.resize(batch, 0);
            patience.receive(link, &mut [IoSliceMut::new(&mut self.aside)])?;
            self.counters.count_staged(link, batch);
        }
        let block = self.aside.get(self.used_bytes..self.used_bytes + len).unwrap_or_default();
        self.used_bytes += len;
        if let Some(get) = self.gets.get_mut(which.get) {
            let copied = get.planned.copy_piece(which.piece, block, get.destination);
            copied.map_err(|_| LinkError::Malformed { what: "piece", value: 0, limit: 0 })?;
            Counters::add(&self.counters.get_copied_bytes, len);
        }
        self.arrive(which, len);
        Ok(())
    }
}

/// Receives into the runs of the destination, in rising order, some at a time.
fn receive_runs(
    link: &mut Link,
    runs: &Runs,
    offset: usize,
    size: usize,
    destination: &mut [u8],
    patience: &Patience<'_>,
) -> Result<(), LinkError> {
    let outside = || LinkError::Malformed { what: "piece outside the array", value: offset as u64, limit: 0 };
    let mut rest = destination.get_mut(offset..).ok_or_else(outside)?;
    let mut passed = 0;
    let mut slices: Vec<IoSliceMut<'_>> = Vec::new();
    for run in runs.iter() {
        let (start, len) = (run.destination_offset as usize * size, run.len as usize * size);
        let skip = start.checked_sub(passed).ok_or_else(outside)?;
        let (_, from) = rest.split_at_mut_checked(skip).ok_or_else(outside)?;
        let (slice, after) = from.split_at_mut_checked(len).ok_or_else(outside)?;
        slices.push(IoSliceMut::new(slice));
        rest = after;
        passed = start + len;
        if slices.len() == LIMIT_SLICES {
            patience.receive(link, &mut slices)?;
            slices.clear();
        }
    }
    patience.receive(link, &mut slices)
}
