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
    let Progress { allocated, peak_allocated, reserved, peak_reserved, in_use, gpu: _ } = *progress;
    let all = [
        ("Allocated", allocated),
        ("Peak allocated", peak_allocated),
        ("Reserved", reserved),
        ("Peak reserved", peak_reserved),
        ("In use by all", in_use),
    ];
    all.into_iter().filter(|(_, series)| series.count > 0)
}

/// Returns the number of values of all measures.
pub(super) fn values(all: &[Progress]) -> usize {
    all.iter().flat_map(named).map(|(_, series)| series.count as usize).sum()
}

/// Lists the measures.
pub(super) fn table(all: &[Progress]) -> LogTable {
    let row = |progress: &Progress, (name, series): (&str, Series)| {
        vec![
            progress.gpu.map_or(LogCell::Nothing, |gpu| LogCell::Count(u64::from(gpu))),
            LogCell::Text(name.to_owned()),
            LogCell::Bytes(series.first_bytes),
            LogCell::Bytes(series.last_bytes),
            LogCell::Bytes(series.most_bytes),
            LogCell::Count(series.count),
        ]
    };
    let rows = all.iter().flat_map(|progress| named(progress).map(move |series| row(progress, series)));
    LogTable::new("GPU memory that the program printed", ["GPU", "Memory", "First", "Last", "Most", "Times"], rows)
}

/// Returns true if a series climbs; a tenth of the changes may be falls, as evaluations and last batches of epochs make them.
fn climbs(series: Series) -> bool {
    let Series { count, rises, falls, .. } = series;
    count >= FEWEST && rises >= count / 2 && falls <= rises / 10
}

/// Reports memory of a GPU that climbs, or else its highest value.
pub(super) fn finding(progress: &Progress) -> Option<Finding> {
    let device = progress.gpu.map_or(NO_DEVICE, i64::from);
    let stated = |code, severity, bytes, title, shows: String, advice: String| Finding {
        severity,
        ..Finding::stated(code, device, bytes, title, shows, advice)
    };
    let grown = |series: Series| series.last_bytes.saturating_sub(series.first_bytes);
    let climb = |what: &str, Series { count, first_bytes, last_bytes, rises, falls, .. }| {
        let title = format!("{what} climbs from {} to {}", format::bytes(first_bytes), format::bytes(last_bytes));
        (title, format!("It was printed {count} times, rose {rises} times and fell {falls} times."))
    };
    let Progress { allocated, in_use, .. } = *progress;
    if climbs(allocated) && grown(allocated) >= allocated.last_bytes / 10 {
        let (title, shows) = climb("Allocated memory", allocated);
        let advice = format!(
            "Look for what each step keeps: losses and outputs in a list (`loss.item()` keeps no graph), hidden states that \
             are passed on without `detach()`, and gradients that are not cleared.\n{RECORD}"
        );
        return Some(stated(FindingCode::MemoryGrows, Severity::Warning, grown(allocated), title, shows, advice));
    }
    if climbs(in_use) && allocated.count > 0 && grown(allocated) < grown(in_use) / 2 {
        let (title, shows) = climb("GPU memory outside PyTorch", in_use);
        let advice = "Look for libraries with memory of their own: renderers, decoders, CuPy, NCCL communicators made anew.\n\
                      Leave them out one by one, and see whether the climb ends.\n\n\
                      What PyTorch allocates stays as it is, so that no snapshot would show it.";
        return Some(stated(
            FindingCode::OutsidePytorch,
            Severity::Warning,
            grown(in_use),
            title,
            shows,
            advice.to_owned(),
        ));
    }
    let (name, series) = named(progress).max_by_key(|(name, series)| (series.most_bytes, *name))?;
    let title = format!("At most {} was printed as {}", format::bytes(series.most_bytes), name.to_lowercase());
    let shows = "PyTorch's figures are without the CUDA context, NCCL and other processes.".to_owned();
    Some(stated(FindingCode::Peak, Severity::Info, series.most_bytes, title, shows, RECORD.to_owned()))
}
