//! Writes samples of a process and of its descendants to a file.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::arenas::Arenas;
use super::proc;
use super::shm::{self, SharedFolder};
use crate::Failure;

/// Time between two samples beside a recording, which takes seconds.
const BESIDE_EVERY: Duration = Duration::from_millis(200);

/// File of samples that is being written.
#[derive(Debug)]
pub(super) struct Sampler {
    path: PathBuf,
    file: BufWriter<File>,
    /// Names in shared memory from before the program.
    older: std::collections::HashSet<String>,
    watched: Option<Watched>,
    samples: u64,
}

/// What is sampled.
#[derive(Debug)]
struct Watched {
    root: u32,
    shared: SharedFolder,
    arenas: Arenas,
}

impl Sampler {
    /// Opens the file before the program is started; an older file keeps its content until there is something to sample.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| Failure::writing(path, &error))?;
        let (path, file) = (path.to_owned(), BufWriter::new(file));
        Ok(Self { path, file, older: shm::names(), watched: None, samples: 0 })
    }

    /// Begins with a process and its descendants.
    pub(super) fn begin(&mut self, root: u32) -> Result<(), Failure> {
        let shared = SharedFolder::new(root, std::mem::take(&mut self.older));
        self.watched = Some(Watched { root, shared, arenas: Arenas::default() });
        let begun = self.file.get_ref().set_len(0).and_then(|()| self.file.write_all(proc::header().as_bytes()));
        begun.map_err(|error| Failure::writing(&self.path, &error))
    }

    /// Takes a sample, which is in the file afterwards; returns false if the process has ended.
    pub(super) fn sample(&mut self) -> Result<bool, Failure> {
        let Some(Watched { root, shared, arenas }) = &mut self.watched else { return Ok(false) };
        let rows = proc::tree(*root);
        if rows.is_empty() {
            return Ok(false);
        }
        let lines = arenas.lines(&rows) + &shared.lines(&rows);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let rows = rows.iter().map(|row| format!("{}.{:03},{}\n", now.as_secs(), now.subsec_millis(), row.cells()));
        let written = self.file.write_all((rows.collect::<String>() + &lines).as_bytes());
        written.and_then(|()| self.file.flush()).map_err(|error| Failure::writing(&self.path, &error))?;
        self.samples += 1;
        Ok(true)
    }

    /// Writes what stays after the program; returns the number of samples.
    pub(super) fn finish(mut self) -> Result<u64, Failure> {
        let left = self.watched.map(|watched| left(&watched.shared)).unwrap_or_default();
        let written = self.file.write_all(left.as_bytes()).and_then(|()| self.file.flush());
        written.map_err(|error| Failure::writing(&self.path, &error))?;
        Ok(self.samples)
    }
}

/// Does some work, and meanwhile samples this process and those that it starts.
///
/// # Errors
/// Returns the error of the work, or one about the file.
pub(in crate::commands) fn sampled_beside<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut sampler = Sampler::open(path)?;
    sampler.begin(std::process::id())?;
    let (end, ended) = channel::<()>();
    std::thread::scope(|scope| {
        let sampling = scope.spawn(move || {
            while sampler.sample()? && ended.recv_timeout(BESIDE_EVERY) == Err(RecvTimeoutError::Timeout) {}
            sampler.finish()
        });
        let done = work();
        drop(end);
        let samples = sampling.join().expect("sampling does not panic");
        done.and_then(|done| samples.map(|_| done))
    })
}

/// Returns the line about files that stay in shared memory; Python's resource tracker removes some of them after the end.
fn left(shared: &SharedFolder) -> String {
    const PAUSE: Duration = Duration::from_millis(50);
    for _ in 0..40 {
        if shared.left().is_none() {
            return String::new();
        }
        std::thread::sleep(PAUSE);
    }
    shared.left().unwrap_or_default()
}
