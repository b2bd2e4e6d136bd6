//! Builds the report of a replay: its figures, those of the recording, and the results of a sweep.

use crate::allocator::Settings;
use crate::analysis::{
    self, CardChoice, Outlook, ReplayConfig, ReplayOom, SweepConfig, Timeline, Trial, Verification, recorded_calls,
};
use crate::base::format;
use crate::job::Card;
use crate::trace::{Action, Device};
use serde::{Deserialize, Serialize};

/// Result of a trace's requests under other settings or on another card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    pub device: i64,
    /// Allocator settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them; empty for the default ones.
    pub settings: String,
    /// Memory of the card; `None` if it has no limit.
    pub capacity_bytes: Option<u64>,
    pub peak_live_bytes: u64,
    /// Highest sum of rounded bytes in use.
    pub peak_allocated_bytes: u64,
    pub peak_reserved_bytes: u64,
    /// Share of the peak reserved bytes beyond the peak live bytes, `0.0..=1.0`: cache, pieces and rounding.
    pub fragmentation: f64,
    /// Number of successful calls of `cudaMalloc`.
    pub segment_allocs: u64,
    pub segment_frees: u64,
    /// Number of ranges mapped into expandable segments.
    pub maps: u64,
    /// Number of ranges unmapped from expandable segments.
    pub unmaps: u64,
    /// Number of requests for which the whole cache was given back.
    pub retries: u64,
    /// Number of garbage collections that gave memory back.
    pub collections: u64,
    /// Requests that failed; a program ends with the first that it does not catch.
    pub ooms: Vec<ReplayOom>,
    pub initial_bytes: u64,
    /// Number of blocks from before the trace whose size or address is a guess.
    pub guessed_blocks: u64,
    pub recorded: RunFigures,
    /// What the step needs in which the recording ran out of memory, if it did.
    pub whole_step: Option<WholeStep>,
    pub verify: Option<Verification>,
    /// Sweep over other settings, cards and batches, if requested.
    pub sweep: Option<ReplaySweep>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    pub peak_live_bytes: u64,
    pub peak_reserved_bytes: u64,
    /// Share of the peak reserved bytes beyond the peak live bytes, `0.0..=1.0`.
    pub fragmentation: f64,
    /// Number of calls that allocate memory from the driver or give it back; each stalls the program.
    pub driver_calls: u64,
    /// Number of requests for which the whole cache was given back; `None` for a recording, which does not contain it.
    pub retries: Option<u64>,
    /// Number of garbage collections that gave memory back; `None` for a recording, which does not contain it.
    pub collections: Option<u64>,
    pub ooms: u64,
    pub first_oom_event: Option<u64>,
}

/// What the step needs in which a recording ran out of memory, since the recording does not show the rest of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeStep {
    /// What the estimate is based on: `earlier-step`, `layers`, `first-update`, or `unknown`.
    pub basis: String,
    /// Estimate of the highest live bytes; at least those that are certain.
    pub bytes: u64,
    pub least_bytes: u64,
    /// Bytes that the step would reserve under the settings of the replay.
    pub reserved_bytes: u64,
    /// Whether the whole step fits on the card of the replay, and not only the recorded requests; `None` if already these
    /// do not fit, or if the card has no limit.
    pub outlook: Option<Outlook>,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplaySweep {
    /// All settings that were tried, those of the recording first.
    pub trials: Vec<ReplayTrial>,
    /// Best settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them.
    pub best: Option<String>,
    /// Smallest card on which the requests fit under the best settings; a lower bound unless the basis of the whole step,
    /// if there is one, is an earlier step.
    pub smallest_card: Option<String>,
    /// Smallest card on which they fit under the settings of the recording.
    pub smallest_card_as_recorded: Option<String>,
    /// Factor by which the batch could grow on the given card under the best settings; an estimate.
    pub batch_factor: Option<f64>,
    /// What the step needs in which the recording ran out of memory, under the best settings.
    pub whole_step: Option<WholeStep>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayTrial {
    /// Settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them; empty for the default ones.
    pub settings: String,
    pub peak_reserved_bytes: u64,
    /// Number of calls that allocate memory from the driver or give it back.
    pub driver_calls: u64,
    /// Number of requests for which the whole cache was given back.
    pub retries: u64,
    pub ooms: u64,
    /// Event of the trace whose request failed first.
    pub first_oom_event: Option<u64>,
}

impl Replay {
    /// Creates the report of a replay that was neither verified nor swept.
    pub fn new(device: i64, config: &ReplayConfig, replayed: &analysis::ReplayReport, recorded: RunFigures) -> Self {
        let counters = &replayed.counters;
        let RunFigures { peak_live_bytes, peak_reserved_bytes, fragmentation, .. } = RunFigures::replayed(replayed);
        Self {
            device,
            settings: config.settings.to_conf(),
            capacity_bytes: config.limit_bytes(),
            peak_live_bytes,
            peak_allocated_bytes: counters.allocated_bytes.peak,
            peak_reserved_bytes,
            fragmentation,
            segment_allocs: counters.segment_allocs,
            segment_frees: counters.segment_frees,
            maps: counters.maps,
            unmaps: counters.unmaps,
            retries: counters.retries,
            collections: counters.collections,
            ooms: replayed.ooms.clone(),
            initial_bytes: replayed.initial_bytes,
            guessed_blocks: replayed.guessed_blocks,
            recorded,
            whole_step: None,
            verify: None,
            sweep: None,
        }
    }
}

impl WholeStep {
    /// Judges a replay on a card on which PyTorch can use `usable_bytes`, or on one without a limit.
    pub fn new(whole: &analysis::WholeStep, replayed: &analysis::ReplayReport, usable_bytes: Option<u64>) -> Self {
        let usable_bytes = usable_bytes.filter(|_| replayed.ooms.is_empty());
        Self {
            basis: whole.basis.name().to_owned(),
            bytes: whole.bytes,
            least_bytes: whole.least_bytes,
            reserved_bytes: whole.reserved_bytes(replayed),
            outlook: usable_bytes.map(|usable_bytes| whole.outlook(replayed, usable_bytes)),
            text: whole.text(),
        }
    }

    /// Returns true if more than the recorded requests is known to fit.
    fn is_known(&self) -> bool {
        self.outlook == Some(Outlook::Fits)
    }
}

impl RunFigures {
    pub fn recorded(device: &Device, timeline: &Timeline) -> Self {
        let actions = device.events.actions();
        Self {
            driver_calls: recorded_calls(device),
            ooms: actions.iter().filter(|&action| action == Action::Oom).count() as u64,
            first_oom_event: actions.iter().position(|action| action == Action::Oom).map(|event| event as u64),
            ..Self::of_peaks(timeline.live_peak().1, timeline.reserved_peak().1)
        }
    }

    pub fn replayed(report: &analysis::ReplayReport) -> Self {
        let counters = &report.counters;
        Self {
            driver_calls: counters.driver_calls(),
            retries: Some(counters.retries),
            collections: Some(counters.collections),
            ooms: counters.ooms,
            first_oom_event: report.ooms.first().map(|oom| oom.event as u64),
            ..Self::of_peaks(counters.live_bytes.peak, counters.reserved_bytes.peak)
        }
    }

    fn of_peaks(peak_live_bytes: u64, peak_reserved_bytes: u64) -> Self {
        let fragmentation = fragmentation(peak_live_bytes, peak_reserved_bytes);
        Self { peak_live_bytes, peak_reserved_bytes, fragmentation, ..Self::default() }
    }

    pub fn beyond_live_bytes(&self) -> u64 {
        self.peak_reserved_bytes.saturating_sub(self.peak_live_bytes)
    }
}

/// Returns the share of the peak reserved bytes beyond the peak live bytes; 0 if nothing is reserved.
///
/// GMLake and STAlloc define fragmentation this way, but with active bytes in place of requested ones.
fn fragmentation(peak_live_bytes: u64, peak_reserved_bytes: u64) -> f64 {
    match peak_reserved_bytes {
        0 => 0.0,
        reserved => reserved.saturating_sub(peak_live_bytes) as f64 / reserved as f64,
    }
}

/// Returns the settings of a sweep that chooses among all known cards, of each of which others take
/// `card_elsewhere_bytes`.
pub fn sweep_config(
    recorded: Settings,
    (capacity_bytes, elsewhere_bytes): (Option<u64>, u64),
    card_elsewhere_bytes: u64,
    whole_step: Option<analysis::WholeStep>,
) -> SweepConfig {
    let card = |card: Card| CardChoice { name: card.name, memory_bytes: card.memory_bytes };
    let cards = Card::all().map(card).collect();
    SweepConfig { recorded, capacity_bytes, elsewhere_bytes, cards, card_elsewhere_bytes, whole_step }
}

impl ReplaySweep {
    pub fn new(sweep: &analysis::Sweep) -> Self {
        let (found, config) = (sweep.report(), sweep.config());
        let usable_bytes = config.capacity_bytes.map(|bytes| bytes.saturating_sub(config.elsewhere_bytes));
        let best = found.best.map(|best| &found.trials[best]);
        let judged = config.whole_step.as_ref().zip(best);
        let name = |card: &Option<CardChoice>| card.as_ref().map(|card| card.name.clone());
        Self {
            trials: found.trials.iter().map(trial).collect(),
            best: best.map(|best| best.settings.to_conf()),
            smallest_card: name(&found.smallest_card),
            smallest_card_as_recorded: name(&found.smallest_card_as_recorded),
            batch_factor: found.batch_factor,
            whole_step: judged.map(|(whole, best)| WholeStep::new(whole, &best.report, usable_bytes)),
        }
    }

    /// Returns true if the best settings are known to be enough, and not only up to a recorded error.
    pub fn best_is_enough(&self) -> bool {
        let is_served = |best: usize| self.trials[best].first_oom_event.is_none();
        self.best_position().is_some_and(is_served) && self.whole_step.as_ref().is_none_or(WholeStep::is_known)
    }

    /// Names one of the smallest cards, as far as the recording tells.
    pub fn card_words(&self, card: &Option<String>) -> Option<String> {
        let is_known = self.whole_step.as_ref().is_none_or(|whole| whole.basis == "earlier-step");
        card.as_ref().map(|name| if is_known { name.clone() } else { format!("at least {name}") })
    }

    pub fn best_position(&self) -> Option<usize> {
        self.trials.iter().position(|trial| self.best.as_ref() == Some(&trial.settings))
    }

    /// Returns the result of a finished sweep in a line; `None` without a trial.
    ///
    /// On a card without a limit everything fits, so the line names the settings that need least.
    pub fn answer(&self, capacity_bytes: Option<u64>) -> Option<String> {
        let (best, recorded) = (self.trials.get(self.best_position()?)?, self.trials.first()?);
        let name = if best.settings.is_empty() { "The default settings" } else { &best.settings };
        let peak = format::bytes(best.peak_reserved_bytes);
        let is_recorded = best.settings == recorded.settings;
        let card = self.card_words(&self.smallest_card).unwrap_or_else(|| "none in the list".to_owned());
        if let Some(whole) = &self.whole_step
            && let Some(outlook) = whole.outlook
        {
            let needed = format::bytes(whole.reserved_bytes);
            return Some(match outlook {
                Outlook::Short => format!(
                    "{name} passes the recorded error, but the whole step needs about {needed}; smallest GPU for it: {card}"
                ),
                Outlook::Open => format!("{name} passes the recorded error; the whole step needs at least {needed}"),
                Outlook::Fits => format!("{name} fits: about {needed} reserved in the whole step"),
            });
        }
        Some(match (best.first_oom_event, capacity_bytes) {
            (Some(_), _) => format!("None of {} settings fits; smallest GPU that does: {card}", self.trials.len()),
            (None, Some(_)) if is_recorded => format!("Fits as recorded: {peak} reserved at the peak"),
            (None, Some(_)) if recorded.first_oom_event.is_some() => {
                format!("{name} fits: {peak} reserved at the peak")
            }
            _ if is_recorded => format!("None of {} settings needs less than recorded: {peak}", self.trials.len()),
            _ => {
                let saved = recorded.peak_reserved_bytes.saturating_sub(best.peak_reserved_bytes);
                match saved {
                    0 => format!("{name} needs as much as recorded, {peak}, with fewer driver calls"),
                    saved => {
                        format!("{name} needs least: {peak} reserved, {} less than recorded", format::bytes(saved))
                    }
                }
            }
        })
    }
}

fn trial(trial: &Trial) -> ReplayTrial {
    let RunFigures { peak_reserved_bytes, driver_calls, retries, ooms, first_oom_event, .. } =
        RunFigures::replayed(&trial.report);
    let (settings, retries) = (trial.settings.to_conf(), retries.unwrap_or_default());
    ReplayTrial { settings, peak_reserved_bytes, driver_calls, retries, ooms, first_oom_event }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swept(best: usize, trials: &[(&str, u64, Option<u64>)]) -> ReplaySweep {
        let trial = |&(settings, gib, first_oom_event): &(&str, u64, Option<u64>)| {
            let settings = settings.to_owned();
            ReplayTrial { settings, peak_reserved_bytes: gib << 30, first_oom_event, ..ReplayTrial::default() }
        };
        let trials: Vec<_> = trials.iter().map(trial).collect();
        let (best, smallest_card) = (Some(trials[best].settings.clone()), Some("h200".to_owned()));
        ReplaySweep { trials, best, smallest_card, ..ReplaySweep::default() }
    }

    #[track_caller]
    fn check(sweep: &ReplaySweep, capacity_gib: Option<u64>, line: &str) {
        assert_eq!(sweep.answer(capacity_gib.map(|gib| gib << 30)).unwrap(), line);
    }

    #[test]
    fn a_sweep_is_answered_in_a_line() {
        let grows = "expandable_segments:True";
        let helped = swept(1, &[("", 78, Some(9)), (grows, 37, None)]);
        check(&helped, Some(80), "expandable_segments:True fits: 37.0 GiB reserved at the peak");
        let none = swept(1, &[("", 78, Some(9)), (grows, 79, Some(12))]);
        check(&none, Some(80), "None of 2 settings fits; smallest GPU that does: h200");
        let fits = swept(1, &[("", 40, None), (grows, 37, None)]);
        check(&fits, Some(80), "expandable_segments:True needs least: 37.0 GiB reserved, 3.00 GiB less than recorded");
        check(&fits, None, "expandable_segments:True needs least: 37.0 GiB reserved, 3.00 GiB less than recorded");
        let same = swept(0, &[("", 37, None), (grows, 37, None)]);
        check(&same, Some(80), "Fits as recorded: 37.0 GiB reserved at the peak");
        check(&same, None, "None of 2 settings needs less than recorded: 37.0 GiB");
        assert_eq!(ReplaySweep::default().answer(None), None);
    }

    #[test]
    fn a_recording_that_ends_in_an_error_is_not_said_to_fit() {
        let swept = |basis: &str, outlook| {
            let whole =
                WholeStep { basis: basis.to_owned(), reserved_bytes: 90 << 30, outlook, ..WholeStep::default() };
            let helped = swept(1, &[("", 78, Some(9)), ("expandable_segments:True", 77, None)]);
            ReplaySweep { whole_step: Some(whole), ..helped }
        };
        let short = swept("layers", Some(Outlook::Short));
        check(
            &short,
            Some(80),
            "expandable_segments:True passes the recorded error, but the whole step needs about 90.0 GiB; smallest GPU \
             for it: at least h200",
        );
        let open = swept("unknown", Some(Outlook::Open));
        check(
            &open,
            Some(80),
            "expandable_segments:True passes the recorded error; the whole step needs at least 90.0 GiB",
        );
        let fits = swept("earlier-step", Some(Outlook::Fits));
        check(&fits, Some(96), "expandable_segments:True fits: about 90.0 GiB reserved in the whole step");
        assert_eq!([&short, &open, &fits].map(ReplaySweep::best_is_enough), [false, false, true]);
        assert_eq!(fits.card_words(&fits.smallest_card).as_deref(), Some("h200"));
    }

    #[test]
    fn fragmentation_is_what_no_tensor_asked_for() {
        assert_eq!(fragmentation(3 << 30, 4 << 30), 0.25);
        assert_eq!(fragmentation(0, 0), 0.0);
        // A ring buffer that lost its beginning can show more live bytes than segments.
        assert_eq!(fragmentation(5, 4), 0.0);
    }
}
