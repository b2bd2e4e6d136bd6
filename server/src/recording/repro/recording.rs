//! Holds the results of a recording.

use shared::api::{Finished, OutOfMemory, RecordingCurve, RecordingReport, Started};

use super::figures::Figures;

/// A recording that ended by itself or by running out of memory, with a readable snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Cards as on the command line, or the name of a real GPU.
    pub card: String,
    /// The recorder's first line; `None` if it ran out of memory before that.
    pub started: Option<Started>,
    /// Completed optimizer steps.
    pub steps: u64,
    /// Number of events on all devices.
    pub events: u64,
    /// Wall-clock time from the start of the recorder to its end.
    pub seconds: f64,
    /// Peak of requested live bytes, on the device where it is highest.
    pub peak_live_bytes: u64,
    /// Peak of the rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Peak of the bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Memory over the events, on the device where live bytes are highest.
    pub curve: RecordingCurve,
    /// Details of the out-of-memory error, if there was one.
    pub oom: Option<OutOfMemory>,
    /// Messages of the recorder.
    pub messages: Vec<String>,
    /// Warnings of the virtual GPU about functions that it does not implement; figures may be off there.
    pub warnings: Vec<String>,
}

impl Recording {
    /// Returns the recording in the form that scripts read.
    pub fn report(&self) -> RecordingReport {
        let Self { card, steps, events, seconds, oom, .. } = self.clone();
        RecordingReport {
            card,
            steps,
            events,
            seconds,
            peak_live_bytes: self.peak_live_bytes,
            peak_allocated_bytes: self.peak_allocated_bytes,
            peak_reserved_bytes: self.peak_reserved_bytes,
            oom,
        }
    }

    /// Combines the recorder's first and last lines with the figures of its snapshot.
    pub(super) fn of(finished: Finished, started: Option<Started>, figures: Figures) -> Self {
        let Finished { steps, peak_allocated_bytes, peak_reserved_bytes, oom } = finished;
        let Figures { events, peak_live_bytes, curve } = figures;
        let capacity_bytes = started.as_ref().map(|started| started.memory_bytes);
        Self {
            card: started.as_ref().map_or_else(String::new, |started| started.device.clone()),
            started,
            steps,
            events,
            seconds: 0.0,
            peak_live_bytes,
            peak_allocated_bytes,
            peak_reserved_bytes,
            curve: RecordingCurve { capacity_bytes, ..curve },
            oom,
            messages: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
