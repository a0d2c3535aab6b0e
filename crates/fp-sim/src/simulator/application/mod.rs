//! What applications want of their machines. What they do with them is in `world`.

pub(crate) mod held_step;
pub(crate) mod publisher;
pub(crate) mod subscriber;

use crate::simulator::application::publisher::PublisherApp;
use crate::simulator::application::subscriber::SubscriberApp;

/// What an application does with its machine.
pub(crate) enum App {
    Publisher(PublisherApp),
    Subscriber(SubscriberApp),
    None,
}
