//! Makes findings about host memory.

use super::diagnosis::{Evidence, Finding};
use crate::analysis::{Confidence, FindingCode};
use crate::base::{Severity, format};

/// Device of findings about host memory.
pub const HOST: i64 = -1;

/// Device of findings from texts that do not name one.
pub const NO_DEVICE: i64 = -2;

/// Returns a finding about host memory, without a line of code.
pub(super) fn finding(
    code: FindingCode,
    severity: Severity,
    bytes: u64,
    title: String,
    shows: String,
    advice: String,
) -> Finding {
    Finding {
        code,
        severity,
        confidence: Confidence::Medium,
        device: HOST,
        bytes,
        title,
        line: None,
        evidence: Evidence { shows, ..Evidence::default() },
        advice,
    }
}

pub(super) fn duration(ms: i64) -> String {
    format::duration(u64::try_from(ms).unwrap_or(0).saturating_mul(1000))
}
