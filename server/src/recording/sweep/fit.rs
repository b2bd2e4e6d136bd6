//! Searches for the largest batch that fits a card, with one recording per probe.

use std::collections::BTreeMap;
use std::path::Path;

use shared::api::{FitProbe, FitReport};
use shared::job::{Job, Problem, RawJob};

use super::record::{Cancellation, scratch};
use super::report::memory_bytes;
use super::{Audience, Outcome};
use crate::Failure;
use crate::config::RecorderConfig;
use crate::recording::repro::{self, Limits, Recording, RecordingFailure};

/// Upper limit of the batch for any config; the model may impose a lower one.
const MOST_BATCH: u64 = 1 << 16;

/// Result of a search.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The job with a batch of 1.
    pub job: Job,
    /// Largest batch that the config allows.
    pub most: u64,
    /// The batches that were tried.
    pub tried: Tried,
    /// The recordings, by batch.
    pub recordings: BTreeMap<u64, Recording>,
}

/// Reason why the search failed.
#[derive(Debug)]
pub enum FitError {
    /// The config is invalid with any batch.
    Config(Vec<Problem>),
    /// The temporary folder is not writable.
    Scratch(Failure),
    /// The recording of this batch failed or was cancelled.
    Recording(u64, Box<RecordingFailure>),
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
) -> Result<Fit, FitError> {
    let of_batch = |batch| RawJob { batch: Some(batch), ..raw.clone() }.resolve();
    let job = of_batch(1).map_err(FitError::Config)?;
    // The host memory and the trace that the config check limits grow with the batch, so bisection applies.
    let most = largest_by_bisection(MOST_BATCH, |batch| of_batch(batch).is_ok());
    let scratch = scratch(folder).map_err(FitError::Scratch)?;
    let output = scratch.path().join("probe.pickle");
    let mut recordings = BTreeMap::new();
    let tried = largest(most, |batch| {
        let job = of_batch(batch).map_err(FitError::Config)?;
        let outcome: Outcome = repro::run(config, &job, limits, &output, &mut Cancellation(audience));
        audience.finished(&format!("batch {batch}"), &outcome);
        let recording = outcome.map_err(|failure| FitError::Recording(batch, failure))?;
        let fits = recording.oom.is_none();
        recordings.insert(batch, recording);
        Ok(fits)
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
            memory_bytes: self.memory_bytes(),
            batch: self.tried.largest(),
            limit: self.tried.next_failing().is_none().then_some(self.most),
            gaps: self.tried.gaps(),
            probes: self.recordings.iter().map(|(&batch, recording)| probe(batch, recording)).collect(),
        }
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.recordings.values().find_map(|recording| memory_bytes(&self.job, &Ok(recording.clone())))
    }
}

fn probe(batch: u64, recording: &Recording) -> FitProbe {
    let Recording { peak_allocated_bytes, peak_reserved_bytes, oom, messages, .. } = recording.clone();
    FitProbe { batch, peak_allocated_bytes, peak_reserved_bytes, oom, messages }
}

/// Number of batches tried beyond the first that does not fit, and below the answer.
const NEIGHBOURS: u64 = 2;

/// The batches that were tried, and whether they fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried(BTreeMap<u64, bool>);

impl Tried {
    /// Returns the largest batch that fits, or `None` if none does.
    pub fn largest(&self) -> Option<u64> {
        self.0.iter().rev().find(|(_, fits)| **fits).map(|(&batch, _)| batch)
    }

    /// Returns the smallest tried batch above the answer, which does not fit; `None` if there is none.
    pub fn next_failing(&self) -> Option<u64> {
        self.0.range(self.largest().unwrap_or(0) + 1..).next().map(|(&batch, _)| batch)
    }

    /// Returns the batches that do not fit although a larger one does.
    pub fn gaps(&self) -> Vec<u64> {
        let largest = self.largest().unwrap_or(0);
        self.0.iter().filter(|&(&batch, &fits)| batch < largest && !fits).map(|(&batch, _)| batch).collect()
    }
}

/// Finds the largest batch that fits, from 1 to `most`.
///
/// `fits` is called at most once per batch.
///
/// # Errors
///
/// Returns the first error of `fits`.
pub fn largest<E>(most: u64, mut fits: impl FnMut(u64) -> Result<bool, E>) -> Result<Tried, E> {
    let mut tried = Tried::default();
    let mut fits = |batch| match tried.0.get(&batch) {
        Some(&known) => Ok(known),
        None => {
            let fit = fits(batch)?;
            tried.0.insert(batch, fit);
            Ok(fit)
        }
    };
    let mut low = 0;
    let mut high = 1.min(most);
    while low < high && fits(high)? {
        low = high;
        high = high.saturating_mul(2).min(most);
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if fits(middle)? { low = middle } else { high = middle }
    }
    while let Some(fitting) = first(low + 1..=most.min(low.saturating_add(1 + NEIGHBOURS)), &mut fits)? {
        low = fitting;
    }
    for batch in low.saturating_sub(NEIGHBOURS).max(1)..low {
        fits(batch)?;
    }
    Ok(tried)
}

/// Returns the first batch that fits.
fn first<E>(
    batches: impl IntoIterator<Item = u64>,
    mut fits: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    for batch in batches {
        if fits(batch)? {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn a_bound_is_found_wherever_it_is() {
        for bound in 1..=20 {
            assert_eq!(largest_by_bisection(20, |batch| batch <= bound), bound);
        }
    }

    /// Runs the search and counts the calls of `fits`.
    fn search(most: u64, fits: impl Fn(u64) -> bool) -> (Tried, u32) {
        let mut asked = 0;
        let tried = largest(most, |batch| {
            assert!((1..=most).contains(&batch), "{batch} of {most}");
            asked += 1;
            Ok::<_, Infallible>(fits(batch))
        });
        let Ok(tried) = tried;
        (tried, asked)
    }

    #[test]
    fn it_finds_what_a_linear_search_finds() {
        for most in 1..70 {
            for limit in 0..=most {
                let (tried, asked) = search(most, |batch| batch <= limit);
                let linear = (1..=most).rev().find(|&batch| batch <= limit);
                assert_eq!(tried.largest(), linear, "{limit} of {most}");
                assert_eq!(tried.next_failing(), (limit < most).then_some(limit + 1), "{limit} of {most}");
                assert!(tried.gaps().is_empty());
                assert!(asked <= 2 * (64 - limit.leading_zeros()) + 5, "{asked} for {limit} of {most}");
            }
        }
    }

    #[test]
    fn the_example_of_the_head() {
        let (tried, _) = search(1 << 16, |batch| batch <= 13);
        let batches: Vec<_> = tried.0.keys().copied().collect();
        assert_eq!(batches, [1, 2, 4, 8, 11, 12, 13, 14, 15, 16]);
    }

    #[test]
    fn odd_ones_are_told() {
        let (tried, _) = search(100, |batch| batch <= 10 || batch == 12 || batch == 15);
        assert_eq!((tried.largest(), tried.next_failing(), tried.gaps()), (Some(15), Some(16), vec![13, 14]));
        let (tried, _) = search(100, |batch| batch == 2);
        assert_eq!((tried.largest(), tried.gaps()), (Some(2), vec![1]));
    }

    #[test]
    fn an_error_ends_the_search() {
        let mut asked = 0;
        let outcome = largest(100, |batch| {
            asked += 1;
            if batch < 4 { Ok(true) } else { Err(batch) }
        });
        assert_eq!((outcome, asked), (Err(4), 3));
    }
}
