//! Tries remedies by replaying, so that advice is known to help as far as the trace shows.
//!
//! Replaying a million events takes a while, so the number of events that one finding may replay is limited.

use crate::allocator::Settings;
use crate::analysis::ask::replay::{
    BatchScale, BatchSearch, ReplayConfig, ReplayReport, Replayer, Stuck, recorded_capacity, recorded_settings,
};
use crate::analysis::study::studied::Study;
use crate::base::format;

/// Events that all replays of one finding may process together.
const MOST_EVENTS: usize = 4 << 20;

/// Settings that are tried, the least effort first.
const CANDIDATES: [&str; 3] =
    ["expandable_segments:True", "max_split_size_mb:128", "expandable_segments:True,roundup_power2_divisions:8"];

/// Saving less than this share of the reserved bytes, in percent, is not worth a change of settings.
const LEAST_SAVED_PERCENT: u64 = 5;

/// Replays of a device, limited in number by [`MOST_EVENTS`].
struct Trials<'a> {
    replayer: Replayer<'a>,
    recorded: Settings,
    /// Bytes that the allocator could have used.
    capacity_bytes: u64,
    /// Number of replays that may still run.
    left: usize,
}

impl<'a> Trials<'a> {
    /// Returns `None` if the settings of the recording are not modelled.
    fn new(study: &Study<'a>, capacity_bytes: u64) -> Option<Self> {
        let recorded = recorded_settings(study.trace).ok()?;
        let replayer = Replayer::new(study.trace, study.device, &study.timeline.allocations);
        let events = study.device.events.len().max(1);
        Some(Self { replayer, recorded, capacity_bytes, left: MOST_EVENTS / events })
    }

    fn config(&self, settings: &Settings) -> ReplayConfig {
        ReplayConfig { settings: settings.clone(), capacity_bytes: self.capacity_bytes, elsewhere_bytes: 0 }
    }

    /// Counts a replay; returns `None` if no further one may run.
    fn spend(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    fn replay(&mut self, settings: &Settings) -> Option<ReplayReport> {
        self.spend()?;
        Some(self.replayer.replay(&self.config(settings)))
    }

    /// Returns the candidates that differ from the settings of the recording.
    fn candidates(&self) -> impl Iterator<Item = Settings> + use<> {
        let recorded = self.recorded.clone();
        let parsed = CANDIDATES.iter().filter_map(move |conf| recorded.with_conf(conf).ok());
        let recorded = self.recorded.clone();
        parsed.filter(move |settings| *settings != recorded)
    }

    /// Estimates the fraction of the batch that would have fitted, with an error of at most 1/16 of it.
    fn smaller_batch(&mut self, study: &Study<'_>) -> Option<f64> {
        let scale = BatchScale::of(study)?;
        let (config, mut search) = (self.config(&self.recorded), BatchSearch::default());
        // The whole batch is known not to fit.
        search.tell(1.0, false);
        while let Some(factor) = search.next_factor() {
            if self.spend().is_none() {
                break;
            }
            search.tell(factor, self.replayer.fits(&config, Some((&scale, factor))));
        }
        search.best()
    }
}

/// Results of trying remedies for a failed request.
pub(super) struct Tried {
    /// Free memory that did not help.
    pub(super) stuck: Stuck,
    /// Each setting that helps, with its outcome, as a step; the least effort first.
    pub(super) settings: Vec<String>,
    /// Sentence about the settings that do not help, if there are any.
    pub(super) in_vain: Option<String>,
    /// Estimated fraction of the batch that would have fitted.
    pub(super) batch: Option<f64>,
}

/// Tries remedies for the request of an event; `None` if a replay with the recorded settings does not fail there.
pub(super) fn for_failure(study: &Study<'_>, event: usize) -> Option<Tried> {
    let mut trials = Trials::new(study, recorded_capacity(study.device, study.timeline)?)?;
    trials.spend()?;
    let recorded = trials.config(&trials.recorded);
    let stuck = trials.replayer.stuck_at(&recorded, event)?;
    let (settings, in_vain) = try_settings(&mut trials, event);
    Some(Tried { stuck, settings, in_vain, batch: trials.smaller_batch(study) })
}

/// Tries settings until all requests are served; those that do not help are named together, in the second part.
fn try_settings(trials: &mut Trials<'_>, event: usize) -> (Vec<String>, Option<String>) {
    let (mut sentences, mut in_vain) = (Vec::new(), Vec::new());
    for candidate in trials.candidates() {
        let Some(report) = trials.replay(&candidate) else { break };
        match outcome(&candidate, &report, event) {
            Some(sentence) => sentences.push(sentence),
            None => in_vain.push(format!("`{}`", candidate.to_conf())),
        }
        if report.ooms.is_empty() {
            break;
        }
    }
    let in_vain = (!in_vain.is_empty())
        .then(|| format!("A replay of the recording with {} still runs out of memory.", in_vain.join(" or ")));
    (sentences, in_vain)
}

/// Describes the outcome of settings; `None` if the request of the event, or an earlier one, fails with them too.
fn outcome(settings: &Settings, report: &ReplayReport, event: usize) -> Option<String> {
    let conf = settings.to_conf();
    let reserved = format::bytes(report.counters.reserved_bytes.peak);
    match report.ooms.first() {
        None => Some(format!(
            "[try] Set ``PYTORCH_CUDA_ALLOC_CONF={conf}``: in a replay of the recording, all requests then succeed, \
             with {reserved} reserved at the peak."
        )),
        Some(oom) if oom.event > event => Some(format!(
            "[try] Set ``PYTORCH_CUDA_ALLOC_CONF={conf}``: in a replay of the recording, this request then succeeds, \
             but event {} runs out of memory.",
            format::count(oom.event as u64)
        )),
        Some(_) => None,
    }
}

/// Returns the settings with the fewest reserved bytes as a step, or `None` if none saves enough.
pub(super) fn less_reserved(study: &Study<'_>) -> Option<String> {
    let mut trials = Trials::new(study, ReplayConfig::NO_LIMIT_BYTES)?;
    let recorded = trials.recorded.clone();
    let before = trials.replay(&recorded)?.counters.reserved_bytes.peak;
    let mut best: Option<(u64, Settings)> = None;
    for candidate in trials.candidates() {
        let Some(report) = trials.replay(&candidate) else { break };
        let reserved = report.counters.reserved_bytes.peak;
        if report.ooms.is_empty() && best.as_ref().is_none_or(|(least, _)| reserved < *least) {
            best = Some((reserved, candidate));
        }
    }
    let (reserved, settings) = best?;
    let saved = before.saturating_sub(reserved);
    (u128::from(saved) * 100 >= u128::from(before) * u128::from(LEAST_SAVED_PERCENT) && saved > 0).then(|| {
        format!(
            "[try] Set ``PYTORCH_CUDA_ALLOC_CONF={}``: in a replay, the recording reserves {} at the peak instead of \
             {}.",
            settings.to_conf(),
            format::bytes(reserved),
            format::bytes(before)
        )
    })
}
