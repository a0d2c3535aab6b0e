//! What stands around elements: a title above, a legend on the right, a footer below.

use crate::picture::Picture;
use crate::text::{TEXT_HEIGHT_PIXELS, text_width_pixels, write_text};

/// The colour of letters and lines.
pub(crate) const INK: [u8; 3] = [60, 60, 60];
/// The colour of what is marked: none of the colour map is near it.
const MARK: [u8; 3] = [255, 0, 127];
/// Around all, and between elements and legend.
const MARGIN: u32 = 10;
/// From one line to the next.
pub(crate) const LINE_PIXELS: u32 = TEXT_HEIGHT_PIXELS + 3;
/// Between an element and the line that marks it, and how thick that is.
const MARK_PIXELS: u32 = 2;
/// The longer side of all elements together has about so many pixels, where they are few.
const SIDE_PIXELS: u32 = 512;
/// No element has a side of more pixels.
const LIMIT_ELEMENT_PIXELS: u32 = 64;

/// A picture of elements, and where they are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drawn {
    /// The picture.
    pub picture: Picture,
    /// The upper left pixel of the first element, as column and row.
    pub corner: [u32; 2],
    /// Each element is a square of so many pixels a side.
    pub element_pixels: u32,
}

impl Drawn {
    /// Fills the square of an element, by row and column.
    pub(crate) fn fill(&mut self, [row, column]: [usize; 2], colour: [u8; 3]) {
        let side = self.element_pixels;
        let at = [self.corner[0] + column as u32 * side, self.corner[1] + row as u32 * side];
        self.picture.fill(at, [side; 2], colour);
    }

    /// Draws a line around an element, which stays seen.
    pub(crate) fn mark(&mut self, [row, column]: [usize; 2]) {
        let (side, reach) = (self.element_pixels, 2 * MARK_PIXELS);
        let [left, top] = [self.corner[0] + column as u32 * side, self.corner[1] + row as u32 * side]
            .map(|at| at.saturating_sub(reach));
        let length = side + 2 * reach;
        for offset in [0, length - MARK_PIXELS] {
            self.picture.fill([left, top + offset], [length, MARK_PIXELS], MARK);
            self.picture.fill([left + offset, top], [MARK_PIXELS, length], MARK);
        }
    }
}

/// What a picture has around elements.
pub(crate) struct Frame<'a> {
    /// Elements down and across.
    pub(crate) shape: [usize; 2],
    pub(crate) title: &'a [String],
    pub(crate) footer: &'a [String],
    /// The legend's pixels across and down.
    pub(crate) legend: [u32; 2],
}

impl Frame<'_> {
    /// How many pixels a side of an element has.
    pub(crate) fn element_pixels(&self) -> u32 {
        let longest = self.shape.iter().copied().max().unwrap_or(1).max(1) as u32;
        (SIDE_PIXELS / longest).clamp(1, LIMIT_ELEMENT_PIXELS)
    }

    /// Paper with title and footer, and where the legend begins.
    pub(crate) fn draw(&self) -> (Drawn, [u32; 2]) {
        let element_pixels = self.element_pixels();
        let [height, width] = self.shape.map(|extent| extent as u32 * element_pixels);
        let lines = |lines: &[String]| lines.len() as u32 * LINE_PIXELS;
        let widest =
            self.title.iter().chain(self.footer).map(|line| text_width_pixels(line)).max().unwrap_or(0);
        let corner = [MARGIN, MARGIN + lines(self.title)];
        let legend = [corner[0] + width + MARGIN, corner[1]];
        let foot = corner[1] + height.max(self.legend[1]) + MARGIN;
        let across = (legend[0] + self.legend[0]).max(MARGIN + widest) + MARGIN;
        let down = foot + lines(self.footer) + MARGIN;
        let mut picture = Picture::blank(across, down);
        write_lines(&mut picture, self.title, MARGIN);
        write_lines(&mut picture, self.footer, foot);
        (Drawn { picture, corner, element_pixels }, legend)
    }
}

fn write_lines(picture: &mut Picture, lines: &[String], top: u32) {
    for (line, text) in (0..).zip(lines) {
        write_text(picture, text, [MARGIN, top + line * LINE_PIXELS], INK);
    }
}
