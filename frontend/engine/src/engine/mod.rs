//! Holds the model of one file, and answers questions about it.
//!
//! It runs in the Web Worker but does not depend on it, so that tests can ask it natively.

mod allocations;
mod answers;
mod categories;
mod compare;
mod copy;
mod details;
#[cfg(test)]
mod explain_tests;
mod export;
mod figures;
mod findings;
mod flame;
mod marks;
mod outline;
mod parts;
mod segments;
mod selection;
mod sheet;
mod sheets;
#[cfg(test)]
mod tests;
mod texts;
mod what_if;

use self::flame::cache::FlameCache;
use frontend::ask::{AllocationKey, ColorBy, FileSummary, Hit, HitAllocation, Notice, PictureData, Report, View};
use shared::analysis::{
    AllocationId, Axis, Category, Coloring, DistinctStacks, Origin, PictureRequest, RankFigures, SegmentHistory, Span,
    Studied, Study, Timeline, device_diagnostics, file_diagnostics, spans,
};
use shared::trace::{Device, Trace};
use std::cell::OnceCell;

/// Decoded file, with the lifetimes of the devices that have been examined.
#[derive(Debug)]
pub(crate) struct Engine {
    trace: Trace,
    summary: FileSummary,
    /// One per device of [`FileSummary::devices`], built at first use.
    timelines: Vec<Option<Timeline>>,
    /// Other results for each device.
    kept: Vec<Kept>,
    /// Basis of the most recent flame graphs.
    flames: FlameCache,
    /// Reports that the page has not received yet; the next one is the last element.
    untold: Vec<Untold>,
    /// Memory of the card, if the page knows it.
    capacity_bytes: Option<u64>,
}

/// Results for a device, computed at first use.
#[derive(Debug, Default)]
struct Kept {
    /// Annotated spans, which every hover needs.
    spans: OnceCell<Vec<Span>>,
    studied: OnceCell<Studied>,
    categories: OnceCell<Vec<Category>>,
    /// Figures for the comparison with other ranks.
    figures: OnceCell<RankFigures>,
    /// Segments over the whole trace.
    history: OnceCell<SegmentHistory>,
    /// Most recent table.
    table: allocations::Cache,
    /// Most recent sweep over settings.
    sweep: what_if::SweepCache,
}

#[derive(Clone, Copy, Debug)]
enum Untold {
    Device(u32),
    /// Preparation without a report, which makes pictures of wide views cheap.
    Pictures(u32, Axis),
    Notices,
    Parts(u32),
    Findings,
}

/// Device with everything that was computed for it.
#[derive(Clone, Copy)]
struct Ready<'a> {
    trace: &'a Trace,
    device: &'a Device,
    timeline: &'a Timeline,
    kept: &'a Kept,
    flames: &'a FlameCache,
}

impl Engine {
    /// Creates the engine of a decoded file.
    pub(crate) fn new(trace: Trace) -> Self {
        let count = trace.devices.len() + usize::from(trace.host.is_some());
        let summary = summary_of(&trace);
        let first = summary.first_device();
        let gpus = trace.devices.len() as u32;
        let (timelines, kept) = (vec![None; count], (0..count).map(|_| Kept::default()).collect());
        let in_turn = |end: u32| {
            let others = (0..end).rev().filter(move |&device| device != first);
            others.chain((first < end).then_some(first))
        };
        let mut untold = vec![Untold::Findings];
        untold.extend(in_turn(gpus).map(Untold::Parts));
        untold.push(Untold::Notices);
        // Pictures of the device that is shown are prepared before any other analysis.
        untold.extend([Axis::Time, Axis::Events].map(|axis| Untold::Pictures(first, axis)));
        untold.extend(in_turn(count as u32).map(Untold::Device));
        Self { trace, summary, timelines, kept, flames: FlameCache::default(), untold, capacity_bytes: None }
    }

    pub(crate) fn summary(&self) -> &FileSummary {
        &self.summary
    }

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

    /// Builds the timelines of all devices.
    fn build_all(&mut self) {
        for position in 0..self.timelines.len() as u32 {
            self.ready(position);
        }
    }

    /// Returns a device for a question of the page.
    ///
    /// # Errors
    /// Returns an error if there is no such device.
    fn ready_at(&mut self, position: u32) -> Result<Ready<'_>, String> {
        self.ready(position).ok_or_else(|| format!("there is no device at position {position}"))
    }

    fn ready(&mut self, position: u32) -> Option<Ready<'_>> {
        let device = device_at(&self.trace, position)?;
        self.timelines[position as usize].get_or_insert_with(|| Timeline::new(&self.trace, device));
        self.built(position)
    }

    /// Returns a device whose timeline has been built.
    fn built(&self, position: u32) -> Option<Ready<'_>> {
        let (trace, device) = (&self.trace, device_at(&self.trace, position)?);
        let timeline = self.timelines[position as usize].as_ref()?;
        Some(Ready { trace, device, timeline, kept: &self.kept[position as usize], flames: &self.flames })
    }
}

fn device_at(trace: &Trace, position: u32) -> Option<&Device> {
    let position = position as usize;
    trace.devices.get(position).or(trace.host.as_ref().filter(|_| position == trace.devices.len()))
}

fn summary_of(trace: &Trace) -> FileSummary {
    let is_alone = trace.devices.len() + usize::from(trace.host.is_some()) == 1;
    let distinct = DistinctStacks::of(trace);
    FileSummary {
        format: texts::format(trace.format),
        devices: trace.devices.iter().chain(&trace.host).map(|device| outline::outline(device, is_alone)).collect(),
        unique_frames: distinct.frames,
        unique_stacks: distinct.stacks,
        annotations: trace.annotations.len() as u64,
        notices: texts::notices(&trace.diagnostics, None),
        settings: texts::settings(&trace.settings),
    }
}

impl<'a> Ready<'a> {
    /// Returns the annotated spans of the device.
    fn spans(self) -> &'a [Span] {
        self.kept.spans.get_or_init(|| spans(self.trace, self.device))
    }

    /// Returns the analysis results of the device; the first call takes a while.
    fn studied(self) -> &'a Studied {
        self.kept.studied.get_or_init(|| Study::new(self.trace, self.device, self.timeline).into())
    }

    /// Returns the study of the device, restored from its stored results.
    fn study(self) -> Study<'a> {
        let Self { trace, device, timeline, .. } = self;
        Study::again(trace, device, timeline, self.studied().clone())
    }

    /// Returns the time of a moment in microseconds since the first event.
    fn time_us(&self, moment: u32) -> Option<u64> {
        let has_times = self.timeline.has_times();
        has_times.then(|| self.timeline.x_of_moment(self.device, Axis::Time, moment) as u64)
    }
}

fn picture(ready: Ready<'_>, view: View) -> PictureData {
    let coloring = match view.color {
        ColorBy::Stack => Coloring::Stack,
        ColorBy::Category => Coloring::Category(ready.categories()),
    };
    PictureData::new(view, &ready.timeline.picture_colored(ready.device, &view.request, coloring))
}

/// Returns only the curves: a picture with a single row of pixels has almost no bands.
fn outline_picture(ready: Ready<'_>, axis: Axis, columns: u32) -> PictureData {
    let x1 = ready.timeline.x_end(axis);
    let y1 = ready.timeline.live_peak().1.max(ready.timeline.reserved_peak().1).max(1) as f64;
    let (width_px, color) = (columns, ColorBy::Stack);
    let request = PictureRequest { axis, x0: 0.0, x1, y0: 0.0, y1, width_px, height_px: 1 };
    let view = View { request, pixel_ratio: 1.0, color };
    PictureData { bands: Vec::new(), pixels: Vec::new(), ..picture(ready, view) }
}

/// Returns what lies under a point; of the moments that share a pixel, a picture shows the one with the highest live
/// bytes.
fn hit(ready: Ready<'_>, axis: Axis, (x, units_per_px): (f64, f64), bytes: f64) -> Hit {
    let Ready { timeline, device, .. } = ready;
    let moment = timeline.moment_shown_at(device, axis, x, units_per_px);
    let found = if bytes < 0.0 { None } else { timeline.hit(moment, bytes as u64) };
    Hit {
        moment,
        time_us: ready.time_us(moment),
        live_bytes: timeline.live_at(moment),
        reserved_bytes: timeline.reserved_at(moment),
        allocation: found.map(|found| hit_allocation(ready, found.allocation, found.below_bytes)),
    }
}

/// Returns the hit for an allocation given by its key, `None` if the device has no such allocation.
fn find(ready: Ready<'_>, key: AllocationKey, moment: u32) -> Option<Hit> {
    let Ready { timeline, .. } = ready;
    let allocations = &timeline.allocations;
    let id = match key {
        AllocationKey::Initial(position) => {
            let position = position as usize;
            (position < allocations.initial_count()).then(|| AllocationId::from_index(position))?
        }
        // A key names the event that allocates, not the one that frees.
        AllocationKey::Event(event) => {
            let id = allocations.of_event(event as usize)?;
            (allocations.origin(id) == Origin::Event(event as usize)).then_some(id)?
        }
    };
    Some(found_hit(ready, id, moment.min(timeline.events())))
}

/// Returns the hit that a click on an allocation at a moment would produce.
fn found_hit(ready: Ready<'_>, id: AllocationId, moment: u32) -> Hit {
    let Ready { timeline, .. } = ready;
    Hit {
        moment,
        time_us: ready.time_us(moment),
        live_bytes: timeline.live_at(moment),
        reserved_bytes: timeline.reserved_at(moment),
        allocation: Some(hit_allocation(ready, id, below_bytes(ready, id, moment))),
    }
}

/// Returns the bytes below an allocation in the stack of a moment.
fn below_bytes(ready: Ready<'_>, id: AllocationId, moment: u32) -> u64 {
    let below = ready.timeline.allocations.alive_at(moment).take_while(|(other, _)| *other < id);
    below.map(|(_, size_bytes)| size_bytes).sum()
}

fn place(ready: Ready<'_>, axis: Axis, moment: u32) -> f64 {
    let x = |moment| ready.timeline.x_of_moment(ready.device, axis, moment);
    f64::midpoint(x(moment), x(moment.saturating_add(1)))
}

fn hit_allocation(ready: Ready<'_>, id: AllocationId, below_bytes: u64) -> HitAllocation {
    let Ready { trace, device, timeline, .. } = ready;
    let allocation = timeline.allocations.get(id, device);
    let is_initial = timeline.allocations.is_initial(id);
    let died = (allocation.died != u32::MAX).then_some(allocation.died);
    let end = died.unwrap_or(timeline.events());
    let lifetime_us =
        ready.time_us(allocation.born).zip(ready.time_us(end)).map(|(born, died)| died.saturating_sub(born));
    HitAllocation {
        allocation: id.index() as u32,
        size_bytes: allocation.size_bytes,
        below_bytes,
        born: allocation.born,
        died,
        lifetime_us,
        is_initial,
        frame: texts::title_frame(trace, timeline.allocations.allocation_stack(id, device)),
    }
}
