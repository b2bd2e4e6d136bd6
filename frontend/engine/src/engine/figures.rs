//! Collects the figures of one device.

use super::Ready;
use frontend::ask::DeviceFigures;
use shared::analysis::{Axis, Summary};

pub(super) fn figures(position: u32, ready: Ready<'_>) -> DeviceFigures {
    let Ready { device, timeline, .. } = ready;
    let summary = Summary::of(device, timeline);
    let (peak_moment, _) = timeline.live_peak();
    let has_times = timeline.has_times();
    DeviceFigures {
        device: position,
        index: device.index,
        events: summary.events,
        actions: summary.actions.iter().map(|&(action, count)| (action.name().to_owned(), count)).collect(),
        has_times,
        duration_us: summary.duration_us,
        end_events: timeline.x_end(Axis::Events),
        end_us: if has_times { timeline.x_end(Axis::Time) } else { 0.0 },
        allocations: timeline.allocations.len() as u64,
        unmatched_frees: summary.unmatched_frees,
        initial_bytes: summary.initial_bytes,
        peak_live_bytes: summary.peak_live_bytes,
        peak_moment,
        peak_us: ready.time_us(peak_moment),
        end_live_bytes: summary.end_live_bytes,
        peak_reserved_bytes: summary.peak_reserved_bytes,
        segments: summary.segments,
        blocks: summary.blocks,
        reserved_bytes: summary.reserved_bytes,
        allocated_bytes: summary.allocated_bytes,
        active_bytes: summary.active_bytes,
    }
}
