//! Tries remedies by replaying, so that advice is known to help as far as the trace shows.
//!
//! Replaying a million events takes a while, so the number of events that one finding may replay is limited.

use crate::allocator::Settings;
use crate::analysis::ask::replay::{
    BatchScale, BatchSearch, Outlook, ReplayConfig, ReplayReport, Replayer, Stuck, WholeStep, recorded_settings,
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

/// Less than 80 % of the memory needed at the error means that fragmentation is the reason, which settings address.
const FRAGMENTED_PERCENT: u64 = 80;

/// Replays of a device, limited in number by [`MOST_EVENTS`].
struct Trials<'a> {
    replayer: Replayer<'a>,
    recorded: Settings,
    /// Bytes that the allocator could have used.
    capacity_bytes: u64,
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
    fn candidates(&self) -> Vec<Settings> {
        let parsed = CANDIDATES.iter().filter_map(|conf| self.recorded.with_conf(conf).ok());
        parsed.filter(|settings| *settings != self.recorded).collect()
    }

    /// Estimates the fraction of the batch with which the whole step fits, with an error of at most 1/16 of it.
    fn smaller_batch(&mut self, study: &Study<'_>, whole: &WholeStep) -> Option<f64> {
        let of_whole = whole.batch_factor(self.capacity_bytes).filter(|&factor| factor > 0.0)?;
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
        search.best().map(|of_recorded| of_recorded.min(of_whole))
    }
}

pub(super) struct Tried {
    /// Free memory that did not help.
    pub(super) stuck: Stuck,
    /// Each setting with which the whole step fits, or that addresses the reason, as a step; the least effort first.
    pub(super) enough: Vec<String>,
    /// Each setting that helps as far as is known, likewise.
    pub(super) helpful: Vec<String>,
    /// Sentences about the settings that do not help.
    pub(super) in_vain: Vec<String>,
    /// Estimated fraction of the batch with which the whole step fits.
    pub(super) batch: Option<f64>,
}

/// Tries remedies for the first request that failed; `None` if a replay with the recorded settings does not fail there.
pub(super) fn for_failure(study: &Study<'_>, whole: &WholeStep) -> Option<Tried> {
    let mut trials = Trials::new(study, whole.limit_bytes)?;
    trials.spend()?;
    let stuck = trials.replayer.stuck_at(&trials.config(&trials.recorded), whole.event as usize)?;
    let mut tried = Tried { stuck, enough: Vec::new(), helpful: Vec::new(), in_vain: Vec::new(), batch: None };
    try_settings(&mut tried, &mut trials, whole);
    tried.batch = trials.smaller_batch(study, whole);
    Some(tried)
}

/// Tries settings until all requests are served; those that do not help are named together.
fn try_settings(tried: &mut Tried, trials: &mut Trials<'_>, whole: &WholeStep) {
    let (mut too_early, mut too_little) = (Vec::new(), Vec::new());
    let is_fragmented =
        u128::from(whole.least_bytes) * 100 < u128::from(whole.limit_bytes) * u128::from(FRAGMENTED_PERCENT);
    for candidate in trials.candidates() {
        let Some(report) = trials.replay(&candidate) else { break };
        let conf = candidate.to_conf();
        let set = format!("[try] Set ``PYTORCH_CUDA_ALLOC_CONF={conf}``: in a replay of the recording,");
        let reserved = format::bytes(report.counters.reserved_bytes.peak);
        match (report.ooms.first(), whole.outlook(&report, trials.capacity_bytes)) {
            (Some(oom), _) if oom.event > whole.event as usize => tried.helpful.push(format!(
                "{set} this request then succeeds, but event {} runs out of memory.",
                format::count(oom.event as u64)
            )),
            (Some(_), _) => too_early.push(format!("`{conf}`")),
            (None, Outlook::Short) => too_little.push(format!("`{conf}`")),
            (None, Outlook::Open) => {
                let rank = if is_fragmented { &mut tried.enough } else { &mut tried.helpful };
                rank.push(format!(
                "{set} the requests up to the error then succeed, with at least {reserved} reserved; it is not known \
                 whether the rest of the step fits."
                ));
            }
            (None, Outlook::Fits) => tried.enough.push(format!(
                "{set} all requests then succeed, with {reserved} reserved at the peak, and the rest of the step fits."
            )),
        }
        if report.ooms.is_empty() {
            break;
        }
    }
    let sentence = |settings: Vec<String>, what: &str| {
        (!settings.is_empty()).then(|| format!("A replay of the recording with {} {what}.", settings.join(" or ")))
    };
    let passes = "passes the error, but the rest of the step does not fit";
    tried.in_vain.extend(sentence(too_early, "still runs out of memory"));
    tried.in_vain.extend(sentence(too_little, passes));
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
