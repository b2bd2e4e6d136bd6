//! The whole of one snapshot.

use super::{Annotation, ContextTable, Device, FrameTable, Settings, StackTable};
use crate::base::{Diagnostic, StringTable};

/// What the snapshot was wrapped in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Container {
    /// Nothing: the file starts with the snapshot itself.
    #[default]
    Raw,
    /// gzip.
    Gzip,
    /// A page of `torch.cuda._memory_viz trace_plot` or `segment_plot`, base64 inside HTML.
    Html,
}

/// How the snapshot itself is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// A pickle of this protocol, 0 to 5.
    Pickle(u8),
    /// JSON text, as MTIA's on-demand mode writes.
    #[default]
    Json,
}

/// Where a snapshot came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// The outer wrapping.
    pub container: Container,
    /// The inner language.
    pub encoding: Encoding,
}

/// One decoded snapshot: columns, tables and what was odd about it.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Where it came from.
    pub format: Format,
    /// Every distinct string.
    pub strings: StringTable,
    /// Every distinct frame.
    pub frames: FrameTable,
    /// Every distinct stack.
    pub stacks: StackTable,
    /// Every distinct combination of stream, pool and texts.
    pub contexts: ContextTable,
    /// One per index of `device_traces` and per device that has segments, in ascending order of index.
    pub devices: Vec<Device>,
    /// Pinned host memory (torch 2.14 on).
    pub host: Option<Device>,
    /// `external_annotations` in the order of the file.
    pub annotations: Vec<Annotation>,
    /// `allocator_settings`.
    pub settings: Settings,
    /// What was odd but readable.
    pub diagnostics: Vec<Diagnostic>,
}

impl Trace {
    /// The device with this index.
    pub fn device(&self, index: i64) -> Option<&Device> {
        self.devices.iter().find(|device| device.index == index)
    }

    /// Panics unless every invariant of the model holds.
    ///
    /// # Panics
    /// On the first invariant that does not hold, naming it.
    pub fn check(&self) {
        let Self { format: _, strings, frames, stacks, contexts, devices, host, annotations, settings: _, diagnostics } =
            self;
        let known = |id: crate::base::StringId| id.index() < strings.len();
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
