//! Stores what a trace says about memory, and groups what is live at a peak by the operator that allocated it.

use hashbrown::HashMap;
use shared::base::{ShortSort, StringId};

/// Memory events of a trace, with the spans around them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Devices with memory events, in the order of their first one.
    pub courses: Vec<Course>,
    /// Starts and ends of the profiler's steps in microseconds, in the order of their starts.
    pub steps: Vec<(f64, f64)>,
    /// What ran, in rows.
    pub lanes: Vec<Lane>,
    /// Copies between host and GPU that the program waits for, in the order of their times.
    pub transfers: Vec<Transfer>,
    /// Outermost operators that allocated memory.
    pub operations: Vec<Operation>,
    /// True if the trace has kernels of the GPU.
    pub has_kernels: bool,
    /// Names of operators, functions and annotations, in the order of their ids.
    pub(super) names: Vec<String>,
    /// Number of events of any kind.
    pub events: u64,
    /// True if the file ends within the list of events, as when the profiler was killed.
    pub is_cut: bool,
    /// True if times are microseconds since the Unix epoch.
    pub has_dates: bool,
    /// Number of memory events and spans beyond those that are kept.
    pub left_out: u64,
}

impl Profile {
    pub fn name(&self, id: StringId) -> &str {
        self.names.get(id.index()).map_or("", String::as_str)
    }

    /// Returns true if the trace has no memory events.
    pub fn is_empty(&self) -> bool {
        self.courses.is_empty()
    }
}

/// Memory events of one device, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// CUDA index; `None` for the host.
    pub gpu: Option<u32>,
    pub events: Vec<MemoryEvent>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryEvent {
    pub time_us: f64,
    pub addr: u64,
    /// Bytes that were allocated, negative for a free.
    pub bytes: i64,
    /// Memory of all tensors after the event; 0 if the allocator does not tell it.
    pub allocated_bytes: u64,
    /// Memory that the allocator holds after the event; 0 for the host.
    pub reserved_bytes: u64,
    pub(super) thread: u64,
    /// Innermost operator or annotation around the event.
    pub operator: Option<StringId>,
    /// Innermost function of the user's own code around the event.
    pub function: Option<StringId>,
    pub origin: Origin,
    /// Position of the outermost operator around an allocation in the operations of the trace.
    pub operation: Option<u32>,
}

/// Call of an operator that no other operator called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    pub name: StringId,
    /// Time of the kernels that it launched, in microseconds.
    pub kernels_us: f64,
}

/// What an allocation is for, as far as operators tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Other,
    /// The copy that `contiguous()` makes.
    Contiguous,
    /// A tensor that a function of the user's own code creates by its size, as `torch.zeros` does.
    Created,
}

/// Row of spans in the order of their times.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    pub kind: LaneKind,
    pub spans: Vec<LaneSpan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    Steps,
    Annotations,
    Kernels,
}

shared::names!(LaneKind {
    Steps => "steps",
    Annotations => "annotations",
    Kernels => "kernels",
});

/// One span, or several that are close together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneSpan {
    /// Name of the first one.
    pub name: StringId,
    pub start_us: f64,
    pub end_us: f64,
    pub count: u64,
}

/// Copy between host and GPU that the program waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    pub time_us: f64,
    pub direction: Direction,
    pub bytes: u64,
    /// Time that the program spent in the copy and in waiting for it.
    pub wait_us: f64,
    /// Outermost operator around the copy.
    pub operator: Option<StringId>,
    /// Innermost function of the user's own code around the copy, or else the innermost annotation.
    pub place: Option<StringId>,
    /// Number of modules around the copy, such as the model and a layer of it.
    pub modules: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the GPU, from memory of the host that is not pinned.
    FromPageable,
    /// To the host.
    ToPageable,
    /// To pinned memory of the host.
    ToPinned,
}

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
    groups.short_sort_by_key(|group| (std::cmp::Reverse(group.bytes), group.operator, group.function));
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
