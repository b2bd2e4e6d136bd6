//! Reports on what counts memory in a text: counters of PyTorch's allocator, and lines of memory_profiler.

use crate::analysis::{FindingCode, title_of_parts};
use crate::base::{Severity, format};
use crate::logs::printed::{Counters, LineUse, Printed};
use crate::report::{Finding, HOST, LogCell, LogTable};

/// How to record what a message can't show.
pub(super) const RECORD: &str = "[record] To see which tensors these are, record a snapshot: call \
                      ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)`` before the first step and \
                      `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")` where the error is caught.";

/// Smallest unused memory that is a finding of its own, in bytes and as a fraction of the reserved memory (1/5).
pub(super) const MUCH_UNUSED: u64 = 512 << 20;
const UNUSED_PART: u64 = 5;

/// Lists the counters of a text.
pub(super) fn counter_table(printed: &Printed) -> LogTable {
    let row = |counters: &Counters| {
        vec![
            counters.device.map_or(LogCell::Nothing, |device| LogCell::Count(u64::from(device))),
            LogCell::Bytes(counters.allocated.now_bytes),
            LogCell::Bytes(counters.allocated.peak_bytes),
            LogCell::Bytes(counters.reserved.now_bytes),
            LogCell::Bytes(counters.reserved.peak_bytes),
            LogCell::Bytes(counters.non_releasable.now_bytes),
            LogCell::Count(counters.retries),
            LogCell::Count(counters.ooms),
        ]
    };
    let columns = [
        "Device",
        "Allocated",
        "Peak allocated",
        "Reserved",
        "Peak reserved",
        "Non-releasable",
        "Retries",
        "Out of memory",
    ];
    LogTable::new("Counters of the allocator", columns, printed.counters.iter().map(row))
}

/// Reports what the counters of the allocator show.
pub(super) fn counted(counters: &Counters) -> Vec<Finding> {
    let device = i64::from(counters.device.unwrap_or(0));
    let finding = |code, severity, bytes, title: String, shows: String, advice: &str| Finding {
        severity,
        ..Finding::stated(code, device, bytes, title, shows, advice.to_owned())
    };
    let mut found = Vec::new();
    let Counters { allocated, active, reserved, non_releasable, .. } = counters;
    if counters.ooms > 0 {
        found.push(finding(
            FindingCode::OutOfMemory,
            Severity::Error,
            allocated.peak_bytes,
            format!("Memory ran out {}", format::counted(counters.ooms, "time")),
            format!(
                "When the counters were printed, {} was allocated and {} reserved; the peaks are {} and {}.",
                format::bytes(allocated.now_bytes),
                format::bytes(reserved.now_bytes),
                format::bytes(allocated.peak_bytes),
                format::bytes(reserved.peak_bytes)
            ),
            "The message of the error has the figures of that moment: paste it here as well.",
        ));
    }
    let unused = reserved.peak_bytes.saturating_sub(allocated.peak_bytes.max(active.peak_bytes));
    if unused >= MUCH_UNUSED && unused >= reserved.peak_bytes / UNUSED_PART {
        let ratio = reserved.peak_bytes as f64 / allocated.peak_bytes.max(1) as f64;
        found.push(finding(
            FindingCode::ReservedAboveLive,
            Severity::Warning,
            unused,
            format!(
                "PyTorch reserved {}, {ratio:.1} times the {} ever allocated: fragmentation",
                format::bytes(reserved.peak_bytes),
                format::bytes(allocated.peak_bytes)
            ),
            match non_releasable.now_bytes {
                0 => "Between the two lies memory that PyTorch holds in its cache.".to_owned(),
                bytes => format!(
                    "Now, {} of the reserved memory is free in segments that are in use, so that it can't be returned.",
                    format::bytes(bytes)
                ),
            },
            "Set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``.\n\
             If batches vary in size, start with the largest one, or pad them to few sizes.\n\
             [record] Record a snapshot, which shows the sizes that do not fit, and what other settings would have saved: \
             ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)``, then \
             `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")`.",
        ));
    }
    if counters.retries > 0 {
        found.push(finding(
            FindingCode::CacheEmptied,
            Severity::Warning,
            0,
            format!("The allocator emptied its cache {} because the GPU was full", format::counted(counters.retries, "time")),
            "Each time, PyTorch waits for the GPU, returns all unused segments and requests memory anew, which is slow."
                .to_owned(),
            "Use a slightly smaller batch.\nOr set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``.\n\n\
             The training runs at the edge of the GPU's memory.",
        ));
    }
    if found.is_empty() && allocated.peak_bytes > 0 {
        let share = format::percent(allocated.peak_bytes, reserved.peak_bytes);
        found.push(finding(
            FindingCode::Peak,
            Severity::Info,
            allocated.peak_bytes,
            format!("The peak is {} allocated", format::bytes(allocated.peak_bytes)),
            format!(
                "PyTorch reserved {} at most, of which {share} was allocated at the peak. It never ran out of memory and \
                 never emptied its cache.",
                format::bytes(reserved.peak_bytes)
            ),
            RECORD,
        ));
    }
    found
}

/// Names the line that adds the most host memory.
pub(super) fn largest_line(lines: &[LineUse]) -> Option<Finding> {
    let largest = lines_by_size(lines).into_iter().next().filter(|line| line.added_bytes > 0)?;
    let added_bytes = largest.added_bytes.unsigned_abs();
    let times = match largest.times {
        Some(times) if times > 1 => format!(" in {}", format::counted(times, "run")),
        _ => String::new(),
    };
    let peak = lines.iter().map(|line| line.bytes).max().unwrap_or(0);
    let file = largest.file.rsplit(['/', '\\']).next().unwrap_or_default();
    Some(Finding::stated(
        FindingCode::Peak,
        HOST,
        added_bytes,
        title_of_parts(
            &format!("Line {} of {file} adds the most host memory: {}", largest.line, format::bytes(added_bytes)),
            [times],
        ),
        format!("The line is `{}`. The process had at most {}.", largest.code, format::bytes(peak)),
        "Look for lists and caches that it appends to: a line that adds memory in each run keeps what it makes.\n\n\
         Memory of a line that loads the data or the model once is no problem by itself."
            .to_owned(),
    ))
}

/// Returns the lines that add memory, the most first; the first line of a function has what was there before.
fn lines_by_size(lines: &[LineUse]) -> Vec<&LineUse> {
    let mut added: Vec<&LineUse> = lines.iter().filter(|line| !line.code.starts_with('@')).collect();
    added.sort_by_key(|line| (std::cmp::Reverse(line.added_bytes), line.line));
    added
}

/// Lists the lines of memory_profiler's tables.
pub(super) fn line_table(lines: &[LineUse]) -> LogTable {
    let row = |line: &&LineUse| {
        let added = match u64::try_from(line.added_bytes) {
            Ok(bytes) => LogCell::Bytes(bytes),
            Err(_) => LogCell::Text(format!("-{}", format::bytes(line.added_bytes.unsigned_abs()))),
        };
        vec![
            LogCell::Text(format!("{}:{}", line.file, line.line)),
            added,
            LogCell::Bytes(line.bytes),
            line.times.map_or(LogCell::Nothing, LogCell::Count),
            LogCell::Text(line.code.clone()),
        ]
    };
    LogTable::new(
        "Lines, by memory added",
        ["Line", "Added", "Memory", "Runs", "Code"],
        lines_by_size(lines).iter().map(row),
    )
}
