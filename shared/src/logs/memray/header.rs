//! Reads the header of a capture.

use super::cursor::{Cursor, Stop};

/// First bytes of a capture.
pub(super) const MAGIC: &[u8] = b"memray\0";

/// Formats that are read, those of memray 1.2 to 1.20.
pub const FORMATS: std::ops::RangeInclusive<u32> = 8..=13;

/// What the header of a capture says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Version of the format, which rises by 1 every few versions of memray.
    pub format: u32,
    /// Version of Python, from format 12 on.
    pub python: Option<Python>,
    /// True if frames of compiled code were recorded, by `--native`.
    pub has_native: bool,
    /// True if only sums at the peak and at the end were recorded, by `--aggregate`.
    pub is_aggregated: bool,
    /// Number of allocations and frees; 0 if the process was killed.
    pub events: u64,
    /// Milliseconds since the Unix epoch; the end is 0 if the process was killed.
    pub start_ms: i64,
    pub end_ms: i64,
    /// Command line of the process, with memray's own arguments.
    pub command: String,
    pub pid: u32,
    /// Thread whose outermost frames are those of memray, and their number.
    pub(super) main_thread: u64,
    pub(super) skipped_frames: u64,
    /// True if each object was recorded, by `--trace-python-allocators`, rather than the arenas that Python takes.
    pub has_objects: bool,
}

/// Version of Python; memray knows the third number only of the one that it was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Python {
    pub major: u8,
    pub minor: u8,
}

impl Header {
    /// Reads the header of a capture; of an unknown format, only the number of the format.
    pub(super) fn read(cursor: &mut Cursor) -> Result<Self, Stop> {
        if cursor.take(MAGIC.len())? != MAGIC {
            return Err(Stop::Damaged);
        }
        let format = cursor.u32()?;
        if !FORMATS.contains(&format) {
            return Ok(Self { format, ..Self::default() });
        }
        let python = if format >= 12 { Some(Python::of(cursor.u32()?)) } else { None };
        let has_native = cursor.flag()?;
        let is_aggregated = if format >= 10 { cursor.byte()? == 1 } else { false };
        let (events, _frames) = (cursor.u64()?, cursor.u64()?);
        let (start_ms, end_ms) = (cursor.u64()? as i64, cursor.u64()? as i64);
        let command = String::from_utf8_lossy(cursor.text()?).into_owned();
        let pid = cursor.u32()?;
        let (main_thread, skipped_frames) = if format >= 9 { (cursor.u64()?, cursor.u64()?) } else { (0, 0) };
        let _python_allocator = cursor.byte()?;
        let has_objects = if format >= 11 { cursor.flag()? } else { false };
        if format >= 12 {
            let _has_lifetimes = cursor.flag()?;
        }
        if format >= 13 {
            skip_search_paths(cursor)?;
        }
        Ok(Self {
            format,
            python,
            has_native,
            is_aggregated,
            events,
            start_ms,
            end_ms,
            command,
            pid,
            main_thread,
            skipped_frames,
            has_objects,
        })
    }
}

/// Skips the folder of the standard library and the two lists of folders behind it, each of which ends with an empty text.
fn skip_search_paths(cursor: &mut Cursor) -> Result<(), Stop> {
    cursor.text()?;
    for _ in 0..2 {
        while !cursor.text()?.is_empty() {}
    }
    Ok(())
}

impl Python {
    /// Returns the version that `PY_VERSION_HEX` stands for.
    fn of(hex: u32) -> Self {
        let [_, _, minor, major] = hex.to_le_bytes();
        Self { major, minor }
    }
}
