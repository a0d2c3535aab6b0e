//! Property tests against brute force: every element of small arrays is looked at one by one.

mod arrays;
mod layouts;
mod oracle;
mod plans;
mod regions;
mod runs;
mod selections;
mod tables;
