//! Makes the reports that the page has not received yet.

use super::{Engine, Untold, figures, findings, parts, texts};
use frontend::ask::{Notice, Report};
use shared::analysis::{device_diagnostics, file_diagnostics};

impl Engine {
    /// Computes the next report for the page, `None` after the last one.
    ///
    /// First come the figures of each device, beginning with the one that is shown, then the notices, the steps and
    /// phases of each GPU, and the findings. Each report is short enough that questions in between hardly wait.
    pub(crate) fn next_report(&mut self) -> Option<Report> {
        while self.prepare() {}
        match self.untold.pop()? {
            Untold::Device(device) => Some(Report::Figures(figures::figures(device, self.ready(device)?))),
            Untold::Notices => Some(Report::Notices(self.notices())),
            Untold::Parts(device) => Some(Report::Parts(parts::parts(device, self.ready(device)?))),
            Untold::Findings => Some(Report::Findings(findings::findings(self))),
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
        let mut notices = texts::notices(&file_diagnostics(&self.trace, &devices), None);
        for &(device, timeline) in &devices {
            let found: Vec<_> = device_diagnostics(device, timeline).collect();
            notices.extend(texts::notices(&found, Some(device.index)));
        }
        // The page shows permanently that only a part is open.
        notices.retain(|notice| notice.code != "part-of-trace");
        notices.extend(texts::notices(&self.trace.diagnostics, None));
        texts::sort_notices(&mut notices);
        notices
    }
}
