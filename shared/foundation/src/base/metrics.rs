//! Reads tables of system metrics that Weights & Biases exports.
//!
//! ```text
//! "Relative Time (Process)","calm-sky-7 - system/proc.memory.rssMB","calm-sky-7 - system/proc.memory.rssMB__MIN"
//! _runtime,_timestamp,system.proc.memory.rssMB,system.gpu.0.memoryAllocatedBytes
//! ```

use super::stamp::{self, Stamp};

/// Head of a table, with the metrics that one reader needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricHead<M> {
    /// Position of the time, which is a date or seconds since the start of the run.
    time: usize,
    metrics: Vec<Metric<M>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric<M> {
    position: usize,
    pub kind: M,
    /// Name of the run; empty in the table of a single one.
    pub run: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricTime {
    Date(Stamp),
    /// Milliseconds since the start of the run.
    Elapsed(i64),
}

/// A row's time, and the metrics that have a value.
pub(super) type MetricRow<'a, M> = (MetricTime, Vec<(&'a Metric<M>, f64)>);

impl<M> MetricHead<M> {
    /// Returns the head that a line is, with the metrics to which `kind` gives one; `None` for other lines.
    pub fn of(line: &str, kind: impl Fn(&str) -> Option<M>) -> Option<Self> {
        if !(line.contains("system.") || line.contains("system/")) {
            return None;
        }
        let names = cells(line);
        let metrics: Vec<Metric<M>> = { names.iter().enumerate() }
            .filter_map(|(position, name)| {
                let (run, name) = metric(name)?;
                Some(Metric { position, kind: kind(name)?, run: run.to_owned() })
            })
            .collect();
        let is_time = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
        let time = is_time(&["_timestamp", "Wall Time", "Wall time"])
            .or_else(|| is_time(&["_runtime", "Relative Time (Process)", "Relative Time (Wall)"]))?;
        (!metrics.is_empty()).then_some(Self { time, metrics })
    }

    /// Reads a row: its time and the metrics that have a value; `None` if it has no time.
    pub fn row(&self, line: &str) -> Option<MetricRow<'_, M>> {
        let cells = cells(line);
        let time = time(cells.get(self.time)?)?;
        let value = |metric: &Metric<M>| cells.get(metric.position)?.parse::<f64>().ok().filter(|value| *value >= 0.0);
        let values = self.metrics.iter().filter_map(|metric| Some((metric, value(metric)?)));
        Some((time, values.collect()))
    }
}

fn time(cell: &str) -> Option<MetricTime> {
    let elapsed = || {
        let seconds = cell.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds))?;
        Some(MetricTime::Elapsed((seconds * 1e3) as i64))
    };
    stamp::stamp(cell).filter(|stamp| stamp.day.is_some()).map(MetricTime::Date).or_else(elapsed)
}

/// Splits the name of a column into its run and its metric; the least and the most of an interval are left out.
fn metric(name: &str) -> Option<(&str, &str)> {
    if name.ends_with("__MIN") || name.ends_with("__MAX") {
        return None;
    }
    let (run, name) = name.rsplit_once(" - ").unwrap_or(("", name));
    let metric = name.strip_prefix("system.").or_else(|| name.strip_prefix("system/"))?;
    Some((run, metric))
}

/// Splits a line at commas, except for those within quotation marks.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.trim_matches(['\u{feff}', '\n', '\r']).chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => cells.last_mut().into_iter().for_each(|cell| cell.push(letter)),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_runs_and_metrics() {
        let kind = |name: &str| (name == "proc.memory.rssMB").then_some(());
        let charts = "\"Relative Time (Process)\",\"a, b - c - system/proc.memory.rssMB\",\"d - system/cpu\",\
                      \"a, b - c - system/proc.memory.rssMB__MIN\"";
        let head = MetricHead::of(charts, kind).unwrap();
        assert_eq!((head.metrics[0].run.as_str(), head.metrics.len()), ("a, b - c", 1));
        let (time, values) = head.row("\"15.5\",\"512.25\",\"3\",\"500\"").unwrap();
        assert_eq!((time, values[0].1), (MetricTime::Elapsed(15_500), 512.25));
        let api = MetricHead::of(",_runtime,system.proc.memory.rssMB,_timestamp", kind).unwrap();
        assert_eq!(api.row("0,15.5,,1795448812.5"), Some((time_of(1_795_448_812_500), vec![])));
        assert!(MetricHead::of("the system.log, of proc.memory.rssMB", kind).is_none());
    }

    fn time_of(ms: i64) -> MetricTime {
        MetricTime::Date(Stamp::of_epoch(ms))
    }
}
