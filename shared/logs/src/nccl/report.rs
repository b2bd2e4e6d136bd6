//! Reports on the memory of NCCL, which PyTorch's allocator and its snapshots do not know.

use crate::nccl::{NcclLog, NcclProcess, NcclSize};
use crate::sampled::sampled;
use crate::source::{LogPart, Source};
use shared::analysis::{Confidence, FindingCode};
use shared::base::{Severity, ShortSort, format};
use shared::report::{Finding, LogCell, LogCurves, LogNotice, LogTable};

/// Memory of one process on a GPU from which NCCL is worth a warning, 1 GiB.
///
/// One communicator of eight H100s takes about 0.6 GiB for reductions (1.06 GB with the CUDA context in NVIDIA/nccl#1685);
/// a warning about a run with a single communicator and no exchange of all with all would refute it.
const MUCH_BYTES: u64 = 1 << 30;

/// Memory below which the tables say enough, 128 MiB.
const LITTLE_BYTES: u64 = 128 << 20;

/// Most processes whose curves are drawn.
const MOST_SERIES: usize = 16;

impl Source for NcclLog {
    fn is_empty(&self) -> bool {
        self.processes.iter().all(|process| process.allocations == 0 && process.paged_bytes == 0) && self.left_out == 0
    }

    fn part(&self) -> LogPart {
        let left_out = || {
            let left_out = format::counted(self.left_out, "more line");
            LogNotice::warning(format!("{left_out} of NCCL could not be kept."))
        };
        LogPart {
            title: title(self),
            curves: curves(self).into_iter().collect(),
            findings: finding(self).into_iter().collect(),
            tables: [Some(process_table(self)), size_table(self)].into_iter().flatten().collect(),
            notices: (self.left_out > 0).then(left_out).into_iter().collect(),
            ..LogPart::default()
        }
    }
}

fn title(log: &NcclLog) -> String {
    let processes = log.processes.iter().filter(|process| process.allocations > 0).count();
    let total = log.processes.iter().map(|process| process.paged_bytes).fold(0, u64::saturating_add);
    format!("NCCL: {} on GPUs by {}", format::bytes(total), count_of(processes))
}

fn count_of(processes: usize) -> String {
    format!("{processes} process{}", if processes == 1 { "" } else { "es" })
}

/// Returns the number of the GPU, as nvidia-smi has it if the log states it.
fn gpu(process: &NcclProcess) -> u32 {
    process.gpu.unwrap_or(process.device)
}

fn name_of(process: &NcclProcess) -> String {
    let gpu = gpu(process);
    match process.rank {
        Some((rank, _)) => format!("rank {rank}, GPU {gpu}"),
        None => format!("process {}, GPU {gpu}", process.pid),
    }
}

/// Returns NCCL's memory of each process over time; `None` without dates.
fn curves(log: &NcclLog) -> Option<LogCurves> {
    let mut processes: Vec<&NcclProcess> =
        log.processes.iter().filter(|process| process.samples.iter().any(|sample| sample.bytes > 0)).collect();
    processes.short_sort_by_key(|process| std::cmp::Reverse(process.peak_bytes));
    processes.truncate(MOST_SERIES);
    Some(LogCurves {
        quantity: "GPU memory of NCCL".to_owned(),
        has_steps: true,
        has_dates: true,
        has_times: true,
        ..sampled(processes.iter().map(|process| (name_of(process), &process.samples[..])))?
    })
}

/// Reports the process with the most memory.
fn finding(log: &NcclLog) -> Option<Finding> {
    let process = log.processes.iter().max_by_key(|process| process.paged_bytes)?;
    let bytes = process.paged_bytes;
    (bytes >= LITTLE_BYTES).then(|| Finding {
        severity: if bytes >= MUCH_BYTES { Severity::Warning } else { Severity::Info },
        confidence: Confidence::Medium,
        ..Finding::stated(
            FindingCode::NcclMemory,
            i64::from(gpu(process)),
            bytes,
            format!("NCCL holds {} outside PyTorch's allocator", format::bytes(bytes)),
            shows(log, process),
            advice(log, process),
        )
    })
}

/// Returns the subject of a sentence.
fn sentence_of(process: &NcclProcess) -> String {
    let name = name_of(process);
    let (first, rest) = name.split_at(1);
    format!("{}{rest},", first.to_uppercase())
}

fn shows(log: &NcclLog, process: &NcclProcess) -> String {
    let communicators = match process.communicators {
        0 => String::new(),
        count => format!(" for {}", format::counted(count, "communicator")),
    };
    let (asked, buffers) = (format::bytes(process.device_bytes), process.allocations - process.freed);
    let buffers = format::counted(buffers, "buffer");
    let mut text = format!("{} asked for {asked} in {buffers}{communicators}", sentence_of(process));
    if process.paged_bytes > process.device_bytes {
        text += &format!(", which take {} in pages of 2 MiB", format::bytes(process.paged_bytes));
    }
    if let Some(NcclSize { place, bytes, count }) = log.sizes.first() {
        let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
        let buffers = format::counted(*count, "buffer");
        text += &format!(". The largest part of the log is {buffers} of {}{place}", format::bytes(*bytes));
    }
    let others = log.processes.iter().filter(|other| other.paged_bytes > 0).count().saturating_sub(1);
    if others > 0 {
        text += &format!("; the table also lists {}", count_of(others));
    }
    text + ". NCCL does not print what it frees, so buffers of destroyed communicators may still count."
}

/// Returns what reduces NCCL's memory, the most fitting first.
///
/// NVIDIA's "NCCL environment variables" name `NCCL_BUFFSIZE` for memory constraints; `src/transport/p2p.cc` and `net.cc`
/// allocate a buffer for each channel and peer, and `sharedNetBuffersInit` one for each communicator, also with one rank
/// (NVIDIA/nccl#2363).
fn advice(log: &NcclLog, process: &NcclProcess) -> String {
    let mut advice = Vec::new();
    if process.communicators > 1 {
        advice.push(
            "Each communicator has buffers of its own: use one process group where its members are the same, and call \
             `torch.distributed.destroy_process_group(group)` on groups that are no longer needed.",
        );
    }
    if has_network_buffers(log) {
        advice.push(
            "The buffers of `transport/net.cc` are shared ones for the network, which even a communicator without a remote peer creates; \
             do not create process groups of a single rank.",
        );
    }
    advice.push(
        "Set ``NCCL_BUFFSIZE=1048576`` (4 MiB is the default) and `NCCL_MAX_NCHANNELS=8` on all ranks before the first \
         communication: NCCL keeps a buffer for each channel and peer, most of all for all-to-all. Both cost bandwidth, so \
         measure the step time.",
    );
    if has_scattered(process) {
        advice.push("``NCCL_CUMEM_ENABLE=0`` lets small buffers share pages of 2 MiB instead of having one each.");
    }
    advice.join("\n")
}

/// Returns true if a quarter of the memory are buffers for the network.
fn has_network_buffers(log: &NcclLog) -> bool {
    let total = |size: &NcclSize| size.bytes.saturating_mul(size.count);
    let of_network = log.sizes.iter().filter(|size| size.place.contains("transport/net.cc"));
    let all = log.sizes.iter().map(total).fold(0, u64::saturating_add);
    of_network.map(total).fold(0, u64::saturating_add) >= all / 4 && all > 0
}

/// Returns true if whole pages take much more than the buffers in them.
fn has_scattered(process: &NcclProcess) -> bool {
    const MUCH_MORE_BYTES: u64 = 256 << 20;
    process.paged_bytes.saturating_sub(process.device_bytes) >= MUCH_MORE_BYTES
}

/// Makes the cell of a process.
type Cell = fn(&NcclProcess) -> LogCell;

/// Columns of the table of processes.
const COLUMNS: [(&str, Cell); 11] = [
    ("Rank", |process| process.rank.map_or(LogCell::Nothing, |(rank, _)| LogCell::Count(rank.into()))),
    ("GPU", |process| LogCell::Count(gpu(process).into())),
    ("Process", |process| LogCell::Text(format!("{}:{}", process.host, process.pid))),
    ("On the GPU", |process| LogCell::Bytes(process.paged_bytes)),
    ("Most", |process| LogCell::Bytes(process.peak_bytes)),
    ("Asked for", |process| LogCell::Bytes(process.device_bytes)),
    ("Allocations", |process| LogCell::Count(process.allocations)),
    ("Freed", |process| LogCell::Count(process.freed)),
    ("Communicators", |process| LogCell::Count(process.communicators)),
    ("Pinned host memory", |process| LogCell::Bytes(process.pinned_bytes)),
    ("Shared memory", |process| LogCell::Bytes(process.shared_bytes)),
];

fn process_table(log: &NcclLog) -> LogTable {
    let row = |process: &NcclProcess| COLUMNS.iter().map(|(_, cell)| cell(process)).collect();
    LogTable::new("Memory of NCCL by process", COLUMNS.map(|(name, _)| name), log.processes.iter().map(row))
}

fn size_table(log: &NcclLog) -> Option<LogTable> {
    let row = |size: &NcclSize| {
        let place = if size.place.is_empty() { LogCell::Nothing } else { LogCell::Text(size.place.clone()) };
        let total = LogCell::Bytes(size.bytes.saturating_mul(size.count));
        vec![place, LogCell::Bytes(size.bytes), LogCell::Count(size.count), total]
    };
    let columns = ["Place in NCCL", "Size", "Allocations", "Together"];
    let table = || LogTable::new("Allocations of NCCL on GPUs by size", columns, log.sizes.iter().map(row));
    (!log.sizes.is_empty()).then(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_report;
    use crate::reader::read_text;
    use shared::report::LogReport;

    fn report(text: &str) -> LogReport {
        log_report(&read_text(text))
    }

    /// Lines of two ranks with 32 channels to one peer, and a communicator of one rank: the sizes are those of
    /// NVIDIA/nccl#1685 and NVIDIA/nccl#2363, which states 64 channels, 16 steps and chunks of 524288 bytes.
    const LOG: &str = include_str!("../../../../tests/data/logs/made-nccl-alloc.txt");

    #[test]
    fn the_largest_process_is_reported() {
        let report = report(LOG);
        let [finding] = report.diagnosis.findings.as_slice() else { panic!("{:?}", report.diagnosis) };
        let buffers: u64 = 64 * 16 * 524_288 + 32 * (10_485_760 + 2_097_152);
        assert_eq!((finding.bytes, finding.device, finding.severity), (buffers, 5, Severity::Info));
        assert_eq!(finding.code, FindingCode::NcclMemory);
        assert_eq!(finding.title, "NCCL holds 896 MiB outside PyTorch's allocator");
        assert!(finding.evidence.shows.contains("in 65 buffers for 2 communicators"), "{}", finding.evidence.shows);
        assert!(
            finding.advice.starts_with("Each communicator") && finding.advice.contains("single rank"),
            "{}",
            finding.advice
        );
        let rows: Vec<String> = report.tables[1].rows[0].iter().map(LogCell::text).collect();
        assert_eq!(rows, ["–", "10.0 MiB", "64", "640 MiB"]);
        assert_eq!(report.curves[0].series.len(), 2);
    }

    #[test]
    fn much_memory_is_a_warning() {
        let more = LOG.replace("536870912", "1610612736");
        let finding = &report(&more).diagnosis.findings[0];
        assert_eq!((finding.severity, format::bytes(finding.bytes).as_str()), (Severity::Warning, "1.88 GiB"));
    }

    #[test]
    fn lines_stand_among_others() {
        let other = "step 1 loss 2.5\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total \
                     capacity; 6.50 GiB already allocated; 1.00 GiB free; 6.60 GiB reserved in total by PyTorch)\n";
        let report = report(&LOG.replace("Init COMPLETE\n", &format!("Init COMPLETE\n{other}")));
        assert_eq!(
            report.diagnosis.findings.iter().map(|finding| finding.code).collect::<Vec<_>>()[..1],
            [FindingCode::OutOfMemory]
        );
        assert!(report.title.starts_with("NCCL: "), "{}", report.title);
    }
}
