//! An entry of the rendezvous, as a program sees it.

use fp_transport::Contact;
use fp_types::Epoch;

/// An entry of the rendezvous, as written; nobody was asked whether it is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the stream, or of a subscriber cohort.
    pub name: String,
    /// The epoch of that opening.
    pub epoch: Epoch,
    /// Where its lead is.
    pub contact: Contact,
}
