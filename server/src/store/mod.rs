//! Stores compressed snapshots as objects in a folder or in a bucket.
//!
//! Objects are written completely or not at all, never change, and are named by their content and a unique ID. Each
//! operation fails if the store is full or does not answer.

mod address;
mod error;
#[cfg(test)]
mod tests;

pub use address::{BucketVariables, StoreAddress};
pub use error::{StoreError, StoreErrorKind};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use std::{fs, io};

use actix_web::web::Bytes;
use futures_util::stream::{BoxStream, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt as _, RetryConfig};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::{Registry, Unit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use uuid::Uuid;

use crate::failure::Failure;
use crate::folder::make_private;

/// Bytes per part of an upload; S3 requires at least 5 MiB.
const PART_BYTES: usize = 8 << 20;

/// Parts in flight at once; an upload takes the memory of one more part than this.
const PARTS: usize = 1;

/// Timeout of a request to a bucket.
const ANSWER: Duration = Duration::from_secs(30);

/// Total time during which a request is retried.
const RETRY: Duration = Duration::from_secs(20);

const SNAPSHOTS: &str = "snapshots";

/// Folder of discarded objects, each below the time when it was discarded.
const TRASH: &str = "trash";

/// Object with the ID of the installation that owns the store.
const INSTALLATION: &str = "installation";

pub type Result<T> = std::result::Result<T, StoreError>;

/// A store of objects with a common prefix.
#[derive(Debug, Clone)]
pub struct Store {
    objects: Arc<dyn ObjectStore>,
    /// Prefix of all object names.
    prefix: ObjectPath,
    metrics: StoreMetrics,
    /// Path of the store if it is a folder.
    folder: Option<PathBuf>,
}

/// An object in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discarded {
    /// Time at which it was discarded, in milliseconds since 1970.
    pub time_ms: i64,
    /// Its name before that.
    pub object: String,
}

impl Discarded {
    pub fn place(&self) -> String {
        format!("{TRASH}/{}/{}", self.time_ms, self.object)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub object: String,
    /// Time of writing, in milliseconds since 1970.
    pub written_ms: i64,
}

impl Store {
    /// Opens a folder, which is made if missing, or a bucket.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be made or the bucket's settings are incomplete.
    pub fn open(address: &StoreAddress) -> Result<Self> {
        let metrics = StoreMetrics::default();
        match address {
            StoreAddress::Folder(folder) => {
                make_private(folder).map_err(|error| StoreError::folder(folder, &error))?;
                // Syncing lets acknowledged objects survive a crash of the machine.
                let files = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
                let folder = Some(folder.clone());
                Ok(Self { objects: Arc::new(files), prefix: ObjectPath::default(), metrics, folder })
            }
            StoreAddress::Bucket { bucket, prefix, variables } => {
                let objects = bucket_of(bucket, variables)?;
                let prefix = ObjectPath::from(prefix.as_str());
                Ok(Self { objects: Arc::new(objects), prefix, metrics, folder: None })
            }
        }
    }

    /// Opens the configured store and checks that it is writable.
    pub async fn connect(address: &StoreAddress) -> std::result::Result<Self, Failure> {
        let failure = |error: StoreError| {
            Failure::new(format!("{error}, at {address}"), "check the setting `store` and the permissions of the store")
        };
        let store = Self::open(address).map_err(failure)?;
        store.try_out().await.map_err(failure)?;
        Ok(store)
    }

    /// Returns an object name for new content; a different `id` gives the same content another name.
    pub fn name(hash: &str, id: &str) -> String {
        format!("{}/{hash}-{id}.pickle.gz", &hash[..2.min(hash.len())])
    }

    /// Copies a file into an object and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if the store is full or does not answer; no object exists then.
    pub async fn put(&self, object: &str, file: &Path) -> Result<u64> {
        let mut file = tokio::fs::File::open(file).await?;
        let mut writer = BufWriter::with_capacity(Arc::clone(&self.objects), self.path(object), PART_BYTES)
            .with_max_concurrency(PARTS);
        let copied = match copy(&mut file, &mut writer).await {
            // After a failed shutdown the writer has cleaned up as far as the store allows.
            Ok(bytes) => writer.shutdown().await.map(|()| bytes).map_err(StoreError::from),
            Err(error) => {
                // Parts that were already written would otherwise stay until they are cleaned up.
                let _ = writer.abort().await;
                Err(error)
            }
        };
        let copied = self.metrics.counted("put", copied);
        if let Ok(bytes) = copied {
            self.metrics.transferred("written", bytes);
        }
        copied
    }

    /// Returns the size of an object in bytes and a stream of its content.
    pub async fn read(&self, object: &str) -> Result<(u64, BoxStream<'static, Result<Bytes>>)> {
        let found = self.objects.get(&self.path(object)).await.map_err(StoreError::from);
        let found = self.metrics.counted("read", found)?;
        let metrics = self.metrics.clone();
        let size_bytes = found.meta.size;
        let stream = found.into_stream().map_err(StoreError::from);
        let stream = stream.inspect_ok(move |piece| metrics.transferred("read", piece.len() as u64));
        Ok((size_bytes, stream.boxed()))
    }

    /// Returns the size of an object in bytes, or `None` if it does not exist.
    pub async fn size(&self, object: &str) -> Result<Option<u64>> {
        match self.objects.head(&self.path(object)).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an object; a missing object is not an error.
    pub async fn remove(&self, object: &str) -> Result<()> {
        let removed = match self.objects.delete(&self.path(object)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        };
        self.metrics.counted("remove", removed)
    }

    /// Returns the ID of the installation that owns the store, if it is set.
    pub async fn installation(&self) -> Result<Option<String>> {
        let found = match self.objects.get(&self.place(INSTALLATION)).await {
            Ok(found) => found.bytes().await,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => Err(error),
        };
        let bytes = found?;
        Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    /// Sets the ID of the installation that owns the store.
    pub async fn set_installation(&self, name: &str) -> Result<()> {
        self.objects.put(&self.place(INSTALLATION), format!("{name}\n").into()).await?;
        Ok(())
    }

    /// Moves an object to the trash, from which it can be recovered by hand until the trash is emptied.
    pub async fn discard(&self, object: &str, now_ms: i64) -> Result<()> {
        let place = self.place(&format!("{TRASH}/{now_ms}/{object}"));
        let moved = self.objects.rename(&self.path(object), &place).await.map_err(StoreError::from);
        self.metrics.counted("discard", moved)
    }

    /// Deletes what was discarded before a time and returns the number of objects.
    ///
    /// # Errors
    ///
    /// Returns an error if the store does not answer; deletions before that remain in effect.
    pub async fn empty_trash(&self, discarded_before_ms: i64) -> Result<u64> {
        let mut removed = 0;
        for discarded in self.trash().await?.into_iter().filter(|discarded| discarded.time_ms < discarded_before_ms) {
            self.objects.delete(&self.place(&discarded.place())).await?;
            removed += 1;
        }
        Ok(removed)
    }

    pub async fn trash(&self) -> Result<Vec<Discarded>> {
        let folder = format!("{}/", self.place(TRASH));
        // Other entries in the trash were not put there by this program.
        let discarded = |meta: object_store::ObjectMeta| {
            let (time, object) = meta.location.as_ref().strip_prefix(&folder)?.split_once('/')?;
            Some(Discarded { time_ms: time.parse().ok()?, object: object.to_owned() })
        };
        let listed = self.objects.list(Some(&self.place(TRASH))).map_err(StoreError::from);
        listed.try_filter_map(|meta| std::future::ready(Ok(discarded(meta)))).try_collect().await
    }

    pub fn list(&self) -> BoxStream<'static, Result<Listed>> {
        let folder = self.prefix.clone().join(SNAPSHOTS);
        let start = format!("{folder}/");
        let listed = move |meta: object_store::ObjectMeta| {
            let object = meta.location.as_ref().strip_prefix(&start)?.to_owned();
            Some(Listed { object, written_ms: meta.last_modified.timestamp_millis() })
        };
        let objects = self.objects.list(Some(&folder)).map_err(StoreError::from);
        objects.try_filter_map(move |meta| std::future::ready(Ok(listed(meta)))).boxed()
    }

    pub fn metrics(&self) -> &StoreMetrics {
        &self.metrics
    }

    /// Removes files of incomplete objects that are older than a time and returns how many.
    ///
    /// Killed processes leave them behind. In a bucket they are multipart uploads, which only a lifecycle rule of the
    /// bucket can remove.
    pub async fn remove_unfinished(&self, written_before_ms: i64) -> Result<u64> {
        let Some(folder) = self.folder.clone() else { return Ok(0) };
        let removed = tokio::task::spawn_blocking(move || remove(&folder, written_before_ms)).await;
        Ok(removed.map_err(std::io::Error::other)??)
    }

    /// Checks that the store answers.
    pub async fn ping(&self) -> Result<()> {
        match self.objects.head(&self.place(INSTALLATION)).await {
            Ok(_) => Ok(()),
            // A missing bucket also answers "not found" for each object, but listing it fails.
            Err(object_store::Error::NotFound { .. }) => {
                self.objects.list(Some(&self.place(TRASH))).try_next().await?;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Checks that objects can be written, read and removed.
    pub async fn try_out(&self) -> Result<()> {
        let place = self.place(&format!("{TRASH}/try-{}", Uuid::now_v7().simple()));
        self.objects.put(&place, TRASH.into()).await?;
        let read = self.objects.get(&place).await;
        self.objects.delete(&place).await?;
        read?.bytes().await?;
        Ok(())
    }

    fn path(&self, object: &str) -> ObjectPath {
        self.place(&format!("{SNAPSHOTS}/{object}"))
    }

    fn place(&self, name: &str) -> ObjectPath {
        let prefix = self.prefix.as_ref();
        let separator = if prefix.is_empty() { "" } else { "/" };
        ObjectPath::from(format!("{prefix}{separator}{name}"))
    }
}

/// Makes a client for a bucket; unknown variables are ignored because other programs may use them.
fn bucket_of(bucket: &str, variables: &BucketVariables) -> Result<AmazonS3> {
    // Only the first call installs it; the error of later ones says so.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = ClientOptions::new().with_timeout(ANSWER).with_allow_http(true);
    // Retries are limited by time, because ten random pauses may be over within a second.
    let retry = RetryConfig { retry_timeout: RETRY, max_retries: usize::MAX, ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::new().with_client_options(client).with_retry(retry);
    for (name, value) in variables.iter() {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    Ok(builder.with_bucket_name(bucket).build()?)
}

async fn copy(file: &mut tokio::fs::File, writer: &mut BufWriter) -> Result<u64> {
    const PIECE: usize = 256 << 10;
    let mut copied = 0;
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        let read = file.read_buf(&mut piece).await?;
        if read == 0 {
            break;
        }
        copied += read as u64;
        writer.put(piece.into()).await?;
    }
    Ok(copied)
}

/// Character in temporary file names, between the object's name and a number; complete objects never have it.
const MARK: char = '#';

/// Removes incomplete files below a folder that were last written before a time, and returns how many.
fn remove(folder: &Path, written_before_ms: i64) -> io::Result<u64> {
    let before = UNIX_EPOCH + Duration::from_millis(written_before_ms.try_into().unwrap_or(0));
    let mut removed = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_string_lossy().contains(MARK) && is_older(&entry, before) {
                // The file may just have become an object.
                removed += u64::from(fs::remove_file(entry.path()).is_ok());
            }
        }
    }
    Ok(removed)
}

fn is_older(entry: &fs::DirEntry, before: std::time::SystemTime) -> bool {
    entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|modified| modified < before)
}

/// Counters of a store, shared by its clones.
#[derive(Debug, Clone, Default)]
pub struct StoreMetrics {
    operations: Family<[(&'static str, &'static str); 2], Counter>,
    bytes: Family<[(&'static str, &'static str); 1], Counter>,
}

impl StoreMetrics {
    pub fn register(&self, registry: &mut Registry) {
        let help = "Operations of the store by outcome";
        registry.register("store_operations", help, self.operations.clone());
        let help = "Data written to and read from the store";
        registry.register_with_unit("store_transferred", help, Unit::Bytes, self.bytes.clone());
    }

    pub(super) fn counted<T>(&self, operation: &'static str, result: Result<T>) -> Result<T> {
        let outcome = if result.is_ok() { "done" } else { "failed" };
        self.operations.get_or_create(&[("operation", operation), ("outcome", outcome)]).inc();
        result
    }

    pub(super) fn transferred(&self, direction: &'static str, bytes: u64) {
        self.bytes.get_or_create(&[("direction", direction)]).inc_by(bytes);
    }
}
