//! How much memory this process can still take. The machine bounds it, the control group that it lives in, and its own
//! limit of address space.
//!
//! `fallocate` on a memfd has no limit of its own. If it is asked for more than there is, it does not fail. It drives
//! the machine out of memory, and the kernel kills whom it likes. So a new segment is compared with this first. Others
//! may take memory between the look and the taking; the margin is for them.

use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Left free for everybody else.
const MARGIN_BYTES: u64 = 32 << 20;

/// What the older version of control groups says where there is no limit, or more.
const NO_LIMIT: u64 = 1 << 62;

/// The system gives its texts a page at a time, and what is looked for stands in the first one.
const PAGE_BYTES: usize = 4096;

/// The beginning of a text of the system's.
fn text_of(path: impl AsRef<Path>) -> Option<String> {
    let mut text = [0; PAGE_BYTES];
    let len = File::open(path).and_then(|mut file| file.read(&mut text)).ok()?;
    Some(String::from_utf8_lossy(&text[..len]).into_owned())
}

/// Bytes that this process may still take, or `None` where the system does not say. It reads a few files of the system,
/// which takes some tens of microseconds, and more where control groups have limits.
pub fn available_bytes() -> Option<u64> {
    let machine = text_of("/proc/meminfo").and_then(|text| available_of_machine(&text));
    let groups = text_of("/proc/self/cgroup").unwrap_or_default();
    let of_groups = groups.lines().filter_map(group_of).filter_map(|group| group.available_bytes());
    of_groups.chain(machine).chain(address_space()).min().map(|bytes| bytes.saturating_sub(MARGIN_BYTES))
}

/// What `RLIMIT_AS` leaves, if there is such a limit.
fn address_space() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let pages: u64 = text_of("/proc/self/statm")?.split_ascii_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages * page_size() as u64))
}

fn available_of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// A control group of either version, with the names of its files.
struct Group {
    root: PathBuf,
    path: String,
    limit: &'static str,
    usage: &'static str,
    /// Cache that the kernel drops when the group needs room.
    droppable: &'static str,
}

/// From a line of `/proc/self/cgroup`: `0::/path`, or `4:memory:/path` of the older version.
fn group_of(line: &str) -> Option<Group> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?.to_string());
    let (root, limit, usage, droppable) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "),
        list if list.split(',').any(|controller| controller == "memory") => (
            "/sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file ",
        ),
        _ => return None,
    };
    Some(Group { root: root.into(), path, limit, usage, droppable })
}

impl Group {
    /// The least of this group and those above it.
    fn available_bytes(&self) -> Option<u64> {
        let leaf = self.root.join(self.path.trim_start_matches('/'));
        let all = leaf.ancestors().take_while(|folder| folder.starts_with(&self.root));
        all.filter_map(|folder| self.available_in(folder)).min()
    }

    fn available_in(&self, folder: &Path) -> Option<u64> {
        let number = |name: &str| text_of(folder.join(name))?.trim().parse::<u64>().ok();
        let limit = number(self.limit).filter(|limit| *limit < NO_LIMIT)?;
        let usage = number(self.usage)?;
        let stat = text_of(folder.join("memory.stat")).unwrap_or_default();
        let droppable = stat.lines().find_map(|line| line.strip_prefix(self.droppable)?.parse().ok());
        Some(limit.saturating_sub(usage.saturating_sub(droppable.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_how_much_it_has() {
        let text = "MemTotal:       24576 kB\nMemAvailable:     2048 kB\nBuffers: 1 kB\n";
        assert_eq!(available_of_machine(text), Some(2 << 20));
        assert_eq!(available_of_machine("MemTotal: 1 kB"), None);
        assert!(available_bytes().is_some_and(|bytes| bytes < 1 << 50));
    }

    #[test]
    fn groups_of_both_versions_are_read() {
        let folder = std::env::temp_dir().join(format!("flexpath-group-{}", std::process::id()));
        let leaf = folder.join("job/step");
        std::fs::create_dir_all(&leaf).expect("a folder");
        let write =
            |folder: &Path, name: &str, text: &str| std::fs::write(folder.join(name), text).expect("room");
        write(&leaf, "memory.max", "max\n");
        write(&leaf, "memory.current", "10\n");
        write(&folder.join("job"), "memory.max", "1000\n");
        write(&folder.join("job"), "memory.current", "700\n");
        write(&folder.join("job"), "memory.stat", "anon 1\ninactive_file 50\n");
        let group = Group { root: folder.clone(), ..group_of("0::/job/step").expect("a group") };
        assert_eq!(group.available_bytes(), Some(350), "the group above has the limit");
        std::fs::remove_dir_all(folder).expect("ours");
        assert!(group_of("8:pids:/").is_none() && group_of("nonsense").is_none());
        assert_eq!(group_of("4:cpu,memory:/a").map(|group| group.limit), Some("memory.limit_in_bytes"));
    }
}
