//! A child process in a group of its own: its limits, its memory, its end.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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
    /// The processes of its group, and when they were looked for.
    members: Vec<Pid>,
    looked: Option<Instant>,
}

/// How often the processes of a group are looked for: that takes some milliseconds where very many run.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

impl Process {
    /// Starts a command; the kernel holds its files, its processor time and its descriptors to limits.
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
        let process = Self { child, group, has_ended: false, members: Vec::new(), looked: None };
        // Before the input comes, there is nothing that it could have written.
        hold(group, limits);
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

    /// The resident memory of it and of all that it started, in bytes; `None` where the system does not tell.
    ///
    /// Pages that several of them share count for each; one that has just been started counts within a second.
    pub(super) fn resident_bytes(&mut self) -> Option<u64> {
        if self.looked.is_none_or(|looked| looked.elapsed() >= BETWEEN_LOOKS) {
            self.members = members(self.group)?;
            self.looked = Some(Instant::now());
        }
        let pages: u64 = self.members.iter().filter_map(|process| resident_pages(*process)).sum();
        Some(pages * rustix::param::page_size() as u64)
    }
}

/// The processes of a group; all processes of this machine are looked at.
fn members(group: Pid) -> Option<Vec<Pid>> {
    let names = std::fs::read_dir("/proc").ok()?.flatten();
    let processes = names.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    Some(processes.filter(|process| group_of(*process) == Some(group.as_raw_pid())).collect())
}

/// The number of a process's group: 0 for threads of the kernel, which is no group.
fn group_of(process: Pid) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{}/stat", process.as_raw_pid())).ok()?;
    // A program's name may have anything in it, brackets included.
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

fn resident_pages(process: Pid) -> Option<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{}/statm", process.as_raw_pid())).ok()?;
    statm.split(' ').nth(1)?.parse().ok()
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if !self.has_ended {
            let _ = self.child.wait();
        }
    }
}

/// The most files, sockets and devices that a recorder has open: CUDA opens some dozens for each card.
#[cfg(target_os = "linux")]
const DESCRIPTORS: u64 = 4096;

/// Lets the kernel hold what it can: the size of files, processor time, descriptors, and no core file.
///
/// Not address space, of which a virtual GPU reserves a tebibyte, and not the number of processes, which is counted over
/// all that the user runs; the recorder itself gives up starting any.
#[cfg(target_os = "linux")]
fn hold(pid: Pid, limits: &Limits) {
    use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
    // Where that is refused the limit is not held: the recording itself is none the worse.
    let limit = |resource, soft: u64, hard: u64| {
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let _ = prlimit(Some(pid), resource, Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) });
    };
    let seconds = processor_seconds(limits);
    limit(Resource::Fsize, limits.output_bytes, limits.output_bytes);
    // The first ends it by a signal that tells why, the second whatever it does.
    limit(Resource::Cpu, seconds, seconds + 5);
    limit(Resource::Nofile, DESCRIPTORS, DESCRIPTORS);
    limit(Resource::Core, 0, 0);
}

/// There are recorders for Linux only.
#[cfg(not(target_os = "linux"))]
fn hold(_pid: Pid, _limits: &Limits) {}

/// Processor time that no recording takes within its time: its keeper is to end it long before, and this ends it where
/// the keeper can't.
#[cfg(target_os = "linux")]
fn processor_seconds(limits: &Limits) -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, |processors| processors.get() as u64);
    2 * processors * ((limits.time + limits.grace).as_secs() + 1)
}
