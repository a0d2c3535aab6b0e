//! What happens on a stream, as values that can be waited for.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::c_text::keep;
use crate::failure::{Status, guard};
use crate::publisher::{self, PublisherHandle, with_core};
use crate::raw::{check_place, give, wait};
use crate::subscriber::{self, SubscriberHandle};
use fp_core::{Event, EventQueue, Rank, StepId};
use std::ffi::c_char;

/// What happened.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventCode {
    /// something that has no number of its own: see the text
    Other = 0,
    /// the stream is open (publisher) or attached (subscriber)
    Opened = 1,
    /// publisher: a subscription starts at `step`
    SubscriptionStarted = 2,
    /// publisher's lead: a subscriber cohort joined a subscription
    MemberJoined = 3,
    /// publisher's lead: a subscriber cohort left, was lost or expelled
    MemberLeft = 4,
    /// publisher: a subscription is over
    SubscriptionEnded = 5,
    /// publisher's lead: a subscription does not get `step`
    StepDropped = 6,
    /// publisher's lead: nobody gets `step`: a rank abandoned it, or the ranks disagree
    StepRejected = 7,
    /// publisher: `step` waits for `rank`
    RankLagging = 8,
    /// `rank` of the own cohort is lost: the handle is of no more use but to close it
    RankLost = 9,
    /// subscriber: other variables come, or others make them, from `step` on
    Reselected = 10,
    /// subscriber: the publisher is lost, and a new epoch is awaited
    AwaitingRestart = 11,
    /// subscriber: a new epoch was found; its first step is `step`
    Restarted = 12,
    /// subscriber: the stream is over; steps assigned before can still be read
    Ended = 13,
    /// the handle was closed
    Closed = 14,
    /// publisher: the access list refused what a peer asked for; the text names the rule and the peer
    Denied = 15,
}

/// An event of a stream's life.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EventStruct {
    /// one of `flexpath_event_kind`
    pub kind: i32,
    /// the rank it is about; `UINT32_MAX` where it is about none
    pub rank: u32,
    /// the step it is about; `UINT64_MAX` where it is about none
    pub step: u64,
    /// all of it in words; valid until the next call on this thread that gives a text
    pub text: *const c_char,
}

/// Kind, step and rank of an event.
fn facts(event: &Event) -> (EventCode, Option<StepId>, Option<Rank>) {
    match event {
        Event::Opened { .. } => (EventCode::Opened, None, None),
        Event::SubscriptionStarted { first, .. } => (EventCode::SubscriptionStarted, Some(*first), None),
        Event::MemberJoined { .. } => (EventCode::MemberJoined, None, None),
        Event::MemberLeft { .. } => (EventCode::MemberLeft, None, None),
        Event::SubscriptionEnded { .. } => (EventCode::SubscriptionEnded, None, None),
        Event::Denied(_) => (EventCode::Denied, None, None),
        Event::StepDropped { step, .. } => (EventCode::StepDropped, Some(*step), None),
        Event::StepRejected { step, .. } => (EventCode::StepRejected, Some(*step), None),
        Event::RankLagging { step, rank } => (EventCode::RankLagging, Some(*step), Some(*rank)),
        Event::RankLost { rank, .. } => (EventCode::RankLost, None, Some(*rank)),
        Event::Reselected { first } => (EventCode::Reselected, Some(*first), None),
        Event::AwaitingRestart { .. } => (EventCode::AwaitingRestart, None, None),
        Event::Restarted { first, .. } => (EventCode::Restarted, Some(*first), None),
        Event::Ended(ending) => (EventCode::Ended, ending.last, None),
        Event::Closed(_) => (EventCode::Closed, None, None),
        Event::OpenFailed { .. } | _ => (EventCode::Other, None, None),
    }
}

fn next(
    queue: &EventQueue,
    timeout_ms: u64,
    place: *mut EventStruct,
) -> Result<Status, crate::failure::Failure> {
    let Some(event) = queue.next(wait(timeout_ms)) else { return Ok(Status::NotYet) };
    let (kind, step, rank) = facts(&event);
    let told = EventStruct {
        kind: kind as i32,
        rank: rank.map_or(u32::MAX, |rank| rank.0),
        step: step.map_or(u64::MAX, |step| step.0),
        text: keep(&event.to_string()),
    };
    give(place, told, "event")
}

/// Waits at most `timeout_ms` milliseconds (0: only looks) for something to happen on the stream and writes it to
/// `event`. Returns `FLEXPATH_STATUS_NOT_YET` where nothing did. Every event is told once, in order. The last 1024
/// events that nobody takes are kept. Any thread, and holds up no other call on the publisher.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_next_event(
    publisher: *mut PublisherHandle,
    timeout_ms: u64,
    event: *mut EventStruct,
) -> Status {
    guard(|| {
        check_place(event, "event")?;
        next(&publisher::events(publisher)?, timeout_ms, event)
    })
}

/// As `flexpath_publisher_next_event`, of a subscriber. Any thread, and holds up no other call on the subscriber.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_next_event(
    subscriber: *mut SubscriberHandle,
    timeout_ms: u64,
    event: *mut EventStruct,
) -> Status {
    guard(|| {
        check_place(event, "event")?;
        next(&subscriber::events(subscriber)?, timeout_ms, event)
    })
}

/// As `flexpath_subscriber_step_descriptor`, of a publisher's events: readable as long as
/// `flexpath_publisher_next_event` has one. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_event_descriptor(
    publisher: *mut PublisherHandle,
    descriptor: *mut i32,
) -> Status {
    guard(|| {
        check_place(descriptor, "descriptor")?;
        give(descriptor, publisher::event_descriptor(publisher)?, "descriptor")
    })
}

/// As `flexpath_publisher_event_descriptor`, of a subscriber. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_event_descriptor(
    subscriber: *mut SubscriberHandle,
    descriptor: *mut i32,
) -> Status {
    guard(|| {
        check_place(descriptor, "descriptor")?;
        give(descriptor, subscriber::event_descriptor(subscriber)?, "descriptor")
    })
}

/// Waits at most `timeout_ms` milliseconds until there are `count` subscriptions, and writes how many there are to
/// `present` unless that is null. Returns `FLEXPATH_STATUS_NOT_YET` where there are fewer. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_wait_for_subscribers(
    publisher: *mut PublisherHandle,
    count: u32,
    timeout_ms: u64,
    present: *mut u32,
) -> Status {
    guard(|| {
        let found = with_core(publisher, |core, _| Ok(core.wait_for_subscriptions(count, wait(timeout_ms))))?;
        if !present.is_null() {
            give(present, found, "present")?;
        }
        Ok(if found >= count { Status::Ok } else { Status::NotYet })
    })
}
