//! Formats the result of a recording for the terminal.

use std::path::Path;

use shared::api::OutOfMemory;
use shared::base::format::{bytes, count, counted, duration, percent};
use shared::job::messages::NCCL_NOT_COUNTED;
use shared::job::{Job, Parallel};
use shared::recordings::place;

use crate::commands::text;
use crate::recording::repro::{Recording, RecordingFailure};

pub(super) fn summary(recording: &Recording, job: &Job, output: &Path) -> String {
    let table = text::section(&memory_rows(recording), &[1]);
    let mut page = format!("{}\n{}\n\n{table}", output.display(), subtitle(recording, job));
    if let Some(oom) = &recording.oom {
        page += &format!("\n{}", out_of_memory(oom, job.steps));
    }
    if matches!(job.parallel, Some(Parallel::Ddp { .. } | Parallel::Fsdp(_))) {
        page += &format!("\n{NCCL_NOT_COUNTED}\n");
    }
    page + &format!(
        "\nNext: run `snapscope peak {}`, or drop the file on the page of `snapscope serve`\n",
        output.display()
    )
}

/// Formats a recording that was made to see whether jobs can run on a device.
pub(super) fn checked(recording: &Recording, device: &str) -> String {
    let memory = recording.started.as_ref().map(|started| format!(" with {}", bytes(started.memory_bytes)));
    format!(
        "Jobs can run on {device}: {}{}, {} recorded in {}\n",
        recording.card,
        memory.unwrap_or_default(),
        counted(recording.steps, "step"),
        duration((recording.seconds * 1e6) as u64)
    )
}

fn subtitle(recording: &Recording, job: &Job) -> String {
    let time = duration((recording.seconds * 1e6) as u64);
    let parameters = recording.started.as_ref().map(|started| counted(started.parameters, "parameter"));
    let steps = match recording.oom {
        Some(_) => format!("{} of {} in {time}", count(recording.steps), counted(job.steps, "step")),
        None => format!("{} in {time}", counted(recording.steps, "step")),
    };
    let head = [recording.card.clone(), job.name.clone()].into_iter().chain(parameters);
    let parts = head.chain([steps, counted(recording.events, "event")]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn memory_rows(recording: &Recording) -> Vec<Vec<String>> {
    let row = |name: &str, size_bytes: u64, note: String| vec![name.to_owned(), bytes(size_bytes), note];
    let Recording { peak_live_bytes, peak_allocated_bytes, peak_reserved_bytes, .. } = *recording;
    let over = |high: u64, low: u64, than: &str| format!("{} more than {than}", percent(high.saturating_sub(low), low));
    let mut rows = vec![
        row("peak live", peak_live_bytes, "requested by tensors".to_owned()),
        row("peak allocated", peak_allocated_bytes, over(peak_allocated_bytes, peak_live_bytes, "live, by rounding")),
        row("peak reserved", peak_reserved_bytes, over(peak_reserved_bytes, peak_allocated_bytes, "allocated")),
    ];
    if let Some(started) = &recording.started {
        let share = percent(peak_reserved_bytes, started.memory_bytes);
        rows.push(row("GPU memory", started.memory_bytes, format!("{share} of it reserved at the peak")));
    }
    rows
}

fn out_of_memory(oom: &OutOfMemory, steps: u64) -> String {
    let place = place(oom.step, Some(steps), &oom.phase, &oom.module);
    let operation = if oom.operation.is_empty() { String::new() } else { format!(", in {}", oom.operation) };
    format!("Out of memory in {place}{operation}\n  {}\n", oom.message.trim())
}

/// Formats the details before a failure's message: end of the log, last known place, path of the partial trace.
pub(super) fn failure_details(failure: &RecordingFailure, steps: u64) -> String {
    let mut page = String::new();
    if !failure.log_tail.is_empty() {
        page += &format!("last lines of the recorder:\n{}", text::indented(&failure.log_tail));
    }
    let place = failure.place(Some(steps));
    if !place.is_empty() {
        page += &format!("last known position: {place}\n");
    }
    if let Some(partial) = &failure.partial {
        page += &format!("the trace up to this point is in {}\n", partial.display());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_runs_out_somewhere() {
        let oom = OutOfMemory {
            message: "CUDA out of memory. Tried to allocate 2.00 GiB.".into(),
            step: Some(0),
            phase: "backward".into(),
            module: "h.3.attn".into(),
            operation: "aten::mm".into(),
        };
        let text = out_of_memory(&oom, 3);
        assert!(
            text.starts_with("Out of memory in step 1 of 3, backward, h.3.attn, in aten::mm\n  CUDA out"),
            "{text}"
        );
        let while_building = OutOfMemory { step: None, phase: "model".into(), operation: String::new(), ..oom };
        assert!(out_of_memory(&while_building, 3).starts_with("Out of memory in model, h.3.attn\n"));
    }

    #[test]
    fn a_failure_shows_what_is_there() {
        let failure = RecordingFailure {
            step: Some(1),
            phase: "forward".into(),
            log_tail: vec!["last words".into()],
            partial: Some("out.pickle".into()),
            ..RecordingFailure::default()
        };
        assert_eq!(
            failure_details(&failure, 2),
            "last lines of the recorder:\n  last words\nlast known position: step 2 of 2, forward\n\
             the trace up to this point is in out.pickle\n"
        );
        assert_eq!(failure_details(&RecordingFailure::default(), 2), "");
    }
}
