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

use super::repro::Recording;
use super::sweep::{Audience, Outcome, SearchError, Settings, fit, record_all};
use crate::Failure;
use crate::config::RecorderConfig;
use remedies::{Offered, Remedy, remedies};

/// Part of the card's memory that stays free, some 3 %.
const MARGIN: u64 = 32;

/// Number of points of a curve.
const PARTS: usize = 200;

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
) -> Result<FixReport, SearchError> {
    let (job, cards) = resolve(raw.clone()).map_err(SearchError::Config)?;
    let Offered { remedies, left_out } = remedies(&job);
    let room = Room::of(cards, job.memory_fraction);
    Fix { config, raw, settings, audience, remedies, room }.report(&job, left_out)
}

/// Resolves a config whose remedies can be tried, with its cards.
///
/// # Errors
///
/// Returns all problems of the config, of which a real GPU is one.
pub fn resolve(raw: RawJob) -> Result<(Job, Cards), Vec<Problem>> {
    let job = raw.resolve()?;
    match job.device.clone() {
        Device::Virtual(cards) => Ok((job, cards)),
        Device::Cuda(_) => {
            let (message, hint) = ("remedies are tried on virtual GPUs only", "write `card` in its place");
            Err(vec![Problem::new("device", message, hint)])
        }
    }
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
    fn report(&self, job: &Job, mut left_out: Vec<FixLeftOut>) -> Result<FixReport, SearchError> {
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
        let Settings { limits, scratch, .. } = self.settings;
        let found = fit(self.config, &self.with(&chosen), limits, scratch.as_deref(), self.audience)?;
        Ok(FixReport {
            card: self.room.cards.to_string(),
            name: job.name.clone(),
            capacity_bytes: self.room.capacity_bytes,
            margin_bytes: self.room.margin_bytes,
            steps: job.steps,
            baseline: figures,
            at_peak: baseline.at_peak,
            remedies,
            smallest_set: chosen.iter().map(|&index| self.remedies[index].name.to_owned()).collect(),
            together,
            largest_batch: found.tried.largest(),
            left_out,
            notes: baseline.messages,
        })
    }

    /// Records the config as it is and with each remedy.
    fn each(&self, left_out: &mut Vec<FixLeftOut>) -> Result<Each, SearchError> {
        let mut leave = |index: usize, reason: String| {
            left_out.push(FixLeftOut { name: self.remedies[index].name.to_owned(), reason });
        };
        let mut sets = vec![Vec::new()];
        for index in 0..self.remedies.len() {
            match self.job(&[index], On::Large) {
                Ok(_) => sets.push(vec![index]),
                Err(problems) => {
                    leave(index, problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
                }
            }
        }
        let mut recorded = Vec::new();
        for (set, outcome) in sets.iter().zip(self.record(&sets, On::Large)?) {
            match (set.first(), outcome) {
                (_, Ok(recording)) => recorded.push((set.clone(), self.room.figures(&recording, On::Large), recording)),
                (None, Err(failure)) => return Err(SearchError::Recording(None, failure)),
                (Some(&index), Err(failure)) => leave(index, format!("its recording failed: {}", failure.message)),
            }
        }
        // Only a recording on the cards themselves can say whether it fits: with less memory, the allocator gives back
        // what it holds without need.
        let is_open = |(_, figures, _): &&mut (Vec<usize>, FixFigures, Recording)| {
            !figures.fits && figures.peak_live_bytes <= self.room.most_bytes()
        };
        let sets: Vec<_> = recorded.iter_mut().filter(is_open).map(|(set, ..)| set.clone()).collect();
        let outcomes = self.record(&sets, On::Own)?;
        for ((_, figures, _), outcome) in recorded.iter_mut().filter(is_open).zip(outcomes) {
            figures.fits = outcome.is_ok_and(|recording| self.room.figures(&recording, On::Own).fits);
        }
        let mut recorded = recorded.into_iter();
        let Some((_, figures, baseline)) = recorded.next() else {
            return Err(Failure::new("nothing was recorded", "try it again").into());
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
    ) -> Result<(Vec<usize>, Option<FixRemedy>), SearchError> {
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
                Some(Err(failure)) => Err(SearchError::Recording(None, failure)),
                None => Ok(baseline.clone()),
            }
        })?;
        let Some(together) = found else { return Ok((Vec::new(), None)) };
        let members = of(&together.members);
        let told = self.remedy(&members, together.figures, baseline.peak_reserved_bytes);
        Ok((if told.figures.fits { members } else { Vec::new() }, Some(told)))
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
    fn record(&self, sets: &[Vec<usize>], on: On) -> Result<Vec<Outcome>, SearchError> {
        let name = |set: &Vec<usize>| match set.as_slice() {
            [] => "nothing".to_owned(),
            set => set.iter().map(|&index| self.remedies[index].name).collect::<Vec<_>>().join("+"),
        };
        let axes = vec![Axis { name: "with", values: sets.iter().map(name).collect(), is_number: false }];
        let combination =
            |(position, set): (_, &Vec<_>)| Ok(Combination { positions: vec![position], job: self.job(set, on)? });
        let combinations = sets.iter().enumerate().map(combination).collect::<Result<_, _>>();
        let sweep = Sweep { axes, combinations: combinations.map_err(SearchError::Config)? };
        Ok(record_all(self.config, &sweep, self.settings, self.audience)?)
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
            name: joined(members.iter().map(|remedy| remedy.name).collect(), "+"),
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
