//! A data link as observers are told of it.

use fp_proto::status::report::{LinkStatus, LinkWith};
use fp_transport::Link;

/// How bytes go over a data link, and why no faster.
pub(crate) fn link_status(link: &Link) -> LinkStatus {
    let (transport, reason) = link.negotiated().told();
    LinkStatus { with: LinkWith::Data, unheard_ms: None, transport, reason }
}
