//! Reads counters and tables as PyTorch and memory_profiler print them.
//!
//! The counters of `torch.cuda.memory_stats` are JSON or a dictionary of Python's.
//! The table of `torch.cuda.memory_summary` is read row by row:
//!
//! ```text
//! |                  PyTorch CUDA memory summary, device ID 0                 |
//! |            CUDA OOMs: 1            |        cudaMalloc retries: 6         |
//! |        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
//! | Allocated memory      |   26377 MB |   26988 MB |  767743 GB |  767717 GB |
//! |       from large pool |   25981 MB |   26595 MB |  738567 GB |  738542 GB |
//! ```
//!
//! The tables of memory_profiler say how much host memory each line of a function adds:
//!
//! ```text
//! Filename: train.py
//!
//! Line #    Mem usage    Increment  Occurrences   Line Contents
//! =============================================================
//!      3   38.816 MiB   38.816 MiB           1   @profile
//!      4                                         def load():
//!      5   46.492 MiB    7.676 MiB           1       a = [1] * (10 ** 6)
//! ```

use crate::source::leading_number;
use shared::base::size;
use std::collections::HashMap;

/// Current and highest value of a counter, in bytes; `None` if the text does not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub now_bytes: Option<u64>,
    pub peak_bytes: Option<u64>,
}

/// Counters of one device, as `torch.cuda.memory_summary` and `torch.cuda.memory_stats` print them, as far as the text
/// has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Index of the device; `memory_stats` does not have it.
    pub device: Option<u32>,
    /// Tensors, rounded up to blocks.
    pub allocated: Usage,
    /// Tensors, and blocks that wait for other streams.
    pub active: Usage,
    /// Sizes that the program asked for, before rounding.
    pub requested: Usage,
    pub reserved: Usage,
    /// Free parts of segments that are in use, which PyTorch can't return to the GPU.
    pub non_releasable: Usage,
    /// Number of times that the allocator emptied its cache and tried again.
    pub retries: Option<u64>,
    pub ooms: Option<u64>,
}

/// Reads the counters that a line contains; returns true if it has any.
///
/// A counter that comes for the second time begins the counters of another moment or device.
pub(super) fn line(line: &str, all: &mut Vec<Counters>, seen: &mut Vec<&'static str>) -> bool {
    let mut has_any = false;
    // `"reserved_bytes.all.peak": 12`, `'reserved_bytes.all.peak': 12` and `('reserved_bytes.all.peak', 12)`.
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[start] as char;
        let Some((key, after)) = rest[start + 1..].split_once(quote) else { break };
        rest = after;
        let Some((name, place)) = KEYS.iter().find(|(name, _)| *name == key) else { continue };
        let Some(value) = leading_number(after.trim_start_matches([':', ',', ' '])) else { continue };
        if all.is_empty() || seen.contains(name) {
            all.push(Counters::default());
            seen.clear();
        }
        seen.push(name);
        if let Some(counters) = all.last_mut() {
            *place(counters) = Some(value);
            has_any = true;
        }
    }
    has_any
}

type Place = fn(&mut Counters) -> &mut Option<u64>;

/// Keys of counters that are read, with their places, in no order.
const KEYS: [(&str, Place); 12] = [
    ("allocated_bytes.all.current", |counters| &mut counters.allocated.now_bytes),
    ("allocated_bytes.all.peak", |counters| &mut counters.allocated.peak_bytes),
    ("active_bytes.all.current", |counters| &mut counters.active.now_bytes),
    ("active_bytes.all.peak", |counters| &mut counters.active.peak_bytes),
    ("requested_bytes.all.current", |counters| &mut counters.requested.now_bytes),
    ("requested_bytes.all.peak", |counters| &mut counters.requested.peak_bytes),
    ("reserved_bytes.all.current", |counters| &mut counters.reserved.now_bytes),
    ("reserved_bytes.all.peak", |counters| &mut counters.reserved.peak_bytes),
    ("inactive_split_bytes.all.current", |counters| &mut counters.non_releasable.now_bytes),
    ("inactive_split_bytes.all.peak", |counters| &mut counters.non_releasable.peak_bytes),
    ("num_alloc_retries", |counters| &mut counters.retries),
    ("num_ooms", |counters| &mut counters.ooms),
];

const TITLE: &str = "memory summary, device ID ";

/// Reads a row into the counters of the current table; returns true if the line is one.
///
/// The title begins new counters. Some logs print it in one line with the rule around it, or behind a prefix.
pub(super) fn summary_row(line: &str, tables: &mut Vec<Counters>) -> bool {
    if let Some((_, rest)) = line.split_once(TITLE) {
        tables.push(Counters { device: leading_number(rest), ..Counters::default() });
        return true;
    }
    let Some(table) = tables.last_mut() else { return false };
    let count = |words: &str| leading_number(line.split_once(words)?.1.trim_start());
    if let (Some(ooms), Some(retries)) = (count("OOMs: "), count("retries: ")) {
        (table.ooms, table.retries) = (Some(ooms), Some(retries));
        return true;
    }
    let rows = [
        ("Allocated memory", &mut table.allocated),
        ("Active memory", &mut table.active),
        ("Requested memory", &mut table.requested),
        ("GPU reserved memory", &mut table.reserved),
        ("Non-releasable memory", &mut table.non_releasable),
    ];
    for (name, usage) in rows {
        // People retype tables with other columns, or paste them without.
        if let Some((_, cells)) = line.split_once(name) {
            let cells = cells.split(['|', '\t', 'B']).map(|cell| cell.trim_start_matches([':', ' ']));
            let mut sizes = cells.map(|cell| size::leading(&format!("{cell}B")));
            let mut next = || sizes.find_map(|bytes| bytes);
            *usage = Usage { now_bytes: next(), peak_bytes: next() };
            return true;
        }
    }
    let Some((_, row)) = line.split_once('|') else { return false };
    let is_rule = row.len() > 8 && row.chars().all(|c| matches!(c, '=' | '-' | '|' | ' '));
    is_rule || row.split_once('|').is_some_and(|(name, _)| OTHER_ROWS.contains(&name.trim()))
}

/// Rows of the table that are not read.
const OTHER_ROWS: [&str; 9] = [
    "Metric",
    "from large pool",
    "from small pool",
    "Allocations",
    "Active allocs",
    "GPU reserved segments",
    "Non-releasable allocs",
    "Oversize allocations",
    "Oversize GPU segments",
];

/// Memory of a line of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineUse {
    pub file: String,
    /// Line number from 1.
    pub line: u64,
    /// Host memory of the process after the line, in bytes.
    pub bytes: u64,
    /// Bytes that the line added in all its runs, negative if it freed more.
    pub added_bytes: i64,
    /// Number of times that the line ran, if the table has it.
    pub times: Option<u64>,
    pub code: String,
}

#[derive(Debug, Default)]
pub(super) struct LineTables {
    file: String,
    /// Whether rows have the number of times; `None` outside of tables.
    has_times: Option<bool>,
}

impl LineTables {
    /// Reads a line; returns true if it belongs to a table, with what it says about memory.
    pub(super) fn line(&mut self, line: &str) -> Option<Option<LineUse>> {
        if let Some(of_tracemalloc) = line_of_tracemalloc(line).or_else(|| statistic(line)) {
            return Some(Some(of_tracemalloc));
        }
        // People keep a table as a comment.
        let line = line.strip_prefix('#').unwrap_or(line);
        if let Some(file) = line.strip_prefix("Filename: ") {
            file.trim().clone_into(&mut self.file);
            return Some(None);
        }
        if line.contains("Line #") && line.contains("Mem usage") && line.contains("Increment") {
            self.has_times = Some(line.contains("Occurrences") || line.contains("Occurences"));
            return Some(None);
        }
        let has_times = self.has_times?;
        if line.len() > 8 && line.bytes().all(|byte| byte == b'=') {
            return Some(None);
        }
        let number = line.trim_start().split(char::is_whitespace).next().and_then(|word| word.parse::<u64>().ok());
        let Some(number) = number.filter(|_| line.starts_with(' ')) else {
            self.has_times = None;
            return None;
        };
        Some(self.row(line, number, has_times))
    }

    fn row(&self, line: &str, number: u64, has_times: bool) -> Option<LineUse> {
        let mut cells = line.split_ascii_whitespace().skip(1);
        let (memory, unit, added, unit_of_added) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        // Before version 0.32, `MB` of the same size.
        if [unit, unit_of_added].iter().any(|unit| !matches!(*unit, "MiB" | "MB")) {
            return None;
        }
        let mebibytes = |text: &str| text.parse::<f64>().ok().filter(|mib| mib.abs() < 1e9);
        let bytes = |mib: f64| (mib * f64::from(1 << 20)) as i64;
        let times = if has_times { cells.next().and_then(|cell| cell.parse().ok()) } else { None };
        Some(LineUse {
            file: self.file.clone(),
            line: number,
            bytes: u64::try_from(bytes(mebibytes(memory)?)).unwrap_or(0),
            added_bytes: bytes(mebibytes(added)?),
            times,
            code: cells.collect::<Vec<_>>().join(" ").chars().take(120).collect(),
        })
    }
}

/// Reads what `tracemalloc` prints about a line: `train.py:110: size=7804 KiB (+7804 KiB), count=9 (+9), average=36 B`.
///
/// Without a difference from an earlier snapshot, all of it counts as added. The documentation's own listing has rows
/// `#1: train.py:110: 62.5 KiB`.
fn line_of_tracemalloc(line: &str) -> Option<LineUse> {
    let listed = || line.trim_start().strip_prefix('#').filter(|row| row.ends_with('B'))?.rsplit_once(": ");
    let (place, rest) = line.split_once(": size=").or_else(listed)?;
    let (file, number) = place.trim_start().rsplit_once(':')?;
    let file = file.split_once(": ").map_or(file, |(_, file)| file);
    let bytes = size::leading::<u64>(rest)?;
    let (change, counts) = rest.split_once(", count=").unwrap_or((rest, ""));
    let added = change.split_once('(').and_then(|(_, change)| {
        let bytes: i64 = size::leading(change.trim_start_matches(['+', '-']))?;
        Some(if change.starts_with('-') { -bytes } else { bytes })
    });
    Some(LineUse {
        file: file.to_owned(),
        line: number.parse().ok()?,
        bytes,
        added_bytes: added.unwrap_or(bytes as i64),
        times: {
            // Of a difference, what was added stands in brackets.
            let added = counts.split_once("(+").map_or(counts, |(_, added)| added);
            size::leading_number(added).0.parse().ok()
        },
        code: String::new(),
    })
}

/// Keeps what the last list of tracemalloc says of each line, and how much it has grown since the first one.
pub(super) fn last_of_lists(lines: &[LineUse]) -> Vec<LineUse> {
    let mut last: Vec<LineUse> = Vec::new();
    let mut places: HashMap<(&str, u64), (usize, u64)> = HashMap::new();
    for line in lines {
        match places.get(&(line.file.as_str(), line.line)) {
            Some(&(place, first_bytes)) if line.code.is_empty() => {
                // A difference says itself what was added.
                let added_bytes = if line.added_bytes == line.bytes as i64 {
                    (line.bytes as i64).saturating_sub(first_bytes as i64)
                } else {
                    line.added_bytes
                };
                last[place] = LineUse { added_bytes, ..line.clone() };
            }
            _ => {
                places.insert((&line.file, line.line), (last.len(), line.bytes));
                last.push(line.clone());
            }
        }
    }
    last
}

/// Reads a statistic as Python shows it: `… <Frame filename='a.py' lineno=12>,)> size=96 (+32) count=3 (+1)>`.
///
/// Of its own lines, tracemalloc says nothing about the program.
fn statistic(line: &str) -> Option<LineUse> {
    let (_, place) = line.split_once("<Statistic")?.1.split_once("<Frame filename='")?;
    let (file, rest) = place.split_once("' lineno=")?;
    let (_, sizes) = rest.split_once("size=")?;
    let bytes: u64 = leading_number(sizes)?;
    // Of a difference, what was added stands in brackets.
    let added = |text: &str| text.split_once('(')?.1.split_once(')')?.0.parse::<i64>().ok();
    let (sizes, counts) = sizes.split_once("count=").unwrap_or((sizes, ""));
    let of_line = LineUse {
        file: file.to_owned(),
        line: leading_number(rest)?,
        bytes,
        added_bytes: added(sizes).unwrap_or(bytes as i64),
        times: added(counts).map_or_else(|| leading_number(counts), |count| count.try_into().ok()),
        code: String::new(),
    };
    (!file.ends_with("tracemalloc.py")).then_some(of_line)
}
