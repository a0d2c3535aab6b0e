//! A picture as pixels, and as a PNG file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// A width of zero or above 8192.
    #[error("a picture of {width_pixels} pixels")]
    BadWidth {
        /// The width asked for.
        width_pixels: u32,
    },
    /// Positions and colours are not equally many, or none.
    #[error("{positions} positions and {colours} colours")]
    UnequalLengths {
        /// How many positions.
        positions: usize,
        /// How many colours.
        colours: usize,
    },
    /// The atoms lie so that no picture of them fits (a position is no number, or they lie in one thin column).
    #[error("atoms from {low:?} to {high:?} do not fit a picture")]
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

/// Red, green and blue, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width_pixels: u32,
    /// Pixels down.
    pub height_pixels: u32,
    /// Three bytes a pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// White paper.
    pub fn blank(width_pixels: u32, height_pixels: u32) -> Self {
        let pixels = vec![u8::MAX; 3 * width_pixels as usize * height_pixels as usize];
        Picture { width_pixels, height_pixels, pixels }
    }

    /// Write the picture as a PNG file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_png(&self, path: &Path) -> Result<(), PictureError> {
        self.encode(path).map_err(|error| PictureError::Io { path: path.display().to_string(), error })
    }

    fn encode(&self, path: &Path) -> std::io::Result<()> {
        let mut encoder =
            png::Encoder::new(BufWriter::new(File::create(path)?), self.width_pixels, self.height_pixels);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        Ok(writer.finish()?)
    }
}
