//! What is told of the data links of an owner.

use crate::data::link_status::link_status;
use crate::data::owner::block_store::BlockStore;
use fp_proto::status::report::LinkStatus;
use fp_transport::PeerIdentity;

impl BlockStore {
    /// How bytes go over each data link, and why no faster.
    pub(crate) fn link_statuses(&self) -> Vec<LinkStatus> {
        self.lock().links.values().map(|served| link_status(&served.link)).collect()
    }

    /// What subscribers are linked over, and why nothing better: for the status.
    pub(crate) fn transports(&self) -> Vec<(PeerIdentity, String)> {
        self.lock()
            .links
            .values()
            .map(|served| (*served.link.peer(), served.link.negotiated().to_string()))
            .collect()
    }
}
