//! Makes the reports that the page has not received yet: figures, notices, steps and phases, and findings.

use super::outline::{notices, sort_notices};
use super::ready::Ready;
use super::{Engine, Untold, parts};
use frontend::ask::{DeviceFigures, Notice, Report};
use shared::analysis::{Axis, FindingsConfig, Study, Summary, device_diagnostics, file_diagnostics};
use shared::report::{Diagnosis, DiagnosisConfig, diagnosis};

impl Engine {
    /// Computes the next report for the page, `None` after the last one.
    ///
    /// First come the figures of each device, beginning with the one that is shown, then the notices, the steps and
    /// phases of each GPU, and the findings. Each report is short enough that questions in between hardly wait.
    pub(crate) fn next_report(&mut self) -> Option<Report> {
        while self.prepare() {}
        match self.untold.pop()? {
            Untold::Device(device) => Some(Report::Figures(figures(device, self.ready(device)?))),
            Untold::Notices => Some(Report::Notices(self.notices())),
            Untold::Parts(device) => Some(Report::Parts(parts::parts(device, self.ready(device)?))),
            Untold::Findings => Some(Report::Findings(findings(self))),
            Untold::Pictures(..) => None,
        }
    }

    /// Performs the next step if it is a preparation without a report; returns true if it was.
    ///
    /// It is separate from [`next_report`](Self::next_report), so that a question that arrives meanwhile does not also
    /// wait for the report after it.
    pub(crate) fn prepare(&mut self) -> bool {
        let Some(Untold::Pictures(device, axis)) = self.untold.pop_if(|next| matches!(next, Untold::Pictures(..)))
        else {
            return false;
        };
        if let Some(ready) = self.ready(device) {
            ready.timeline.prepare(ready.device, axis);
        }
        true
    }

    /// Returns all notices; the timelines must be built, which the figures of all devices ensure.
    fn notices(&self) -> Vec<Notice> {
        let timelines = self.timelines.iter().flatten();
        let devices: Vec<_> = self.trace.devices.iter().zip(timelines).collect();
        let mut all = notices(&file_diagnostics(&self.trace, &devices), None);
        for &(device, timeline) in &devices {
            let found: Vec<_> = device_diagnostics(device, timeline).collect();
            all.extend(notices(&found, Some(device.index)));
        }
        // The page shows permanently that only a part is open.
        all.retain(|notice| notice.code != "part-of-trace");
        all.extend(notices(&self.trace.diagnostics, None));
        sort_notices(&mut all);
        all
    }
}

pub(super) fn figures(position: u32, ready: Ready<'_>) -> DeviceFigures {
    let Ready { device, timeline, .. } = ready;
    let (peak_moment, _) = timeline.live_peak();
    let has_times = timeline.has_times();
    DeviceFigures {
        device: position,
        summary: Summary::of(device, timeline),
        has_times,
        duration_us: timeline.duration_us(),
        end_events: timeline.x_end(Axis::Events),
        end_us: if has_times { timeline.x_end(Axis::Time) } else { 0.0 },
        allocations: timeline.allocations.len() as u64,
        peak_moment,
        peak_us: ready.time_us(peak_moment),
    }
}

/// Diagnoses all GPUs with memory, for the card that was chosen last; their timelines must be built.
pub(super) fn findings(engine: &Engine) -> Diagnosis {
    let gpus = (0..engine.trace.devices.len() as u32).filter_map(|position| engine.built(position));
    let has_memory = |ready: &Ready<'_>| ready.timeline.reserved_peak().1 > 0 || ready.timeline.live_peak().1 > 0;
    let studies: Vec<Study<'_>> = gpus.filter(has_memory).map(Ready::study).collect();
    let findings = FindingsConfig { capacity_bytes: engine.capacity_bytes, ..FindingsConfig::default() };
    diagnosis(&engine.trace, &studies, &DiagnosisConfig { findings, with_groups: false })
}
