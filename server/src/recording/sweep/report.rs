//! Converts the outcomes of a sweep to the form that scripts read.

use shared::api::{SweepReport, SweepRow};
use shared::job::{Combination, Device, Job, Sweep};

use super::Outcome;

/// Builds the report of a sweep.
pub fn report(name: &str, sweep: &Sweep, outcomes: &[Outcome]) -> SweepReport {
    let rows = sweep.combinations.iter().zip(outcomes);
    SweepReport {
        name: name.to_owned(),
        axes: sweep.axes.iter().map(|axis| axis.name.to_owned()).collect(),
        rows: rows.map(|(combination, outcome)| row(combination, outcome)).collect(),
    }
}

fn row(Combination { job, .. }: &Combination, outcome: &Outcome) -> SweepRow {
    let raw = job.to_raw();
    SweepRow {
        card: raw.card.or(raw.device).unwrap_or_default(),
        precision: raw.precision.unwrap_or_default(),
        checkpointing: job.checkpointing,
        sequence: raw.sequence,
        batch: job.batch,
        memory_bytes: memory_bytes(job, outcome),
        recording: outcome.as_ref().ok().map(|recording| recording.report()),
        failure: outcome.as_ref().err().map(|failure| failure.message.clone()),
    }
}

/// Returns the total memory of the first card; a real card's is known only from its recording.
pub(super) fn memory_bytes(job: &Job, outcome: &Outcome) -> Option<u64> {
    match &job.device {
        Device::Virtual(cards) => cards.0.first().map(|card| card.memory_bytes),
        Device::Cuda(_) => Some(outcome.as_ref().ok()?.started.as_ref()?.memory_bytes),
    }
}
