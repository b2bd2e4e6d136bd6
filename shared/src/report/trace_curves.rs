//! Converts the curves of a snapshot to those of a log, so that both lie on one clock.

use super::log_curves::{LogCurves, LogSeries, extremes};
use crate::analysis::Timeline;
use crate::trace::Device;

/// Largest number of times: twice the columns of a screen.
const MOST_TIMES: usize = 4000;

/// First time that counts as one of a clock on the wall, 2001-09-09; earlier ones count from the start of a machine.
const EARLIEST_US: i64 = 1_000_000_000_000_000;

/// Returns the live and the reserved bytes of a device over time; `None` if its events have no times of a clock.
pub fn trace_curves(device: &Device, timeline: &Timeline) -> Option<LogCurves> {
    let all_us = device.events.times_us();
    let first = all_us.get(0).filter(|first| timeline.has_times() && *first >= EARLIEST_US)?;
    let moment = |event: usize| event as u32 + 1;
    let shown = extremes(all_us.len(), MOST_TIMES, |event| timeline.live_at(moment(event)));
    let mut last_us = first;
    let times_us = shown.iter().map(|&event| {
        // Threads record events out of order by microseconds.
        last_us = last_us.max(all_us.at(event));
        last_us
    });
    let series = |name: &str, bytes: &dyn Fn(u32) -> u64| LogSeries {
        name: name.to_owned(),
        bytes: shown.iter().map(|&event| bytes(moment(event))).collect(),
    };
    Some(LogCurves {
        quantity: if device.index < 0 {
            "Pinned host memory".to_owned()
        } else {
            format!("Memory of GPU {}", device.index)
        },
        is_stacked: false,
        has_steps: true,
        has_dates: true,
        has_times: true,
        times_us: times_us.collect(),
        series: vec![
            series("Live", &|moment| timeline.live_at(moment)),
            series("Reserved", &|moment| timeline.reserved_at(moment)),
        ],
        ..LogCurves::default()
    })
}
