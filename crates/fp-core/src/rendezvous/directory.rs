//! A rendezvous that is a directory: one small file for each opening of a name, `name.<epoch>`. It is there at once and
//! whole, as it gets its name after it was written. Where the file system knows no files without a name, it is written
//! aside and renamed.

use crate::error::rendezvous::RendezvousError;
use crate::rendezvous::entry::Entry;
use fp_transport::{Contact, HostId};
use fp_types::Epoch;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Bytes of an entry that are looked at.
const LIMIT_ENTRY_BYTES: u64 = 4096;

/// A directory that is there.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// This directory, which must be there: one that was made for a mistyped path would have nobody in it.
    pub(crate) fn at(path: PathBuf) -> Result<Self, RendezvousError> {
        match fs::read_dir(&path) {
            Ok(_) => Ok(Self { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(RendezvousError::Missing { path }),
            Err(source) => Err(RendezvousError::Directory { path, source }),
        }
    }

    /// One that nobody named: in the runtime directory, else in the temporary directory, for this user alone.
    pub(crate) fn unnamed() -> Result<Self, RendezvousError> {
        if let Some(runtime) = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
            return Self::made_at(Path::new(&runtime).join("flexpath"));
        }
        let uid = rustix::process::geteuid().as_raw();
        let made = Self::made_at(std::env::temp_dir().join(format!("flexpath-{uid}")))?;
        check_private(&made.path, uid)?;
        Ok(made)
    }

    /// A directory that nobody named; made, for this user alone, if it is not there.
    fn made_at(path: PathBuf) -> Result<Self, RendezvousError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(|source| RendezvousError::Directory { path: path.clone(), source })?;
        Self::at(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, name: &str, epoch: Epoch) -> PathBuf {
        self.path.join(format!("{name}.{epoch}"))
    }

    /// Writes an entry. Those of the dead are removed first, so that they do not become more and more.
    pub(crate) fn publish(&self, name: &str, epoch: Epoch, contact: &Contact) -> Result<(), RendezvousError> {
        let entries = self.entries_of(name).unwrap_or_default().into_iter();
        entries.filter(|entry| is_dead(&entry.contact)).for_each(|dead| self.withdraw(name, dead.epoch));
        let path = self.file(name, epoch);
        let aside = self.path.join(format!(".{name}.{epoch}.{}", std::process::id()));
        if write_whole(&self.path, &path, contact).is_ok() {
            return Ok(());
        }
        write_aside(&aside, &path, contact).map_err(|source| {
            // What was written of it is of no use to anybody.
            let _ = fs::remove_file(&aside);
            RendezvousError::Write { path, source }
        })
    }

    pub(crate) fn withdraw(&self, name: &str, epoch: Epoch) {
        // It is as well if somebody removed it already.
        let _ = fs::remove_file(self.file(name, epoch));
    }

    /// Every readable entry, by name and epoch. A file that is no entry is passed over.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, RendezvousError> {
        self.entries_where(|_| true)
    }

    /// The same of one name. Files of other names are not opened.
    pub(crate) fn entries_of(&self, name: &str) -> Result<Vec<Entry>, RendezvousError> {
        self.entries_where(|found| found == name)
    }

    fn entries_where(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<Entry>, RendezvousError> {
        let files = fs::read_dir(&self.path);
        let files = files.map_err(|source| RendezvousError::Directory { path: self.path.clone(), source })?;
        let read = |file: fs::DirEntry| read_entry(&file.path(), &wanted);
        let mut entries: Vec<Entry> = files.flatten().filter_map(read).collect();
        entries.sort_by(|a, b| (&a.name, a.epoch).cmp(&(&b.name, b.epoch)));
        Ok(entries)
    }
}

fn check_private(path: &Path, uid: u32) -> Result<(), RendezvousError> {
    let metadata = fs::symlink_metadata(path);
    let metadata = metadata.map_err(|source| RendezvousError::Directory { path: path.to_owned(), source })?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if owner != uid || mode & 0o077 != 0 || !metadata.is_dir() {
        return Err(RendezvousError::Foreign { path: path.to_owned(), owner, mode });
    }
    Ok(())
}

/// Whether nobody will ever answer there: no socket of this host has the random name that its listener had. Of other
/// hosts nothing is known.
fn is_dead(contact: &Contact) -> bool {
    let name = contact.unix_name().filter(|_| contact.host.matches(HostId::own()));
    let refuses = |name: &str| {
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
        // Who is there and too busy to accept has not refused.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &address)
    };
    name.is_some_and(|name| refuses(name) == Err(Errno::CONNREFUSED))
}

/// Writes a file without a name, and gives it one: whoever is killed in between leaves nothing.
fn write_whole(folder: &Path, path: &Path, contact: &Contact) -> io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = fs::File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666))?);
    writeln!(file, "{contact}")?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn write_aside(aside: &Path, path: &Path, contact: &Contact) -> io::Result<()> {
    let mut file = fs::File::create(aside)?;
    writeln!(file, "{contact}")?;
    drop(file);
    fs::rename(aside, path)
}

fn read_entry(path: &Path, wanted: impl Fn(&str) -> bool) -> Option<Entry> {
    let file = path.file_name()?.to_str()?;
    let (name, epoch) = file.rsplit_once('.')?;
    if name.is_empty() || name.starts_with('.') || !wanted(name) {
        return None;
    }
    // Without a question for its length or its end, which each search would pay: an entry is one line.
    let mut text = String::new();
    let file = BufReader::with_capacity(512, fs::File::open(path).ok()?);
    let read = file.take(LIMIT_ENTRY_BYTES + 1).read_line(&mut text).ok()?;
    if read as u64 > LIMIT_ENTRY_BYTES {
        return None;
    }
    let contact = text.trim_end().parse().ok()?;
    Some(Entry { name: name.to_owned(), epoch: epoch.parse().ok()?, contact })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};

    fn directory(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("flexpath-directory-{test}-{}", std::process::id()));
        Directory::made_at(path).expect("a directory")
    }

    /// Somebody of that host who listens, or once did, under that name.
    fn contact(host: HostId, name: &str) -> Contact {
        let text = format!("flexpath:1,process={:032x},host={host},pid=7,token=no,unix={name}", 9);
        text.parse().expect("a contact")
    }

    fn epochs(directory: &Directory) -> Vec<u128> {
        directory.entries().expect("it can be read").iter().map(|entry| entry.epoch.0).collect()
    }

    /// Entries of the dead go when somebody opens their name. Those of the living stay, and of other hosts and names.
    #[test]
    fn entries_of_the_dead_are_removed_by_who_takes_their_name() {
        let directory = directory("dead");
        let name = |who: &str| format!("flexpath-{who}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name("living")).expect("an address");
        let living = UnixListener::bind_addr(&address).expect("it listens");
        let put =
            |stream, epoch, contact| directory.publish(stream, Epoch(epoch), &contact).expect("written");
        put("heat", 1, contact(HostId::own(), &name("dead")));
        put("cold", 2, contact(HostId::own(), &name("dead")));
        put("heat", 3, contact(HostId(5), &name("dead")));
        assert_eq!(epochs(&directory), [2, 3], "of one name and this host");
        put("heat", 4, contact(HostId::own(), &name("living")));
        put("heat", 5, contact(HostId::own(), &name("new")));
        assert_eq!(epochs(&directory), [2, 3, 4, 5]);
        drop(living);
        put("heat", 6, contact(HostId::own(), &name("newer")));
        assert_eq!(epochs(&directory), [2, 3, 6]);
        fs::remove_dir_all(directory.path()).expect("ours");
    }

    #[test]
    fn an_entry_is_written_whole_either_way() {
        let directory = directory("whole");
        let (of, path) = (contact(HostId(5), "name"), directory.file("heat", Epoch(1)));
        let found = || directory.entries().expect("it can be read").pop().map(|entry| entry.contact);
        write_whole(directory.path(), &path, &of).expect("written");
        assert_eq!(found(), Some(of.clone()));
        directory.withdraw("heat", Epoch(1));
        write_aside(&directory.path().join(".aside"), &path, &of).expect("written");
        assert_eq!((found(), fs::read_dir(directory.path()).expect("ours").count()), (Some(of), 1));
        fs::remove_dir_all(directory.path()).expect("ours");
    }
}
