//! What goes into a derivation and comes out of it: arrays as blocks, each a region with its bytes.

use std::fmt;
use std::sync::Arc;

use fp_types::record::{ByteOrder, ElementConversion, ElementForm, Loss};
use fp_types::{DenseArray, Dtype, MemoryOrder, Region, Shape, copy};

use crate::error::DeriveError;
use crate::memory::Memory;
use crate::placing::Placing;

/// Bytes together with whatever keeps them alive: a segment, a loan, a `Vec<u8>`.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// What one rank holds of an array: a region, dense in memory. A clone shares the bytes.
#[derive(Clone)]
pub struct Block {
    region: Region,
    form: ElementForm,
    order: MemoryOrder,
    payload: SharedBytes,
}

impl Block {
    /// The elements of `region`, dense in that order, in this machine's byte order.
    ///
    /// Strings and bytes, whose elements differ in length, are taken as they are: their reader checks them.
    ///
    /// # Errors
    /// [`DeriveError::Len`] if the bytes are not those of so many elements.
    pub fn new(
        region: Region,
        dtype: Dtype,
        order: MemoryOrder,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<Self, DeriveError> {
        Self::shared(region, ElementForm::native(dtype), order, Arc::new(bytes))
    }

    /// As [`new`](Self::new), of bytes that are shared already and in any byte order.
    pub fn shared(
        region: Region,
        form: ElementForm,
        order: MemoryOrder,
        payload: SharedBytes,
    ) -> Result<Self, DeriveError> {
        let len_bytes = (*payload).as_ref().len();
        if let Some(size) = form.dtype.size_bytes() {
            let wanted_bytes = u128::from(region.element_count()) * size as u128;
            if wanted_bytes != len_bytes as u128 {
                let (region, dtype) = (Box::new(region), form.dtype);
                return Err(DeriveError::Len { region, dtype, len_bytes, wanted_bytes });
            }
        }
        Ok(Self { region, form, order, payload })
    }

    /// Where the elements lie in the whole array.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The element type.
    pub fn dtype(&self) -> Dtype {
        self.form.dtype
    }

    /// Element type and byte order.
    pub fn form(&self) -> ElementForm {
        self.form
    }

    /// Which dimension runs fastest.
    pub fn order(&self) -> MemoryOrder {
        self.order
    }

    /// The elements.
    pub fn bytes(&self) -> &[u8] {
        (*self.payload).as_ref()
    }

    /// The elements with their owner.
    pub fn payload(&self) -> &SharedBytes {
        &self.payload
    }

    /// The same elements in this machine's byte order, with their dimensions packed in that order. That is the block
    /// itself if they are so already.
    ///
    /// # Errors
    /// Elements without a size, if they have to be moved.
    pub fn in_order(&self, order: MemoryOrder) -> Result<Block, DeriveError> {
        self.in_order_within(order, &Memory::default())
    }

    /// The same, in memory of which a run may use so much.
    ///
    /// # Errors
    /// Those of [`in_order`](Self::in_order), and that too little is left.
    pub fn in_order_within(&self, order: MemoryOrder, memory: &Memory) -> Result<Block, DeriveError> {
        self.native(memory)?.reordered(order, memory)
    }

    /// The size of an element in bytes.
    pub(crate) fn element_bytes(&self) -> Result<usize, DeriveError> {
        self.dtype().size_bytes().ok_or(DeriveError::NotNumbers { dtype: self.dtype() })
    }

    /// The same elements in this machine's byte order; the block itself if they are.
    pub(crate) fn native(&self, memory: &Memory) -> Result<Block, DeriveError> {
        if self.form.byte_order == ByteOrder::NATIVE || self.dtype().size_bytes().is_none() {
            return Ok(self.clone());
        }
        let form = ElementForm::native(self.dtype());
        let mut bytes = memory.room(self.bytes().len() as u64, 1)?;
        ElementConversion::new(self.form, form, Loss::Refused)?.run(self.bytes(), &mut bytes)?;
        Self::shared(self.region, form, self.order, Arc::new(bytes))
    }

    /// The elements of `part`, which lies inside, dense in `order`; the block itself if it is that.
    pub(crate) fn part(
        &self,
        part: &Region,
        order: MemoryOrder,
        memory: &Memory,
    ) -> Result<Block, DeriveError> {
        let is_line = part.count().iter().filter(|&&count| count != 1).count() <= 1;
        if *part == self.region && (order == self.order || is_line) {
            return Ok(Self { order, ..self.clone() });
        }
        let size = self.element_bytes()?;
        let (from, to) = (DenseArray::new(self.region, self.order), DenseArray::new(*part, order));
        let mut bytes = memory.room(part.element_count(), size)?;
        copy(self.bytes(), &from, &mut bytes, &to, &(*part).into(), size)?;
        Self::shared(*part, self.form, order, Arc::new(bytes))
    }

    /// The same elements, as those of another region of as many, in that order.
    pub(crate) fn moved(self, region: Region, order: MemoryOrder) -> Block {
        debug_assert_eq!(region.element_count(), self.region.element_count());
        Self { region, order, ..self }
    }

    /// The same elements in this machine's byte order, in memory that nobody else has.
    pub(crate) fn copied(&self, memory: &Memory) -> Result<Block, DeriveError> {
        let native = self.native(memory)?;
        let mut bytes = memory.room(native.bytes().len() as u64, 1)?;
        bytes.copy_from_slice(native.bytes());
        Self::shared(self.region, native.form, self.order, Arc::new(bytes))
    }

    /// A single number as often as another block has elements, where these lie; any other block as it is.
    pub(crate) fn spread(&self, of: &Block, memory: &Memory) -> Result<Block, DeriveError> {
        if self.region.ndims() > 0 || of.region.ndims() == 0 {
            return Ok(self.clone());
        }
        let size = self.element_bytes()?;
        let mut bytes = memory.room(of.region.element_count(), size)?;
        bytes.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(self.bytes()));
        Self::shared(of.region, self.form, of.order, Arc::new(bytes))
    }

    /// The block with its dimensions packed in that order.
    pub(crate) fn reordered(&self, order: MemoryOrder, memory: &Memory) -> Result<Block, DeriveError> {
        self.part(&self.region, order, memory)
    }
}

/// Equal in place, type, order and bytes.
impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        (self.region, self.form, self.order) == (other.region, other.form, other.order)
            && self.bytes() == other.bytes()
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} {}, {}, {} bytes)", self.dtype(), self.region, self.order, self.bytes().len())
    }
}

/// An array, or what a rank has of it: element type, global shape and disjoint blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    dtype: Dtype,
    shape: Shape,
    blocks: Vec<Block>,
}

impl Array {
    /// Blocks of one array.
    ///
    /// # Errors
    /// A block of another element type, or that does not lie inside the shape. Blocks are taken to be disjoint.
    pub fn new(dtype: Dtype, shape: Shape, blocks: Vec<Block>) -> Result<Self, DeriveError> {
        for block in &blocks {
            if block.dtype() != dtype {
                return Err(DeriveError::BlockType { array: dtype, block: block.dtype() });
            }
            if !block.region.fits(&shape) {
                return Err(DeriveError::Outside { region: Box::new(block.region), shape });
            }
        }
        Ok(Self { dtype, shape, blocks })
    }

    /// An array in one block.
    pub fn whole(
        dtype: Dtype,
        shape: Shape,
        order: MemoryOrder,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<Self, DeriveError> {
        Self::new(dtype, shape, vec![Block::new(Region::whole(&shape), dtype, order, bytes)?])
    }

    /// The element type.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The global shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Element type and shape.
    pub fn array_type(&self) -> ArrayType {
        ArrayType { dtype: self.dtype, shape: self.shape }
    }

    /// All elements in one piece of memory, in that order.
    ///
    /// # Errors
    /// [`DeriveError::Uncovered`] if the blocks do not hold every element.
    pub fn assemble(&self, order: MemoryOrder) -> Result<Vec<u8>, DeriveError> {
        let whole = Region::whole(&self.shape);
        let held: u64 = self.blocks.iter().map(|block| block.region.element_count()).sum();
        if held < whole.element_count() {
            return Err(DeriveError::Uncovered { region: Box::new(whole) });
        }
        let size = self.dtype.size_bytes().ok_or(DeriveError::NotNumbers { dtype: self.dtype })?;
        let count = usize::try_from(whole.element_count()).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count.saturating_mul(size)];
        let to = DenseArray::new(whole, order);
        for block in &self.blocks {
            let from = DenseArray::new(block.region, block.order);
            copy(block.bytes(), &from, &mut bytes, &to, &block.region.into(), size)?;
        }
        Ok(bytes)
    }

    pub(crate) fn map_blocks(
        &self,
        to: ArrayType,
        memory: &Memory,
        mut change: impl FnMut(&Block) -> Result<Option<Block>, DeriveError>,
    ) -> Result<Array, DeriveError> {
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for (at, block) in self.blocks.iter().enumerate() {
            memory.check_stop_after(at)?;
            blocks.extend(change(block)?);
        }
        Array::new(to.dtype, to.shape, blocks)
    }

    /// The same blocks, where the rows of a rank lie in a whole array of that shape; `None` if they do not lie there.
    pub(crate) fn placed(mut self, shape: Shape, placing: Option<Placing>) -> Option<Array> {
        for block in &mut self.blocks {
            block.region = placing?.region(&block.region)?;
        }
        Array::new(self.dtype, shape, self.blocks).ok()
    }

    pub(crate) fn extend(&mut self, blocks: Vec<Block>) {
        self.blocks.extend(blocks);
    }
}

/// Element type and global shape of an array: all that planning needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// The element type.
    pub dtype: Dtype,
    /// The global shape.
    pub shape: Shape,
}

impl ArrayType {
    /// How many bytes all elements have together; those of strings and bytes are counted as one each.
    pub fn len_bytes(&self) -> u128 {
        u128::from(self.shape.element_count()) * self.dtype.size_bytes().unwrap_or(1) as u128
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryOrder::{ColumnMajor, RowMajor};

    #[test]
    fn lengths_types_and_places_are_checked() {
        let region = Region::new([0, 2], [2, 2]).unwrap();
        let short = Block::new(region, Dtype::I32, RowMajor, vec![0; 15]);
        assert!(matches!(short, Err(DeriveError::Len { len_bytes: 15, wanted_bytes: 16, .. })));
        let block = Block::new(region, Dtype::I32, RowMajor, vec![0; 16]).unwrap();
        let narrow = Shape::new([2, 3]).unwrap();
        let outside = Array::new(Dtype::I32, narrow, vec![block.clone()]);
        assert!(matches!(outside, Err(DeriveError::Outside { .. })));
        let other = Array::new(Dtype::F32, Shape::new([2, 4]).unwrap(), vec![block]);
        assert!(matches!(other, Err(DeriveError::BlockType { .. })));
    }

    #[test]
    fn parts_change_order_and_bytes_change_sides() {
        let region = Region::new([0, 0], [2, 3]).unwrap();
        let block = Block::new(region, Dtype::U8, RowMajor, vec![0, 1, 2, 3, 4, 5]).unwrap();
        assert_eq!(block.reordered(ColumnMajor, &Memory::default()).unwrap().bytes(), [0, 3, 1, 4, 2, 5]);
        let part = Region::new([0, 1], [2, 2]).unwrap();
        assert_eq!(block.part(&part, RowMajor, &Memory::default()).unwrap().bytes(), [1, 2, 4, 5]);
        let other = if cfg!(target_endian = "big") { ByteOrder::Little } else { ByteOrder::Big };
        let form = ElementForm { dtype: Dtype::U16, byte_order: other };
        let line = Region::new([0], [1]).unwrap();
        let swapped = Block::shared(line, form, RowMajor, Arc::new([1u8, 2])).unwrap();
        assert_eq!(swapped.native(&Memory::default()).unwrap().bytes(), [2, 1]);
    }

    #[test]
    fn assembling_wants_every_element() {
        let half = Block::new(Region::new([0], [2]).unwrap(), Dtype::U8, RowMajor, vec![1, 2]).unwrap();
        let shape = Shape::new([4]).unwrap();
        let array = Array::new(Dtype::U8, shape, vec![half]).unwrap();
        assert!(matches!(array.assemble(RowMajor), Err(DeriveError::Uncovered { .. })));
    }
}
