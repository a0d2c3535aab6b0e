//! Several streams taken together.
//!
//! [`Windows`] join steps of several streams by a key, and cut them into windows. A [`Family`] has all streams of one kind
//! under one handle, as they come and go. Both are made of the public handles of `fp-core`, and know nothing of its protocol.
//!
//! | file | what it holds |
//! |---|---|
//! | `key` | what steps are joined by |
//! | `join`, `cut` | which steps belong together, and which rows: machines without clock or threads |
//! | `options` | how streams are joined |
//! | `feed`, `late`, `wait` | one stream of several; whether it is late; waiting for them all |
//! | `windows`, `window`, `publish` | the handle, what it gives, and steps that are made of it |
//! | `family` | streams of one kind |
//! | `stay` | how long a subscriber stays |
#![forbid(unsafe_code)]

mod cut;
mod error;
mod family;
mod feed;
mod join;
mod key;
mod late;
mod options;
mod publish;
mod stay;
mod wait;
mod window;
mod windows;

pub use error::{FamilyError, PublishError, TransformFailure, WindowError};
pub use family::event::{AttachError, FamilyEvent};
pub use family::options::FamilyOptions;
pub use family::{Family, FamilyNext, FamilyStep, OpenFamily};
pub use key::{Key, KeyFault, KeyOf};
pub use options::{Join, MissingPartner};
pub use publish::PublishedWindows;
pub use window::{Cut, Row, Window};
pub use windows::{NextWindow, WindowStatistics, Windows};
