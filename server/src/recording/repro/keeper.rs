//! Starts the recorder, reads its output and enforces its limits until it has ended.

use std::io::{self, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use shared::api::{Failed, Finished, Progress, RecorderLine, Started};

use super::Limits;
use super::process::{Launch, Process, Tail, each_line};

/// Interval between checks of limits and cancellation.
const TICK: Duration = Duration::from_millis(50);

/// Interval between checks whether a process has ended after it closed its output.
const MOMENT: Duration = Duration::from_millis(2);

/// Maximum length of a line that is parsed as JSON; PyTorch's longest messages take some kilobytes.
const LINE_BYTES: usize = 256 << 10;

const LOG_LINE_BYTES: usize = 2000;

/// Number of unread lines after which the recorder has to wait.
const QUEUED_LINES: usize = 1024;

/// Time to wait for the last lines after the recorder has ended.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Maximum number of messages that are kept.
const MESSAGES: usize = 100;

/// Observer of a recording that can stop it.
pub trait Watcher {
    /// Receives a line of the recorder, on the thread that runs the recording.
    fn line(&mut self, line: &RecorderLine);

    /// Returns true if the recording is to be stopped; called about twenty times per second.
    fn is_cancelled(&mut self) -> bool {
        false
    }

    /// Receives the recorder's host memory in bytes, about as often.
    fn memory(&mut self, _bytes: u64) {}
}

/// The way in which the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It ended without its keeper.
    Exited(ExitStatus),
    Stopped(Stop),
}

impl End {
    /// Returns true if somebody else killed it, such as the kernel when the machine ran out of memory.
    pub(super) fn is_from_outside(self) -> bool {
        const KILLED: [i32; 2] = [9, 15];
        matches!(self, Self::Exited(status) if status.signal().is_some_and(|signal| KILLED.contains(&signal)))
    }
}

/// The reason why the keeper stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The watcher cancelled the recording.
    Cancelled,
    /// The recording took too long.
    Time,
    /// The recorder used this many bytes of host memory.
    Memory(u64),
}

/// The recorder's output.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) started: Option<Started>,
    pub(super) progress: Option<Progress>,
    pub(super) messages: Vec<String>,
    pub(super) finished: Option<Finished>,
    pub(super) failed: Option<Failed>,
    /// Last lines of standard error, and lines of standard output that do not belong to the protocol.
    pub(super) log: Vec<String>,
    pub(super) seconds: f64,
}

pub(super) fn keep(launch: &Launch, limits: &Limits, watcher: &mut dyn Watcher) -> io::Result<(End, Transcript)> {
    let start = Instant::now();
    let mut process = Process::start(launch, limits)?;
    let tail = Arc::new(Mutex::new(Tail::default()));
    let lines = listen(&mut process, &tail);
    let mut ear = Ear { lines, tail, watcher, transcript: Transcript::default() };
    let end = wait(&mut process, limits, start, &mut ear)?;
    let mut transcript = ear.transcript;
    transcript.seconds = start.elapsed().as_secs_f64();
    transcript.log = ear.tail.lock().unwrap_or_else(PoisonError::into_inner).lines();
    Ok((end, transcript))
}

/// Reads both outputs on threads, which end with the outputs.
fn listen(process: &mut Process, tail: &Arc<Mutex<Tail>>) -> Receiver<String> {
    let (stdout, stderr) = process.take_outputs();
    let (sender, lines): (SyncSender<String>, _) = sync_channel(QUEUED_LINES);
    // The channel closes once no sender is left, which is when both outputs have ended.
    let log_is_open = sender.clone();
    let tail = Arc::clone(tail);
    // A read error is treated as the end of the output.
    std::thread::spawn(move || each_line(BufReader::new(stdout), LINE_BYTES, |line| sender.send(line).is_ok()));
    std::thread::spawn(move || {
        let log = each_line(BufReader::new(stderr), LOG_LINE_BYTES, |line| {
            tail.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            true
        });
        drop(log_is_open);
        log
    });
    lines
}

/// Reads lines until the process has ended, or stops it for exceeding a limit or by cancellation.
fn wait(process: &mut Process, limits: &Limits, start: Instant, ear: &mut Ear<'_>) -> io::Result<End> {
    loop {
        ear.listen_for(TICK);
        if let Some(status) = process.try_wait()? {
            ear.listen_to_the_end(LAST_LINES);
            return Ok(End::Exited(status));
        }
        if let Some(stop) = reason_to_stop(process, limits, start, ear.watcher) {
            stop_process(process, limits.grace, ear)?;
            return Ok(End::Stopped(stop));
        }
    }
}

fn reason_to_stop(process: &mut Process, limits: &Limits, start: Instant, watcher: &mut dyn Watcher) -> Option<Stop> {
    if watcher.is_cancelled() {
        return Some(Stop::Cancelled);
    }
    if start.elapsed() > limits.time {
        return Some(Stop::Time);
    }
    let bytes = process.resident_bytes()?;
    watcher.memory(bytes);
    (bytes > limits.memory_bytes).then_some(Stop::Memory(bytes))
}

/// Asks the process to end, and kills it after the grace period.
fn stop_process(process: &mut Process, grace: Duration, ear: &mut Ear<'_>) -> io::Result<()> {
    process.signal(Signal::TERM);
    let deadline = Instant::now() + grace;
    while Instant::now() < deadline {
        ear.listen_for(TICK);
        if process.try_wait()?.is_some() {
            break;
        }
    }
    process.signal(Signal::KILL);
    while process.try_wait()?.is_none() {
        ear.listen_for(TICK);
    }
    ear.listen_to_the_end(LAST_LINES);
    Ok(())
}

/// Receives lines and keeps a transcript of them.
struct Ear<'a> {
    lines: Receiver<String>,
    tail: Arc<Mutex<Tail>>,
    watcher: &'a mut dyn Watcher,
    transcript: Transcript,
}

impl Ear<'_> {
    /// Receives lines for the given time, or for a shorter one if the output has ended.
    fn listen_for(&mut self, time: Duration) {
        let rest = self.listen_until(Instant::now() + time);
        std::thread::sleep(rest.min(MOMENT));
    }

    /// Receives the remaining lines, for at most the given time.
    fn listen_to_the_end(&mut self, time: Duration) {
        self.listen_until(Instant::now() + time);
    }

    /// Receives lines until the deadline; returns the time left when the output ended.
    fn listen_until(&mut self, deadline: Instant) -> Duration {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.hear(line),
                Err(RecvTimeoutError::Timeout) => return Duration::ZERO,
                Err(RecvTimeoutError::Disconnected) => return left,
            }
            if left.is_zero() {
                return left;
            }
        }
    }

    fn hear(&mut self, text: String) {
        let Ok(line) = serde_json::from_str(&text) else {
            // Libraries may print anything, and it can help to find the cause of a failure.
            self.log(&text);
            return;
        };
        let line = self.without_backtrace(line);
        self.watcher.line(&line);
        let transcript = &mut self.transcript;
        match line {
            RecorderLine::Started(started) => transcript.started = Some(started),
            RecorderLine::Progress(progress) => transcript.progress = Some(progress),
            RecorderLine::Message(message) if transcript.messages.len() < MESSAGES => {
                transcript.messages.push(message.text);
            }
            RecorderLine::Message(_) | RecorderLine::Snapshot(_) => {}
            RecorderLine::Finished(finished) => transcript.finished = Some(finished),
            RecorderLine::Failed(failed) => transcript.failed = Some(failed),
        }
    }

    /// Moves the C++ stack that PyTorch appends to its messages into the log.
    fn without_backtrace(&self, mut line: RecorderLine) -> RecorderLine {
        let message = match &mut line {
            RecorderLine::Finished(Finished { oom: Some(oom), .. }) => &mut oom.message,
            RecorderLine::Failed(failed) => &mut failed.message,
            _ => return line,
        };
        if let Some(start) = message.find("\nException raised from ") {
            message.split_off(start).lines().skip(1).for_each(|frame| self.log(frame));
        }
        line
    }

    fn log(&self, text: &str) {
        let kept = text.chars().take(LOG_LINE_BYTES).collect();
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
    }
}
