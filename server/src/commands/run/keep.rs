//! Waits for the end of a run, within its limits, and ends whatever it leaves behind.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use shared::api::RunStop;

use super::children::Children;
use super::folder::Folder;
use super::processes::Processes;
use super::reported;
use crate::commands::host::of_machine;

/// Interval between looks at the script.
const TICK: Duration = Duration::from_millis(20);

/// Interval between measurements, which read files of all processes.
const BETWEEN_MEASUREMENTS: Duration = Duration::from_millis(500);

/// Time in which the processes have to write their snapshots after they are asked to end.
const TO_WRITE: Duration = Duration::from_secs(60);

/// Time between an interrupt, a request to end, and the kill.
const TO_END: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) time: Duration,
    /// True if the user asked for the end at this time.
    pub(super) is_time_asked: bool,
    /// Resident memory of all processes.
    pub(super) memory_bytes: u64,
    /// Bytes that all processes write to the disk.
    pub(super) disk_bytes: u64,
}

/// Returns the limit on resident memory where the user names none: nine tenths of this machine's memory.
pub(super) fn most_of_machine() -> u64 {
    of_machine("MemTotal:").unwrap_or(u64::MAX) / 10 * 9
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct End {
    /// Status of the command itself, 128 plus the signal if one ended it.
    pub(super) status: i32,
    /// Reason of this process to end it.
    pub(super) stop: Option<RunStop>,
    pub(super) limits: Limits,
    pub(super) seconds: f64,
}

/// Waits for a command; when this returns, none of its processes runs.
pub(super) fn keep(
    mut children: Children,
    mut processes: Processes,
    folder: &mut Folder,
    limits: &Limits,
    interrupted: &AtomicBool,
) -> End {
    let start = Instant::now();
    let mut measured = start;
    let (status, stop) = loop {
        if let Some(status) = children.ended() {
            break (status, None);
        }
        if measured.elapsed() > BETWEEN_MEASUREMENTS {
            measured = Instant::now();
            if let Some(stop) = over(&mut processes, limits, &mut children) {
                processes.signal(Signal::KILL);
                break (children.wait(), Some(stop));
            }
        }
        if interrupted.load(Ordering::Relaxed) {
            break (end_softly(&mut children, folder, &processes, "interrupt"), Some(RunStop::Interrupt));
        }
        if start.elapsed() > limits.time {
            break (end_softly(&mut children, folder, &processes, "time"), Some(RunStop::Time));
        }
        // Whoever says how long a server runs may send it requests.
        if !limits.is_time_asked && folder.is_serving() {
            break (end_softly(&mut children, folder, &processes, "serving"), Some(RunStop::Serving));
        }
        std::thread::sleep(TICK);
    };
    processes.end();
    let status = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    End { status, stop, limits: *limits, seconds: start.elapsed().as_secs_f64() }
}

fn over(processes: &mut Processes, limits: &Limits, children: &mut Children) -> Option<RunStop> {
    let (resident, written) = processes.measure();
    children.measured(resident);
    if resident > limits.memory_bytes {
        return Some(RunStop::HostMemory);
    }
    (written > limits.disk_bytes).then_some(RunStop::Disk)
}

/// Lets the processes write their snapshots, then interrupts, ends and kills those that are left.
fn end_softly(children: &mut Children, folder: &mut Folder, processes: &Processes, reason: &str) -> ExitStatus {
    children.stop();
    folder.stop(reason);
    let deadline = Instant::now() + TO_WRITE;
    while Instant::now() < deadline && reported::read(folder.path()).iter().any(|process| process.is_writing()) {
        if let Some(status) = children.ended() {
            return status;
        }
        std::thread::sleep(TICK);
    }
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        processes.signal(signal);
        let deadline = Instant::now() + TO_END;
        while Instant::now() < deadline {
            if let Some(status) = children.ended() {
                return status;
            }
            std::thread::sleep(TICK);
        }
    }
    children.wait()
}
