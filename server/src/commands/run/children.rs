//! The processes that a command starts: one, or one for each rank, of which some run at a time.

use std::collections::VecDeque;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

use shared::base::format::{bytes, counted, duration};

use crate::commands::host::of_machine;

/// Processes of one command, the first of which runs alone.
pub(super) struct Children {
    running: Vec<Child>,
    waiting: VecDeque<Command>,
    /// Most processes at a time, known after the first.
    at_once: usize,
    /// Highest resident memory so far.
    peak_bytes: u64,
    start: Instant,
    failed: Option<ExitStatus>,
}

impl Children {
    pub(super) fn start(mut first: Command, others: VecDeque<Command>) -> io::Result<Self> {
        let running = vec![first.spawn()?];
        Ok(Self { running, waiting: others, at_once: 0, peak_bytes: 0, start: Instant::now(), failed: None })
    }

    pub(super) fn measured(&mut self, resident_bytes: u64) {
        self.peak_bytes = self.peak_bytes.max(resident_bytes);
    }

    /// Returns the status once all have ended, that of the first that failed; starts those that wait.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.running.retain_mut(|child| {
            let status = child.try_wait().unwrap_or_else(|_| Some(ExitStatus::default()));
            self.failed = self.failed.or(status.filter(|status| !status.success()));
            status.is_none()
        });
        if self.at_once == 0 && self.running.is_empty() && !self.waiting.is_empty() {
            self.plan();
        }
        while self.running.len() < self.at_once {
            let Some(mut command) = self.waiting.pop_front() else { break };
            // The first was started by the same program.
            self.running.extend(command.spawn().ok());
        }
        self.running.is_empty().then(|| self.failed.unwrap_or_default())
    }

    /// Decides how many run at a time, and says how long they will take.
    fn plan(&mut self) {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let free_bytes = of_machine("MemAvailable:").unwrap_or(u64::MAX);
        let held = usize::try_from(free_bytes / self.peak_bytes.max(1)).unwrap_or(usize::MAX);
        self.at_once = processors.min(held).clamp(1, self.waiting.len());
        let micros = self.start.elapsed().as_micros() as u64;
        let rounds = self.waiting.len().div_ceil(self.at_once) as u64;
        eprintln!(
            "snapscope: the first rank took {} and {} of host memory; {} to come, {} at a time: about {}",
            duration(micros),
            bytes(self.peak_bytes),
            counted(self.waiting.len() as u64, "more rank"),
            self.at_once,
            duration(micros * rounds),
        );
    }

    /// Starts no more of them.
    pub(super) fn stop(&mut self) {
        self.waiting.clear();
    }

    pub(super) fn wait(&mut self) -> ExitStatus {
        self.stop();
        for child in &mut self.running {
            let status = child.wait().unwrap_or_default();
            self.failed = self.failed.or(Some(status).filter(|status| !status.success()));
        }
        self.failed.unwrap_or_default()
    }
}
