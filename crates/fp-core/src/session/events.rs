//! Events of a stream that wait to be read.

use crate::value::event::Event;
use std::collections::VecDeque;

/// Events that wait to be read; older ones give way, counted.
const LIMIT_EVENTS: usize = 1024;

/// Events of a stream's life in order.
#[derive(Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        if self.queue.len() >= LIMIT_EVENTS {
            self.queue.pop_front();
        }
        self.queue.push_back(event);
    }

    pub(crate) fn take_one(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn take(&mut self) -> Vec<Event> {
        self.queue.drain(..).collect()
    }
}
