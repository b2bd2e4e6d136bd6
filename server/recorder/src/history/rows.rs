//! The events of this process: rows, most of which are in a file, and what belongs to them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use shared::base::{StringId, StringTable};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) ticks: u64,
    pub(super) stream: i64,
    pub(super) stack: u32,
    /// Number of the text in the history's table.
    pub(super) text: u32,
    /// Position in PyTorch's list of actions.
    pub(super) action: u32,
}

/// Length of an encoded row in bytes.
const ROW_BYTES: usize = 48;

/// Number of rows that are kept in memory before they go to the file, 768 KiB.
const MOST_RECENT: usize = 1 << 14;

/// Number of rows that are read from the file at a time.
const READ_ROWS: usize = 1 << 14;

impl Row {
    fn encode(&self) -> [u8; ROW_BYTES] {
        let mut bytes = [0; ROW_BYTES];
        let wide = [self.address, self.size, self.ticks, self.stream.cast_unsigned()];
        for (place, value) in bytes.chunks_exact_mut(8).zip(wide) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        for (place, value) in bytes[32..].chunks_exact_mut(4).zip([self.stack, self.text, self.action]) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8; ROW_BYTES]) -> Self {
        let wide = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        Self {
            address: wide(0),
            size: wide(8),
            ticks: wide(16),
            stream: wide(24).cast_signed(),
            stack: short(32),
            text: short(36),
            action: short(40),
        }
    }
}

/// Events of a device in their order.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Rows before `recent`, and their number.
    spooled: Option<(File, u64)>,
    recent: Vec<Row>,
    /// True after the file could not be written; then all rows stay in memory.
    is_in_memory: bool,
}

impl Rows {
    /// Adds an event; the file, if one becomes necessary, is made in `folder`, and has no name there.
    pub(super) fn push(&mut self, row: Row, folder: Option<&Path>) {
        if self.recent.len() >= MOST_RECENT && !self.is_in_memory {
            self.is_in_memory = self.spool(folder).is_err();
        }
        self.recent.push(row);
    }

    fn spool(&mut self, folder: Option<&Path>) -> io::Result<()> {
        let (file, len) = match self.spooled.take() {
            Some(spooled) => spooled,
            None => (tempfile::tempfile_in(folder.unwrap_or(Path::new(".")))?, 0),
        };
        let bytes: Vec<u8> = self.recent.iter().flat_map(Row::encode).collect();
        let written = file.write_all_at(&bytes, len * ROW_BYTES as u64);
        let added = if written.is_ok() { self.recent.len() as u64 } else { 0 };
        self.spooled = Some((file, len + added));
        written?;
        self.recent.clear();
        Ok(())
    }

    /// Returns a copy with the events so far.
    ///
    /// # Errors
    ///
    /// Returns an error if the process may open no more files.
    fn try_clone(&self) -> io::Result<Self> {
        let spooled = self.spooled.as_ref().map(|(file, len)| file.try_clone().map(|file| (file, *len))).transpose()?;
        Ok(Self { spooled, recent: self.recent.clone(), ..*self })
    }

    pub(super) fn len(&self) -> usize {
        self.spooled.as_ref().map_or(0, |(_, len)| *len as usize) + self.recent.len()
    }

    /// Calls `see` with each event in turn.
    pub(super) fn each(&self, mut see: impl FnMut(&Row) -> io::Result<()>) -> io::Result<()> {
        if let Some((file, len)) = &self.spooled {
            let mut bytes = vec![0; READ_ROWS * ROW_BYTES];
            let mut at = 0;
            while at < *len {
                let rows = READ_ROWS.min((len - at) as usize);
                let piece = &mut bytes[..rows * ROW_BYTES];
                file.read_exact_at(piece, at * ROW_BYTES as u64)?;
                for row in piece.as_chunks().0 {
                    see(&Row::decode(row))?;
                }
                at += rows as u64;
            }
        }
        self.recent.iter().try_for_each(see)
    }
}

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
    pub(super) devices: Vec<Rows>,
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
        let devices = self.devices.iter().map(Rows::try_clone).collect::<io::Result<_>>()?;
        Ok(Past { devices, texts: self.texts.clone(), annotations: self.annotations.clone() })
    }
}
