//! Tests of the simulator.

mod simulation;
