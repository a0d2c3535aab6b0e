//! Windows and families over real streams, all in one binary: linking one for each file would be most of a rebuild.

mod families;
mod faults;
mod lateness;
mod member_faults;
mod support;
mod tasks;
mod transforms;
mod windows;
