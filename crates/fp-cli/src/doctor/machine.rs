//! What of a machine makes users fail: limits, the rendezvous, shared memory, loopback, TLS.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use fp_core::TlsOptions;
use fp_core::diagnosis::{ProbeError, seals_supported};
use fp_core::rendezvous::{DIRECTORY_VARIABLE, Entry, Rendezvous, RendezvousError};
use rustix::process::{Resource, geteuid, getrlimit};

use super::advice;
use super::rdma::Rdma;
use super::report::{Finding, State};
use crate::entries::stale;

/// Descriptors that a subscriber with a few hundred owners needs: a data link each, and a segment for each of those.
const WANTED_DESCRIPTORS: u64 = 1024;
/// What a publisher's pool may take unless it is told otherwise, and RDMA locks.
const POOL_BYTES: u64 = 2 << 30;
/// Less memory than this is too little for any stream worth the name.
const WANTED_MEMORY_BYTES: u64 = 256 << 20;
/// How long the own machine may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks at everything.
pub(super) fn examine(
    rendezvous: Result<Rendezvous, RendezvousError>,
    given: Option<&TlsOptions>,
) -> Vec<Finding> {
    let rdma = Rdma::look();
    let listed = rendezvous.and_then(|rendezvous| Ok((rendezvous.list()?, rendezvous)));
    let mut found = match listed {
        Ok((entries, rendezvous)) => vec![reached(&rendezvous), left_behind(entries, &rendezvous)],
        Err(error) => {
            let advice = format!(
                "name a directory of your own, or a meeting place: {DIRECTORY_VARIABLE}, or --rendezvous"
            );
            vec![Finding::bad("rendezvous", State::Failure, error.to_string(), advice)]
        }
    };
    found.extend([loopback(), seals(), memory(), descriptors(), memlock(&rdma), tls(given), devices(&rdma)]);
    found
}

/// The rendezvous, whose entries could be listed.
fn reached(rendezvous: &Rendezvous) -> Finding {
    match rendezvous.directory() {
        Some(path) => directory(path),
        None => Finding::ok("rendezvous", format!("{rendezvous}: a meeting place, which answers")),
    }
}

/// Whether entries can be made, and whether others could make some.
fn directory(path: &Path) -> Finding {
    let name = "rendezvous";
    if let Err(error) = try_to_write(path) {
        let advice = "every rank must be able to make files there";
        return Finding::bad(name, State::Failure, format!("{}: {error}", path.display()), advice);
    }
    let Ok(metadata) = fs::metadata(path) else {
        return Finding::bad(name, State::Failure, format!("{} has gone", path.display()), "make it again");
    };
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if owner != geteuid().as_raw() || mode & 0o022 != 0 {
        let found =
            format!("{} belongs to user {owner} with mode {mode:o}: others can write there", path.display());
        let advice =
            "if they should not: chmod 700, or a directory of your own. (An entry alone is never believed)";
        return Finding::bad(name, State::Warning, found, advice);
    }
    let private = if mode & 0o077 == 0 { "private" } else { "others can read it" };
    Finding::ok(name, format!("{}: writable, {private}", path.display()))
}

/// Makes a file that no lookup takes for an entry, and removes it.
fn try_to_write(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".doctor.{}", std::process::id()));
    fs::File::create(&path)?;
    fs::remove_file(&path)
}

/// Entries of processes that are gone.
fn left_behind(entries: Vec<Entry>, rendezvous: &Rendezvous) -> Finding {
    let name = "entries";
    let (stale, count) = stale(entries);
    match stale.as_slice() {
        [] => Finding::ok(name, format!("{count}, all alive")),
        [first, ..] => {
            let found = format!("nobody answers behind {} of {count}, such as {first}", stale.len());
            let advice = format!(
                "harmless, but each costs newcomers a look; remove what `flexpath ls --all` marks from {rendezvous}"
            );
            Finding::bad(name, State::Warning, found, advice)
        }
    }
}

/// Whether bytes go over loopback.
fn loopback() -> Finding {
    match bytes_over_loopback() {
        Ok(()) => Finding::ok("loopback", "127.0.0.1 answers"),
        Err(error) => Finding::bad(
            "loopback",
            State::Failure,
            format!("127.0.0.1: {error}"),
            "bring it up (ip link set lo up), and let no firewall rule drop what is on it",
        ),
    }
}

fn bytes_over_loopback() -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut near = TcpStream::connect_timeout(&listener.local_addr()?, PATIENCE)?;
    let (mut far, _) = listener.accept()?;
    far.set_read_timeout(Some(PATIENCE))?;
    near.write_all(b"doctor")?;
    let mut heard = [0; 6];
    far.read_exact(&mut heard)?;
    if heard == *b"doctor" { Ok(()) } else { Err(std::io::Error::other("other bytes came")) }
}

/// Whether the kernel can seal what is shared.
fn seals() -> Finding {
    if seals_supported() {
        return Finding::ok("kernel", "memfd with F_SEAL_FUTURE_WRITE: memory can be shared safely");
    }
    Finding::bad(
        "kernel",
        State::Warning,
        "no memfd with F_SEAL_FUTURE_WRITE: no shm",
        "Linux 5.1 or newer; in a sandbox (gVisor, old seccomp) allow memfd_create. Until then tcp is used",
    )
}

/// Memory that segments can be made of.
fn memory() -> Finding {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: u64 = line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0);
    let shm = rustix::fs::statvfs("/dev/shm").map(|room| room.f_bavail * room.f_frsize);
    let shm = shm.map_or("there is no /dev/shm".to_owned(), |bytes| format!("/dev/shm has {}", size(bytes)));
    let found = format!("{} available; {shm} (MPI libraries use that, Flexpath does not)", size(kib * 1024));
    if kib * 1024 < WANTED_MEMORY_BYTES {
        let advice = "free some: blocks are kept in memory until they are released";
        return Finding::bad("memory", State::Warning, found, advice);
    }
    Finding::ok("memory", found)
}

/// The limit of open files.
fn descriptors() -> Finding {
    let limit = getrlimit(Resource::Nofile);
    match (limit.current, limit.maximum) {
        (Some(current), maximum) if current < WANTED_DESCRIPTORS => Finding::bad(
            "descriptors",
            State::Warning,
            format!("{current} at most: too few for cohorts of a few hundred ranks"),
            format!("ulimit -n {}", maximum.unwrap_or(65536).min(65536)),
        ),
        (current, _) => Finding::ok("descriptors", amount(current, |limit| format!("{limit} at most"))),
    }
}

/// The limit of locked memory, which only RDMA asks for.
fn memlock(rdma: &Rdma) -> Finding {
    let current = getrlimit(Resource::Memlock).current;
    let found = amount(current, |bytes| format!("{} at most", size(bytes)));
    if rdma.devices.is_empty() {
        return Finding::ok(
            "memlock",
            format!("{found}; only RDMA locks memory, and there is no device for it"),
        );
    }
    if geteuid().is_root() {
        return Finding::ok("memlock", format!("{found}; root is exempt from it"));
    }
    match current {
        Some(bytes) if bytes < POOL_BYTES => Finding::bad(
            "memlock",
            State::Warning,
            format!(
                "{found}: RDMA locks what it sends, up to {} for a publisher with default options",
                size(POOL_BYTES)
            ),
            "ulimit -l unlimited; for good: `* - memlock unlimited` in /etc/security/limits.conf, or \
             LimitMEMLOCK=infinity for services (slurmd)",
        ),
        _ => Finding::ok("memlock", found),
    }
}

/// Whether what the options, or else the environment, say of TLS can be used.
fn tls(given: Option<&TlsOptions>) -> Finding {
    match tls_of(given) {
        Ok(None) => {
            Finding::ok("tls", "not configured by options or environment: tcp off loopback needs a token")
        }
        Ok(Some(options)) => Finding::ok(
            "tls",
            format!("{} can be used, name {:?}", options.certificate.display(), options.name),
        ),
        Err(error) => Finding::bad("tls", State::Failure, error.to_string(), advice::of(&error)),
    }
}

/// What the options, or else the environment, say of TLS, if they do; the error says what is wrong with it.
fn tls_of(given: Option<&TlsOptions>) -> Result<Option<TlsOptions>, ProbeError> {
    let options = match given {
        Some(given) => Some(given.clone()),
        None => TlsOptions::from_environment()?,
    };
    if let Some(options) = &options {
        options.load()?;
    }
    Ok(options)
}

/// What there is of RDMA.
fn devices(rdma: &Rdma) -> Finding {
    match rdma.obstacle() {
        None => Finding::ok("rdma", rdma.text()),
        // Most machines have none, and miss nothing.
        Some((found, _)) if rdma.devices.is_empty() => Finding::ok("rdma", found),
        Some((found, advice)) => Finding::bad("rdma", State::Warning, found, advice),
    }
}

/// A limit, for people.
fn amount(limit: Option<u64>, finite: impl Fn(u64) -> String) -> String {
    limit.map_or_else(|| "no limit".to_owned(), finite)
}

/// Bytes, for people.
fn size(bytes: u64) -> String {
    match bytes {
        large if large >= 1 << 30 => format!("{:.1} GiB", large as f64 / (1u64 << 30) as f64),
        middling if middling >= 1 << 20 => format!("{} MiB", middling >> 20),
        small => format!("{} KiB", small >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([size(8 << 20), size(64 << 10), size(3 << 29)], ["8 MiB", "64 KiB", "1.5 GiB"]);
        assert_eq!(amount(None, size), "no limit");
    }

    #[test]
    fn a_directory_that_is_open_to_all_is_a_warning() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let rendezvous = Rendezvous::at(folder.path()).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(reached(&rendezvous).state, State::Ok);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let open = reached(&rendezvous);
        assert!(open.state == State::Warning && open.found.contains("777"), "{open:?}");
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left there");
    }
}
