//! Questions that the page asks a file's worker, and the answers.
//!
//! The page numbers its questions, and an answer carries its question's number back.
//! `device` is always a position in [`FileSummary::devices`](super::FileSummary), not a CUDA index.

use super::allocations_data::{AllocationsAnswer, AllocationsQuestion};
use super::categories_data::{CategoryBytes, ColorBy};
use super::compare_data::{CompareAnswer, CompareQuestion};
use super::copy::{CopyOptions, CopyPreview};
use super::export_data::ExportOrder;
use super::flame_data::{FlameAnswer, FlameQuestion};
use super::part_data::{PartOrder, PreviewData};
use super::parts_data::Parts;
use super::picture_data::PictureData;
use super::segments_data::{Instant, SegmentsData};
use super::sheet_data::SheetOrder;
use super::summary::{DeviceFigures, FileSummary, Notice};
use super::what_if_data::{WhatIfAnswer, WhatIfQuestion};
use serde::{Deserialize, Serialize};
use shared::analysis::Axis;
use shared::report::{Diagnosis, Frame};

/// A part of the timeline and the device pixels that it is drawn on.
///
/// It is `shared::analysis::PictureRequest` as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// The unit of `x0` and `x1`.
    pub axis: Axis,
    /// Left edge, in units of the axis.
    pub x0: f64,
    /// Right edge, in units of the axis.
    pub x1: f64,
    /// Bottom edge in bytes.
    pub y0: f64,
    /// Top edge in bytes.
    pub y1: f64,
    /// Device pixels between `x0` and `x1`.
    pub width_px: u32,
    /// Device pixels between `y0` and `y1`.
    pub height_px: u32,
    /// Device pixels to a CSS pixel.
    pub pixel_ratio: f64,
    /// What colours tell apart.
    pub color: ColorBy,
}

/// An allocation in every copy of a file, clean ones included: those have the same events and blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AllocationKey {
    /// One from before the trace, by its position among those.
    Initial(u32),
    /// One of the trace, by the index of its `alloc` event.
    Event(u32),
}

/// What the page can ask once a file is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// The bands of a view; a newer one makes the worker skip those that still wait.
    Picture {
        /// Position of the device.
        device: u32,
        /// What to draw.
        view: View,
    },
    /// The live and reserved outline of the whole trace, for the minimap.
    Outline {
        /// Position of the device.
        device: u32,
        /// The unit of x.
        axis: Axis,
        /// Device pixels across the whole trace.
        columns: u32,
    },
    /// What lies under a point; a newer one makes the worker skip those that still wait.
    Hit {
        /// Position of the device.
        device: u32,
        /// The unit of `x`.
        axis: Axis,
        /// The place along the axis.
        x: f64,
        /// The height in bytes.
        bytes: f64,
        /// How much of the axis a device pixel of the picture shows.
        units_per_px: f64,
    },
    /// Where a moment lies on the axis.
    Place {
        /// Position of the device.
        device: u32,
        /// The unit of the answer.
        axis: Axis,
        /// The moment.
        moment: u32,
    },
    /// What a point on an allocation would show, at a moment.
    Find {
        /// Position of the device.
        device: u32,
        /// The allocation.
        key: AllocationKey,
        /// The moment.
        moment: u32,
    },
    /// Everything about one allocation.
    Details {
        /// Position of the device.
        device: u32,
        /// Position of the allocation, as bands and hits give it.
        allocation: u32,
    },
    /// The stacks that hold the live bytes of a moment, largest first.
    Stacks {
        /// Position of the device.
        device: u32,
        /// The moment.
        moment: u32,
        /// How many rows at most.
        limit: u32,
    },
    /// Annotated spans and single marks.
    Marks {
        /// Position of the device.
        device: u32,
    },
    /// Stacks as a flame graph or a table of sites.
    Flame {
        /// Position of the device.
        device: u32,
        /// What of it.
        question: Box<FlameQuestion>,
    },
    /// Tables of allocations.
    Allocations {
        /// Position of the device.
        device: u32,
        /// What about them.
        question: AllocationsQuestion,
    },
    /// What the live bytes of a moment are for.
    Categories {
        /// Position of the device.
        device: u32,
        /// The moment.
        moment: u32,
    },
    /// The segments of a moment; a newer one makes the worker skip those that still wait.
    Segments {
        /// Position of the device.
        device: u32,
        /// The moment.
        instant: Instant,
    },
    /// Something about comparing.
    Compare {
        /// Position of the device.
        device: u32,
        /// What to compare.
        question: CompareQuestion,
    },
    /// What a clean copy of the file would leave out.
    Preview(CopyOptions),
    /// A clean copy of the file, compressed; the bytes come as a `Blob`, which no message is made of.
    Copy(CopyOptions),
    /// The requests of a device under other settings or on another card.
    WhatIf {
        /// Position of the device.
        device: u32,
        /// What about them.
        question: WhatIfQuestion,
    },
    /// The file in another form; the bytes come as those of a copy do.
    Export(ExportOrder),
    /// A table as it is on the screen, as a file; the bytes come as those of a copy do.
    Sheet(Box<SheetOrder>),
    /// What is found where the card is this one; a newer one makes the worker skip those that still wait.
    Findings {
        /// The card's memory, `None` for an unknown card.
        capacity_bytes: Option<u64>,
    },
}

/// An answer to a [`Question`] of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The rectangles and curves.
    Picture(PictureData),
    /// The curves of the whole trace, in a picture without bands.
    Outline(PictureData),
    /// What is under the point.
    Hit(Hit),
    /// The middle of the moment, in units of the axis.
    Place(f64),
    /// One allocation.
    Details(Box<Details>),
    /// Stacks at a moment.
    Stacks(Stacks),
    /// Spans and marks.
    Marks(Marks),
    /// A flame graph, or a part of one.
    Flame(FlameAnswer),
    /// Tables of allocations.
    Allocations(AllocationsAnswer),
    /// Bytes by category.
    Categories(CategoryBytes),
    /// Segments and blocks.
    Segments(Box<SegmentsData>),
    /// Something about comparing.
    Compare(CompareAnswer),
    /// What a copy leaves out.
    Preview(Box<CopyPreview>),
    /// A replay.
    WhatIf(WhatIfAnswer),
    /// What was found.
    Findings(Box<Diagnosis>),
    /// A newer question of the same kind came before this one was looked at.
    Superseded,
    /// The question can't be answered, and why; only a mistake of the page leads here.
    Refused(String),
}

/// Everything that the page says to a worker, apart from the `File` object itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Read the snapshot behind this address.
    Fetch(String),
    /// Look at what the file holds without opening it; whatever is being read or open is given up.
    Survey,
    /// Open some events of the file, or all of it; whatever is open is given up.
    Open(Option<PartOrder>),
    /// Keep a copy of the file's bytes for a reload, while nothing else is to be done.
    Keep {
        /// The folder of the tab.
        session: String,
        /// The name of the copy.
        key: String,
    },
    /// Answer a question, under this number.
    Ask(u32, Question),
}

/// Everything that a worker says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// Bytes of the file read so far.
    Progress {
        /// Bytes read.
        seen_bytes: u64,
        /// Length of the file, 0 while it is not known.
        total_bytes: u64,
    },
    /// The curves of what has been read so far, of a file that takes a while.
    Preview(Box<PreviewData>),
    /// The file is only looked through from now on, for a part of it to be chosen.
    Surveying,
    /// What the file holds, for whoever wants a part of it; nothing is open now.
    Surveyed(Box<PreviewData>),
    /// The file is decoded, and what is in it.
    Opened(Box<FileSummary>),
    /// The figures of one device are ready; those of all devices follow [`Report::Opened`].
    Figures(DeviceFigures),
    /// All that is odd about the file, once the lifetimes of all devices are known; it replaces the summary's list.
    Notices(Vec<Notice>),
    /// The steps and phases of one device; those of all GPUs follow [`Report::Notices`].
    Parts(Parts),
    /// What was found on all GPUs: the last of the reports about a file.
    Findings(Diagnosis),
    /// Whether a copy of the file's bytes is kept now.
    Kept(bool),
    /// The worker has no decoder, since its module could not be loaded; the page says so in its place.
    NoDecoder,
    /// The file could not be read.
    Failed {
        /// The decoder's word for it, such as `git-lfs-pointer`; empty for what is no error of a file.
        code: String,
        /// What is wrong: one sentence without its full stop.
        message: String,
        /// Byte offset in the file or in its decompressed content, where it is known.
        offset: Option<u64>,
        /// What to do: one sentence.
        hint: String,
    },
    /// The worker ended without a word; what the browser says of it.
    Stopped(String),
    /// An answer to the question with this number.
    Answer(u32, Answer),
    /// Which share is done of the copy that the question with this number asks for.
    Copying(u32, f64),
}

impl Report {
    /// What a panic of the decoder comes to, given its words.
    ///
    /// A list that would have no room in the address space panics; any other lack of memory ends the worker without one.
    pub fn of_panic(words: &str) -> Self {
        if words.contains("capacity overflow") {
            return Self::Stopped(words.to_owned());
        }
        let message = format!("The decoder stopped unexpectedly: {words}");
        let hint = "This is a mistake of Snapscope: please report it with this text.".to_owned();
        Self::Failed { code: String::new(), message, offset: None, hint }
    }

    /// Whether nothing more is read of the file, for better or worse.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Opened(_) | Self::Surveyed(_) | Self::Failed { .. } | Self::NoDecoder | Self::Stopped(_))
    }
}

/// What lies under a point of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The moment of the point.
    pub moment: u32,
    /// Microseconds of that moment since the first event, in a trace with times.
    pub time_us: Option<u64>,
    /// Live bytes at the moment.
    pub live_bytes: u64,
    /// Reserved bytes at the moment.
    pub reserved_bytes: u64,
    /// The allocation there, none above the outline.
    pub allocation: Option<HitAllocation>,
}

/// An allocation under a point, as much of it as a tooltip shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitAllocation {
    /// Its position.
    pub allocation: u32,
    /// The requested size.
    pub size_bytes: u64,
    /// Bytes below it in the stack at that moment.
    pub below_bytes: u64,
    /// First moment at which it is alive.
    pub born: u32,
    /// First moment at which it is not alive any more, `None` if it outlives the trace.
    pub died: Option<u32>,
    /// How long it lived in microseconds, within the trace.
    pub lifetime_us: Option<u64>,
    /// Whether it is from before the trace.
    pub is_initial: bool,
    /// The innermost frame that is not the runtime's, if there is a stack.
    pub frame: Option<Frame>,
}

impl HitAllocation {
    /// What it is called in every copy of the file.
    pub fn key(&self) -> AllocationKey {
        match self.is_initial {
            true => AllocationKey::Initial(self.allocation),
            false => AllocationKey::Event(self.born.saturating_sub(1)),
        }
    }
}

/// Everything about one allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// Its position.
    pub allocation: u32,
    /// The requested size.
    pub size_bytes: u64,
    /// The address.
    pub addr: u64,
    /// The raw stream handle, where an event tells it.
    pub stream: Option<u64>,
    /// The private pool, where the event names one; `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    /// First moment at which it is alive, 0 if it is from before the trace.
    pub born: u32,
    /// First moment at which it is not alive any more, `None` if it outlives the trace.
    pub died: Option<u32>,
    /// Microseconds of its `alloc` since the first event.
    pub born_us: Option<u64>,
    /// Microseconds of its free since the first event.
    pub died_us: Option<u64>,
    /// Whether it is from before the trace.
    pub is_initial: bool,
    /// The spans around its `alloc`, outermost first.
    pub spans: Vec<String>,
    /// The category that a profiler gave it, or empty.
    pub category: String,
    /// The user's text, or empty.
    pub user_metadata: String,
    /// The allocator's tag, or empty.
    pub internal_metadata: String,
    /// The compiled region, or empty.
    pub compile_context: String,
    /// The stack of the forward pass behind a backward event, innermost last, or empty.
    pub forward_frames: Vec<String>,
    /// The stack, innermost first.
    pub frames: Vec<Frame>,
    /// Whether the stack is that of the free, since only that one was recorded.
    pub is_free_stack: bool,
}

/// The stacks that hold the live bytes of a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// The moment.
    pub moment: u32,
    /// Live bytes at the moment.
    pub live_bytes: u64,
    /// The largest ones, by bytes, falling.
    pub rows: Vec<StackRow>,
    /// How many stacks are not among the rows.
    pub other_stacks: u64,
    /// What those hold together.
    pub other_bytes: u64,
}

/// What one stack holds at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StackRow {
    /// Live bytes.
    pub bytes: u64,
    /// Live allocations.
    pub count: u64,
    /// The stack, innermost first; empty where none was recorded.
    pub frames: Vec<Frame>,
}

/// Spans and single marks of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    /// Annotated spans, by start and then by depth.
    pub spans: Vec<Span>,
    /// `oom` and `snapshot` events, by moment.
    pub marks: Vec<Mark>,
    /// Whether steps are to be found, since no spans name them.
    pub awaits_steps: bool,
    /// Whether phases are to be found, since no spans name them.
    pub awaits_phases: bool,
}

/// One annotated span, such as `ProfilerStep#3`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The name.
    pub name: String,
    /// Moment of the start.
    pub start_moment: u32,
    /// Moment of the end.
    pub end_moment: u32,
    /// Microseconds of the start since the first event; negative if before it.
    pub start_us: i64,
    /// Microseconds of the end since the first event.
    pub end_us: i64,
    /// How many spans are around it.
    pub depth: u32,
}

/// What a [`Mark`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    /// Out of memory was raised.
    Oom,
    /// A snapshot was taken.
    Snapshot,
}

/// A single event that the timeline marks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// What happened.
    pub kind: MarkKind,
    /// The moment after the event.
    pub moment: u32,
    /// Microseconds since the first event, in a trace with times.
    pub time_us: Option<u64>,
    /// The rounded request of an `oom`, the active bytes at a snapshot.
    pub size_bytes: u64,
    /// Free bytes of the device at an `oom`.
    pub free_bytes: Option<u64>,
}
