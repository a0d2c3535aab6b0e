//! A store in a bucket of S3: each file is an object, which is there whole or not at all.
//!
//! S3 has no locks. So the root says who writes, and is replaced only if it is still what this writer has read or written.
//! Another one that has written it since is noticed there, before the step counts.

mod requests;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore as _, PutMode, UpdateVersion};
use zarrs::storage::Bytes;

use self::requests::{Requests, Wrong};
use super::files::{DOCUMENT, Files, is_unbegun};
use crate::error::SinkError;
use crate::target::BucketPlace;

/// A store in a bucket.
pub(crate) struct Bucket {
    place: BucketPlace,
    requests: Requests,
    /// What tells this writer from all others.
    writer: String,
    /// The root as it was last read or written here; none if it was not there.
    root: Mutex<Option<UpdateVersion>>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Bucket {
    /// Prepares for a place. Who asks, and of whom, is in the environment.
    pub(crate) fn open(place: &BucketPlace, patience: Duration) -> Result<Self, SinkError> {
        let requests = Requests::new(&place.bucket, patience)
            .map_err(|why| SinkError::Target(format!("{place}: {why}")))?;
        let writer = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        Ok(Self { place: place.clone(), requests, writer, root: Mutex::default() })
    }

    /// The object of that name; the empty name is that of all.
    fn path(&self, name: &str) -> Result<Path, SinkError> {
        let prefix = &self.place.prefix;
        let slash = if prefix.is_empty() || name.is_empty() { "" } else { "/" };
        Path::parse(format!("{prefix}{slash}{name}")).map_err(SinkError::format(&self.place(name)))
    }

    /// For what goes wrong with an object.
    fn wrong(&self, name: &str) -> impl FnOnce(Wrong) -> SinkError + '_ {
        let place = self.place(name);
        move |wrong| SinkError::file(&place)(wrong.told(&self.place.bucket))
    }

    /// Puts the root in place of what it was, and keeps what it is then.
    fn replace_root(&self, path: &Path, bytes: Bytes, before: Option<UpdateVersion>) -> Result<(), Wrong> {
        let mode = before.map_or(PutMode::Create, PutMode::Update);
        let put = match self.requests.put(path, bytes.clone(), mode) {
            // A server that cannot do so: nothing keeps a second writer away.
            Err(Wrong::Told(object_store::Error::NotImplemented { .. })) => {
                self.requests.put(path, bytes, PutMode::Overwrite)?
            }
            put => put?,
        };
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = Some(put.into());
        Ok(())
    }

    /// Reads an object, and keeps which one it is if it is the root.
    fn get(&self, name: &str, path: &Path) -> Result<Option<Bytes>, Wrong> {
        let store = self.requests.store();
        let got = self.requests.wait(0, async {
            let found = store.get_opts(path, GetOptions::default()).await?;
            let version =
                UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
            Ok((version, found.bytes().await?))
        });
        match got {
            Ok((version, bytes)) => {
                if name == DOCUMENT {
                    *self.root.lock().unwrap_or_else(PoisonError::into_inner) = Some(version);
                }
                Ok(Some(bytes))
            }
            Err(wrong) if wrong.is_missing_object() => Ok(None),
            Err(wrong) => Err(wrong),
        }
    }
}

impl Files for Bucket {
    fn place(&self, name: &str) -> PathBuf {
        let slash = if name.is_empty() { "" } else { "/" };
        format!("{}{slash}{name}", self.place).into()
    }

    fn is_vacant(&self) -> Result<bool, SinkError> {
        let (store, prefix) = (self.requests.store(), self.path("")?);
        let found = self.requests.wait(0, async {
            let mut all = store.list(Some(&prefix));
            while let Some(object) = all.try_next().await? {
                let name = object.location.as_ref().strip_prefix(prefix.as_ref()).unwrap_or_default();
                if !is_unbegun(name.trim_start_matches('/')) {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        found.map_err(self.wrong(""))
    }

    /// Nothing can be locked: whoever writes the root second notices it.
    fn claim(&self) -> Result<(), SinkError> {
        Ok(())
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SinkError> {
        let found = self.get(name, &self.path(name)?).map_err(self.wrong(name))?;
        Ok(found.map(|bytes| bytes.to_vec()))
    }

    /// It is on its way when this returns.
    fn write(&self, name: &str, bytes: Bytes) -> Result<(), SinkError> {
        self.requests.send(name, self.path(name)?, bytes).map_err(|(name, wrong)| self.wrong(&name)(wrong))
    }

    fn write_root(&self, bytes: Bytes) -> Result<(), SinkError> {
        let path = self.path(DOCUMENT)?;
        let before = self.root.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match self.replace_root(&path, bytes.clone(), before) {
            // An answer may have been lost on its way: then it is what was sent, which nobody else sends.
            Err(wrong) if wrong.is_conflict() => {
                let found = self.get(DOCUMENT, &path).map_err(self.wrong(DOCUMENT))?;
                if found == Some(bytes) {
                    return Ok(());
                }
                Err(SinkError::Target(format!(
                    "{}: another flexpath tee has written this store meanwhile, so this one ends: wait for its end, or \
                     name another prefix",
                    self.place
                )))
            }
            written => written.map_err(self.wrong(DOCUMENT)),
        }
    }

    fn settle(&self) -> Result<(), SinkError> {
        self.requests.settle().map_err(|(name, wrong)| self.wrong(&name)(wrong))
    }

    fn remove(&self, name: &str) -> Result<(), SinkError> {
        let (store, path) = (self.requests.store(), self.path(name)?);
        let removed = self.requests.wait(0, async {
            let mut all = vec![path.clone()];
            all.extend(
                store.list(Some(&path)).map_ok(|object| object.location).try_collect::<Vec<_>>().await?,
            );
            let all = futures_util::stream::iter(all.into_iter().map(Ok)).boxed();
            let removed: Vec<_> = store.delete_stream(all).collect().await;
            // What is not there need not be removed.
            let wrong = |found| match found {
                Err(object_store::Error::NotFound { .. }) | Ok(_) => None,
                Err(error) => Some(error),
            };
            removed.into_iter().find_map(wrong).map_or(Ok(()), Err)
        });
        removed.map_err(self.wrong(name))
    }

    fn writer(&self) -> Option<&str> {
        Some(&self.writer)
    }
}
