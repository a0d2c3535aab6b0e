//! A picture of the atoms as seen along the third axis, each a disc coloured by its class.

use crate::lammps::science::cna::Structure;
use crate::lammps::science::geometry::Domain;
use crate::shared::picture::{Picture, PictureError};

/// Share of its colour that an atom at the very back keeps; the front one keeps all.
const BACK_SHADE: f64 = 0.55;
/// The longer side of a picture is at most this many pixels.
const MOST_PIXELS: u32 = 8_192;

/// The colour of a class. People who do not tell red from green can tell the colours apart.
pub fn colour(structure: Structure) -> [u8; 3] {
    match structure {
        Structure::FaceCentredCubic => [86, 180, 233],
        Structure::HexagonalClosePacked => [213, 94, 0],
        Structure::BodyCentredCubic => [0, 114, 178],
        Structure::Icosahedral => [240, 228, 66],
        Structure::Other => [90, 90, 90],
    }
}

/// Draw atoms as discs of `radius` (in the unit of the positions), those in front (higher z) over those behind. Along
/// periodic axes positions are wrapped first.
///
/// # Errors
/// No atoms, lists of different lengths, a width out of range, or positions that fit no picture.
pub fn draw(
    positions: &[[f64; 3]],
    colours: &[[u8; 3]],
    domain: &Domain,
    radius: f64,
    width_pixels: u32,
) -> Result<Picture, PictureError> {
    if positions.len() != colours.len() || positions.is_empty() {
        return Err(PictureError::UnequalLengths { positions: positions.len(), colours: colours.len() });
    }
    let mut atoms: Vec<([f64; 3], [u8; 3])> =
        positions.iter().zip(colours).map(|(position, colour)| (domain.wrap(*position), *colour)).collect();
    atoms.sort_by(|one, other| one.0[2].total_cmp(&other.0[2]));
    let view = View::around(&atoms, radius, width_pixels)?;
    let (back, front) = (atoms[0].0[2], atoms[atoms.len() - 1].0[2]);
    let mut picture = Picture::blank(view.width_pixels, view.height_pixels);
    for (position, colour) in &atoms {
        let depth = if front > back { (position[2] - back) / (front - back) } else { 1.0 };
        let shade = BACK_SHADE + (1.0 - BACK_SHADE) * depth;
        view.disc(&mut picture, *position, colour.map(|part| (f64::from(part) * shade) as u8));
    }
    Ok(picture)
}

/// How lengths become pixels.
struct View {
    left: f64,
    top: f64,
    scale: f64,
    radius: f64,
    width_pixels: u32,
    height_pixels: u32,
}

impl View {
    fn around(atoms: &[([f64; 3], [u8; 3])], radius: f64, width_pixels: u32) -> Result<Self, PictureError> {
        if width_pixels == 0 || width_pixels > MOST_PIXELS {
            return Err(PictureError::BadWidth { width_pixels });
        }
        // `min` and `max` pass over what is no number; here it must not get lost.
        let end = |axis: usize, start: f64, pick: fn(f64, f64) -> f64| {
            let along = || atoms.iter().map(|atom| atom.0[axis]);
            if along().any(f64::is_nan) { f64::NAN } else { along().fold(start, pick) }
        };
        let low = [0, 1].map(|axis| end(axis, f64::INFINITY, f64::min) - 2.0 * radius);
        let high = [0, 1].map(|axis| end(axis, f64::NEG_INFINITY, f64::max) + 2.0 * radius);
        let scale = f64::from(width_pixels) / (high[0] - low[0]);
        let height = (scale * (high[1] - low[1])).ceil();
        if !(1.0..=f64::from(MOST_PIXELS)).contains(&height) || !scale.is_finite() {
            return Err(PictureError::BadExtent { low, high });
        }
        Ok(View { left: low[0], top: high[1], scale, radius, width_pixels, height_pixels: height as u32 })
    }

    /// Fill every pixel whose middle is inside the disc.
    fn disc(&self, picture: &mut Picture, position: [f64; 3], colour: [u8; 3]) {
        let (across, down) = ((position[0] - self.left) * self.scale, (self.top - position[1]) * self.scale);
        let radius = (self.radius * self.scale).max(0.75);
        let range = |middle: f64, limit: u32| {
            (middle - radius).max(0.0) as u32..((middle + radius + 1.0).max(0.0) as u32).min(limit)
        };
        for row in range(down, self.height_pixels) {
            for column in range(across, self.width_pixels) {
                let (x, y) = (f64::from(column) + 0.5 - across, f64::from(row) + 0.5 - down);
                if x * x + y * y <= radius * radius {
                    let at = 3 * (row as usize * self.width_pixels as usize + column as usize);
                    picture.pixels[at..at + 3].copy_from_slice(&colour);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: Domain = Domain { low: [0.0; 3], high: [4.0; 3], periodic: [false, false, true] };

    fn pixel(picture: &Picture, column: usize, row: usize) -> [u8; 3] {
        let at = 3 * (row * picture.width_pixels as usize + column);
        [picture.pixels[at], picture.pixels[at + 1], picture.pixels[at + 2]]
    }

    #[test]
    fn discs_are_where_the_atoms_are_and_front_covers_back() {
        let positions = [[0.0, 0.0, 0.0], [4.0, 4.0, 1.0], [4.0, 4.0, 0.5]];
        let colours = [[200, 0, 0], [0, 200, 0], [0, 0, 200]];
        let picture = draw(&positions, &colours, &DOMAIN, 1.0, 80).expect("good input");
        assert_eq!((picture.width_pixels, picture.height_pixels), (80, 80));
        assert_eq!(pixel(&picture, 20, 59), [110, 0, 0], "lower left, at the back");
        assert_eq!(pixel(&picture, 59, 20), [0, 200, 0], "upper right, the front one");
        assert_eq!(pixel(&picture, 40, 40), [u8::MAX; 3]);
    }

    #[test]
    fn a_written_picture_reads_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("atoms.png");
        let picture = draw(&[[1.0; 3]], &[colour(Structure::Other)], &DOMAIN, 0.5, 16).expect("good input");
        picture.write_png(&path).expect("writable");
        let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).expect("there")));
        let mut reader = decoder.read_info().expect("a picture");
        let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
        reader.next_frame(&mut pixels).expect("whole");
        assert_eq!(pixels, picture.pixels);
        let refused = picture.write_png(&folder.path().join("none/atoms.png"));
        assert!(matches!(refused, Err(PictureError::Io { .. })));
    }

    #[test]
    fn what_fits_no_picture_is_refused() {
        let drawn = |positions: &[[f64; 3]], width| {
            draw(positions, &vec![[0; 3]; positions.len()], &DOMAIN, 0.5, width)
        };
        assert!(matches!(drawn(&[], 10), Err(PictureError::UnequalLengths { .. })));
        assert!(matches!(drawn(&[[0.0; 3]], 0), Err(PictureError::BadWidth { width_pixels: 0 })));
        assert!(matches!(drawn(&[[0.0; 3], [0.0, 1e9, 0.0]], 10), Err(PictureError::BadExtent { .. })));
        assert!(matches!(drawn(&[[0.0, f64::NAN, 0.0], [0.0; 3]], 10), Err(PictureError::BadExtent { .. })));
    }
}
