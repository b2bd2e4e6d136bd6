//! Tries the remedies of a script: each alone, then the fewest that fit together, then larger batches with these.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use shared::analysis::{Study, Timeline, live_by_category};
use shared::api::{FixFigures, FixLeftOut, FixRemedy, FixReport, FixShare, RemedyFacts, RunReport, RunStatus};
use shared::base::format::{count, counted};
use shared::job::Card;
use shared::recordings::fix::{INTERRUPTED, smallest_set};
use shared::trace::{Action, Device};

use super::lines::{listed, merge};
use super::remedies::{self, Remedy};
use super::trials::{Trial, Trials};
use crate::Failure;
use crate::commands::run::out_of_memory;
use crate::commands::sweep::progress::Display;
use crate::recording::sweep::{Audience as _, Search};
use crate::snapshot_file::Opened;

/// Share of the baseline's peak that a remedy has to save.
const LEAST_SAVED: f64 = 0.01;

/// Largest batch that is tried, as a multiple of the script's own.
const MOST_BATCHES: u64 = 64;

/// A search, with what its runs have found.
pub(super) struct Fix<'a> {
    pub(super) trials: Trials<'a>,
    pub(super) name: String,
    pub(super) knob: Option<Knob>,
    pub(super) display: &'a Display,
}

/// A remedy that a run of its own has proven.
struct Proven {
    remedy: &'static Remedy,
    told: FixRemedy,
}

impl Fix<'_> {
    /// Runs all of it; after an interrupt, tells what is known until then.
    pub(super) fn report(mut self) -> Result<FixReport, Failure> {
        let _shared = self.trials.share();
        let (baseline, mut report) = self.baseline()?;
        self.trials.is_training = baseline.run.steps > 0;
        report.steps = baseline.run.steps.min(self.trials.steps);
        let (proven, left_out, batch) = self.each(&baseline, &report);
        report.left_out = left_out;
        report.remedies = proven.iter().map(|proven| proven.told.clone()).collect();
        if !report.baseline.fits && !self.is_interrupted() {
            self.together(&mut report, &proven)?;
        }
        if let Some(batch) = batch {
            report.largest_batch = self.largest_batch(&report, batch)?;
        } else if self.trials.is_training && !self.is_interrupted() {
            report.notes.push(
                "the script does not say its batch in a place that is known: name it with --knob, such as \
                 --knob '--batch-size 1..64' or --knob 'BATCH=1..64'"
                    .to_owned(),
            );
        }
        if !self.trials.is_training {
            report.notes.push(
                "the script ends without an optimizer step: this is what it needs without training, and no remedies \
                 for training were tried"
                    .to_owned(),
            );
        }
        if self.is_interrupted() {
            report.notes.push(INTERRUPTED.to_owned());
        }
        Ok(report)
    }

    fn is_interrupted(&self) -> bool {
        self.display.is_cancelled()
    }

    /// Runs the script as it is, on the card and on a larger one.
    fn baseline(&self) -> Result<(Trial, FixReport), Failure> {
        let files = [true, false].map(|is_enlarged| self.trials.scratch.path().join(format!("{is_enlarged}.pickle")));
        self.display.starting("as it is");
        let [large, own] = std::thread::scope(|scope| {
            let own = scope.spawn(|| self.trials.run(&[], false, &files[1]));
            let large = self.trials.run(&[], true, &files[0]);
            [large, own.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
        });
        let (large, own) = (large?, own?);
        if self.is_interrupted() {
            return Err(Failure::new("interrupted before the script has run as it is", "run it again"));
        }
        if large.run.status != RunStatus::Fits {
            let message = large.run.message.unwrap_or_else(|| "it failed".to_owned());
            let hint = "run it with `snapscope run` until it works; `snapscope fix` changes nothing before that";
            return Err(Failure::new(format!("{} as it is: {message}", self.name), hint));
        }
        let opened = Opened::read(&files[0])?;
        let (device, timeline) = opened.choose_device(None)?;
        let capacity_bytes = self.trials.cards.0.iter().map(Card::capacity_bytes).min().unwrap_or(0);
        let mut report = FixReport {
            card: self.trials.cards.to_string(),
            name: self.name.clone(),
            capacity_bytes,
            margin_bytes: self.trials.margin_bytes(),
            baseline: figures(&large, own.run.status == RunStatus::Fits),
            at_peak: at_peak(&opened, device, timeline),
            ..FixReport::default()
        };
        let room_bytes = capacity_bytes.saturating_sub(self.trials.margin_bytes());
        if let Ok(own) = Opened::read(&files[1])
            && let Some(request) = first_difference(device, own.choose_device(None)?, room_bytes)
        {
            report.notes.push(format!(
                "the script is not deterministic: two runs of it differ from allocation {} on, so small savings mean \
                 little",
                count(request)
            ));
        }
        files.iter().for_each(|file| drop(std::fs::remove_file(file)));
        Ok((large, report))
    }

    /// Tries each remedy alone.
    fn each(&self, baseline: &Trial, report: &FixReport) -> (Vec<Proven>, Vec<FixLeftOut>, Option<u64>) {
        let (mut proven, mut left_out, mut batch) = (Vec::<Proven>::new(), Vec::new(), None);
        let Trials { is_training, world, .. } = self.trials;
        let is_offered = |remedy: &&Remedy| remedy.is_for(is_training, world.is_some());
        let mut rest: Vec<&'static Remedy> = remedies::ALL.iter().filter(is_offered).collect();
        while !rest.is_empty() && !self.is_interrupted() {
            let helps = |name: &str| proven.iter().any(|proven| proven.remedy.name == name);
            let is_vain = |name: &str| left_out.iter().any(|left: &FixLeftOut| left.name == name);
            let (now, later) = rest
                .into_iter()
                .partition::<Vec<_>, _>(|remedy| remedy.weaker().is_none_or(|weaker| helps(weaker) || is_vain(weaker)));
            rest = later;
            let (now, vain) = now.into_iter().partition::<Vec<_>, _>(|remedy| remedy.weaker().is_none_or(helps));
            left_out.extend(vain.into_iter().map(|remedy: &Remedy| FixLeftOut {
                name: remedy.name.to_owned(),
                reason: format!("{} does not help", remedy.weaker().unwrap_or_default()),
            }));
            let sets: Vec<_> = now.iter().map(|remedy| vec![remedy.name]).collect();
            let found = self.trials.each(&sets, true, |names, trial| {
                self.display.line(&format!("{} · {}", names.join(" + "), outcome(trial)));
            });
            for (remedy, trial) in now.into_iter().zip(found) {
                let Some(trial) = trial else { continue };
                let facts = trial.as_ref().ok().and_then(|trial| trial.run.remedies.get(remedy.name)).cloned();
                let facts = facts.unwrap_or_default();
                batch = batch.or(facts.batch);
                match self.judge(remedy, trial, &facts, baseline, report) {
                    Ok(told) => proven.push(Proven { remedy, told }),
                    Err(reason) => left_out.push(FixLeftOut { name: remedy.name.to_owned(), reason }),
                }
            }
        }
        self.settle(&mut proven, report);
        proven.sort_by_key(|proven| {
            let FixRemedy { changes, cost, saves_bytes, .. } = &proven.told;
            (changes.is_some(), cost.class, *saves_bytes)
        });
        (proven, left_out, batch)
    }

    /// Runs remedies on the card where nothing else can say whether they fit: with less memory, the allocator gives back
    /// what it holds without need, and cuDNN does with less, as where the script fits as it is.
    fn settle(&self, proven: &mut [Proven], report: &FixReport) {
        let room_bytes = report.capacity_bytes.saturating_sub(report.margin_bytes);
        let can_fit = |figures: &FixFigures| report.baseline.fits || figures.peak_live_bytes <= room_bytes;
        let is_open = |figures: &FixFigures| !figures.fits && can_fit(figures);
        let mut open: Vec<_> = proven.iter_mut().filter(|proven| is_open(&proven.told.figures)).collect();
        let sets: Vec<_> = open.iter().map(|proven| vec![proven.remedy.name]).collect();
        for (proven, trial) in open.iter_mut().zip(self.trials.each(&sets, false, |_, _| {})) {
            proven.told.figures.fits = trial.is_some_and(|trial| {
                trial.is_ok_and(|trial| trial.run.status == RunStatus::Fits && trial.run.steps == report.steps)
            });
        }
    }

    /// Tells a remedy as proven, or why it is not.
    fn judge(
        &self,
        remedy: &'static Remedy,
        trial: Result<Trial, Failure>,
        facts: &RemedyFacts,
        baseline: &Trial,
        report: &FixReport,
    ) -> Result<FixRemedy, String> {
        let trial = trial.map_err(|failure| failure.message)?;
        if let Some(reason) = &facts.refused {
            return Err(reason.clone());
        }
        if trial.run.status != RunStatus::Fits {
            let message = trial.run.message.unwrap_or_default();
            return Err(format!("the script fails with it: {message}"));
        }
        if remedy.allocator.is_none() && facts.applied.is_empty() {
            return Err("nothing in the script could be changed".to_owned());
        }
        if trial.run.steps != baseline.run.steps {
            let (steps, others) = (counted(trial.run.steps, "step"), count(baseline.run.steps));
            let is_short = remedy.name.starts_with("microbatch") && trial.run.steps < baseline.run.steps;
            let more = if is_short { ": its loop counts batches, so let it take more of them" } else { "" };
            return Err(format!("the script ends after {steps} instead of {others}{more}"));
        }
        // What is reserved has to fit; less that is live in as many segments helps nobody.
        let saves_bytes = baseline.run.peak_reserved_bytes.saturating_sub(trial.run.peak_reserved_bytes);
        if saves_bytes as f64 <= baseline.run.peak_reserved_bytes as f64 * LEAST_SAVED {
            return Err("less than 1 % of this peak is saved".to_owned());
        }
        let lines = self.lines(&[remedy], std::slice::from_ref(facts));
        if lines.is_empty() {
            return Err("it works, and no line of the script's own can say it".to_owned());
        }
        let fits = trial.run.peak_reserved_bytes + report.margin_bytes <= report.capacity_bytes;
        Ok(FixRemedy {
            name: remedy.name.to_owned(),
            title: remedy.title.to_owned(),
            changes: remedy.changes.map(str::to_owned).or(facts.changes.clone()),
            figures: figures(&trial, fits),
            saves_bytes,
            cost: remedy.cost(facts),
            applied: facts.applied.clone(),
            lines,
        })
    }

    /// Finds the fewest remedies that fit together, and runs them on the card.
    fn together(&self, report: &mut FixReport, proven: &[Proven]) -> Result<(), Failure> {
        let ran: RefCell<BTreeMap<Vec<usize>, Trial>> = RefCell::default();
        let missing = (report.baseline.peak_reserved_bytes + report.margin_bytes).saturating_sub(report.capacity_bytes);
        let told: Vec<FixRemedy> = proven.iter().map(|proven| proven.told.clone()).collect();
        let excludes = |a: usize, b: usize| proven[a].remedy.excludes(proven[b].remedy);
        let run = |set: &[usize], is_enlarged: bool| -> Result<Trial, Failure> {
            let names: Vec<_> = set.iter().map(|&index| proven[index].remedy.name).collect();
            let trial = self.trials.run(&names, is_enlarged, &self.trials.scratch.path().join("set.pickle"))?;
            if !self.is_interrupted() {
                self.display.line(&format!("{} · {}", names.join(" + "), outcome(&trial)));
            }
            Ok(trial)
        };
        let found = smallest_set(&told, missing, excludes, |set| {
            if self.is_interrupted() {
                return Err(Failure::new("interrupted", ""));
            }
            let trial = run(set, false)?;
            let is_whole = trial.run.steps == report.steps && trial.run.status == RunStatus::Fits;
            let figures = figures(&trial, is_whole);
            ran.borrow_mut().insert(set.to_vec(), trial);
            Ok(figures)
        });
        let Some(found) = (match found {
            Err(_) if self.is_interrupted() => return Ok(()),
            found => found?,
        }) else {
            return Ok(());
        };
        let members: Vec<&Proven> = found.members.iter().map(|&index| &proven[index]).collect();
        let mut trial = ran.borrow_mut().remove(&found.members);
        if !found.figures.fits {
            // On the card itself, it has only come as far as the error.
            trial = Some(run(&found.members, true)?);
        }
        let Some(trial) = trial else { return Ok(()) };
        let remedies: Vec<_> = members.iter().map(|proven| proven.remedy).collect();
        let facts: Vec<_> =
            remedies.iter().map(|remedy| trial.run.remedies.get(remedy.name).cloned().unwrap_or_default()).collect();
        let joined = |of: fn(&FixRemedy) -> &str, by: &str| {
            members.iter().map(|proven| of(&proven.told)).collect::<Vec<_>>().join(by)
        };
        let changes: Vec<_> = members.iter().filter_map(|proven| proven.told.changes.clone()).collect();
        report.together = Some(FixRemedy {
            name: joined(|told| &told.name, "+"),
            title: joined(|told| &told.title, "; "),
            changes: (!changes.is_empty()).then(|| changes.join("; ")),
            saves_bytes: report.baseline.peak_reserved_bytes.saturating_sub(trial.run.peak_reserved_bytes),
            cost: members
                .iter()
                .map(|proven| proven.told.cost.clone())
                .max_by_key(|cost| cost.class)
                .unwrap_or_default(),
            applied: facts.iter().flat_map(|facts| facts.applied.clone()).collect(),
            lines: self.lines(&remedies, &facts),
            figures: figures(&trial, found.figures.fits),
        });
        if found.figures.fits {
            report.smallest_set = remedies.iter().map(|remedy| remedy.name.to_owned()).collect();
        }
        Ok(())
    }

    /// Finds the largest batch that fits with the smallest set; below the script's own if nothing makes that fit.
    fn largest_batch(&self, report: &FixReport, own: u64) -> Result<Option<u64>, Failure> {
        let set: Vec<&str> =
            report.smallest_set.iter().map(String::as_str).filter(|name| !name.starts_with("microbatch-")).collect();
        let has_room = report.baseline.fits || !report.smallest_set.is_empty();
        let most = if has_room { own * MOST_BATCHES } else { own.saturating_sub(1) };
        let values = self.knob.as_ref().map_or(1..=most, |knob| knob.values.clone());
        if values.is_empty() {
            return Ok(None);
        }
        let room = report.capacity_bytes - report.margin_bytes;
        let search = Search {
            room_bytes: Some(room),
            expected: Some(own.clamp(*values.start(), *values.end())),
            ..Search::of(values)
        };
        let found = search.largest(|size| {
            if self.is_interrupted() {
                return Err(None);
            }
            let name = remedies::of_batch(size);
            let names: Vec<&str> = set.iter().copied().chain([name.as_str()]).collect();
            let trial =
                self.trials.run(&names, false, &self.trials.scratch.path().join("batch.pickle")).map_err(Some)?;
            self.display.line(&format!("{} · {}", names.join(" + "), outcome(&trial)));
            let is_changed = trial.run.remedies.get(&name).is_some_and(|facts| facts.refused.is_none());
            Ok((trial.run.status == RunStatus::Fits && is_changed).then_some(trial.run.peak_reserved_bytes))
        });
        match found {
            Ok(tried) => Ok(tried.largest()),
            Err(None) => Ok(None),
            Err(Some(failure)) => Err(failure),
        }
    }

    /// Returns what the user has to write for remedies.
    fn lines(&self, remedies: &[&Remedy], facts: &[RemedyFacts]) -> Vec<String> {
        let edits = merge(facts.iter().flat_map(|facts| facts.lines.clone()));
        let variable = self.trials.allocator_variable(remedies.iter().filter_map(|remedy| remedy.allocator));
        let variable = variable.map(|(name, text)| format!("{name}={text}"));
        listed(&edits, variable.as_deref(), self.trials.command)
    }
}

fn figures(trial: &Trial, fits: bool) -> FixFigures {
    let RunReport { peak_live_bytes, peak_reserved_bytes, .. } = trial.run;
    FixFigures { peak_live_bytes, peak_reserved_bytes, fits, curve: trial.curve.clone() }
}

/// Says in a few words how a run ended.
fn outcome(trial: &Trial) -> String {
    use shared::base::format::bytes;
    let run = &trial.run;
    if let Some(reason) = run.remedies.values().find_map(|facts| facts.refused.clone()) {
        return reason;
    }
    match run.status {
        RunStatus::Fits => format!("{} reserved", bytes(run.peak_reserved_bytes)),
        RunStatus::OutOfMemory => run.ooms.last().map_or_else(|| "out of memory".to_owned(), out_of_memory),
        _ => run.message.clone().unwrap_or_default(),
    }
}

fn at_peak(opened: &Opened, device: &Device, timeline: &Timeline) -> Vec<FixShare> {
    let study = Study::new(&opened.trace, device, timeline);
    let rows = live_by_category(&study, timeline.live_peak().0);
    rows.into_iter().map(|row| FixShare { category: row.category.name().to_owned(), bytes: row.bytes }).collect()
}

/// Returns the number of the first allocation in which a run on the own card differs from one on a larger card; one may
/// have ended before the other.
///
/// Where the own card, with `room_bytes`, has no room for what the larger one was asked for, nothing can be compared:
/// cuDNN then takes an algorithm with a smaller workspace.
fn first_difference(large: &Device, own: (&Device, &Timeline), room_bytes: u64) -> Option<u64> {
    let requests = |device: &Device| -> Vec<(usize, u64)> {
        let actions = device.events.actions().iter().enumerate();
        let sizes = device.events.sizes_bytes();
        actions
            .filter(|(_, action)| *action == Action::Alloc)
            .filter_map(|(event, _)| Some((event, sizes.get(event)?)))
            .collect()
    };
    let (large, own, timeline) = (requests(large), requests(own.0), own.1);
    let place = large.iter().zip(&own).position(|(one, other)| one.1 != other.1)?;
    let has_room = timeline.reserved_at(own[place].0 as u32).saturating_add(large[place].1) <= room_bytes;
    has_room.then_some(place as u64 + 1)
}

/// The batch of a script, by an option of its command line or by a constant or variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Knob {
    /// `--batch-size`, or `BATCH`.
    pub(super) name: String,
    pub(super) values: RangeInclusive<u64>,
}

impl FromStr for Knob {
    type Err = String;

    /// Reads `--batch-size 1..64`, `BATCH=1..64`, or either with `{}` before the range.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected '--batch-size 1..64' or 'BATCH=1..64', not {text:?}");
        let (name, range) = text.trim().rsplit_once([' ', '=']).ok_or_else(wrong)?;
        let name = name.trim().trim_end_matches("{}").trim_end_matches([' ', '=']);
        let (least, most) = range.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim_start_matches('=').parse::<u64>().map_err(|_| wrong());
        let values = number(least)?..=number(most)?;
        if name.is_empty() || name.contains(' ') || *values.start() == 0 || values.is_empty() {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_read_as_they_are_typed() {
        let knob = |name: &str| Ok(Knob { name: name.to_owned(), values: 1..=64 });
        assert_eq!("--batch-size 1..64".parse(), knob("--batch-size"));
        assert_eq!("--batch-size {} 1..64".parse(), knob("--batch-size"));
        assert_eq!("--batch-size=1..64".parse(), knob("--batch-size"));
        assert_eq!("BATCH=1..64".parse(), knob("BATCH"));
        assert_eq!("BATCH={} 1..64".parse(), knob("BATCH"));
        for text in ["", "64", "BATCH", "BATCH=0..4", "BATCH=4..1", "BATCH=1-4", "a b 1..2"] {
            assert!(text.parse::<Knob>().is_err(), "{text}");
        }
    }
}
