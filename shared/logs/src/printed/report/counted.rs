//! Reports on what counts memory in a text: counters of PyTorch's allocator, lines of memory_profiler, and GPU memory
//! that a program printed while it ran.

use crate::printed::{Counters, LineUse, Printed, Progress, Series};
use crate::source::{bytes_cell, count_cell, finding};
use shared::analysis::{FindingCode, title_of_parts};
use shared::base::{Severity, ShortSort, format};
use shared::report::{Finding, HOST, LogCell, LogTable, NO_DEVICE};

/// How to record what a message can't show.
pub(super) const RECORD: &str = "[record] To see which tensors these are, record a snapshot: call \
                      ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)`` before the first step and \
                      `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")` where the error is caught.";

/// How to get what is missing in a text.
const WHOLE: &str = "paste all that `print(torch.cuda.memory_summary())` prints.";

/// Smallest unused memory that is a finding of its own, in bytes and as a fraction of the reserved memory (1/5).
pub(super) const MUCH_UNUSED: u64 = 512 << 20;
const UNUSED_PART: u64 = 5;

pub(super) fn counter_table(printed: &Printed) -> LogTable {
    let row = |counters: &Counters| {
        vec![
            count_cell(counters.device.map(u64::from)),
            bytes_cell(counters.allocated.now_bytes),
            bytes_cell(counters.allocated.peak_bytes),
            bytes_cell(counters.reserved.now_bytes),
            bytes_cell(counters.reserved.peak_bytes),
            bytes_cell(counters.non_releasable.now_bytes),
            count_cell(counters.retries),
            count_cell(counters.ooms),
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

/// Reports what the counters of the allocator show; some allocators count no failures, so that a text with an error refutes
/// them.
pub(super) fn counted(counters: &Counters, has_error: bool) -> Vec<Finding> {
    let device = i64::from(counters.device.unwrap_or(0));
    let mut found = Vec::new();
    let Counters { allocated, active, reserved, non_releasable, .. } = counters;
    let told = |all: [(Option<u64>, &str); 4]| {
        let told = all.iter().filter_map(|(bytes, words)| Some(format!("{} {words}", format::bytes((*bytes)?))));
        told.collect::<Vec<_>>().join(", ")
    };
    let (retries, ooms) = (counters.retries.unwrap_or(0), counters.ooms.unwrap_or(0));
    if ooms > 0 {
        let figures = told([
            (allocated.now_bytes, "allocated"),
            (reserved.now_bytes, "reserved"),
            (allocated.peak_bytes, "allocated at the peak"),
            (reserved.peak_bytes, "reserved at the peak"),
        ]);
        found.push(finding(
            FindingCode::OutOfMemory,
            device,
            Severity::Error,
            allocated.peak_bytes.unwrap_or(0),
            format!("Memory ran out {}", format::counted(ooms, "time")),
            if figures.is_empty() { figures } else { format!("When the counters were printed: {figures}.") },
            "The message of the error has the figures of that moment: paste it here as well.",
        ));
    }
    // What the text does not have counts as used, so that it accuses nobody.
    let (peak_reserved, peak) = (reserved.peak_bytes.unwrap_or(0), allocated.peak_bytes.unwrap_or(u64::MAX));
    let unused = peak_reserved.saturating_sub(peak.max(active.peak_bytes.unwrap_or(0)));
    if unused >= MUCH_UNUSED && unused >= peak_reserved / UNUSED_PART {
        let ratio = peak_reserved as f64 / peak.max(1) as f64;
        found.push(finding(
            FindingCode::ReservedAboveLive,
            device,
            Severity::Warning,
            unused,
            format!(
                "PyTorch reserved {}, {ratio:.1} times the {} ever allocated: fragmentation",
                format::bytes(peak_reserved),
                format::bytes(peak)
            ),
            match non_releasable.now_bytes {
                None | Some(0) => "Between the two lies memory that PyTorch holds in its cache.".to_owned(),
                Some(bytes) => format!(
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
    if retries > 0 {
        found.push(finding(
            FindingCode::CacheEmptied,
            device,
            Severity::Warning,
            0,
            format!("The allocator emptied its cache {} because the GPU was full", format::counted(retries, "time")),
            "Each time, PyTorch waits for the GPU, returns all unused segments and requests memory anew, which is slow.",
            "Use a slightly smaller batch.\nOr set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``.\n\n\
             The training runs at the edge of the GPU's memory.",
        ));
    }
    if let (true, Some(peak)) = (found.is_empty(), allocated.peak_bytes.filter(|bytes| *bytes > 0)) {
        let most = reserved.peak_bytes.map(|bytes| {
            let share = format::percent(peak, bytes);
            format!("PyTorch reserved {} at most, of which {share} was allocated at the peak.", format::bytes(bytes))
        });
        let never = (!has_error && counters.ooms.is_some() && counters.retries.is_some())
            .then(|| "It never ran out of memory and never emptied its cache.".to_owned());
        let cut = reserved.peak_bytes.is_none().then(|| format!("What was reserved is not in the text: {WHOLE}"));
        found.push(finding(
            FindingCode::Peak,
            device,
            Severity::Info,
            peak,
            format!("The peak is {} allocated", format::bytes(peak)),
            [most, never, cut].into_iter().flatten().collect::<Vec<_>>().join(" "),
            RECORD,
        ));
    } else if found.is_empty() && allocated.peak_bytes.is_none() {
        let title = "The counters of the allocator are not in the text";
        let shows = format!("Nothing says how much was allocated: {WHOLE}");
        found.push(finding(FindingCode::Peak, device, Severity::Info, 0, title, shows, RECORD));
    }
    found
}

/// Names the line that adds the most host memory.
pub(super) fn largest_line(lines: &[LineUse]) -> Option<Finding> {
    let largest = lines_by_size(lines).into_iter().next().filter(|line| line.added_bytes > 0)?;
    let added_bytes = largest.added_bytes.unsigned_abs();
    let noun = if largest.code.is_empty() { "block" } else { "run" };
    let times = largest.times.filter(|times| *times > 1);
    let times = times.map_or_else(String::new, |times| format!(" in {}", format::counted(times, noun)));
    let peak = lines.iter().map(|line| line.bytes).max().unwrap_or(0);
    let file = match largest.file.rsplit(['/', '\\']).next().unwrap_or_default() {
        "" => String::new(),
        file => format!(" of {file}"),
    };
    let title = format!("Line {}{file} adds the most host memory: {}", largest.line, format::bytes(added_bytes));
    let shows = match largest.code.as_str() {
        "" => format!("It holds {} now, by tracemalloc.", format::bytes(largest.bytes)),
        code => format!("The line is `{code}`. The process had at most {}.", format::bytes(peak)),
    };
    // What one line makes, another copies.
    let added = lines_by_size(lines);
    let is_copy = |other: &&&LineUse| {
        other.line != largest.line && other.added_bytes.abs_diff(largest.added_bytes) <= added_bytes / 50
    };
    if let Some(copy) = added.get(1).filter(|other| is_copy(other) && !largest.code.is_empty()) {
        let (first, last) = (largest.line.min(copy.line), largest.line.max(copy.line));
        let title = format!("Lines {first} and {last}{file} add {} each", format::bytes(added_bytes));
        let advice = "Make one array and fill it: ``np.empty((n, height, width, 3), dtype=np.uint8)``, instead of a list that is then \
                      stacked or concatenated.\nOr free the first before the second is made, or work on parts.\n\n\
                      Both are in memory together: what one line collects, the other copies.";
        return Some(finding(FindingCode::Peak, HOST, Severity::Info, added_bytes, title, shows, advice));
    }
    let is_growth = largest.code.is_empty() && added_bytes >= MUCH_ADDED && added_bytes < largest.bytes;
    let severity = if is_growth { Severity::Warning } else { Severity::Info };
    let advice = "Look for lists and caches that it appends to: a line that adds memory in each run keeps what it \
                  makes.\n\nMemory of a line that loads the data or the model once is no problem by itself.";
    let title = title_of_parts(&title, [times]);
    Some(finding(FindingCode::Peak, HOST, severity, added_bytes, title, shows, advice))
}

/// What a line adds between two snapshots of tracemalloc, to be told as a warning.
const MUCH_ADDED: u64 = 512 << 20;

/// Returns the lines that add memory, the most first; the first line of a function has what was there before.
fn lines_by_size(lines: &[LineUse]) -> Vec<&LineUse> {
    let mut added: Vec<&LineUse> = lines.iter().filter(|line| !line.code.starts_with('@')).collect();
    added.short_sort_by_key(|line| (std::cmp::Reverse(line.added_bytes), line.line));
    added
}

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
            count_cell(line.times),
            LogCell::Text(line.code.clone()),
        ]
    };
    let columns = ["Line", "Added", "Memory", "Runs or blocks", "Code"];
    LogTable::new("Lines, by memory added", columns, lines_by_size(lines).iter().map(row))
}

/// Fewest values that show growth.
const FEWEST: u64 = 5;

/// The same if the memory rises each time while tensors stay exactly as they are.
const FEWEST_ALONE: u64 = 3;

/// Values from which a small climb counts as well.
const MANY: u64 = 10;

/// The measures by name, those of the moment first.
fn named(progress: &Progress) -> impl Iterator<Item = (&'static str, Series)> {
    let Progress { allocated, peak_allocated, reserved, peak_reserved, in_use, host, .. } = *progress;
    let all = [
        ("Allocated", allocated),
        ("Peak allocated", peak_allocated),
        ("Reserved", reserved),
        ("Peak reserved", peak_reserved),
        ("In use by all", in_use),
        ("In use on the host", host),
    ];
    all.into_iter().filter(|(_, series)| series.count > 0)
}

pub(super) fn values(all: &[Progress]) -> usize {
    all.iter().flat_map(named).map(|(_, series)| series.count as usize).sum()
}

pub(super) fn table(all: &[Progress]) -> LogTable {
    let row = |progress: &Progress, (name, series): (&str, Series)| {
        vec![
            count_cell(progress.gpu.map(u64::from)),
            LogCell::Text(name.to_owned()),
            LogCell::Bytes(series.first_bytes),
            LogCell::Bytes(series.last_bytes),
            LogCell::Bytes(series.most_bytes),
            LogCell::Count(series.count),
        ]
    };
    let rows = all.iter().flat_map(|progress| named(progress).map(move |series| row(progress, series)));
    let number = if all.iter().any(|progress| progress.is_rank) { "Rank" } else { "GPU" };
    LogTable::new("Memory that the program printed", [number, "Memory", "First", "Last", "Most", "Times"], rows)
}

/// Returns true if a series climbs; a tenth of the changes may be falls, as evaluations and last batches of epochs make them.
fn climbs(series: Series) -> bool {
    let Series { count, rises, falls, .. } = series;
    count >= FEWEST && rises >= count / 2 && falls <= rises / 10
}

/// Reports what each GPU or rank shows; of those that have a highest value alone, the one with the most.
pub(super) fn printed(all: &[Progress]) -> Vec<Finding> {
    let (peaks, mut found): (Vec<Finding>, Vec<Finding>) =
        all.iter().filter_map(of_gpu).partition(|finding| finding.code == FindingCode::Peak);
    found.extend(peaks.into_iter().max_by_key(|finding| finding.bytes));
    found.extend(all.iter().max_by_key(|progress| progress.host_permille).and_then(of_host));
    found
}

/// Says how the host's memory rose by a quarter or more before a program was killed.
pub(super) fn risen_on_host(progress: &Progress) -> Option<String> {
    let Series { first_bytes, most_bytes, .. } = progress.host;
    let (first, most) = (format::bytes(first_bytes), format::bytes(most_bytes));
    let is_risen = most_bytes / 5 * 4 > first_bytes;
    is_risen.then(|| format!(" Before, the host's memory in use rose from {first} to {most}."))
}

fn of_host(progress: &Progress) -> Option<Finding> {
    const MUCH: u64 = 700;
    const NEARLY_ALL: u64 = 900;
    let Progress { host: Series { first_bytes, most_bytes, .. }, host_permille: share, .. } = *progress;
    let severity = if share >= NEARLY_ALL { Severity::Warning } else { Severity::Info };
    let title = format!("The host's memory was {:.1} % in use: {}", share as f64 / 10.0, format::bytes(most_bytes));
    let shows = format!("At the first line it was {}.", format::bytes(first_bytes));
    let advice = "Offload less to the host (`offload_optimizer`, `offload_param`), or to NVMe, or spread it over more \
                  machines.\nLeave it pageable (``\"pin_memory\": false``), and let each rank load its part of the \
                  weights alone.\n[record] See which processes climb: ``snapscope host -- python train.py``.";
    let code = FindingCode::HostNearlyFull;
    (share >= MUCH).then(|| finding(code, HOST, severity, most_bytes, title, shows, advice))
}

/// Reports memory of a GPU that climbs, or else its highest value.
fn of_gpu(progress: &Progress) -> Option<Finding> {
    let device = progress.gpu.filter(|_| !progress.is_rank).map_or(NO_DEVICE, i64::from);
    let of_rank = progress.gpu.filter(|_| progress.is_rank).map_or_else(String::new, |rank| format!(" of rank {rank}"));
    let grown = |series: Series| series.last_bytes.saturating_sub(series.first_bytes);
    let climb = |what: &str, Series { count, first_bytes, last_bytes, rises, falls, .. }| {
        let (first, last) = (format::bytes(first_bytes), format::bytes(last_bytes));
        let by = format::bytes(last_bytes.saturating_sub(first_bytes));
        let course = if first == last { format!("by {by}") } else { format!("from {first}") };
        let title = format!("{what}{of_rank} climbs {course} to {last}");
        (title, format!("It was printed {count} times, rose {rises} times and fell {falls} times."))
    };
    let Progress { allocated, peak_allocated, reserved, peak_reserved, in_use, .. } = *progress;
    // A small climb counts if it never falls.
    let is_steady = allocated.count >= MANY && allocated.falls == 0;
    let least = allocated.last_bytes / if is_steady { 50 } else { 10 };
    if climbs(allocated) && grown(allocated) >= least {
        let (title, shows) = climb("Allocated memory", allocated);
        let advice = format!(
            "Look for what each step keeps: losses and outputs in a list (`loss.item()` keeps no graph), hidden states that \
             are passed on without `detach()`, and gradients that are not cleared.\n{RECORD}"
        );
        let code = FindingCode::MemoryGrows;
        return Some(finding(code, device, Severity::Warning, grown(allocated), title, shows, advice));
    }
    let is_alone = in_use.count >= FEWEST_ALONE && in_use.rises + 1 == in_use.count && grown(allocated) == 0;
    if (is_alone || climbs(in_use)) && allocated.count > 0 && grown(allocated) < grown(in_use) / 2 {
        let (title, shows) = climb("GPU memory outside PyTorch", in_use);
        let advice = "Look for libraries with memory of their own: renderers, decoders, CuPy, NCCL communicators made anew.\n\
                      Leave them out one by one, and see whether the climb ends.\n\n\
                      What PyTorch allocates stays as it is, so that no snapshot would show it.";
        let code = FindingCode::OutsidePytorch;
        return Some(finding(code, device, Severity::Warning, grown(in_use), title, shows, advice));
    }
    let cache = if reserved.count > 0 { reserved } else { peak_reserved };
    let tensors = if allocated.count > 0 { allocated } else { peak_allocated };
    if climbs(cache) && tensors.count > 0 && grown(tensors) < grown(cache) / 4 && grown(cache) >= cache.last_bytes / 20
    {
        let (title, shows) = climb("PyTorch's reserved memory", cache);
        let shows = format!("{shows} What tensors take rose by {}.", format::bytes(grown(tensors)));
        let advice = "Set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``.\nIf batches vary in size, start with \
                      the largest one, or pad them to few sizes.\nNow and then, call ``torch.cuda.empty_cache()``.\n\n\
                      What climbs is PyTorch's cache: free pieces that later requests do not fit into.";
        let code = FindingCode::ReservedAboveLive;
        return Some(finding(code, device, Severity::Warning, grown(cache), title, shows, advice));
    }
    let unused = reserved.last_bytes.saturating_sub(allocated.last_bytes);
    let is_past = peak_allocated.count == 0 || peak_allocated.last_bytes <= reserved.last_bytes / 2;
    if allocated.count > 0 && is_past && unused >= MUCH_UNUSED.max(allocated.last_bytes) {
        let (held, used) = (format::bytes(reserved.last_bytes), format::bytes(allocated.last_bytes));
        let title = format!("PyTorch keeps {held}, of which tensors use {used}");
        let shows = "What an earlier peak has freed stays reserved, so that later steps can use it again.";
        let advice = "Print ``torch.cuda.max_memory_allocated()``: if it is as high as what is reserved, nothing has to be done.\n\
                      Otherwise set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``.\n\
                      If other programs need the memory, call ``torch.cuda.empty_cache()``.";
        return Some(finding(FindingCode::ReservedAboveLive, device, Severity::Info, unused, title, shows, advice));
    }
    let without_host = Progress { host: Series::default(), ..*progress };
    let (name, series) = named(&without_host).max_by_key(|(name, series)| (series.most_bytes, *name))?;
    if series.most_bytes == 0 {
        return None;
    }
    let title = format!("At most {} was printed as {}{of_rank}", format::bytes(series.most_bytes), name.to_lowercase());
    let is_flat = allocated.count >= FEWEST && allocated.falls == 0 && allocated.rises <= 1;
    let flat = if is_flat { "What tensors take stays as it is after the first values: no leak. " } else { "" };
    let shows = format!("{flat}PyTorch's figures are without the CUDA context, NCCL and other processes.");
    Some(finding(FindingCode::Peak, device, Severity::Info, series.most_bytes, title, shows, RECORD))
}
