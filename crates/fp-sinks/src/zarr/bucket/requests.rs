//! Requests to a server of S3, each with a deadline.

use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectStore as _, PutMode, PutOptions, PutPayload, PutResult, RetryConfig,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use zarrs::storage::Bytes;

/// Requests that are on their way together.
const ROOM: usize = 32;
/// A request that sends more than this takes the room of several: so 256 MiB are on their way at most.
const BYTES: usize = 8 << 20;
/// What is sent in a second, at least.
const BYTES_PER_SECOND: usize = 1 << 20;

/// Why there is no good answer.
#[derive(Debug)]
pub(super) enum Wrong {
    /// There is none for so long.
    Late(Duration),
    /// The server, or what lies between, says so.
    Told(object_store::Error),
}

/// The first request that failed: the name of its object, and why.
type Failed = (String, Wrong);

/// Requests to a server.
pub(super) struct Requests {
    store: Arc<AmazonS3>,
    runtime: Runtime,
    patience: Duration,
    room: Arc<Semaphore>,
    /// Objects that are on their way.
    sent: Mutex<JoinSet<Result<(), Failed>>>,
    has_failed: Arc<AtomicBool>,
}

impl Requests {
    /// Reads who asks, and of whom, from the environment.
    pub(super) fn new(bucket: &str, patience: Duration) -> Result<Self, String> {
        // Another one may be there already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let store = client(bucket, patience)?;
        Ok(Self {
            store: Arc::new(store),
            runtime: runtime.map_err(|error| format!("no thread for requests: {error}"))?,
            patience,
            room: Arc::new(Semaphore::new(ROOM)),
            sent: Mutex::default(),
            has_failed: Arc::default(),
        })
    }

    pub(super) fn store(&self) -> &AmazonS3 {
        &self.store
    }

    /// Waits for an answer to what sends so many bytes.
    pub(super) fn wait<T>(
        &self,
        len_bytes: usize,
        request: impl Future<Output = Result<T, object_store::Error>>,
    ) -> Result<T, Wrong> {
        self.runtime.block_on(in_time(deadline(self.patience, len_bytes), request))
    }

    /// Puts an object, and waits for the answer.
    pub(super) fn put(&self, path: &Path, bytes: Bytes, mode: PutMode) -> Result<PutResult, Wrong> {
        let options = PutOptions { mode, ..PutOptions::default() };
        self.wait(bytes.len(), self.store.put_opts(path, PutPayload::from(bytes), options))
    }

    /// Has an object sent, when there is room. Why one before it could not be is told here, or by `settle`.
    pub(super) fn send(&self, name: &str, path: Path, bytes: Bytes) -> Result<(), Failed> {
        if self.has_failed.load(Ordering::Relaxed) {
            return self.settle();
        }
        let (store, room, has_failed) =
            (Arc::clone(&self.store), Arc::clone(&self.room), Arc::clone(&self.has_failed));
        let (name, patience, taken) =
            (name.to_owned(), self.patience, bytes.len().div_ceil(BYTES).clamp(1, ROOM));
        // What is on its way ends by its own deadline, so there is room in time. It is never closed.
        let own = self.runtime.block_on(room.acquire_many_owned(taken as u32)).ok();
        let put = async move {
            let deadline = deadline(patience, bytes.len());
            let put = store.put_opts(&path, PutPayload::from(bytes), PutOptions::default());
            let sent = in_time(deadline, put).await;
            has_failed.fetch_or(sent.is_err(), Ordering::Relaxed);
            drop(own);
            sent.map(drop).map_err(|wrong| (name, wrong))
        };
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).spawn_on(put, self.runtime.handle());
        Ok(())
    }

    /// Waits until all objects that were sent are there.
    pub(super) fn settle(&self) -> Result<(), Failed> {
        let mut sent = std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        let mut outcome = Ok(());
        while let Some(one) = self.runtime.block_on(sent.join_next()) {
            let one = one.unwrap_or_else(|error| Err((String::new(), Wrong::Told(error.into()))));
            outcome = outcome.and(one);
        }
        outcome
    }
}

/// A client of the server, for a bucket.
fn client(bucket: &str, patience: Duration) -> Result<AmazonS3, String> {
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let said = |key| builder.get_config_value(&key).unwrap_or_default();
    let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint].map(said).concat();
    // What object_store takes for a yes.
    let allowed = said(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp)).to_ascii_lowercase();
    let allows_http = ["1", "true", "on", "yes", "y"].contains(&allowed.as_str());
    if endpoint.starts_with("http://") && !allows_http {
        return Err(format!("{endpoint} is not encrypted: AWS_ALLOW_HTTP=true allows that"));
    }
    let limit = |key, limit: Duration| (AmazonS3ConfigKey::Client(key), format!("{}ms", limit.as_millis()));
    // How long a request may take depends on what it sends: that is measured elsewhere.
    let limits = [
        limit(ClientConfigKey::ConnectTimeout, patience / 2),
        limit(ClientConfigKey::Timeout, Duration::from_secs(24 * 3600)),
    ];
    let builder = limits.into_iter().fold(builder, |builder, (key, value)| builder.with_config(key, value));
    let backoff = BackoffConfig { max_backoff: patience / 8, ..BackoffConfig::default() };
    let retry = RetryConfig { backoff, max_retries: 10, retry_timeout: patience / 2 };
    builder.with_retry(retry).build().map_err(|error| told(&error))
}

fn deadline(patience: Duration, len_bytes: usize) -> Duration {
    patience + Duration::from_secs((len_bytes / BYTES_PER_SECOND) as u64)
}

async fn in_time<T>(
    limit: Duration,
    request: impl Future<Output = Result<T, object_store::Error>>,
) -> Result<T, Wrong> {
    match tokio::time::timeout(limit, request).await {
        Ok(answer) => answer.map_err(Wrong::Told),
        Err(_) => Err(Wrong::Late(limit)),
    }
}

impl Wrong {
    /// Whether an object is not there, though its bucket is.
    pub(super) fn is_missing_object(&self) -> bool {
        matches!(self, Self::Told(error @ object_store::Error::NotFound { .. }) if !is_missing_bucket(error))
    }

    /// Whether an object is another one than was expected.
    pub(super) fn is_conflict(&self) -> bool {
        use object_store::Error::{AlreadyExists, Precondition};
        matches!(self, Self::Told(AlreadyExists { .. } | Precondition { .. }))
    }

    /// In words, with what to do.
    pub(super) fn told(self, bucket: &str) -> io::Error {
        let error = match self {
            Self::Late(limit) => {
                return io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!(
                        "no answer within {limit:?}: AWS_ENDPOINT and AWS_REGION say where the server is, AWS_ACCESS_KEY_ID \
                         and AWS_SECRET_ACCESS_KEY who asks, and --timeout how long to wait"
                    ),
                );
            }
            Self::Told(error) => error,
        };
        if is_missing_bucket(&error) {
            let text = format!("there is no bucket {bucket:?}: make it, or name another one");
            return io::Error::new(io::ErrorKind::NotFound, text);
        }
        if is_denied(&error) {
            let text = format!(
                "access is denied to who is named by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: {}",
                told(&error)
            );
            return io::Error::new(io::ErrorKind::PermissionDenied, text);
        }
        io::Error::other(told(&error))
    }
}

/// Lists have no error of their own for it.
fn is_denied(error: &object_store::Error) -> bool {
    use object_store::Error::{PermissionDenied, Unauthenticated};
    let said = told(error);
    matches!(error, PermissionDenied { .. } | Unauthenticated { .. })
        || ["403 Forbidden", "401 Unauthorized"].iter().any(|status| said.contains(status))
}

fn is_missing_bucket(error: &object_store::Error) -> bool {
    told(error).contains("NoSuchBucket")
}

/// An error with all its reasons, each once.
fn told(error: &dyn Error) -> String {
    let (mut text, mut source) = (error.to_string(), error.source());
    while let Some(reason) = source {
        let reason_text = reason.to_string();
        if !text.contains(&reason_text) {
            text = format!("{text}: {reason_text}");
        }
        source = reason.source();
    }
    text
}
