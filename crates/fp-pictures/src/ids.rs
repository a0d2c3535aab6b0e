//! A map of ids: each element a square in the colour of its id, with a list of ids.

use crate::colours::colour_of_id;
use crate::error::PictureError;
use crate::field::check_shape;
use crate::frame::{Drawn, Frame, INK, LINE_PIXELS};
use crate::text::{TEXT_HEIGHT_PIXELS, text_width_pixels, write_text};

/// The colour of elements without an id.
pub const NO_ID: [u8; 3] = [235, 235, 235];

/// More ids than that are not listed.
const LIMIT_LISTED: usize = 40;
const SWATCH: u32 = TEXT_HEIGHT_PIXELS;
/// Between the colour and what is said of it.
const GAP: u32 = 6;

/// Ids of the elements of two dimensions. The first goes down, the second across.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdMap<'a> {
    shape: [usize; 2],
    ids: &'a [Option<u64>],
    title: Vec<String>,
    footer: Vec<String>,
    listed: Vec<(u64, String)>,
}

impl<'a> IdMap<'a> {
    /// Of so many rows and columns, in row-major order.
    ///
    /// # Errors
    /// As [`Field::new`](crate::Field::new).
    pub fn new(shape: [usize; 2], ids: &'a [Option<u64>]) -> Result<Self, PictureError> {
        check_shape(shape, ids.len())?;
        Ok(Self { shape, ids, title: Vec::new(), footer: Vec::new(), listed: Vec::new() })
    }

    /// With these lines above.
    #[must_use]
    pub fn with_title<S: Into<String>>(mut self, lines: impl IntoIterator<Item = S>) -> Self {
        self.title = lines.into_iter().map(Into::into).collect();
        self
    }

    /// With these lines below.
    #[must_use]
    pub fn with_footer<S: Into<String>>(mut self, lines: impl IntoIterator<Item = S>) -> Self {
        self.footer = lines.into_iter().map(Into::into).collect();
        self
    }

    /// With a list of these ids and what is said of each. Of more than 40 the first are listed, and how many there are
    /// beside.
    #[must_use]
    pub fn with_list(mut self, listed: impl IntoIterator<Item = (u64, String)>) -> Self {
        self.listed = listed.into_iter().collect();
        self
    }

    /// The picture.
    pub fn draw(&self) -> Drawn {
        let shown = &self.listed[..self.listed.len().min(LIMIT_LISTED)];
        let more = self.listed.len() - shown.len();
        let last = if more == 0 { String::new() } else { format!("and {more} more") };
        let texts = shown.iter().map(|(_, text)| text).chain([&last]);
        let widest = texts.map(|text| text_width_pixels(text)).max().unwrap_or(0);
        let lines = shown.len() as u32 + u32::from(more > 0);
        let (title, footer) = (&self.title, &self.footer);
        let legend = [SWATCH + GAP + widest, lines * LINE_PIXELS];
        let (mut drawn, [left, top]) = Frame { shape: self.shape, title, footer, legend }.draw();
        for (place, id) in self.ids.iter().enumerate() {
            drawn.fill([place / self.shape[1], place % self.shape[1]], id.map_or(NO_ID, colour_of_id));
        }
        for (line, (id, text)) in (0..).zip(shown) {
            let top = top + line * LINE_PIXELS;
            drawn.picture.fill([left, top], [SWATCH; 2], colour_of_id(*id));
            write_text(&mut drawn.picture, text, [left + SWATCH + GAP, top], INK);
        }
        write_text(&mut drawn.picture, &last, [left, top + shown.len() as u32 * LINE_PIXELS], INK);
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_colours_here_and_in_the_list() {
        let ids = [Some(7), None, None, Some(8)];
        let map = IdMap::new([2, 2], &ids).expect("it fits");
        let drawn = map.with_list([(7, "7".to_owned()), (8, "8, born".to_owned())]).draw();
        let [left, top] = drawn.corner;
        let (side, at) = (drawn.element_pixels, |x, y| drawn.picture.pixel([left + x, top + y]));
        assert_eq!([at(0, 0), at(side, side)], [7, 8].map(|id| Some(colour_of_id(id))));
        assert_eq!([at(side, 0), at(side - 1, 2 * side - 1)], [Some(NO_ID); 2]);
        assert_eq!([at(2 * side + 10, 0), at(2 * side + 10, 16)], [7, 8].map(|id| Some(colour_of_id(id))));
    }

    #[test]
    fn a_long_list_is_cut() {
        let listed = |count: u64| {
            let map = IdMap::new([1, 1], &[None]).expect("it fits");
            map.with_list((0..count).map(|id| (id, id.to_string()))).draw().picture.height_pixels
        };
        assert_eq!(listed(500) - listed(40), LINE_PIXELS);
        assert!(IdMap::new([2, 2], &[None]).is_err());
    }
}
