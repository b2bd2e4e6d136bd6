//! A job in words: its state, where it is, and what it came to.

use super::time;
use crate::state::Watch;
use frontend::view::figures::{Emphasis, Figure};
use shared::api::{JobResource, JobState, OutOfMemory, Progress, RecordingReport};
use shared::base::format;

/// The word for a state, as people read it.
pub(crate) const fn state_word(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "Waiting",
        JobState::Running => "Running",
        JobState::Finished => "Finished",
        JobState::Failed => "Failed",
        JobState::Cancelled => "Cancelled",
    }
}

/// What a job has come to, in a line of the list.
pub(crate) fn outcome(job: &JobResource) -> String {
    match (job.state, &job.result, &job.error) {
        (JobState::Queued, ..) => queue_place(job.before),
        (JobState::Running, ..) => {
            job.progress.as_ref().map_or_else(|| "Starting".to_owned(), |progress| place(progress, job.steps))
        }
        (JobState::Finished, ..) if ran_out_of_memory(job) => "Out of memory".to_owned(),
        (JobState::Finished, Some(report), _) => format!("Peak {}", format::bytes(report.peak_allocated_bytes)),
        (JobState::Failed, _, Some(error)) => error.message.clone(),
        _ => String::new(),
    }
}

/// Whether the recording ended by running out of memory.
pub(crate) fn ran_out_of_memory(job: &JobResource) -> bool {
    job.result.as_ref().is_some_and(|report| report.oom.is_some())
}

/// How long a job took, or has to wait: empty where that says nothing.
pub(crate) fn took(job: &JobResource) -> String {
    match (job.started_ms, job.finished_ms) {
        (Some(start), Some(end)) => time::between(start, end),
        _ => String::new(),
    }
}

/// Where a job is in the queue.
pub(crate) fn queue_place(before: Option<u64>) -> String {
    match before {
        None => "Waits for a worker".to_owned(),
        Some(0) => "Next in the queue".to_owned(),
        Some(before) => format!("{} before it", format::counted(before, "job")),
    }
}

/// Where a run is: `Step 2 of 3 · forward`.
pub(crate) fn place(progress: &Progress, steps: u64) -> String {
    match progress.step {
        None => "Building the model".to_owned(),
        Some(step) => {
            let step = format!("Step {} of {}", format::count(step + 1), format::count(steps.max(step + 1)));
            if progress.phase.is_empty() { step } else { format!("{step} · {}", words(&progress.phase)) }
        }
    }
}

/// The share of a run that is done, from 0 to 1; the model is built at 0.
pub(crate) fn share(progress: Option<&Progress>, steps: u64) -> f64 {
    let step = progress.and_then(|progress| progress.step).unwrap_or(0);
    if steps == 0 { 0.0 } else { (step as f64 / steps as f64).clamp(0.0, 1.0) }
}

/// Where memory ran out: `Step 1, backward, in layers.3.attention (aten::mm)`.
pub(crate) fn oom_place(oom: &OutOfMemory) -> String {
    let step = oom.step.map_or_else(|| "While the model was built".to_owned(), |step| format!("Step {}", step + 1));
    let phase = if oom.phase.is_empty() { String::new() } else { format!(", {}", words(&oom.phase)) };
    let module = if oom.module.is_empty() { String::new() } else { format!(", in {}", oom.module) };
    let operation = if oom.operation.is_empty() { String::new() } else { format!(" ({})", oom.operation) };
    format!("{step}{phase}{module}{operation}")
}

/// `optimizer_step` as `optimizer step`.
fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// What a recording came to.
pub(crate) fn figures(report: &RecordingReport) -> Vec<Figure> {
    let figure =
        |label, value, explanation, emphasis| Figure { label, value, note: String::new(), explanation, emphasis };
    vec![
        figure(
            "Peak live",
            format::bytes(report.peak_live_bytes),
            "The highest requested bytes of the tensors alive at one moment.",
            Emphasis::Live,
        ),
        figure(
            "Peak allocated",
            format::bytes(report.peak_allocated_bytes),
            "The same in the rounded sizes of blocks, as `max_memory_allocated` tells.",
            Emphasis::Plain,
        ),
        figure(
            "Peak reserved",
            format::bytes(report.peak_reserved_bytes),
            "The most that PyTorch held from CUDA, as `max_memory_reserved` tells.",
            Emphasis::Reserved,
        ),
        figure("Events", format::count(report.events), "Allocator events in the snapshot.", Emphasis::Plain),
        figure("Steps", format::count(report.steps), "Optimizer steps that were completed.", Emphasis::Plain),
        figure("Took", time::seconds(report.seconds), "From the recorder's start to its end.", Emphasis::Plain),
    ]
}

/// What a running job holds now.
pub(crate) fn live_figures(watch: &Watch) -> Vec<Figure> {
    let Some(progress) = &watch.progress else { return Vec::new() };
    let peak = |bytes: fn(&crate::state::Sample) -> u64| {
        format!("peak {}", format::bytes(watch.samples.iter().map(bytes).max().unwrap_or(0)))
    };
    vec![
        Figure {
            label: "Live",
            value: format::bytes(progress.live_bytes),
            note: peak(|sample| sample.live_bytes),
            explanation: "Requested bytes of the tensors alive now.",
            emphasis: Emphasis::Live,
        },
        Figure {
            label: "Reserved",
            value: format::bytes(progress.reserved_bytes),
            note: peak(|sample| sample.reserved_bytes),
            explanation: "Bytes that PyTorch holds from CUDA now.",
            emphasis: Emphasis::Reserved,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(state: JobState) -> JobResource {
        JobResource {
            id: "1".to_owned(),
            state,
            name: "gpt2".to_owned(),
            kind: "virtual".to_owned(),
            card: "t4-16gb".to_owned(),
            priority: 0,
            steps: 3,
            created_ms: 0,
            started_ms: Some(1000),
            finished_ms: Some(3000),
            attempts: 1,
            before: Some(2),
            progress: None,
            result: None,
            error: None,
            snapshot_bytes: None,
        }
    }

    fn progress(step: Option<u64>, phase: &str) -> Progress {
        Progress { step, phase: phase.to_owned(), live_bytes: 1, reserved_bytes: 2 }
    }

    #[test]
    fn a_job_is_a_line() {
        assert_eq!(outcome(&job(JobState::Queued)), "2 jobs before it");
        assert_eq!(outcome(&job(JobState::Running)), "Starting");
        let running = JobResource { progress: Some(progress(Some(1), "optimizer_step")), ..job(JobState::Running) };
        assert_eq!(outcome(&running), "Step 2 of 3 · optimizer step");
        assert_eq!(took(&running), "2.00 s");
        assert_eq!(outcome(&job(JobState::Cancelled)), "");
    }

    #[test]
    fn progress_is_a_share() {
        assert_eq!(place(&progress(None, ""), 3), "Building the model");
        assert_eq!(share(None, 3), 0.0);
        assert_eq!(share(Some(&progress(Some(3), "")), 4), 0.75);
        assert_eq!(share(Some(&progress(Some(1), "")), 0), 0.0);
    }

    #[test]
    fn running_out_of_memory_has_a_place() {
        let oom = OutOfMemory {
            message: String::new(),
            step: Some(0),
            phase: "backward".to_owned(),
            module: "layers.3".to_owned(),
            operation: "aten::mm".to_owned(),
        };
        assert_eq!(oom_place(&oom), "Step 1, backward, in layers.3 (aten::mm)");
        let early =
            OutOfMemory { step: None, phase: String::new(), module: String::new(), operation: String::new(), ..oom };
        assert_eq!(oom_place(&early), "While the model was built");
    }
}
