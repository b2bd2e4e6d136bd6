//! Connects each question to the function that answers it.

use super::hit::{find, hit, moment_facts, place};
use super::picture::{outline_picture, picture};
use super::reports::findings;
use super::selection::population;
use super::{
    Engine, allocations, areas, around, compare, details, export, flame, hit, kind, parts, picture, segments, sheet,
    source, what_if,
};
use frontend::ask::*;
use logs::operators_at_peak;
use shared::analysis::{Timeline, source_files, streams_and_pools};
use shared::base::OwnCode;
use shared::report::{LiveConfig, event_lines, live_groups, trace_curves};

/// Media type of compressed snapshots.
const GZIP: &str = "application/gzip";

const NO_ALLOCATION: &str = "there is no such allocation";
const NO_EVENT: &str = "there is no such event";
const NO_TIMES: &str = "the events have no times of a clock";

/// Maximum number of events in an answer, more than any screen shows.
const MOST_EVENTS: u32 = 2_000;

/// Implements [`Answers`] for questions about one device, which must have the field `device`.
macro_rules! answers {
    ($($question:ty: |$ready:ident, $ask:ident| $answer:expr;)*) => {
        $(impl Answers<$question> for Engine {
            fn answer(&mut self, $ask: &$question) -> Result<<$question as Ask>::Answer, String> {
                let $ready = self.ready_at($ask.device)?;
                $answer
            }
        })*
    };
}

answers! {
    GetPicture: |ready, ask| Ok(picture(ready, ask.view, ask.kind.as_ref()));
    GetOutline: |ready, ask| Ok(outline_picture(ready, ask.axis, ask.columns));
    GetCourse: |ready, _ask| trace_curves(ready.device, ready.timeline).ok_or_else(|| NO_TIMES.to_owned());
    GetOperators: |ready, ask| Ok(operators_at_peak(ready.device, ready.timeline, &ask.makers));
    GetHit: |ready, ask| Ok(match ask.areas {
        Some(by) => areas::hit(ready, by, ask.axis, (ask.x, ask.units_per_px), ask.bytes),
        None => hit(ready, ask.axis, (ask.x, ask.units_per_px), ask.bytes),
    });
    GetPlace: |ready, ask| Ok(place(ready, ask.axis, ask.moment));
    GetAreas: |ready, ask| Ok(areas::rows(ready, ask.by, ask.moment, ask.selected.as_ref()));
    GetMoments: |ready, ask| Ok(ask.moments.iter().map(|&moment| moment_facts(ready, ask.axis, moment)).collect());
    FindAllocation: |ready, ask| find(ready, ask.key, ask.moment).ok_or_else(|| NO_ALLOCATION.to_owned());
    GetDetails: |ready, ask| details::details(ready, ask.allocation).ok_or_else(|| NO_ALLOCATION.to_owned());
    GetStacks: |ready, ask| {
        let config = LiveConfig::at(ask.moment.min(ready.timeline.events()), ask.limit as usize);
        Ok(live_groups(&population(ready, false), &config))
    };
    GetMarks: |ready, _ask| Ok(parts::marks(ready));
    GetEvents: |ready, ask| {
        let (first, count) = (ask.first, ask.count.min(MOST_EVENTS));
        Ok(EventPage { first, lines: event_lines(ready.trace, ready.device, ready.timeline, first, count) })
    };
    GetEvent: |ready, ask| details::event_details(ready, ask.event).ok_or_else(|| NO_EVENT.to_owned());
    GetCategories: |ready, ask| Ok(picture::bytes_at(ready, ask.moment));
    GetBoxes: |ready, ask| Ok(flame::boxes(ready, ask));
    GetSites: |ready, ask| Ok(flame::sites(ready, &ask.source));
    GetLargest: |ready, ask| Ok(flame::largest(ready, ask));
    GetFacts: |ready, _ask| {
        let (streams, pools) = streams_and_pools(ready.trace, ready.device, &ready.timeline.allocations);
        Ok(SelectionFacts { streams: streams.into_iter().collect(), pools: pools.into_iter().collect() })
    };
    GetRows: |ready, ask| Ok(allocations::page(ready, &ask.request));
    WalkTo: |ready, ask| Ok(allocations::walk(ready, &ask.request));
    FindGroup: |ready, ask| allocations::marked(ready, ask.group);
    GetAround: |ready, ask| around::around(ready, ask).ok_or_else(|| NO_ALLOCATION.to_owned());
    StepAllocation: |ready, ask| Ok(hit::step(ready, ask));
    GetBandNames: |ready, ask| Ok(around::band_names(ready, ask.moment, ask.limit));
    GetKind: |ready, ask| Ok(kind::facts(ready, &ask.kind, ask.moment));
    StepKind: |ready, ask| Ok(kind::step(ready, ask));
    GetSegments: |ready, ask| Ok(segments::segments(ready, ask.instant, ask.kind.as_ref()));
    GetSource: |ready, ask| Ok(source::source(ready, ask));
    GetSourceFiles: |ready, _ask| Ok(source_files(ready.trace).into_iter().map(str::to_owned).collect());
    GetStrip: |ready, ask| Ok(picture::strip(ready, ask.columns));
    GetSteps: |ready, _ask| Ok(compare::steps(ready));
    GetProfile: |ready, ask| compare::profile(ready, ask.side);
    GetDiff: |ready, ask| compare::difference(ready, ask.side, &ask.other);
    GetCurve: |ready, ask| compare::curve_of(ready, ask.step, ask.columns);
    GetRank: |ready, ask| Ok(compare::rank(ready, ask.columns));
    GetRecordedSetup: |ready, _ask| what_if::recorded(ready);
    GetReplay: |ready, ask| what_if::replayed(ready, &ask.setup);
    GetSweep: |ready, ask| what_if::sweep(ready, &ask.setup, ask.is_new);
}

impl Answers<GetFindings> for Engine {
    /// Diagnoses all GPUs for a card; later reports are about the same card.
    fn answer(&mut self, ask: &GetFindings) -> Result<<GetFindings as Ask>::Answer, String> {
        self.capacity_bytes = ask.capacity_bytes;
        self.build_all();
        Ok(findings(self))
    }
}

impl Answers<SetOwnCode> for Engine {
    fn answer(&mut self, ask: &SetOwnCode) -> Result<<SetOwnCode as Ask>::Answer, String> {
        self.trace.set_own_code(OwnCode::of_text(&ask.own));
        // The last table and the last kind have titles.
        for kept in &self.kept {
            *kept.table.borrow_mut() = None;
            *kept.kind.borrow_mut() = None;
        }
        self.build_all();
        Ok(findings(self))
    }
}

impl Answers<GetCopyPreview> for Engine {
    fn answer(&mut self, ask: &GetCopyPreview) -> Result<<GetCopyPreview as Ask>::Answer, String> {
        Ok(export::preview(&self.trace, &ask.options))
    }
}

impl Writes<WriteCopy> for Engine {
    fn write(&mut self, ask: &WriteCopy, progress: &mut dyn FnMut(f64)) -> Result<FileBytes, String> {
        Ok(FileBytes { bytes: export::copy(&self.trace, &ask.options, progress), media_type: GZIP })
    }
}

impl Writes<WriteReplay> for Engine {
    fn write(&mut self, ask: &WriteReplay, _progress: &mut dyn FnMut(f64)) -> Result<FileBytes, String> {
        let bytes = what_if::snapshot(self.ready_at(ask.device)?, &ask.setup)?;
        Ok(FileBytes { bytes, media_type: GZIP })
    }
}

impl Writes<ExportOrder> for Engine {
    fn write(&mut self, order: &ExportOrder, _progress: &mut dyn FnMut(f64)) -> Result<FileBytes, String> {
        let bytes = if order.is_clean {
            export::clean_export(order, &self.trace, self.capacity_bytes)
        } else {
            self.build_all();
            let timelines: Vec<&Timeline> = self.timelines.iter().flatten().collect();
            export::export(order, (&order.file, self.capacity_bytes), &self.trace, &timelines)
        };
        let bytes = bytes.ok_or("there is no such device or table")?;
        Ok(FileBytes { bytes, media_type: order.form.media_type() })
    }
}

impl Writes<SheetOrder> for Engine {
    fn write(&mut self, order: &SheetOrder, _progress: &mut dyn FnMut(f64)) -> Result<FileBytes, String> {
        self.build_all();
        Ok(FileBytes { bytes: sheet::sheet(self, order)?, media_type: order.format.media_type() })
    }
}
