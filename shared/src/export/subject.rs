//! Holds the input of the exports for people and other programs, and writes their text in pieces, so that a
//! document of millions of rows is never in memory as a whole.

use crate::analysis::{
    Finding, FindingPart, FindingsConfig, Study, Timeline, finding_parts, findings_of, stack_title, studies,
};
use crate::base::StringId;
use crate::trace::{Device, StackId, Trace};
use std::fmt::{Arguments, Write as _};

/// Snapshot with the devices that an export is about and their timelines.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub file: &'a str,
    pub trace: &'a Trace,
    /// Exported devices with their timelines, in the order of the export.
    pub devices: &'a [(&'a Device, &'a Timeline)],
    /// Moment for exports of a single moment; `None` for the peak of each device.
    pub moment: Option<u32>,
    /// Memory of the card against which findings are measured; `None` for an unknown card.
    pub capacity_bytes: Option<u64>,
}

impl<'a> Subject<'a> {
    /// Returns the moment to export for a device, which is at most its last one.
    pub(super) fn moment_of(&self, timeline: &Timeline) -> u32 {
        self.moment.map_or(timeline.live_peak().0, |moment| moment.min(timeline.events()))
    }

    pub(super) fn findings_config(&self) -> FindingsConfig {
        FindingsConfig { capacity_bytes: self.capacity_bytes, ..FindingsConfig::default() }
    }

    /// Returns the findings about all devices, each with its parts.
    pub(super) fn findings(&self) -> Vec<(Finding, Vec<FindingPart>)> {
        let studies = studies(self.trace, self.devices);
        let with_parts = |finding: Finding| {
            let study = studies.iter().find(|study| study.device.index == finding.device);
            let parts = study.map_or_else(Vec::new, |study| finding_parts(study, &finding));
            (finding, parts)
        };
        findings_of(self.trace, &studies, &self.findings_config()).into_iter().map(with_parts).collect()
    }

    pub(super) fn studies(&self) -> impl Iterator<Item = Study<'a>> + use<'a> {
        let trace = self.trace;
        self.devices.iter().map(move |&(device, timeline)| Study::new(trace, device, timeline))
    }

    pub(super) fn text(&self, id: StringId) -> &'a str {
        self.trace.strings.get(id)
    }

    pub(super) fn title(&self, stack: StackId) -> String {
        stack_title(self.trace, stack).unwrap_or_else(|| "no stack recorded".to_owned())
    }

    /// Returns the function, file and line of each frame of a stack, innermost first.
    pub(super) fn frames(&self, stack: StackId) -> impl DoubleEndedIterator<Item = (&'a str, &'a str, u64)> + use<'a> {
        let trace = self.trace;
        trace.stacks.frames(stack).iter().map(move |&id| {
            let frame = trace.frames.get(id);
            (trace.strings.get(frame.name), trace.strings.get(frame.filename), frame.line)
        })
    }
}

pub(super) fn device_name(device: &Device) -> String {
    if device.index < 0 { "Pinned host memory".to_owned() } else { format!("GPU {}", device.index) }
}

/// Approximate length in bytes at which a piece goes to the sink.
const PIECE_BYTES: usize = 1 << 16;

/// Buffer that collects text and gives it to a sink in pieces.
pub(super) struct Pieces<S> {
    text: String,
    sink: S,
}

impl<S: FnMut(&[u8])> Pieces<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { text: String::with_capacity(PIECE_BYTES * 2), sink }
    }

    /// Appends a text, as in `put(format_args!(…))`.
    pub(super) fn put(&mut self, text: Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.text.write_fmt(text);
        if self.text.len() >= PIECE_BYTES {
            (self.sink)(self.text.as_bytes());
            self.text.clear();
        }
    }

    /// Gives the rest to the sink.
    pub(super) fn finish(mut self) {
        (self.sink)(self.text.as_bytes());
    }
}

/// Formats a text as a JSON string, with its quotes.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text can be written")
}

/// Passes the subject of a whole trace, `run.pickle`, to `export`.
#[cfg(test)]
pub(super) fn with_subject<T>(trace: &Trace, export: impl FnOnce(Subject<'_>) -> T) -> T {
    let timelines: Vec<_> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    export(Subject { file: "run.pickle", trace, devices: &devices, moment: None, capacity_bytes: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_whole() {
        let (mut whole, mut count) = (String::new(), 0);
        let mut pieces = Pieces::new(|piece: &[u8]| {
            whole += std::str::from_utf8(piece).unwrap();
            count += 1;
        });
        (0..100_000).for_each(|number| pieces.put(format_args!("{number}\n")));
        pieces.finish();
        assert!(count > 5);
        assert_eq!(whole, (0..100_000).map(|number| format!("{number}\n")).collect::<String>());
    }
}
