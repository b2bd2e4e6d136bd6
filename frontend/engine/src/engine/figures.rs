//! Collects the figures of one device.

use super::ready::Ready;
use frontend::ask::DeviceFigures;
use shared::analysis::{Axis, Summary};

pub(super) fn figures(position: u32, ready: Ready<'_>) -> DeviceFigures {
    let Ready { device, timeline, .. } = ready;
    let (peak_moment, _) = timeline.live_peak();
    let has_times = timeline.has_times();
    DeviceFigures {
        device: position,
        summary: Summary::of(device, timeline),
        has_times,
        duration_us: timeline.duration_us(),
        end_events: timeline.x_end(Axis::Events),
        end_us: if has_times { timeline.x_end(Axis::Time) } else { 0.0 },
        allocations: timeline.allocations.len() as u64,
        peak_moment,
        peak_us: ready.time_us(peak_moment),
    }
}
