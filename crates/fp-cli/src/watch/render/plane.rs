//! Which elements of an array a picture shows: those of two dimensions, and one position in each other.

use fp_core::{Selection, Shape, VariableInfo};
use fp_pictures::LIMIT_ELEMENTS_A_SIDE;

/// The positions of one dimension that are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Along {
    start: u64,
    count: u64,
    stride: u64,
}

impl Along {
    fn last(self) -> u64 {
        self.start + self.count.saturating_sub(1) * self.stride
    }

    /// Which one of the selected positions this is, if it is one.
    fn place(self, position: u64) -> Option<usize> {
        let place = position.checked_sub(self.start).filter(|from| from % self.stride == 0)? / self.stride;
        (place < self.count).then_some(place as usize)
    }
}

/// The elements of a picture: the positions in each dimension, and which two dimensions it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    along: Vec<Along>,
    down: usize,
    across: usize,
}

impl Plane {
    /// Of what is selected of an array of that shape; otherwise in words why it is none.
    pub(super) fn of(shape: &Shape, selection: &Selection) -> Result<Self, String> {
        let along: Vec<Along> = match selection {
            Selection::All => {
                shape.dims().iter().map(|&count| Along { start: 0, count, stride: 1 }).collect()
            }
            Selection::Region(region) => {
                let all = region.start().iter().zip(region.count().iter());
                all.map(|(&start, &count)| Along { start, count, stride: 1 }).collect()
            }
            Selection::Strided(strided) => {
                let (starts, counts) = (strided.region().start(), strided.counts());
                let all = starts.iter().zip(counts.iter()).zip(strided.stride().iter());
                all.map(|((&start, &count), &stride)| Along { start, count, stride }).collect()
            }
            Selection::Points(_) | Selection::Block(_) | Selection::Rank(_) => {
                return Err("a picture is of slices, one for each dimension, as in [0:64, :]".to_owned());
            }
        };
        let shown: Vec<usize> = match along.len() {
            2 => vec![0, 1],
            _ => (0..along.len()).filter(|&dim| along[dim].count != 1).collect(),
        };
        let [down, across] = shown[..] else { return Err(wrong_dimensions(&along, shown.len())) };
        let plane = Self { along, down, across };
        let limit = LIMIT_ELEMENTS_A_SIDE as u64;
        match plane.counts().into_iter().max() {
            // Before anything is fetched.
            Some(longest) if longest > limit => Err(format!(
                "{longest} elements in a row are too many for a picture, which has at most {limit} a side: take every k-th, \
                 as in [::4, ::4]"
            )),
            _ => Ok(plane),
        }
    }

    fn counts(&self) -> [u64; 2] {
        [self.along[self.down].count, self.along[self.across].count]
    }

    /// Elements down and across.
    pub(super) fn shape(&self) -> [usize; 2] {
        self.counts().map(|count| count as usize)
    }

    /// The row and column of an element of the array, if the picture shows it.
    pub(super) fn place(&self, element: &[u64]) -> Option<[usize; 2]> {
        if element.len() != self.along.len() {
            return None;
        }
        let places = self.along.iter().zip(element).map(|(along, &position)| along.place(position));
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        Some([places[self.down], places[self.across]])
    }

    /// What the picture shows, in words: `down y 0 to 63, across x 0 to 127 by 2, at z 32`.
    pub(super) fn words(&self, info: &VariableInfo) -> String {
        let name = |dim: usize| match info.def.dimensions.get(dim).filter(|name| !name.is_empty()) {
            Some(name) => name.clone(),
            None => format!("dimension {dim}:"),
        };
        let range = |dim: usize| {
            let along = self.along[dim];
            let by = if along.stride == 1 { String::new() } else { format!(" by {}", along.stride) };
            format!("{} {} to {}{by}", name(dim), along.start, along.last())
        };
        let others = (0..self.along.len()).filter(|&dim| dim != self.down && dim != self.across);
        let others = others.map(|dim| format!(", at {} {}", name(dim), self.along[dim].start));
        format!("down {}, across {}{}", range(self.down), range(self.across), others.collect::<String>())
    }
}

fn wrong_dimensions(along: &[Along], shown: usize) -> String {
    let counts: Vec<String> = along.iter().map(|along| along.count.to_string()).collect();
    format!(
        "a picture has two dimensions, and {shown} of these have more than one element: {}. Give one position in each of \
         the others, as in [:, :, 32]",
        counts.join(" x ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::SelectionExpression;

    fn plane(dims: &[u64], text: &str) -> Result<Plane, String> {
        let shape = Shape::new(fp_core::Dims::from_slice(dims).expect("few")).expect("small");
        let selection: SelectionExpression = text.parse().expect(text);
        Plane::of(&shape, &selection.resolve(&shape).expect(text))
    }

    #[test]
    fn a_slice_shows_two_dimensions() {
        let of = plane(&[8, 9, 10], "[2:8:2, 4, :]").expect("a plane");
        assert_eq!(of.shape(), [3, 10]);
        for (element, place) in [
            ([2, 4, 0], Some([0, 0])),
            ([6, 4, 9], Some([2, 9])),
            ([3, 4, 0], None),
            ([0, 4, 0], None),
            ([2, 5, 0], None),
        ] {
            assert_eq!(of.place(&element), place, "{element:?}");
        }
        assert_eq!(of.place(&[2, 4]), None);
        let all = plane(&[1, 8], "[...]").expect("a plane");
        assert_eq!((all.shape(), all.place(&[0, 7])), ([1, 8], Some([0, 7])));
        assert_eq!(plane(&[1, 8, 1, 3], "[...]").expect("a plane").shape(), [8, 3]);
    }

    #[test]
    fn what_is_no_plane_is_said() {
        for (dims, text, said) in [
            (
                &[4, 5, 6][..],
                "[...]",
                "a picture has two dimensions, and 3 of these have more than one element: 4 x 5 x 6.",
            ),
            (&[8], "[2:4]", "a picture has two dimensions, and 1 of these"),
            (&[4, 4], "[points (1, 2)]", "a picture is of slices"),
            (&[2, 9000], "[:, 8:]", "8992 elements in a row are too many"),
        ] {
            let why = plane(dims, text).expect_err(text);
            assert!(why.starts_with(said), "{why}");
        }
        assert!(plane(&[2, 9000], "[:, ::4]").is_ok());
    }
}
