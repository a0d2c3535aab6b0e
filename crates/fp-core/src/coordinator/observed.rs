//! What the coordinator adds when observers ask: the process, its memory, and how bytes go.

use crate::coordinator::machine::Machine as _;
use crate::coordinator::{Role, State};
use fp_proto::bounds::LIMIT_STATUS_ITEMS;
use fp_proto::status::questions::ProcessFacts;
use fp_proto::status::report::ProcessStatus;

impl<R: Role> State<R> {
    /// Hands the machine what it is to tell, before the question that is here.
    pub(crate) fn tell_process(&mut self) {
        let (mut counters, mut data_links) = self.role.observed();
        counters.retain(|(_, count)| *count > 0);
        counters.truncate(LIMIT_STATUS_ITEMS);
        data_links.truncate(LIMIT_STATUS_ITEMS);
        let process = ProcessStatus {
            pid: fp_transport::own_pid(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            resident_bytes: resident_bytes().unwrap_or(0),
            counters,
        };
        self.machine.set_process(ProcessFacts { process, links: self.links.described(), data_links });
    }
}

/// Memory that this process has, as the system counts it.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory() {
        assert!(resident_bytes().is_some_and(|bytes| bytes > 1 << 16));
    }
}
