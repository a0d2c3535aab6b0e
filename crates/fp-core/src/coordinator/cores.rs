//! Whether threads wait for a core. Where none does, a caller may look for an answer instead of being woken for it, and takes
//! nobody's time.

use rustix::thread::sched_getaffinity;
use std::fs::File;
use std::io::Read as _;

/// Whether no more threads run on this machine, the caller's included, than there are cores that the caller may use. `false`
/// where the system does not say.
pub(super) fn cores_suffice() -> bool {
    let mut text = [0; 64];
    let read = File::open("/proc/loadavg").and_then(|mut file| file.read(&mut text));
    let cores = sched_getaffinity(None).map_or(0, |cores| cores.count());
    read.ok().and_then(|len| running(text.get(..len)?)).is_some_and(|running| running <= cores)
}

/// From `0.85 1.79 2.08 1/153 4711`: how many run, of how many there are.
fn running(load: &[u8]) -> Option<u32> {
    std::str::from_utf8(load).ok()?.split(' ').nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_how_many_threads_run() {
        assert_eq!(running(b"0.85 1.79 2.08 3/153 4711\n"), Some(3));
        assert_eq!(running(b"0.85 1.79"), None);
        let load = std::fs::read("/proc/loadavg").expect("Linux");
        assert!(running(&load).is_some_and(|running| running > 0), "at least this one");
    }
}
