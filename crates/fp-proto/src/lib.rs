//! What is agreed: the sans-IO machines of a stream, their messages and the codec.
//!
//! `docs/protocol.md` is the binding text. Nothing here reads a clock, draws a random number, owns a thread or a
//! socket, or sees a payload.
#![forbid(unsafe_code)]

pub mod access;
pub mod bounds;
mod claim;
pub mod codec;
mod cohort;
pub mod commands;
pub mod config;
pub mod data;
pub mod effect;
pub mod event;
pub mod few;
mod fragment;
mod let_go;
pub mod meeting;
pub mod message;
mod millis;
#[cfg(feature = "mutations")]
pub mod mutation;
pub mod outcome;
pub mod parameter;
mod passed_questions;
pub mod publisher;
pub mod request;
mod search;
pub mod status;
pub mod steering;
pub mod subscriber;
pub mod table;
pub mod time;
pub mod transition;
pub mod tree;
mod wire;
