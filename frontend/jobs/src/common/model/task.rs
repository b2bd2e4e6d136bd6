//! Describes in words what a job does and what came out of several recordings.

use shared::api::{JobOutcome, JobTask, Recorded, TaskSummary};
use shared::base::format;

/// Returns the name of a task.
pub(crate) const fn title(task: JobTask) -> &'static str {
    match task {
        JobTask::Record => "One recording",
        JobTask::Fit => "Largest batch",
        JobTask::Fix => "What makes it fit",
        JobTask::Sweep => "Sweep",
        JobTask::Script => "Script",
    }
}

/// Says what a task does.
pub(crate) const fn sentence(task: JobTask) -> &'static str {
    match task {
        JobTask::Record => "Records the config once. Its snapshot opens in the viewer.",
        JobTask::Fit => {
            "Searches for the largest batch that fits the GPU, with one recording of 2 steps for each batch that it tries. \
             The batch of the config is ignored."
        }
        JobTask::Fix => {
            "Tries remedies, such as checkpointing or smaller micro batches, with one recording of 2 steps for each, and \
             finds the fewest and cheapest that make the config fit the GPU."
        }
        JobTask::Sweep => {
            "Records each combination of the ranges, and shows their peaks in a table and a plot. Write values with commas \
             between them, or a range: 1..16x2 doubles, 16..64+16 adds 16."
        }
        JobTask::Script => "Runs a Python script as it is on a virtual GPU, once. Its snapshot opens in the viewer.",
    }
}

/// Returns the text of the button that submits a job.
pub(crate) fn submit(task: JobTask, combinations: Option<usize>) -> String {
    match (task, combinations) {
        (JobTask::Record | JobTask::Script, _) => "Record".to_owned(),
        (JobTask::Fit, _) => "Find the largest batch".to_owned(),
        (JobTask::Fix, _) => "Try remedies".to_owned(),
        (JobTask::Sweep, Some(count)) => format!("Record {}", format::counted(count as u64, "combination")),
        (JobTask::Sweep, None) => "Record all combinations".to_owned(),
    }
}

/// Formats the progress of several recordings: `3 of 12 recordings`.
pub(crate) fn progress(recorded: Option<&Recorded>) -> String {
    match recorded {
        None => "First recording".to_owned(),
        Some(Recorded { done, total: Some(total), .. }) => {
            format!("{} of {}", format::count(*done), format::counted(*total, "recording"))
        }
        Some(Recorded { done, total: None, .. }) => format::counted(*done, "recording"),
    }
}

/// Returns the completed fraction of several recordings; `None` if their number is not known in advance.
pub(crate) fn share(recorded: Option<&Recorded>) -> Option<f64> {
    let Recorded { done, total, .. } = recorded?;
    Some((*done as f64 / (*total)?.max(1) as f64).min(1.0))
}

/// Formats the result of several recordings: `Batch 13 fits`, `Fits with checkpoint`, or `9 of 12 fit`.
pub(crate) fn outcome(task: JobTask, summary: &TaskSummary) -> String {
    let TaskSummary { recordings, fitting, failed, largest_batch, remedies } = summary;
    match (task, largest_batch) {
        (JobTask::Fit, Some(batch)) => format!("Batch {} fits", format::count(*batch)),
        (JobTask::Fit, None) => "No batch fits".to_owned(),
        (JobTask::Fix, _) if !remedies.is_empty() => format!("Fits with {}", remedies.join(", ")),
        (JobTask::Fix, Some(_)) => "Fits as it is".to_owned(),
        (JobTask::Fix, None) => "No remedy makes it fit".to_owned(),
        _ => {
            let failed = if *failed > 0 { format!(", {} failed", format::count(*failed)) } else { String::new() };
            format!("{} of {} fit{failed}", format::count(*fitting), format::count(*recordings))
        }
    }
}

/// Returns the outcome of one of several recordings.
pub(crate) const fn row_outcome(has_failed: bool, ran_out: bool) -> JobOutcome {
    match (has_failed, ran_out) {
        (true, _) => JobOutcome::Failed,
        (false, true) => JobOutcome::OutOfMemory,
        (false, false) => JobOutcome::Completed,
    }
}

/// Formats one recording that has ended: `peak reserved 12.3 GiB`; those of remedies are made on a larger card, so that
/// it does not say whether it fits.
pub(crate) fn result(recorded: &Recorded) -> String {
    match (&recorded.failure, recorded.peak_reserved_bytes) {
        (Some(failure), _) => format!("failed: {failure}"),
        (None, _) if recorded.out_of_memory => "out of memory".to_owned(),
        (None, Some(bytes)) => format!("peak reserved {}", format::bytes(bytes)),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(done: u64, total: Option<u64>) -> Recorded {
        Recorded {
            label: "batch 8".to_owned(),
            done,
            total,
            peak_reserved_bytes: Some(3 << 30),
            out_of_memory: false,
            failure: None,
        }
    }

    #[test]
    fn several_recordings_have_a_progress() {
        assert_eq!(progress(None), "First recording");
        assert_eq!(progress(Some(&recorded(3, Some(12)))), "3 of 12 recordings");
        assert_eq!(progress(Some(&recorded(1, None))), "1 recording");
        assert_eq!((share(Some(&recorded(3, Some(12)))), share(Some(&recorded(3, None)))), (Some(0.25), None));
    }

    #[test]
    fn results_are_short() {
        let summary = TaskSummary { recordings: 12, fitting: 9, failed: 0, largest_batch: None, remedies: Vec::new() };
        let remedies = vec!["fused".to_owned(), "checkpoint".to_owned()];
        assert_eq!(outcome(JobTask::Fix, &summary), "No remedy makes it fit");
        let summary_of_fix = TaskSummary { largest_batch: Some(1), ..summary.clone() };
        assert_eq!(outcome(JobTask::Fix, &summary_of_fix), "Fits as it is");
        assert_eq!(outcome(JobTask::Fix, &TaskSummary { remedies, ..summary_of_fix }), "Fits with fused, checkpoint");
        assert_eq!(outcome(JobTask::Sweep, &summary), "9 of 12 fit");
        assert_eq!(outcome(JobTask::Sweep, &TaskSummary { failed: 1, ..summary.clone() }), "9 of 12 fit, 1 failed");
        assert_eq!(outcome(JobTask::Fit, &summary), "No batch fits");
        assert_eq!(outcome(JobTask::Fit, &TaskSummary { largest_batch: Some(13), ..summary }), "Batch 13 fits");
        assert_eq!(result(&recorded(1, None)), "peak reserved 3.00 GiB");
        assert_eq!(result(&Recorded { out_of_memory: true, ..recorded(1, None) }), "out of memory");
        assert_eq!(submit(JobTask::Sweep, Some(12)), "Record 12 combinations");
    }
}
