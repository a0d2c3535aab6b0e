//! Parallel coordinates: bands between axes, whose darkness says how many go that way, and single ones as lines over the
//! bands.

use crate::counts::Axis;
use crate::error::PictureError;
use crate::frame::INK;
use crate::picture::Picture;
use crate::text::{number_text, text_width_pixels, write_text};

/// The colour of a band where it is densest; the paper is white.
const BAND: [f64; 3] = [8.0, 48.0, 107.0];
const LINE: [f64; 3] = [230.0, 100.0, 0.0];
/// How much of a line's colour a pixel takes on.
const LINE_SHARE: f64 = 0.45;
/// Makes few visible beside many.
const CONTRAST: f64 = 0.35;

/// Where axes begin, how far they are apart, how long they are.
const AXIS_LEFT: u32 = 60;
const AXIS_TOP: u32 = 40;
const AXIS_GAP: u32 = 200;
const AXIS_HEIGHT: u32 = 512;

/// Draws what has a value on each of several axes. `between` has counts for each pair of neighbouring axes: how many go
/// from each bin of the one to each bin of the next. They are a square with a row for each bin of the one, from the lowest.
/// `lines` are single ones.
/// Values outside of an axis are at its end on their side.
///
/// # Errors
/// Other numbers of pairs or values than axes; counts that are no square.
pub fn draw_parallel_coordinates(
    axes: &[Axis],
    between: &[Vec<u64>],
    lines: &[&[f64]],
) -> Result<Picture, PictureError> {
    check(axes, between, lines)?;
    let across = 2 * AXIS_LEFT + between.len() as u32 * AXIS_GAP;
    let mut picture = Picture::blank(across, AXIS_HEIGHT + 2 * AXIS_TOP);
    for (pair, counts) in (0..).zip(between) {
        Band::of(counts).draw(&mut picture, AXIS_LEFT + pair * AXIS_GAP);
    }
    lines.iter().for_each(|line| draw_line(&mut picture, axes, line));
    for (index, axis) in (0..).zip(axes) {
        draw_axis(&mut picture, AXIS_LEFT + index * AXIS_GAP, axis);
    }
    Ok(picture)
}

fn check(axes: &[Axis], between: &[Vec<u64>], lines: &[&[f64]]) -> Result<(), PictureError> {
    let count = |what, found, expected| match found == expected {
        true => Ok(()),
        false => Err(PictureError::Count { what, found, expected }),
    };
    count("pairs of axes", between.len(), axes.len().saturating_sub(1))?;
    for counts in between {
        count("counts between two axes", counts.len(), counts.len().isqrt().pow(2))?;
    }
    lines.iter().try_for_each(|line| count("values on axes", line.len(), axes.len()))
}

/// How many pass each pixel between two axes, column by column, from the top.
struct Band {
    counts: Vec<f64>,
}

impl Band {
    /// From each bin of the left axis to each of the right one, a strip as high as a bin.
    fn of(between: &[u64]) -> Self {
        let (height, bins) = (AXIS_HEIGHT as usize, between.len().isqrt().max(1));
        let strip = (height / bins).max(1);
        let mut counts = vec![0.0; height * AXIS_GAP as usize];
        for (number, &count) in between.iter().enumerate().filter(|(_, count)| **count > 0) {
            let [from, to] = [number / bins, number % bins].map(|bin| (bins - 1 - bin) * height / bins);
            for (column, pixels) in counts.chunks_mut(height).enumerate() {
                let share = (column as f64 + 0.5) / f64::from(AXIS_GAP);
                let top = (from as f64 * (1.0 - share) + to as f64 * share).round() as usize;
                pixels.iter_mut().skip(top).take(strip).for_each(|pixel| *pixel += count as f64);
            }
        }
        Band { counts }
    }

    fn draw(&self, picture: &mut Picture, left: u32) {
        let most = self.counts.iter().fold(0.0f64, |most, count| most.max(*count));
        for (column, pixels) in (left..).zip(self.counts.chunks(AXIS_HEIGHT as usize)) {
            for (row, &count) in (AXIS_TOP..).zip(pixels).filter(|(_, count)| **count > 0.0) {
                picture.blend([column, row], BAND, (count / most).powf(CONTRAST));
            }
        }
    }
}

/// How far down its axis a number is. Numbers outside the range are at the end on their side.
fn height(axis: &Axis, number: f64) -> f64 {
    let share = ((number - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0);
    f64::from(AXIS_TOP) + (1.0 - share) * f64::from(AXIS_HEIGHT - 1)
}

/// A single one, from axis to axis.
fn draw_line(picture: &mut Picture, axes: &[Axis], line: &[f64]) {
    let heights: Vec<f64> = axes.iter().zip(line).map(|(axis, &number)| height(axis, number)).collect();
    for (pair, two) in (0..).zip(heights.windows(2)) {
        for column in 0..AXIS_GAP {
            let at = |share: f64| (two[0] + (two[1] - two[0]) * share / f64::from(AXIS_GAP)).round() as u32;
            // Steep ones fill their columns from this pixel to the next.
            let ends = [at(f64::from(column)), at(f64::from(column) + 1.0)];
            for row in ends[0].min(ends[1])..=ends[0].max(ends[1]) {
                picture.blend([AXIS_LEFT + pair * AXIS_GAP + column, row], LINE, LINE_SHARE);
            }
        }
    }
}

fn draw_axis(picture: &mut Picture, at: u32, axis: &Axis) {
    picture.fill([at, AXIS_TOP], [2, AXIS_HEIGHT], INK);
    let texts = [
        (axis.name.clone(), 8),
        (number_text(axis.high), 24),
        (number_text(axis.low), AXIS_TOP + AXIS_HEIGHT + 6),
    ];
    for (text, top) in texts {
        write_text(picture, &text, [at.saturating_sub(text_width_pixels(&text) / 2), top], INK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINS: usize = 32;

    fn axes(count: usize) -> Vec<Axis> {
        let axis = |index| Axis { name: format!("axis {index}"), low: -4.0, high: 4.0 };
        (0..count).map(axis).collect()
    }

    #[test]
    fn bands_and_lines_go_from_bin_to_bin() {
        let mut between = vec![vec![0; BINS * BINS]; 2];
        // From the lowest bin to the highest one.
        between[0][BINS - 1] = 7;
        let line = [-4.0, -9.0, -4.0];
        let picture = draw_parallel_coordinates(&axes(3), &between, &[&line]).expect("good input");
        let (first, second) = (AXIS_LEFT + 2, AXIS_LEFT + AXIS_GAP - 1);
        let (top, bottom) = (AXIS_TOP + 3, AXIS_TOP + AXIS_HEIGHT - 8);
        let white = Some([255; 3]);
        assert_ne!(picture.pixel([first, bottom]), white);
        assert_ne!(picture.pixel([second, top]), white);
        assert_eq!(picture.pixel([first, top]), white);
        assert_eq!(picture.pixel([second, bottom]), white);
        // The line lies at the low end of every axis.
        let low = AXIS_TOP + AXIS_HEIGHT - 1;
        assert_ne!(picture.pixel([AXIS_LEFT + AXIS_GAP + 50, low]), white);
        assert_eq!(picture.pixel([AXIS_LEFT + AXIS_GAP + 50, low - 2]), white);
    }

    #[test]
    fn counts_and_lines_that_do_not_fit_are_refused() {
        let said = |between: &[Vec<u64>], lines: &[&[f64]]| {
            draw_parallel_coordinates(&axes(2), between, lines).expect_err("refused").to_string()
        };
        assert_eq!(said(&[], &[]), "0 pairs of axes, where 1 are expected");
        assert_eq!(said(&[vec![0; 5]], &[]), "5 counts between two axes, where 4 are expected");
        assert_eq!(said(&[vec![0; 4]], &[&[1.0]]), "1 values on axes, where 2 are expected");
    }
}
