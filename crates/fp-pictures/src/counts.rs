//! Histograms, side by side.

use crate::frame::INK;
use crate::picture::Picture;
use crate::text::{TEXT_HEIGHT_PIXELS, number_text, text_width_pixels, write_text};

const BAR: [u8; 3] = [0, 114, 178];
/// Histograms in a row.
const PANELS_ACROSS: u32 = 5;
const PANEL: [u32; 2] = [280, 220];
const MARGIN: u32 = 12;
const BARS: [u32; 2] = [256, 160];
/// From the name to the bars.
const ABOVE: u32 = TEXT_HEIGHT_PIXELS + 3;

/// A quantity, and the range in which it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity.
    pub name: String,
    /// Where the axis begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// How many of a quantity lie in each bin of its axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram<'a> {
    /// The quantity.
    pub axis: Axis,
    /// Counts, by bin. Of more than 256 only these are drawn.
    pub counts: &'a [u64],
}

/// Draws histograms side by side, five in a row. Each is as high as its largest count.
pub fn draw_histograms(histograms: &[Histogram<'_>]) -> Picture {
    let down = (histograms.len() as u32).div_ceil(PANELS_ACROSS);
    let mut picture = Picture::blank(PANELS_ACROSS * PANEL[0], down * PANEL[1]);
    for (index, histogram) in (0..).zip(histograms) {
        let corner = [index % PANELS_ACROSS * PANEL[0], index / PANELS_ACROSS * PANEL[1]];
        draw(&mut picture, corner.map(|at| at + MARGIN), histogram);
    }
    picture
}

fn draw(picture: &mut Picture, [left, top]: [u32; 2], histogram: &Histogram<'_>) {
    let Histogram { axis, counts } = histogram;
    let bins = counts.len().clamp(1, BARS[0] as usize) as u32;
    let (most, width) = (counts.iter().copied().max().unwrap_or(0).max(1), BARS[0] / bins);
    write_text(picture, &format!("{}  {most}", axis.name), [left, top], INK);
    let bottom = top + ABOVE + BARS[1];
    for (bin, &count) in (0..bins).zip(*counts) {
        let height = (u128::from(BARS[1]) * u128::from(count)).div_ceil(u128::from(most)) as u32;
        let bar = [width.saturating_sub(1).max(1), height];
        picture.fill([left + bin * width, bottom - height], bar, BAR);
    }
    let across = bins * width;
    picture.fill([left, bottom], [across, 1], INK);
    write_text(picture, &number_text(axis.low), [left, bottom + 5], INK);
    let high = number_text(axis.high);
    let at = (left + across).saturating_sub(text_width_pixels(&high));
    write_text(picture, &high, [at, bottom + 5], INK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_counts() {
        let axis = Axis { name: "radius".to_owned(), low: 0.0, high: 1.0 };
        let mut counts = vec![0; 64];
        (counts[0], counts[63]) = (10, 5);
        let picture = draw_histograms(&[Histogram { axis, counts: &counts }]);
        let (left, bottom) = (MARGIN, MARGIN + ABOVE + BARS[1]);
        let (last, half) = (left + 63 * 4, bottom - BARS[1] / 2);
        assert_eq!([[left, bottom - 1], [left, half - 1]].map(|at| picture.pixel(at)), [Some(BAR); 2]);
        assert_eq!([[last, half], [last, half - 1]].map(|at| picture.pixel(at)), [Some(BAR), Some([255; 3])]);
        assert_eq!(picture.pixel([left + 3, half]), Some([255; 3]), "bars stand apart");
    }

    #[test]
    fn any_counts_can_be_drawn() {
        let axis = || Axis { name: String::new(), low: f64::NAN, high: f64::INFINITY };
        let many = vec![u64::MAX; 300];
        let all = [Histogram { axis: axis(), counts: &[] }, Histogram { axis: axis(), counts: &many }];
        assert_eq!(draw_histograms(&all).height_pixels, PANEL[1]);
        assert_eq!(draw_histograms(&[]).height_pixels, 0);
    }
}
