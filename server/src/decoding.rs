//! Snapshots that others wrote are read in a process of their own, which may take so much memory and time and no more.
//!
//! The decoder bounds what it takes by what it has read; compressed, little can be read for a long time.
//!
//! Invariant: a server and a keeper see no byte of such a file, but what this process says of it.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::de::DeserializeOwned;
use walls::Walls;

use crate::failure::Failure;

/// The most of an answer that is read, in bytes: curves have some ten thousand.
const MOST_ANSWER_BYTES: u64 = 4 << 20;

/// How often a process is asked whether it has ended.
const MOMENT: Duration = Duration::from_millis(2);

/// What a process that reads a snapshot may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Address space.
    pub memory_bytes: u64,
    /// Processor time.
    pub seconds: u64,
}

/// Why nothing is known of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// It is no snapshot: why, in a sentence without the full stop.
    NotASnapshot(String),
    /// Reading it takes more than the process may.
    TooMuch,
    /// The process cannot be run.
    Failed(String),
}

impl Allowance {
    /// Holds this process to it, and leaves it `file` to read and nothing else.
    pub(crate) fn hold(self, file: &Path) {
        let limit = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        // Where limits cannot be set, the parent's time still ends it.
        let _ = limit(Resource::As, self.memory_bytes);
        let _ = limit(Resource::Cpu, self.seconds);
        let _ = limit(Resource::Core, 0);
        // On an old kernel there are limits and no walls.
        let _ = Walls { read: vec![file.to_owned()], ..Walls::default() }.raise();
    }
}

/// A process of this program that runs a command on a file and knows nothing else.
pub(crate) fn command(program: &Path, name: &str, file: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(name).arg(file).env_clear().stdin(Stdio::null());
    command
}

/// What a process has found out.
///
/// # Errors
///
/// It failed, or said nothing that can be read.
pub(crate) fn answer<T: DeserializeOwned>(output: &Output) -> Result<T, DecodeError> {
    if output.status.success() {
        return serde_json::from_slice(&output.stdout).map_err(|error| DecodeError::Failed(error.to_string()));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(code) if code == i32::from(Failure::EXIT_STATUS) => {
            let message = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Err(DecodeError::NotASnapshot(message.to_owned()))
        }
        // Out of memory a Rust program aborts.
        _ => Err(DecodeError::TooMuch),
    }
}

/// Runs a process to its end, or ends it after a time, and returns what it has found out.
///
/// # Errors
///
/// As [`answer`]; or it cannot be started, or takes too long.
pub(crate) fn run<T: DeserializeOwned>(mut command: Command, most: Duration) -> Result<T, DecodeError> {
    let failed = |error: io::Error| DecodeError::Failed(error.to_string());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let stdout = child.stdout.take().map(|source| thread::spawn(|| start_of(source)));
    let stderr = child.stderr.take().map(|source| thread::spawn(|| start_of(source)));
    let status = wait(&mut child, most);
    let text = |reader: Option<thread::JoinHandle<_>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let (stdout, stderr) = (text(stdout), text(stderr));
    answer(&Output { status: status.map_err(failed)?.ok_or(DecodeError::TooMuch)?, stdout, stderr })
}

fn start_of(source: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is missing, and the answer is none.
    let _ = source.take(MOST_ANSWER_BYTES).read_to_end(&mut bytes);
    bytes
}

/// The status of a process; `None` for one that had to be ended.
fn wait(child: &mut Child, most: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let deadline = Instant::now() + most;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if Instant::now() < deadline => thread::sleep(MOMENT),
            None => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
        }
    }
}
