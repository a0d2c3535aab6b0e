//! Numbers compressed as numbers, by Pco.
//!
//! A lossy form rounds to multiples of twice the bound; what does not come back within it is stored as it was. zfp and
//! sz3 were turned down: they are C and C++ behind bindings
//! (`docs/decisions/0032-expressions-and-lossy-compression.md`).

use fp_types::Dtype;
use pco::ChunkConfig;
use pco::data_types::Number;
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};

use super::{CompressionError, broken};

/// Whether elements are numbers that Pco is made for: of more than 8 bits; complex ones are two each.
pub(super) fn is_number(dtype: Dtype) -> bool {
    !matches!(dtype, Dtype::String | Dtype::Bytes | Dtype::Bool | Dtype::I8 | Dtype::U8)
}

/// Does something with the numbers' Rust type. `bf16` goes as its bits.
macro_rules! with_number {
    ($dtype:expr, $number:ident => $work:expr) => {
        match $dtype {
            Dtype::I16 => {
                type $number = i16;
                $work
            }
            Dtype::I32 => {
                type $number = i32;
                $work
            }
            Dtype::I64 => {
                type $number = i64;
                $work
            }
            Dtype::U16 | Dtype::BF16 => {
                type $number = u16;
                $work
            }
            Dtype::U32 => {
                type $number = u32;
                $work
            }
            Dtype::U64 => {
                type $number = u64;
                $work
            }
            Dtype::F16 => {
                type $number = half::f16;
                $work
            }
            Dtype::F32 | Dtype::C32 => {
                type $number = f32;
                $work
            }
            Dtype::F64 | Dtype::C64 => {
                type $number = f64;
                $work
            }
            Dtype::U8 | Dtype::I8 | Dtype::Bool | Dtype::String | Dtype::Bytes => {
                type $number = u8;
                $work
            }
        }
    };
}

pub(super) fn compress(dtype: Dtype, bytes: &[u8]) -> Result<Vec<u8>, CompressionError> {
    with_number!(dtype, N => {
        let (elements, _) = bytes.as_chunks::<{ size_of::<N>() }>();
        compress_numbers(&elements.iter().map(|element| N::from_ne_bytes(*element)).collect::<Vec<N>>())
    })
}

pub(super) fn decompress(dtype: Dtype, body: &[u8], len_bytes: usize) -> Result<Vec<u8>, CompressionError> {
    with_number!(dtype, N => {
        let numbers: Vec<N> = decompress_numbers(body, len_bytes / size_of::<N>())?;
        Ok(numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
    })
}

fn compress_numbers<N: Number>(numbers: &[N]) -> Result<Vec<u8>, CompressionError> {
    let fail = |error: pco::errors::PcoError| CompressionError::Compress { reason: error.to_string() };
    simple_compress(numbers, &ChunkConfig::default()).map_err(fail)
}

/// Exactly that many numbers: room is made for no more, whatever the bytes claim.
fn decompress_numbers<N: Number>(body: &[u8], count: usize) -> Result<Vec<N>, CompressionError> {
    let mut numbers = vec![N::default(); count];
    // Foreign code on foreign bytes: a panic of it is one more way to say that they are broken.
    let read =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| decompress_chunks(body, &mut numbers)));
    match read.map_err(|_| broken("the decoder panicked"))?? {
        0 => Ok(numbers),
        missing => Err(broken(format!("{} numbers instead of {count}", count - missing))),
    }
}

/// Reads chunk after chunk; how many numbers are missing in the end.
fn decompress_chunks<N: Number>(body: &[u8], mut numbers: &mut [N]) -> Result<usize, CompressionError> {
    let (file, mut rest) = FileDecompressor::new(body).map_err(broken)?;
    loop {
        check_claims::<N>(rest)?;
        let mut chunk = match file.chunk_decompressor::<N, &[u8]>(rest).map_err(broken)? {
            DecompressorItem::Chunk(chunk) => chunk,
            DecompressorItem::EndOfData(_) => return Ok(numbers.len()),
        };
        let (count, len) = (chunk.n(), numbers.len());
        let more = || broken(format!("{count} numbers where {len} are missing"));
        let (taken, left) = std::mem::take(&mut numbers).split_at_mut_checked(count).ok_or_else(more)?;
        if chunk.read(taken).map_err(broken)?.n_processed != count {
            return Err(broken("a chunk is cut short"));
        }
        (numbers, rest) = (left, chunk.into_src());
    }
}

/// Where the mode of a chunk lies behind its element type and its count, in the low half of the byte.
const MODE_AT: usize = 4;
/// The mode in which a chunk has a dictionary.
const DICTIONARY: u8 = 4;
/// The form of differences that looks back over a window of numbers.
const LOOKBACK: u8 = 2;
/// The logarithm of the longest window that is written here.
const MAX_WINDOW_LOG: u8 = 15;

/// Refuses what would make the decoder ask for hundreds of megabytes by a claim of the bytes: a dictionary, of which
/// none is written here, and a window that is longer than the longest that is written.
fn check_claims<N>(chunk: &[u8]) -> Result<(), CompressionError> {
    let byte = |at: usize| chunk.get(at).copied().unwrap_or_default();
    let len_parameter = match byte(MODE_AT) & 0xf {
        DICTIONARY => return Err(broken("a dictionary, which no chunk here has")),
        // A factor, as a number.
        1 | 2 => size_of::<N>(),
        // How many bits are rounded.
        3 => 1,
        _ => 0,
    };
    let window_log = 1 + (byte(MODE_AT + len_parameter + 1) & 0x1f);
    if byte(MODE_AT + len_parameter) >> 4 == LOOKBACK && window_log > MAX_WINDOW_LOG {
        return Err(broken(format!(
            "a window of 2^{window_log} numbers, where 2^{MAX_WINDOW_LOG} is the most"
        )));
    }
    Ok(())
}

/// Marks an element that is not on the grid: it follows as it is.
const ELSEWHERE: i64 = i64::MIN;
/// Past this a grid point's number is not exact any more.
const LIMIT: f64 = (1u64 << 52) as f64;

/// The distance between grid points, the grid, and behind it the elements that are not on it.
pub(super) fn compress_bounded(
    dtype: Dtype,
    bytes: &[u8],
    max_error: f64,
) -> Result<Vec<u8>, CompressionError> {
    let size = dtype.size_bytes().unwrap_or(8);
    let distance = 2.0 * max_error;
    let (mut grid, mut elsewhere) = (Vec::with_capacity(bytes.len() / size), Vec::new());
    for element in bytes.chunks_exact(size) {
        let number = read(dtype, element);
        let place = (number / distance).round();
        let restored = read(dtype, &write(dtype, place * distance)[..size]);
        if place.abs() < LIMIT && (restored - number).abs() <= max_error {
            grid.push(place as i64);
        } else {
            grid.push(ELSEWHERE);
            elsewhere.extend_from_slice(element);
        }
    }
    let grid = compress_numbers(&grid)?;
    let mut body = distance.to_le_bytes().to_vec();
    body.extend((grid.len() as u64).to_le_bytes());
    body.extend(grid);
    body.extend(elsewhere);
    Ok(body)
}

pub(super) fn decompress_bounded(
    dtype: Dtype,
    body: &[u8],
    len_bytes: usize,
) -> Result<Vec<u8>, CompressionError> {
    let short = || broken("cut short");
    let size = dtype.size_bytes().unwrap_or(8);
    let (distance, rest) = body.split_first_chunk::<8>().ok_or_else(short)?;
    let (grid_len, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    let grid_len = usize::try_from(u64::from_le_bytes(*grid_len)).map_err(broken)?;
    let (grid, elsewhere) = rest.split_at_checked(grid_len).ok_or_else(short)?;
    let grid: Vec<i64> = decompress_numbers(grid, len_bytes / size)?;
    let (distance, mut elsewhere) = (f64::from_le_bytes(*distance), elsewhere.chunks_exact(size));
    let mut bytes = Vec::with_capacity(len_bytes);
    for place in grid {
        match place {
            ELSEWHERE => bytes.extend_from_slice(elsewhere.next().ok_or_else(short)?),
            place => bytes.extend_from_slice(&write(dtype, place as f64 * distance)[..size]),
        }
    }
    match elsewhere.next() {
        None if elsewhere.remainder().is_empty() => Ok(bytes),
        _ => Err(broken("more elements than there are places")),
    }
}

fn read(dtype: Dtype, element: &[u8]) -> f64 {
    let mut number = [0.0];
    crate::numbers::read_reals(dtype, element, &mut number);
    number[0]
}

fn write(dtype: Dtype, number: f64) -> [u8; 8] {
    let mut bytes = [0; 8];
    crate::numbers::write_reals(dtype, &[number], &mut bytes);
    bytes
}
