//! Reads foreign snapshots in a separate process with limits on memory and time.
//!
//! The decoder limits its memory by the bytes it has read, but a small compressed file can unpack to a lot of input.
//!
//! Invariant: the calling process learns of such a file only what the separate process reports.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::de::DeserializeOwned;
use walls::Walls;

use crate::failure::Failure;

/// Maximum bytes read of an answer; curves take some ten thousand, findings some hundred thousand.
pub(crate) const MOST_ANSWER_BYTES: u64 = 4 << 20;

/// Interval between checks whether a process has ended.
const MOMENT: Duration = Duration::from_millis(2);

/// Resource limits of a process that reads a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// Processor time, in seconds.
    pub seconds: u64,
}

/// Reason why a snapshot could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// The file is not a snapshot; the text says why, without a full stop.
    NotASnapshot(String),
    /// Reading the snapshot exceeds the limits of the process.
    TooMuch,
    /// The process cannot be run, or its answer cannot be read.
    Failed(String),
}

impl Allowance {
    /// Applies the limits to this process and restricts its file access to reading `file`.
    pub(crate) fn hold(self, file: &Path) {
        let limit = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        // Where limits cannot be set, the parent's timeout still applies.
        let _ = limit(Resource::As, self.memory_bytes);
        let _ = limit(Resource::Cpu, self.seconds);
        let _ = limit(Resource::Core, 0);
        // Old kernels support the limits but not the sandbox.
        let _ = Walls { read: vec![file.to_owned()], ..Walls::default() }.raise();
    }
}

/// Builds a command that runs this program on a file with an empty environment.
pub(crate) fn command(program: &Path, name: &str, file: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(name).arg(file).env_clear().stdin(Stdio::null());
    command
}

/// Parses the output of a process that has read a snapshot.
///
/// # Errors
///
/// Returns an error if the process failed, or if its output has reached the limit or cannot be parsed.
pub(crate) fn answer<T: DeserializeOwned>(output: &Output) -> Result<T, DecodeError> {
    if output.stdout.len() as u64 >= MOST_ANSWER_BYTES {
        return Err(DecodeError::TooMuch);
    }
    if output.status.success() {
        return serde_json::from_slice(&output.stdout).map_err(|error| DecodeError::Failed(error.to_string()));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(code) if code == i32::from(Failure::EXIT_STATUS) => {
            let message = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Err(DecodeError::NotASnapshot(message.to_owned()))
        }
        // A Rust program that runs out of memory aborts.
        _ => Err(DecodeError::TooMuch),
    }
}

/// Runs a process, kills it after `most`, and parses its output.
///
/// # Errors
///
/// Fails as [`answer`] does, and if the process cannot be started or takes too long.
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
    // A read error leaves the answer incomplete, so parsing it fails.
    let _ = source.take(MOST_ANSWER_BYTES).read_to_end(&mut bytes);
    bytes
}

/// Waits for a process to end; `None` if it had to be killed.
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
