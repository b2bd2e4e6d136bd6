//! Searches for the largest batch that fits a card, with one recording per probe.

use std::collections::BTreeMap;
use std::path::Path;

use shared::api::{FitProbe, FitReport};
use shared::job::{Job, Problem, RawJob};

use super::Audience;
use super::record::{Cancellation, memory_bytes, scratch};
use super::search::{Search, Tried};
use crate::Failure;
use crate::config::RecorderConfig;
use crate::recording::repro::{self, Limits, Recording, RecordingFailure};

/// Upper limit of the batch for any config; the model may impose a lower one.
const MOST_BATCH: u64 = 1 << 16;

/// Number of batches tried beyond the first that does not fit, and below the answer.
const NEIGHBOURS: u64 = 2;

#[derive(Debug, Clone)]
pub struct Fit {
    /// The job with a batch of 1.
    pub job: Job,
    /// Largest batch that the config allows.
    pub most: u64,
    pub tried: Tried,
    pub recordings: BTreeMap<u64, Recording>,
}

/// Reason why a search for the largest batch or for remedies failed.
#[derive(Debug)]
pub enum SearchError {
    /// The config is invalid, with any batch, or names no virtual GPU where one is needed.
    Config(Vec<Problem>),
    /// The recordings were cancelled, or the temporary folder is not writable.
    Stopped(Failure),
    /// A recording, perhaps with this batch, failed or was cancelled.
    Recording(Option<u64>, Box<RecordingFailure>),
}

impl From<Failure> for SearchError {
    fn from(failure: Failure) -> Self {
        Self::Stopped(failure)
    }
}

/// Searches for the largest batch of a config that fits its card.
///
/// Snapshots are written below `folder`, or in the system's temporary folder, and deleted.
///
/// # Errors
///
/// Returns an error if the config is invalid, or if a recording failed for another reason than the card's memory.
pub fn fit(
    config: &RecorderConfig,
    raw: &RawJob,
    limits: &Limits,
    folder: Option<&Path>,
    audience: &dyn Audience,
) -> Result<Fit, SearchError> {
    let of_batch = |batch| RawJob { batch: Some(batch), ..raw.clone() }.resolve();
    let job = of_batch(1).map_err(SearchError::Config)?;
    // The host memory and the trace that the config check limits grow with the batch, so bisection applies.
    let most = largest_by_bisection(MOST_BATCH, |batch| of_batch(batch).is_ok());
    let scratch = scratch(folder)?;
    let output = scratch.path().join("probe.pickle");
    let mut recordings = BTreeMap::new();
    let search = Search { neighbours: NEIGHBOURS, ..Search::of(1..=most) };
    let tried = search.largest::<SearchError>(|batch| {
        let job = of_batch(batch).map_err(SearchError::Config)?;
        let outcome = repro::run(config, &job, limits, &output, &mut Cancellation(audience));
        audience.finished(&format!("batch {batch}"), &outcome);
        let recording = outcome.map_err(|failure| SearchError::Recording(Some(batch), failure))?;
        let peak_bytes = recording.oom.is_none().then_some(recording.peak_reserved_bytes);
        recordings.insert(batch, recording);
        Ok(peak_bytes)
    })?;
    Ok(Fit { job, most, tried, recordings })
}

/// Returns the largest number up to `most` for which `holds` is true.
///
/// It must be true for 1, and for all numbers below one for which it is true.
fn largest_by_bisection(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (1, most + 1);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

impl Fit {
    /// Returns the search in the form that scripts read.
    pub fn report(&self) -> FitReport {
        let raw = self.job.to_raw();
        FitReport {
            name: self.job.name.clone(),
            card: raw.card.or(raw.device).unwrap_or_default(),
            memory_bytes: self.recordings.values().find_map(|recording| memory_bytes(&self.job, Some(recording))),
            batch: self.tried.largest(),
            limit: self.tried.next_failing().is_none().then_some(self.most),
            gaps: self.tried.gaps(),
            probes: self.recordings.iter().map(|(&batch, recording)| probe(batch, recording)).collect(),
            ..FitReport::default()
        }
    }
}

fn probe(batch: u64, recording: &Recording) -> FitProbe {
    let Recording { peak_allocated_bytes, peak_reserved_bytes, oom, messages, .. } = recording.clone();
    FitProbe { batch, peak_allocated_bytes, peak_reserved_bytes, oom, messages, failure: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_found_wherever_it_is() {
        for bound in 1..=20 {
            assert_eq!(largest_by_bisection(20, |batch| batch <= bound), bound);
        }
    }
}
