//! Runs other commands of this program, and ends them with the conversation.

use std::ffi::OsString;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::commands::itself::Itself;
use crate::config::ScriptConfig;

/// What all runs of a conversation have in common.
pub(super) struct Maker {
    config: ScriptConfig,
    /// True once nobody waits for an answer anymore.
    pub(super) is_over: Arc<AtomicBool>,
    running: AtomicUsize,
}

impl Maker {
    pub(super) fn new(config: ScriptConfig, is_over: Arc<AtomicBool>) -> Self {
        Self { config, is_over, running: AtomicUsize::new(0) }
    }

    /// Returns true while a command runs.
    pub(super) fn is_busy(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 0
    }

    /// Runs a command in a folder; what it prints besides its document is no part of the conversation.
    pub(super) fn document<T: DeserializeOwned>(&self, folder: &Path, arguments: Vec<OsString>) -> Result<T, Failure> {
        let itself = Itself { arguments, is_quiet: true, ..Itself::new(&self.config, folder) };
        self.running.fetch_add(1, Ordering::Relaxed);
        let document = itself.document(|child| self.pass_on(child));
        self.running.fetch_sub(1, Ordering::Relaxed);
        document
    }

    /// Asks a command to end if nobody waits for it.
    fn pass_on(&self, child: &Child) {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.is_over.load(Ordering::Relaxed)) {
            // It may have ended by now.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}
