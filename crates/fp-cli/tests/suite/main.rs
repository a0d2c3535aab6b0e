//! The command as its users have it: processes of their own, so that all tests can share this one.

mod bench;
mod cli;
mod doctor;
mod support;
mod types;
