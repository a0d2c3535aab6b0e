//! A file of records.

use crate::block::BlockHead;
use crate::error::{Damage, SpoolError};
use crate::file_bytes;
use crate::frame::{Frame, HEADER_BYTES, Kind};
use crate::open_record::OpenRecord;
use crate::record_sequence::{check_block, check_end, unbegun, unended};
use crate::step::StepHead;
use crate::stored_step::{Entry, StoredBlock, StoredStep};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What follows the last whole record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Where it begins.
    pub offset: u64,
    /// Where the frame begins that is damaged.
    pub damaged_at: u64,
    /// What is wrong there.
    pub damage: Damage,
}

impl Torn {
    /// Whether it is a step that was not written to its end, as a kill leaves it. Everything else is damage, and whole
    /// steps may follow it.
    pub fn is_unfinished(&self) -> bool {
        matches!(self.damage, Damage::Cut(_))
    }
}

/// A file of step records, in the order in which they were written.
///
/// Whoever opens it learns where each step is by passing from header to header; data is read only when it is asked for.
pub struct Spool {
    path: PathBuf,
    file: File,
    entries: Vec<Entry>,
    /// Behind the last whole record.
    end: u64,
    /// The length of the file.
    len: u64,
    torn: Option<Torn>,
    /// Whether nothing yet says that the file itself will be there after a power failure.
    is_new: bool,
}

impl Spool {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// The system. What is damaged is no error, but [`Spool::torn`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SpoolError> {
        let path = path.as_ref();
        let opened = File::open(path).map_err(SpoolError::io("it cannot be opened"));
        opened.and_then(|file| Self::of(path, file)).map_err(SpoolError::in_file(path))
    }

    /// Opens a file to write behind its last whole record, or makes it. A step that was not written to its end is cut off;
    /// [`Spool::torn`] says that.
    ///
    /// # Errors
    /// Another process writes to it; it is damaged, or holds something else than records, and is left as it is; the
    /// system.
    pub fn append(path: impl AsRef<Path>) -> Result<Self, SpoolError> {
        let path = path.as_ref();
        Self::append_to(path).map_err(SpoolError::in_file(path))
    }

    fn append_to(path: &Path) -> Result<Self, SpoolError> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(SpoolError::io("it cannot be opened"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SpoolError::InUse),
            Err(TryLockError::Error(error)) => return Err(SpoolError::io("it cannot be locked")(error)),
        }
        let mut spool = Self::of(path, file)?;
        if let Some(torn) = spool.torn.as_ref().filter(|torn| !torn.is_unfinished()) {
            return Err(SpoolError::Damaged { offset: torn.damaged_at, damage: torn.damage.clone() });
        }
        spool.file.set_len(spool.end).map_err(SpoolError::io("it cannot be cut"))?;
        spool.len = spool.end;
        spool.is_new = spool.end == 0;
        Ok(spool)
    }

    fn of(path: &Path, file: File) -> Result<Self, SpoolError> {
        let (path, entries) = (path.to_owned(), Vec::new());
        let mut spool = Self { path, file, entries, end: 0, len: 0, torn: None, is_new: false };
        spool.len = spool.file.metadata().map_err(file_bytes::unreadable)?.len();
        while spool.end < spool.len {
            match spool.scan(spool.end) {
                Ok(StoredStep { entry, .. }) => {
                    spool.end += entry.len_bytes;
                    spool.entries.push(entry);
                }
                Err(SpoolError::Damaged { offset, damage }) => {
                    spool.torn = Some(Torn { offset: spool.end, damaged_at: offset, damage });
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(spool)
    }

    /// The steps, in the order in which they were written.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What followed the last whole record as the file was opened, if something did: a step whose writer was killed, or
    /// damage.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// What is wrong behind the last whole record, unless a step was merely not written to its end.
    pub fn damaged(&self) -> Option<SpoolError> {
        let torn = self.torn.as_ref().filter(|torn| !torn.is_unfinished())?;
        let damaged = SpoolError::Damaged { offset: torn.damaged_at, damage: torn.damage.clone() };
        Some(SpoolError::in_file(&self.path)(damaged))
    }

    /// A step: what it is, and where its blocks are.
    ///
    /// # Errors
    /// It was changed since; the system.
    pub fn step(&self, entry: &Entry) -> Result<StoredStep, SpoolError> {
        self.scan(entry.offset).map_err(SpoolError::in_file(&self.path))
    }

    /// The bytes of a block, checked.
    ///
    /// # Errors
    /// They are not as they were written; the system.
    pub fn bytes(&self, block: &StoredBlock) -> Result<Vec<u8>, SpoolError> {
        block.read(&self.file).map_err(SpoolError::in_file(&self.path))
    }

    /// Writes a step: `fill` writes its blocks. If it fails, the file is as before.
    ///
    /// # Errors
    /// Those of `fill`; the system.
    pub fn write<E: From<SpoolError>>(
        &mut self,
        head: &StepHead,
        fill: impl FnOnce(&mut OpenRecord<'_, BufWriter<&File>>) -> Result<(), E>,
    ) -> Result<Entry, E> {
        let written = self.written(head, fill);
        match written {
            Ok(len_bytes) => {
                let entry = Entry { epoch: head.epoch, step: head.step, offset: self.end, len_bytes };
                self.end += len_bytes;
                self.len = self.end;
                self.entries.push(entry);
                Ok(entry)
            }
            Err(error) => {
                // If that fails too, the half of a step that stays is passed over by whoever opens the file.
                let _ = self.file.set_len(self.end);
                Err(error)
            }
        }
    }

    fn written<E: From<SpoolError>>(
        &self,
        head: &StepHead,
        fill: impl FnOnce(&mut OpenRecord<'_, BufWriter<&File>>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let unwritten =
            |error| SpoolError::in_file(&self.path)(SpoolError::io("it cannot be written to")(error));
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.end)).map_err(unwritten)?;
        let mut out = BufWriter::new(file);
        let mut record = OpenRecord::begin_in(&mut out, head, Some(&self.path))?;
        fill(&mut record)?;
        let len_bytes = record.end()?;
        out.flush().map_err(unwritten)?;
        Ok(len_bytes)
    }

    /// Returns once all that was written is on the device.
    ///
    /// # Errors
    /// The system.
    pub fn sync(&mut self) -> Result<(), SpoolError> {
        let synced = self.file.sync_data().and_then(|()| match self.is_new {
            true => self.sync_folder(),
            false => Ok(()),
        });
        let failed = |error| SpoolError::in_file(&self.path)(SpoolError::io("it cannot be synced")(error));
        synced.map_err(failed)?;
        self.is_new = false;
        Ok(())
    }

    /// A new file is there after a power failure if its folder was synced.
    fn sync_folder(&self) -> std::io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all())
    }

    /// Passes from header to header through a record.
    fn scan(&self, offset: u64) -> Result<StoredStep, SpoolError> {
        let (first, meta) = self.frame(offset)?;
        let damaged = |at: u64, damage: Damage| SpoolError::Damaged { offset: at, damage };
        if first.kind != Kind::Step {
            return Err(damaged(offset, unbegun()));
        }
        let head = StepHead::decode(&meta).map_err(|damage| damaged(offset, damage))?;
        let (mut at, mut blocks) = (offset + first.len_bytes(), Vec::new());
        loop {
            let (frame, meta) = self.frame(at)?;
            match frame.kind {
                Kind::Step => return Err(damaged(at, unended())),
                Kind::Block => {
                    let of = BlockHead::decode(&meta)
                        .and_then(|of| check_block(&of, head.variables.len()).map(|()| of));
                    blocks.push(StoredBlock {
                        head: of.map_err(|damage| damaged(at, damage))?,
                        offset: at,
                        frame,
                    });
                }
                Kind::End => {
                    let count = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
                    check_end(&meta, head.step, count).map_err(|damage| damaged(at, damage))?;
                }
            }
            at += frame.len_bytes();
            if frame.kind == Kind::End {
                if at > self.len {
                    return Err(damaged(at, Damage::Cut("the gap behind a step")));
                }
                let entry = Entry { epoch: head.epoch, step: head.step, offset, len_bytes: at - offset };
                return Ok(StoredStep { entry, head, blocks });
            }
        }
    }

    /// A header and what it is of.
    fn frame(&self, offset: u64) -> Result<(Frame, Vec<u8>), SpoolError> {
        let mut header = [0; HEADER_BYTES];
        let damaged = |damage| SpoolError::Damaged { offset, damage };
        let there = self.len.saturating_sub(offset).min(HEADER_BYTES as u64) as usize;
        self.read(offset, &mut header[..there], "a header")?;
        if there < HEADER_BYTES {
            return Err(damaged(Frame::cut(&header[..there])));
        }
        let frame = Frame::parse(&header).map_err(damaged)?;
        // Before there is room for it.
        if frame.len_bytes() > self.len.saturating_sub(offset) {
            return Err(damaged(Damage::Cut("a frame")));
        }
        let mut meta = vec![0; frame.meta_bytes as usize];
        self.read(offset + HEADER_BYTES as u64, &mut meta, "a description")?;
        frame.check_meta(&meta).map_err(damaged)?;
        Ok((frame, meta))
    }

    fn read(&self, offset: u64, place: &mut [u8], what: &'static str) -> Result<(), SpoolError> {
        file_bytes::read(&self.file, offset, place, what)
    }
}
