//! Collects the tables of a profile, and sums its samples by place once all of them are there.

use super::heap::{HeapProfile, HeapUse, UseKey};
use super::wire::{Value, fields};
use crate::base::frame_rules;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::ops::Range;

/// Most samples, and most entries of each other table, that are kept.
const MOST_SAMPLES: usize = 200_000;
const MOST_ENTRIES: usize = 500_000;

/// Longest text that is kept, in bytes.
const LONGEST_TEXT: usize = 1000;

/// Tables of a profile as the file has them.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Type and unit of each value, as positions of strings.
    values: Vec<(u64, u64)>,
    /// Value to show first, as the position of its type.
    default_value: u64,
    samples: Vec<Sample>,
    /// Locations of all samples, innermost first.
    places: Vec<u64>,
    /// Values of all samples.
    numbers: Vec<u64>,
    /// Keys and texts of the labels of all samples.
    labels: Vec<(u64, u64)>,
    /// Function and line of each part of a location, innermost first, by the location's id.
    locations: HashMap<u64, Range<usize>>,
    lines: Vec<(u64, u64)>,
    /// Name and file of functions, by id.
    functions: HashMap<u64, (u64, u64)>,
    strings: Vec<String>,
    pub(super) left_out: u64,
}

/// Sample, as ranges of the tables.
#[derive(Debug)]
struct Sample {
    places: Range<usize>,
    numbers: Range<usize>,
    labels: Range<usize>,
}

impl Tables {
    /// Reads a field of the profile.
    pub(super) fn add(&mut self, field: u64, value: Value<'_>) {
        match (field, value) {
            (1, Value::Bytes(message)) if self.values.len() < 100 => self.values.push(pair(message, 1, 2)),
            (2, Value::Bytes(message)) => self.add_sample(message),
            (4, Value::Bytes(message)) => self.add_location(message),
            (5, Value::Bytes(message)) if self.functions.len() < MOST_ENTRIES => {
                let id = pair(message, 1, 1).0;
                self.functions.insert(id, pair(message, 2, 4));
            }
            (6, Value::Bytes(text)) if self.strings.len() < MOST_ENTRIES => {
                let text = &text[..text.len().min(LONGEST_TEXT)];
                self.strings.push(String::from_utf8_lossy(text).into_owned());
            }
            (14, Value::Number(default_value)) => self.default_value = default_value,
            _ => {}
        }
    }

    fn add_sample(&mut self, message: &[u8]) {
        if self.samples.len() >= MOST_SAMPLES || self.places.len() >= MOST_ENTRIES {
            self.left_out += 1;
            return;
        }
        let (places, numbers, labels) = (self.places.len(), self.numbers.len(), self.labels.len());
        for (field, value) in fields(message) {
            match (field, value) {
                (1, _) => value.add_to(&mut self.places),
                (2, _) => value.add_to(&mut self.numbers),
                (3, Value::Bytes(label)) => self.labels.push(pair(label, 1, 2)),
                _ => {}
            }
        }
        self.samples.push(Sample {
            places: places..self.places.len(),
            numbers: numbers..self.numbers.len(),
            labels: labels..self.labels.len(),
        });
    }

    fn add_location(&mut self, message: &[u8]) {
        if self.lines.len() >= MOST_ENTRIES || self.locations.len() >= MOST_ENTRIES {
            return;
        }
        let (mut id, start) = (0, self.lines.len());
        for (field, value) in fields(message) {
            match (field, value) {
                (1, _) => id = value.number(),
                (4, Value::Bytes(line)) => self.lines.push(pair(line, 1, 2)),
                _ => {}
            }
        }
        self.locations.insert(id, start..self.lines.len());
    }

    fn text(&self, position: u64) -> &str {
        usize::try_from(position).ok().and_then(|position| self.strings.get(position)).map_or("", String::as_str)
    }

    /// Returns the positions of the values in bytes and of their number; memory in use is preferred to what was ever
    /// allocated.
    fn columns(&self) -> (Option<usize>, Option<usize>) {
        let position = |unit: &str, test: &dyn Fn(u64) -> bool| {
            self.values.iter().position(|value| self.text(value.1) == unit && test(value.0))
        };
        let is_in_use = |name| !self.text(name).starts_with("alloc_");
        let bytes = position("bytes", &|name| self.text(name) == "inuse_space")
            .or_else(|| position("bytes", &|name| name == self.default_value))
            .or_else(|| position("bytes", &is_in_use))
            .or_else(|| position("bytes", &|_| true));
        (bytes, position("count", &is_in_use))
    }

    /// Sums the samples.
    pub(super) fn finish(self, is_cut: bool) -> HeapProfile {
        let (bytes, counts) = self.columns();
        let own: HashMap<u64, bool> =
            self.functions.iter().map(|(id, function)| (*id, self.is_own(*function))).collect();
        let mut sums: HashMap<UseKey, (u64, u64)> = HashMap::new();
        for sample in &self.samples {
            let number = |column: Option<usize>| {
                let number = column.and_then(|column| self.numbers[sample.numbers.clone()].get(column));
                // Negative numbers are those of a difference of two profiles.
                number.copied().filter(|number| *number <= i64::MAX as u64).unwrap_or(0)
            };
            let sum = sums.entry(self.key(sample, &own)).or_default();
            *sum = (sum.0.saturating_add(number(bytes)), sum.1.saturating_add(number(counts)));
        }
        let mut uses: Vec<HeapUse> =
            sums.into_iter().map(|(key, (bytes, count))| HeapUse { key, bytes, count }).collect();
        uses.sort_by_key(|one| (Reverse(one.bytes), one.key));
        let named = |(name, unit): &(u64, u64)| format!("{} in {}", self.text(*name), self.text(*unit));
        let is_jax = self
            .labels
            .iter()
            .any(|label| self.text(label.0) == "kind" && matches!(self.text(label.1), "buffer" | "executable"));
        HeapProfile {
            value: bytes.map_or_else(String::new, |column| self.text(self.values[column].0).to_owned()),
            values: self.values.iter().map(named).collect(),
            is_jax,
            is_cut,
            left_out: self.left_out,
            uses,
            strings: self.strings,
        }
    }

    fn is_own(&self, (name, file): (u64, u64)) -> bool {
        let frame = (self.text(name), self.text(file));
        frame_rules::innermost_own_position(std::iter::once(frame)).is_some()
    }

    /// Returns what a sample is summed by.
    fn key(&self, sample: &Sample, own: &HashMap<u64, bool>) -> UseKey {
        // Strings beyond 2^32 are not kept.
        let short = |position: u64| u32::try_from(position).unwrap_or(0);
        let mut key = UseKey::default();
        for &(name, text) in &self.labels[sample.labels.clone()] {
            match self.text(name) {
                "kind" => key.kind = short(text),
                "device" => key.device = short(text),
                _ => {}
            }
        }
        let ranges = self.places[sample.places.clone()].iter().filter_map(|id| self.locations.get(id));
        let lines = ranges.flat_map(|range| &self.lines[range.clone()]);
        let mut called = None;
        for (function, line) in lines {
            let Some(&(name, file)) = self.functions.get(function) else { continue };
            if own.get(function) == Some(&true) {
                key.own = Some((short(name), short(file), *line));
                key.called = called.unwrap_or(0);
                return key;
            }
            // The innermost name is the last resort, the one below the own line the best.
            called = Some(short(name));
            if key.called == 0 {
                key.called = short(name);
            }
        }
        key
    }
}

/// Returns the numbers of two fields of a message; 0 for one that is missing.
fn pair(message: &[u8], first: u64, second: u64) -> (u64, u64) {
    let mut pair = (0, 0);
    for (field, value) in fields(message) {
        if field == first {
            pair.0 = value.number();
        }
        if field == second {
            pair.1 = value.number();
        }
    }
    pair
}
