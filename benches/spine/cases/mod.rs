//! The cases, and the roles that their processes play.

mod attach;
mod copies;
mod crowd;
mod derived;
mod floors;
mod grid;
mod hostile;
mod latency;
mod memory;
mod socket;
mod unheard;
mod waiting;

use crate::bench::Bench;
use crate::process::Words;
use std::time::Duration;

/// A role of a process that is still there after this ends itself.
const LONGEST_ROLE: Duration = Duration::from_secs(300);

/// Measures one case.
type Case = fn(&mut Bench);
/// Plays one role.
type Play = fn(&Words);

/// All cases by name.
pub(crate) const CASES: &[(&str, Case)] = &[
    ("floors", floors::measure),
    ("loan", copies::loan),
    ("put_copy", copies::put_copy),
    ("waiting", waiting::get),
    ("view", waiting::view),
    ("grid", grid::measure),
    ("tcp", copies::tcp),
    ("derived", derived::measure),
    ("latency", latency::measure),
    ("attach", attach::measure),
    ("crowd", crowd::measure),
    ("hostile", hostile::measure),
    ("memory", memory::measure),
    ("unheard", unheard::measure),
];

/// All roles by name.
const ROLES: &[(&str, Play)] = &[
    ("publisher", copies::publisher),
    ("subscriber", copies::subscriber),
    ("ring-sender", copies::ring_sender),
    ("ring-receiver", copies::ring_receiver),
    ("socket-sender", socket::sender),
    ("socket-receiver", socket::receiver),
    ("waiting-publisher", waiting::publisher),
    ("waiting-subscriber", waiting::subscriber),
    ("waiting-filler", waiting::filler),
    ("waiting-copier", waiting::copier),
    ("grid-publisher", grid::publisher),
    ("grid-subscriber", grid::subscriber),
    ("derived-publisher", derived::publisher),
    ("derived-subscriber", derived::subscriber),
    ("futex-ping", latency::futex_ping),
    ("futex-pong", latency::futex_pong),
    ("socket-ping", socket::ping),
    ("socket-pong", socket::pong),
    ("stamp-publisher", latency::publisher),
    ("stamp-subscriber", latency::subscriber),
    ("attach-publisher", attach::publisher),
    ("attach-subscriber", attach::subscriber),
    ("crowd-publisher", crowd::publisher),
    ("crowd-subscribers", crowd::subscribers),
    ("hostile-publisher", hostile::publisher),
    ("hostile-subscriber", hostile::subscriber),
    ("hostile-peers", hostile::peers),
    ("memory-publisher", memory::publisher),
    ("memory-subscriber", memory::subscriber),
    ("unheard-publisher", unheard::publisher),
];

/// Plays a role. A child whose parent has gone, or that hangs, ends by itself.
pub(crate) fn play(role: &str, words: &Words) {
    std::thread::spawn(|| {
        std::thread::sleep(LONGEST_ROLE);
        eprintln!("a role of the bench took longer than {LONGEST_ROLE:?}");
        std::process::exit(3);
    });
    let (_, play) = ROLES.iter().find(|(name, _)| *name == role).expect("a role");
    play(words);
}
