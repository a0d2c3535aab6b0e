//! Why there is no picture.

/// Why there is no picture, or no file of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// A width of zero or above 8192.
    #[error("a picture of {width_pixels} pixels: from 1 to 8192 are possible")]
    BadWidth {
        /// The width asked for.
        width_pixels: u32,
    },
    /// Too few or too many of something.
    #[error("{found} {what}, where {expected} are expected")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Nothing to draw.
    #[error("there is no element to draw: the shape is {rows} x {columns}")]
    Nothing {
        /// Elements down.
        rows: usize,
        /// Elements across.
        columns: usize,
    },
    /// More elements than a picture has room for.
    #[error(
        "{rows} x {columns} elements are too many for a picture, which has at most {limit} a side: take every k-th, as in \
         T[::4, ::4]"
    )]
    TooLarge {
        /// Elements down.
        rows: usize,
        /// Elements across.
        columns: usize,
        /// How many a side may have.
        limit: usize,
    },
    /// Particles lie so that no picture of them fits: a position is no number, or they lie in one thin column.
    #[error("particles from {low:?} to {high:?} do not fit a picture")]
    BadExtent {
        /// Lowest corner.
        low: [f64; 2],
        /// Highest corner.
        high: [f64; 2],
    },
    /// The file cannot be written.
    #[error("cannot write {path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// What went wrong.
        error: std::io::Error,
    },
}
