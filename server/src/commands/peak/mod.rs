//! Implements `snapscope peak`, which groups what is alive at the peak, after an event or between two.

mod page;

use std::path::PathBuf;

use clap::Args;
use shared::analysis::{Filter, GroupBy, Part, Population, Scope, Study, TextFilter, Timeline, categories, spans};
use shared::api::OfFile;
use shared::base::Moment;
use shared::report::{LiveConfig, LiveGroups, live_groups};
use shared::trace::Device;

pub(super) use self::page::{group_lines, page};
use super::names::{OwnOption, names};
use super::output::document;
use super::range::EventRange;
use crate::Failure;
use crate::snapshot_file::Opened;

/// The options of `snapscope peak`.
#[derive(Debug, Clone, Args)]
pub struct PeakArgs {
    /// The snapshot: a pickle of `_dump_snapshot`, gzipped or not, its JSON form, or an HTML page of `trace_plot`
    file: PathBuf,

    /// The GPU index [default: the one with the highest peak]
    #[arg(long, value_name = "N")]
    device: Option<i64>,

    /// Show the state after this event instead of the peak; -1 is the state before the first event
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true, conflicts_with_all = ["from", "to"])]
    at: Option<i64>,

    /// Show what is live at any time from this event on, instead of at one moment
    #[arg(long, value_name = "EVENT")]
    from: Option<u32>,

    /// Show what is live at any time up to this event, instead of at one moment
    #[arg(long, value_name = "EVENT")]
    to: Option<u32>,

    /// Show only some of the allocations in the range of --from and --to
    #[arg(long, value_parser = names(Part::ALL, Part::name, part_meaning), value_name = "PART")]
    part: Option<Part>,

    /// Group allocations by this property
    #[arg(long, value_parser = names(GroupBy::ALL, GroupBy::name, by_meaning), default_value = GroupBy::Stack.name())]
    by: GroupBy,

    /// Show only allocations with this text in a frame, the module, the category or an enclosing annotation
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Treat the text of --filter as a regular expression
    #[arg(long, requires = "filter")]
    regex: bool,

    /// Number of groups to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    #[command(flatten)]
    events: EventRange,

    #[command(flatten)]
    own: OwnOption,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl PeakArgs {
    /// Reads the file and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        self.answer(&self.own.apply(self.events.open(&self.file, self.device)?))
    }

    fn answer(&self, opened: &Opened) -> Result<String, Failure> {
        let report = self.report(opened)?;
        if self.json {
            return Ok(document(&OfFile::new(&opened.file, report)));
        }
        Ok(page(&opened.file, &report))
    }

    /// Groups the allocations that the options select.
    pub(super) fn report(&self, opened: &Opened) -> Result<LiveGroups, Failure> {
        let filter = Filter { text: self.text_filter()?, ..Filter::default() };
        let (device, timeline) = opened.choose_device(self.device)?;
        let scope = self.choose_scope(device, timeline)?;
        let config = LiveConfig { scope, filter, filter_text: self.filter.clone(), by: self.by, top: self.top };
        Ok(live(opened, device, timeline, &config))
    }

    fn text_filter(&self) -> Result<Option<TextFilter>, Failure> {
        let Some(text) = &self.filter else { return Ok(None) };
        if !self.regex {
            return Ok(Some(TextFilter::plain(text)));
        }
        let refused =
            |error| Failure::new(format!("--filter {text}: {error}"), "omit --regex to search for the text itself");
        TextFilter::expression(text).map(Some).map_err(refused)
    }

    fn choose_scope(&self, device: &Device, timeline: &Timeline) -> Result<Scope, Failure> {
        if self.from.is_none() && self.to.is_none() && self.part.is_some() {
            return Err(Failure::new("--part needs a range", "set the range with --from, --to or both"));
        }
        let part = self.part.unwrap_or(Part::Any);
        Ok(match scope(device, timeline, self.at, self.from, self.to)? {
            Scope::Within { moments, .. } => Scope::Within { moments, part },
            at => at,
        })
    }
}

/// Returns the scope of `--at`, or of `--from` and `--to`; without any of them, that of the peak.
pub(super) fn scope(
    device: &Device,
    timeline: &Timeline,
    at: Option<i64>,
    from: Option<u32>,
    to: Option<u32>,
) -> Result<Scope, Failure> {
    let moment_after = |event: i64| moment_after(device, timeline, event);
    if from.is_none() && to.is_none() {
        return Ok(Scope::At(at.map_or(Ok(timeline.live_peak().0), moment_after)?));
    }
    let from = from.map_or(Ok(0), |event| moment_after(i64::from(event)))?;
    let to = to.map_or(Ok(timeline.events()), |event| moment_after(i64::from(event)))?;
    if to < from {
        return Err(Failure::new("--to is before --from", "pass the earlier event as --from"));
    }
    Ok(Scope::Within { moments: from..to + 1, part: Part::Any })
}

/// Returns the moment after an event; event -1 stands for the state before the first event.
pub(super) fn moment_after(device: &Device, timeline: &Timeline, event: i64) -> Result<u32, Failure> {
    moment_up_to(timeline.events(), event, &format!(" on device {}", device.index))
}

/// Returns the moment after an event if it is at most `last`; `place` says where else there is no such event.
pub(super) fn moment_up_to(last: u32, event: i64, place: &str) -> Result<u32, Failure> {
    let moment = event.checked_add(1).and_then(|moment| u32::try_from(moment).ok());
    moment.filter(|&moment| moment <= last).ok_or_else(|| {
        let hint = format!("events go from -1 (before the first) to {}", Moment(last).event_number());
        Failure::new(format!("there is no event {event}{place}"), hint)
    })
}

/// Groups allocations of a device; `timeline` was built from it.
pub(super) fn live(opened: &Opened, device: &Device, timeline: &Timeline, config: &LiveConfig) -> LiveGroups {
    let trace = &opened.trace;
    let spans = spans(trace, device);
    let population = Population { trace, device, timeline, spans: &spans, categories: &[] };
    // Finding categories takes longer than everything else.
    if !config.needs_categories() {
        return live_groups(&population, config);
    }
    let categories = categories(device, timeline, &Study::new(trace, device, timeline).phases);
    live_groups(&Population { categories: &categories, ..population }, config)
}

fn by_meaning(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Stack => "Call stack of the allocation",
        GroupBy::Frame => "Each frame of the call stack; groups overlap",
        GroupBy::Function => "Each function of the call stack, on any line; groups overlap",
        GroupBy::Module => "Module of the model",
        GroupBy::Category => "Category, such as parameter, gradient or activation",
        GroupBy::Stream => "CUDA stream",
        GroupBy::Pool => "Memory pool",
        GroupBy::SizeClass => "Size, rounded down to a power of two",
    }
}

fn part_meaning(part: Part) -> &'static str {
    match part {
        Part::Any => "All that are live in the range",
        Part::Born => "Allocated in the range",
        Part::Died => "Freed in the range",
        Part::Survived => "Neither allocated nor freed in the range",
        Part::BornAndDied => "Allocated and freed in the range",
        Part::BornAndKept => "Allocated but not freed in the range",
    }
}

#[cfg(test)]
mod tests;
