//! Sweeps: a config with ranges of values, and the jobs of all their combinations.
//!
//! ```text
//! batch = "1..4x2"          card      checkpointing  batch
//! checkpointing = "on,off"  t4-16gb   on             1, 2, 4
//! card = "t4-16gb"          t4-16gb   off            1, 2, 4
//! ```

use std::fmt::Display;

use super::problem::Problem;
use super::raw::{JOB, Key, RawCheckpointing, RawJob, RawSweep};
use super::resolve::Job;
use super::values::{MOST_COMBINATIONS, Values, Word};

/// A config with ranges, with each combination resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Varied keys, slowest first.
    pub axes: Vec<Axis>,
    /// All combinations, in the order of the table.
    pub combinations: Vec<Combination>,
}

/// A key of a config that a sweep varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Key, such as `batch`.
    pub name: &'static str,
    /// Values as a table shows them.
    pub values: Vec<String>,
    /// True if the values are numbers.
    pub is_number: bool,
}

/// One recording of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Index of the value on each axis.
    pub positions: Vec<usize>,
    pub job: Job,
}

impl Sweep {
    /// Returns the values of a combination, one for each axis.
    pub fn values<'a>(&'a self, combination: &'a Combination) -> impl Iterator<Item = &'a str> {
        self.axes.iter().zip(&combination.positions).map(|(axis, &position)| axis.values[position].as_str())
    }

    /// Describes a combination: `card t4-16gb, batch 8`.
    pub fn label(&self, combination: &Combination) -> String {
        label(&self.axes, &combination.positions)
    }
}

fn label(axes: &[Axis], positions: &[usize]) -> String {
    let word = |(axis, &position): (&Axis, &usize)| format!("{} {}", axis.name, axis.values[position]);
    axes.iter().zip(positions).map(word).collect::<Vec<_>>().join(", ")
}

impl RawJob {
    /// Resolves the jobs of a config with ranges.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing varies, if there are more than [`MOST_COMBINATIONS`] combinations, or if some of
    /// them can't be resolved: each problem once, with the first combination that has it.
    pub fn into_sweep(mut self) -> Result<Sweep, Vec<Problem>> {
        let columns = self.sweep.take().unwrap_or_default().columns();
        let most = columns.iter().try_fold(1_usize, |product, column| product.checked_mul(column.axis.values.len()));
        match most {
            Some(1) if columns.is_empty() => {
                let hint = "write a range such as `batch = \"1..8x2\"` below `[sweep]`, or pass --batch 1..8x2";
                return Err(vec![Problem::new("sweep", "the sweep varies nothing", hint)]);
            }
            Some(2..=MOST_COMBINATIONS) | Some(1) => {}
            _ => {
                let message = format!("{} combinations are too many", most.unwrap_or(usize::MAX));
                let hint =
                    format!("a sweep has at most {MOST_COMBINATIONS}: take larger steps, or vary fewer keys at once");
                return Err(vec![Problem::new("sweep", message, hint)]);
            }
        }
        combine(&self, &columns, most.unwrap_or(1))
    }
}

/// Puts the value with an index into a config.
type Set = Box<dyn Fn(&mut RawJob, usize)>;

/// An axis, and how its values change the config.
struct Column {
    axis: Axis,
    set: Set,
}

impl RawSweep {
    /// Returns the axes, slowest first, which is how a table is grouped.
    fn columns(self) -> Vec<Column> {
        let Self { card, precision, checkpointing, sequence, batch } = self;
        let columns = [
            column(&JOB.card, card, |raw, card| {
                raw.card = Some(card);
                raw.device = None;
            }),
            column(&JOB.precision, precision, |raw, precision| raw.precision = Some(precision)),
            column(&JOB.checkpointing, checkpointing, |raw, is_on| {
                raw.checkpointing = Some(RawCheckpointing::All(is_on));
            }),
            column(&JOB.sequence, sequence, |raw, sequence| raw.sequence = Some(sequence)),
            column(&JOB.batch, batch, |raw, batch| raw.batch = Some(batch)),
        ];
        columns.into_iter().flatten().collect()
    }
}

/// Returns the column of a key that has values.
fn column<T: Word, K, D>(
    key: &Key<RawJob, K, D>,
    values: Option<Values<T>>,
    set: fn(&mut RawJob, T),
) -> Option<Column> {
    let Values(values) = values?;
    let axis = Axis { name: key.name, values: values.iter().map(shown).collect(), is_number: T::IS_NUMBER };
    Some(Column { axis, set: Box::new(move |raw, position| set(raw, values[position].clone())) })
}

/// Formats a value for a table: booleans are `on` and `off`, as on the command line.
fn shown<T: Display>(value: &T) -> String {
    match value.to_string().as_str() {
        "true" => "on".to_owned(),
        "false" => "off".to_owned(),
        text => text.to_owned(),
    }
}

fn combine(raw: &RawJob, columns: &[Column], count: usize) -> Result<Sweep, Vec<Problem>> {
    let mut sweep =
        Sweep { axes: columns.iter().map(|column| column.axis.clone()).collect(), combinations: Vec::new() };
    let mut problems: Vec<Problem> = Vec::new();
    let mut seen = Vec::new();
    for index in 0..count {
        let positions = positions(&sweep.axes, index);
        let mut raw = raw.clone();
        columns.iter().zip(&positions).for_each(|(column, &position)| (column.set)(&mut raw, position));
        match raw.resolve() {
            Ok(job) => sweep.combinations.push(Combination { positions, job }),
            Err(found) => {
                let label = label(&sweep.axes, &positions);
                let new: Vec<_> = found.into_iter().filter(|problem| !seen.contains(problem)).collect();
                seen.extend(new.iter().cloned());
                let of_combination = |of: Problem| Problem { path: format!("{} with {label}", of.path), ..of };
                problems.extend(new.into_iter().map(of_combination));
            }
        }
    }
    if problems.is_empty() { Ok(sweep) } else { Err(problems) }
}

/// Returns the digits of a number in which each axis is a digit and the last axis counts fastest.
fn positions(axes: &[Axis], index: usize) -> Vec<usize> {
    let mut rest = index;
    let mut positions: Vec<_> = axes
        .iter()
        .rev()
        .map(|axis| {
            let position = rest % axis.values.len();
            rest /= axis.values.len();
            position
        })
        .collect();
    positions.reverse();
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn labels(config: &str) -> Vec<String> {
        let sweep = RawJob::from_toml(config).unwrap().into_sweep().unwrap();
        sweep.combinations.iter().map(|combination| sweep.label(combination)).collect()
    }

    #[test]
    fn every_combination_is_a_job() {
        let config = "model = 'gpt2'\n[sweep]\ncheckpointing = [true, false]\nbatch = '1..2'\ncard = 't4-16gb'";
        let expected = [
            "card t4-16gb, checkpointing on, batch 1",
            "card t4-16gb, checkpointing on, batch 2",
            "card t4-16gb, checkpointing off, batch 1",
            "card t4-16gb, checkpointing off, batch 2",
        ];
        assert_eq!(labels(config), expected);
        let sweep = RawJob::from_toml(config).unwrap().into_sweep().unwrap();
        let jobs: Vec<_> = sweep.combinations.iter().map(|combination| &combination.job).collect();
        assert_eq!(
            jobs.iter().map(|job| (job.checkpointing, job.batch)).collect::<Vec<_>>(),
            [(true, 1), (true, 2), (false, 1), (false, 2)]
        );
    }

    #[test]
    fn values_may_be_one_or_a_list() {
        assert_eq!(labels("model = 'gpt2'\nsweep = { sequence = 512 }"), ["sequence 512"]);
        assert_eq!(labels("model = 'gpt2'\nsweep = { batch = [4, '6..8x2'] }"), ["batch 4", "batch 6"]);
        assert_eq!(labels("model = 'gpt2'\nsweep = { precision = ['fp32', 'bf16'] }").len(), 2);
    }

    #[track_caller]
    fn refuse_config(config: &str, expected: &[&str]) {
        let problems = RawJob::from_toml(config).and_then(RawJob::into_sweep).unwrap_err();
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        for (line, part) in lines.iter().zip(expected) {
            assert!(line.contains(part), "{part:?} in {line}");
        }
    }

    #[test]
    fn problems_come_once_and_name_their_combination() {
        refuse_config("model = 'gpt2'", &["sweep: the sweep varies nothing; write a range"]);
        refuse_config("model = 'gpt2'\nsweep = { bach = 1 }", &["sweep.bach: unknown key; did you mean `batch`?"]);
        refuse_config("model = 'gpt2'\nsweep = { batch = 'many' }", &["sweep.batch: expected numbers such as"]);
        refuse_config(
            "model = 'gpt2'\nsweep = { batch = [1, 2], sequence = [512, 2048] }",
            &["sequence with sequence 2048, batch 1: 2048 tokens, but the model has only 1024 positions"],
        );
        let many = "model = 'gpt2'\nsweep = { batch = '1..20', sequence = '1..20' }";
        refuse_config(many, &["sweep: 400 combinations are too many; a sweep has at most 200"]);
    }

    #[test]
    fn a_sweep_is_no_single_job() {
        let raw = RawJob::from_toml("model = 'gpt2'\nsweep = { batch = [1, 2] }").unwrap();
        let problems = raw.resolve().unwrap_err();
        assert!(problems[0].to_string().contains("snapscope sweep"), "{problems:?}");
    }
}
