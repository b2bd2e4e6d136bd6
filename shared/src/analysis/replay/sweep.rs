//! Advice by trying: the best settings, the smallest card, the largest batch.
//!
//! A replay takes a while on a long trace, so a sweep goes step by step: whoever runs it can show how far it is, and
//! stop.
//!
//! The best settings are those under which nothing runs out of memory and the least is reserved at the peak; of equal
//! ones those with fewer calls of the driver, then those that come first in the list, which begins with the simplest.

use std::cmp::Reverse;

use super::batch::{BatchScale, BatchSearch};
use super::run::{ReplayConfig, ReplayReport, Replayer};
use crate::allocator::Settings;

/// Settings that a sweep tries beside those of the recording, the simplest first.
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

/// Settings that matter only on a card that has a limit.
const LIMITED_CANDIDATES: [&str; 2] = [
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.98",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.98,max_split_size_mb:128",
];

/// A card that a sweep may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardChoice {
    /// What it is called.
    pub name: String,
    /// Its memory in bytes.
    pub memory_bytes: u64,
}

/// What a sweep looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepConfig {
    /// The settings of the recording, which come first.
    pub recorded: Settings,
    /// The card that settings are tried on; `None` for one that nothing fills.
    pub capacity_bytes: Option<u64>,
    /// What of any card others take.
    pub elsewhere_bytes: u64,
    /// The cards to choose from, by memory.
    pub cards: Vec<CardChoice>,
}

/// What a trace comes to under some settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The settings.
    pub settings: Settings,
    /// What the replay came to.
    pub report: ReplayReport,
}

impl Trial {
    /// The less the better: whether memory was out, how early, how much was reserved, how many calls there were.
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

/// What a sweep has found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepReport {
    /// Each setting with what it came to; that of the recording is the first.
    pub trials: Vec<Trial>,
    /// The position of the best one.
    pub best: Option<usize>,
    /// The smallest card of the list that has room under the best settings.
    pub smallest_card: Option<CardChoice>,
    /// The smallest one under the settings of the recording.
    pub smallest_card_as_recorded: Option<CardChoice>,
    /// How many times the batch fits on the card under the best settings: an estimate, and only where a limit is given.
    pub batch_factor: Option<f64>,
}

/// A sweep on its way.
#[derive(Clone, Debug)]
pub struct Sweep {
    config: SweepConfig,
    settings: Vec<Settings>,
    report: SweepReport,
    /// Cards that are still to be tried, under the best settings and then as recorded.
    cards_left: [usize; 2],
    batch: BatchSearch,
    is_done: bool,
}

impl Sweep {
    /// A sweep that has tried nothing yet.
    pub fn new(config: SweepConfig) -> Self {
        let limited = LIMITED_CANDIDATES.iter().filter(|_| config.capacity_bytes.is_some());
        let mut settings = vec![config.recorded.clone()];
        for conf in CANDIDATES.iter().chain(limited) {
            let candidate = Settings::parse(conf, config.recorded.version).expect("candidates are settings of PyTorch");
            if !settings.contains(&candidate) {
                settings.push(candidate);
            }
        }
        let cards_left = [config.cards.len(); 2];
        Self {
            config,
            settings,
            report: SweepReport::default(),
            cards_left,
            batch: BatchSearch::default(),
            is_done: false,
        }
    }

    /// Replays once or a few times; false at the end.
    ///
    /// `scale` says what grows with the batch, where that is known.
    pub fn step(&mut self, replayer: &Replayer<'_>, scale: Option<&BatchScale>) -> bool {
        let tried = self.report.trials.len();
        if let Some(settings) = self.settings.get(tried) {
            let report = replayer.replay(&self.on_card(settings.clone()));
            self.report.trials.push(Trial { settings: settings.clone(), report });
            self.report.best = best(&self.report.trials);
        } else if let Some(which) = (0..2).find(|&which| self.cards_left[which] > 0) {
            self.try_cards(which, replayer);
        } else if !self.try_batch(replayer, scale) {
            self.is_done = true;
        }
        !self.is_done
    }

    /// Which share is done, as far as it can be told.
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

    /// What was found so far.
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

    /// The best settings once all are tried, or those of the recording.
    fn settings_of(&self, which: usize) -> Settings {
        let best = self.report.best.filter(|_| which == 0).unwrap_or(0);
        self.report.trials[best].settings.clone()
    }

    /// Finds the smallest card for some settings.
    fn try_cards(&mut self, which: usize, replayer: &Replayer<'_>) {
        self.cards_left[which] = 0;
        let settings = self.settings_of(which);
        let unlimited = replayer.replay(&ReplayConfig::unlimited(settings.clone()));
        let elsewhere_bytes = self.config.elsewhere_bytes;
        let fits = |card: &&CardChoice| {
            let usable_bytes = card.memory_bytes.saturating_sub(elsewhere_bytes);
            // What is in use at once has to fit in any case; a replay is needed only between the two.
            unlimited.counters.active_bytes.peak <= usable_bytes
                && (unlimited.counters.reserved_bytes.peak <= usable_bytes
                    && settings.per_process_memory_fraction >= 1.0
                    || replayer.fits(
                        &ReplayConfig {
                            settings: settings.clone(),
                            capacity_bytes: card.memory_bytes,
                            elsewhere_bytes,
                        },
                        None,
                    ))
        };
        let smallest = self.config.cards.iter().find(fits).cloned();
        *[&mut self.report.smallest_card, &mut self.report.smallest_card_as_recorded][which] = smallest;
    }

    /// Tries another batch; false where there is none to try.
    fn try_batch(&mut self, replayer: &Replayer<'_>, scale: Option<&BatchScale>) -> bool {
        let (Some(_), Some(scale)) = (self.config.capacity_bytes, scale) else { return false };
        let Some(factor) = self.batch.next_factor() else { return false };
        let fits = replayer.fits(&self.on_card(self.settings_of(0)), Some((scale, factor)));
        self.batch.tell(factor, fits);
        self.report.batch_factor = self.batch.best();
        true
    }
}

/// The position of the best trial, the first of equal ones.
fn best(trials: &[Trial]) -> Option<usize> {
    (0..trials.len()).min_by_key(|&index| trials[index].cost())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Study, Timeline};
    use crate::trace::text;

    fn sweep(source: &str, capacity_mib: Option<u64>) -> SweepReport {
        let trace = text::parse(source).unwrap();
        let device = &trace.devices[0];
        let timeline = Timeline::new(&trace, device);
        let replayer = Replayer::new(&trace, device, &timeline.allocations);
        let scale = BatchScale::of(&Study::new(&trace, device, &timeline));
        let card = |gib: u64| CardChoice { name: format!("{gib} GiB"), memory_bytes: gib << 30 };
        let mut sweep = Sweep::new(SweepConfig {
            recorded: Settings::default(),
            capacity_bytes: capacity_mib.map(|mib| mib << 20),
            elsewhere_bytes: 0,
            cards: [1, 2, 3, 4].map(card).into(),
        });
        let mut progress = vec![sweep.progress()];
        while sweep.step(&replayer, scale.as_ref()) {
            progress.push(sweep.progress());
        }
        assert!(progress.is_sorted() && progress[0] == 0.0 && sweep.progress() == 1.0, "{progress:?}");
        sweep.report().clone()
    }

    /// Blocks of growing sizes, of which only one is alive at a time: no block fits the next request.
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
        // The default settings give the cache back when the card is full, so the smallest card does for them, too.
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
