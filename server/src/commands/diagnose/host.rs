//! Formats what is particular to logs of host memory for the terminal.

use std::fmt::Write as _;

use shared::base::format::{bytes, counted, duration};
use shared::host::{Clock, HostForm, HostLog, Total, TotalSource};

/// Formats what the log is and how much it has.
pub(super) fn summary(log: &HostLog) -> String {
    let (samples, processes) = (counted(log.times_ms.len() as u64, "sample"), log.processes.len() as u64);
    let processes = if processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") };
    let mut text = format!("  Host memory, {}: {samples} of {processes}", tool(log.form));
    let span_ms = log.times_ms.last().zip(log.times_ms.first()).map_or(0, |(last, first)| last - first);
    match log.clock {
        Clock::Samples => text += ", without times: a sample counts as one second",
        Clock::TimeOfDay | Clock::Dates => text += &format!(" in {}", duration(span_ms.unsigned_abs() * 1000)),
    }
    if let Some(Total { bytes: total_bytes, source }) = log.total {
        let total = bytes(total_bytes);
        text += &match source {
            TotalSource::Stated => format!("; the machine has {total}"),
            TotalSource::Inferred => format!("; the machine has {total} (inferred from its percentages)"),
            TotalSource::ControlGroup => format!("; the control group's limit is {total}"),
        };
    }
    text + "\n"
}

/// Formats what was odd or left out, a line each.
pub(super) fn oddities(log: &HostLog) -> String {
    let mut text = if log.diagnostics.is_empty() { String::new() } else { "\n".to_owned() };
    for one in &log.diagnostics {
        let _ = writeln!(text, "{}: {}", one.severity.name(), one.message);
    }
    text
}

fn tool(form: HostForm) -> &'static str {
    match form {
        HostForm::Ps => "ps",
        HostForm::Top => "top",
        HostForm::Pidstat => "pidstat",
        HostForm::Smem => "smem",
        HostForm::Mprof => "mprof of memory_profiler",
        HostForm::Csv => "a table",
        HostForm::KernelLog => "messages of the kernel",
    }
}
