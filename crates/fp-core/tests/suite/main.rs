//! Streams as their users have them, all in one binary: linking one for each file would be most of a rebuild.
//!
//! A test that needs the process for itself is a binary beside this one, which says why.

#[path = "../../../fp-transport/tests/support/certificates.rs"]
mod certificates;
#[path = "../support/mod.rs"]
mod support;

mod access;
mod access_file;
mod aggregated;
mod asked;
mod away;
mod boxes;
mod broken;
mod bytes;
mod called;
mod collectives;
mod conditions;
mod connections;
mod copies;
mod derive_budget;
mod derived;
mod derived_rows;
mod dials;
mod environment;
mod guests;
mod hits;
mod interrupts;
mod kinds;
mod large;
mod leave;
mod liars;
mod meeting;
mod misuse;
mod moved;
mod numbers;
mod offered;
mod openings;
mod orders;
mod origins;
mod other_conditions;
mod placement;
mod policies;
mod process;
mod records;
mod refused_places;
mod refused_requests;
mod returning;
mod sent;
mod sharing;
mod signals;
mod smoke;
mod steering;
mod stored;
mod sync;
mod tasks;
mod texts;
mod through;
mod tls;
mod type_search;
mod waits;
mod wanted;
mod watch_bounds;
mod watch_edges;
mod watch_nan;
mod watch_regions;
mod watch_restarts;
mod watched_calls;
mod watched_fields;
mod watches;
