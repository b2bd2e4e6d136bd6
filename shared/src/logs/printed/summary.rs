//! Reads the table of `torch.cuda.memory_summary`, row by row.
//!
//! ```text
//! |                  PyTorch CUDA memory summary, device ID 0                 |
//! |            CUDA OOMs: 1            |        cudaMalloc retries: 6         |
//! |        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
//! | Allocated memory      |   26377 MB |   26988 MB |  767743 GB |  767717 GB |
//! |       from large pool |   25981 MB |   26595 MB |  738567 GB |  738542 GB |
//! ```

use super::counters::{Counters, Usage};
use crate::base::size;

const TITLE: &str = "memory summary, device ID ";

/// Reads a row into the counters of the current table; returns true if the line is one.
///
/// The title begins new counters. Some logs print it in one line with the rule around it, or behind a prefix.
pub(super) fn row(line: &str, tables: &mut Vec<Counters>) -> bool {
    if let Some((_, rest)) = line.split_once(TITLE) {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        tables.push(Counters { device: rest[..end].parse().ok(), ..Counters::default() });
        return true;
    }
    let Some(table) = tables.last_mut() else { return false };
    if let (Some(ooms), Some(retries)) = (count(line, "OOMs: "), count(line, "retries: ")) {
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
    let name = row.split('|').next().unwrap_or_default().trim();
    if row.contains('|') { is_other_row(name) || is_rule(row) } else { is_rule(row) }
}

fn is_rule(row: &str) -> bool {
    row.len() > 8 && row.chars().all(|c| matches!(c, '=' | '-' | '|' | ' '))
}

fn is_other_row(name: &str) -> bool {
    const NAMES: [&str; 9] = [
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
    NAMES.contains(&name)
}

fn count(cell: &str, words: &str) -> Option<u64> {
    let rest = cell.split_once(words)?.1.trim_start();
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}
