//! Deadlines of tasks.
//!
//! A binary of its own: where other streams keep the background thread awake, nobody would notice that it sleeps
//! through a deadline.
mod support;

use fp_core::NextStep;
use std::time::{Duration, Instant};
use support::Place;
use support::executor::{block_on, counted};

/// What waking up may take on a loaded machine; the background thread sleeps for 100 ms if nobody rings.
const SLACK: Duration = Duration::from_millis(40);

#[test]
fn tasks_are_woken_at_their_deadlines_and_no_oftener() {
    let place = Place::new();
    let _publisher = place.publisher();
    let mut subscriber = place.subscriber();
    let mut late = 0;
    // Some that end while the background thread sleeps longer, and one that it sleeps through several times.
    let timeouts = [3, 20, 45].into_iter().cycle().take(30).chain([250]).map(Duration::from_millis);
    for timeout in timeouts {
        let started = Instant::now();
        let (next, polls) = counted(subscriber.next_step_async(timeout));
        assert!(matches!(next, Ok(NextStep::NotYet)));
        let waited = started.elapsed();
        assert!(waited >= timeout, "{waited:?} for {timeout:?}");
        late += u32::from(waited > timeout + SLACK);
        assert!(polls <= 5, "{polls} polls in {timeout:?}");
    }
    assert!(late <= 5, "{late} of 31 were late");
    assert!(matches!(block_on(subscriber.next_step_async(Duration::ZERO)), Ok(NextStep::NotYet)));
}
