//! A field of two dimensions: each element a square, coloured by its place in the range of all, with a colour bar.

use crate::colours::{colour_of_share, share_of};
use crate::error::PictureError;
use crate::frame::{Drawn, Frame, INK, LINE_PIXELS};
use crate::text::{TEXT_HEIGHT_PIXELS, number_text, text_width_pixels, write_text};

/// A picture has at most so many elements down, and as many across.
pub const LIMIT_ELEMENTS_A_SIDE: usize = 4096;

const BAR_WIDTH: u32 = 16;
/// A bar has room for its numbers, however low the field is.
const LEAST_BAR_HEIGHT: u32 = 96;
/// Between the bar and its numbers.
const GAP: u32 = 6;

/// A field of two dimensions, and what its picture says of it. The first dimension goes down, the second across.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'a> {
    shape: [usize; 2],
    elements: &'a [f64],
    title: Vec<String>,
    footer: Vec<String>,
    unit: String,
    marks: Vec<[usize; 2]>,
}

impl<'a> Field<'a> {
    /// Of so many rows and columns, whose elements lie in row-major order.
    ///
    /// # Errors
    /// No element, more than [`LIMIT_ELEMENTS_A_SIDE`] a side, another number of elements than the shape has.
    pub fn new(shape: [usize; 2], elements: &'a [f64]) -> Result<Self, PictureError> {
        check_shape(shape, elements.len())?;
        let (title, footer, marks) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { shape, elements, title, footer, unit: String::new(), marks })
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

    /// With that unit beside the colour bar.
    #[must_use]
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// With a line around the element of that row and column, if there is one.
    #[must_use]
    pub fn with_mark(mut self, [row, column]: [usize; 2]) -> Self {
        let is_inside = row < self.shape[0] && column < self.shape[1];
        self.marks.extend(is_inside.then_some([row, column]));
        self
    }

    /// The least and the greatest of its finite elements, if there is one.
    pub fn range(&self) -> Option<[f64; 2]> {
        let finite = || self.elements.iter().copied().filter(|element| element.is_finite());
        let low = finite().reduce(f64::min)?;
        Some([low, finite().reduce(f64::max)?])
    }

    /// The picture.
    pub fn draw(&self) -> Drawn {
        let range = self.range();
        let texts = range.map_or(["no number".to_owned(), String::new()], |[low, high]| {
            [number_text(high), number_text(low)]
        });
        let widest = texts.iter().chain([&self.unit]).map(|text| text_width_pixels(text)).max().unwrap_or(0);
        let mut frame = Frame { shape: self.shape, title: &self.title, footer: &self.footer, legend: [0; 2] };
        let height = (self.shape[0] as u32 * frame.element_pixels()).max(LEAST_BAR_HEIGHT);
        frame.legend = [BAR_WIDTH + GAP + widest, height];
        let (mut drawn, at) = frame.draw();
        let range = range.unwrap_or([0.0, 0.0]);
        for (place, &element) in self.elements.iter().enumerate() {
            let colour = colour_of_share(share_of(element, range));
            drawn.fill([place / self.shape[1], place % self.shape[1]], colour);
        }
        self.marks.iter().for_each(|&mark| drawn.mark(mark));
        self.draw_bar(&mut drawn, at, height, &texts);
        drawn
    }

    fn draw_bar(&self, drawn: &mut Drawn, [left, top]: [u32; 2], height: u32, [high, low]: &[String; 2]) {
        for row in 0..height {
            let share = 1.0 - (f64::from(row) + 0.5) / f64::from(height);
            drawn.picture.fill([left, top + row], [BAR_WIDTH, 1], colour_of_share(share));
        }
        let beside = left + BAR_WIDTH + GAP;
        write_text(&mut drawn.picture, high, [beside, top], INK);
        write_text(&mut drawn.picture, &self.unit, [beside, top + LINE_PIXELS], INK);
        write_text(&mut drawn.picture, low, [beside, top + height - TEXT_HEIGHT_PIXELS], INK);
    }
}

/// Elements that a picture has room for, and as many as their shape has.
pub(crate) fn check_shape([rows, columns]: [usize; 2], len: usize) -> Result<(), PictureError> {
    let limit = LIMIT_ELEMENTS_A_SIDE;
    if rows == 0 || columns == 0 {
        return Err(PictureError::Nothing { rows, columns });
    }
    if rows > limit || columns > limit {
        return Err(PictureError::TooLarge { rows, columns, limit });
    }
    if rows * columns != len {
        return Err(PictureError::Count { what: "elements", found: len, expected: rows * columns });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each pixel of each element has the colour of the element's share of the range, found the slowest way.
        #[test]
        fn elements_have_the_colours_of_their_shares(
            rows in 1usize..6, columns in 1usize..6,
            numbers in prop::collection::vec(prop_oneof![-1e3..1e3, Just(f64::NAN), Just(7.0)], 25),
        ) {
            let elements = &numbers[..rows * columns];
            let drawn = Field::new([rows, columns], elements).expect("it fits").draw();
            let mut sorted: Vec<f64> = elements.iter().copied().filter(|element| !element.is_nan()).collect();
            sorted.sort_by(f64::total_cmp);
            for row in 0..rows {
                for column in 0..columns {
                    let element = elements[row * columns + column];
                    let share = match (sorted.first(), sorted.last()) {
                        (Some(low), Some(high)) if low < high => (element - low) / (high - low),
                        _ => 0.5 + 0.0 * element,
                    };
                    let wanted = colour_of_share(share);
                    for place in 0..drawn.element_pixels.pow(2) {
                        let (x, y) = (place % drawn.element_pixels, place / drawn.element_pixels);
                        let at = [
                            drawn.corner[0] + column as u32 * drawn.element_pixels + x,
                            drawn.corner[1] + row as u32 * drawn.element_pixels + y,
                        ];
                        let found = drawn.picture.pixel(at).expect("in the picture");
                        // Rounding may take either of two neighbouring colours.
                        prop_assert!(found.iter().zip(wanted).all(|(&one, other)| one.abs_diff(other) <= 1));
                    }
                }
            }
        }
    }

    #[test]
    fn the_bar_goes_from_low_to_high_beside_its_numbers() {
        let elements = [1.0, f64::INFINITY, 3.0, f64::NAN];
        let field = Field::new([2, 2], &elements).expect("it fits").with_unit("K");
        assert_eq!(field.range(), Some([1.0, 3.0]));
        let drawn = field.draw();
        let [left, top] = [drawn.corner[0] + 2 * 64 + 10, drawn.corner[1]];
        let near = |at, share| {
            let (found, wanted) = (drawn.picture.pixel(at).expect("inside"), colour_of_share(share));
            found.iter().zip(wanted).all(|(&one, other)| one.abs_diff(other) <= 3)
        };
        assert!(near([left, top], 1.0) && near([left + 15, top + 127], 0.0) && near([left, top + 64], 0.5));
        assert_eq!(drawn.picture.pixel([left, top + 128]), Some([255; 3]));
        // An infinite one has the colour of its end.
        assert_eq!(drawn.picture.pixel([drawn.corner[0] + 64, top]), Some(colour_of_share(1.0)));
        let ink = |rows: std::ops::Range<u32>| {
            rows.flat_map(|row| (left + 22..left + 40).map(move |column| [column, row]))
                .filter(|&at| drawn.picture.pixel(at) == Some(INK))
                .count()
        };
        assert!(ink(top..top + 13) > 5 && ink(top + 16..top + 29) > 5 && ink(top + 115..top + 128) > 5);
        assert_eq!(ink(top + 29..top + 115), 0);
    }

    #[test]
    fn a_mark_lies_around_its_element_and_hides_nothing_of_it() {
        let elements = [0.0; 9];
        let field = Field::new([3, 3], &elements).expect("it fits");
        let plain = field.draw();
        let drawn = field.with_mark([1, 2]).with_mark([3, 0]).draw();
        let (left, top) = (drawn.corner[0] + 2 * 64, drawn.corner[1] + 64);
        let mark = [255, 0, 127];
        for at in
            [[left - 4, top], [left - 3, top + 63], [left, top - 4], [left + 66, top - 3], [left, top + 67]]
        {
            assert_eq!(drawn.picture.pixel(at), Some(mark), "{at:?}");
        }
        for at in [[left - 2, top - 2], [left, top], [left + 63, top + 63], [left - 5, top]] {
            assert_eq!(drawn.picture.pixel(at), plain.picture.pixel(at), "{at:?}");
        }
        let marked = drawn.picture.pixels.chunks(3).filter(|pixel| *pixel == mark).count();
        assert_eq!(marked, 72 * 72 - 68 * 68, "one mark, as the other lies outside");
    }

    #[test]
    fn what_fits_no_picture_is_refused() {
        let said = |shape, len: usize| Field::new(shape, &vec![0.0; len]).expect_err("refused").to_string();
        assert_eq!(said([0, 3], 0), "there is no element to draw: the shape is 0 x 3");
        assert_eq!(said([2, 3], 5), "5 elements, where 6 are expected");
        assert!(said([4097, 1], 4097).starts_with("4097 x 1 elements are too many for a picture"));
        let none = Field::new([1, 2], &[f64::NAN; 2]).expect("it fits").draw();
        assert_eq!(none.picture.pixel(none.corner), Some(crate::NO_NUMBER));
    }
}
