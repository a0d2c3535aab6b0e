//! What a stager has on disk: a file for each step and rank, under the stream and its epoch. It is removed when nobody
//! needs the step any more; so what a killed stager leaves is what somebody may still need.
//!
//! `DIR/STREAM/EPOCH/STEP.RANK-of-RANKS.fpsr`

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use fp_core::{Epoch, StepId, StoredBytes};
use fp_spool::{Damage, OpenRecord, Spool, SpoolError, StepHead, StoredBlock, StoredStep};

use crate::failure::Failure;

/// What ends the names of its files.
const SUFFIX: &str = "fpsr";

/// What ends the names of those that are put aside.
const DAMAGED: &str = "damaged";

/// What says how many subscribe.
const SUBSCRIBERS: &str = "subscribers";

/// Steps of one opening of a stream.
pub(crate) struct Shelf {
    folder: PathBuf,
    ranks: u32,
    is_durable: bool,
    /// Whether files stay, whoever lets go of them.
    stays: Arc<AtomicBool>,
    _lock: Arc<File>,
}

/// What a stager has to itself: all that is on disk of a stream.
pub(crate) struct StreamFolder {
    folder: PathBuf,
    stream: String,
    is_durable: bool,
    /// Held as long as this is, and what is made of it.
    lock: Arc<File>,
}

/// A file of a step. Its drop removes it.
struct StepFile {
    path: PathBuf,
    stays: Arc<AtomicBool>,
    /// Whether it stays on disk, to be read later.
    is_left: AtomicBool,
    /// Whether it was said that it cannot be read.
    is_told: AtomicBool,
}

impl StepFile {
    /// Says once that something of it cannot be read. Whoever asked is refused that block.
    fn tell(&self, error: &io::Error) {
        if !self.is_told.swap(true, Ordering::Relaxed) {
            eprintln!("flexpath: {}: {error}; who asks for it is told that it is lost", self.path.display());
        }
    }
}

impl Drop for StepFile {
    fn drop(&mut self) {
        if !self.stays.load(Ordering::Relaxed)
            && !self.is_left.load(Ordering::Relaxed)
            && let Err(error) = fs::remove_file(&self.path)
        {
            eprintln!("flexpath: {}: it cannot be removed: {error}", self.path.display());
        }
    }
}

/// A block in such a file.
struct ShelvedBlock {
    file: Arc<StepFile>,
    block: StoredBlock,
}

impl StoredBytes for ShelvedBlock {
    fn len_bytes(&self) -> u64 {
        self.block.len_bytes()
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let path = &self.file.path;
        let read = |file| self.block.read(&file).map_err(io::Error::other);
        let bytes = File::open(path).and_then(read);
        bytes
            .inspect_err(|error| self.file.tell(error))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }
}

/// A step on the shelf, of one rank.
pub(crate) struct ShelvedStep {
    pub(crate) head: StepHead,
    /// Its blocks, in the order in which they were put.
    pub(crate) blocks: Vec<StoredBlock>,
    file: Arc<StepFile>,
}

impl ShelvedStep {
    /// What reads a block when somebody asks for it.
    pub(crate) fn stored(&self, block: &StoredBlock) -> Arc<dyn StoredBytes> {
        Arc::new(ShelvedBlock { file: self.file.clone(), block: block.clone() })
    }

    /// Whether it has records with lists or texts, which are in memory as they are published.
    pub(crate) fn has_texts(&self) -> bool {
        self.blocks.iter().any(|block| {
            let of = self.head.variables.get(block.head.variable as usize);
            of.is_some_and(|of| {
                of.def.record.is_some() && block.head.region.ndims() > 0 && of.def.parts().is_some()
            })
        })
    }

    /// Leaves it on the shelf, to be read when its time has come.
    pub(crate) fn leave(self) {
        self.file.is_left.store(true, Ordering::Relaxed);
    }

    /// What has to be kept as long as somebody needs the step.
    pub(crate) fn hold(&self) -> impl Send + Sync + 'static {
        self.file.clone()
    }
}

/// Which damaged steps were told of: what is on disk is looked at more than once.
#[derive(Default)]
pub(crate) struct ToldDamage(Mutex<BTreeSet<PathBuf>>);

impl ToldDamage {
    /// Tells of a step of which one file is damaged, once.
    fn tell(&self, step: StepId, damage: &str, files: &[PathBuf]) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.iter().filter(|path| told.insert(path.to_path_buf())).count() > 0 {
            eprintln!("flexpath: {damage}; step {step} is left out");
        }
    }

    /// Tells of steps that end in the midst.
    fn tell_cut(stream: &str, steps: &BTreeSet<StepId>) {
        if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
            let which =
                if first == last { format!("step {first}") } else { format!("steps {first} to {last}") };
            eprintln!(
                "flexpath: stream {stream:?}, {which}: not written to the end by all ranks, as a kill or a power failure leaves \
                 it; it is removed, and taken again if the publisher still has it"
            );
        }
    }
}

/// What a stager left of one opening of a stream.
pub(crate) struct Kept {
    pub(crate) stream: String,
    pub(crate) epoch: Epoch,
    /// As many ranks as had staged it.
    pub(crate) ranks: u32,
    /// The steps that all ranks have.
    pub(crate) steps: BTreeSet<StepId>,
    /// When the last of them was written.
    written: SystemTime,
    /// Files of steps that not all ranks have, as a kill leaves them.
    cut: Vec<PathBuf>,
    /// Those of them behind all whole steps: they were being written.
    unfinished: BTreeSet<StepId>,
    /// Files of steps of which one is not as it was written.
    damaged: Vec<PathBuf>,
}

fn failed(path: &Path, what: &str) -> impl FnOnce(io::Error) -> Failure {
    let text = format!("{}: {what}", path.display());
    move |error| Failure::Shelf { what: text, source: error }
}

/// What is there of every stream: of each the opening that was written to last.
pub(crate) fn kept(disk: &Path, told: &ToldDamage) -> Result<Vec<Kept>, Failure> {
    let mut newest: BTreeMap<String, Kept> = BTreeMap::new();
    for stream in subfolders(disk)? {
        // What another opening goes on with is found under that one.
        let (mut folders, linked): (Vec<_>, Vec<_>) =
            subfolders(&stream)?.into_iter().partition(|folder| !folder.is_symlink());
        folders.retain(|folder| {
            linked.iter().all(|link| fs::read_link(link).ok().as_deref() != folder.file_name().map(Path::new))
        });
        for folder in folders.into_iter().chain(linked) {
            let Some(stream) = name(&stream) else { continue };
            let Some(kept) = kept_in(stream, &folder, told)?.filter(|kept| !kept.steps.is_empty()) else {
                continue;
            };
            if newest.get(&kept.stream).is_none_or(|other| other.written < kept.written) {
                newest.insert(kept.stream.clone(), kept);
            }
        }
    }
    Ok(newest.into_values().collect())
}

fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            Ok(paths.filter(|path| path.is_dir()).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(folder, "it cannot be read")(error)),
    }
}

/// The step, the rank and the number of ranks of a file.
fn parts(path: &Path) -> Option<(StepId, u32, u32)> {
    let name = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?.strip_suffix('.')?;
    let (step, rank) = name.split_once('.')?;
    let (rank, ranks) = rank.split_once("-of-")?;
    Some((StepId(step.parse().ok()?), rank.parse().ok()?, ranks.parse().ok()?))
}

/// What the files of a step are.
enum State {
    /// All ranks have theirs.
    Whole,
    /// A rank has none.
    Missing,
    /// A rank has one that does not go to its end.
    Cut(String),
    /// A file is not as it was written.
    Damaged(String),
}

fn state(files: &[(u32, PathBuf)], ranks: u32) -> Result<State, Failure> {
    let mut state = if files.len() as u32 == ranks { State::Whole } else { State::Missing };
    for (_, path) in files {
        let spool = Spool::open(path)?;
        if let Some(damage) = spool.damaged() {
            if spool.torn().is_some_and(|torn| matches!(torn.damage, Damage::Version { .. })) {
                let what = "start the flexpath that wrote it, or name another --disk";
                return Err(Failure::Usage(format!("{damage}: {what}")));
            }
            return Ok(State::Damaged(damage.to_string()));
        }
        if spool.entries().len() != 1 || spool.torn().is_some() {
            let place = path.display();
            let steps = || format!("it has {} steps, and should have one", spool.entries().len());
            let what = spool.torn().map_or_else(steps, |torn| torn.damage.to_string());
            state = State::Cut(format!("{place}: {what}"));
        }
    }
    Ok(state)
}

fn name(path: &Path) -> Option<&str> {
    path.file_name().and_then(OsStr::to_str)
}

fn kept_in(stream: &str, folder: &Path, told: &ToldDamage) -> Result<Option<Kept>, Failure> {
    let Some(Ok(epoch)) = name(folder).map(parse_epoch) else { return Ok(None) };
    let entries = fs::read_dir(folder).map_err(failed(folder, "it cannot be read"))?;
    let mut files: BTreeMap<StepId, Vec<(u32, PathBuf)>> = BTreeMap::new();
    let (mut ranks, mut written) = (0, SystemTime::UNIX_EPOCH);
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some((step, rank, of)) = parts(&path) else { continue };
        written = written.max(path.metadata().and_then(|found| found.modified()).unwrap_or(written));
        ranks = ranks.max(of);
        files.entry(step).or_default().push((rank, path));
    }
    let (mut steps, mut cut, mut damaged) = (BTreeSet::new(), Vec::new(), Vec::new());
    let mut unfinished = BTreeSet::new();
    // From the newest on: a kill leaves files without their end behind all whole steps. Steps go to disk in their order.
    for (step, files) in files.into_iter().rev() {
        let state = state(&files, ranks)?;
        let paths: Vec<PathBuf> = files.into_iter().map(|(_, path)| path).collect();
        match state {
            State::Whole => _ = steps.insert(step),
            State::Damaged(damage) => {
                told.tell(step, &damage, &paths);
                damaged.extend(paths);
            }
            State::Cut(damage) if !steps.is_empty() => {
                told.tell(step, &damage, &paths);
                damaged.extend(paths);
            }
            State::Missing | State::Cut(_) => {
                cut.extend(paths);
                // Before whole steps it was being released.
                if steps.is_empty() {
                    unfinished.insert(step);
                }
            }
        }
    }
    Ok(Some(Kept { stream: stream.to_owned(), epoch, ranks, steps, written, cut, unfinished, damaged }))
}

fn parse_epoch(text: &str) -> Result<Epoch, std::num::ParseIntError> {
    u128::from_str_radix(text, 16).map(Epoch)
}

impl StreamFolder {
    /// The folder of a stream.
    pub(crate) fn open(disk: &Path, stream: &str, is_durable: bool) -> Result<Self, Failure> {
        let (folder, is_new) = (disk.join(stream), !disk.exists());
        fs::create_dir_all(&folder).map_err(failed(&folder, "it cannot be made"))?;
        let place = folder.join("lock");
        let lock = File::create(&place).map_err(failed(&place, "it cannot be made"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::Usage(format!("{}: another stager uses it", folder.display())));
            }
            Err(TryLockError::Error(error)) => return Err(failed(&place, "it cannot be locked")(error)),
        }
        if is_durable {
            // The folder itself is to be there after a power failure.
            let above = disk.parent().filter(|above| is_new && !above.as_os_str().is_empty());
            for folder in [Some(disk), above].into_iter().flatten() {
                let synced = File::open(folder).and_then(|folder| folder.sync_all());
                synced.map_err(failed(folder, "it cannot be synced"))?;
            }
        }
        Ok(Self { folder, stream: stream.to_owned(), is_durable, lock: Arc::new(lock) })
    }

    /// Another opening goes on with the numbers, and with the shelf, of an earlier one.
    pub(crate) fn go_on(&self, shelf: &Shelf, epoch: Epoch) -> Result<(), Failure> {
        let (Some(earlier), link) = (shelf.folder.file_name(), self.folder.join(epoch.to_string())) else {
            return Ok(());
        };
        match std::os::unix::fs::symlink(earlier, &link) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(failed(&link, "it cannot be made")(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// A shelf for one opening of the stream, and what is on it already. That may be of other ranks than these: then it is for
    /// those.
    pub(crate) fn shelf(
        &self,
        epoch: Epoch,
        ranks: u32,
        told: &ToldDamage,
    ) -> Result<(Shelf, Option<Kept>), Failure> {
        let folder = self.folder.join(epoch.to_string());
        // A link to what is gone.
        if folder.is_symlink() && !folder.is_dir() {
            let _ = fs::remove_file(&folder);
        }
        fs::create_dir_all(&folder).map_err(failed(&folder, "it cannot be made"))?;
        if self.is_durable {
            let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
            synced.map_err(failed(&self.folder, "it cannot be synced"))?;
        }
        let kept = kept_in(&self.stream, &folder, told)?;
        kept.iter().for_each(|kept| ToldDamage::tell_cut(&self.stream, &kept.unfinished));
        // A kill left these. What a publisher does not keep any more all ranks have, in files or in memory that is gone.
        for path in kept.iter().flat_map(|kept| &kept.cut) {
            fs::remove_file(path).map_err(failed(path, "what is left of a step cannot be removed"))?;
        }
        // The publisher may have these still: they are not in the way of what it gives again.
        for path in kept.iter().flat_map(|kept| &kept.damaged) {
            let aside = path.with_extension(format!("{SUFFIX}.{DAMAGED}"));
            fs::rename(path, &aside).map_err(failed(path, "it is damaged, and cannot be put aside"))?;
        }
        let kept = kept.filter(|kept| !kept.steps.is_empty());
        let ranks = kept.as_ref().map_or(ranks, |kept| kept.ranks);
        let (is_durable, stays, _lock) = (self.is_durable, Arc::default(), self.lock.clone());
        Ok((Shelf { folder, ranks, is_durable, stays, _lock }, kept))
    }
}

impl Shelf {
    fn path(&self, step: StepId, rank: u32) -> PathBuf {
        self.folder.join(format!("{:020}.{rank}-of-{}.{SUFFIX}", step.0, self.ranks))
    }

    /// Writes what a rank has of a step: `fill` writes its blocks. If that fails, nothing is left of it.
    pub(crate) fn write(
        &self,
        head: &StepHead,
        rank: u32,
        fill: impl FnOnce(&mut OpenRecord<'_, io::BufWriter<&File>>) -> Result<(), Failure>,
    ) -> Result<ShelvedStep, Failure> {
        let path = self.path(head.step, rank);
        // What stays here without its end is no step.
        let written = self.written(&path, head, fill);
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        written
    }

    fn written(
        &self,
        path: &Path,
        head: &StepHead,
        fill: impl FnOnce(&mut OpenRecord<'_, io::BufWriter<&File>>) -> Result<(), Failure>,
    ) -> Result<ShelvedStep, Failure> {
        let mut spool = Spool::append(path)?;
        let entry = spool.write(head, fill)?;
        if self.is_durable {
            spool.sync()?;
        }
        Ok(self.shelved(path, spool.step(&entry)?))
    }

    /// What a rank has of a step that was written before.
    pub(crate) fn read(&self, step: StepId, rank: u32) -> Result<ShelvedStep, Failure> {
        let path = self.path(step, rank);
        let spool = Spool::open(&path)?;
        let missing = || SpoolError::Damaged { offset: 0, damage: fp_spool::Damage::Cut("a step") };
        let entry = spool.entries().first().copied().ok_or_else(missing)?;
        Ok(self.shelved(&path, spool.step(&entry)?))
    }

    fn shelved(&self, path: &Path, StoredStep { head, blocks, .. }: StoredStep) -> ShelvedStep {
        let file = Arc::new(StepFile {
            path: path.to_owned(),
            stays: self.stays.clone(),
            is_left: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
        });
        ShelvedStep { head, blocks, file }
    }

    /// Notes how many subscribe to what is staged, for the stager that goes on after this one.
    pub(crate) fn note_subscribers(&self, count: u32) -> Result<(), Failure> {
        let (path, written) = (self.folder.join(SUBSCRIBERS), self.folder.join("subscribers.new"));
        let write = || {
            let mut file = File::create(&written)?;
            file.write_all(count.to_string().as_bytes())?;
            if self.is_durable {
                file.sync_data()?;
            }
            fs::rename(&written, &path)
        };
        let synced = || match self.is_durable {
            true => File::open(&self.folder)?.sync_all(),
            false => Ok(()),
        };
        write().and_then(|()| synced()).map_err(failed(&path, "it cannot be written"))
    }

    /// How many subscribed as the stager before this one ended.
    pub(crate) fn subscribers(&self) -> u32 {
        let text = fs::read_to_string(self.folder.join(SUBSCRIBERS)).ok();
        text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// What is there now stays there, whoever lets go of it.
    pub(crate) fn stay(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        if !self.stays.load(Ordering::Relaxed) {
            let _ = fs::remove_file(self.folder.join(SUBSCRIBERS));
        }
        // It goes if nothing is in it any more.
        let _ = fs::remove_dir(&self.folder);
    }
}
