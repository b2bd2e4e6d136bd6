//! Implements `--events`, which opens a part of a trace instead of all of it.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use logs::Content;
use shared::import::{Importer, Overview, OverviewDevice};

use crate::Failure;
use crate::snapshot_file::{self, Opened, foreign, import_with, open_by, snapshot_of};

/// The option of commands that can look at a part of a trace.
#[derive(Debug, Clone, Default, Args)]
// Otherwise clap shows the doc comment above as the description of each command that has this option.
#[command(about = None, long_about = None)]
pub(super) struct EventRange {
    /// Read only some events of one GPU, by default the one with the most events: A..B (B excluded; A or B may be
    /// omitted), last:N, or peak:N for N events around the peak
    #[arg(long = "events", value_name = "RANGE")]
    wanted: Option<Wanted>,
}

/// Range of events as the user typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Between(Option<u64>, Option<u64>),
    Last(u64),
    Peak(u64),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_')).collect();
            digits.parse::<u64>().map_err(|_| format!("{text:?} is not a whole number"))
        };
        let optional = |text: &str| if text.is_empty() { Ok(None) } else { number(text).map(Some) };
        if let Some(count) = text.strip_prefix("last:") {
            return Ok(Self::Last(number(count)?));
        }
        if let Some(count) = text.strip_prefix("peak:") {
            return Ok(Self::Peak(number(count)?));
        }
        let (start, end) = text.split_once("..").ok_or("expected A..B, last:N or peak:N")?;
        Ok(Self::Between(optional(start)?, optional(end)?))
    }
}

impl Wanted {
    fn of(&self, device: &OverviewDevice) -> Range<u64> {
        match *self {
            Self::Between(start, end) => start.unwrap_or(0)..end.unwrap_or(device.trace.events),
            Self::Last(count) => device.last(count),
            Self::Peak(count) => device.around_peak(count),
        }
    }

    /// Reads the requested events in a second pass.
    fn part(&self, overview: &Overview, path: &Path, device: Option<i64>, file: String) -> Result<Opened, Failure> {
        let found = choose(overview, device, &file)?;
        let request = found.part(self.of(found)).map_err(|error| foreign(&file, &error))?;
        let importer = import_with(Importer::part(request), path, &file)?;
        if importer.seen_bytes() != overview.file_bytes {
            return Err(Failure::new(
                format!("{file}: the file changed while it was read"),
                "try again when no program writes to the file",
            ));
        }
        let trace = importer.finish().map_err(|error| foreign(&file, &error))?;
        Ok(Opened::of(file, trace))
    }
}

impl EventRange {
    pub(super) fn around_peak(events: u64) -> Self {
        Self { wanted: Some(Wanted::Peak(events)) }
    }

    /// Reads a snapshot file, or only the requested events, which takes two passes over the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is not a snapshot, changes between the two passes, or has no such
    /// device or events.
    pub(super) fn open(&self, path: &Path, device: Option<i64>) -> Result<Opened, Failure> {
        snapshot_of(self.open_any(path, device)?, path)
    }

    /// Reads a file that may be a snapshot, of which only the requested events are read, or a log.
    pub(super) fn open_any(&self, path: &Path, device: Option<i64>) -> Result<Content<Opened>, Failure> {
        let Some(wanted) = &self.wanted else { return snapshot_file::open(path) };
        let file = path.display().to_string();
        Ok(match open_by(Importer::overview(), Importer::finish_overview, path, &file)? {
            Content::Snapshot(overview) => Content::Snapshot(wanted.part(&overview, path, device, file)?),
            Content::Log(log) => Content::Log(log),
        })
    }
}

fn choose<'a>(overview: &'a Overview, device: Option<i64>, file: &str) -> Result<&'a OverviewDevice, Failure> {
    let with_most = || overview.devices.iter().rev().max_by_key(|device| device.trace.events);
    let chosen = match device {
        Some(index) => overview.devices.iter().find(|device| device.index == index),
        None => with_most(),
    };
    chosen.ok_or_else(|| {
        let of = device.map_or_else(String::new, |index| format!(" of GPU {index}"));
        Failure::new(format!("{file}: there are no events{of}"), "omit --events to see the rest of the snapshot")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_they_are_typed() {
        let read = |text: &str| text.parse::<Wanted>();
        assert_eq!(read("10..20"), Ok(Wanted::Between(Some(10), Some(20))));
        assert_eq!(read("1_000..2,000"), Ok(Wanted::Between(Some(1000), Some(2000))));
        assert_eq!(read("..20"), Ok(Wanted::Between(None, Some(20))));
        assert_eq!(read("10.."), Ok(Wanted::Between(Some(10), None)));
        assert_eq!(read("last:5"), Ok(Wanted::Last(5)));
        assert_eq!(read("peak:5"), Ok(Wanted::Peak(5)));
        assert_eq!(read("ten..20"), Err("\"ten\" is not a whole number".to_owned()));
        assert_eq!(read("7"), Err("expected A..B, last:N or peak:N".to_owned()));
    }
}
