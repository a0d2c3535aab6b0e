//! A picture as pixels, and as a PNG file.

use std::fs::{File, Permissions};
use std::io::BufWriter;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::error::PictureError;

/// As files are made usually: the process's mask takes away what it takes away.
const MODE: u32 = 0o666;

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

    /// Where a pixel begins in the bytes, if it is in the picture.
    fn place(&self, [column, row]: [u32; 2]) -> Option<usize> {
        let is_inside = column < self.width_pixels && row < self.height_pixels;
        is_inside.then(|| 3 * (row as usize * self.width_pixels as usize + column as usize))
    }

    /// The colour of a pixel, by column and row; `None` outside of the picture.
    pub fn pixel(&self, at: [u32; 2]) -> Option<[u8; 3]> {
        let place = self.place(at)?;
        self.pixels.get(place..place + 3)?.try_into().ok()
    }

    /// Gives a pixel a colour; outside of the picture there is none.
    pub fn set(&mut self, at: [u32; 2], colour: [u8; 3]) {
        let pixel = self.place(at).and_then(|place| self.pixels.get_mut(place..place + 3));
        pixel.into_iter().for_each(|pixel| pixel.copy_from_slice(&colour));
    }

    /// Mixes that share of a colour, from 0 to 1, into a pixel.
    pub fn blend(&mut self, at: [u32; 2], colour: [f64; 3], share: f64) {
        let pixel = self.place(at).and_then(|place| self.pixels.get_mut(place..place + 3));
        for (part, colour) in pixel.into_iter().flatten().zip(colour) {
            *part = (f64::from(*part) * (1.0 - share) + colour * share).round() as u8;
        }
    }

    /// Fills a rectangle with its upper left corner there, as far as it lies in the picture.
    pub fn fill(&mut self, [left, top]: [u32; 2], [width, height]: [u32; 2], colour: [u8; 3]) {
        let right = left.saturating_add(width).min(self.width_pixels);
        for row in top..top.saturating_add(height).min(self.height_pixels) {
            (left..right).for_each(|column| self.set([column, row], colour));
        }
    }

    /// Writes the picture as a PNG file. It is written aside and renamed: under that name there is never half a picture.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_png(&self, path: &Path) -> Result<(), PictureError> {
        self.replace(path).map_err(|error| PictureError::Io { path: path.display().to_string(), error })
    }

    fn replace(&self, path: &Path) -> std::io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut aside = tempfile::Builder::new();
        aside.prefix(".").suffix(".png.part").permissions(Permissions::from_mode(MODE));
        let aside = aside.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        self.encode(aside.as_file())?;
        aside.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    fn encode(&self, file: &File) -> std::io::Result<()> {
        let mut encoder = png::Encoder::new(BufWriter::new(file), self.width_pixels, self.height_pixels);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        Ok(writer.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_and_pixels_end_at_the_border() {
        let mut picture = Picture::blank(4, 3);
        picture.fill([2, 1], [u32::MAX, 9], [0; 3]);
        picture.set([4, 0], [0; 3]);
        picture.blend([1, 0], [0.0; 3], 0.5);
        let rows: Vec<Vec<u8>> =
            picture.pixels.chunks(12).map(|row| row.chunks(3).map(|pixel| pixel[0]).collect()).collect();
        assert_eq!(rows, [[255, 128, 255, 255], [255, 255, 0, 0], [255, 255, 0, 0]]);
        assert_eq!((picture.pixel([2, 1]), picture.pixel([4, 0])), (Some([0; 3]), None));
    }

    #[test]
    fn a_written_picture_reads_back_and_leaves_nothing_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a picture.png");
        let mut picture = Picture::blank(5, 4);
        for name in ["the first", "the one that replaces it"] {
            picture.set([2, name.len() as u32 % 4], [1, 2, 3]);
            picture.write_png(&path).expect("writable");
            let decoder = png::Decoder::new(std::io::BufReader::new(File::open(&path).expect("there")));
            let mut reader = decoder.read_info().expect("a picture");
            let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
            reader.next_frame(&mut pixels).expect("whole");
            assert_eq!(pixels, picture.pixels);
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
        let mode = path.metadata().expect("there").permissions().mode();
        let made = File::create(folder.path().join("a file")).expect("made").metadata().expect("there");
        assert_eq!(mode, made.permissions().mode(), "as any other file");
        let refused = picture.write_png(&folder.path().join("none/atoms.png"));
        assert!(matches!(refused, Err(PictureError::Io { .. })));
    }
}
