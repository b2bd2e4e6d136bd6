//! Finds the processes of a run, measures them, and ends them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};

use crate::commands::host::{below, kib_of};

/// Time in which killed processes have to disappear.
const PATIENCE: Duration = Duration::from_secs(5);

/// The processes below this one, which adopts those whose parent ends, and below a fork that runs the script in place of
/// one of them.
pub(super) struct Processes {
    /// Process below this one that is no part of the run, with those below it: it forks for several runs.
    aside: Option<u32>,
    /// File with the number of such a fork.
    fork: PathBuf,
    /// Bytes that each process has written to the disk, kept after its end.
    written: BTreeMap<u32, u64>,
}

impl Processes {
    /// Makes this process the parent of all that a run starts, even if a process between them ends.
    pub(super) fn adopt(fork: PathBuf, aside: Option<u32>) -> Self {
        // If the kernel refuses, processes in sessions of their own may escape.
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        Self { aside, fork, written: BTreeMap::new() }
    }

    /// Returns the resident memory and the bytes written by all processes of the run; shared pages count repeatedly.
    pub(super) fn measure(&mut self) -> (u64, u64) {
        let mut resident = 0;
        for pid in self.all() {
            let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
            resident += kib_of(&read("status"), "VmRSS:").unwrap_or(0);
            let written = read("io").lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok());
            if let Some(written) = written {
                self.written.insert(pid, written);
            }
        }
        (resident, self.written.values().sum())
    }

    /// Sends a signal to all processes of the run.
    pub(super) fn signal(&self, signal: Signal) {
        for pid in self.all().iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?)) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills what is left of the run; call it once the command itself has been waited for.
    pub(super) fn end(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.all().is_empty() && Instant::now() < deadline {
            self.signal(Signal::KILL);
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns all processes of the run.
    fn all(&self) -> Vec<u32> {
        let own = std::process::id();
        let fork = std::fs::read_to_string(&self.fork).ok().and_then(|text| text.parse().ok());
        let all = |root: Option<u32>| root.into_iter().flat_map(below).map(|(pid, _)| pid);
        let others: Vec<u32> = all(self.aside).collect();
        all(Some(own)).filter(|pid| *pid != own && !others.contains(pid)).chain(all(fork)).collect()
    }
}
