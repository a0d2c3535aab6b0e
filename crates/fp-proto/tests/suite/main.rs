//! Tests of the machines by hand, and of the bytes of their messages.

mod conditions;
mod contacts;
mod crowds;
mod endings;
mod gathered;
mod insiders;
mod losses;
mod machines;
mod measured;
mod meeting;
mod middle_rank;
mod newcomers;
mod refused;
mod returning;
mod status;
mod steering;
mod turns;
mod wire;
