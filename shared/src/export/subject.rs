//! What exports for people and other programs are made from.

use crate::analysis::{Finding, FindingsConfig, Study, Timeline, findings, stack_title};
use crate::base::StringId;
use crate::trace::{Device, StackId, Trace};

/// A snapshot, and those of its devices that an export is about, with their timelines.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What the file is called.
    pub file: &'a str,
    /// The snapshot.
    pub trace: &'a Trace,
    /// The devices in their order.
    pub devices: &'a [(&'a Device, &'a Timeline)],
    /// The moment that an export of one moment is of; `None` for the peak of each device.
    pub moment: Option<u32>,
    /// Memory of the card that findings are measured against; `None` for an unknown card.
    pub capacity_bytes: Option<u64>,
}

impl<'a> Subject<'a> {
    /// The moment that an export of one moment is of.
    pub(super) fn moment_of(&self, timeline: &Timeline) -> u32 {
        self.moment.map_or(timeline.live_peak().0, |moment| moment.min(timeline.events()))
    }

    /// Everything that is found on the devices.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let config = FindingsConfig { capacity_bytes: self.capacity_bytes, ..FindingsConfig::default() };
        findings(self.trace, self.devices, &config)
    }

    /// What was found out about each device.
    pub(super) fn studies(&self) -> impl Iterator<Item = Study<'a>> + use<'a> {
        let trace = self.trace;
        self.devices.iter().map(move |&(device, timeline)| Study::new(trace, device, timeline))
    }

    /// A text of the snapshot.
    pub(super) fn text(&self, id: StringId) -> &'a str {
        self.trace.strings.get(id)
    }

    /// What a stack is about, in a few words.
    pub(super) fn title(&self, stack: StackId) -> String {
        stack_title(self.trace, stack).unwrap_or_else(|| "no stack recorded".to_owned())
    }

    /// The frames of a stack, innermost first: function, file and line.
    pub(super) fn frames(&self, stack: StackId) -> impl DoubleEndedIterator<Item = (&'a str, &'a str, u64)> + use<'a> {
        let trace = self.trace;
        trace.stacks.frames(stack).iter().map(move |&id| {
            let frame = trace.frames.get(id);
            (trace.strings.get(frame.name), trace.strings.get(frame.filename), frame.line)
        })
    }
}

/// The event that leads to a moment, -1 for the initial state.
pub(super) fn event_of(moment: u32) -> i64 {
    i64::from(moment) - 1
}

/// What people call a device.
pub(super) fn device_name(device: &Device) -> String {
    if device.index < 0 { "Pinned host memory".to_owned() } else { format!("GPU {}", device.index) }
}
