//! What a run came to.

use shared::api::{Finished, OutOfMemory, RecordingCurve, RecordingReport, Started};

use super::figures::Figures;

/// A run that came to its end, by itself or by running out of memory, and whose snapshot can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// What it ran on: cards as on the command line, or the name of a real GPU.
    pub card: String,
    /// What the recorder said at its start; `None` where it ran out of memory before.
    pub started: Option<Started>,
    /// Optimizer steps that were completed.
    pub steps: u64,
    /// Events of all devices.
    pub events: u64,
    /// Wall-clock time, from the start of the recorder to its end.
    pub seconds: f64,
    /// Highest requested bytes alive, on the device where they are highest.
    pub peak_live_bytes: u64,
    /// Highest rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Its memory over its events, on the device where live bytes are highest.
    pub curve: RecordingCurve,
    /// Where memory ran out, if it did.
    pub oom: Option<OutOfMemory>,
    /// What the recorder had to say.
    pub messages: Vec<String>,
    /// What the virtual GPU could not do: figures may be off where it was asked to.
    pub warnings: Vec<String>,
}

impl Recording {
    /// The document that scripts read.
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

    /// The figures of a run from its first and last words and from its snapshot.
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
