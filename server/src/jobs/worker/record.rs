//! Claims a job and runs it to its end.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use shared::api::{JobError, JobErrorCode, JobState, JobTask};
use shared::job::{Job, RawJob};
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tracing::{Instrument as _, error, info, info_span, warn};

use super::Context;
use super::heartbeat::{Left, on_thread};
use super::listener::Listener;
use super::several::{self, Several, Teller};
use crate::Failure;
use crate::database::{Claim, DatabaseError, JobRow, Outcome};
use crate::hex::hex;
use crate::jobs::submit::of_script;
use crate::recording::repro::{self, Recording, RecordingFailure, Script, run_script};
use crate::snapshots::{self, SnapshotError};
use crate::store::StoreErrorKind;

/// Maximum number of attempts to write the end of a job, and the pause between them.
const TRIES: u32 = 8;
const BETWEEN_TRIES: Duration = Duration::from_secs(1);

/// Time during which storing a recording is retried; longer than a bucket may leave one request unanswered.
const STORED_WITHIN: Duration = Duration::from_secs(40);

/// gzip level: higher levels take twice the time for a few percent, because traces are repetitive.
const LEVEL: u32 = 6;

/// Bytes of a snapshot that are compressed at a time.
const PIECE: usize = 256 << 10;

/// Result of a recording, with its compressed snapshot and the SHA-256 of that file.
struct Made {
    recording: Recording,
    file: PathBuf,
    hash: String,
}

/// Interval between looks for a job, and the pause after an error of the database.
const LOOK: Duration = Duration::from_millis(250);
const AGAIN: Duration = Duration::from_secs(2);

/// Job that belongs to this worker, with the permit to run it.
pub(super) struct Claimed {
    row: Box<JobRow>,
    turn: OwnedSemaphorePermit,
}

/// Waits for a job of a kind and claims it; `None` once the worker is to stop.
///
/// A claim is never dropped halfway, because it may have taken effect.
pub(super) async fn next(context: &Context, kind: &str, stop: &mut watch::Receiver<bool>) -> Option<Claimed> {
    while !*stop.borrow() {
        let turn = context.turns.beside_others().await.ok()?;
        let pause = match context.database.claim(kind, &context.name, false).await {
            Ok(Claim::Mine(row)) => return Some(Claimed { row, turn }),
            Ok(Claim::Alone) => {
                drop(turn);
                info!(kind, "the next job waits to run alone, because workers have died while it ran");
                let turn = context.turns.alone().await.ok()?;
                match context.database.claim(kind, &context.name, true).await {
                    Ok(Claim::Mine(row)) => return Some(Claimed { row, turn }),
                    Ok(Claim::Alone | Claim::Nothing) => LOOK,
                    Err(error) => after(kind, &error),
                }
            }
            Ok(Claim::Nothing) => LOOK,
            Err(error) => after(kind, &error),
        };
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    None
}

fn after(kind: &str, error: &DatabaseError) -> Duration {
    error!(kind, %error, "the queue can't be read; trying again");
    AGAIN
}

pub(super) async fn run(context: &Arc<Context>, Claimed { row, turn }: Claimed) {
    let span = info_span!("job", id = row.id, name = row.name);
    context.running.fetch_add(1, Ordering::Relaxed);
    attempt(context, &row).instrument(span).await;
    context.running.fetch_sub(1, Ordering::Relaxed);
    drop(turn);
}

async fn attempt(context: &Arc<Context>, row: &JobRow) {
    info!(attempt = row.attempts, "started");
    let folder = match tempfile::Builder::new().prefix("job-").tempdir_in(context.scratch()) {
        Ok(folder) => folder,
        Err(error) => {
            let message = format!("The server has no space for the recording: {error}.");
            return end(context, row, failed(JobErrorCode::NoRoom, &message, NO_ROOM_HINT, &[])).await;
        }
    };
    let Some(work) = work(row) else {
        let message = "This job was submitted to another version of Snapscope and is not valid in this one.";
        return end(context, row, failed(JobErrorCode::InvalidConfig, message, "Submit it again.", &[])).await;
    };
    let (of_thread, scratch) = (Arc::clone(context), folder.path().to_owned());
    let (left, result) = on_thread(context, &row.id, move |events, cancelled| match work {
        Work::One(one) => {
            let made = record(&of_thread, &one, &scratch.join("snapshot.pickle"), Listener::new(events, cancelled))?;
            Ok(Results::One(Box::new(made)))
        }
        Work::Several(raw, task) => {
            let teller = Teller::new(of_thread, events, cancelled);
            several::record(*raw, task, scratch, teller).map(Results::Several)
        }
    })
    .await;
    // On failure the folder is deleted first, because a full disk would prevent recording the reason.
    let folder = result.is_ok().then_some(folder);
    match (left, result) {
        (Left::Lost, _) => {
            context.metrics.ended("lost");
            warn!("the job no longer belongs to this worker");
        }
        (Left::GivenBack, _) => give_back(context, row, false).await,
        (Left::Cancelled, Err(failure)) => {
            let log = failure.log_tail.join("\n");
            end(context, row, Outcome { log, ..Outcome::of(JobState::Cancelled) }).await;
        }
        (Left::Ended | Left::Cancelled, Ok(Results::One(made))) => keep(context, row, *made, folder).await,
        (Left::Ended | Left::Cancelled, Ok(Results::Several(Several { summary, report }))) => {
            let (result, report) = (Some(summary), Some(report));
            end(context, row, Outcome { result, report, ..Outcome::of(JobState::Finished) }).await;
        }
        (Left::Ended, Err(failure)) if failure.is_from_outside && row.attempts < crate::database::MOST_ATTEMPTS => {
            warn!(message = failure.message, "the recorder was killed; returning the job to the queue");
            give_back(context, row, true).await;
        }
        (Left::Ended, Err(failure)) => {
            let (message, hint) = (sentence(&failure.message), sentence(&failure.hint));
            end(context, row, failed(JobErrorCode::RecordingFailed, &message, &hint, &failure.log_tail)).await;
        }
    }
}

/// What a job asks for.
enum Work {
    One(One),
    Several(Box<RawJob>, JobTask),
}

/// What one recording is made of.
enum One {
    Config(Box<Job>),
    Script(Script),
}

/// What a job has made.
enum Results {
    One(Box<Made>),
    Several(Several),
}

/// Reads what a job asks for; `None` if it is not valid in this version.
fn work(row: &JobRow) -> Option<Work> {
    let raw = RawJob::from_json(&row.config).ok()?;
    match JobTask::of(&row.task)? {
        JobTask::Record => raw.resolve().ok().map(|job| Work::One(One::Config(Box::new(job)))),
        JobTask::Script => {
            let (cards, steps) = of_script(&row.config)?;
            // A job may be renamed to anything.
            let script = Script { name: "script.py".to_owned(), text: row.source.clone(), cards, steps };
            Some(Work::One(One::Script(script)))
        }
        task => Some(Work::Several(Box::new(raw), task)),
    }
}

/// Runs the recorder and compresses its snapshot.
fn record(context: &Context, one: &One, output: &Path, mut listener: Listener) -> Result<Made, Box<RecordingFailure>> {
    let start = Instant::now();
    let (recorder, limits) = (&context.recorder, &context.settings.limits);
    let recording = match one {
        One::Config(job) => repro::run(recorder, job, limits, output, &mut listener),
        One::Script(script) => {
            // Only a worker with a Python takes such jobs.
            let python = context.settings.scripts.clone().unwrap_or_default();
            run_script(recorder, &python, script, limits, output, &mut listener)
        }
    };
    let (seconds, memory_bytes) = (start.elapsed().as_secs_f64(), listener.memory_bytes());
    context.metrics.took(seconds, memory_bytes);
    info!(seconds, memory_bytes, "the recorder has ended");
    let recording = recording?;
    // The listener lives until here, so that the job shows signs of life while its snapshot is compressed.
    let packed = pack(output);
    drop(listener);
    let (file, hash) = packed.map_err(|error| {
        let hint = "free disk space on this machine, then try again";
        Failure::new(format!("the recording could not be written: {error}"), hint)
    })?;
    Ok(Made { recording, file, hash })
}

/// Compresses a snapshot next to itself; returns the path and the SHA-256 of the compressed file.
fn pack(snapshot: &Path) -> io::Result<(PathBuf, String)> {
    let packed = snapshot.with_extension("pickle.gz");
    let mut encoder =
        GzEncoder::new(Hashing { file: File::create(&packed)?, hasher: Sha256::new() }, Compression::new(LEVEL));
    io::copy(&mut BufReader::with_capacity(PIECE, File::open(snapshot)?), &mut encoder)?;
    let Hashing { hasher, .. } = encoder.finish()?;
    std::fs::remove_file(snapshot)?;
    Ok((packed, hex(hasher.finalize())))
}

/// A file that hashes what is written to it.
struct Hashing {
    file: File,
    hasher: Sha256,
}

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Stores a recording, deletes its folder and ends its job.
async fn keep(context: &Context, row: &JobRow, made: Made, folder: Option<TempDir>) {
    let result = serde_json::to_string(&made.recording.report()).expect("plain data can be written");
    let curve = serde_json::to_string(&made.recording.curve).expect("plain data can be written");
    let stored = store(context, row, &made).await;
    drop(folder);
    match stored {
        Ok(()) => {
            let log = made.recording.warnings.join("\n");
            let snapshot = Some(made.hash.clone());
            let (result, curve) = (Some(result), Some(curve));
            end(context, row, Outcome { result, curve, log, snapshot, ..Outcome::of(JobState::Finished) }).await;
        }
        Err(error) => {
            let hint = match &error {
                SnapshotError::Full => QUOTA_HINT,
                SnapshotError::Store(error) if error.kind() == StoreErrorKind::Full => NO_ROOM_HINT,
                _ => "Check the server's store, then submit the job again.",
            };
            let message = format!("The recording could not be stored: {error}.");
            end(context, row, failed(JobErrorCode::NotStored, &message, hint, &[])).await;
        }
    }
}

/// Stores a recording, retries after transient errors, and shows signs of life meanwhile.
async fn store(context: &Context, row: &JobRow, made: &Made) -> Result<(), SnapshotError> {
    let is_full = |error: &SnapshotError| match error {
        SnapshotError::Full => true,
        SnapshotError::Store(error) => error.kind() == StoreErrorKind::Full,
        SnapshotError::Database(_) => false,
    };
    let work = async {
        let start = Instant::now();
        loop {
            match snapshots::keep(&context.database, &context.store, &made.file, &made.hash).await {
                Err(error) if !is_full(&error) && start.elapsed() < STORED_WITHIN => {
                    warn!(%error, "the recording could not be stored; trying again");
                }
                result => return result,
            }
            tokio::time::sleep(BETWEEN_TRIES).await;
        }
    };
    let alive = async {
        loop {
            tokio::time::sleep(context.settings.lease / 6).await;
            let _ = context.database.report(&row.id, &context.name, None, &[]).await;
        }
    };
    tokio::select! {
        result = work => result,
        () = alive => unreachable!("it never ends"),
    }
}

/// Writes the end of a job to the database, with retries; if all fail, another worker finds the job.
async fn end(context: &Context, row: &JobRow, outcome: Outcome) {
    context.metrics.ended(outcome.state.word());
    for _ in 0..TRIES {
        match context.database.finish(&row.id, &context.name, &outcome).await {
            Ok(true) => return info!(state = outcome.state.word(), "ended"),
            Ok(false) => return warn!("the job no longer belongs to this worker"),
            Err(error) => warn!(%error, "the end of the job could not be written; trying again"),
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
    error!("the end of the job could not be written; the job will run again");
}

/// Returns a job to the queue; `is_attempt` says whether this start counts as an attempt.
async fn give_back(context: &Context, row: &JobRow, is_attempt: bool) {
    context.metrics.ended("given_back");
    match context.database.give_back(&row.id, &context.name, is_attempt).await {
        Ok(Some(state)) => info!(state = state.word(), "returned to the queue"),
        Ok(None) => warn!("the job no longer belongs to this worker"),
        Err(error) => warn!(%error, "the job can't be returned to the queue; another worker will find it"),
    }
}

const QUOTA_HINT: &str = "Delete jobs and links that nobody needs, or have the server's `quota` raised. Deleting frees \
    space within about an hour. Then submit the job again.";
const NO_ROOM_HINT: &str = "Free disk space on the server, then submit the job again.";

fn failed(code: JobErrorCode, message: &str, hint: &str, log: &[String]) -> Outcome {
    let error = serde_json::to_string(&JobError::new(code, message, hint)).expect("plain data can be written");
    Outcome { error: Some(error), log: log.join("\n"), ..Outcome::of(JobState::Failed) }
}

/// Turns `the recorder crashed` into `The recorder crashed.`
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}
