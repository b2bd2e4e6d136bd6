//! Reports the operators of a profiler's printed table by their memory.

use super::counted::RECORD;
use crate::printed::OperatorUse;
use crate::source::{count_cell, finding};
use shared::analysis::{FindingCode, title_of_parts};
use shared::base::{Severity, ShortSort, format};
use shared::report::{Finding, HOST, LogCell, LogTable, NO_DEVICE};
use std::cmp::Reverse;

/// Reports the operator that allocates the most by itself, on the device if the table has one; all may free more.
pub(super) fn largest(operators: &[OperatorUse]) -> Option<Finding> {
    let on_device = |operator: &OperatorUse| operator.own_device_bytes.or(operator.device_bytes);
    let has_device = operators.iter().filter_map(on_device).any(|bytes| bytes != 0);
    let bytes_of = |operator: &OperatorUse| if has_device { on_device(operator) } else { operator.own_host_bytes };
    // Operators that others call for their memory say nothing, if others are in the table.
    let is_primitive = |operator: &OperatorUse| {
        ["aten::empty", "aten::resize_", "["].iter().any(|start| operator.name.starts_with(start))
    };
    let has_more = |operator: &OperatorUse| bytes_of(operator) > Some(0) && !is_primitive(operator);
    let largest = operators.iter().rev().max_by_key(|operator| (has_more(operator), bytes_of(operator)))?;
    let bytes = bytes_of(largest)?;
    let memory = if has_device { "GPU memory" } else { "host memory" };
    let often = largest.calls.map_or_else(String::new, |calls| format!(" in {}", format::counted(calls, "call")));
    let (title, often) = match u64::try_from(bytes) {
        Ok(bytes @ 1..) => (format!("{} allocates the most {memory}: {}", largest.name, format::bytes(bytes)), often),
        _ => (format!("No operator of the table allocates more {memory} than it frees"), String::new()),
    };
    let shows = "The table has what each operator allocates in all its calls, less what it frees, which others may have \
                 allocated: no sum of it is a peak.";
    let mut advice = "See what is live at the peak: record with `profile_memory=True, with_stack=True`, save it by \
                      ``prof.export_chrome_trace(\"trace.json.gz\")``, and open that file here."
        .to_owned();
    if has_device {
        advice += &format!("\n{RECORD}");
    }
    let (device, title) = (if has_device { NO_DEVICE } else { HOST }, title_of_parts(&title, [often]));
    Some(finding(FindingCode::Peak, device, Severity::Info, bytes.max(0).unsigned_abs(), title, shows, advice))
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
            count_cell(operator.calls),
        ]
    };
    let mut sorted: Vec<&OperatorUse> = operators.iter().collect();
    sorted.short_sort_by_key(|one| Reverse((one.own_device_bytes, one.device_bytes, one.own_host_bytes)));
    let columns = ["Operator", "GPU, itself", "GPU, with what it calls", "Host, itself", "Calls"];
    LogTable::new("Operators, by memory that they allocate", columns, sorted.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_that_others_call_for_memory_is_not_named() {
        let operator = |name: &str, gib: i64| OperatorUse {
            name: name.to_owned(),
            calls: Some(2),
            own_device_bytes: Some(gib << 30),
            ..OperatorUse::default()
        };
        let all = [operator("aten::empty", 9), operator("aten::mul", 2), operator("aten::mm", 3)];
        let title = |operators: &[OperatorUse]| largest(operators).map(|found| found.title);
        assert_eq!(title(&all).as_deref(), Some("aten::mm allocates the most GPU memory: 3.00 GiB in 2 calls"));
        assert!(title(&all[..1]).is_some_and(|title| title.starts_with("aten::empty")));
        let freed = title(&[operator("aten::mm", -1)]);
        assert_eq!(freed.as_deref(), Some("No operator of the table allocates more GPU memory than it frees"));
    }
}
