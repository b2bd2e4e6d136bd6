//! Knows the metrics of host memory that Weights & Biases records.

use shared::base::{Metric, MetricHead, ShortSort};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostMetric {
    /// Resident set of the process that calls `wandb.init`, in MiB.
    Rss,
    /// The same in percent of the machine's memory.
    RssShare,
    /// Memory that the machine has available, in MiB.
    Available,
    /// Memory of the machine that is in use, in percent.
    Used,
}

/// What a row says about one run, as far as it has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RunMemory<'a> {
    pub(super) run: &'a str,
    pub(super) rss_bytes: Option<u64>,
    /// Memory of the machine, which follows from shares of it.
    pub(super) total_bytes: Option<u64>,
    pub(super) available_bytes: Option<u64>,
}

/// Returns the head that a line is; `None` for other lines.
pub(super) fn head(line: &str) -> Option<MetricHead<HostMetric>> {
    MetricHead::of(line, |name| match name {
        "proc.memory.rssMB" => Some(HostMetric::Rss),
        "proc.memory.percent" => Some(HostMetric::RssShare),
        "proc.memory.availableMB" => Some(HostMetric::Available),
        "memory" | "memory_percent" => Some(HostMetric::Used),
        _ => None,
    })
}

/// Gathers the values of a row by run.
pub(super) fn runs<'a>(mut values: Vec<(&'a Metric<HostMetric>, f64)>) -> Vec<RunMemory<'a>> {
    values.short_sort_by(|(a, _), (b, _)| a.run.cmp(&b.run));
    values.chunk_by(|(a, _), (b, _)| a.run == b.run).map(memory).collect()
}

/// Returns what the values of one run say.
fn memory<'a>(values: &[(&'a Metric<HostMetric>, f64)]) -> RunMemory<'a> {
    let value = |kind: HostMetric| values.iter().find(|(metric, _)| metric.kind == kind).map(|(_, value)| *value);
    let bytes = |mib: f64| (mib * f64::from(1 << 20)) as u64;
    let share = |kind: HostMetric| value(kind).map(|percent| percent / 100.0).filter(|share| *share < 1.0);
    let rss_bytes = value(HostMetric::Rss).map(bytes);
    let available = value(HostMetric::Available).map(bytes);
    // The share of the whole machine is larger than that of a process, so that its rounding matters less.
    let of_free = || Some((available? as f64 / (1.0 - share(HostMetric::Used)?)) as u64);
    let of_rss = || Some((rss_bytes? as f64 / share(HostMetric::RssShare).filter(|share| *share > 0.001)?) as u64);
    let total_bytes = of_free().or_else(of_rss);
    let of_used = || Some((total_bytes? as f64 * (1.0 - share(HostMetric::Used)?)) as u64);
    RunMemory {
        run: values.first().map_or("", |(metric, _)| metric.run.as_str()),
        rss_bytes,
        total_bytes,
        available_bytes: available.or_else(of_used),
    }
}
