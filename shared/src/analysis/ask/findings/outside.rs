//! Finds memory of the card that PyTorch's allocator never had.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use crate::analysis::ask::until_full::outside_bytes;
use crate::analysis::study::studied::Study;
use crate::base::{Severity, format};

/// From 1 GiB on it is more than a CUDA context and libraries use.
const MUCH_BYTES: u64 = 1 << 30;

/// Less than 64 MiB is not reported, because the driver keeps that much even on a card that one process has to itself.
const LITTLE_BYTES: u64 = 64 << 20;

/// Reports memory of the card that was neither reserved by PyTorch nor free when memory ran out.
pub(super) fn finding(study: &Study<'_>, capacity_bytes: u64) -> Option<Finding> {
    let (bytes, event) = outside_bytes(study, capacity_bytes)?;
    let (severity, advice) = match bytes {
        MUCH_BYTES.. => (
            Severity::Warning,
            "Look for other processes on the GPU: ``nvidia-smi``.\n\n\
             In this process, NCCL buffers, the CUDA context with its kernels, CUDA graphs and other libraries also use \
             memory that no snapshot shows.",
        ),
        _ => (
            Severity::Info,
            "\n\nThis is normal: a CUDA context with its kernels and libraries such as cuBLAS use this memory, and no \
             snapshot shows it.",
        ),
    };
    let what = format!("{} was in use outside PyTorch's allocator when it ran out of memory", format::bytes(bytes));
    let shows = format!(
        "Of the GPU's {}, PyTorch had reserved {}, and {} was free.",
        format::bytes(capacity_bytes),
        format::bytes(study.timeline.reserved_at(event)),
        format::bytes(study.device.events.addrs().at(event as usize))
    );
    let (device, code) = (study.device.index, FindingCode::OutsidePytorch);
    let found = Finding::new(device, code, severity, Confidence::Medium, Rank::Limit, bytes);
    (bytes >= LITTLE_BYTES).then(|| found.titled(&what, []).shown(shows, [event], []).advised(advice))
}
