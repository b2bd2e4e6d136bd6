//! Groups the memory that is live at the peak of a course by the operator that allocated it.

use super::trace::Course;
use crate::base::StringId;
use hashbrown::HashMap;

/// Memory of one operator and function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveGroup {
    pub operator: Option<StringId>,
    pub function: Option<StringId>,
    pub bytes: u64,
    pub count: u64,
}

/// Returns the position of the event after which the most memory is allocated, and what is live then, the most first.
///
/// Memory from before the trace is in no group. `None` for a course without events.
pub fn live_groups(course: &Course) -> Option<(usize, Vec<LiveGroup>)> {
    let totals = course.heights();
    let peak = (0..totals.len()).rev().max_by_key(|&event| totals[event])?;
    let mut live: HashMap<u64, usize> = HashMap::new();
    for (position, event) in course.events[..=peak].iter().enumerate() {
        if event.bytes > 0 {
            live.insert(event.addr, position);
        } else {
            live.remove(&event.addr);
        }
    }
    let mut groups: HashMap<(Option<StringId>, Option<StringId>), (u64, u64)> = HashMap::new();
    for position in live.into_values() {
        let event = &course.events[position];
        let (bytes, count) = groups.entry((event.operator, event.function)).or_default();
        (*bytes, *count) = (*bytes + event.bytes.unsigned_abs(), *count + 1);
    }
    let mut groups: Vec<LiveGroup> = groups
        .into_iter()
        .map(|((operator, function), (bytes, count))| LiveGroup { operator, function, bytes, count })
        .collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.bytes), group.operator, group.function));
    Some((peak, groups))
}

impl Course {
    /// Returns the allocated bytes after each event: as the allocator tells them, or summed from the lowest point on.
    pub fn heights(&self) -> Vec<u64> {
        if self.events.iter().any(|event| event.allocated_bytes > 0) {
            return self.events.iter().map(|event| event.allocated_bytes).collect();
        }
        let mut sum = 0_i64;
        let sums: Vec<i64> = self
            .events
            .iter()
            .map(|event| {
                sum = sum.saturating_add(event.bytes);
                sum
            })
            .collect();
        let lowest = sums.iter().copied().min().unwrap_or(0).min(0);
        sums.into_iter().map(|sum| sum.saturating_sub(lowest).unsigned_abs()).collect()
    }
}
