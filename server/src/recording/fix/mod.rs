//! Tries the remedies that keys of a config express, each by a recording, and finds what makes it fit its card.
//!
//! Each remedy is recorded on a card of the same kind that is large enough for anything, so that what it saves is known
//! whether or not it is enough. What is said to fit was recorded on the card itself.
//!
//! Invariant: this module neither prints nor parses user input.

mod remedies;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use shared::api::{FixCost, FixFigures, FixLeftOut, FixRemedy, FixReport};
use shared::job::{Axis, Card, Cards, Combination, Device, Job, Problem, RawJob, Sweep};
use shared::recordings::fix::smallest_set;

use super::repro::{Recording, RecordingFailure};
use super::sweep::{Audience, FitError, Outcome, Settings, fit, record_all};
use crate::Failure;
use crate::config::RecorderConfig;
use remedies::{Offered, Remedy, remedies};

/// Part of the card's memory that stays free, some 3 %.
const MARGIN: u64 = 32;

/// Number of points of a curve.
const PARTS: usize = 200;

/// Reason why no remedies could be tried.
#[derive(Debug)]
pub enum FixError {
    /// The config is invalid, or names no virtual GPU.
    Config(Vec<Problem>),
    /// The recordings were cancelled, or the temporary folder is not writable.
    Stopped(Failure),
    /// The config without remedies, or the search for its batch, could not be recorded.
    Recording(Box<RecordingFailure>),
}

/// Tries the remedies of a config and returns what makes it fit.
///
/// # Errors
///
/// Returns an error if the config is invalid, if it cannot be recorded as it is, or if the recordings were cancelled.
pub fn fix_config(
    config: &RecorderConfig,
    raw: &RawJob,
    settings: &Settings,
    audience: &dyn Audience,
) -> Result<FixReport, FixError> {
    let job = resolve(raw.clone()).map_err(FixError::Config)?;
    let Device::Virtual(cards) = &job.device else { return Err(FixError::Config(vec![on_real_gpu()])) };
    let Offered { remedies, left_out } = remedies(&job);
    let room = Room::of(cards.clone(), job.memory_fraction);
    Fix { config, raw, settings, audience, remedies, room }.report(&job, left_out)
}

/// Resolves a config whose remedies can be tried.
///
/// # Errors
///
/// Returns all problems of the config, of which a real GPU is one.
pub fn resolve(raw: RawJob) -> Result<Job, Vec<Problem>> {
    let job = raw.resolve()?;
    if matches!(job.device, Device::Virtual(_)) { Ok(job) } else { Err(vec![on_real_gpu()]) }
}

fn on_real_gpu() -> Problem {
    Problem::new("device", "remedies are tried on virtual GPUs only", "write `card` in its place")
}

/// Cards that a training is to fit.
struct Room {
    cards: Cards,
    capacity_bytes: u64,
    margin_bytes: u64,
}

/// Cards on which a config is recorded.
#[derive(Clone, Copy, PartialEq)]
enum On {
    /// Cards of the same kinds, large enough for anything.
    Large,
    /// The cards without the margin.
    Own,
}

impl Room {
    /// Returns the memory that PyTorch's allocator can have on the smallest of the cards.
    fn of(cards: Cards, fraction: Option<f64>) -> Self {
        let room = |card: &Card| {
            let allowed = fraction.map_or(card.memory_bytes, |share| (card.memory_bytes as f64 * share) as u64);
            allowed.min(card.capacity_bytes())
        };
        let capacity_bytes = cards.0.iter().map(room).min().unwrap_or(0);
        Self { cards, capacity_bytes, margin_bytes: capacity_bytes / MARGIN }
    }

    fn most_bytes(&self) -> u64 {
        self.capacity_bytes - self.margin_bytes
    }

    /// Names the cards as on the command line.
    fn cards(&self, on: On) -> String {
        let card = |card: &Card| match on {
            On::Large => card.with_memory(u64::MAX),
            On::Own => card.with_memory(card.memory_bytes - self.margin_bytes),
        };
        Cards(self.cards.0.iter().map(card).collect()).to_string()
    }

    fn figures(&self, recording: &Recording, on: On) -> FixFigures {
        let Recording { peak_live_bytes, peak_reserved_bytes, curve, oom, .. } = recording;
        let part = curve.live_curve.len().div_ceil(PARTS).max(1);
        FixFigures {
            peak_live_bytes: *peak_live_bytes,
            peak_reserved_bytes: *peak_reserved_bytes,
            fits: oom.is_none() && (on == On::Own || *peak_reserved_bytes <= self.most_bytes()),
            curve: curve.live_curve.chunks(part).filter_map(|part| part.iter().copied().max()).collect(),
        }
    }

    /// Returns true if only a recording on the cards themselves can say whether it fits: with less memory, the allocator
    /// gives back what it holds without need.
    fn is_open(&self, figures: &FixFigures) -> bool {
        !figures.fits && figures.peak_live_bytes <= self.most_bytes()
    }
}

struct Fix<'a> {
    config: &'a RecorderConfig,
    raw: &'a RawJob,
    settings: &'a Settings,
    audience: &'a dyn Audience,
    remedies: Vec<Remedy>,
    room: Room,
}

/// The config as it is, its figures, and the remedies with their indices.
type Each = (Recording, FixFigures, Vec<(usize, FixRemedy)>);

impl Fix<'_> {
    fn report(&self, job: &Job, mut left_out: Vec<FixLeftOut>) -> Result<FixReport, FixError> {
        let (baseline, figures, mut tried) = self.each(&mut left_out)?;
        tried.retain(|(_, remedy)| {
            let helps = remedy.saves_bytes >= figures.peak_reserved_bytes / 100;
            if !helps {
                let reason = "less than 1 % of the peak is saved".to_owned();
                left_out.push(FixLeftOut { name: remedy.name.clone(), reason });
            }
            helps
        });
        tried.sort_by_key(|(_, remedy)| (remedy.changes.is_some(), remedy.cost.class, remedy.saves_bytes));
        let (indices, remedies): (Vec<usize>, Vec<FixRemedy>) = tried.into_iter().unzip();
        let (chosen, together) =
            if figures.fits { Default::default() } else { self.set(&figures, &indices, &remedies)? };
        let largest_batch = self.largest_batch(&chosen)?;
        Ok(FixReport {
            card: self.room.cards.to_string(),
            name: job.name.clone(),
            capacity_bytes: self.room.capacity_bytes,
            margin_bytes: self.room.margin_bytes,
            steps: job.steps,
            baseline: figures,
            at_peak: baseline.at_peak,
            remedies,
            smallest_set: chosen.iter().map(|&index| self.remedies[index].name.clone()).collect(),
            together,
            largest_batch,
            left_out,
            notes: baseline.messages,
        })
    }

    /// Records the config as it is and with each remedy.
    fn each(&self, left_out: &mut Vec<FixLeftOut>) -> Result<Each, FixError> {
        let mut sets = vec![Vec::new()];
        for (index, remedy) in self.remedies.iter().enumerate() {
            match self.job(&[index], On::Large) {
                Ok(_) => sets.push(vec![index]),
                Err(problems) => left_out.push(FixLeftOut { name: remedy.name.clone(), reason: one_line(&problems) }),
            }
        }
        let mut recorded = Vec::new();
        for (set, outcome) in sets.iter().zip(self.record(&sets, On::Large)?) {
            match (set.first(), outcome) {
                (_, Ok(recording)) => recorded.push((set.clone(), self.room.figures(&recording, On::Large), recording)),
                (None, Err(failure)) => return Err(FixError::Recording(failure)),
                (Some(&index), Err(failure)) => {
                    let name = self.remedies[index].name.clone();
                    left_out.push(FixLeftOut { name, reason: format!("its recording failed: {}", failure.message) });
                }
            }
        }
        let is_open = |(_, figures, _): &&mut (Vec<usize>, FixFigures, Recording)| self.room.is_open(figures);
        let sets: Vec<_> = recorded.iter_mut().filter(is_open).map(|(set, ..)| set.clone()).collect();
        let outcomes = self.record(&sets, On::Own)?;
        for ((_, figures, _), outcome) in recorded.iter_mut().filter(is_open).zip(outcomes) {
            figures.fits = outcome.is_ok_and(|recording| self.room.figures(&recording, On::Own).fits);
        }
        let mut recorded = recorded.into_iter();
        let Some((_, figures, baseline)) = recorded.next() else {
            return Err(FixError::Stopped(Failure::new("nothing was recorded", "try it again")));
        };
        let before_bytes = figures.peak_reserved_bytes;
        let tried = recorded.map(|(set, figures, _)| (set[0], self.remedy(&set, figures, before_bytes))).collect();
        Ok((baseline, figures, tried))
    }

    /// Finds the smallest set on the card itself; without one, returns what all remedies save together.
    fn set(
        &self,
        baseline: &FixFigures,
        indices: &[usize],
        remedies: &[FixRemedy],
    ) -> Result<(Vec<usize>, Option<FixRemedy>), FixError> {
        let missing_bytes = baseline.peak_reserved_bytes.saturating_sub(self.room.most_bytes());
        let of = |members: &[usize]| members.iter().map(|&member| indices[member]).collect::<Vec<_>>();
        let excludes = |one: usize, other: usize| {
            let (first, second) = (indices[one].min(indices[other]), indices[one].max(indices[other]));
            one != other
                && (self.remedies[first].group == self.remedies[second].group
                    || self.job(&[first, second], On::Own).is_err())
        };
        let found = smallest_set(remedies, missing_bytes, excludes, |members| {
            // Three that exclude each other, of which no two do, are no set.
            let set = of(members);
            let outcome = match self.job(&set, On::Own) {
                Ok(_) => self.record(&[set], On::Own)?.pop(),
                Err(_) => None,
            };
            match outcome {
                Some(Ok(recording)) => Ok(self.room.figures(&recording, On::Own)),
                Some(Err(failure)) => Err(FixError::Recording(failure)),
                None => Ok(baseline.clone()),
            }
        })?;
        Ok(match found {
            None => (Vec::new(), None),
            Some(together) => {
                let members = of(&together.members);
                let told = self.remedy(&members, together.figures, baseline.peak_reserved_bytes);
                (if told.figures.fits { members } else { Vec::new() }, Some(told))
            }
        })
    }

    fn largest_batch(&self, chosen: &[usize]) -> Result<Option<u64>, FixError> {
        let Settings { limits, scratch, .. } = self.settings;
        let found = fit(self.config, &self.with(chosen), limits, scratch.as_deref(), self.audience);
        let found = found.map_err(|error| match error {
            FitError::Config(problems) => FixError::Config(problems),
            FitError::Scratch(failure) => FixError::Stopped(failure),
            FitError::Recording(batch, failure) => FixError::Recording(Box::new(RecordingFailure {
                message: format!("batch {batch}: {}", failure.message),
                ..*failure
            })),
        })?;
        Ok(found.tried.largest())
    }

    /// Returns the config with remedies.
    fn with(&self, set: &[usize]) -> RawJob {
        let mut raw = self.raw.clone();
        set.iter().for_each(|&index| (self.remedies[index].apply)(&mut raw));
        raw
    }

    fn job(&self, set: &[usize], on: On) -> Result<Job, Vec<Problem>> {
        RawJob { card: Some(self.room.cards(on)), ..self.with(set) }.resolve()
    }

    /// Records the config with each of several sets, a few at a time.
    fn record(&self, sets: &[Vec<usize>], on: On) -> Result<Vec<Outcome>, FixError> {
        let name = |set: &Vec<usize>| match set.as_slice() {
            [] => "nothing".to_owned(),
            set => set.iter().map(|&index| self.remedies[index].name.as_str()).collect::<Vec<_>>().join("+"),
        };
        let axes = vec![Axis { name: "with", values: sets.iter().map(name).collect(), is_number: false }];
        let jobs = sets.iter().map(|set| self.job(set, on)).collect::<Result<Vec<_>, _>>().map_err(FixError::Config)?;
        let combination = |(position, job)| Combination { positions: vec![position], job };
        let sweep = Sweep { axes, combinations: jobs.into_iter().enumerate().map(combination).collect() };
        record_all(self.config, &sweep, self.settings, self.audience).map_err(FixError::Stopped)
    }

    /// Describes remedies that were recorded together.
    fn remedy(&self, set: &[usize], figures: FixFigures, before_bytes: u64) -> FixRemedy {
        let members: Vec<&Remedy> = set.iter().map(|&index| &self.remedies[index]).collect();
        let saves_bytes = before_bytes.saturating_sub(figures.peak_reserved_bytes);
        let costs: Vec<FixCost> = members.iter().map(|remedy| remedy.cost_of(saves_bytes)).collect();
        let joined =
            |texts: Vec<&str>, by: &str| texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(by);
        let changes = joined(members.iter().filter_map(|remedy| remedy.changes.as_deref()).collect(), "; ");
        FixRemedy {
            name: joined(members.iter().map(|remedy| remedy.name.as_str()).collect(), "+"),
            title: joined(members.iter().map(|remedy| remedy.title.as_str()).collect(), "; "),
            changes: Some(changes).filter(|changes| !changes.is_empty()),
            figures,
            saves_bytes,
            cost: FixCost {
                class: costs.iter().map(|cost| cost.class).max().unwrap_or_default(),
                reason: joined(costs.iter().map(|cost| cost.reason.as_str()).collect(), "; "),
            },
            applied: Vec::new(),
            lines: lines(self.raw, &self.with(set)),
        }
    }
}

fn one_line(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Returns the keys in which a config differs from another one, as lines of TOML.
fn lines(before: &RawJob, after: &RawJob) -> Vec<String> {
    let [before, after] = [before, after].map(|raw| match serde_json::to_value(raw) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    });
    let changed = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    let changed: BTreeMap<_, _> = changed.collect();
    changed.into_iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect()
}

/// Writes a value of a config on one line; strings of JSON are strings of TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(keys) => {
            let pairs: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
