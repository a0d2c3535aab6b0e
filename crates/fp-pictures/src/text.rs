//! Letters, for what stands beside elements: those of Latin-1, by the fonts of embedded-graphics. Others are question marks.

use std::convert::Infallible;

use embedded_graphics::Drawable as _;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::iso_8859_1::FONT_7X13;
use embedded_graphics::pixelcolor::{Rgb888, RgbColor as _};
use embedded_graphics::text::{Baseline, Text};

use crate::picture::Picture;

/// How high a line is.
pub const TEXT_HEIGHT_PIXELS: u32 = 13;
/// How wide a letter is.
const LETTER_PIXELS: u32 = 7;

/// How wide a text is.
pub fn text_width_pixels(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX).saturating_mul(LETTER_PIXELS)
}

/// Writes a text with its upper left corner there, on one line; what is outside the picture is left out.
pub fn write_text(picture: &mut Picture, text: &str, [left, top]: [u32; 2], colour: [u8; 3]) {
    // A line that ends would go on below.
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let style = MonoTextStyle::new(&FONT_7X13, Rgb888::new(colour[0], colour[1], colour[2]));
    let at = [left, top].map(|at| i32::try_from(at).unwrap_or(i32::MAX / 2));
    let text = Text::with_baseline(&line, Point::new(at[0], at[1]), style, Baseline::Top);
    match text.draw(&mut Paper(picture)) {
        Ok(_) => {}
        Err(never) => match never {},
    }
}

/// A number in a few letters: six digits.
pub fn number_text(number: f64) -> String {
    let trimmed = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if number == 0.0 || !number.is_finite() {
        return number.abs().to_string().replace("inf", if number < 0.0 { "-inf" } else { "inf" });
    }
    let scientific = format!("{number:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..=5) => trimmed(format!("{number:.*}", (5 - exponent).max(0) as usize)),
        _ => format!("{}e{exponent}", trimmed(digits.to_owned())),
    }
}

/// What letters are drawn on.
struct Paper<'p>(&'p mut Picture);

impl OriginDimensions for Paper<'_> {
    fn size(&self) -> Size {
        Size::new(self.0.width_pixels, self.0.height_pixels)
    }
}

impl DrawTarget for Paper<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(at, colour) in pixels {
            if let (Ok(column), Ok(row)) = (u32::try_from(at.x), u32::try_from(at.y)) {
                self.0.set([column, row], [colour.r(), colour.g(), colour.b()]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inked(picture: &Picture) -> Vec<[u32; 2]> {
        let all = (0..picture.height_pixels).flat_map(|row| (0..picture.width_pixels).map(move |c| [c, row]));
        all.filter(|&at| picture.pixel(at) == Some([0; 3])).collect()
    }

    #[test]
    fn letters_are_written_where_they_should_be_and_nowhere_else() {
        let mut picture = Picture::blank(40, 30);
        write_text(&mut picture, "T°", [5, 9], [0; 3]);
        let ink = inked(&picture);
        let right = 5 + text_width_pixels("T°");
        assert!(ink.len() > 10);
        assert!(ink.iter().all(|[c, r]| (5..right).contains(c) && (9..9 + TEXT_HEIGHT_PIXELS).contains(r)));
        let second = ink.iter().filter(|[c, _]| *c >= 5 + LETTER_PIXELS).count();
        assert!(second > 0 && second < ink.len());
        // What does not fit is left out.
        write_text(&mut picture, "88", [36, 25], [0; 3]);
        write_text(&mut picture, "88", [u32::MAX, u32::MAX], [0; 3]);
    }

    #[test]
    fn cases_differ_and_lines_do_not_end() {
        let drawn = |text| {
            let mut picture = Picture::blank(60, 40);
            write_text(&mut picture, text, [0, 0], [0; 3]);
            inked(&picture)
        };
        assert_ne!(drawn("t"), drawn("T"));
        assert_eq!(drawn("a\nb"), drawn("a b"));
    }

    #[test]
    fn numbers_have_six_digits() {
        for (number, text) in [
            (0.0, "0"),
            (903.7, "903.7"),
            (-0.25, "-0.25"),
            (1.0 / 3.0, "0.333333"),
            (123_456.7, "123457"),
            (999_999.7, "1e6"),
            (1e6, "1e6"),
            (1.234_567_8e-9, "1.23457e-9"),
            (0.000_1, "0.0001"),
            (-2.5e300, "-2.5e300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(number_text(number), text);
        }
    }
}
