//! Layouts as vectors of numbers.

use fp_types::{BlockId, Dims, Layout, Rank, Region, Shape};
use fp_wire::flatbuffers::{Vector, WIPOffset};
use fp_wire::wire::{self, BlockName, LayoutForm};

use super::{Builder, TableDecodeError};

pub(super) fn encode<'a>(builder: &mut Builder<'a>, layout: &Layout) -> WIPOffset<wire::Layout<'a>> {
    let form = Form::of(layout);
    let mut numbers = Vec::with_capacity(layout.block_count() * form.numbers_each(layout.ndims()));
    layout.blocks().for_each(|(_, region)| form.add_numbers(&region, &mut numbers));
    let numbers = builder.create_vector(&numbers);
    let implied = form.numbers_each(layout.ndims()) > 0 && has_implied_blocks(layout);
    let blocks = (!implied).then(|| {
        let names = layout.blocks().map(|(block, _)| BlockName::new(block.rank.0, block.index));
        builder.create_vector(&names.collect::<Vec<_>>())
    });
    let shape = layout.shape().map(|shape| builder.create_vector(shape.dims().as_slice()));
    let (form, joined_dim) = form.as_wire();
    let ndims = layout.ndims() as u8;
    let numbers = Some(numbers);
    wire::Layout::create(builder, &wire::LayoutArgs { form, ndims, joined_dim, shape, blocks, numbers })
}

pub(super) fn decode(encoded: wire::Layout<'_>) -> Result<Layout, TableDecodeError> {
    let ndims = usize::from(encoded.ndims());
    Dims::filled(ndims, 0)?;
    let shape = encoded.shape().map(decode_shape).transpose()?;
    let form = Form::from_wire(&encoded)?;
    let numbers: Vec<u64> = encoded.numbers().into_iter().flatten().collect();
    let blocks = decode_blocks(&encoded, &numbers, form.numbers_each(ndims))?;
    let blocks = blocks.into_iter();
    match (form, shape) {
        (Form::Local, None) => {
            let counts = blocks.map(|(block, count)| Ok((block, Dims::from_slice(count)?)));
            Ok(Layout::local(ndims, counts.collect::<Result<Vec<_>, TableDecodeError>>()?)?)
        }
        (Form::Global, Some(shape)) if shape.ndims() == ndims => {
            let regions = blocks.map(|(block, corners)| Ok((block, decode_region(corners)?)));
            Ok(Layout::global(shape, regions.collect::<Result<Vec<_>, TableDecodeError>>()?)?)
        }
        (Form::Joined(joined_dim), Some(shape)) if shape.ndims() == ndims => {
            let counts = blocks.map(|(block, count)| (block, joined_count(&shape, joined_dim, count)));
            check_joined(Layout::joined(ndims, joined_dim, counts)?, shape)
        }
        (_, shape) => {
            let found = shape.map_or(0, |shape| shape.ndims());
            Err(TableDecodeError::Count { what: "dimensions of a layout's shape", found, expected: ndims })
        }
    }
}

/// How numbers say where blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Global,
    Local,
    Joined(usize),
}

impl Form {
    /// The shortest form that says all.
    fn of(layout: &Layout) -> Self {
        match layout.shape() {
            None => Self::Local,
            Some(shape) => (0..shape.ndims())
                .find(|&dim| is_joined(layout, shape, dim))
                .map_or(Self::Global, Self::Joined),
        }
    }

    fn from_wire(encoded: &wire::Layout<'_>) -> Result<Self, TableDecodeError> {
        match encoded.form() {
            LayoutForm::Global => Ok(Self::Global),
            LayoutForm::Local => Ok(Self::Local),
            LayoutForm::Joined => Ok(Self::Joined(encoded.joined_dim().into())),
            LayoutForm(number) => Err(TableDecodeError::UnknownNumber { what: "form of a layout", number }),
        }
    }

    fn as_wire(self) -> (LayoutForm, u8) {
        match self {
            Self::Global => (LayoutForm::Global, 0),
            Self::Local => (LayoutForm::Local, 0),
            Self::Joined(dim) => (LayoutForm::Joined, dim as u8),
        }
    }

    /// How many numbers each block has.
    fn numbers_each(self, ndims: usize) -> usize {
        match self {
            Self::Global => 2 * ndims,
            Self::Local => ndims,
            Self::Joined(_) => 1,
        }
    }

    fn add_numbers(self, region: &Region, numbers: &mut Vec<u64>) {
        match self {
            Self::Global => {
                numbers.extend_from_slice(region.start());
                numbers.extend_from_slice(region.count());
            }
            Self::Local => numbers.extend_from_slice(region.count()),
            Self::Joined(dim) => numbers.push(region.count()[dim]),
        }
    }
}

/// Whether the blocks, at least one, lie one after another along `dim` and fill the shape.
fn is_joined(layout: &Layout, shape: &Shape, dim: usize) -> bool {
    let mut end = 0;
    let follows = |(_, region): (BlockId, Region)| {
        let mut start = shape.dims().zeros_like();
        start[dim] = end;
        end = region.end()[dim];
        let mut count = *shape.dims();
        count[dim] = region.count()[dim];
        (*region.start(), *region.count()) == (start, count)
    };
    layout.block_count() > 0 && layout.blocks().all(follows) && end == shape.dims()[dim]
}

/// Whether every rank from 0 on put one block.
fn has_implied_blocks(layout: &Layout) -> bool {
    (0..).zip(layout.blocks()).all(|(rank, (block, _))| block == BlockId::new(Rank(rank), 0))
}

/// Every block with its numbers.
fn decode_blocks<'a>(
    encoded: &wire::Layout<'_>,
    numbers: &'a [u64],
    each: usize,
) -> Result<Vec<(BlockId, &'a [u64])>, TableDecodeError> {
    let named: Option<Vec<BlockId>> = encoded
        .blocks()
        .map(|names| names.iter().map(|name| BlockId::new(Rank(name.rank()), name.index())).collect());
    let count = named.as_ref().map_or(numbers.len().checked_div(each).unwrap_or(0), Vec::len);
    let expected = count.saturating_mul(each);
    if numbers.len() != expected || u32::try_from(count).is_err() {
        return Err(TableDecodeError::Count { what: "numbers of a layout", found: numbers.len(), expected });
    }
    let named = named.unwrap_or_else(|| (0..count as u32).map(|rank| BlockId::new(Rank(rank), 0)).collect());
    let of_block = |(position, block)| (block, &numbers[position * each..(position + 1) * each]);
    Ok(named.into_iter().enumerate().map(of_block).collect())
}

pub(super) fn decode_shape(extents: Vector<'_, u64>) -> Result<Shape, TableDecodeError> {
    if extents.len() > fp_types::MAX_DIMS {
        return Err(fp_types::TooManyDims { ndims: extents.len() }.into());
    }
    Ok(Shape::new(Dims::from_slice(&extents.iter().collect::<Vec<u64>>())?)?)
}

/// The region of start and count.
fn decode_region(corners: &[u64]) -> Result<Region, TableDecodeError> {
    let (start, count) = corners.split_at(corners.len() / 2);
    Ok(Region::new(Dims::from_slice(start)?, Dims::from_slice(count)?)?)
}

/// The extent of one block of a joined array. A joined dimension that does not exist is refused further on.
fn joined_count(shape: &Shape, joined_dim: usize, count: &[u64]) -> Dims {
    let mut extent = *shape.dims();
    if let (Some(joined), Some(&count)) = (extent.get_mut(joined_dim), count.first()) {
        *joined = count;
    }
    extent
}

/// Checks that the shape of a joined layout is the one claimed.
fn check_joined(layout: Layout, claimed: Shape) -> Result<Layout, TableDecodeError> {
    if layout.shape() == Some(&claimed) {
        return Ok(layout);
    }
    let joined = layout.shape().copied().map(Box::new);
    Err(TableDecodeError::JoinedShape { joined, claimed: Some(Box::new(claimed)) })
}
