//! Reports the operators of a profiler's printed table by their memory.

use super::counted::RECORD;
use crate::printed::OperatorUse;
use shared::analysis::{FindingCode, title_of_parts};
use shared::base::{Severity, ShortSort, format};
use shared::report::{Finding, HOST, LogCell, LogTable, NO_DEVICE};
use std::cmp::Reverse;

/// Reports the operator that allocates the most by itself, on the device if the table has one.
pub(super) fn finding(operators: &[OperatorUse]) -> Option<Finding> {
    let has_device = operators.iter().any(|operator| operator.own_device_bytes.or(operator.device_bytes) > Some(0));
    let bytes_of = |operator: &OperatorUse| match has_device {
        true => operator.own_device_bytes.or(operator.device_bytes),
        false => operator.own_host_bytes,
    };
    let largest = operators.iter().rev().max_by_key(|operator| bytes_of(operator))?;
    let bytes = bytes_of(largest).filter(|bytes| *bytes > 0)?.unsigned_abs();
    let memory = if has_device { "GPU memory" } else { "host memory" };
    let often = largest.calls.map_or_else(String::new, |calls| format!(" in {}", format::counted(calls, "call")));
    let title = format!("{} allocates the most {memory}: {}", largest.name, format::bytes(bytes));
    let shows =
        "The table has what each operator allocates in all its calls, less what it frees: no sum of it is a peak.";
    let mut advice = "See what is live at the peak: record with `profile_memory=True, with_stack=True`, save it by \
                      ``prof.export_chrome_trace(\"trace.json.gz\")``, and open that file here."
        .to_owned();
    if has_device {
        advice += &format!("\n{RECORD}");
    }
    let device = if has_device { NO_DEVICE } else { HOST };
    Some(Finding {
        severity: Severity::Info,
        ..Finding::stated(FindingCode::Peak, device, bytes, title_of_parts(&title, [often]), shows.to_owned(), advice)
    })
}

/// Lists the operators, those with the most memory of their own first.
pub(super) fn table(operators: &[OperatorUse]) -> LogTable {
    let bytes = |bytes: Option<i64>| match bytes {
        Some(bytes) if bytes < 0 => LogCell::Text(format!("−{}", format::bytes(bytes.unsigned_abs()))),
        bytes => bytes.map_or(LogCell::Nothing, |bytes| LogCell::Bytes(bytes.unsigned_abs())),
    };
    let row = |operator: &&OperatorUse| {
        vec![
            LogCell::Text(operator.name.clone()),
            bytes(operator.own_device_bytes),
            bytes(operator.device_bytes),
            bytes(operator.own_host_bytes),
            operator.calls.map_or(LogCell::Nothing, LogCell::Count),
        ]
    };
    let mut sorted: Vec<&OperatorUse> = operators.iter().collect();
    sorted.short_sort_by_key(|operator| {
        Reverse((operator.own_device_bytes, operator.device_bytes, operator.own_host_bytes))
    });
    let columns = ["Operator", "GPU, itself", "GPU, with what it calls", "Host, itself", "Calls"];
    LogTable::new("Operators, by memory that they allocate", columns, sorted.iter().map(row))
}
