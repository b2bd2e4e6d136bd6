//! Finds the best settings, the smallest device and the largest batch by replaying a trace.
//!
//! A replay of a long trace takes a while, so a sweep goes step by step: its caller can show the progress, and stop.
//!
//! The best settings are those under which no request runs out of memory and the peak of the reserved bytes is lowest.
//! Of equal ones, those with fewer driver calls are better, then those that come first in the list, which begins with
//! the simplest.
//! If memory runs out under all settings, those under which it runs out last are the best.
//! Where the recording itself ran out of memory, a device and a batch have to suffice for the whole step, too.

use std::cmp::Reverse;

use super::batch::{BatchScale, BatchSearch};
use super::run::{ReplayConfig, ReplayReport, Replayer};
use super::whole_step::{Outlook, WholeStep};
use crate::allocator::Settings;

/// Settings that a sweep tries in addition to those of the recording, the simplest first.
const CANDIDATES: [&str; 12] = [
    "",
    "expandable_segments:True",
    "max_split_size_mb:32",
    "max_split_size_mb:128",
    "max_split_size_mb:512",
    "large_segment_size_mb:64",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
    "roundup_power2_divisions:16",
    "max_split_size_mb:128,roundup_power2_divisions:8",
    "expandable_segments:True,roundup_power2_divisions:8",
    "expandable_segments:True,large_segment_size_mb:64",
];

/// Settings that matter only on a device with a memory limit.
const LIMITED_CANDIDATES: [&str; 2] = [
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.98",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.98,max_split_size_mb:128",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardChoice {
    pub name: String,
    pub memory_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SweepConfig {
    /// Settings of the recording, which are tried first.
    pub recorded: Settings,
    /// Memory in bytes of the device that settings are tried on; `None` for one that never fills.
    pub capacity_bytes: Option<u64>,
    /// Bytes of that device that the CUDA context, other libraries and other processes take.
    pub elsewhere_bytes: u64,
    /// Devices to choose from, in ascending order of memory.
    pub cards: Vec<CardChoice>,
    /// The same bytes on each of these.
    pub card_elsewhere_bytes: u64,
    /// Step in which the recording ran out of memory, if it did.
    pub whole_step: Option<WholeStep>,
}

/// Settings, and the result of the trace's replay under them.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    pub settings: Settings,
    pub report: ReplayReport,
}

impl Trial {
    /// Returns a key that is smaller for better trials.
    ///
    /// It compares whether memory ran out, how early, the peak of the reserved bytes, and the number of driver calls.
    fn cost(&self) -> impl Ord {
        let first_oom = self.report.ooms.first().map(|oom| oom.event);
        (
            first_oom.is_some(),
            Reverse(first_oom),
            self.report.counters.reserved_bytes.peak,
            self.report.counters.driver_calls(),
        )
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepReport {
    /// Trials in the order of the settings; the first has the settings of the recording.
    pub trials: Vec<Trial>,
    pub best: Option<usize>,
    /// Smallest device of the list that suffices under the best settings, as far as the recording tells.
    pub smallest_card: Option<CardChoice>,
    /// Smallest device of the list that suffices under the settings of the recording, likewise.
    pub smallest_card_as_recorded: Option<CardChoice>,
    /// Largest multiple of the batch that fits on the device under the best settings, as an estimate.
    ///
    /// It is only known for a device with a memory limit.
    pub batch_factor: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct Sweep {
    config: SweepConfig,
    settings: Vec<Settings>,
    report: SweepReport,
    /// Number of devices still to be tried, under the best settings and then under the recorded ones.
    cards_left: [usize; 2],
    batch: BatchSearch,
    is_done: bool,
}

impl Sweep {
    pub fn new(config: SweepConfig) -> Self {
        let limited = LIMITED_CANDIDATES.iter().filter(|_| config.capacity_bytes.is_some());
        let mut settings = vec![config.recorded.clone()];
        for conf in CANDIDATES.iter().chain(limited) {
            let candidate = config.recorded.with_conf(conf).expect("candidates are settings of PyTorch");
            if !settings.contains(&candidate) {
                settings.push(candidate);
            }
        }
        let (report, batch, cards_left) = (SweepReport::default(), BatchSearch::default(), [config.cards.len(); 2]);
        Self { config, settings, report, cards_left, batch, is_done: false }
    }

    /// Runs the next replay, or a few of them; returns false at the end.
    ///
    /// `scale` says which requests grow with the batch, if that is known.
    pub fn step(&mut self, replayer: &Replayer<'_>, scale: Option<&BatchScale>) -> bool {
        let tried = self.report.trials.len();
        if let Some(settings) = self.settings.get(tried) {
            let report = replayer.replay(&self.on_card(settings.clone()));
            self.report.trials.push(Trial { settings: settings.clone(), report });
            let cost = |index: &usize| self.report.trials[*index].cost();
            // The first of equal ones is the best.
            self.report.best = (0..self.report.trials.len()).min_by_key(cost);
        } else if let Some(which) = (0..2).find(|&which| self.cards_left[which] > 0) {
            self.try_cards(which, replayer);
        } else if !self.try_batch(replayer, scale) {
            self.is_done = true;
        }
        !self.is_done
    }

    /// Returns an estimate of the finished fraction of the work, from 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.is_done {
            return 1.0;
        }
        let (settings, cards, batches) = (self.settings.len(), 2, 8);
        let batches_done = if self.batch == BatchSearch::default() { 0 } else { batches / 2 };
        let cards_done = self.cards_left.iter().filter(|left| **left == 0).count();
        let is_tried = self.report.trials.len() == settings;
        let done = self.report.trials.len() + if is_tried { cards_done + batches_done } else { 0 };
        done as f64 / (settings + cards + batches) as f64
    }

    pub fn config(&self) -> &SweepConfig {
        &self.config
    }

    pub fn report(&self) -> &SweepReport {
        &self.report
    }

    fn on_card(&self, settings: Settings) -> ReplayConfig {
        match self.config.capacity_bytes {
            Some(capacity_bytes) => {
                ReplayConfig { settings, capacity_bytes, elsewhere_bytes: self.config.elsewhere_bytes }
            }
            None => ReplayConfig::unlimited(settings),
        }
    }

    /// Returns the best settings if `which` is 0, otherwise those of the recording.
    fn settings_of(&self, which: usize) -> Settings {
        let best = self.report.best.filter(|_| which == 0).unwrap_or(0);
        self.report.trials[best].settings.clone()
    }

    /// Finds the smallest device for the settings given by `which`.
    fn try_cards(&mut self, which: usize, replayer: &Replayer<'_>) {
        self.cards_left[which] = 0;
        let on_any = ReplayConfig::unlimited(self.settings_of(which));
        let unlimited = replayer.replay(&on_any);
        let elsewhere_bytes = self.config.card_elsewhere_bytes;
        let fits = |card: &&CardChoice| {
            let usable_bytes = card.memory_bytes.saturating_sub(elsewhere_bytes);
            let is_enough = |whole: &WholeStep| match whole.outlook(&unlimited, usable_bytes) {
                Outlook::Short => false,
                Outlook::Open => usable_bytes > whole.limit_bytes,
                Outlook::Fits => true,
            };
            // The peak of active bytes has to fit in any case, and the peak of reserved bytes without a limit suffices;
            // a replay is needed only for a device between the two.
            self.config.whole_step.as_ref().is_none_or(is_enough)
                && unlimited.counters.active_bytes.peak <= usable_bytes
                && (unlimited.counters.reserved_bytes.peak <= usable_bytes
                    && on_any.settings.per_process_memory_fraction >= 1.0
                    || replayer.fits(
                        &ReplayConfig { capacity_bytes: card.memory_bytes, elsewhere_bytes, ..on_any.clone() },
                        None,
                    ))
        };
        let smallest = self.config.cards.iter().find(fits).cloned();
        *[&mut self.report.smallest_card, &mut self.report.smallest_card_as_recorded][which] = smallest;
    }

    /// Tries another batch; returns false if there is none to try.
    fn try_batch(&mut self, replayer: &Replayer<'_>, scale: Option<&BatchScale>) -> bool {
        let (Some(capacity_bytes), Some(scale)) = (self.config.capacity_bytes, scale) else { return false };
        let Some(factor) = self.batch.next_factor() else { return false };
        let fits = replayer.fits(&self.on_card(self.settings_of(0)), Some((scale, factor)));
        self.batch.tell(factor, fits);
        let usable_bytes = capacity_bytes.saturating_sub(self.config.elsewhere_bytes);
        self.report.batch_factor = match &self.config.whole_step {
            Some(whole) => self.batch.best().and_then(|best| Some(best.min(whole.batch_factor(usable_bytes)?))),
            None => self.batch.best(),
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;

    fn sweep(source: &str, capacity_mib: Option<u64>) -> SweepReport {
        let sample = Sample::of(source);
        let (replayer, study) = (sample.replayer(), sample.study());
        let scale = BatchScale::of(&study);
        let card = |gib: u64| CardChoice { name: format!("{gib} GiB"), memory_bytes: gib << 30 };
        let mut sweep = Sweep::new(SweepConfig {
            recorded: Settings::default(),
            capacity_bytes: capacity_mib.map(|mib| mib << 20),
            elsewhere_bytes: 0,
            cards: [1, 2, 3, 4].map(card).into(),
            card_elsewhere_bytes: 0,
            whole_step: WholeStep::of(&study),
        });
        let mut progress = vec![sweep.progress()];
        while sweep.step(&replayer, scale.as_ref()) {
            progress.push(sweep.progress());
        }
        assert!(progress.is_sorted() && progress[0] == 0.0 && sweep.progress() == 1.0, "{progress:?}");
        sweep.report().clone()
    }

    /// Writes a trace of growing blocks, one alive at a time, so that no free block fits the next request.
    fn growing() -> String {
        let line = |size: u64| format!("alloc s{size} {size}MiB @forward@phase\nfree s{size}\n");
        "alloc w 64MiB @setup@phase\n".to_owned() + &(6..20).map(|size| line(size * 16)).collect::<String>()
    }

    #[test]
    fn segments_that_grow_win_where_no_block_fits_the_next() {
        let report = sweep(&growing(), None);
        let best = &report.trials[report.best.unwrap()];
        assert!(best.settings.expandable_segments, "{}", best.settings.to_conf());
        assert!(best.report.counters.reserved_bytes.peak < report.trials[0].report.counters.reserved_bytes.peak / 4);
        assert_eq!(report.smallest_card.map(|card| card.name), Some("1 GiB".to_owned()));
        // Under the default settings a full device releases the cache, so the smallest device suffices for them, too.
        assert_eq!(report.smallest_card_as_recorded.map(|card| card.name), Some("1 GiB".to_owned()));
        assert_eq!(report.batch_factor, None);
    }

    #[test]
    fn the_best_is_the_obvious_one() {
        for capacity_mib in [None, Some(400), Some(200), Some(40)] {
            let report = sweep(&growing(), capacity_mib);
            let best = &report.trials[report.best.unwrap()];
            for (index, trial) in report.trials.iter().enumerate() {
                let is_worse =
                    trial.cost() > best.cost() || (trial.cost() == best.cost() && report.best <= Some(index));
                assert!(is_worse, "{}", trial.settings.to_conf());
            }
            assert!(best.report.ooms.is_empty() || report.trials.iter().all(|trial| !trial.report.ooms.is_empty()));
        }
    }

    #[test]
    fn a_card_that_nothing_fits_on_is_not_named() {
        let report = sweep("alloc a 3GiB\nalloc b 2GiB", None);
        assert_eq!((report.smallest_card, report.smallest_card_as_recorded), (None, None));
    }
}
