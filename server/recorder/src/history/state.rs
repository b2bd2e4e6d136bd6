//! The history of this process.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use shared::base::{StringId, StringTable};

use super::rows::{Row, Rows, View};

/// Events and annotations so far.
#[derive(Debug)]
pub(super) struct History {
    /// Events of each device.
    pub(super) devices: Vec<Rows>,
    /// What the recorder set as the user's metadata.
    pub(super) texts: StringTable,
    pub(super) last_text: StringId,
    pub(super) annotations: Vec<Annotation>,
    /// Path of the snapshot; temporary files lie beside it.
    pub(super) output: PathBuf,
    pub(super) is_exhaustion_written: bool,
}

/// Beginning or end of a named span.
#[derive(Debug, Clone)]
pub(super) struct Annotation {
    pub(super) name: String,
    pub(super) stage: &'static str,
    pub(super) device: i32,
    pub(super) ticks: u64,
}

/// State of the history at a moment.
pub(super) struct Past {
    pub(super) devices: Vec<View>,
    pub(super) texts: StringTable,
    pub(super) annotations: Vec<Annotation>,
}

static HISTORY: Mutex<Option<History>> = Mutex::new(None);

/// Locks the history; `None` before [`start`](super::start).
pub(super) fn history() -> MutexGuard<'static, Option<History>> {
    HISTORY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl History {
    pub(super) fn add(&mut self, device: usize, mut row: Row, text: &str) {
        if self.texts.get(self.last_text) != text {
            self.last_text = self.texts.intern(text);
        }
        row.text = self.last_text.index() as u32;
        while self.devices.len() <= device {
            self.devices.push(Rows::default());
        }
        self.devices[device].push(row, self.output.parent());
    }

    pub(super) fn past(&self) -> io::Result<Past> {
        let devices = self.devices.iter().map(Rows::view).collect::<io::Result<_>>()?;
        Ok(Past { devices, texts: self.texts.clone(), annotations: self.annotations.clone() })
    }
}
