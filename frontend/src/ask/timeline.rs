//! Defines the view of the timeline, and answers about its moments, allocations, areas, categories and marks, and about
//! its curve among those of other devices.

use super::kind::{Kind, Marking};
use serde::{Deserialize, Serialize};
use shared::analysis::{AllocationKey, AreaBy, Category, PhaseBasis, PictureRequest};
use shared::base::StackLabel;
use shared::draw::scheme::Scheme;
pub use shared::draw::shade::ColorBy;
use shared::report::Frame;

/// Part of the timeline, and how it is drawn on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Part of the timeline, and its device pixels.
    pub request: PictureRequest,
    /// Device pixels per CSS pixel.
    pub pixel_ratio: f64,
    pub color: ColorBy,
    pub scheme: Scheme,
    /// What is set apart from the rest.
    pub marking: Marking,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentFacts {
    pub moment: u32,
    /// Position on the axis: the middle of the moment.
    pub position: f64,
    /// Microseconds since the first event, if the trace has times.
    pub time_us: Option<u64>,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
}

/// Moment and allocation under a point of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    pub moment: u32,
    /// Time of that moment in microseconds since the first event, if the trace has times.
    pub time_us: Option<u64>,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
    /// Allocation under the point, `None` above the outline and in a picture of areas.
    pub allocation: Option<HitAllocation>,
    /// Area under the point, in a picture of areas.
    pub area: Option<AreaRow>,
}

/// Allocation under a point, with the properties that a tooltip shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitAllocation {
    pub allocation: u32,
    /// Requested size.
    pub size_bytes: u64,
    /// Bytes below it in the stack of allocations at that moment.
    pub below_bytes: u64,
    /// First moment at which it is alive.
    pub born: u32,
    /// First moment at which it is no longer alive, `None` if it outlives the trace.
    pub died: Option<u32>,
    /// Lifetime in microseconds, within the trace.
    pub lifetime_us: Option<u64>,
    /// True if it is from before the trace.
    pub is_initial: bool,
    /// Label of its stack, `None` without a stack.
    pub label: Option<StackLabel>,
}

impl HitAllocation {
    /// Returns the key of the allocation that is valid in every copy of the file.
    pub fn key(&self) -> AllocationKey {
        match self.is_initial {
            true => AllocationKey::Initial(self.allocation),
            false => AllocationKey::Event(self.born.saturating_sub(1)),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    pub allocation: u32,
    /// Requested size.
    pub size_bytes: u64,
    pub addr: u64,
    /// Raw stream handle, if an event or a segment records it.
    pub stream: Option<u64>,
    /// Pool, if an event or a segment records it; `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    /// First moment at which it is alive, 0 if it is from before the trace.
    pub born: u32,
    /// First moment at which it is no longer alive, `None` if it outlives the trace.
    pub died: Option<u32>,
    /// Time of its `alloc` in microseconds since the first event.
    pub born_us: Option<u64>,
    /// Time of its free in microseconds since the first event.
    pub died_us: Option<u64>,
    /// True if it is from before the trace.
    pub is_initial: bool,
    /// Names that annotations give to it, except for those of holders.
    pub names: Vec<String>,
    /// Who held it when the snapshot was taken, if the recorder looked for that; true if it led to an autograd graph.
    pub holder: Option<(String, bool)>,
    /// Names of the spans around its `alloc`, outermost first.
    pub spans: Vec<String>,
    /// Category that a profiler assigned, or empty.
    pub category: String,
    /// Text of the user, or empty.
    pub user_metadata: String,
    /// Tag of the allocator, or empty.
    pub internal_metadata: String,
    /// Compiled region, or empty.
    pub compile_context: String,
    /// Stack of the forward pass that led to a backward event, innermost last, or empty.
    pub forward_frames: Vec<String>,
    /// Stack, innermost frame first.
    pub frames: Vec<Frame>,
    /// True if the stack is that of the free, because no other was recorded.
    pub is_free_stack: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    /// Annotated spans, by start and then by depth.
    pub spans: Vec<Span>,
    /// `oom` and `snapshot` events, by moment.
    pub marks: Vec<Mark>,
    /// True if steps will be inferred, because no spans name them.
    pub awaits_steps: bool,
    /// True if phases will be inferred, because no spans name them.
    pub awaits_phases: bool,
}

/// Annotated span, such as `ProfilerStep#3`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    pub name: String,
    pub start_moment: u32,
    pub end_moment: u32,
    /// Start in microseconds since the first event; negative if before it.
    pub start_us: i64,
    /// End in microseconds since the first event.
    pub end_us: i64,
    /// Number of spans around it.
    pub depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    Oom,
    Snapshot,
}

/// Single event that the timeline marks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    pub kind: MarkKind,
    /// Moment after the event.
    pub moment: u32,
    /// Time in microseconds since the first event, if the trace has times.
    pub time_us: Option<u64>,
    /// Rounded request of an `oom`, or active bytes at a snapshot.
    pub size_bytes: u64,
    /// Free bytes of the device at an `oom`.
    pub free_bytes: Option<u64>,
}

/// Live bytes of a device over the whole trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StripData {
    /// Times of the first and of the last event in microseconds of the process's clock; `None` if events have no times,
    /// and columns have equal numbers of events.
    pub clock_us: Option<(i64, i64)>,
    /// Highest live bytes of each column.
    pub bytes: Vec<u64>,
    /// Places of out-of-memory errors, from 0 to 1.
    pub ooms: Vec<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AreaRow {
    pub label: String,
    /// Number from which the colour is chosen.
    pub color: u32,
    pub bytes: u64,
    /// Kind that selects its allocations; the rest has none.
    pub kind: Option<Kind>,
    pub is_selected: bool,
}

/// Returns the property by which the areas of a colouring are formed; `None` for colourings without areas.
pub fn area_by(color: ColorBy) -> Option<AreaBy> {
    match color {
        ColorBy::Stack | ColorBy::Category => None,
        ColorBy::AreaCategory => Some(AreaBy::Category),
        ColorBy::AreaModule => Some(AreaBy::Module),
        ColorBy::AreaFunction => Some(AreaBy::Function),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CategoryBytes {
    pub moment: u32,
    /// Bytes from before the trace, of any category, because they are drawn as a single band.
    pub initial_bytes: u64,
    /// Other bytes by category.
    ///
    /// All categories that occur in the trace are listed, even those without bytes at this moment.
    pub rows: Vec<(Category, u64)>,
    /// Evidence for the phases from which categories were inferred.
    pub basis: PhaseBasis,
}
