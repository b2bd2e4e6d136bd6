//! Defines the report on a log: curves of memory over time, findings, tables and notices.
//!
//! The curves of a snapshot are converted to those of a log, so that both lie on one clock.

use super::diagnosis::Diagnosis;
use crate::analysis::Timeline;
use crate::base::{Severity, format};
use crate::trace::Device;
use serde::{Deserialize, Serialize};
use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogReport {
    /// Kind of the log, and how much it has, such as `Host memory, ps: 250 samples of 8 processes in 2 h 5 min`.
    pub title: String,
    /// Facts that belong to the title, such as the memory of the machine.
    pub facts: Vec<String>,
    /// Curves of the whole log, one chart each.
    pub curves: Vec<LogCurves>,
    /// Memory of a GPU by owner, for each of the first out-of-memory errors, and at the end of a log of nvidia-smi.
    pub owners: Vec<LogOwners>,
    pub diagnosis: Diagnosis,
    pub tables: Vec<LogTable>,
    /// What was odd or left out.
    pub notices: Vec<LogNotice>,
}

impl LogReport {
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty() && self.diagnosis.findings.is_empty() && self.tables.is_empty()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOwners {
    /// GPU and request.
    pub title: String,
    pub capacity_bytes: u64,
    /// Owners with their bytes, the free memory last.
    pub parts: Vec<LogOwner>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOwner {
    pub name: String,
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogTable {
    pub title: String,
    pub columns: Vec<String>,
    /// Rows with a cell for each column.
    pub rows: Vec<Vec<LogCell>>,
    /// Number of further rows that were left out.
    pub left_out: u64,
}

impl LogTable {
    /// Creates a table; the report cuts it if it is too long.
    pub fn new(
        title: impl Into<String>,
        columns: impl IntoIterator<Item: Into<String>>,
        rows: impl IntoIterator<Item = Vec<LogCell>>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { title: title.into(), columns, rows: rows.into_iter().collect(), left_out: 0 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogCell {
    Text(String),
    Bytes(u64),
    Count(u64),
    Nothing,
}

impl LogCell {
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Bytes(size) => format::bytes(*size),
            Self::Count(number) => number.to_string(),
            Self::Nothing => "–".to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogNotice {
    pub severity: Severity,
    pub message: String,
}

impl LogNotice {
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, message: message.into() }
    }

    pub fn info(message: impl Into<String>) -> Self {
        Self { severity: Severity::Info, message: message.into() }
    }
}

/// Largest number of times of curves, so that a part of a week's log can be drawn as finely as a screen shows it.
pub const MOST_TIMES: usize = 20_000;

/// Memory over time: of groups of processes, or of GPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogCurves {
    /// What the values are, such as `PSS` or `RSS`.
    pub quantity: String,
    /// True if the series are parts of one memory, which are drawn on top of each other.
    pub is_stacked: bool,
    /// True if a value holds until the next one, false if memory in between is unknown.
    pub has_steps: bool,
    /// True if times are microseconds since the Unix epoch, false if they count from the log's beginning or midnight.
    pub has_dates: bool,
    /// Offset of the log's time zone from UTC in microseconds.
    pub zone_us: i64,
    /// False if the log has no times, so that each sample counts as a second.
    pub has_times: bool,
    /// Times of the values in microseconds, ascending.
    pub times_us: Vec<i64>,
    /// Groups, the one with the most memory first; each has a value for each time.
    pub series: Vec<LogSeries>,
    pub limit: Option<LogLimit>,
    /// Times at which the kernel killed a process.
    pub kills_us: Vec<i64>,
    /// What ran meanwhile, a row each.
    pub lanes: Vec<LogLane>,
}

/// Work of one kind over time, such as the kernels of a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLane {
    pub name: String,
    /// Spans in the order of their starts, none within another.
    pub spans: Vec<LogSpan>,
}

/// Work between two times on the clock of the curves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSpan {
    pub name: String,
    pub from_us: i64,
    pub to_us: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSeries {
    pub name: String,
    pub bytes: Vec<u64>,
}

/// Memory that there is in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLimit {
    pub name: String,
    pub bytes: u64,
}

impl LogCurves {
    /// Returns the curves within a range of times in microseconds, with at most about `most` times.
    ///
    /// Of more times, those with the most and the least memory in each of equally many parts are kept; and of those
    /// outside the range its neighbours, so that lines reach its ends.
    pub fn part(&self, range_us: Range<i64>, most: usize) -> Self {
        let first = self.times_us.partition_point(|one| *one < range_us.start).saturating_sub(1);
        let end = (self.times_us.partition_point(|one| *one <= range_us.end) + 1).min(self.times_us.len());
        let count = end.saturating_sub(first);
        let total = |at: usize| self.series.iter().map(|series| series.bytes[first + at]).fold(0, u64::saturating_add);
        let shown = extremes(count, most, total);
        let series = self.series.iter().map(|series| LogSeries {
            name: series.name.clone(),
            bytes: shown.iter().map(|&at| series.bytes[first + at]).collect(),
        });
        Self {
            times_us: shown.iter().map(|&at| self.times_us[first + at]).collect(),
            series: series.collect(),
            ..self.clone_without_values()
        }
    }

    /// Returns the first and the last time in microseconds; a single sample still has a width.
    pub fn whole(&self) -> (i64, i64) {
        let first = self.times_us.first().copied().unwrap_or(0);
        (first, self.times_us.last().copied().unwrap_or(0).max(first.saturating_add(1)))
    }

    pub fn height(&self, at: usize) -> u64 {
        let bytes = self.series.iter().map(|series| series.bytes[at]);
        if self.is_stacked { bytes.fold(0, u64::saturating_add) } else { bytes.max().unwrap_or(0) }
    }

    /// Formats a time: with its date if the log has dates, else as the time since its beginning.
    pub fn time_text(&self, us: i64) -> String {
        match (self.has_dates, self.has_times) {
            (true, _) => format::date_and_time(us.saturating_add(self.zone_us) / 1000),
            (false, true) => format::time_of_day(us / 1000),
            (false, false) => format!("sample {}", (us - self.whole().0) / 1_000_000 + 1),
        }
    }

    /// Describes a range of the curves in microseconds.
    pub fn span_text(&self, (from, to): (i64, i64)) -> String {
        let within = self.times_us.iter().enumerate().filter(|(_, us)| (from..=to).contains(*us));
        let highest = within.map(|(at, _)| self.height(at)).max().unwrap_or(0);
        let duration = format::duration(from.abs_diff(to));
        let (quantity, start) = (&self.quantity, self.time_text(from));
        format!("{quantity} over {duration} from {start}, at most {}", format::bytes(highest))
    }

    /// Describes the memory at a sample, and what ran then.
    pub fn sample_text(&self, at: usize) -> String {
        let part = |series: &LogSeries| {
            let bytes = series.bytes[at];
            (bytes > 0).then(|| format!("{} {}", series.name, format::bytes(bytes)))
        };
        let parts: Vec<String> = self.series.iter().filter_map(part).collect();
        let us = self.times_us[at];
        let (time, parts) = (self.time_text(us), parts.join(" · "));
        let ran: String = { self.lanes.iter() }
            .filter_map(|lane| lane.at(us))
            .map(|span| format!(" · during {}", span.name))
            .collect();
        match self.is_stacked {
            true => format!("{time}: {} ({parts}){ran}", format::bytes(self.height(at))),
            false => format!("{time}: {parts}{ran}"),
        }
    }

    fn clone_without_values(&self) -> Self {
        let Self { quantity, is_stacked, has_steps, has_dates, zone_us, has_times, limit, kills_us, lanes, .. } = self;
        Self {
            quantity: quantity.clone(),
            is_stacked: *is_stacked,
            has_steps: *has_steps,
            has_dates: *has_dates,
            zone_us: *zone_us,
            has_times: *has_times,
            limit: limit.clone(),
            kills_us: kills_us.clone(),
            lanes: lanes.clone(),
            times_us: Vec::new(),
            series: Vec::new(),
        }
    }
}

impl LogLane {
    pub fn at(&self, us: i64) -> Option<&LogSpan> {
        let after = self.spans.partition_point(|span| span.from_us <= us);
        self.spans[..after].last().filter(|span| us <= span.to_us)
    }
}

/// Returns the positions to show of `count` samples: all, or the highest and the lowest one of each of equally many
/// parts.
pub fn extremes(count: usize, most: usize, total: impl Fn(usize) -> u64) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let parts = (most / 2).max(1);
    // The ends belong to the picture.
    let mut shown = vec![0, count - 1];
    for part in 0..parts {
        let samples = part * count / parts..(part + 1) * count / parts;
        shown.extend(samples.clone().min_by_key(|&sample| total(sample)));
        shown.extend(samples.max_by_key(|&sample| total(sample)));
    }
    shown.sort_unstable();
    shown.dedup();
    shown
}

/// Largest number of times: twice the columns of a screen.
const MOST_TRACE_TIMES: usize = 4000;

/// First time that counts as one of a clock on the wall, 2001-09-09; earlier ones count from the start of a machine.
const EARLIEST_US: i64 = 1_000_000_000_000_000;

/// Returns the live and the reserved bytes of a device over time; `None` if its events have no times of a clock.
pub fn trace_curves(device: &Device, timeline: &Timeline) -> Option<LogCurves> {
    let all_us = device.events.times_us();
    let first = all_us.get(0).filter(|first| timeline.has_times() && *first >= EARLIEST_US)?;
    let moment = |event: usize| event as u32 + 1;
    let shown = extremes(all_us.len(), MOST_TRACE_TIMES, |event| timeline.live_at(moment(event)));
    let mut last_us = first;
    let times_us = shown.iter().map(|&event| {
        // Threads record events out of order by microseconds.
        last_us = last_us.max(all_us.at(event));
        last_us
    });
    let series = |name: &str, bytes: &dyn Fn(u32) -> u64| LogSeries {
        name: name.to_owned(),
        bytes: shown.iter().map(|&event| bytes(moment(event))).collect(),
    };
    Some(LogCurves {
        quantity: match device.index {
            ..0 => "Pinned host memory".to_owned(),
            index => format!("Memory of GPU {index}"),
        },
        is_stacked: false,
        has_steps: true,
        has_dates: true,
        has_times: true,
        times_us: times_us.collect(),
        series: vec![
            series("Live", &|moment| timeline.live_at(moment)),
            series("Reserved", &|moment| timeline.reserved_at(moment)),
        ],
        ..LogCurves::default()
    })
}
