//! Runs a child process in its own process group, with limits, and reads lines that are limited as well.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, setpriority_process, waitid};

/// A command with its complete environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) input: String,
}

/// A child process that is killed on drop, together with all processes that it started.
pub(super) struct Process {
    child: Child,
    group: Pid,
    has_ended: bool,
    /// Processes of its group, as of `looked`.
    members: Vec<Pid>,
    looked: Option<Instant>,
}

/// Interval between searches for the processes of a group, which take milliseconds on a busy machine.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

impl Process {
    /// Starts a command with kernel limits on its file size, processor time and file descriptors.
    ///
    /// It has its own process group, so that an interrupt at the terminal reaches its keeper first.
    pub(super) fn start(launch: &Launch, limits: &Limits) -> io::Result<Self> {
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            // A recorder whose keeper died before its first line ends by itself.
            .env("SNAPSCOPE_KEEPER", std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let input = child.stdin.take();
        let process = Self { child, group, has_ended: false, members: Vec::new(), looked: None };
        // The limits apply in time, because the process cannot write anything before its input arrives.
        hold(group, limits);
        if limits.niceness > 0 {
            // If this is refused, the process runs with normal priority.
            let _ = setpriority_process(Some(group), limits.niceness);
        }
        if let Some(mut input) = input {
            let text = launch.input.clone();
            // A separate thread writes the input, because the process may never read it or may end before.
            std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
        }
        Ok(process)
    }

    /// Returns its standard output and standard error; may be called once.
    pub(super) fn take_outputs(&mut self) -> (ChildStdout, ChildStderr) {
        let stdout = self.child.stdout.take().expect("piped at the start, and taken once");
        (stdout, self.child.stderr.take().expect("piped at the start, and taken once"))
    }

    /// Returns its status if it has ended, and then kills all processes that it started.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if !self.has_ended && waitid(WaitId::Pid(self.group), look)?.is_none() {
            return Ok(None);
        }
        // Until the process is reaped, its process group ID cannot be reused.
        self.signal(Signal::KILL);
        let status = self.child.try_wait()?;
        self.has_ended |= status.is_some();
        Ok(status)
    }

    /// Sends a signal to its process group; does nothing once it has ended.
    pub(super) fn signal(&self, signal: Signal) {
        // After the process was reaped, its ID may belong to another one.
        if !self.has_ended {
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Returns the resident memory of its process group, in bytes; `None` if it cannot be read.
    ///
    /// Shared pages count once per process, and a newly started process counts within a second.
    pub(super) fn resident_bytes(&mut self) -> Option<u64> {
        if self.looked.is_none_or(|looked| looked.elapsed() >= BETWEEN_LOOKS) {
            self.members = members(self.group)?;
            self.looked = Some(Instant::now());
        }
        let pages = |process: &Pid| -> Option<u64> {
            let statm = std::fs::read_to_string(format!("/proc/{}/statm", process.as_raw_pid())).ok()?;
            statm.split(' ').nth(1)?.parse().ok()
        };
        Some(self.members.iter().filter_map(pages).sum::<u64>() * rustix::param::page_size() as u64)
    }
}

/// Returns the processes of a group by scanning all processes of the machine.
fn members(group: Pid) -> Option<Vec<Pid>> {
    let names = std::fs::read_dir("/proc").ok()?.flatten();
    let processes = names.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    Some(processes.filter(|process| group_of(*process) == Some(group.as_raw_pid())).collect())
}

/// Returns the process group ID of a process; kernel threads have 0, which is no group.
fn group_of(process: Pid) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{}/stat", process.as_raw_pid())).ok()?;
    // A program's name may contain any character, including brackets.
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if !self.has_ended {
            let _ = self.child.wait();
        }
    }
}

/// Maximum number of open files, sockets and devices of a recorder; CUDA opens some dozens per card.
#[cfg(target_os = "linux")]
const DESCRIPTORS: u64 = 4096;

/// Sets kernel limits on file size, processor time and file descriptors, and disables core files.
///
/// Address space is not limited, because a virtual GPU reserves a tebibyte. Neither is the number of processes, which
/// the kernel counts over all processes of the user; the recorder itself gives up the right to start any.
#[cfg(target_os = "linux")]
fn hold(pid: Pid, limits: &Limits) {
    use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
    // If this is refused, the recording runs without the limit.
    let limit = |resource, soft: u64, hard: u64| {
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let _ = prlimit(Some(pid), resource, Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) });
    };
    let seconds = processor_seconds(limits);
    limit(Resource::Fsize, limits.output_bytes, limits.output_bytes);
    // The soft limit sends a signal that names the cause; the hard limit kills the process in any case.
    limit(Resource::Cpu, seconds, seconds + 5);
    limit(Resource::Nofile, DESCRIPTORS, DESCRIPTORS);
    limit(Resource::Core, 0, 0);
}

/// Does nothing, because recorders exist for Linux only.
#[cfg(not(target_os = "linux"))]
fn hold(_pid: Pid, _limits: &Limits) {}

/// Returns a limit on processor time that no recording reaches within its wall-clock time.
///
/// It ends a recorder whose keeper cannot do so.
#[cfg(target_os = "linux")]
fn processor_seconds(limits: &Limits) -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, |processors| processors.get() as u64);
    2 * processors * ((limits.time + limits.grace).as_secs() + 1)
}

/// Limits beyond which a recording is stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from the start of the recorder to its end.
    pub time: Duration,
    /// Resident host memory of the recorder, in bytes.
    ///
    /// Address space is not limited, because a virtual GPU reserves a tebibyte of it per card.
    pub memory_bytes: u64,
    /// Size of a file that the recorder writes, in bytes.
    pub output_bytes: u64,
    /// Niceness of the recorder: 0 for normal priority, 19 for the lowest.
    pub niceness: i32,
    /// Time that the recorder has to end by itself once it is asked to.
    pub grace: Duration,
}

impl Default for Limits {
    /// Returns limits for any config that a desktop can record; a server sets its own.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(3600),
            memory_bytes: 16 << 30,
            output_bytes: 16 << 30,
            niceness: 0,
            grace: Duration::from_secs(5),
        }
    }
}

/// Marker that replaces the rest of a long line.
const CUT: &str = " …";

/// Calls `take` with each line, without its line ending and cut after `most_bytes`, until the source ends.
///
/// Invalid UTF-8 is replaced; a last line without a line ending counts. Reading stops when `take` returns false.
pub(super) fn each_line(
    mut source: impl BufRead,
    most_bytes: usize,
    mut take: impl FnMut(String) -> bool,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut is_cut = false;
    loop {
        let buffer = source.fill_buf()?;
        let (piece, used, is_end) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&buffer[..end], end + 1, true),
            None => (buffer, buffer.len(), false),
        };
        let is_over = used == 0;
        let room = most_bytes - line.len();
        is_cut |= piece.len() > room;
        line.extend_from_slice(&piece[..piece.len().min(room)]);
        source.consume(used);
        if is_end || (is_over && !line.is_empty()) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if !take(if is_cut { text + CUT } else { text }) {
                return Ok(());
            }
            line.clear();
            is_cut = false;
        }
        if is_over {
            return Ok(());
        }
    }
}

/// The last lines of a log.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
}

impl Tail {
    pub(super) const LINES: usize = 40;

    /// Adds a line and drops the oldest if there are too many.
    pub(super) fn push(&mut self, line: String) {
        if self.lines.len() == Self::LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// Returns the lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], most_bytes: usize, expected: &[&str]) {
        for buffer_bytes in [1, 3, 100] {
            let mut lines = Vec::new();
            let source = io::BufReader::with_capacity(buffer_bytes, text);
            each_line(source, most_bytes, |line| {
                lines.push(line);
                true
            })
            .unwrap();
            assert_eq!(lines, expected, "read {buffer_bytes} bytes at a time");
        }
    }

    #[test]
    fn lines_end_where_they_should() {
        check(b"", 9, &[]);
        check(b"one\ntwo\r\n\nlast", 9, &["one", "two", "", "last"]);
        check(b"\xff\n", 9, &["\u{fffd}"]);
        // A long line is cut, and the next is whole.
        check(b"123456789\nabc\n", 4, &["1234 …", "abc"]);
        check(b"1234\nabc\n", 4, &["1234", "abc"]);
        // Reading stops when nobody wants more.
        let mut lines = 0;
        each_line(&b"1\n2\n3\n"[..], 9, |_| {
            lines += 1;
            lines < 2
        })
        .unwrap();
        assert_eq!(lines, 2);
        // A tail keeps the last lines.
        let mut tail = Tail::default();
        (0..1000).for_each(|line| tail.push(line.to_string()));
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[39].as_str()), (40, "960", "999"));
    }
}
