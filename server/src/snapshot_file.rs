//! Reads files: snapshots into traces with the timelines of their devices, and logs.
//!
//! Reading ahead of the decoder and making the timelines of several devices have threads of their own, because `shared`
//! has none.
//! Decoding itself stays in one thread: recognizing bytes is 40 % of its time, so helpers that did it ahead would leave
//! the other 60 % where it is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::ScopedJoinHandle;

use logs::log_report;
use logs::{Content, Opener};
use shared::analysis::{Timeline, recording_diagnostics};
use shared::base::Diagnostic;
use shared::import::{ImportError, Importer};
use shared::trace::{Accelerator, Device, Trace};

use crate::Failure;

/// Snapshot with its timelines and diagnostics.
pub(crate) struct Opened {
    pub(crate) file: String,
    pub(crate) trace: Trace,
    /// One timeline for each device of the trace, in the same order.
    pub(crate) timelines: Vec<Timeline>,
    /// Timeline of pinned host memory, if the trace has it.
    pub(crate) host_timeline: Option<Timeline>,
    /// Diagnostics of the recording, followed by those of the file.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Opened {
    /// Reads a snapshot file chunk by chunk.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        snapshot_of(open(path)?, path)
    }

    /// Derives the timelines and diagnostics of a trace; `file` is its name in messages.
    pub(crate) fn of(file: String, trace: Trace) -> Self {
        let (timelines, host_timeline) = timelines(&trace);
        let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
        let mut diagnostics = recording_diagnostics(&trace, &devices);
        diagnostics.extend(trace.diagnostics.iter().cloned());
        Self { file, trace, timelines, host_timeline, diagnostics }
    }

    pub(crate) fn devices(&self) -> impl DoubleEndedIterator<Item = (&Device, &Timeline)> {
        self.trace.devices.iter().zip(&self.timelines)
    }

    pub(crate) fn device_word(&self) -> &'static str {
        Accelerator::of(&self.trace).device()
    }

    /// Returns the name of the device with this index, such as `GPU 0`.
    pub(crate) fn device_name(&self, index: i64) -> String {
        format!("{} {index}", self.device_word())
    }

    /// Returns the device with this index.
    ///
    /// Without an index, returns the device of which only a part was read, or else the device with the highest peak.
    pub(crate) fn choose_device(&self, index: Option<i64>) -> Result<(&Device, &Timeline), Failure> {
        let Some(index) = index else {
            if let Some(of_part) = self.devices().find(|(device, _)| device.part.is_some()) {
                return Ok(of_part);
            }
            let highest = self.devices().rev().max_by_key(|(_, timeline)| timeline.live_peak().1);
            return highest.ok_or_else(|| {
                Failure::new(
                    format!("{}: the snapshot has no device", self.file),
                    "CUDA was never initialized in the process that wrote it",
                )
            });
        };
        self.devices().find(|(device, _)| device.index == index).ok_or_else(|| {
            let known: Vec<String> = self.devices().map(|(device, _)| device.index.to_string()).collect();
            Failure::new(
                format!("{}: there is no device {index}", self.file),
                format!("its devices are {}", known.join(", ")),
            )
        })
    }
}

/// Derives the timelines of the devices and of host memory, each in a thread of its own.
fn timelines(trace: &Trace) -> (Vec<Timeline>, Option<Timeline>) {
    let of = |device| move || Timeline::new(trace, device);
    std::thread::scope(|scope| {
        let host = trace.host.as_ref().map(|host| scope.spawn(of(host)));
        let mut devices = trace.devices.iter();
        let first = devices.next();
        let others: Vec<_> = devices.map(|device| scope.spawn(of(device))).collect();
        let join = |thread: ScopedJoinHandle<'_, Timeline>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let timelines = first.map(|device| of(device)()).into_iter().chain(others.into_iter().map(join)).collect();
        (timelines, host.map(join))
    })
}

/// Reads a file that may be a snapshot or a log.
pub(crate) fn open(path: &Path) -> Result<Content<Opened>, Failure> {
    let file = path.display().to_string();
    Ok(match open_by(Importer::new(), Importer::finish, path, &file)? {
        Content::Snapshot(trace) => Content::Snapshot(Opened::of(file, trace)),
        Content::Log(log) => Content::Log(log),
    })
}

/// Returns the snapshot that a file is.
///
/// # Errors
/// Returns an error for a log.
pub(crate) fn snapshot_of<T>(content: Content<T>, path: &Path) -> Result<T, Failure> {
    match content {
        Content::Snapshot(opened) => Ok(opened),
        Content::Log(log) => Err(Failure::new(
            format!("{}: This is a log, not a memory snapshot: {}", path.display(), log_report(&log).title),
            "snapscope diagnose reports on it; torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes a snapshot",
        )),
    }
}

/// Reads a file that may be a snapshot, which this importer reads and `decode` finishes, or a log.
pub(crate) fn open_by<T>(
    importer: Importer,
    decode: impl Fn(Importer) -> Result<T, ImportError>,
    path: &Path,
    file: &str,
) -> Result<Content<T>, Failure> {
    let mut opener = Opener::new(importer);
    loop {
        let read = feed(source(path, file)?, file, |bytes| opener.push(bytes))?;
        let unread = match read.and_then(|()| opener.finish(&decode)) {
            Ok(content) => return Ok(content),
            Err(unread) => unread,
        };
        // A pipe gives its bytes only once.
        let again = if path.is_file() { unread.again() } else { Err(unread.into_error()) };
        opener = again.map_err(|error| foreign(file, &error))?;
    }
}

/// Reads a snapshot file chunk by chunk; `file` is its name in messages.
pub(crate) fn import(path: &Path, file: &str) -> Result<Trace, Failure> {
    import_by(Importer::new(), path, file)
}

/// Reads a snapshot file with an importer that has seen no bytes yet; `file` is its name in messages.
pub(crate) fn import_by(importer: Importer, path: &Path, file: &str) -> Result<Trace, Failure> {
    import_with(importer, path, file)?.finish().map_err(|error| foreign(file, &error))
}

/// Feeds all bytes of a file to an importer; `file` is its name in messages.
pub(crate) fn import_with(mut importer: Importer, path: &Path, file: &str) -> Result<Importer, Failure> {
    let read = feed(source(path, file)?, file, |bytes| importer.push(bytes))?;
    read.map(|()| importer).map_err(|error| foreign(file, &error))
}

fn source(path: &Path, file: &str) -> Result<File, Failure> {
    File::open(path).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &str, error: &io::Error) -> Failure {
    Failure::new(format!("{file}: {error}"), "check the path and the permissions of the file")
}

/// Passes all bytes of a source to `push`, until it returns an error, which is the inner result.
pub(crate) fn feed<E>(
    source: impl Read + Send,
    file: &str,
    mut push: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Result<(), E>, Failure> {
    std::thread::scope(|scope| {
        let (read, chunks) = sync_channel(CHUNKS_AHEAD);
        let (done, buffers) = channel();
        scope.spawn(move || read_ahead(source, &buffers, &read));
        (0..=CHUNKS_AHEAD).for_each(|_| drop(done.send(vec![0; CHUNK_BYTES])));
        for chunk in chunks {
            let (buffer, len) = chunk.map_err(|error| unreadable(file, &error))?;
            if let Err(error) = push(&buffer[..len]) {
                return Ok(Err(error));
            }
            // The reader is gone only after the end of the file.
            let _ = done.send(buffer);
        }
        Ok(Ok(()))
    })
}

const CHUNK_BYTES: usize = 1 << 20;
/// Number of chunks that are read while one is decoded.
const CHUNKS_AHEAD: usize = 2;

/// Passes on the chunks of a file in the buffers that it gets, with their lengths, until nobody waits for more.
fn read_ahead(mut source: impl Read, buffers: &Receiver<Vec<u8>>, read: &SyncSender<io::Result<(Vec<u8>, usize)>>) {
    for mut buffer in buffers {
        let chunk = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => Ok((buffer, len)),
            Err(error) => Err(error),
        };
        let is_last = chunk.is_err();
        if read.send(chunk).is_err() || is_last {
            return;
        }
    }
}

/// Builds the failure for a file that is not a snapshot.
pub(crate) fn foreign(file: &str, error: &ImportError) -> Failure {
    Failure::new(format!("{file}: {error}"), error.hint.clone())
}
