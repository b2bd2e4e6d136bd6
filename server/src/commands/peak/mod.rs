//! Implements `snapscope peak`, which groups what is alive at the peak, after an event or between two.

mod groups;
mod page;
mod report;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use shared::analysis::{Category, Filter, GroupBy, Part, Population, Scope, Study, TextFilter, Timeline, categories};
use shared::trace::Device;

pub(super) use self::groups::{Chosen, group_lines};
use super::range::EventRange;
use crate::Failure;
use crate::snapshot_file::Opened;
use shared::base::Moment;

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
    #[arg(long, value_enum, value_name = "PART")]
    part: Option<PartName>,

    /// Group allocations by this property
    #[arg(long, value_enum, default_value_t = ByName::Stack)]
    by: ByName,

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

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Values of `--by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByName {
    /// Call stack of the allocation
    Stack,
    /// Each frame of the call stack; groups overlap
    Frame,
    /// Each function of the call stack, on any line; groups overlap
    Function,
    /// Module of the model
    Module,
    /// Category, such as parameter, gradient or activation
    Category,
    /// CUDA stream
    Stream,
    /// Memory pool
    Pool,
    /// Size, rounded down to a power of two
    Size,
}

/// Values of `--part`, which select among the allocations that are alive between two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PartName {
    /// All that are live in the range
    Any,
    /// Allocated in the range
    Born,
    /// Freed in the range
    Died,
    /// Neither allocated nor freed in the range
    Survived,
    /// Allocated and freed in the range
    BornAndDied,
    /// Allocated but not freed in the range
    BornAndKept,
}

/// Request for the groups of one device.
pub(super) struct Request {
    pub(super) scope: Scope,
    pub(super) filter: Filter,
    /// Text of the filter as the user typed it.
    pub(super) filter_text: Option<String>,
    pub(super) by: GroupBy,
    /// Maximum number of groups to show.
    pub(super) top: usize,
}

impl PeakArgs {
    /// Reads the file and returns the text to print.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is not a snapshot or has no such device or event, if the options
    /// contradict each other, or if the filter is not a regular expression.
    pub fn run(&self) -> Result<String, Failure> {
        self.answer(&self.events.open(&self.file, self.device)?)
    }

    fn answer(&self, opened: &Opened) -> Result<String, Failure> {
        let filter = Filter { text: self.text_filter()?, ..Filter::default() };
        let (device, timeline) = opened.choose_device(self.device)?;
        let scope = self.choose_scope(device, timeline)?;
        let request = Request { scope, filter, filter_text: self.filter.clone(), by: by(self.by), top: self.top };
        let chosen = Chosen::new(opened, device, timeline, &request);
        if self.json {
            let report = report::report(opened, device, timeline, &request, &chosen);
            let document = serde_json::to_string_pretty(&report).expect("plain data can be written");
            return Ok(document + "\n");
        }
        Ok(page::page(opened, device, timeline, &request, &chosen))
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
        let moment_after = |event: i64| moment_after(device, timeline, event);
        if self.from.is_none() && self.to.is_none() {
            if self.part.is_some() {
                return Err(Failure::new("--part needs a range", "set the range with --from, --to or both"));
            }
            return Ok(Scope::At(self.at.map_or(Ok(timeline.live_peak().0), moment_after)?));
        }
        let from = self.from.map_or(Ok(0), |event| moment_after(i64::from(event)))?;
        let to = self.to.map_or(Ok(timeline.events()), |event| moment_after(i64::from(event)))?;
        if to < from {
            return Err(Failure::new("--to is before --from", "pass the earlier event as --from"));
        }
        Ok(Scope::Within { moments: from..to + 1, part: self.part.map_or(Part::Any, part) })
    }
}

/// Returns the moment after an event; event -1 stands for the state before the first event.
pub(super) fn moment_after(device: &Device, timeline: &Timeline, event: i64) -> Result<u32, Failure> {
    let moment = event.checked_add(1).and_then(|moment| u32::try_from(moment).ok());
    moment.filter(|&moment| moment <= timeline.events()).ok_or_else(|| {
        Failure::new(
            format!("there is no event {event} on device {}", device.index),
            format!("events go from -1 (before the first) to {}", Moment(timeline.events()).event_number()),
        )
    })
}

fn by(name: ByName) -> GroupBy {
    match name {
        ByName::Stack => GroupBy::Stack,
        ByName::Frame => GroupBy::Frame,
        ByName::Function => GroupBy::Function,
        ByName::Module => GroupBy::Module,
        ByName::Category => GroupBy::Category,
        ByName::Stream => GroupBy::Stream,
        ByName::Pool => GroupBy::Pool,
        ByName::Size => GroupBy::SizeClass,
    }
}

fn part(name: PartName) -> Part {
    match name {
        PartName::Any => Part::Any,
        PartName::Born => Part::Born,
        PartName::Died => Part::Died,
        PartName::Survived => Part::Survived,
        PartName::BornAndDied => Part::BornAndDied,
        PartName::BornAndKept => Part::BornAndKept,
    }
}

impl Request {
    /// Creates a request for everything that is alive at a moment, grouped by stack.
    pub(super) fn at(moment: u32, top: usize) -> Self {
        Self { scope: Scope::At(moment), filter: Filter::default(), filter_text: None, by: GroupBy::Stack, top }
    }

    /// Returns the categories of a device's allocations, or none if the request does not need them.
    ///
    /// Finding them takes longer than everything else.
    fn categories(&self, population: &Population<'_>) -> Vec<Category> {
        if self.by != GroupBy::Category && !self.filter.needs_categories() {
            return Vec::new();
        }
        let Population { trace, device, timeline, .. } = *population;
        categories(device, &timeline.allocations, &Study::new(trace, device, timeline).phases)
    }
}

#[cfg(test)]
mod tests;
