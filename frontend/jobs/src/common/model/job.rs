//! Words, numbers and durations of a job.

use frontend::views::head::model::{Emphasis, Figure};
use shared::api::{JobOutcome, JobResource, JobState, OutOfMemory, Progress, RecordingReport};
use shared::base::format;

use super::task;

/// Returns the displayed word for a state.
///
/// A recording that ended with an out-of-memory error is not just called finished.
pub(crate) const fn state_word(state: JobState, outcome: Option<JobOutcome>) -> &'static str {
    match (state, outcome) {
        (JobState::Queued, _) => "Waiting",
        (JobState::Running, _) => "Running",
        (JobState::Finished, Some(JobOutcome::OutOfMemory)) => "Out of memory",
        (JobState::Finished, _) => "Finished",
        (JobState::Failed, _) => "Failed",
        (JobState::Cancelled, _) => "Cancelled",
    }
}

/// Returns the CSS class of a state, which sets its colour.
pub(crate) const fn state_class(state: JobState, outcome: Option<JobOutcome>) -> &'static str {
    match (state, outcome) {
        (JobState::Finished, Some(JobOutcome::OutOfMemory)) => "out-of-memory",
        (state, _) => state.word(),
    }
}

/// Returns the displayed name of a job.
pub(crate) fn name(job: &JobResource) -> &str {
    if job.name.is_empty() { "Unnamed" } else { &job.name }
}

/// Summarises a job's progress or result for a line of the list.
pub(crate) fn outcome(job: &JobResource) -> String {
    match (job.state, &job.result, &job.error) {
        (JobState::Queued, ..) => queue_place(job.before),
        (JobState::Running, ..) if !job.task.is_one() => task::progress(job.recorded.as_ref()),
        (JobState::Running, ..) => {
            job.progress.as_ref().map_or_else(|| "Starting".to_owned(), |progress| place(progress, job.steps))
        }
        (JobState::Finished, Some(report), _) => peak_live(report),
        (JobState::Failed, _, Some(error)) => error.message.clone(),
        _ => job.summary.as_ref().map_or_else(String::new, |summary| task::outcome(job.task, summary)),
    }
}

/// Formats peak live bytes, the figure that the viewer also shows where there is room for only one.
fn peak_live(report: &RecordingReport) -> String {
    format!("Peak live {}", format::bytes(report.peak_live_bytes))
}

/// Describes a recording in a list to choose from: `gpt2 · t4-16gb · Peak live 2.00 GiB · out of memory`.
pub(crate) fn recording(job: &JobResource) -> String {
    let peak = job.result.as_ref().map(peak_live);
    let oom = (job.outcome == Some(JobOutcome::OutOfMemory)).then(|| "out of memory".to_owned());
    let parts = [Some(name(job).to_owned()), Some(job.card.clone()), peak, oom];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Formats the duration of a job; empty until it has ended.
///
/// This is the duration of the recording if there is one, as on the job's own page.
pub(crate) fn took(job: &JobResource) -> String {
    match (&job.result, job.started_ms, job.finished_ms) {
        (Some(report), ..) => seconds(report.seconds),
        (None, Some(start), Some(end)) => between(start, end),
        _ => String::new(),
    }
}

/// Describes a job's place in the queue.
pub(crate) fn queue_place(before: Option<u64>) -> String {
    match before {
        None => "Waiting for a worker".to_owned(),
        Some(0) => "Next in the queue".to_owned(),
        Some(before) => format!("{} ahead", format::counted(before, "job")),
    }
}

/// Describes the progress of a run: `Step 2 of 3 · forward`.
pub(crate) fn place(progress: &Progress, steps: u64) -> String {
    match progress.step {
        None => "Building the model".to_owned(),
        Some(step) => {
            let step = format!("Step {} of {}", format::count(step + 1), format::count(steps.max(step + 1)));
            if progress.phase.is_empty() { step } else { format!("{step} · {}", words(&progress.phase)) }
        }
    }
}

/// Returns the completed fraction of a run, from 0 to 1; it is 0 while the model is built.
pub(crate) fn share(progress: Option<&Progress>, steps: u64) -> f64 {
    let step = progress.and_then(|progress| progress.step).unwrap_or(0);
    if steps == 0 { 0.0 } else { (step as f64 / steps as f64).clamp(0.0, 1.0) }
}

/// Describes where memory ran out: `Step 1, backward, in layers.3.attention (aten::mm)`.
pub(crate) fn oom_place(oom: &OutOfMemory) -> String {
    let step = oom.step.map_or_else(|| "While building the model".to_owned(), |step| format!("Step {}", step + 1));
    let phase = if oom.phase.is_empty() { String::new() } else { format!(", {}", words(&oom.phase)) };
    let module = if oom.module.is_empty() { String::new() } else { format!(", in {}", oom.module) };
    let operation = if oom.operation.is_empty() { String::new() } else { format!(" ({})", oom.operation) };
    format!("{step}{phase}{module}{operation}")
}

/// Writes `optimizer_step` as `optimizer step`.
fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns the figures of a finished recording.
pub(crate) fn figures(report: &RecordingReport) -> Vec<Figure> {
    let figure =
        |(label, value, explanation, emphasis)| Figure { label, value, note: String::new(), explanation, emphasis };
    let live = "The highest total of requested sizes of live allocations at any moment.";
    let allocated = "The same total with rounded block sizes, as in `max_memory_allocated`.";
    let reserved = "The highest total size of segments that PyTorch held from CUDA, as in `max_memory_reserved`.";
    let figures = [
        ("Peak live", format::bytes(report.peak_live_bytes), live, Emphasis::Live),
        ("Peak allocated", format::bytes(report.peak_allocated_bytes), allocated, Emphasis::Plain),
        ("Peak reserved", format::bytes(report.peak_reserved_bytes), reserved, Emphasis::Reserved),
        ("Events", format::count(report.events), "Allocator events in the snapshot.", Emphasis::Plain),
        ("Steps", format::count(report.steps), "Completed optimizer steps.", Emphasis::Plain),
        ("Duration", seconds(report.seconds), "From the recorder's start to its end.", Emphasis::Plain),
    ];
    figures.map(figure).to_vec()
}

/// Formats the age of a moment: `just now`, `5 min ago`, `3 h ago`, `2 days ago`.
///
/// A moment in the future, which a wrong clock can cause, is `just now`.
pub(crate) fn ago(now_ms: f64, then_ms: i64) -> String {
    let seconds = ((now_ms - then_ms as f64) / 1000.0).max(0.0) as u64;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} ago", format::counted(seconds / 86_400, "day")),
    }
}

/// Formats a duration given in seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    format::duration((seconds.max(0.0) * 1e6) as u64)
}

/// Formats the time between two moments given in milliseconds.
pub(crate) fn between(start_ms: i64, end_ms: i64) -> String {
    seconds((end_ms - start_ms) as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::api::JobTask;

    fn job(state: JobState) -> JobResource {
        JobResource {
            id: "1".to_owned(),
            state,
            outcome: JobOutcome::of(state, None),
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
            task: JobTask::Record,
            recorded: None,
            summary: None,
            error: None,
            snapshot_bytes: None,
        }
    }

    fn report(oom: Option<OutOfMemory>) -> RecordingReport {
        RecordingReport {
            card: "t4-16gb".to_owned(),
            steps: 3,
            events: 100,
            seconds: 1.5,
            peak_live_bytes: 2 << 30,
            peak_allocated_bytes: 3 << 30,
            peak_reserved_bytes: 4 << 30,
            oom,
        }
    }

    fn oom(step: Option<u64>, place: [&str; 3]) -> OutOfMemory {
        let [phase, module, operation] = place.map(str::to_owned);
        OutOfMemory { message: String::new(), step, phase, module, operation }
    }

    fn progress(step: Option<u64>, phase: &str) -> Progress {
        Progress { step, phase: phase.to_owned(), live_bytes: 1, reserved_bytes: 2 }
    }

    #[test]
    fn a_job_is_a_line() {
        assert_eq!(outcome(&job(JobState::Queued)), "2 jobs ahead");
        assert_eq!(outcome(&job(JobState::Running)), "Starting");
        let running = JobResource { progress: Some(progress(Some(1), "optimizer_step")), ..job(JobState::Running) };
        assert_eq!(outcome(&running), "Step 2 of 3 · optimizer step");
        assert_eq!(took(&running), "2.00 s");
        let finished = JobResource { result: Some(report(None)), ..job(JobState::Finished) };
        assert_eq!(outcome(&finished), "Peak live 2.00 GiB");
        // The job's own page shows the same duration.
        assert_eq!(took(&finished), "1.50 s");
        assert!(figures(&report(None)).iter().any(|figure| figure.label == "Duration" && figure.value == "1.50 s"));
        assert!(figures(&report(None)).iter().any(|figure| figure.label == "Peak live" && figure.value == "2.00 GiB"));
        assert_eq!(outcome(&job(JobState::Cancelled)), "");
        let fit = JobResource { task: JobTask::Fit, ..job(JobState::Running) };
        assert_eq!(outcome(&fit), "First recording");
    }

    #[test]
    fn running_out_of_memory_is_no_plain_finish() {
        let result = Some(report(Some(oom(None, ["", "", ""]))));
        let outcome = JobOutcome::of(JobState::Finished, result.as_ref());
        let job = JobResource { result, outcome, ..job(JobState::Finished) };
        assert_eq!(state_word(job.state, job.outcome), "Out of memory");
        assert_eq!(state_class(job.state, job.outcome), "out-of-memory");
        assert_eq!(recording(&job), "gpt2 · t4-16gb · Peak live 2.00 GiB · out of memory");
        assert_eq!(state_word(JobState::Finished, Some(JobOutcome::Completed)), "Finished");
        assert_eq!(state_class(JobState::Failed, Some(JobOutcome::Failed)), "failed");
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
        let late = oom(Some(0), ["backward", "layers.3", "aten::mm"]);
        assert_eq!(oom_place(&late), "Step 1, backward, in layers.3 (aten::mm)");
        assert_eq!(oom_place(&oom(None, ["", "", ""])), "While building the model");
    }

    #[track_caller]
    fn check(seconds: i64, expected: &str) {
        assert_eq!(ago(1e12, 1_000_000_000_000 - seconds * 1000), expected);
    }

    #[test]
    fn the_past_is_told_roughly() {
        check(-5, "just now");
        check(59, "just now");
        check(60, "1 min ago");
        check(7200, "2 h ago");
        check(86_400, "1 day ago");
        check(200_000, "2 days ago");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(between(1000, 3500), "2.50 s");
        assert_eq!(seconds(-1.0), "0 µs");
    }
}
