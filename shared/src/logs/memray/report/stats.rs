//! Reports on `memray stats --json`: the peak, and what was allocated in the whole run.

use crate::analysis::FindingCode;
use crate::base::format;
use crate::logs::memray::Stats;
use crate::logs::source::LogPart;
use crate::report::{Finding, HOST, LogCell, LogTable};
use std::cmp::Reverse;

/// Reports on the file.
pub(super) fn part(stats: &Stats) -> LogPart {
    if stats.is_damaged {
        return damaged();
    }
    let command = &stats.metadata.command_line;
    LogPart {
        title: format!(
            "memray stats: {}, {} in all",
            format::counted(stats.total_num_allocations, "allocation"),
            format::bytes(stats.total_bytes_allocated)
        ),
        facts: (!command.is_empty()).then(|| format!("`{}`", short_command(command))).into_iter().collect(),
        findings: vec![peak(stats)],
        tables: tables(stats),
        ..LogPart::default()
    }
}

/// Returns a command line with `memray` instead of the file that is run for it.
pub(super) fn short_command(command: &str) -> String {
    let (program, arguments) = command.split_once(' ').unwrap_or((command, ""));
    match program.ends_with("/memray") || program.ends_with("memray/__main__.py") {
        true => format!("memray {arguments}"),
        false => command.to_owned(),
    }
}

/// Formats a line of a function; of the path, only what names the file within its project or package is left.
pub(super) fn line(function: &str, file: &str, line: &str) -> String {
    let path = file.rsplit_once("-packages/").map_or(file, |(_, path)| path);
    let start = path.rmatch_indices('/').nth(1).filter(|_| path.starts_with('/')).map_or(0, |(at, _)| at + 1);
    format!("{function} ({}:{line})", &path[start..])
}

fn damaged() -> LogPart {
    let damaged = Finding::stated(
        FindingCode::TooLittleRecorded,
        HOST,
        0,
        "The file of memray stats ends early or is damaged".to_owned(),
        "Nothing of it is read, since its figures belong together.".to_owned(),
        "Write it again: `memray stats --json FILE`, where FILE is the capture.".to_owned(),
    );
    LogPart { title: "memray stats".to_owned(), findings: vec![damaged], ..LogPart::default() }
}

fn peak(stats: &Stats) -> Finding {
    let bytes = stats.metadata.peak_memory;
    let named = stats.top_allocations_by_size.iter().take(3);
    let named: Vec<String> =
        named.map(|one| format!("{} by {}", format::bytes(one.size), location(&one.location))).collect();
    let most = match named.is_empty() {
        true => String::new(),
        false => {
            format!(" In the whole run, freed or not, the most was allocated by these lines: {}.", named.join("; "))
        }
    };
    Finding::stated(
        FindingCode::Peak,
        HOST,
        bytes,
        format!("The peak is {} allocated on the host", format::bytes(bytes)),
        format!("These figures do not say what the peak consists of.{most}"),
        "Open the capture itself, the file that `memray stats` was given: it shows the lines that allocated what was there \
         at the peak, and memory over time."
            .to_owned(),
    )
}

/// Returns a line such as `load (data.py:12)` for `load:/home/me/project/data.py:12`.
fn location(location: &str) -> String {
    let parts = location.rsplit_once(':').and_then(|(name, line)| Some((name.split_once(':')?, line)));
    parts.map_or(location.to_owned(), |((function, file), number)| line(function, file, number))
}

fn tables(stats: &Stats) -> Vec<LogTable> {
    let by_size = stats.top_allocations_by_size.iter();
    let by_size = by_size.map(|one| vec![LogCell::Text(location(&one.location)), LogCell::Bytes(one.size)]);
    let by_count = stats.top_allocations_by_count.iter();
    let by_count = by_count.map(|one| vec![LogCell::Text(location(&one.location)), LogCell::Count(one.count)]);
    let modules = stats.top_modules_by_allocation_size.iter().map(|one| {
        let figures = [LogCell::Bytes(one.total_bytes), LogCell::Count(one.num_allocations)];
        [LogCell::Text(one.module.clone())].into_iter().chain(figures).collect()
    });
    let sizes = stats
        .allocation_size_histogram
        .iter()
        .map(|one| vec![LogCell::Bytes(one.min_bytes), LogCell::Bytes(one.max_bytes), LogCell::Count(one.count)]);
    let mut allocators: Vec<_> = stats.allocator_type_distribution.iter().collect();
    allocators.sort_by_key(|(_, count)| Reverse(**count));
    let allocators =
        allocators.into_iter().map(|(name, count)| vec![LogCell::Text(name.to_lowercase()), LogCell::Count(*count)]);
    [
        table("Most memory in the whole run, freed or not", &["Line", "Memory"], by_size),
        table("Most allocations", &["Line", "Allocations"], by_count),
        table("Modules", &["Module", "Memory", "Allocations"], modules),
        table("Sizes of allocations", &["From", "To", "Allocations"], sizes),
        table("Functions of the allocator", &["Function", "Allocations"], allocators),
    ]
    .into_iter()
    .filter(|table| !table.rows.is_empty())
    .collect()
}

fn table(title: &str, columns: &[&str], rows: impl Iterator<Item = Vec<LogCell>>) -> LogTable {
    LogTable::new(title, columns.iter().copied(), rows)
}
