//! The model of one whole snapshot.

use super::{Annotation, ContextTable, Device, FrameTable, OwnFrames, Settings, StackTable};
use crate::base::{Diagnostic, StringTable};

/// Outermost container of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Container {
    /// No container: the file is the snapshot itself.
    #[default]
    Raw,
    Gzip,
    /// HTML page of `torch.cuda._memory_viz trace_plot` or `segment_plot`, with the snapshot in base64.
    Html,
}

/// Encoding of the snapshot itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Pickle of this protocol, 0 to 5.
    Pickle(u8),
    /// JSON text, as MTIA's on-demand mode writes.
    #[default]
    Json,
}

/// File format of a snapshot.
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
    /// Returns the device with this index.
    pub fn device(&self, index: i64) -> Option<&Device> {
        self.devices.iter().find(|device| device.index == index)
    }

    /// Checks every invariant of the model.
    ///
    /// # Panics
    /// Panics with the name of the first invariant that does not hold.
    pub fn check(&self) {
        let Self { format: _, strings, frames, stacks, contexts, devices, host, annotations, .. } = self;
        let Self { settings: _, diagnostics, own_frames: _, .. } = self;
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
