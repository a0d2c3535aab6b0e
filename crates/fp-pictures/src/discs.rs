//! Particles as seen along the third axis, each a disc.

use crate::error::PictureError;
use crate::picture::Picture;

/// Share of its colour that a particle at the very back keeps; the front one keeps all.
const BACK_SHADE: f64 = 0.55;
/// The longer side of a picture is at most this many pixels.
const LIMIT_SIDE_PIXELS: u32 = 8_192;

/// Draws particles as discs of `radius` (in the unit of the positions), those in front (higher z) over those behind, and
/// those behind darker.
///
/// # Errors
/// No particle, lists of different lengths, a width out of range, or positions that fit no picture.
pub fn draw_discs(
    positions: &[[f64; 3]],
    colours: &[[u8; 3]],
    radius: f64,
    width_pixels: u32,
) -> Result<Picture, PictureError> {
    if positions.len() != colours.len() || positions.is_empty() {
        let (found, expected) = (colours.len(), positions.len().max(1));
        return Err(PictureError::Count { what: "colours of particles", found, expected });
    }
    let mut particles: Vec<([f64; 3], [u8; 3])> =
        positions.iter().copied().zip(colours.iter().copied()).collect();
    particles.sort_by(|one, other| one.0[2].total_cmp(&other.0[2]));
    let view = View::around(&particles, radius, width_pixels)?;
    let (back, front) = (particles[0].0[2], particles[particles.len() - 1].0[2]);
    let mut picture = Picture::blank(view.width_pixels, view.height_pixels);
    for (position, colour) in &particles {
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
    fn around(
        particles: &[([f64; 3], [u8; 3])],
        radius: f64,
        width_pixels: u32,
    ) -> Result<Self, PictureError> {
        if width_pixels == 0 || width_pixels > LIMIT_SIDE_PIXELS {
            return Err(PictureError::BadWidth { width_pixels });
        }
        // `min` and `max` pass over what is no number; here it must not get lost.
        let end = |axis: usize, start: f64, pick: fn(f64, f64) -> f64| {
            let along = || particles.iter().map(|particle| particle.0[axis]);
            if along().any(f64::is_nan) { f64::NAN } else { along().fold(start, pick) }
        };
        let low = [0, 1].map(|axis| end(axis, f64::INFINITY, f64::min) - 2.0 * radius);
        let high = [0, 1].map(|axis| end(axis, f64::NEG_INFINITY, f64::max) + 2.0 * radius);
        let scale = f64::from(width_pixels) / (high[0] - low[0]);
        let height = (scale * (high[1] - low[1])).ceil();
        if !(1.0..=f64::from(LIMIT_SIDE_PIXELS)).contains(&height) || !scale.is_finite() {
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
                    picture.set([column, row], colour);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discs_are_where_the_particles_are_and_front_covers_back() {
        let positions = [[0.0, 0.0, 0.0], [4.0, 4.0, 1.0], [4.0, 4.0, 0.5]];
        let colours = [[200, 0, 0], [0, 200, 0], [0, 0, 200]];
        let picture = draw_discs(&positions, &colours, 1.0, 80).expect("good input");
        assert_eq!((picture.width_pixels, picture.height_pixels), (80, 80));
        assert_eq!(picture.pixel([20, 59]), Some([110, 0, 0]), "lower left, at the back");
        assert_eq!(picture.pixel([59, 20]), Some([0, 200, 0]), "upper right, the front one");
        assert_eq!(picture.pixel([40, 40]), Some([u8::MAX; 3]));
    }

    #[test]
    fn what_fits_no_picture_is_refused() {
        let drawn =
            |positions: &[[f64; 3]], width| draw_discs(positions, &vec![[0; 3]; positions.len()], 0.5, width);
        assert!(matches!(drawn(&[], 10), Err(PictureError::Count { .. })));
        assert!(matches!(draw_discs(&[[0.0; 3]], &[], 0.5, 10), Err(PictureError::Count { .. })));
        assert!(matches!(drawn(&[[0.0; 3]], 0), Err(PictureError::BadWidth { width_pixels: 0 })));
        assert!(matches!(drawn(&[[0.0; 3], [0.0, 1e9, 0.0]], 10), Err(PictureError::BadExtent { .. })));
        assert!(matches!(drawn(&[[0.0, f64::NAN, 0.0], [0.0; 3]], 10), Err(PictureError::BadExtent { .. })));
    }
}
