//! A child process in a group of its own: its limits, its memory, its end.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, setpriority_process, waitid};

use super::Limits;

/// A command with all of its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    /// The program.
    pub(super) program: PathBuf,
    /// Its arguments.
    pub(super) arguments: Vec<OsString>,
    /// Every variable that it sees.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// What it reads on standard input.
    pub(super) input: String,
}

/// A process that ends, with all that it started, when this is dropped.
pub(super) struct Process {
    child: Child,
    group: Pid,
    has_ended: bool,
}

impl Process {
    /// Starts a command; no file that it writes gets larger than it may, and a crash leaves no core file.
    ///
    /// Its group is its own, so that an interrupt at the terminal reaches its keeper first.
    ///
    /// # Errors
    ///
    /// The program is not there or cannot be executed.
    pub(super) fn start(launch: &Launch, limits: &Limits) -> io::Result<Self> {
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            // A recorder whose keeper died before it came to its first line ends by itself.
            .env("SNAPSCOPE_KEEPER", std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let input = child.stdin.take();
        let process = Self { child, group, has_ended: false };
        // Before the input comes, there is nothing that it could have written.
        limit_files(group, limits.output_bytes);
        if limits.niceness > 0 {
            // Where that is refused it competes with others as an equal.
            let _ = setpriority_process(Some(group), limits.niceness);
        }
        if let Some(mut input) = input {
            let text = launch.input.clone();
            // It may never read: a thread of its own can wait for that. It may also end before: then nobody needs it.
            std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
        }
        Ok(process)
    }

    /// Its standard output and standard error, once.
    pub(super) fn take_outputs(&mut self) -> (ChildStdout, ChildStderr) {
        let stdout = self.child.stdout.take().expect("piped at the start, and taken once");
        (stdout, self.child.stderr.take().expect("piped at the start, and taken once"))
    }

    /// Its status, if it has ended; what it started ends with it.
    ///
    /// # Errors
    ///
    /// The system cannot say.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if !self.has_ended && waitid(WaitId::Pid(self.group), look)?.is_none() {
            return Ok(None);
        }
        // Until it is waited for, the number of its group is nobody else's.
        self.signal(Signal::KILL);
        let status = self.child.try_wait()?;
        self.has_ended |= status.is_some();
        Ok(status)
    }

    /// Sends a signal to it and to all that it started; where nobody is left, nothing happens.
    pub(super) fn signal(&self, signal: Signal) {
        // Once it was waited for, its number may be another's.
        if !self.has_ended {
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Its resident memory in bytes; `None` where the system does not tell.
    pub(super) fn resident_bytes(&self) -> Option<u64> {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).ok()?;
        let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if !self.has_ended {
            let _ = self.child.wait();
        }
    }
}

/// Lets the kernel hold the size of files.
#[cfg(target_os = "linux")]
fn limit_files(pid: Pid, output_bytes: u64) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    // Where that is refused the limit is not held: the recording itself is none the worse.
    let _ = prlimit(Some(pid), Resource::Fsize, limit(output_bytes));
    let _ = prlimit(Some(pid), Resource::Core, limit(0));
}

/// There are recorders for Linux only.
#[cfg(not(target_os = "linux"))]
fn limit_files(_pid: Pid, _output_bytes: u64) {}
