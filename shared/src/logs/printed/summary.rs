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
    let Some((_, row)) = line.split_once('|') else { return false };
    let Some(table) = tables.last_mut() else { return false };
    let mut cells = row.split('|').map(str::trim);
    let (Some(name), Some(now)) = (cells.next(), cells.next()) else { return is_rule(row) };
    if let (Some(ooms), Some(retries)) = (count(name, "OOMs: "), count(now, "retries: ")) {
        (table.ooms, table.retries) = (ooms, retries);
        return true;
    }
    let usage =
        |now: &str, peak: &str| Some(Usage { now_bytes: size::leading(now)?, peak_bytes: size::leading(peak)? });
    let usage = cells.next().and_then(|peak| usage(now, peak));
    match (name, usage) {
        ("Allocated memory", Some(usage)) => table.allocated = usage,
        ("Active memory", Some(usage)) => table.active = usage,
        ("Requested memory", Some(usage)) => table.requested = Some(usage),
        ("GPU reserved memory", Some(usage)) => table.reserved = usage,
        ("Non-releasable memory", Some(usage)) => table.non_releasable = usage,
        _ => return is_other_row(name),
    }
    true
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
    cell.split_once(words)?.1.trim().parse().ok()
}
