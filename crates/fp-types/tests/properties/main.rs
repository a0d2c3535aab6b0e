//! Property tests against brute force: every element of small arrays is looked at one by one.

mod arrays;
mod conversions;
mod layouts;
mod oracle;
mod plans;
mod records;
mod regions;
mod runs;
mod selections;
mod tables;
