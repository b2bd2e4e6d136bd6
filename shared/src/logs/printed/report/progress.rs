//! Reports on GPU memory that a program printed while it ran.

use super::counted::RECORD;
use crate::analysis::FindingCode;
use crate::base::{Severity, format};
use crate::logs::printed::{Progress, Series};
use crate::report::{Finding, LogCell, LogTable, NO_DEVICE};

/// Fewest values that show growth.
const FEWEST: u64 = 5;

/// The measures by name, those of the moment first.
fn named(progress: &Progress) -> impl Iterator<Item = (&'static str, Series)> {
    let Progress { allocated, peak_allocated, reserved, peak_reserved } = *progress;
    let all = [
        ("Allocated", allocated),
        ("Peak allocated", peak_allocated),
        ("Reserved", reserved),
        ("Peak reserved", peak_reserved),
    ];
    all.into_iter().filter(|(_, series)| series.count > 0)
}

/// Returns the number of values of all measures.
pub(super) fn values(progress: &Progress) -> usize {
    named(progress).map(|(_, series)| series.count as usize).sum()
}

/// Lists the measures.
pub(super) fn table(progress: &Progress) -> LogTable {
    let row = |(name, series): (&str, Series)| {
        vec![
            LogCell::Text(name.to_owned()),
            LogCell::Bytes(series.first_bytes),
            LogCell::Bytes(series.last_bytes),
            LogCell::Bytes(series.most_bytes),
            LogCell::Count(series.count),
        ]
    };
    LogTable::new(
        "GPU memory that the program printed",
        ["Memory", "First", "Last", "Most", "Times"],
        named(progress).map(row),
    )
}

/// Reports allocated memory that climbs, or else the highest value.
pub(super) fn finding(progress: &Progress) -> Option<Finding> {
    let stated = |code, severity, bytes, title, shows: &str, advice: String| Finding {
        severity,
        ..Finding::stated(code, NO_DEVICE, bytes, title, shows.to_owned(), advice)
    };
    let Series { count, first_bytes, last_bytes, rises, falls, .. } = progress.allocated;
    let grown = last_bytes.saturating_sub(first_bytes);
    // A tenth may fall: evaluations and the last batch of an epoch do.
    if count >= FEWEST && rises >= count / 2 && falls <= rises / 10 && grown >= last_bytes / 10 {
        let title =
            format!("Allocated memory climbs from {} to {}", format::bytes(first_bytes), format::bytes(last_bytes));
        let shows = format!("It was printed {count} times, rose {rises} times and fell {falls} times.");
        let advice = format!(
            "Look for what each step keeps: losses and outputs in a list (`loss.item()` keeps no graph), hidden states that are \
             passed on without `detach()`, and gradients that are not cleared.\n{RECORD}"
        );
        return Some(stated(FindingCode::MemoryGrows, Severity::Warning, grown, title, &shows, advice));
    }
    let (name, series) = named(progress).max_by_key(|(name, series)| (series.most_bytes, *name))?;
    let title = format!("At most {} was printed as {}", format::bytes(series.most_bytes), name.to_lowercase());
    let shows = "Memory outside PyTorch's allocator, such as the CUDA context, NCCL and other processes, is not in it.";
    Some(stated(FindingCode::Peak, Severity::Info, series.most_bytes, title, shows, RECORD.to_owned()))
}
