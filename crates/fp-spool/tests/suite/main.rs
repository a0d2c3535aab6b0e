//! Step records and files of them, as others use them.

mod damage;
mod files;
mod format;
mod given;
