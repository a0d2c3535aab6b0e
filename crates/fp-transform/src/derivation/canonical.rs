//! The one encoding of a derivation, its id, and the decoder, which takes nothing else.

use std::fmt;

use fp_types::{Comparison, Dims, Dtype, MemoryOrder, SelectionExpression};

use super::Derivation;
use crate::compression::Compression;
use crate::error::DeriveError;
use crate::limits::{MAX_INPUTS, MAX_OPERATIONS};
use crate::operation::{Bins, Extreme, ModuleCall, Operation, Reduction, Relation};
use crate::policy::ModuleHash;

/// The longest encoding.
pub const MAX_DERIVATION_BYTES: usize = 96 * 1024;
/// The version of the encoding, its first byte.
const VERSION: u8 = 1;

/// The hash of a derivation's encoding: equal for equal derivations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DerivationId(pub [u8; 16]);

impl fmt::Display for DerivationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for DerivationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DerivationId({self})")
    }
}

/// Why bytes are no derivation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivationDecodeError {
    /// Longer than [`MAX_DERIVATION_BYTES`].
    #[error("{len_bytes} bytes are more than a derivation can have")]
    TooLong {
        /// How many there are.
        len_bytes: usize,
    },
    /// They end too early, or too late.
    #[error("a derivation of another length than {len_bytes} bytes")]
    Len {
        /// How many there are.
        len_bytes: usize,
    },
    /// A number that stands for nothing known.
    #[error("{what} {number} is unknown")]
    Unknown {
        /// What it numbers.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// A name or an expression that is no text.
    #[error("a text is not UTF-8")]
    Text,
    /// A text that is no slices.
    #[error("{text:?} selects nothing")]
    Slices {
        /// The text.
        text: String,
    },
    /// A derivation that cannot be.
    #[error(transparent)]
    Refused(#[from] DeriveError),
    /// Not the encoding that the same derivation gets here.
    #[error("not in canonical form")]
    NotCanonical,
}

impl Derivation {
    /// The one encoding of this derivation.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION, self.inputs.len() as u8];
        self.inputs.iter().for_each(|name| write_text(&mut bytes, name));
        bytes.push(self.operations.len() as u8);
        self.operations.iter().for_each(|operation| write_operation(&mut bytes, operation));
        match self.compression {
            None => bytes.push(0),
            Some(Compression::Lz4) => bytes.push(1),
            Some(Compression::Pco) => bytes.push(2),
            Some(Compression::Bounded { max_error }) => {
                bytes.push(3);
                bytes.extend(max_error.to_le_bytes());
            }
        }
        bytes
    }

    /// The hash of the encoding.
    pub fn id(&self) -> DerivationId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"flexpath derivation 1");
        hasher.update(&self.to_bytes());
        let mut id = [0; 16];
        hasher.finalize_xof().fill(&mut id);
        DerivationId(id)
    }

    /// Reads an encoding.
    ///
    /// # Errors
    /// Anything but the one encoding of a derivation that can be.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DerivationDecodeError> {
        if bytes.len() > MAX_DERIVATION_BYTES {
            return Err(DerivationDecodeError::TooLong { len_bytes: bytes.len() });
        }
        let mut reader = Input { rest: bytes, len: bytes.len() };
        let derivation = read(&mut reader)?;
        if !reader.rest.is_empty() {
            return Err(DerivationDecodeError::Len { len_bytes: bytes.len() });
        }
        // Signs of zero apart, expressions with white space: whatever has two encodings is refused in the second.
        (derivation.to_bytes() == bytes).then_some(derivation).ok_or(DerivationDecodeError::NotCanonical)
    }
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn write_dims(bytes: &mut Vec<u8>, tag: u8, dims: &Dims) {
    bytes.extend([tag, dims.ndims() as u8]);
    dims.iter().for_each(|extent| bytes.extend(extent.to_le_bytes()));
}

fn write_operation(bytes: &mut Vec<u8>, operation: &Operation) {
    match operation {
        Operation::Cast(dtype) => bytes.extend([1, dtype.as_u8()]),
        Operation::Scale { factor, offset } => {
            bytes.push(2);
            bytes.extend(factor.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
        }
        Operation::Reorder(order) => bytes.extend([3, order.as_u8()]),
        Operation::Stride(dims) => write_dims(bytes, 4, dims),
        Operation::Average(dims) => write_dims(bytes, 5, dims),
        Operation::Magnitude => bytes.push(6),
        Operation::Compute(expression) => {
            bytes.push(7);
            write_text(bytes, expression.text());
        }
        Operation::Reduce(reduction) => {
            bytes.push(8);
            write_reduction(bytes, reduction);
        }
        Operation::Points { comparison, threshold } => write_comparison(bytes, 9, *comparison, *threshold),
        Operation::Module(call) => write_call(bytes, call),
        Operation::Slice(slices) => {
            bytes.push(11);
            write_text(bytes, &slices.to_string());
        }
        Operation::Locate(Extreme::Least) => bytes.extend([12, 0]),
        Operation::Locate(Extreme::Greatest) => bytes.extend([12, 1]),
        Operation::Relate(Relation::Covariance) => bytes.extend([13, 0]),
        Operation::Relate(Relation::Histogram { first, second }) => {
            bytes.extend([13, 1]);
            write_bins(bytes, *first);
            write_bins(bytes, *second);
        }
    }
}

/// A name travels only of what is registered, and where nothing better is known.
fn write_call(bytes: &mut Vec<u8>, call: &ModuleCall) {
    bytes.push(10);
    match call.hash() {
        None if call.is_registered() => {
            bytes.push(2);
            write_text(bytes, call.name());
        }
        None => {
            bytes.push(0);
            write_text(bytes, call.name());
        }
        Some(hash) => {
            bytes.push(1);
            bytes.extend(hash.0);
        }
    }
    bytes.push(call.dtype().map_or(0, fp_types::Dtype::as_u8));
    match call.rows() {
        None => bytes.push(0),
        Some(rows) => write_dims(bytes, 1, rows),
    }
}

fn write_reduction(bytes: &mut Vec<u8>, reduction: &Reduction) {
    match reduction {
        Reduction::Minimum => bytes.push(0),
        Reduction::Maximum => bytes.push(1),
        Reduction::Sum => bytes.push(2),
        Reduction::Mean => bytes.push(3),
        Reduction::Variance => bytes.push(4),
        Reduction::Histogram { low, high, bins } => {
            bytes.push(5);
            write_bins(bytes, Bins { low: *low, high: *high, count: *bins });
        }
        Reduction::Count { comparison, threshold } => write_comparison(bytes, 6, *comparison, *threshold),
        Reduction::Any { comparison, threshold } => write_comparison(bytes, 7, *comparison, *threshold),
        Reduction::All { comparison, threshold } => write_comparison(bytes, 8, *comparison, *threshold),
    }
}

fn write_bins(bytes: &mut Vec<u8>, bins: Bins) {
    bytes.extend(bins.low.to_le_bytes());
    bytes.extend(bins.high.to_le_bytes());
    bytes.extend(bins.count.to_le_bytes());
}

fn write_comparison(bytes: &mut Vec<u8>, tag: u8, comparison: Comparison, threshold: f64) {
    bytes.extend([tag, comparison as u8]);
    bytes.extend(threshold.to_le_bytes());
}

/// Bytes that are read from the front.
struct Input<'a> {
    rest: &'a [u8],
    len: usize,
}

type Decoded<T> = Result<T, DerivationDecodeError>;

impl Input<'_> {
    fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let (array, rest) =
            self.rest.split_first_chunk::<N>().ok_or(DerivationDecodeError::Len { len_bytes: self.len })?;
        self.rest = rest;
        Ok(*array)
    }

    fn byte(&mut self) -> Decoded<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Decoded<f64> {
        self.array().map(f64::from_le_bytes)
    }

    fn text(&mut self) -> Decoded<String> {
        let len = usize::from(u16::from_le_bytes(self.array()?));
        let cut = self.rest.split_at_checked(len).ok_or(DerivationDecodeError::Len { len_bytes: self.len });
        let (text, rest) = cut?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| DerivationDecodeError::Text)
    }

    fn bins(&mut self) -> Decoded<Bins> {
        let (low, high) = (self.number()?, self.number()?);
        Ok(Bins { low, high, count: u32::from_le_bytes(self.array()?) })
    }

    fn comparison(&mut self) -> Decoded<(Comparison, f64)> {
        let number = self.byte()?;
        let comparison = Comparison::ALL.get(usize::from(number));
        Ok((*comparison.ok_or_else(|| unknown("comparison", number))?, self.number()?))
    }

    fn slices(&mut self) -> Decoded<SelectionExpression> {
        let text = self.text()?;
        text.parse().map_err(|_| DerivationDecodeError::Slices { text })
    }

    fn dims(&mut self) -> Decoded<Dims> {
        let ndims = usize::from(self.byte()?);
        let too_many = |_| unknown("number of dimensions", ndims as u64);
        let mut dims = Dims::filled(ndims, 0).map_err(too_many)?;
        for extent in dims.iter_mut() {
            *extent = u64::from_le_bytes(self.array()?);
        }
        Ok(dims)
    }
}

fn unknown(what: &'static str, number: impl Into<u64>) -> DerivationDecodeError {
    DerivationDecodeError::Unknown { what, number: number.into() }
}

fn read(input: &mut Input<'_>) -> Decoded<Derivation> {
    let version = input.byte()?;
    if version != VERSION {
        return Err(unknown("version", version));
    }
    let count = usize::from(input.byte()?);
    if count > MAX_INPUTS {
        return Err(DeriveError::InputCount { count }.into());
    }
    let names = (0..count).map(|_| input.text()).collect::<Result<Vec<_>, _>>()?;
    let mut derivation = Derivation::of(names)?;
    let count = usize::from(input.byte()?);
    if count > MAX_OPERATIONS {
        return Err(DeriveError::TooManyOperations { count }.into());
    }
    for _ in 0..count {
        derivation = read_operation(derivation, input)?;
    }
    let compression = match input.byte()? {
        0 => return Ok(derivation),
        1 => Compression::Lz4,
        2 => Compression::Pco,
        3 => Compression::Bounded { max_error: input.number()? },
        number => return Err(unknown("compression", number)),
    };
    Ok(derivation.compressed(compression)?)
}

fn read_operation(derivation: Derivation, input: &mut Input<'_>) -> Decoded<Derivation> {
    let operation = match input.byte()? {
        1 => {
            let number = input.byte()?;
            Operation::Cast(Dtype::try_from(number).map_err(|_| unknown("element type", number))?)
        }
        2 => Operation::Scale { factor: input.number()?, offset: input.number()? },
        3 => {
            let number = input.byte()?;
            Operation::Reorder(MemoryOrder::from_u8(number).ok_or_else(|| unknown("order", number))?)
        }
        4 => Operation::Stride(input.dims()?),
        5 => Operation::Average(input.dims()?),
        6 => Operation::Magnitude,
        7 => return Ok(derivation.compute(&input.text()?)?),
        8 => Operation::Reduce(read_reduction(input)?),
        9 => {
            let (comparison, threshold) = input.comparison()?;
            Operation::Points { comparison, threshold }
        }
        10 => Operation::Module(read_call(input)?),
        11 => Operation::Slice(input.slices()?),
        12 => match input.byte()? {
            0 => Operation::Locate(Extreme::Least),
            1 => Operation::Locate(Extreme::Greatest),
            number => return Err(unknown("extreme", number)),
        },
        13 => match input.byte()? {
            0 => Operation::Relate(Relation::Covariance),
            1 => Operation::Relate(Relation::Histogram { first: input.bins()?, second: input.bins()? }),
            number => return Err(unknown("relation", number)),
        },
        number => return Err(unknown("operation", number)),
    };
    Ok(derivation.then(operation)?)
}

fn read_call(input: &mut Input<'_>) -> Decoded<ModuleCall> {
    let mut call = match input.byte()? {
        0 => ModuleCall::new(input.text()?),
        1 => ModuleCall::new(ModuleHash(input.array()?).to_string()),
        2 => ModuleCall::registered(input.text()?),
        number => return Err(unknown("name of a module", number)),
    };
    match input.byte()? {
        0 => {}
        number => {
            call = call.with_dtype(Dtype::try_from(number).map_err(|_| unknown("element type", number))?);
        }
    }
    match input.byte()? {
        0 => Ok(call),
        1 => Ok(call.with_rows(input.dims()?)),
        number => Err(unknown("result of a module", number)),
    }
}

fn read_reduction(input: &mut Input<'_>) -> Decoded<Reduction> {
    Ok(match input.byte()? {
        0 => Reduction::Minimum,
        1 => Reduction::Maximum,
        2 => Reduction::Sum,
        3 => Reduction::Mean,
        4 => Reduction::Variance,
        5 => {
            let Bins { low, high, count: bins } = input.bins()?;
            Reduction::Histogram { low, high, bins }
        }
        6 => {
            let (comparison, threshold) = input.comparison()?;
            Reduction::Count { comparison, threshold }
        }
        7 => {
            let (comparison, threshold) = input.comparison()?;
            Reduction::Any { comparison, threshold }
        }
        8 => {
            let (comparison, threshold) = input.comparison()?;
            Reduction::All { comparison, threshold }
        }
        number => return Err(unknown("reduction", number)),
    })
}
