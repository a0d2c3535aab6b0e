//! Pictures: fields of two dimensions, ids of features, particles, and counts. And PNG files of them.
//!
//! Watches, the analysis of features and the demonstration draw with it. Everything here is a value: there is no stream.
//!
//! ```
//! use fp_pictures::Field;
//!
//! let elements = [1.0, 2.0, 3.0, 4.0, 5.0, 9.5];
//! let field = Field::new([2, 3], &elements)?.with_title(["heat, step 12"]).with_unit("K").with_mark([1, 2]);
//! let drawn = field.draw();
//! let [left, top] = drawn.corner;
//! assert_eq!(drawn.picture.pixel([left, top]), Some(fp_pictures::colour_of_share(0.0)));
//! # Ok::<(), fp_pictures::PictureError>(())
//! ```
//!
//! | module | what |
//! |---|---|
//! | `picture`, `error` | pixels, and files of them |
//! | `text`, `colours` | letters, numbers, colours |
//! | `frame` | what stands around the elements: title, legend, footer |
//! | `field`, `ids` | elements as colours, with a colour bar; ids as colours, with a list |
//! | `discs` | particles, seen along the third axis |
//! | `counts`, `coordinates` | histograms side by side; parallel coordinates |
#![forbid(unsafe_code)]

mod colours;
mod coordinates;
mod counts;
mod discs;
mod error;
mod field;
mod frame;
mod ids;
mod picture;
mod text;

pub use colours::{NO_NUMBER, colour_of_id, colour_of_share};
pub use coordinates::draw_parallel_coordinates;
pub use counts::{Axis, Histogram, draw_histograms};
pub use discs::draw_discs;
pub use error::PictureError;
pub use field::{Field, LIMIT_ELEMENTS_A_SIDE};
pub use frame::Drawn;
pub use ids::{IdMap, NO_ID};
pub use picture::Picture;
pub use text::{TEXT_HEIGHT_PIXELS, number_text, text_width_pixels, write_text};
