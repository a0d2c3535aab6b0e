//! A picture of the atoms as seen along the third axis, each a disc coloured by its class.

use fp_pictures::{Picture, PictureError, draw_discs};

use crate::lammps::science::cna::Structure;
use crate::lammps::science::geometry::Domain;

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

/// Draw atoms as discs of `radius` (in the unit of the positions). Along periodic axes positions are wrapped first.
///
/// # Errors
/// As [`draw_discs`].
pub fn draw(
    positions: &[[f64; 3]],
    colours: &[[u8; 3]],
    domain: &Domain,
    radius: f64,
    width_pixels: u32,
) -> Result<Picture, PictureError> {
    let wrapped: Vec<[f64; 3]> = positions.iter().map(|position| domain.wrap(*position)).collect();
    draw_discs(&wrapped, colours, radius, width_pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_beyond_a_periodic_end_are_drawn_within() {
        let domain = Domain { low: [0.0; 3], high: [4.0; 3], periodic: [false, false, true] };
        let drawn = |depth| {
            let positions = [[0.0, 0.0, depth], [4.0, 4.0, 1.0]];
            draw(&positions, &[[200, 0, 0], [0, 200, 0]], &domain, 1.0, 80).expect("good input")
        };
        assert_eq!(drawn(3.0), drawn(7.0));
        assert_eq!(drawn(3.0).pixel([20, 59]), Some([200, 0, 0]), "in front");
        assert_eq!(drawn(0.0).pixel([20, 59]), Some([110, 0, 0]), "at the back");
    }
}
