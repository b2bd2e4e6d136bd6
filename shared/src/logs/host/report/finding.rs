//! What findings about host memory share.

use crate::analysis::{Confidence, FindingCode};
use crate::base::{Severity, format};
use crate::report::{Finding, HOST};

/// Returns a finding about host memory, without a line of code.
pub(super) fn finding(
    code: FindingCode,
    severity: Severity,
    bytes: u64,
    title: String,
    shows: String,
    advice: String,
) -> Finding {
    let stated = Finding::stated(code, HOST, bytes, title, shows, advice);
    Finding { severity, confidence: Confidence::Medium, ..stated }
}

pub(super) fn duration(ms: i64) -> String {
    format::duration(u64::try_from(ms).unwrap_or(0).saturating_mul(1000))
}
