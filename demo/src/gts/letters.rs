//! Letters of three by five dots, for what stands beside axes.

use crate::shared::picture::Picture;

/// Dots across and down.
const DOTS: [u32; 2] = [3, 5];

/// The dots of a letter: five rows from the top, in each the left one in the highest bit. Others are blank.
#[rustfmt::skip]
const LETTERS: &[(char, [u8; 5])] = &[
    ('a', [2, 5, 7, 5, 5]), ('b', [6, 5, 6, 5, 6]), ('c', [3, 4, 4, 4, 3]), ('d', [6, 5, 5, 5, 6]),
    ('e', [7, 4, 6, 4, 7]), ('f', [7, 4, 6, 4, 4]), ('g', [3, 4, 5, 5, 3]), ('h', [5, 5, 7, 5, 5]),
    ('i', [7, 2, 2, 2, 7]), ('j', [1, 1, 1, 5, 2]), ('k', [5, 5, 6, 5, 5]), ('l', [4, 4, 4, 4, 7]),
    ('m', [5, 7, 7, 5, 5]), ('n', [6, 5, 5, 5, 5]), ('o', [2, 5, 5, 5, 2]), ('p', [6, 5, 6, 4, 4]),
    ('q', [2, 5, 5, 6, 3]), ('r', [6, 5, 6, 5, 5]), ('s', [3, 4, 2, 1, 6]), ('t', [7, 2, 2, 2, 2]),
    ('u', [5, 5, 5, 5, 7]), ('v', [5, 5, 5, 5, 2]), ('w', [5, 5, 7, 7, 5]), ('x', [5, 5, 2, 5, 5]),
    ('y', [5, 5, 2, 2, 2]), ('z', [7, 1, 2, 4, 7]), ('0', [7, 5, 5, 5, 7]), ('1', [2, 6, 2, 2, 7]),
    ('2', [7, 1, 7, 4, 7]), ('3', [7, 1, 7, 1, 7]), ('4', [5, 5, 7, 1, 1]), ('5', [7, 4, 7, 1, 7]),
    ('6', [7, 4, 7, 5, 7]), ('7', [7, 1, 1, 2, 2]), ('8', [7, 5, 7, 5, 7]), ('9', [7, 5, 7, 1, 7]),
    ('-', [0, 0, 7, 0, 0]), ('.', [0, 0, 0, 0, 2]), (',', [0, 0, 0, 2, 4]), (':', [0, 2, 0, 2, 0]),
];

/// How wide a text is, in pixels.
pub fn width_pixels(text: &str, scale: u32) -> u32 {
    text.chars().count() as u32 * (DOTS[0] + 1) * scale
}

/// Write a text with its upper left corner there; what is outside the picture is left out.
pub fn write(picture: &mut Picture, text: &str, [left, top]: [u32; 2], scale: u32, colour: [u8; 3]) {
    for (index, letter) in (0..).zip(text.chars()) {
        let Some((_, rows)) = LETTERS.iter().find(|(known, _)| *known == letter) else { continue };
        for (row, dots) in (0..).zip(rows) {
            for column in (0..DOTS[0]).filter(|column| dots & (4 >> column) != 0) {
                let corner = [left + (index * (DOTS[0] + 1) + column) * scale, top + row * scale];
                fill(picture, corner, [scale; 2], colour);
            }
        }
    }
}

/// Fill a rectangle with its upper left corner there.
pub fn fill(picture: &mut Picture, [left, top]: [u32; 2], [width, height]: [u32; 2], colour: [u8; 3]) {
    let right = (left + width).min(picture.width_pixels);
    for row in top..(top + height).min(picture.height_pixels) {
        for column in left..right {
            let at = 3 * (row as usize * picture.width_pixels as usize + column as usize);
            picture.pixels[at..at + 3].copy_from_slice(&colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_written_where_they_should_be_and_nowhere_else() {
        let mut picture = Picture { width_pixels: 9, height_pixels: 7, pixels: vec![255; 9 * 7 * 3] };
        write(&mut picture, "l1", [1, 1], 1, [0; 3]);
        let rows: Vec<String> = picture
            .pixels
            .chunks(27)
            .map(|row| row.chunks(3).map(|pixel| if pixel[0] == 0 { '#' } else { '.' }).collect())
            .collect();
        assert_eq!(
            rows,
            [".........", ".#....#..", ".#...##..", ".#....#..", ".#....#..", ".###.###.", "........."]
        );
        write(&mut picture, "88", [7, 5], 4, [0; 3]);
        assert_eq!(width_pixels("abc", 2), 24);
    }
}
