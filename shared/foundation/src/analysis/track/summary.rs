//! Summarises the figures of one device.

use crate::analysis::track::timeline::Timeline;
use crate::base::{Moment, pieces};
use crate::trace::{Action, Device};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Range;

/// Totals of a device's trace and final state.
///
/// *Reserved*, *allocated* and *active* bytes are PyTorch's terms and refer to the final state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// CUDA index, -1 for host memory.
    pub device: i64,
    pub events: u64,
    /// Number of events of each action that occurs, in the order of [`Action::ALL`]; an object in JSON.
    #[serde(serialize_with = "by_name")]
    pub actions: Vec<(Action, u64)>,
    pub segments: u64,
    pub blocks: u64,
    /// Sum of the sizes of all segments.
    pub reserved_bytes: u64,
    /// Rounded bytes of blocks in use.
    pub allocated_bytes: u64,
    /// Allocated bytes plus those of blocks with a pending free.
    pub active_bytes: u64,
    /// Live bytes before the first event.
    pub initial_bytes: u64,
    pub peak_live_bytes: u64,
    /// First event after which live bytes are highest, -1 if they are highest in the initial state.
    pub peak_event: i64,
    /// Live bytes after the last event.
    pub end_live_bytes: u64,
    pub peak_reserved_bytes: u64,
    /// Number of events that end a lifetime whose `alloc` is not in the trace.
    pub unmatched_frees: u64,
}

impl Summary {
    /// Computes the figures of a device; `timeline` must be built from it.
    pub fn of(device: &Device, timeline: &Timeline) -> Self {
        let (peak_moment, peak_live_bytes) = timeline.live_peak();
        Self {
            device: device.index,
            events: device.events.len() as u64,
            actions: action_counts(device),
            segments: device.segments.segments.len() as u64,
            blocks: device.segments.blocks.len() as u64,
            reserved_bytes: device.segments.reserved_bytes(),
            allocated_bytes: device.segments.allocated_bytes(),
            active_bytes: device.segments.active_bytes(),
            initial_bytes: timeline.live_at(0),
            peak_live_bytes,
            peak_event: Moment(peak_moment).event_number(),
            end_live_bytes: timeline.live_at(timeline.events()),
            peak_reserved_bytes: timeline.reserved_peak().1,
            unmatched_frees: timeline.allocations.unmatched_frees() as u64,
        }
    }
}

fn action_counts(device: &Device) -> Vec<(Action, u64)> {
    let mut counts = [0; Action::ALL.len()];
    pieces(device.events.len()).for_each(|piece| count(device, piece, &mut counts));
    Action::ALL.into_iter().zip(counts).filter(|&(_, count)| count > 0).collect()
}

#[inline(never)]
fn count(device: &Device, piece: Range<usize>, counts: &mut [u64; Action::ALL.len()]) {
    device.events.actions().range(piece).for_each(|action| counts[action as usize] += 1);
}

/// Writes an object with sorted names to formats that people read, and the list to others.
fn by_name<S: Serializer>(actions: &[(Action, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    match serializer.is_human_readable() {
        true => serializer
            .collect_map(actions.iter().map(|(action, count)| (action.name(), count)).collect::<BTreeMap<_, _>>()),
        false => actions.serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    fn summary(trace: &str) -> Summary {
        let trace = text::parse(trace).unwrap();
        let device = &trace.devices[0];
        Summary::of(device, &Timeline::new(&trace, device))
    }

    #[test]
    fn the_peak_is_the_first_of_equals() {
        let summary = summary(
            "
            segment_alloc S 1KiB t=5
            alloc a 100 t=6
            free a t=7
            alloc b 100 t=8
            alloc b 1 t=9
            free_completed b t=10
            free_completed c 3 t=11
            free_completed b t=12
            segment_free T 512 t=12
            segment S 1KiB
            block d 512 requested=7
            ",
        );
        let counts = [(Action::Alloc, 3), (Action::FreeRequested, 1), (Action::FreeCompleted, 4)];
        let segment_counts = [(Action::SegmentAlloc, 1), (Action::SegmentFree, 1)];
        let expected = Summary {
            device: 0,
            events: 10,
            actions: [counts.as_slice(), &segment_counts].concat(),
            segments: 1,
            blocks: 1,
            reserved_bytes: 1024,
            allocated_bytes: 512,
            active_bytes: 512,
            initial_bytes: 11,
            peak_live_bytes: 112,
            peak_event: 5,
            end_live_bytes: 107,
            peak_reserved_bytes: 1536,
            unmatched_frees: 2,
        };
        assert_eq!(summary, expected);
        let names = r#""actions":{"alloc":3,"free_completed":4,"free_requested":1,"segment_alloc":1,"segment_free":1}"#;
        assert!(serde_json::to_string(&summary).unwrap().contains(names));
    }

    #[test]
    fn a_peak_before_the_trace_is_event_minus_one() {
        let summary = summary("free_completed a 5\nalloc a 5\nfree_completed a");
        assert_eq!((summary.peak_live_bytes, summary.peak_event), (5, -1));
    }

    #[test]
    fn an_empty_device_has_no_bytes() {
        assert_eq!(summary(""), Summary { peak_event: -1, ..Summary::default() });
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let huge = "segment s 17179869183GiB\nblock b 17179869183GiB\n".repeat(3);
        let summary = summary(&format!("segment_alloc s 17179869183GiB\nalloc c 17179869183GiB\n{huge}"));
        assert_eq!(summary.reserved_bytes, u64::MAX);
        assert!(summary.peak_live_bytes <= i64::MAX as u64);
    }
}
