//! The pictures: histograms side by side, and parallel coordinates as bands between axes. The darkness of a band says
//! how many particles go that way, and single particles lie over the bands.

use super::axes::{AXIS_BINS, Axis, BINS, PAIRS, PARTICLE_AXES};
use super::found::Found;
use super::letters::{fill, width_pixels, write};
use crate::shared::picture::Picture;

const INK: [u8; 3] = [60, 60, 60];
const BAR: [u8; 3] = [0, 114, 178];
/// The colour of a band where it is densest; the paper is white.
const BAND: [f64; 3] = [8.0, 48.0, 107.0];
const LINE: [f64; 3] = [230.0, 100.0, 0.0];
/// How much of a line's colour a pixel takes on.
const LINE_SHARE: f64 = 0.45;
/// Makes few particles visible beside many.
const CONTRAST: f64 = 0.35;

/// Histograms in a row.
const PANELS_ACROSS: u32 = 5;
const PANEL: [u32; 2] = [280, 220];
const BAR_WIDTH: u32 = 4;
const BARS_HEIGHT: u32 = 160;

/// Where axes begin, how far they are apart, how long they are.
const AXIS_LEFT: u32 = 60;
const AXIS_TOP: u32 = 40;
const AXIS_GAP: u32 = 200;
const AXIS_HEIGHT: u32 = 512;

/// A number in a few letters.
fn label(number: f64) -> String {
    if number.abs() >= 100.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

/// All histograms of a step.
pub fn draw_histograms(axes: &[Axis], found: &Found) -> Picture {
    let down = (axes.len() as u32).div_ceil(PANELS_ACROSS);
    let mut picture = Picture::blank(PANELS_ACROSS * PANEL[0], down * PANEL[1]);
    for (index, (axis, counts)) in (0..).zip(axes.iter().zip(&found.histograms)) {
        let corner = [index % PANELS_ACROSS * PANEL[0] + 12, index / PANELS_ACROSS * PANEL[1] + 12];
        draw_histogram(&mut picture, corner, axis, &counts[..BINS.min(counts.len())]);
    }
    picture
}

fn draw_histogram(picture: &mut Picture, [left, top]: [u32; 2], axis: &Axis, counts: &[u64]) {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    write(picture, &format!("{}  {most}", axis.name), [left, top], 2, INK);
    let bottom = top + 14 + BARS_HEIGHT;
    for (bin, &count) in (0..).zip(counts) {
        let height = (u64::from(BARS_HEIGHT) * count).div_ceil(most) as u32;
        fill(picture, [left + bin * BAR_WIDTH, bottom - height], [BAR_WIDTH - 1, height], BAR);
    }
    let width = BINS as u32 * BAR_WIDTH;
    fill(picture, [left, bottom], [width, 1], INK);
    write(picture, &label(axis.low), [left, bottom + 5], 2, INK);
    let high = label(axis.high);
    write(picture, &high, [left + width - width_pixels(&high, 2), bottom + 5], 2, INK);
}

/// A step in parallel coordinates.
pub fn draw_coordinates(axes: &[Axis], found: &Found) -> Picture {
    let axes = &axes[..PARTICLE_AXES.min(axes.len())];
    let mut picture = Picture::blank(2 * AXIS_LEFT + PAIRS as u32 * AXIS_GAP, AXIS_HEIGHT + 2 * AXIS_TOP);
    for (pair, counts) in (0..).zip(&found.between) {
        Band::of(counts).draw(&mut picture, AXIS_LEFT + pair * AXIS_GAP);
    }
    for line in &found.lines {
        draw_line(&mut picture, axes, line);
    }
    for (index, axis) in (0..).zip(axes) {
        draw_axis(&mut picture, AXIS_LEFT + index * AXIS_GAP, axis);
    }
    picture
}

/// How many particles pass each pixel between two axes, column by column, from the top.
struct Band {
    counts: Vec<f64>,
}

impl Band {
    /// From each bin of the left axis to each of the right one, a strip as high as a bin.
    fn of(between: &[u64]) -> Self {
        let height = AXIS_HEIGHT as usize;
        let strip = height / AXIS_BINS;
        let mut counts = vec![0.0; height * AXIS_GAP as usize];
        for (number, &count) in between.iter().enumerate().filter(|(_, count)| **count > 0) {
            let [from, to] =
                [number / AXIS_BINS, number % AXIS_BINS].map(|bin| (AXIS_BINS - 1 - bin) * strip);
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
                blend(picture, [column, row], BAND, (count / most).powf(CONTRAST));
            }
        }
    }
}

/// How far down its axis a number is. Numbers outside the range are at the end on their side.
fn height(axis: &Axis, number: f64) -> f64 {
    let share = ((number - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0);
    f64::from(AXIS_TOP) + (1.0 - share) * f64::from(AXIS_HEIGHT - 1)
}

/// One particle, from axis to axis.
fn draw_line(picture: &mut Picture, axes: &[Axis], line: &[f64; PARTICLE_AXES]) {
    let heights: Vec<f64> = axes.iter().zip(line).map(|(axis, &number)| height(axis, number)).collect();
    for (pair, two) in (0..).zip(heights.windows(2)) {
        for column in 0..AXIS_GAP {
            let at = |share: f64| (two[0] + (two[1] - two[0]) * share / f64::from(AXIS_GAP)).round() as u32;
            // Steep ones fill their columns from this pixel to the next.
            let ends = [at(f64::from(column)), at(f64::from(column) + 1.0)];
            for row in ends[0].min(ends[1])..=ends[0].max(ends[1]) {
                blend(picture, [AXIS_LEFT + pair * AXIS_GAP + column, row], LINE, LINE_SHARE);
            }
        }
    }
}

fn draw_axis(picture: &mut Picture, at: u32, axis: &Axis) {
    fill(picture, [at, AXIS_TOP], [2, AXIS_HEIGHT], INK);
    let texts =
        [(axis.name.to_owned(), 8), (label(axis.high), 24), (label(axis.low), AXIS_TOP + AXIS_HEIGHT + 6)];
    for (text, top) in texts {
        write(picture, &text, [at.saturating_sub(width_pixels(&text, 2) / 2), top], 2, INK);
    }
}

fn blend(picture: &mut Picture, [column, row]: [u32; 2], colour: [f64; 3], share: f64) {
    let at = 3 * (row as usize * picture.width_pixels as usize + column as usize);
    for (part, colour) in picture.pixels.iter_mut().skip(at).take(3).zip(colour) {
        *part = (f64::from(*part) * (1.0 - share) + colour * share).round() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::super::axes::{AXES, COUNTS, PAIR_BINS};
    use super::*;

    fn pixel(picture: &Picture, column: u32, row: u32) -> [u8; 3] {
        let at = 3 * (row as usize * picture.width_pixels as usize + column as usize);
        [picture.pixels[at], picture.pixels[at + 1], picture.pixels[at + 2]]
    }

    fn found() -> Found {
        let mut histograms = vec![vec![0; COUNTS]; AXES];
        (histograms[0][0], histograms[0][BINS - 1]) = (10, 5);
        let mut between = vec![vec![0; PAIR_BINS]; PAIRS];
        // From the lowest bin to the highest one.
        between[0][AXIS_BINS - 1] = 7;
        let lines = vec![[0.0, -4.0, 0.0, -4.0, 0.0, -1.0, 0.0]];
        Found { histograms, between, lines, ..Found::default() }
    }

    #[test]
    fn bars_are_as_high_as_counts() {
        let picture = draw_histograms(&Axis::all(100), &found());
        let (left, bottom) = (12, 12 + 14 + BARS_HEIGHT);
        let last = left + (BINS as u32 - 1) * BAR_WIDTH;
        let half = bottom - BARS_HEIGHT / 2;
        assert_eq!([pixel(&picture, left, bottom - 1), pixel(&picture, left, half - 1)], [BAR; 2]);
        assert_eq!([pixel(&picture, last, half), pixel(&picture, last, half - 1)], [BAR, [255; 3]]);
    }

    #[test]
    fn bands_and_lines_go_from_bin_to_bin() {
        let picture = draw_coordinates(&Axis::all(100), &found());
        let (first, second) = (AXIS_LEFT + 2, AXIS_LEFT + AXIS_GAP - 1);
        let (top, bottom) = (AXIS_TOP + 3, AXIS_TOP + AXIS_HEIGHT - 8);
        let white = [255; 3];
        assert_ne!(pixel(&picture, first, bottom), white);
        assert_ne!(pixel(&picture, second, top), white);
        assert_eq!(pixel(&picture, first, top), white);
        assert_eq!(pixel(&picture, second, bottom), white);
        // The line lies at the low end of every axis.
        let low = AXIS_TOP + AXIS_HEIGHT - 1;
        assert_ne!(pixel(&picture, AXIS_LEFT + AXIS_GAP + 50, low), white);
        assert_eq!(pixel(&picture, AXIS_LEFT + AXIS_GAP + 50, low - 2), white);
    }
}
