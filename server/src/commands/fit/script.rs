//! Searches for the largest value of a script's placeholder that fits, and for the frontier of two.

use std::collections::BTreeMap;
use std::iter::successors;
use std::ops::RangeInclusive;

use shared::api::{FitFrontier, FitProbe, FitReport, FitRow, OutOfMemory, RunReport, RunStatus, RunStop};
use shared::base::format::{bytes, counted, duration};
use shared::recordings::named;

use super::template::Template;
use crate::Failure;
use crate::commands::run::{Trials, shown};
use crate::commands::sweep::progress::Display;
use crate::recording::sweep::{Audience as _, Search, Tried};

/// Largest value that is tried without a range.
const MOST: u64 = 1 << 32;

/// Values of a second placeholder without a range.
const SECOND: RangeInclusive<u64> = 256..=1 << 24;

/// Number of tried values with the same peak after which the value is taken to change nothing.
const LEVEL: usize = 4;

/// A search with the runs that it has made.
pub(super) struct Script<'a> {
    template: Template,
    name: String,
    trials: Trials,
    display: &'a Display,
    /// The runs, by the values of the second placeholder and of the first.
    runs: BTreeMap<(u64, u64), FitProbe>,
    /// Memory of the card as the script sees it.
    memory_bytes: Option<u64>,
    first_steps: Option<u64>,
}

/// What ends a search early.
enum Stop {
    Failure(Failure),
    Interrupted,
    /// The largest values that were tried have the same peak.
    Level,
}

impl<'a> Script<'a> {
    pub(super) fn new(template: Template, name: String, trials: Trials, display: &'a Display) -> Self {
        let (runs, memory_bytes, first_steps) = (BTreeMap::new(), None, None);
        Self { template, name, trials, display, runs, memory_bytes, first_steps }
    }

    /// Searches, and returns what was found, and true if the search was interrupted.
    ///
    /// # Errors
    ///
    /// Returns an error if the smallest value fails for another reason than memory, or if the value changes nothing.
    pub(super) fn search(mut self) -> Result<(FitReport, bool), Failure> {
        let ended = match self.template.places.len() {
            1 => self.largest(0, self.range(0, 1..=MOST), None).map(drop),
            _ => self.frontier(),
        };
        let mut report = self.report();
        match ended {
            Err(Stop::Failure(failure)) => return Err(failure),
            Err(Stop::Interrupted) if self.runs.is_empty() => {
                return Err(Failure::new("the search was interrupted before its first result", "start it again"));
            }
            Err(Stop::Interrupted) => {
                report.notes.push("the search was interrupted before its end".to_owned());
                return Ok((report, true));
            }
            Err(Stop::Level) | Ok(()) => {}
        }
        let probes = report.frontier.as_ref().and_then(|frontier| Some(&frontier.rows.last()?.probes));
        let probes = probes.unwrap_or(&report.probes);
        if let Some(from) = level(probes) {
            if from == probes[0].batch {
                let values: Vec<_> = probes.iter().map(|probe| probe.batch).collect();
                return Err(self.nothing_changes(0, &values, &probes[0]));
            }
            report.notes.push(format!("the peak is the same from {} on", named(&report, from)));
        }
        Ok((report, false))
    }

    fn range(&self, place: usize, default: RangeInclusive<u64>) -> RangeInclusive<u64> {
        self.template.places[place].range.clone().unwrap_or(default)
    }

    /// Finds the largest value of the first placeholder for a value of the second, which is 0 if there is none.
    fn largest(&mut self, second: u64, values: RangeInclusive<u64>, expected: Option<u64>) -> Result<Tried, Stop> {
        let least = *values.start();
        if self.runs.is_empty() {
            // The first run also tells the room.
            self.peak_bytes(least, second, least)?;
        }
        let search = Search { room_bytes: self.memory_bytes, expected, ..Search::of(values) };
        search.largest(|first| self.peak_bytes(first, second, least))
    }

    /// Finds the largest value of the first placeholder for each value of the second.
    fn frontier(&mut self) -> Result<(), Stop> {
        let (values, seconds) = (self.range(0, 1..=MOST), self.range(1, SECOND));
        let (least, mut most) = values.into_inner();
        let end = *seconds.end();
        let doubled = successors(Some(*seconds.start()), |&value| (value < end).then(|| end.min(value * 2)));
        // Memory for a value of both is taken to depend on their product.
        let mut before: Option<(u64, u64)> = None;
        for second in doubled {
            let expected = before.map(|(first, smaller)| (first * smaller / second).max(least));
            if let Some(expected) = expected
                && self.peak_bytes(expected, second, least)?.is_none()
                && self.runs[&(second, expected)].failure.is_some()
                && self.peak_bytes(least, second, least)?.is_none()
            {
                // What the script refuses with the smallest value, it refuses with all.
                return Ok(());
            }
            let Some(largest) = self.largest(second, least..=most, expected)?.largest() else { return Ok(()) };
            if let Some((_, smaller)) = before
                && let Some(probe) = self.runs.get(&(smaller, largest))
                && has_one_peak(&[probe, &self.runs[&(second, largest)]])
            {
                return Err(Stop::Failure(self.nothing_changes(1, &[smaller, second], probe)));
            }
            (most, before) = (largest, Some((largest, second)));
        }
        Ok(())
    }

    /// Runs the script, and returns the peak if it fits.
    fn peak_bytes(&mut self, first: u64, second: u64, least: u64) -> Result<Option<u64>, Stop> {
        if !self.runs.contains_key(&(second, first)) {
            self.run(first, second, least)?;
        }
        let probes: Vec<_> = self.runs.range((second, 0)..=(second, u64::MAX)).map(|(_, probe)| probe).collect();
        let is_open = probes.iter().all(|probe| fits(probe)) && self.template.places[0].range.is_none();
        if is_open && probes.len() >= LEVEL && has_one_peak(&probes[probes.len() - LEVEL..]) {
            return Err(Stop::Level);
        }
        let probe = &self.runs[&(second, first)];
        Ok(fits(probe).then_some(probe.peak_reserved_bytes))
    }

    fn run(&mut self, first: u64, second: u64, least: u64) -> Result<(), Stop> {
        let values = &[first, second][..self.template.places.len()];
        let labels = self.template.places.iter().zip(values);
        let label = labels.map(|(place, value)| place.label.replace("{}", &value.to_string()));
        let label = label.collect::<Vec<_>>().join(" ");
        self.display.starting(&label);
        let run = self.trials.run(&self.template.command(values), &self.display.interrupted).map_err(Stop::Failure)?;
        if self.display.is_cancelled() {
            return Err(Stop::Interrupted);
        }
        let probe = self.probe(first, &run);
        if let Some(failure) = &probe.failure
            && first == least
            && self.runs.is_empty()
        {
            let message = format!("{} {label}: {failure}", self.name);
            return Err(Stop::Failure(Failure::new(
                message,
                "run it with this value by `snapscope run`, which shows what it prints",
            )));
        }
        self.display.line(&format!("{label} · {}", outcome(&probe)));
        self.memory_bytes = self.memory_bytes.or(Some(run.capacity_bytes).filter(|&total| total > 0));
        if fits(&probe) {
            self.first_steps.get_or_insert(run.steps);
        }
        self.runs.insert((second, first), probe);
        Ok(())
    }

    /// Judges a run: a script that ends before its memory is known, or that survives an error, does not fit.
    fn probe(&self, batch: u64, run: &RunReport) -> FitProbe {
        let steps = counted(run.steps, "step");
        let expected = self.first_steps.unwrap_or(run.steps);
        let failure = match (run.status, run.stopped) {
            (RunStatus::Failed | RunStatus::Unsupported, _) => run.message.clone(),
            (RunStatus::Fits, Some(RunStop::Time)) => {
                let time = duration((run.seconds * 1e6) as u64);
                Some(format!("it made {steps} in {time}, the limit of --time-limit"))
            }
            (RunStatus::Fits, Some(RunStop::Signal)) => Some(format!("a signal ended it after {steps}")),
            (RunStatus::Fits, _) if run.steps < expected => {
                Some(format!("it ended after {steps} where a smaller value made {expected}, perhaps for lack of data"))
            }
            _ => None,
        };
        FitProbe {
            batch,
            peak_allocated_bytes: run.peak_allocated_bytes,
            peak_reserved_bytes: run.peak_reserved_bytes,
            oom: run.ooms.last().filter(|_| failure.is_none()).map(|oom| OutOfMemory {
                message: format!("Tried to allocate {}", bytes(oom.requested_bytes)),
                step: Some(oom.steps),
                phase: String::new(),
                module: match (&oom.file, oom.line) {
                    (Some(file), Some(line)) => format!("{}:{line}", shown(file)),
                    _ => String::new(),
                },
                operation: String::new(),
            }),
            messages: Vec::new(),
            failure,
        }
    }

    fn report(&self) -> FitReport {
        let mut report = FitReport {
            name: self.name.clone(),
            card: self.trials.cards.to_string(),
            memory_bytes: self.memory_bytes,
            variable: Some(self.template.places[0].label.clone()),
            ..FitReport::default()
        };
        let mut rows: Vec<FitRow> = Vec::new();
        for (&(value, _), probe) in &self.runs {
            if rows.last().is_none_or(|row| row.value != value) {
                rows.push(FitRow { value, ..FitRow::default() });
            }
            let row = rows.last_mut().expect("a row was pushed");
            row.batch = if fits(probe) { Some(probe.batch) } else { row.batch };
            row.probes.push(probe.clone());
        }
        match self.template.places.get(1) {
            Some(second) => report.frontier = Some(FitFrontier { variable: second.label.clone(), rows }),
            None => {
                let FitRow { batch, probes, .. } = rows.pop().unwrap_or_default();
                let most = self.template.places[0].range.as_ref().map(|range| *range.end());
                report.limit = batch.filter(|_| batch == most);
                (report.batch, report.probes) = (batch, probes);
            }
        }
        report
    }

    fn nothing_changes(&self, place: usize, values: &[u64], probe: &FitProbe) -> Failure {
        let values: Vec<_> = values.iter().map(u64::to_string).collect();
        let words = self.template.places[place].label.replace("{}", &values.join(", "));
        let peak = bytes(probe.peak_reserved_bytes);
        Failure::new(
            format!("the value changes nothing: {} has the same peak of {peak} reserved with {words}", self.name),
            "check that the script uses this value for what it puts on the GPU",
        )
    }
}

fn fits(probe: &FitProbe) -> bool {
    probe.oom.is_none() && probe.failure.is_none()
}

fn has_one_peak(probes: &[&FitProbe]) -> bool {
    let peaks = |probe: &FitProbe| (probe.peak_allocated_bytes, probe.peak_reserved_bytes);
    probes.windows(2).all(|pair| peaks(pair[0]) == peaks(pair[1]))
}

/// Returns the smallest of the values from which on all that were tried fit with the same peak, of at least two.
fn level(probes: &[FitProbe]) -> Option<u64> {
    let last = probes.last().filter(|last| fits(last))?;
    let same = probes.iter().rev().take_while(|probe| fits(probe) && has_one_peak(&[last, probe]));
    let same: Vec<_> = same.map(|probe| probe.batch).collect();
    (same.len() > 1).then(|| same[same.len() - 1])
}

fn outcome(probe: &FitProbe) -> String {
    match (&probe.failure, &probe.oom) {
        (Some(failure), _) => failure.clone(),
        (None, Some(_)) => "out of memory".to_owned(),
        (None, None) => format!("{} reserved", bytes(probe.peak_reserved_bytes)),
    }
}
