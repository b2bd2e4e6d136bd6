//! Knows the metrics of GPU memory that Weights & Biases records.

use crate::base::MetricHead;

/// Metric of one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardMetric {
    /// Bytes in use on the GPU with this index.
    Bytes(u32),
    /// The same in percent of its memory.
    Percent(u32),
}

/// Returns the head that a line is; `None` for other lines.
pub(super) fn head(line: &str) -> Option<MetricHead<CardMetric>> {
    MetricHead::of(line, |name| {
        let (index, name) = name.strip_prefix("gpu.")?.split_once('.')?;
        let index = index.parse().ok()?;
        match name {
            "memoryAllocatedBytes" => Some(CardMetric::Bytes(index)),
            "memoryAllocated" => Some(CardMetric::Percent(index)),
            _ => None,
        }
    })
}
