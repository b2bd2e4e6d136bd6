//! Checks the report on NCCL's memory.

use super::*;
use crate::logs::{LogReader, log_report};
use crate::report::LogReport;

fn report(text: &str) -> LogReport {
    let mut reader = LogReader::default();
    reader.push(text.as_bytes());
    log_report(&reader.finish())
}

/// Lines of two ranks with 32 channels to one peer, and a communicator of one rank: the sizes are those of
/// NVIDIA/nccl#1685 and NVIDIA/nccl#2363, which states 64 channels, 16 steps and chunks of 524288 bytes.
const LOG: &str = include_str!("../../../../../tests/data/logs/made-nccl-alloc.txt");

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
