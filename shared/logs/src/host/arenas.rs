//! Reads what `snapscope host` says about the arenas of glibc's malloc, and finds those that are most of a process.
//!
//! ```text
//! # malloc arenas of 4711: 394264576 bytes in 16
//! ```
//!
//! Each thread allocates from an arena, up to 8 arenas for each processor. What it frees stays with that arena, so that
//! threads that take turns need as much memory as if all of them worked at once.

use super::kinds::program;
use super::log::{Arenas, HostLog, Process};
use super::shm::number;

/// Smallest number of arenas, their smallest memory, and the smallest fraction of a process's peak that count.
const LEAST_COUNT: u64 = 4;
const LEAST_BYTES: u64 = 128 << 20;
const MOST: f64 = 0.5;

/// Process whose memory is mostly in arenas of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArenaHolder {
    pub pid: u32,
    /// Program, with its script if it is an interpreter.
    pub name: String,
    pub arenas: Arenas,
    pub peak_bytes: u64,
}

/// Reads a line; returns the process and its arenas.
pub(super) fn line(line: &str) -> Option<(u32, Arenas)> {
    let (pid, rest) = line.strip_prefix("# malloc arenas of ")?.split_once(": ")?;
    let (bytes, count) = rest.trim_end().split_once(" bytes in ")?;
    Some((pid.parse().ok()?, Arenas { bytes: number(bytes)?, count: number(count)? }))
}

/// Returns the process with the most memory in arenas, if they are most of its memory.
pub fn arena_holder(log: &HostLog) -> Option<ArenaHolder> {
    let of = |process: &Process| {
        let arenas = process.arenas?;
        let peak_bytes = u64::from(*process.counted_kib().iter().max()?) << 10;
        let is_most = arenas.bytes as f64 >= MOST * peak_bytes as f64;
        let counts = arenas.count >= LEAST_COUNT && arenas.bytes >= LEAST_BYTES && is_most;
        counts.then(|| ArenaHolder { pid: process.pid, name: program(&process.command), arenas, peak_bytes })
    };
    log.processes.iter().filter_map(of).max_by_key(|holder| holder.arenas.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let arenas = Arenas { bytes: 394_264_576, count: 16 };
        assert_eq!(line("# malloc arenas of 4711: 394264576 bytes in 16"), Some((4711, arenas)));
        for other in ["", "# malloc arenas of x: 1 bytes in 2", "# malloc arenas of 1: -1 bytes in 2"] {
            assert_eq!(line(other), None, "{other}");
        }
    }

    #[test]
    fn arenas_have_to_be_most_of_the_memory() {
        let log = |mib: u64, count: u64| HostLog {
            processes: vec![Process {
                pid: 4711,
                command: "python train.py".to_owned(),
                samples: vec![0],
                rss_kib: vec![400 << 10],
                arenas: Some(Arenas { bytes: mib << 20, count }),
                ..Process::default()
            }],
            ..HostLog::default()
        };
        let holder = arena_holder(&log(300, 16)).unwrap();
        assert_eq!((holder.pid, holder.name.as_str(), holder.peak_bytes), (4711, "python train.py", 400 << 20));
        assert_eq!(arena_holder(&log(300, 3)), None, "a few threads");
        assert_eq!(arena_holder(&log(190, 16)), None, "other memory is more");
    }
}
