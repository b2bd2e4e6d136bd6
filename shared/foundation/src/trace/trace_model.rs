//! Defines the model of one whole snapshot, with the allocator's recorded settings, and of the part of one device.
//!
//! [`PartOf`] has facts about the rest of a trace of which only a part is open.

use super::{Action, ContextTable, EventTable, FrameId, FrameTable, OwnFrames, SegmentTable, StackId, StackTable};
use crate::base::stack_label::{FrameKind, FrameText, Labelled};
use crate::base::{Diagnostic, OwnCode, ShortSort, StringId, StringTable};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Container {
    /// No container: the file is the snapshot itself.
    #[default]
    Raw,
    Gzip,
    /// HTML page of `torch.cuda._memory_viz trace_plot` or `segment_plot`, with the snapshot in base64.
    Html,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Pickle of this protocol, 0 to 5.
    Pickle(u8),
    /// JSON text, as MTIA's on-demand mode writes.
    #[default]
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    pub container: Container,
    pub encoding: Encoding,
}

/// Decoded snapshot: columns, tables and diagnostics.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub format: Format,
    pub strings: StringTable,
    pub frames: FrameTable,
    pub stacks: StackTable,
    /// Every distinct combination of stream, pool and texts.
    pub contexts: ContextTable,
    /// One device per index of `device_traces` and per device with segments, by ascending index.
    pub devices: Vec<Device>,
    /// Pinned host memory (torch 2.14 on).
    pub host: Option<Device>,
    /// `external_annotations` in the order of the file.
    pub annotations: Vec<Annotation>,
    pub settings: Settings,
    pub diagnostics: Vec<Diagnostic>,
    /// What counts as the user's own code; no part of the file.
    pub own_frames: OwnFrames,
}

impl Trace {
    pub fn device(&self, index: i64) -> Option<&Device> {
        self.devices.iter().find(|device| device.index == index)
    }

    /// Checks every invariant of the model, and panics with the name of the first one that does not hold.
    pub fn check(&self) {
        let Self { format: _, strings, frames, stacks, contexts, devices, host, annotations, .. } = self;
        let Self { settings: _, diagnostics, own_frames: _, .. } = self;
        let known = |id: StringId| id.index() < strings.len();
        stacks.check(frames.len());
        for frame in frames.iter() {
            assert!(known(frame.name) && known(frame.filename), "string handle of a frame");
            if let Some(fx) = frame.fx {
                assert!([fx.op, fx.name, fx.target, fx.original_trace].into_iter().all(known), "string handle of fx");
            }
        }
        contexts.check(strings.len());
        assert!(devices.is_sorted_by(|a, b| a.index < b.index), "devices ascend");
        for device in devices.iter().chain(host) {
            device.events.check(stacks.len(), contexts.len());
            device.segments.check(stacks.len());
            if let Some(part) = &device.part {
                part.check(device.events.len(), device.segments.blocks.len(), stacks.len());
            }
        }
        assert!(annotations.iter().all(|annotation| known(annotation.name)), "string handle of an annotation");
        assert!(diagnostics.iter().all(|diagnostic| diagnostic.count > 0), "a diagnostic counts something");
    }
}

/// End of a span that an annotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    Start,
    End,
}

/// One end of a named span, such as `ProfilerStep#3` or `Optimizer.step#AdamW.step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub stage: Stage,
    pub name: StringId,
    /// Device index that was current at the time of the mark.
    pub device: i64,
    /// Microseconds since the Unix epoch, on the same clock as the events.
    pub time_us: i64,
}

/// Trace and final state of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// CUDA device index; -1 for pinned host memory.
    pub index: i64,
    pub events: EventTable,
    /// Segments and blocks at the time of the snapshot, or at the end of the part.
    pub segments: SegmentTable,
    /// Facts about the rest of the trace, if the events are only a part of it.
    pub part: Option<Box<PartOf>>,
}

impl Trace {
    pub fn own_code(&self) -> &OwnCode {
        self.own_frames.rule()
    }

    pub fn set_own_code(&mut self, rule: OwnCode) {
        self.own_frames = OwnFrames::new(rule);
    }

    pub fn frame_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = |id| self.strings.get(id);
        self.frames.iter().map(move |frame| (text(frame.name), text(frame.filename)))
    }

    pub fn frame_kind(&self, frame: FrameId) -> FrameKind {
        let kinds = self.own_frames.kinds(&self.frames, &self.strings);
        let added = || self.own_frames.kind_of(self.frames.get(frame), &self.strings);
        kinds.get(frame.index()).copied().unwrap_or_else(added)
    }

    pub fn frame_text(&self, id: FrameId) -> FrameText<'_> {
        let frame = self.frames.get(id);
        (self.strings.get(frame.name), self.strings.get(frame.filename), frame.line)
    }

    pub fn labelled(&self, stack: StackId) -> Labelled<'_> {
        let ids = self.stacks.frames(stack).iter();
        Labelled::new(
            ids.clone().map(|&id| self.frame_text(id)).collect(),
            ids.map(|&id| self.frame_kind(id)).collect(),
        )
    }
}

/// Value of an allocator setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Bool(bool),
    /// Integer, -1 for "unlimited" where PyTorch uses that.
    Int(i64),
    Float(f64),
    /// String, such as `PYTORCH_CUDA_ALLOC_CONF`.
    Text(String),
    /// Table, such as `roundup_power2_divisions`.
    Table(Vec<(String, i64)>),
}

impl Setting {
    /// Builds a table in the order of its keys: numeric keys first and by value, then the others.
    pub fn table(rows: BTreeMap<String, i64>) -> Self {
        let mut rows: Vec<_> = rows.into_iter().collect();
        // The keys of roundup_power2_divisions are numbers.
        rows.short_sort_by_key(|(key, _)| key.parse::<u64>().unwrap_or(u64::MAX));
        Self::Table(rows)
    }
}

/// Formats the value as Python prints it.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Table(rows) => {
                let rows: Vec<String> = rows.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                f.write_str(&rows.join(", "))
            }
        }
    }
}

/// Contents of `allocator_settings` (torch 2.3 on), ordered by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub entries: Vec<(String, Setting)>,
}

impl Settings {
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// Facts about the whole trace that the events of a device are a part of.
///
/// The segments and blocks of such a device are those at the end of the part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartOf {
    /// Number of events before the part.
    pub first_event: u32,
    /// Number of events in the whole trace.
    pub total_events: u32,
    /// Action that ends lifetimes in the whole trace.
    pub freeing: Action,
    /// Allocations from before the part that outlive it.
    pub older: Vec<OlderBlock>,
    /// Allocations from before the part that it frees and whose `alloc` is in the whole trace, by ascending event.
    pub freed: Vec<FreedEarlier>,
}

/// Allocation from before a part that outlives it, with the requested size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OlderBlock {
    /// Index of its block in the segment table.
    pub block: u32,
    pub size_bytes: u64,
}

/// Allocation from before a part that is freed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreedEarlier {
    /// Index in the part of the event that frees it.
    pub event: u32,
    /// Requested size.
    pub size_bytes: u64,
    pub stack: StackId,
}

impl PartOf {
    /// Returns the allocation from before the part that an event frees, if its `alloc` is known.
    pub fn freed_by(&self, event: usize) -> Option<&FreedEarlier> {
        let at = self.freed.binary_search_by_key(&event, |freed| freed.event as usize).ok()?;
        self.freed.get(at)
    }

    /// Panics unless all handles and positions are below the given numbers.
    pub(super) fn check(&self, events: usize, blocks: usize, stacks: usize) {
        let Self { first_event, total_events, freeing: _, older, freed } = self;
        assert!(*first_event as usize + events <= *total_events as usize, "a part is within its trace");
        assert!(older.iter().all(|older| (older.block as usize) < blocks), "block of an older allocation");
        assert!(freed.is_sorted_by(|a, b| a.event < b.event), "frees ascend");
        assert!(freed.iter().all(|freed| (freed.event as usize) < events), "event of a free");
        assert!(freed.iter().all(|freed| freed.stack.index() < stacks), "stack handle of a freed allocation");
    }
}
